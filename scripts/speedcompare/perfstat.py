"""
`perf stat`, as text and with -j

All of it is counted for the same work, so less is better (but for events that
are a rate).  The command stands in the key only where a file has several:
two builds are two commands, and -j does not say it at all.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import json
import re

from .model import Key, Unit, clean_name

SIGNATURE = re.compile(
    rb"Performance counter stats for |\"counter-value\"\s*:"
    rb"|^[> ]*[\d.,]+ +seconds time elapsed", re.M)
WORDS = re.compile(rb"Performance counter|counter-value|seconds|#|<not |\d  ")

TITLE = re.compile(r"Performance counter stats for (.*?)(?: \((\d+) runs\))?:")
NUMBER = r"\d[\d.,'\u202f\u00a0]*"
ELAPSED = re.compile(rf"({NUMBER})(?: \+- {NUMBER})? +seconds +"
                     r"(time elapsed|user|sys)\b.*")
COUNT = re.compile(rf"(?:(S\d\S*|CPU\d+)\s+(?:\d+\s+)?)?({NUMBER})"
                   r"(?: +(msec|Joules|Bytes|[KMG]i?B))? +([A-Za-z][^\s#]*)"
                   r"(?: +(?:#|\().*)?")
ABSENT = re.compile(r"<not (?:supported|counted)>\s+(\S+)")
HIGHER = re.compile(r"/sec\b|per_sec|insn_per_cycle")


def number_of(text, counts):
    """
    A number in any language's manner

    A point or a comma before groups of three is a thousand's, in a count
    always; elsewhere the last one is that of the fraction.
    """
    text = text.rstrip(".,'")
    for c in "'\u202f\u00a0":
        text = text.replace(c, "")
    points = [c for c in text if c in ".,"]
    if len(points) > 9:
        return float("nan")  # and is left out as such
    if not points:
        return float(text)
    grouped = re.fullmatch(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*", text)
    if grouped and (counts or len(points) > 1 or "," in text):
        return float(re.sub("[.,]", "", text))
    last = points[-1]
    if text.count(last) > 1:
        return float(re.sub("[.,]", "", text))
    other = "," if last == "." else "."
    return float(text.replace(other, "").replace(last, "."))


def key_of(command, event, unit, detail=""):
    better = "higher" if HIGHER.search(event) else "lower"
    if event.startswith("duration_time"):
        unit = "ns"
    return Key(command, "", "", None, None, "", f"{event}{detail}",
               Unit(unit or "count", better, unit or "count", not unit))


def parse(lines, log):
    command, commands, found = "", {}, []
    for number, text in lines:
        text = text.lstrip("> ").strip()
        if not text:
            continue
        if text.startswith("{") and "counter-value" in text:
            entry = read_object(text)
            if entry is None:
                log.left.add(number, "not understood", text)
            elif entry[0] is None:
                log.left.add(number, "not counted there", text)
            else:
                found.append((command, number, *entry))
            continue
        match = TITLE.search(text)
        if match:
            command = clean_name(match[1].strip("'"))
            commands[command] = True
            log.titles += 1
            if match[2]:
                log.notes.append(f"line {number}: each number is the mean of "
                                 f"{match[2]} runs")
            continue
        match = ELAPSED.fullmatch(text)
        if match:
            found.append((command, number, number_of(match[1], False),
                          match[2], "seconds", ""))
            continue
        match = ABSENT.match(text)
        if match:
            log.left.add(number, "not counted there", text)
            continue
        match = COUNT.fullmatch(text)
        if match and (command or "#" in text):
            where = f" {match[1]}" if match[1] else ""
            found.append((command, number, number_of(match[2], not match[3]),
                          clean_name(match[4]), match[3] or "", where))
            continue
        log.left.add(number, "no count", text)
    several = len(commands) > 1
    for command, number, value, event, unit, where in found:
        log.add(key_of(command if several else "perf stat", event, unit,
                       where), value, number)
    log.titles = log.titles or (1 if found else 0)


def read_object(text):
    """(value, event, unit, where), with None for what was not counted"""
    try:
        data = json.loads(text.rstrip(","))
        value = str(data["counter-value"])
        event = clean_name(str(data["event"]))
        where = "".join(f" {data[field]}" for field in
                        ("cpu", "core", "socket", "node", "thread")
                        if field in data)
        if value.startswith("<"):
            return None, event, "", where
        unit = str(data.get("unit") or "")
        return (number_of(value, False), event, clean_name(unit),
                clean_name(where) and " " + clean_name(where))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
