"""
Results of `qcrypto bench --json`: docs/bench-schema.json

A row is known by all its fields but those that were measured, so that fields
which a later version adds tell rows apart, too.  Of the samples of one
process the best counts: whatever disturbs makes slower, never faster.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import json
import re

from . import machine
from .model import BYTES, OPS, InputError, Key, clean_name

SIGNATURE = re.compile(rb"\A\s*[\[{][^\0]{0,65536}?\"(?:rows|schema)\"\s*:")
LARGEST = 32 << 20  # bytes; a run of everything is below one of them

MEASURED = {"bytes_per_sec", "ops_per_sec", "cycles_per_byte", "counters",
            "verified", "failed", "thread_bytes_per_sec", "ratio",
            "in_flight", "frequency_hz", "doubt", "loop", "disturbed"}
NAMED = {"algtype", "algorithm", "optype", "provider", "impl", "inputsize",
         "sectors", "sources", "threadnum", "reqnum", "inplace", "keysize",
         "numamask"}
# how long was measured tells rows apart in a file that has several of it;
# between two files it need not be the same
SETTINGS = ("time", "fixed_bytes")
MATTERS = ("bytes_per_sec", BYTES), ("ops_per_sec", OPS)


def name(row, field, where):
    value = row.get(field)
    if not isinstance(value, str) or not value:
        raise InputError(f"{where}: no \"{field}\"")
    return clean_name(value)


def count(row, field, default, where):
    value = row.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int) or \
            not 0 <= value < 1 << 63:
        raise InputError(f"{where}: \"{field}\" is no number that it can be")
    return value


def samples(rate, where):
    """The samples of a rate, or its best where they are not kept"""
    found = rate.get("samples") or [rate.get("median", rate.get("best"))]
    if not isinstance(found, list) or not all(
            isinstance(v, (int, float)) and not isinstance(v, bool)
            for v in found):
        raise InputError(f"{where}: \"samples\" are no numbers")
    try:
        return [float(v) for v in found]
    except OverflowError:
        raise InputError(f"{where}: a number that is too large") from None


def rate_of(row, where):
    """(unit, samples) of what the row measured; no samples if it failed"""
    for field, unit in MATTERS:
        rate = row.get(field)
        if isinstance(rate, dict):
            found = samples(rate, where)
            if any(found):
                return unit, found
    return OPS, None


def key_of(row, unit, where, settings=()):
    threads = count(row, "threadnum", 1, where)
    requests = count(row, "reqnum", 1, where)
    variant = [] if row.get("algtype") in ("cipher", None) else \
        [name(row, "algtype", where)]
    if threads > 1:
        variant.append(f"{threads} threads")
    if requests > 1:
        variant.append(f"{requests} requests")
    if isinstance(row.get("inplace"), bool):
        variant.append("in place" if row["inplace"] else "not in place")
    if row.get("numamask", "0x0") != "0x0":
        variant.append("NUMA nodes " + name(row, "numamask", where))
    detail = []
    if count(row, "sectors", 1, where) > 1:
        detail.append(f"run of {row['sectors']}")
    if row.get("sources") is not None:
        detail.append(f"{count(row, 'sources', 1, where)} sources")
    for field, value in row.items():
        if (field in settings or isinstance(value, (str, int)) and
                field not in SETTINGS) and \
                field not in NAMED and field not in MEASURED:
            detail.append(clean_name(f"{field} {machine.text_of(value)}"))
    return Key(name(row, "algorithm", where),
               f"{name(row, 'provider', where)}/{name(row, 'impl', where)}",
               name(row, "optype", where),
               count(row, "keysize", 0, where) or None
               if row.get("keysize") is not None else None,
               count(row, "inputsize", 0, where) or None, ", ".join(variant),
               ", ".join(detail), unit)


def take_row(row, number, settings, log):
    where = f"{log.path}: row {number}"
    chosen, values = rate_of(row, where)
    if row.get("verified") is not True or values is None:
        # which of both it would have had is seen by the size
        unit = BYTES if row.get("inputsize") else OPS
        why = row.get("failed") or ("not verified" if row.get("verified")
                                    is not True else "no number")
        log.fail(key_of(row, unit, where, settings), clean_name(str(why)), number)
        return
    if row.get("doubt"):
        log.notes.append(clean_name(f"row {number}: {row['doubt']}"))
    log.add(key_of(row, chosen, where, settings), values, number)


def load(source):
    """The object in a file, looked over: its rows and its machine exist"""
    data = source.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InputError(f"{source.path}: JSON of more than {LARGEST >> 20} "
                         "MiB is no result of one run")
    try:
        results = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        # a broken end is what a killed run leaves
        short = "ends too early" if error.pos >= len(data.rstrip()) - 1 or \
            error.msg.startswith("Unterminated") else "is no JSON"
        raise InputError(f"{source.path}: {short}: {error.msg}, line "
                         f"{error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source.path}: is no JSON: {error}"[:300]) from None
    if not isinstance(results, dict):
        raise InputError(f"{source.path}: JSON, but no object with \"rows\"")
    if results.get("schema") != 1:
        raise InputError(f"{source.path}: schema "
                         f"{results.get('schema')!r:.20}; this program knows 1")
    if not isinstance(results.get("rows"), list):
        raise InputError(f"{source.path}: JSON without \"rows\"")
    for number, row in enumerate(results["rows"], 1):
        if not isinstance(row, dict):
            raise InputError(f"{source.path}: row {number} is no object")
    if not isinstance(results.get("machine"), dict):
        results["machine"] = {}
    if not isinstance(results.get("notes"), list):
        results["notes"] = []
    results["lines"] = data.count(b"\n")
    return results


def parse(source, log):
    results = load(source)
    log.machine = machine.from_object(results["machine"])
    rows = results["rows"]
    settings = [field for field in SETTINGS
                if len({str(row.get(field)) for row in rows}) > 1]
    for number, row in enumerate(rows, 1):
        take_row(row, number, settings, log)
    log.titles = len({key[:3] + key[5:6] for key in log.cells})
    log.lines = results["lines"]
    for note in results["notes"]:
        log.notes.append("not measured: " + clean_name(str(note)))
