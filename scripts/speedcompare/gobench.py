"""
Go's benchmark format: golang.org/design/14313-benchmark-format

    goos: linux
    BenchmarkXTS/size=4096/key=256-8   1000   1234 ns/op   3319 MB/s

Lines "key: value" say what holds for those after them; "Unit X better=higher"
says of a unit which way is better.  A benchmark that occurs again (-count)
was measured again.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import re

from .model import Key, Unit, clean_name

SIGNATURE = re.compile(rb"^(?:Benchmark[^a-z\s]\S*|Benchmark)[ \t]+\d+[ \t]+"
                       rb"[\d.eE+-]+[ \t]+\S", re.M)
WORDS = re.compile(rb"^Benchmark|^Unit |^ *\d+\s+[\d.]+ \S+/op|^pkg: |: ", re.M)

NAME = re.compile(r"Benchmark([^a-z\s]\S*|)")
CONFIG = re.compile(r"([a-z][^\sA-Z:]*):(?:\s+(.*))?")
METADATA = re.compile(r"Unit\s+(\S+)\s+(.*)")
RESULT = re.compile(r"\d+\s+[\d.].*")
PROCS = re.compile(r"-(\d+)$")
SIZE = re.compile(r"^(?:size|inputsize|bytes|blocksize)=(\d+)$")
BITS = re.compile(r"^(?:key|keysize|keybits|bits)=(\d+)$")
LOWER = re.compile(r"/op$|^(?:ns|sec|B|bytes|cycles|ms|us|s)$|-(?:ns|sec|bytes)"
                   r"|^cycles/|^ns/|/byte$|/B$")
HIGHER = re.compile(r"/s$|/sec$|_per_sec$|^[kMG]i?B/s$")
DIRECTIONS = {"encrypt", "decrypt", "encryption", "decryption"}
FIELDS = {"alg": "algorithm", "algorithm": "algorithm", "provider": "driver", "impl": "driver", "driver": "driver",
          "optype": "direction", "op": "direction"}


def unit_of(name, better):
    if name not in better:
        better[name] = "higher" if HIGHER.search(name) else \
            "lower" if LOWER.search(name) else None
    return Unit(name, better[name], name, False)


def key_of(name, package, unit):
    """The parts of the name that have a place of their own get it"""
    procs = PROCS.search(name)
    parts = PROCS.sub("", name).split("/")
    size = bits = None
    driver, direction, algorithm, rest = [], "", "", [parts[0]]
    for part in parts[1:]:
        field, _, value = part.partition("=")
        if SIZE.match(part) and size is None and len(value) < 16:
            size = int(value)
        elif BITS.match(part) and bits is None and len(value) < 9:
            bits = int(value)
        elif value and FIELDS.get(field) == "algorithm" and not algorithm:
            algorithm = value
        elif value and FIELDS.get(field) == "driver":
            driver.append(value)
        elif value and FIELDS.get(field) == "direction" and not direction:
            direction = value
        elif part.lower() in DIRECTIONS and not direction:
            direction = part
        else:
            rest.append(part)
    variant = ", ".join(filter(None, (
        "/".join(rest) if algorithm else "", package,
        f"on {procs[1]} CPUs" if procs and procs[1] != "1" else "")))
    return Key(clean_name(algorithm or "/".join(rest)), clean_name("/".join(driver)),
               clean_name(direction), bits, size, clean_name(variant), "",
               unit)


def parse(lines, log):
    better, package, name = {}, "", ""
    for number, text in lines:
        match = NAME.match(text)
        if match:
            fields = text.split()
            name = fields[0][len("Benchmark"):] or "Benchmark"
            fields = fields[1:]
            if not fields:
                continue  # its numbers come on a line of their own
        elif name and RESULT.fullmatch(text.strip()) and "/op" in text:
            fields = text.split()
        else:
            match = METADATA.fullmatch(text)
            if match:
                for pair in match[2].split():
                    what, _, value = pair.partition("=")
                    if what == "better" and value in ("higher", "lower"):
                        better[clean_name(match[1])] = value
                continue
            match = CONFIG.fullmatch(text)
            if match:
                if match[1] == "pkg":
                    package = clean_name(match[2] or "")
            elif text.strip() and not text.startswith("#"):
                log.left.add(number, "no result", text)
            continue
        if len(fields) < 3 or not fields[0].isdigit() or len(fields) % 2 == 0:
            log.left.add(number, "not understood", text)
            continue
        pairs = list(zip(fields[1::2], fields[2::2]))
        try:
            values = [float(value) for value, _ in pairs]
        except ValueError:
            log.left.add(number, "not understood", text)
            continue
        for value, (_, unit) in zip(values, pairs):
            log.add(key_of(name, package, unit_of(clean_name(unit), better)),
                    value, number)
    log.titles = len({key.algorithm for key in log.cells})
