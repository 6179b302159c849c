"""
Speed tests of the kernel's tcrypt module, out of a kernel log

    tcrypt: testing speed of sync cbc(aes) (cbc-aes-aesni) encryption
    tcrypt: test 0 (128 bit key, 16 byte blocks): 1 operation in 281 cycles (16 bytes)

There are many spellings of this.  Kernels before 6.2 begin every message with
a line end, so that a title and even an item stand on two lines; any other
kernel message during a test splits its item, too; dmesg, syslog and journals
put stamps before lines; mail quotes and wraps them.  So lines are not matched
one by one: a title or an item is taken from its first word on, and what
follows on later lines is added as long as the whole can still become one.
A line that does not fit is somebody else's and is passed over.

The head of an item says the size that is really used (1424 where 1420 was
asked for and the block size does not allow it), on some kernels the one asked
for; the bytes at its end tell.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import re
from collections import namedtuple

from .model import CYCLES, OPS, Key

SIGNATURE = re.compile(
    rb"\btesting[\s>]{1,40}speed[\s>]{1,40}of\b"
    rb"|\btest[\s>]{1,40}\d+[\s>]{1,40}\([\s>]{0,40}\d+[\s>]{1,40}(?:bit|byte)\b"
    rb"|\d operations? in \d+ (?:seconds|cycles) \(|\d opers/sec"
    rb"|\d cycles/operation")
# a wrapped item's last line has but "bytes)" or "cycles/byte"
WORDS = re.compile(rb"\btest|oper|byte|cycles|cryption")

START = re.compile(r"\btesting speed of\b|\btest +\d+ *\(")
# the same, wrapped so early that nothing else may stand in the line
EARLY = re.compile(r"testing(?: speed)?|test(?: +\d+)?")
QUOTE = re.compile(r"^(?:(?:[A-Za-z]{0,3}|\s{0,3})[>|])+ ?")
# one stamp or tag before a message; they stand in any order
PREFIX = re.compile(r"""\s*(?:
      <\d+>                                         # level
    | \[[^\]]*\d[^\]]*\]                            # [  12.345678], [T12]
    | [a-z0-9]+\s*:\s?[a-z]+\s*:(?=\s)              # dmesg -x
    | \d{4}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d\S*         # --time-format iso
    | (?:[A-Z][a-z]{2}\s+)?[A-Z][a-z]{2}\s+\d+\s+\d\d:\d\d:\d\d(?:\s+\d{4})?
    | (?:\S+\s+)?kernel:                            # syslog, journal
    | tcrypt:
    )\s*""", re.X)

# Words of an item; N stands for a number.  Heads and tails go with each other
# in all ways (multibuffer hashes have operations as ciphers do).
HEADS = ("test N ( N bit key , N byte blocks ) :",
         "test N ( N byte blocks , N bytes per update , N updates ) :")
TAILS = ("N operation(s) in N second(s) ( N bytes )",
         "N operation in N cycle(s) ( N bytes )",
         "N opers / sec , N bytes / sec",
         "N cycles / operation , N cycles / byte")
WORD = re.compile(r"-?\d+|[A-Za-z]+|\S")
KINDS = ("sync", "async", "multibuffer")
DIRECTION = re.compile(r"(encryption|decryption)\b")
FAILED = re.compile(r"(?:failed|error)\b.*", re.I)

Item = namedtuple("Item", "line bits size updates numbers tail")
Title = namedtuple("Title", "algorithm driver direction variant")
UNTITLED = Title("", "", "", "")


def pattern(text):
    """Each word's spellings; None for a number"""
    words = []
    for word in text.split():
        if word == "N":
            words.append(None)
        else:
            words.append({word.replace("(s)", "s"), word.replace("(s)", "")}
                         if len(word) > 1 else {word})
    return words


PATTERNS = [(pattern(head), pattern(tail), tail)
            for head in HEADS for tail in TAILS]


def fits(words, want):
    """How many of @words fit @want from its beginning"""
    n = 0
    for word, one in zip(words, want):
        if (word in one) if one else word.lstrip("-").isdecimal():
            n += 1
        else:
            break
    return n


def numbers(words, want):
    return [int(word) for word, one in zip(words, want) if one is None]


def read_item(text, line):
    """
    An Item, or True for a beginning of one, or False.

    The words behind a complete item are nobody's.
    """
    words = WORD.findall(text[:500])
    begun = False
    for head, tail, name in PATTERNS:
        want = head + tail
        n = fits(words, want)
        if n == len(want):
            _, first, second, *more = numbers(words, head)
            bits, size, updates = (None, first, second) if more else \
                (first, second, None)
            return Item(line, bits, size, updates,
                        numbers(words[len(head):], tail), name)
        # the last word may have been cut
        begun = begun or n == len(words) or (
            n == len(words) - 1 and n < len(want) and want[n] is not None and
            any(one.startswith(words[n]) for one in want[n]))
    return begun


def balanced(text):
    """Where the first word of @text ends, blanks in brackets taken out"""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return i
        if c == " " and depth == 0:
            return i
    return len(text) if depth == 0 else -1


def read_title(text):
    """A Title, or True for a beginning of one, or False"""
    begin = "testing speed of".split()
    words = text.split()
    n = fits(words, [{w} for w in begin])
    if n < len(begin):
        return n == len(words)
    rest = " ".join(words[n:])
    kinds = []
    while rest.split(" ", 1)[0] in KINDS:
        kind, _, rest = rest.partition(" ")
        kinds.append(kind)
    if not rest:
        return True
    parts = []
    while rest and len(parts) < 2:
        if parts and not rest.startswith("("):
            break
        end = balanced(rest)
        if end < 0:
            # a bracket is still open: no blanks belong there
            return " " not in rest.split("(", 1)[-1] and len(rest) < 400
        parts.append(rest[:end])
        rest = rest[end:].lstrip()
    direction = DIRECTION.match(rest)
    driver = parts[1][1:-1] if len(parts) > 1 else ""
    return Title(parts[0], driver, direction[1] if direction else "",
                 " ".join(kinds))


def strip(text):
    """@text without quotes and stamps"""
    text = QUOTE.sub("", text)
    while True:
        match = PREFIX.match(text)
        if not match:
            return text.strip()
        text = text[match.end():]


class Parser:
    def __init__(self, log):
        self.log = log
        self.title = UNTITLED
        self.extend = False  # the title may go on in the next line
        self.pending = ""  # the beginning of a title or an item
        self.head = ""  # of that, what stood on its first line
        self.begun = 0  # its line

    # ---- results ----

    def take_title(self, title):
        self.title = title
        self.log.titles += 1

    def take_item(self, item):
        """Adds a result; what it says twice must agree"""
        first, second = item.numbers[:2]
        title = self.title
        if title is UNTITLED:
            self.log.left.add(item.line, "no title stands before it",
                              self.pending)
            return
        unit, value, real = OPS, None, item.size
        if item.tail is TAILS[0]:
            value = first / second if second > 0 and first > 0 else None
            # old kernels computed bytes in 32 bits; those say nothing
            total = item.numbers[2]
            if value and total > 0 and total % first == 0:
                real = total // first
        elif item.tail is TAILS[1]:
            unit, value, real = CYCLES, second or None, item.numbers[2]
        elif item.tail is TAILS[2]:
            value = first or None
        else:
            unit, value = CYCLES, first or None
        if value is None or value < 0 or item.size <= 0:
            self.log.left.add(item.line, "no operations, or no time",
                              self.pending)
            return
        # a size may be rounded up to whole blocks; anything else is a slip
        if real != item.size and not item.size < real < item.size + 16:
            self.log.notes.append(
                f"line {item.line}: {real} bytes an operation, but the test "
                f"is called one of {item.size}; {item.size} is taken")
            real = item.size
        asked = item.size if real != item.size else None
        if item.size == 1424 and item.bits is not None:
            asked = 1420  # tcrypt asks for 1420 and never for 1424
        detail = "" if item.updates is None else f"{item.updates} an update"
        self.log.add(Key(title.algorithm, title.driver, title.direction,
                         item.bits, real, title.variant, detail, unit),
                     value, item.line, asked)

    # ---- lines ----

    def drop(self):
        """What was begun will not be completed"""
        if self.pending:
            self.log.left.add(self.begun, "broken off", self.pending)
        self.pending = ""

    def settle(self):
        """Takes what is complete; False if nothing can become of it"""
        if not self.pending.startswith("testing"):
            item = read_item(self.pending, self.begun)
            if isinstance(item, Item):
                self.take_item(item)
                self.pending = ""
                return True
            if item and self.pending.startswith("test"):
                return True
        title = read_title(self.pending)
        if isinstance(title, Title):
            self.take_title(title)
            # brackets and a direction may have been wrapped
            self.extend = not title.direction
            self.head = self.pending
            self.pending = ""
            return True
        return title

    def begin(self, text, number):
        self.drop()
        self.extend = False
        self.pending = self.head = text
        self.begun = number
        if not self.settle():
            self.log.left.add(number, "not understood", text)
            self.pending = ""

    def extend_title(self, text):
        """Adds "(driver) decryption" that was wrapped to the title"""
        title = read_title(f"{self.head} {text}")
        self.extend = False
        if not isinstance(title, Title) or title == self.title or \
                not text.startswith(("(", "encryption", "decryption")):
            return False
        self.title, self.extend = title, not title.direction
        self.head = f"{self.head} {text}"
        return True

    def more(self, text):
        """Adds @text to what was begun; False if it is of something else"""
        before = self.pending
        glue = " "
        if before.startswith("testing") and before.count("(") > \
                before.count(")"):
            glue = ""
        for start in dict.fromkeys((before + glue, self.head + " ")):
            self.pending = start + text
            if self.settle():
                return True
        self.pending = before
        return False

    def feed(self, number, line):
        if not line:
            return
        start = START.search(line)
        if start:
            self.begin(line[start.start():], number)
            return
        if line.endswith(("testing", "speed", "test")) or line[-1].isdigit():
            text = strip(line)
            if EARLY.fullmatch(text):
                self.begin(text, number)
                return
        if not self.pending and not self.extend:
            if "cycles" in line or "oper" in line:
                self.log.left.add(number, "not understood", line)
            else:
                self.other(number, line)
            return
        text = strip(line)
        if not text:
            return
        if self.extend and self.extend_title(text):
            return
        if self.pending and self.more(text):
            return
        if self.pending and FAILED.search(text) and "tcrypt" in line + text:
            self.log.left.add(self.begun, f"no result: {text[:60]}",
                              self.pending)
            self.pending = ""
            return
        self.other(number, line)

    def other(self, number, line):
        if strip(line):
            self.log.left.add(number, "not of a speed test", line)


def parse(lines, log):
    parser = Parser(log)
    for number, line in lines:
        parser.feed(number, line)
    parser.drop()
