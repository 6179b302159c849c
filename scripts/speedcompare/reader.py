"""
Lines of a file of any size, in bounded memory

A log may be a gigabyte, one line may be the whole of it, and most of it may
have nothing to do with speed.  So the file is read in blocks of whole lines;
blocks in which a format finds none of its words are counted and passed over
without being cut into lines, and a line that is longer than any program
writes is cut short.

Files packed with gzip, bzip2 or xz are unpacked on the way.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import bz2
import gzip
import lzma
import os
import re
import stat
import sys
import tempfile

from .model import InputError, clean

BLOCK = 1 << 20
LONGEST = 1 << 12  # bytes of a line that are looked at
PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open),
          (b"\xfd7zXZ\0", lzma.open))
UNPACKING = (OSError, EOFError, lzma.LZMAError)
# no program prints so many digits; sums with them would not be numbers
DIGITS = re.compile(r"\d{25,}")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")

def reason(error):
    return getattr(error, "strerror", None) or str(error) or "broken data"


class Source:
    """A file that is read twice: to see what it is, and to take it in"""

    def __init__(self, path):
        self.path = "standard input" if path == "-" else clean(path)
        try:
            self.file = self._seekable(path)
            head = self.file.read(8)
            self.file.seek(0)
            for magic, opener in PACKED:
                if head.startswith(magic):
                    self.file = opener(self.file, "rb")
        except UNPACKING as error:
            raise InputError(f"{self.path}: {reason(error)}") from None

    @staticmethod
    def _seekable(path):
        stream = sys.stdin.buffer if path == "-" else open(path, "rb")
        if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return stream
        # a pipe: kept on disk, not in memory
        copy = tempfile.TemporaryFile(prefix="speed-compare-")
        for chunk in iter(lambda: stream.read(BLOCK), b""):
            copy.write(chunk)
        copy.seek(0)
        return copy

    def close(self):
        self.file.close()

    def read(self, limit):
        """The beginning, at most @limit bytes"""
        try:
            self.file.seek(0)
            return self.file.read(limit)
        except UNPACKING as error:
            raise InputError(f"{self.path}: {reason(error)}") from None

    def blocks(self):
        """Blocks of whole lines, the last line's end maybe missing"""
        rest, cut_short = b"", False
        self.read(0)
        while True:
            try:
                chunk = self.file.read(BLOCK)
            except UNPACKING as error:
                raise InputError(f"{self.path}: {reason(error)}") from None
            if not chunk:
                break
            if cut_short:
                end = chunk.find(b"\n")
                if end < 0:
                    continue
                chunk, cut_short = chunk[end:], False
            chunk = rest + chunk
            cut = chunk.rfind(b"\n") + 1
            rest = chunk[cut:]
            if len(rest) > LONGEST:
                rest, cut_short = rest[:LONGEST], True
            if cut:
                yield chunk[:cut]
        if rest:
            yield rest

    def lines(self, words, log):
        """(number, text) of lines from blocks with one of @words in them"""
        number = 0
        for block in self.blocks():
            if not words.search(block):
                number += block.count(b"\n") + (not block.endswith(b"\n"))
                continue
            for line in block.split(b"\n"):
                number += 1
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                text = line[:LONGEST].decode("utf-8", "replace").rstrip("\r")
                text = DIGITS.sub("?", ESCAPE.sub("", text))
                yield number, clean(text).rstrip()
            if block.endswith(b"\n"):
                number -= 1  # the empty piece behind the last line end
        log.lines = number
