#!/usr/bin/python3
"""Vectors of hashes, HMAC and PBKDF2

    make-hash-vectors.py standards > hash-standards.vec
    make-hash-vectors.py peers > hash-peers.vec         (some minutes)

Everything comes from OpenSSL, through Python's hashlib and hmac; the digests
of "abc" are typed in from the standards and held against it first.

"standards" are the messages that the standards print digests of.  "peers" is
what no standard prints: HMAC and PBKDF2 over all hashes, and sums over many
messages: SHA-256 of all the results one after the other, for

    lengths  the digests of the first 0, 1, ... 4096 bytes of the pattern
    keys     the MACs of its first 100 bytes under its first 0, 1, ... 300,
             20480, 20481 and 65536 bytes
    outputs  the keys of 1, 2, ... 200 bytes, of n bytes from the pattern's
             first n % 150 as passphrase, its first n % 40 + 1 as salt, in
             n % 5 + 1 iterations

where byte i of the pattern is the top byte of i * 0x9e3779b1 modulo 2^32;
and big, the digest of 2^32 + 3 zero bytes.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import os
import sys
import tempfile

OPENSSL = {
    "md5": "md5", "sha1": "sha1", "sha224": "sha224", "sha256": "sha256",
    "sha384": "sha384", "sha512": "sha512", "ripemd160": "ripemd160",
    "sm3": "sm3", "sha3-256": "sha3_256", "sha3-512": "sha3_512",
    "blake2b-512": "blake2b512", "blake2s-256": "blake2s256",
    "whirlpool": "whirlpool",
}

# RFC 1321; FIPS 180-4 and 202, examples; ISO/IEC 10118-3; GB/T 32905; RFC 7693
ABC = {
    "md5": "900150983cd24fb0d6963f7d28e17f72",
    "sha1": "a9993e364706816aba3e25717850c26c9cd0d89d",
    "sha224": "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
    "sha256":
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "sha384":
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
        "8086072ba1e7cc2358baeca134c825a7",
    "sha512":
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    "ripemd160": "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc",
    "sm3":
        "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0",
    "sha3-256":
        "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
    "sha3-512":
        "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e"
        "10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
    "blake2b-512":
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
        "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
    "blake2s-256":
        "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982",
    "whirlpool":
        "4e2448a4c6f486bb16b6562c73b4020bf3043e3a731bce721ae1b303d97e6d4c"
        "7181eebdb6c57e277d0e34957114cbd6c797fc9d95d8b582d225292076d4eef5",
}

LOWER = b"abcdefghijklmnopqrstuvwxyz"
DIGITS = b"0123456789"
BITS_448 = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
BITS_896 = (b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
            b"hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")
RFC_1321 = [(b"", 1), (b"a", 1), (b"abc", 1), (b"message digest", 1),
            (LOWER, 1), (LOWER.upper() + LOWER + DIGITS, 1),
            (b"1234567890", 8)]
MILLION = (b"a", 1000000)
FIPS_180 = [(b"abc", 1), (BITS_448, 1), MILLION]
FIPS_180_LONG = [(b"abc", 1), (BITS_896, 1), MILLION]
FIPS_202 = [(b"", 1), (b"abc", 1), (BITS_448, 1), (BITS_896, 1),
            (b"\xa3", 200), MILLION]
RFC_7693 = [(b"abc", 1), (b"", 1)]

STANDARDS = [
    ("RFC 1321, A.5", ["md5"], RFC_1321),
    ("FIPS 180-4, examples", ["sha1", "sha224", "sha256"], FIPS_180),
    ("FIPS 180-4, examples", ["sha384", "sha512"], FIPS_180_LONG),
    ("FIPS 202, examples", ["sha3-256", "sha3-512"], FIPS_202),
    ("Dobbertin, Bosselaers, Preneel: RIPEMD-160", ["ripemd160"],
     RFC_1321 + [(BITS_448, 1), MILLION]),
    ("ISO/IEC 10118-3, Whirlpool", ["whirlpool"],
     RFC_1321 + [(b"abcdbcdecdefdefgefghfghighijhijk", 1), MILLION]),
    ("GB/T 32905-2016, A", ["sm3"], [(b"abc", 1), (b"abcd", 16)]),
    ("RFC 7693, A and B", ["blake2b-512", "blake2s-256"], RFC_7693),
]


def legacy():
    """Whirlpool is in a provider that must be asked for before Python loads
    OpenSSL."""
    if os.environ.get("OPENSSL_CONF_LEGACY"):
        return
    with tempfile.NamedTemporaryFile("w", suffix=".cnf") as conf:
        conf.write("openssl_conf = init\n[init]\nproviders = list\n"
                   "[list]\ndefault = on\nlegacy = on\n[on]\nactivate = 1\n")
        conf.flush()
        status = os.spawnve(
            os.P_WAIT, sys.executable, [sys.executable] + sys.argv,
            {**os.environ, "OPENSSL_CONF": conf.name,
             "OPENSSL_CONF_LEGACY": "1"})
    sys.exit(status)


legacy()
import hashlib  # noqa: E402
import hmac  # noqa: E402


def digest(alg, data=b""):
    return hashlib.new(OPENSSL[alg], data)


def record(**fields):
    for name, value in fields.items():
        if isinstance(value, bytes):
            value = value.hex()
        print(f"{name} = {value}".rstrip())
    print()


def hash_record(alg, msg, repeat):
    fields = {"msg": msg}
    if repeat != 1:
        fields["repeat"] = repeat
    record(kind="hash", alg=alg, **fields,
           out=digest(alg, msg * repeat).digest())


def standards():
    print("# Hashes: what the standards print (make-hash-vectors.py)\n")
    for source, algs, messages in STANDARDS:
        print(f"# {source}\n")
        for alg in algs:
            for msg, repeat in messages:
                hash_record(alg, msg, repeat)


def pattern(n):
    return bytes((i * 0x9e3779b1 & 0xffffffff) >> 24 for i in range(n))


def mac(alg, key, msg):
    return hmac.new(key, msg, OPENSSL[alg]).digest()


def pbkdf2(alg, key, salt, iterations, n):
    return hashlib.pbkdf2_hmac(OPENSSL[alg], key, salt, iterations, n)


def big(alg):
    h = digest(alg)
    zeros = bytes(1 << 24)
    for _ in range(1 << 8):
        h.update(zeros)
    h.update(bytes(3))
    return h.digest()


def peers():
    text = pattern(65536)
    print("# Hashes, HMAC and PBKDF2: what no standard prints, by OpenSSL\n"
          "# (make-hash-vectors.py, which says what the sums are of)\n")
    for alg in OPENSSL:
        print(f"# {alg}\n")
        for n in (0, 1, 55, 56, 64, 111, 112, 128, 4095):
            hash_record(alg, b"\0", n)
        hash_record(alg, bytes(range(256)), 1)
        for nkey, nmsg in ((0, 0), (20, 8), (64, 64), (128, 129), (145, 300)):
            record(kind="hmac", alg=alg, key=text[:nkey],
                   msg=text[1000:1000 + nmsg],
                   out=mac(alg, text[:nkey], text[1000:1000 + nmsg]))
        for nkey, nsalt, iterations, n in ((8, 8, 1, 20), (0, 16, 2, 64),
                                           (11, 0, 3, 32), (200, 40, 1000, 65)):
            record(kind="pbkdf2", alg=alg, key=text[:nkey],
                   salt=text[500:500 + nsalt], iterations=iterations,
                   out=pbkdf2(alg, text[:nkey], text[500:500 + nsalt],
                              iterations, n))
        sums = {"lengths": hashlib.sha256(), "keys": hashlib.sha256(),
                "outputs": hashlib.sha256()}
        for n in range(4097):
            sums["lengths"].update(digest(alg, text[:n]).digest())
        for n in (*range(301), 20480, 20481, 65536):
            sums["keys"].update(mac(alg, text[:n], text[:100]))
        for n in range(1, 201):
            sums["outputs"].update(pbkdf2(alg, text[:n % 150],
                                          text[:n % 40 + 1], n % 5 + 1, n))
        for name, value in sums.items():
            record(kind=name, alg=alg, out=value.digest())
        record(kind="big", alg=alg, out=big(alg))


def main():
    for alg, value in ABC.items():
        if digest(alg, b"abc").hexdigest() != value:
            sys.exit(f"OpenSSL's {alg} is not the standard's")
    commands = {"standards": standards, "peers": peers}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]]()


if __name__ == "__main__":
    main()
