#!/usr/bin/python3
"""Vectors of cipher and mode pairs for which no standard prints any

The ciphers come from libraries that are no part of the code under test where
that can be had: OpenSSL (through python3-cryptography) for AES, DES, 3DES,
CAST5, Camellia and SM4, libgcrypt for Serpent and Twofish, nettle for
Twofish-192, all in ECB.  The modes are built here once more over those, with
plain integers, and held against the library's own mode where it has one.

    make-peer-vectors.py > cipher-peers.vec
    make-peer-vectors.py --check FILE.vec...

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import ctypes
import ctypes.util
import hashlib
import re
import sys
import warnings

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

warnings.simplefilter("ignore")  # old ciphers are what we came for

OPENSSL = {
    "aes": algorithms.AES, "des": algorithms.TripleDES,
    "3des": algorithms.TripleDES, "cast5": algorithms.CAST5,
    "camellia": algorithms.Camellia, "sm4": algorithms.SM4,
}
KEY_LEN = {
    "des": 8, "3des": 24, "sm4": 16, "cast5-128": 16,
    **{f"{family}-{bits}": bits // 8 for bits in (128, 192, 256)
       for family in ("aes", "serpent", "twofish", "camellia")},
}
GCRYPT = {"serpent-128": 304, "serpent-192": 305, "serpent-256": 306,
          "twofish-256": 10, "twofish-128": 303}

gcrypt = ctypes.CDLL(ctypes.util.find_library("gcrypt"))
gcrypt.gcry_check_version(None)
nettle = ctypes.CDLL(ctypes.util.find_library("nettle"))


def family(alg):
    return re.sub(r"-\d+$", "", alg)


def block_len(alg):
    return 8 if alg in ("des", "3des", "cast5-128") else 16


def openssl(alg, key, mode, decrypt, data):
    """One call of OpenSSL; DES is 3DES with three equal keys."""
    if alg == "des":
        key = key * 3
    ctx = Cipher(OPENSSL[family(alg)](key), mode)
    ctx = ctx.decryptor() if decrypt else ctx.encryptor()
    return ctx.update(data) + ctx.finalize()


def by_gcrypt(alg, key, decrypt, data):
    handle = ctypes.c_void_p()
    assert not gcrypt.gcry_cipher_open(ctypes.byref(handle), GCRYPT[alg], 1, 0)
    assert not gcrypt.gcry_cipher_setkey(handle, key, ctypes.c_size_t(len(key)))
    out = ctypes.create_string_buffer(len(data))
    call = gcrypt.gcry_cipher_decrypt if decrypt else gcrypt.gcry_cipher_encrypt
    n = ctypes.c_size_t(len(data))
    assert not call(handle, out, n, data, n)
    gcrypt.gcry_cipher_close(handle)
    return out.raw


def by_nettle_twofish(key, decrypt, data):
    ctx = ctypes.create_string_buffer(8192)
    nettle.nettle_twofish_set_key(ctx, ctypes.c_size_t(len(key)), key)
    out = ctypes.create_string_buffer(len(data))
    call = (nettle.nettle_twofish_decrypt if decrypt
            else nettle.nettle_twofish_encrypt)
    call(ctx, ctypes.c_size_t(len(data)), out, data)
    return out.raw


def ecb(alg, key, decrypt, data):
    if not data:
        return b""
    if alg == "twofish-192":
        return by_nettle_twofish(key, decrypt, data)
    if alg in GCRYPT:
        return by_gcrypt(alg, key, decrypt, data)
    return openssl(alg, key, modes.ECB(), decrypt, data)


def xor(a, b):
    n = min(len(a), len(b))
    return (int.from_bytes(a[:n], "big") ^
            int.from_bytes(b[:n], "big")).to_bytes(n, "big")


def cbc(alg, key, iv, data):
    n, out = block_len(alg), b""
    parts = []
    for i in range(0, len(data), n):
        iv = ecb(alg, key, False, xor(data[i:i + n], iv))
        parts.append(iv)
    return out.join(parts)


def ctr(alg, key, iv, data):
    n = block_len(alg)
    start = int.from_bytes(iv, "big")
    stream = b"".join(((start + i) % (1 << 8 * n)).to_bytes(n, "big")
                      for i in range(-(-len(data) // n)))
    return xor(data, ecb(alg, key, False, stream))


def xts(alg, key, iv, data):
    half = len(key) // 2
    tweak = int.from_bytes(ecb(alg, key[half:], False, iv), "little")
    tweaks = []
    for _ in range(-(-len(data) // 16)):
        tweaks.append(tweak.to_bytes(16, "little"))
        tweak <<= 1
        if tweak >> 128:
            tweak ^= (1 << 128) | 0x87

    whole = len(data) & ~15
    mask = b"".join(tweaks)
    out = xor(ecb(alg, key[:half], False, xor(data[:whole], mask)), mask)
    tail = data[whole:]
    if tail:
        # IEEE 1619-2007, 5.3.2: the last whole block lends its ciphertext
        lent = out[whole - 16:whole]
        last = xor(tail + lent[len(tail):], tweaks[-1])
        last = xor(ecb(alg, key[:half], False, last), tweaks[-1])
        out = out[:whole - 16] + last + lent[:len(tail)]
    return out


def encrypt(alg, mode, key, iv, data):
    if mode == "ecb":
        return ecb(alg, key, False, data)
    out = {"cbc": cbc, "ctr": ctr, "xts": xts}[mode](alg, key, iv, data)

    own = {"cbc": modes.CBC, "ctr": modes.CTR, "xts": modes.XTS}[mode]
    if family(alg) in OPENSSL:
        try:
            assert openssl(alg, key, own(iv), False, data) == out, (alg, mode)
        except (UnsupportedAlgorithm, ValueError, TypeError):
            pass  # OpenSSL does not have the pair, or not with this key
    return out


def pattern(n):
    """Byte i is the top byte of i * 0x9e3779b1 modulo 2^32."""
    return bytes((i * 0x9e3779b1 & 0xffffffff) >> 24 for i in range(n))


def check(path):
    good = 0
    for text in re.split(r"\n\s*\n", open(path).read()):
        rec = dict(re.findall(r"^(\w+) = (\S+)$", text, re.M))
        if "alg" not in rec:
            continue
        key = bytes.fromhex(rec["key"])
        iv = bytes.fromhex(rec.get("iv", ""))
        pt = (bytes.fromhex(rec["pt"]) if "pt" in rec
              else pattern(int(rec["pt_len"])))
        ct = encrypt(rec["alg"], rec["mode"], key, iv, pt)
        want = rec.get("ct") or rec["ct_sha256"]
        got = ct.hex() if "ct" in rec else hashlib.sha256(ct).hexdigest()
        if got != want:
            sys.exit(f"{path}: {rec['alg']} {rec['mode']}: {got}, not {want}")
        good += 1
    print(f"{path}: {good} records agree")


def seeded(text, n):
    return hashlib.sha512(text.encode()).digest()[:n]


def record(alg, mode, length, iv=None):
    nkey = KEY_LEN[alg] * (2 if mode == "xts" else 1)
    key = seeded(f"key {alg} {mode} {length}", nkey)
    if iv is None:
        iv = seeded(f"iv {alg} {mode} {length}", block_len(alg))
    pt = pattern(length)
    ct = encrypt(alg, mode, key, iv, pt)
    print(f"alg = {alg}\nmode = {mode}\nkey = {key.hex()}")
    if mode != "ecb":
        print(f"iv = {iv.hex()}")
    if length <= 160:
        print(f"pt = {pt.hex()}\nct = {ct.hex()}\n")
    else:
        print(f"pt_len = {length}\nct_sha256 = "
              f"{hashlib.sha256(ct).hexdigest()}\n")


def main():
    if sys.argv[1:2] == ["--check"]:
        for path in sys.argv[2:]:
            check(path)
        return

    print("# Made by make-peer-vectors.py, which says from what.  pt_len is the\n"
          "# length of a plaintext whose byte i is the top byte of\n"
          "# i * 0x9e3779b1 modulo 2^32.\n")
    for alg in KEY_LEN:
        n = block_len(alg)
        for mode in ("ecb", "cbc", "ctr") + (("xts",) if n == 16 else ()):
            odd = 7 if mode in ("ctr", "xts") else 0
            record(alg, mode, 5 * n + odd)
            record(alg, mode, 4096)
            record(alg, mode, 65536 + 3 * n + odd)
            if mode == "ctr":
                # the counter wraps inside the message
                record(alg, mode, 1000, b"\xff" * (n - 1) + b"\xf3")


main()
