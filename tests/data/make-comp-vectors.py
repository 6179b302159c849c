#!/usr/bin/python3
"""Compressed data made by other programs

    make-comp-vectors.py > comp-peers.vec

Python's zlib module and the commands zstd and lz4 compress 1100 bytes of
words, 70000 bytes of a repeated line, 300 bytes of noise, and nothing, in the
ways these programs have.  Of lz4's files, which are frames, only the one block
is taken.  "len" and "sha256" are of the content.

"expect" is there where the data is to be refused: corrupt; or space, where
its content is longer than the room of 100000 bytes that the tests give.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import hashlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib

WORDS = ("sector cluster header volume key slot image table offset length "
         "master digest stripe payload area block").split()
rng = random.Random(8)
text = b""
while len(text) < 1100:
    text += rng.choice(WORDS).encode() + rng.choice((b" ", b" ", b", ", b".\n"))
CONTENTS = {
    "words": text[:1100],
    "lines": (b"the same line again and again\n" * 2400)[:70000],
    "noise": rng.randbytes(300),
    "nothing": b"",
}


def record(algorithm, made, data, content, expect=None):
    print(f"algorithm = {algorithm}\nmade = {made}")
    if expect:
        print(f"expect = {expect}")
    else:
        print(f"len = {len(content)}\n"
              f"sha256 = {hashlib.sha256(content).hexdigest()}")
    print(f"data = {data.hex()}\n")


def by_zlib(content, level=6, window=15, strategy=0, flush=None):
    c = zlib.compressobj(level, zlib.DEFLATED, window, 8, strategy)
    out, half = b"", len(content) // 2
    if flush is not None:
        out = c.compress(content[:half]) + c.flush(flush)
        content = content[half:]
    return out + c.compress(content) + c.flush()


def by_command(content, *command):
    return subprocess.run(command, input=content, check=True,
                          capture_output=True).stdout


def zstd(content, *options):
    return by_command(content, "zstd", "-q", "-c", *options)


def zstd_file(content, *options):
    """From a file, so that the frame has the content's size."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(content)
        f.flush()
        return by_command(b"", "zstd", "-q", "-c", *options, f.name)


def lz4(content, *options):
    frame = by_command(content, "lz4", "-q", "-c", "--no-frame-crc", *options)
    magic, size = struct.unpack("<I", frame[:4])[0], frame[7:11]
    assert magic == 0x184D2204 and not frame[4] & 0x18, frame[:7]
    n = struct.unpack("<I", size)[0]
    assert not n >> 31 and frame[11 + n:] == bytes(4), "more than a block"
    return frame[11:11 + n]


def main():
    zstd_version, lz4_version = (
        re.search(rb"v([0-9.]+)", by_command(b"", name, "--version"))[1].decode()
        for name in ("zstd", "lz4"))
    print(f"# made by make-comp-vectors.py with zlib {zlib.ZLIB_RUNTIME_VERSION}"
          f", zstd {zstd_version}, lz4 {lz4_version}\n")
    words, lines = CONTENTS["words"], CONTENTS["lines"]
    for name, window in (("zlib-deflate", 15), ("deflate", -15)):
        for what, content in CONTENTS.items():
            record(name, f"zlib, {what}", by_zlib(content, 6, window), content)
        for level in (0, 1, 9):
            record(name, f"zlib, level {level}", by_zlib(words, level, window),
                   words)
        for strategy, called in ((2, "Huffman only"), (3, "run lengths"),
                                 (4, "fixed codes")):
            record(name, f"zlib, {called}",
                   by_zlib(words, 6, window, strategy), words)
        record(name, "zlib, window of 512 bytes",
               by_zlib(words, 9, 9 if window > 0 else -9), words)
        record(name, "zlib, flushed in the middle",
               by_zlib(words, 6, window, flush=zlib.Z_FULL_FLUSH), words)
        record(name, "zlib, a megabyte of zeros",
               by_zlib(bytes(1 << 20), 9, window), b"", "space")
        record(name, "nobody, empty data", b"", b"", "corrupt")
    record("zlib-deflate", "zlib, gzip's header", by_zlib(words, 6, 31), b"",
           "corrupt")
    record("zlib-deflate", "zlib, raw", by_zlib(words, 6, -15), b"", "corrupt")
    preset = zlib.compressobj(zdict=words[:64])
    record("zlib-deflate", "zlib, a preset dictionary",
           preset.compress(words) + preset.flush(), b"", "corrupt")
    record("deflate", "nobody, reserved block type", b"\x07\0", b"", "corrupt")
    record("deflate", "nobody, length not repeated",
           b"\x01\x04\0\0\0abcd", b"", "corrupt")
    record("deflate", "nobody, distance before the start",
           # fixed codes: length 3, distance 1, end
           b"\x03\x02\x00", b"", "corrupt")

    for what, content in CONTENTS.items():
        record("zstd", f"zstd, {what}", zstd_file(content), content)
    for option in ("-1", "-19", "--ultra -22", "--fast=5", "--no-check",
                   "--long=27"):
        record("zstd", f"zstd {option}", zstd_file(words, *option.split()),
               words)
    record("zstd", "zstd, size unknown", zstd(words), words)
    record("zstd", "zstd, size unknown, lines", zstd(lines), lines)
    record("zstd", "zstd, a megabyte of zeros", zstd(bytes(1 << 20)), b"",
           "space")
    record("zstd", "nobody, empty data", b"", b"", "corrupt")
    record("zstd", "zstd, two frames", 2 * zstd_file(words), b"", "corrupt")
    claim = bytearray(zstd_file(words, "--no-check"))
    # single segment, 8 bytes of size in the place of 2
    assert claim[4] & 0xe0 == 0x60, claim[:8]
    claim[4:7] = bytes([claim[4] & 0x1f | 0xe0]) + struct.pack("<Q", 1 << 50)
    record("zstd", "zstd, its size made 2^50", bytes(claim), b"", "corrupt")
    record("zstd", "nobody, a frame of zstd 0.7", b"\x27\xb5\x2f\xfd\x00\x50\x00\x00\x00\x00\x00",
           b"", "corrupt")

    for what, content in CONTENTS.items():
        if what not in ("noise", "nothing"):  # which it stores
            record("lz4", f"lz4, {what}", lz4(content, "-B5"), content)
    for option in ("-1", "-3", "-9", "-12", "--fast=9"):
        record("lz4", f"lz4 {option}", lz4(words, option), words)
    record("lz4", "nobody, nothing", b"\0", b"")
    record("lz4", "nobody, three literals", b"\x30abc", b"abc")
    record("lz4", "lz4, a megabyte of zeros", lz4(bytes(1 << 20), "-B7"), b"",
           "space")
    record("lz4", "nobody, empty data", b"", b"", "corrupt")
    record("lz4", "nobody, distance before the start",
           b"\x10a\x02\0\x50abcde", b"", "corrupt")
    record("lz4", "nobody, ends in a match", b"\x10a\x01\0", b"", "corrupt")
    record("lz4", "nobody, a length without end", b"\xf0" + b"\xff" * 40, b"",
           "corrupt")


main()
