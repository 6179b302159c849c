"""
Rows of one file or several, under what was measured

Files of the same build on the same machine are runs of the same: their
samples are put together.  Others stay apart, and each series says of which
set it is.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import math
import os
import statistics
from collections import namedtuple

from speedcompare import machine, qcrypto
from speedcompare.model import BYTES, OPS, InputError, clean_name
from speedcompare.reader import Source

RAW = "raw"  # what the hardware could do at most
NULL = "null"  # what measuring costs: no work at all
PEER = "openssl"
# rows that are measured beside, and not this library's
BESIDE = {RAW, NULL, PEER, "memcpy", "loop", "loop-avx2", "isa-l"}
MOST_ROWS = 20_000

# what one number is of; series are told apart by set, provider and impl
Case = namedtuple("Case", "set provider impl algtype algorithm optype keysize "
                          "size sectors sources threads requests inplace "
                          "numamask other unit")


class Point:
    """The numbers of one case"""

    def __init__(self):
        self.samples = []
        self.failed = None
        self.doubt = None
        self.cycles = []
        self.ratio = None

    @property
    def best(self):
        return max(self.samples)

    @property
    def median(self):
        return statistics.median(self.samples)

    @property
    def low(self):
        """The lower quartile: what a quarter of the samples did not reach"""
        if len(self.samples) < 2:
            return self.best
        return statistics.quantiles(self.samples, n=4,
                                    method="inclusive")[0]

    @property
    def spread(self):
        if len(self.samples) < 2:
            return None
        return 100 * statistics.stdev(self.samples) / \
            statistics.fmean(self.samples)


class Set:
    """Files of one build on one machine"""

    def __init__(self, record, name):
        self.machine = record
        self.name = name
        self.files = []
        self.notes = []


class Results:
    def __init__(self, paths):
        self.sets = []
        self.points = {}
        self.rows = 0
        for path in paths:
            self._read(path)
        self._name_sets()
        if not any(point.samples for point in self.points.values()):
            raise InputError(f"{clean_name(paths[0])}: not one row with a "
                             "number")

    def _read(self, path):
        source = Source(path)
        try:
            found = qcrypto.load(source)
        finally:
            source.close()
        record = machine.from_object(found["machine"])
        same = tuple(machine.text_of(record.get(field)) for field in
                     ("cpu", "kernel", "commit", "compiler", "governor",
                      "qcrypto", "features"))
        for index, one in enumerate(self.sets):
            if one.same == same:
                break
        else:
            index, one = len(self.sets), Set(record, "")
            one.same = same
            self.sets.append(one)
        one.files.append(source.path)
        for note in found["notes"] + record.get("warnings", []):
            note = clean_name(str(note))
            if note not in one.notes:
                one.notes.append(note)
        self.rows += len(found["rows"])
        if self.rows > MOST_ROWS:
            raise InputError(f"{source.path}: more than {MOST_ROWS} rows; a "
                             "page of them would help nobody")
        for number, row in enumerate(found["rows"], 1):
            self._take(index, row, f"{source.path}: row {number}")

    def _take(self, index, row, where):
        unit, samples = qcrypto.rate_of(row, where)
        if row.get("algtype") == "kdf" and samples:
            # iterations or derivations; a long key takes several
            unit, samples = OPS, qcrypto.samples(row["ops_per_sec"], where) \
                if isinstance(row.get("ops_per_sec"), dict) else None
        key = qcrypto.key_of(row, unit, where)
        provider, _, impl = key.driver.partition("/")
        other = [part for part in key.detail.split(", ") if part and
                 not part.startswith("run of") and
                 not part.endswith("sources")]
        case = Case(index, provider, impl,
                    clean_name(str(row.get("algtype", "cipher"))),
                    key.algorithm, key.direction, key.bits, key.size or 0,
                    qcrypto.count(row, "sectors", 1, where),
                    qcrypto.count(row, "sources", 0, where),
                    qcrypto.count(row, "threadnum", 1, where),
                    qcrypto.count(row, "reqnum", 1, where),
                    bool(row.get("inplace")),
                    clean_name(str(row.get("numamask", "0x0"))),
                    ", ".join(other),
                    BYTES if samples is None and key.size else unit)
        point = self.points.setdefault(case, Point())
        if row.get("verified") is not True or not samples or not all(
                math.isfinite(v) and v >= 0 for v in samples):
            point.failed = clean_name(str(row.get("failed") or "no number"))
            return
        point.samples += samples
        if row.get("doubt"):
            point.doubt = clean_name(str(row["doubt"]))
        cycles = row.get("cycles_per_byte")
        if isinstance(cycles, (int, float)) and cycles > 0:
            point.cycles.append(cycles)
        ratio = row.get("ratio")
        if isinstance(ratio, (int, float)) and ratio > 0:
            point.ratio = ratio

    def _name_sets(self):
        """By the first file's name, which the user chose"""
        for one in self.sets:
            stem = os.path.basename(one.files[0])
            for end in (".xz", ".gz", ".bz2", ".json"):
                stem = stem.removesuffix(end)
            one.name = stem
        names = [one.name for one in self.sets]
        if len(set(names)) < len(names):
            for i, one in enumerate(self.sets, 1):
                one.name = f"{one.name} ({i})"

    def short_name(self, case):
        """Of a case's provider, where that says enough"""
        impls = {c.impl for c in self.points if c.algtype == case.algtype and
                 c.algorithm == case.algorithm and
                 c.provider == case.provider and c.set == case.set}
        name = case.provider
        if len(impls) > 1 or (case.impl != case.provider and
                              case.provider == "builtin"):
            name += f" {case.impl}"
        return name

    def series_name(self, case):
        name = self.short_name(case)
        if len(self.sets) > 1:
            name += f", {self.sets[case.set].name}"
        return name

    def good(self):
        """(case, point) of what has a number"""
        return [(case, point) for case, point in self.points.items()
                if point.samples]

    def failures(self):
        return [(case, point) for case, point in self.points.items()
                if point.failed]
