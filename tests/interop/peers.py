"""
Sectors as others encrypt them

The peer is the `openssl` command; XTS, which it refuses on the command line,
is put together here from its ECB (IEEE 1619-2007, 5.3).  Where Python's
cryptography module is installed its XTS is a second peer.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import subprocess

try:
    from cryptography.hazmat.primitives.ciphers import (Cipher, algorithms,
                                                        modes)
except ImportError:
    Cipher = None

# our name: (openssl's name, bytes of a key, bytes of a block)
CIPHERS = {
    "aes-128": ("aes-128", 16, 16),
    "aes-192": ("aes-192", 24, 16),
    "aes-256": ("aes-256", 32, 16),
    "3des": ("des-ede3", 24, 8),
    "camellia-128": ("camellia-128", 16, 16),
    "camellia-192": ("camellia-192", 24, 16),
    "camellia-256": ("camellia-256", 32, 16),
    "sm4": ("sm4", 16, 16),
}
FAMILIES = {"aes": "aes", "3des": "des3_ede", "camellia": "camellia",
            "sm4": "sm4"}


def openssl(name, key, iv, data, decrypt=False):
    command = ["openssl", "enc", "-" + name, "-d" if decrypt else "-e",
               "-nopad", "-K", key.hex()]
    if iv is not None:
        command += ["-iv", iv.hex()]
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode:
        raise RuntimeError("openssl: " + done.stderr.decode())
    return done.stdout


def xts_openssl(name, key, iv, data):
    """One data unit of whole blocks."""
    half = len(key) // 2
    tweak = int.from_bytes(openssl(name + "-ecb", key[half:], None, iv),
                           "little")
    tweaks = b""
    for _ in range(len(data) // 16):
        tweaks += tweak.to_bytes(16, "little")
        tweak <<= 1
        if tweak >> 128:
            tweak = tweak & (1 << 128) - 1 ^ 0x87
    mixed = xor(data, tweaks)
    return xor(openssl(name + "-ecb", key[:half], None, mixed), tweaks)


def xor(a, b):
    n = len(a)
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(
        n, "big")


def sector(cipher, mode, key, number, data):
    """One sector of an image whose IVs are plain64."""
    name, _, block = CIPHERS[cipher]
    iv = number.to_bytes(8, "little") + bytes(block - 8)
    if mode == "xts":
        return xts_openssl(name, key, iv, data)
    if mode == "ecb":
        iv = None
    # the command calls the mode of two or three DES keys "des-ede3-cbc", and
    # has no word for its counter mode
    if mode == "ctr" and block == 8:
        return counter_openssl(name, key, iv, data)
    return openssl(f"{name}-{mode}", key, iv, data)


def counter_openssl(name, key, iv, data):
    first = int.from_bytes(iv, "big")
    size = len(iv)
    counters = b"".join(((first + i) % (1 << 8 * size)).to_bytes(size, "big")
                        for i in range(len(data) // size))
    return xor(data, openssl(name + "-ecb", key, None, counters))


def xts_module(key, number, data):
    """The same from Python's cryptography; None where it is not installed."""
    if Cipher is None:
        return None
    iv = number.to_bytes(8, "little") + bytes(8)
    enc = Cipher(algorithms.AES(key), modes.XTS(iv)).encryptor()
    return enc.update(data) + enc.finalize()
