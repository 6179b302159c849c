"""
Two sides, matched row by row and judged

A side is one file or several, each a run.  Rows match when their keys are
equal.  A driver that changed leaves two rows without a partner; that is found
and said, and such rows are compared only when it is asked for.

The verdict.  With one number a side there is none.  Otherwise a difference
counts when

  - the medians differ by the minimum effect;
  - a rank test over the numbers of both sides says so, corrected for the
    number of rows.  The numbers are the samples of all runs: where a format
    keeps several of a run, the better half of each run's, since a disturbance
    only slows (of a single run a side, all);
  - and, with several runs a side, the difference is larger than what runs of
    one side differ by, at a confidence corrected for the number of rows.
    Samples of one process are alike; its runs are what varies.  How much they
    do is taken from the row itself, but not as less than in most rows: of
    five runs that agree by chance nobody should conclude that all would.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import math
import statistics
from collections import namedtuple

from . import machine, stats
from .model import Key

ALPHA = 0.05

BETTER, WORSE, SAME = "better", "worse", "no difference"
UNDECIDED, FAILED, CHANGED = "no verdict", "FAILED", "driver changed"

Options = namedtuple("Options", "threshold threshold_given effect across",
                     defaults=(5.0, False, None, False))


class Side:
    """One row's numbers on one side"""

    def __init__(self, cells, best, higher):
        self.runs = [list(cell.values) for cell in cells if cell.values]
        self.asked = next((c.asked for c in cells if c.asked), None)
        self.failed = next((c.failed for c in cells if c.failed), None)
        self.best = best
        pick = (max if higher else min) if best else statistics.median
        self.of_runs = [pick(run) for run in self.runs]
        self.higher = higher

    @property
    def n(self):
        return sum(map(len, self.runs))

    @property
    def middle(self):
        return statistics.median(self.of_runs) if self.of_runs else None

    @property
    def shown(self):
        """The numbers whose spread is shown: runs, or samples of the one"""
        return self.of_runs if len(self.runs) > 1 else self.runs[0]

    @property
    def spread(self):
        return stats.spread(self.shown) if self.runs else None

    def judged(self):
        """The numbers that are ranked"""
        if len(self.runs) == 1 or not self.best:
            return [v for run in self.runs for v in run]
        return [v for run in self.runs
                for v in sorted(run, reverse=self.higher)
                [:(len(run) + 1) // 2]]


class Row:
    def __init__(self, key, base, new):
        self.key = key
        self.base = base  # Side or None
        self.new = new
        self.new_driver = None  # of a pair across drivers
        self.other_drivers = []  # on the other side, where they changed
        self.change = None  # percent of base
        self.verdict = None
        self.why = ""
        self.p = self.p_corrected = None
        self.needs = None  # runs a side
        self.beyond = False  # worse by more than the threshold

    @property
    def where(self):
        return "both" if self.base and self.new else \
            "base" if self.base else "new"

    @property
    def compared(self):
        return self.change is not None

    @property
    def is_better(self):
        """True or False of the numbers as they are, None for neither"""
        if not self.change or self.key.unit.better is None:
            return None
        return (self.change > 0) == (self.key.unit.better == "higher")


Group = namedtuple("Group", "algorithm driver new_driver direction variant "
                            "unit")


class Table:
    """The rows of one algorithm, driver and direction"""

    def __init__(self, group, rows):
        self.group = group
        self.rows = rows
        self.compared = [row for row in rows if row.compared]
        self.average = self.total = None
        if self.compared:
            self.average = statistics.fmean(r.change for r in self.compared)
            base = math.fsum(r.base.middle for r in self.compared)
            new = math.fsum(r.new.middle for r in self.compared)
            self.total = 100 * (new - base) / base

    @property
    def several(self):
        """Whether there is a spread to show"""
        return any(side and side.n > 1 for row in self.rows
                   for side in (row.base, row.new))


class Mean:
    """Geometric mean of new / base over rows of one kind"""

    def __init__(self, better, rows):
        self.better = better
        self.rows = len(rows)
        logs = [math.log(r.new.middle / r.base.middle) for r in rows
                if r.new.middle > 0]
        self.used = len(logs)
        self.ratio = math.exp(math.fsum(logs) / len(logs)) if logs else None
        self.change = None if self.ratio is None else 100 * (self.ratio - 1)


DriverChange = namedtuple("DriverChange", "algorithm direction variant bases "
                                          "news rows compared")


def join(logs):
    """{key: [cells]} of a side, in the order of the files"""
    cells = {}
    for log in logs:
        for key, cell in log.cells.items():
            cells.setdefault(key, []).append(cell)
    return cells


def without_driver(key):
    return key._replace(driver="")


def pair_drivers(old, new):
    """
    [(base key, new key)] of rows that differ by the driver alone

    @old, @new: keys without a partner that are equal but for it.  Drivers of
    the same provider ("builtin/aes-ni", "builtin/aes-vaes") belong together;
    otherwise there must be one on each side.
    """
    if len(old) == 1 and len(new) == 1:
        return [(old[0], new[0])]
    pairs = []
    for key in old:
        provider = key.driver.partition("/")[0]
        mine = [k for k in old if k.driver.partition("/")[0] == provider]
        others = [k for k in new if k.driver.partition("/")[0] == provider]
        if len(mine) == 1 and len(others) == 1:
            pairs.append((key, others[0]))
    return pairs


class Comparison:
    def __init__(self, base, new, options):
        self.base, self.new = base, new
        self.options = options
        self.effect = options.effect if options.effect is not None else \
            min(5.0, options.threshold)
        self.rows = []
        self.driver_changes = []
        self._match()
        self._judge()
        self.tables = self._tables()
        compared = [r for r in self.rows if r.compared]
        self.means = [Mean(better, rows) for better in
                      ("higher", "lower", None)
                      if (rows := [r for r in compared
                                   if r.key.unit.better == better])]
        self._machines()

    # ---- rows ----

    def _row(self, key, old, new):
        higher = key.unit.better != "lower"
        base = old and Side(old, self.base[0].form.best, higher)
        return Row(key, base, new and Side(new, self.new[0].form.best, higher))

    def _match(self):
        old, new = join(self.base), join(self.new)
        changed, partner = self._changed(old, new)
        ambiguous = {}
        for change, rows in changed:
            self.driver_changes.append(change)
            for key in rows:
                ambiguous[key] = change
        for key in list(old) + [k for k in new if k not in old]:
            if key in old and key in new:
                self.rows.append(self._row(key, old[key], new[key]))
                continue
            other = partner.get(key)
            if other and self.options.across:
                if key in old:
                    row = self._row(key, old[key], new[other])
                    row.new_driver = other.driver
                    self.rows.append(row)
                continue
            row = self._row(key, old.get(key), new.get(key))
            if key in ambiguous:
                row.other_drivers = ambiguous[key].news if key in old \
                    else ambiguous[key].bases
            self.rows.append(row)

    def _changed(self, old, new):
        """Driver changes with their keys, and pairs {key: partner} in them"""
        lost, gained = {}, {}
        for key in old:
            if key not in new:
                lost.setdefault(without_driver(key), []).append(key)
        for key in new:
            if key not in old:
                gained.setdefault(without_driver(key), []).append(key)
        groups, partner = {}, {}
        for rest, keys in lost.items():
            if rest not in gained:
                continue
            pairs = pair_drivers(keys, gained[rest])
            for a, b in pairs:
                partner[a], partner[b] = b, a
            if not pairs:
                pairs = [(None, None)]
            for a, b in pairs:
                olds, news = ([a], [b]) if a else (keys, gained[rest])
                group = (rest.algorithm, rest.direction, rest.variant,
                         tuple(k.driver for k in olds),
                         tuple(k.driver for k in news))
                groups.setdefault(group, [0, []])
                groups[group][0] += 1
                groups[group][1] += olds + news
        return [(DriverChange(*group, rows, self.options.across and
                              keys[0] in partner), keys)
                for group, (rows, keys) in groups.items()], partner

    # ---- verdicts ----

    def _judge(self):
        tested = []
        for row in self.rows:
            sides = [s for s in (row.base, row.new) if s]
            if any(side.failed for side in sides):
                row.verdict = FAILED
                row.why = next(s.failed for s in sides if s.failed)
                continue
            if row.where != "both":
                if row.other_drivers:
                    row.verdict = CHANGED
                continue
            if not row.base.middle:
                row.verdict, row.why = UNDECIDED, "base is 0"
                continue
            row.change = 100 * (row.new.middle - row.base.middle) / \
                row.base.middle
            if min(row.base.n, row.new.n) == 1:
                row.verdict, row.why = UNDECIDED, "n=1"
                row.beyond = self._apart(row)
            else:
                tested.append(row)
        if tested:
            self._test(tested)

    def _test(self, rows):
        for row in rows:
            row.p = stats.rank_test(row.base.judged(), row.new.judged())
        for row, p in zip(rows, stats.holm([row.p for row in rows])):
            row.p_corrected = p
        several = [row for row in rows
                   if min(len(row.base.runs), len(row.new.runs)) > 1]
        usual = statistics.median(
            stats.robust_spread(side.of_runs) for row in several
            for side in (row.base, row.new)) if several else 0.0
        alpha = ALPHA / len(rows)
        for row in rows:
            self._verdict(row, usual, alpha)

    def _verdict(self, row, usual, alpha):
        base, new = row.base, row.new
        large = abs(row.change) >= self.effect
        certain = row.p_corrected < ALPHA
        # in percent; one run gone wrong shall not hide what the others say
        noise = [max(usual, stats.robust_spread(side.of_runs))
                 if len(side.runs) > 1 else 0.0 for side in (base, new)]
        if min(len(base.runs), len(new.runs)) > 1:
            error = stats.MEDIAN * math.hypot(
                *(v / math.sqrt(len(side.runs))
                  for v, side in zip(noise, (base, new))))
            certain = certain and \
                abs(row.change) > stats.quantile(1 - alpha / 2) * error
        if large and certain:
            better = row.is_better
            row.verdict = BETTER if better else WORSE
            if better is None:
                row.verdict, row.why = UNDECIDED, \
                    "which way is better is not known"
            row.beyond = row.verdict == WORSE and \
                abs(row.change) > self.options.threshold
            return
        row.verdict = SAME
        if not large:
            return
        self._needed(row, noise, alpha)

    def _needed(self, row, noise, alpha):
        """How many runs, or samples of one run, would decide"""
        base, new = row.base, row.new
        runs = min(len(base.runs), len(new.runs)) > 1
        n = min(map(len, (base.of_runs, new.of_runs))) if runs else \
            min(base.n, new.n)
        resolve = stats.runs_to_resolve(alpha)
        if runs and base.n > len(base.runs) and new.n > len(new.runs):
            # the samples of a few runs are numbers enough to rank
            resolve = 2
        if not runs:
            noise = [side.spread or 0.0 for side in (base, new)]
        see = stats.runs_to_see(row.change, max(noise), alpha)
        row.needs = max(resolve, see, n + 1)
        if n < resolve:
            row.verdict, row.why = UNDECIDED, f"n={n} is too few"
            row.beyond = self._apart(row)

    def _apart(self, row):
        """
        Whether a row without a verdict counts as a regression

        Only when a threshold was given, and if even the best new number is
        worse than the worst of base.
        """
        if not self.options.threshold_given or row.is_better is not False or \
                abs(row.change) <= self.options.threshold:
            return False
        old, new = row.base.of_runs, row.new.of_runs
        if row.key.unit.better == "higher":
            return max(new) < min(old)
        return min(new) > max(old)

    # ---- the rest ----

    def _tables(self):
        groups = {}
        for row in self.rows:
            key = row.key
            group = Group(key.algorithm, key.driver, row.new_driver,
                          key.direction, key.variant, key.unit)
            groups.setdefault(group, []).append(row)
        return [Table(group, rows) for group, rows in groups.items()]

    def _machines(self):
        records = [[log.machine for log in side if log.machine]
                   for side in (self.base, self.new)]
        self.machine_known = [bool(found) for found in records]
        self.machine_differs = []
        self.machine_doubts = [[], []]
        for i, found in enumerate(records):
            for record in found:
                for text in machine.doubts(record):
                    if text not in self.machine_doubts[i]:
                        self.machine_doubts[i].append(text)
                # within a side, too
                self._differ(machine.differences(found[0], record),
                             ("base", "new")[i] + "'s first run", "another")
        if all(self.machine_known):
            self._differ(machine.differences(records[0][0], records[1][0]),
                         "base", "new")

    def _differ(self, found, first, second):
        for title, a, b in found:
            text = f"{title}: {first} {a}, {second} {b}"
            if text not in self.machine_differs:
                self.machine_differs.append(text)

    @property
    def compared(self):
        return [row for row in self.rows if row.compared]

    @property
    def regressions(self):
        return [row for row in self.rows if row.beyond]

    @property
    def failures(self):
        """Rows of the new side that computed something wrong"""
        return [row for row in self.rows if row.new and row.new.failed]

    @property
    def related(self):
        """Whether the sides have anything to do with each other"""
        return bool(self.driver_changes) or any(
            row.where == "both" for row in self.rows)
