"""
The table of formats, and which of them a file has

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import re
from collections import namedtuple

from . import (cryptsetup, gobench, machine, openssl, perfstat, qcrypto,
               stressng, tcrypt)
from .model import InputError, Log
from .reader import Source

# module: SIGNATURE, a line or a beginning that no other format has; WORDS,
# one of which stands in every block that matters (None: read as a whole);
# repeats: that a key occurs again is a further sample; best: of the samples
# of one run the best counts, not the median
Format = namedtuple("Format", "name title module repeats best",
                    defaults=(False, False))
FORMATS = (
    Format("qcrypto", "qcrypto bench --json", qcrypto, best=True),
    Format("tcrypt", "kernel log with tcrypt speed tests", tcrypt),
    Format("openssl", "openssl speed, text or -mr", openssl),
    Format("cryptsetup", "cryptsetup benchmark", cryptsetup),
    Format("perf-stat", "perf stat, text or -j", perfstat, repeats=True),
    Format("stress-ng", "stress-ng --metrics", stressng, repeats=True),
    Format("gobench", "Go benchmarks", gobench, repeats=True),
)
NAMES = tuple(form.name for form in FORMATS)


def detect(source):
    """The format whose signature comes first in the file"""
    first, binary = True, False
    for block in source.blocks():
        if first and block.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InputError(f"{source.path}: UTF-16 text; UTF-8 is read")
        binary = binary or (first and b"\0" in block)
        best, found = len(block) + 1, None
        for form in FORMATS:
            if form.module is qcrypto and not first:
                continue
            match = form.module.SIGNATURE.search(block, 0, best)
            if match and match.start() < best:
                best, found = match.start(), form
        if found:
            return found
        first = False
    if first:
        raise InputError(f"{source.path}: empty")
    raise InputError(f"{source.path}: " + (
        "binary data, no log" if binary else
        "no speed log that is known (" +
        ", ".join(form.title for form in FORMATS) + ")"))


def watched(lines, collector):
    """The lines that are not of a machine's record"""
    for number, text in lines:
        if not collector.feed(text):
            yield number, text


def read_log(path, name=None):
    """Reads a file; InputError says what is wrong with it"""
    source = Source(path)
    try:
        form = next((f for f in FORMATS if f.name == name), None) or \
            detect(source)
        log = Log(source.path, form)
        module = form.module
        if module is qcrypto:
            module.parse(source, log)
        else:
            collector = machine.Collector()
            words = re.compile(module.WORDS.pattern + b"|" + machine.WORDS,
                               re.M)
            module.parse(watched(source.lines(words, log), collector), log)
            log.machine = collector.machine
    finally:
        source.close()
    if not log.cells:
        raise InputError(f"{log.path}: {form.title}: not one result in "
                         f"{log.lines} lines" + (
                             f"; line {log.left.noted[0][0]}: "
                             f"{log.left.noted[0][1]}" if log.left.noted
                             else ""))
    return log
