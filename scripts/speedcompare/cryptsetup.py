"""
`cryptsetup benchmark`

Argon2 is measured the other way round, by the cost that fits into a time: its
number is passes over a KiB of memory a second.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import re

from .model import BYTES, Key, Unit

SIGNATURE = re.compile(
    rb"Tests are approximate using memory only"
    rb"|^[> ]*PBKDF2-\S+ +\d+ iterations per second"
    rb"|^[> ]*\S+ +\d+b +(?:[\d.,]+ MiB/s|N/A)", re.M)
WORDS = re.compile(rb"iterations|MiB/s|N/A")

ITERATIONS = Unit("iterations/s", "higher", "iterations/s", True)
PASSES = Unit("KiB passes/s", "higher", "KiB passes/s", True)
PBKDF2 = re.compile(r"PBKDF2-(\S+)\s+(?:(\d+) iterations per second"
                    r"(?: for (\d+)-bit key)?|N/A)")
ARGON2 = re.compile(r"(argon2\w+)\s+(?:(\d+) iterations, (\d+) memory, (\d+) "
                    r"parallel threads \(CPUs\) for (\d+)-bit key "
                    r"\(requested (\d+) ms time\)|N/A)")
CIPHER = re.compile(r"(\S+)\s+(\d+)b\s+(\d+(?:[.,]\d+)? MiB/s|N/A)\s+"
                    r"(\d+(?:[.,]\d+)? MiB/s|N/A)")


def parse(lines, log):
    for number, text in lines:
        text = text.lstrip("> ").strip()
        if not text or text.startswith("#"):
            continue
        match = PBKDF2.fullmatch(text)
        if match:
            if match[2]:
                log.add(Key("pbkdf2-" + match[1], "", "derive",
                            int(match[3] or 0) or None, None, "", "",
                            ITERATIONS), float(match[2]), number)
            else:
                log.left.add(number, "not available there", text)
            continue
        match = ARGON2.fullmatch(text)
        if match:
            if match[2] and int(match[6]):
                work = int(match[2]) * int(match[3]) / int(match[6]) * 1000
                log.add(Key(match[1], "", "derive", int(match[5]), None,
                            f"{match[4]} threads", "", PASSES), work, number)
            else:
                log.left.add(number, "not available there", text)
            continue
        match = CIPHER.fullmatch(text)
        if not match:
            log.left.add(number, "no result", text)
            continue
        for direction, value in (("encryption", match[3]),
                                 ("decryption", match[4])):
            if value == "N/A":
                log.left.add(number, f"{direction} not available there", text)
                continue
            # some languages have a comma
            rate = float(value.split()[0].replace(",", ".")) * (1 << 20)
            log.add(Key(match[1], "", direction, int(match[2]), None, "", "",
                        BYTES), rate, number)
    log.titles = len({key.algorithm for key in log.cells})
