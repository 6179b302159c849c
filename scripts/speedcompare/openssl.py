"""
`openssl speed`, as text and with -mr

The table at the end counts; what is printed while it runs is used where the
table does not come, because the run was stopped.  With -mr and -multi each
child's figures are printed, too: the sum is what counts.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import re

from .model import BYTES, OPS, Key, clean_name

SIGNATURE = re.compile(
    rb"^[> ]*(?:Doing .+ for [\d.]+s|type +\d+ bytes|\+[DHF]T?\d*:[\d.]"
    rb"|\+DTP?:|The 'numbers' are in 1000s of bytes)", re.M)
WORDS = re.compile(rb"^[> ]*(?:Doing |type |\+|Got: )|\dk|/s|\ds ", re.M)

DOING = re.compile(r"Doing (.+?)(?: ops)? for ([\d.]+)s on (\d+) size blocks: "
                   r"(\d+) .*? in ([\d.]+)s")
DOING_KEY = re.compile(r"Doing (\d+) bits? +(\S+ )?(\S+?)(?:'s| ops)? for "
                       r"([\d.]+)s: (\d+) .*? in ([\d.]+)s")
HEAD = re.compile(r"type\s+((?:\d+ bytes\s*)+)$")
RATE = re.compile(r"\d+\.\d+k?")  # k, or 0.00 for what there is not
SECONDS = re.compile(r"\d+\.\d+s?")
HEADING = re.compile(r"[A-Za-z][\w.]*/s")
BITS = re.compile(r"\b(\d+) bits? ?")
# fields of the machine's lines: how many words come before the rates, and
# what these are
RATE_LINES = {
    "F2": ("rsa", 1, ("sign", "verify", "encrypt", "decrypt")),
    "F3": ("dsa", 1, ("sign", "verify")),
    "F4": ("ecdsa", 1, ("sign", "verify")),
    "F5": ("ecdh", 1, ("op",)),
    "F6": ("EdDSA", 2, ("sign", "verify")),
    "F7": ("SM2", 2, ("sign", "verify")),
    "F8": ("ffdh", 1, ("op",)),
}
DIRECTIONS = {"encr.": "encrypt", "decr.": "decrypt"}


def tail(text, pattern):
    """@text cut before the words at its end that fit @pattern"""
    words = text.split()
    n = len(words)
    while n and pattern.fullmatch(words[n - 1]):
        n -= 1
    return " ".join(words[:n]), words[n:]


class Parser:
    def __init__(self, log):
        self.log = log
        self.sizes = []
        self.rates = []  # headings of the table of key operations
        self.begun = {}  # what was printed while it ran
        self.asked = None  # +DT: (name, size)
        self.table = False

    def add(self, name, size, value, line):
        self.log.add(Key(clean_name(name), "", "", None, size, "", "", BYTES),
                     value, line)
        self.table = True

    def add_rate(self, name, bits, direction, value, line):
        self.log.add(Key(clean_name(name), "",
                         DIRECTIONS.get(direction, direction), bits, None, "",
                         "", OPS), value, line)
        self.table = True

    def machine_line(self, fields, line):
        """-mr; False if it is none of these"""
        kind = fields[0]
        if kind == "H":
            self.sizes = [int(v) for v in fields[1:] if v.isdigit()]
        elif kind == "F" and len(fields) > 3:
            for i, value in enumerate(fields[3:]):
                size = self.sizes[i] if i < len(self.sizes) else None
                self.add(fields[2], size, float(value), line)
            self.log.titles += 1
        elif kind in RATE_LINES:
            name, words, directions = RATE_LINES[kind]
            if words == 2:
                name = fields[3]
            for direction, value in zip(directions, fields[2 + words:]):
                self.add_rate(name, int(fields[2]), direction, float(value),
                              line)
            self.log.titles += 1
        elif kind == "DT" and len(fields) > 3:
            self.asked = fields[1], int(fields[3])
        elif kind == "R" and len(fields) > 3:
            name, size = self.asked or (fields[2], None)
            seconds = float(fields[3])
            if seconds > 0 and size:
                self.begun.setdefault((name, size), []).append(
                    (int(fields[1]) * size / seconds, line))
        else:
            return kind == "DTP" or re.fullmatch(r"R\d+", kind) is not None
        return True

    def key_rates(self, text, line):
        """A row of the table of key operations"""
        name, values = tail(text, SECONDS)
        values = [v for v in values if not v.endswith("s")]
        if not name or len(values) < len(self.rates):
            return False
        bits = BITS.search(name)
        name = BITS.sub("", name).strip()
        for heading, value in zip(self.rates, values[-len(self.rates):]):
            self.add_rate(name, int(bits[1]) if bits else None, heading,
                          float(value), line)
        self.log.titles += 1
        return True

    def doing(self, text, line):
        match = DOING.match(text)
        if match:
            seconds = float(match[5])
            size = int(match[3])
            if seconds > 0:
                self.begun.setdefault((match[1], size), []).append(
                    (int(match[4]) * size / seconds, line))
            return True
        return DOING_KEY.match(text) is not None

    def feed(self, text, line):
        """False if the line is none of the program's results"""
        if text.startswith("Got: +H:"):
            return self.machine_line(text[6:].split(" ")[0].split(":"), line)
        if text.startswith("+"):
            return self.machine_line(text[1:].split(":"), line)
        if text.startswith("Doing "):
            return self.doing(text, line)
        match = HEAD.fullmatch(text)
        if match:
            self.sizes = [int(v) for v in re.findall(r"(\d+) bytes", match[1])]
            self.rates = []
            return True
        before, rates = tail(text, HEADING)
        if rates and not re.search(r"\d\.\d", before):
            self.rates = [heading[:-2] for heading in rates]
            return True
        if self.rates:
            return self.key_rates(text, line)
        name, values = tail(text, RATE)
        if not name or not any(value.endswith("k") for value in values):
            return False
        for i, value in enumerate(values):
            size = self.sizes[i] if len(self.sizes) == len(values) else None
            if value.endswith("k"):
                self.add(name, size, float(value[:-1]) * 1000, line)
        self.log.titles += 1
        return True

    def finish(self):
        if self.table or not self.begun:
            return
        self.log.notes.append("no table at the end: what was printed on the "
                              "way is taken")
        for (name, size), found in self.begun.items():
            for value, line in found:
                self.add(name, size, value, line)


FACTS = re.compile(r"(version|built on|options|compiler|CPUINFO|OpenSSL)\b:? ")


def parse(lines, log):
    parser = Parser(log)
    for number, text in lines:
        text = text.lstrip("> ").strip()
        if not text:
            continue
        try:
            known = parser.feed(text, number)
        except (ValueError, IndexError, OverflowError):
            known = False
        if not known and not FACTS.match(text) and \
                not text.startswith(("The 'numbers'", "Forked", "Got: ")):
            log.left.add(number, "no result", text)
    parser.finish()
