"""
The metrics of stress-ng (--metrics, --metrics-brief)

Bogo operations a second have two columns, by the time that went by and by the
time of the CPUs; both are kept.  What some stressors measure besides is a
number and a text, of which the words tell whether more is better.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import re

from .model import Key, Unit, clean_name

SIGNATURE = re.compile(rb"stress-ng: +\w+: +(?:\S+ +)?\[\d+\] +\S+ .*"
                       rb"|stress-ng: .*bogo ops")
WORDS = re.compile(rb"stress-ng: ")

BOGO = Unit("bogo ops/s", "higher", "bogo ops/s", True)
LINE = re.compile(r"stress-ng: +\w+: +(?:\d\S* +)?\[\d+\] +(.*)")
NUMBER = r"(\d+(?:\.\d+)?)"
METRIC = re.compile(r"([\w-]+) +(\d+)" + (" +" + NUMBER) * 5 +
                    r"(?: +[\d.]+)*")
OTHER = re.compile(rf"([\w-]+) +{NUMBER} (\S.*?)(?: \((?:geomet\w+|harmonic)? "
                   r"?mean.*\))?")
MORE = re.compile(r"per sec|/sec|/s\b|rate|[kKMG]i?B per|speed", re.I)
LESS = re.compile(r"nanosec|microsec|millisec|\bns\b|time|latency|cycles",
                  re.I)


def parse(lines, log):
    for number, text in lines:
        match = LINE.search(text)
        if not match:
            if text.strip("> "):
                log.left.add(number, "not of stress-ng", text)
            continue
        text = match[1].strip()
        match = METRIC.fullmatch(text)
        if match:
            log.titles += 1
            for which, value in (("real time", match[6]),
                                 ("CPU time", match[7])):
                log.add(Key(match[1], "", "", None, None, "", which, BOGO),
                        float(value), number)
            continue
        match = OTHER.fullmatch(text)
        if match and not text.startswith(("setting", "dispatching")):
            what = clean_name(match[3])
            better = "higher" if MORE.search(what) else \
                "lower" if LESS.search(what) else None
            log.add(Key(match[1], "", "", None, None, "metrics", what,
                        Unit(what, better, "value")), float(match[2]), number)
            continue
        log.left.add(number, "no metric", text)
