"""
What a file said: results under keys, and what was left out of it

A key is what was measured; two results are compared when their keys are
equal, never because they stand at the same place.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import array
import math
import re
from collections import namedtuple

# A file of any size must not fill the memory: more different results than
# any benchmark has, or more numbers, are refused.
MOST_KEYS = 50_000
MOST_VALUES = 1_000_000
MOST_NOTED = 1000  # lines left out that are named, of any number counted
LONGEST_NAME = 400
SHOWN = 100  # characters of a line left out


# what could move a terminal's cursor or turn text around
CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029"
                     "\u202a-\u202e\u2066-\u2069]")


def clean(text):
    """Text that a terminal shows as it is"""
    return CONTROL.sub("?", text).replace("\t", " ")


def clean_name(text):
    """A name or a value out of a file: clean, and no longer than a line"""
    text = clean(text).strip()
    return text if len(text) <= LONGEST_NAME else text[:LONGEST_NAME] + "..."


class InputError(Exception):
    """The input cannot be used; the text says which and why"""


# name: what a number is; better: "higher", "lower" or None when that cannot
# be known; noun: heading of a column; scaled: may be shown with k, M, G
Unit = namedtuple("Unit", "name better noun scaled", defaults=(False,))

OPS = Unit("ops/s", "higher", "ops")
CYCLES = Unit("cycles/op", "lower", "cycles")
BYTES = Unit("bytes/s", "higher", "B/s", True)

# algorithm, driver (what really ran, "" when it is not said), direction, bits
# of the key (or None), size in bytes as it was really processed (or None);
# variant tells tables apart (async, 2 threads, ...), detail the rows of one
Key = namedtuple("Key", "algorithm driver direction bits size variant detail "
                        "unit")


class Cell:
    """The results under one key in one file"""
    __slots__ = ("values", "lines", "asked", "failed")

    def __init__(self):
        self.values = array.array("d")
        self.lines = []
        self.asked = None  # the size asked for, where it is another one
        self.failed = None  # why there is no number that counts


class LeftOut:
    """Lines that gave no result, and why"""

    def __init__(self):
        self.count = 0
        self.noted = []  # [line, why, text]

    def add(self, line, why, text=""):
        self.count += 1
        if len(self.noted) < MOST_NOTED:
            text = text.strip()
            self.noted.append((line, why, text[:SHOWN] + "..."
                               if len(text) > SHOWN else text))


class Log:
    """One file"""

    def __init__(self, path, form):
        self.path = path
        self.form = form
        self.lines = 0
        self.titles = 0
        self.results = 0
        self.values = 0
        self.cells = {}
        self.left = LeftOut()
        self.notes = []
        self.machine = {}

    def cell(self, key):
        cell = self.cells.get(key)
        if cell is None:
            if len(self.cells) >= MOST_KEYS:
                raise InputError(f"{self.path}: more than {MOST_KEYS} "
                                 "different results")
            if any(isinstance(part, str) and len(part) > LONGEST_NAME
                   for part in key):
                raise InputError(f"{self.path}: a name longer than "
                                 f"{LONGEST_NAME} characters")
            cell = self.cells[key] = Cell()
        return cell

    def add(self, key, values, line, asked=None):
        """One result: a number, or the samples of one measurement"""
        values = values if isinstance(values, list) else [values]
        if not values or not all(math.isfinite(v) and v >= 0 for v in values):
            self.left.add(line, "no number that can be compared")
            return
        self.values += len(values)
        if self.values > MOST_VALUES:
            raise InputError(f"{self.path}: more than {MOST_VALUES} numbers")
        cell = self.cell(key)
        cell.values.extend(values)
        cell.asked = asked
        if len(cell.lines) < MOST_NOTED:
            cell.lines.append(line)
        self.results += 1

    def fail(self, key, why, line):
        cell = self.cell(key)
        cell.failed = why
        cell.lines.append(line)
        self.results += 1

    def duplicates(self):
        """Keys that occur more than once, where a format has each once"""
        if self.form.repeats:
            return {}
        return {key: cell.lines for key, cell in self.cells.items()
                if len(cell.lines) > 1}
