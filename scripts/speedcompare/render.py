"""
A comparison as text, Markdown, CSV or JSON

Text and Markdown are two hands of one document: a list of headings,
paragraphs and tables.  Signs are the same everywhere: a change is
(new - base) / base, and whether that is better is said in words.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import csv
import io
import json
from collections import namedtuple

from .compare import BETTER, FAILED, SAME, UNDECIDED, WORSE

Heading = namedtuple("Heading", "text")
Lines = namedtuple("Lines", "lines")  # of prose or a list
Alert = namedtuple("Alert", "lines")  # what must not be missed
Grid = namedtuple("Grid", "columns rows foot")

SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
SHOWN = 10  # of a list in text
LONGEST = 100  # characters of a list of line numbers

# ---- numbers and names ----


def number(value):
    """At least three digits that matter, and no false ones"""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    size = abs(value)
    if size >= 1000:
        return f"{value:.1f}"
    if size >= 100:
        return f"{value:.2f}"
    if size >= 1e-3:
        return f"{value:.4g}"
    return f"{value:.3e}"


def percent(value):
    """Two decimals, or three digits of what these would make nothing"""
    if value and abs(value) < 0.01:
        return f"{value:.3g}"
    return f"{value:.2f}"


def signed(value):
    return percent(value) if value < 0 else "+" + percent(value)


def p_value(p):
    return f"p={p:.2g}" if p >= 0.0001 else f"p={p:.0e}"


def driver_of(group):
    if group.new_driver is not None:
        return f"base {group.driver or '?'}, new {group.new_driver or '?'}"
    return group.driver


def group_name(group):
    driver = driver_of(group)
    name = group.algorithm + (f" ({driver})" if driver else "")
    name += f" {group.direction}" if group.direction else ""
    return name + (f", {group.variant}" if group.variant else "")


def row_label(key):
    parts = []
    if key.bits is not None:
        parts.append(f"{key.bits} bit key")
    if key.size is not None:
        parts.append(f"{key.size} bytes")
    if key.detail:
        parts.append(key.detail)
    return ", ".join(parts) or key.unit.name


def key_name(key):
    name = key.algorithm + (f" ({key.driver})" if key.driver else "")
    for part in (key.direction, key.variant):
        name += f" {part}" if part else ""
    return f"{name}, {row_label(key)}"


def plural(n, word):
    return f"{n} {word}" + ("" if n == 1 else "es" if word.endswith("x") or
                            word.endswith("s") else "s")


def ranges(numbers):
    """12-15, 20"""
    parts = []
    for n in sorted(set(numbers)):
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    text = ""
    for a, b in parts:
        text += (", " if text else "") + (f"{a}-{b}" if b > a else str(a))
        if len(text) > LONGEST:
            return text + ", ..."
    return text


def words(change, unit):
    """What a change means: better, worse, and in which direction"""
    if not change:
        return "equal"
    more = change > 0
    what = {"ops": ("more operations", "fewer operations"),
            "cycles": ("more cycles", "fewer cycles")}.get(
                unit.noun, ("higher", "lower"))[not more]
    if unit.better is None:
        return what
    return f"{'better' if more == (unit.better == 'higher') else 'worse'}, " \
           f"{what}"


def limited(lines):
    if len(lines) <= SHOWN:
        return lines
    return lines[:SHOWN] + [f"... and {len(lines) - SHOWN} more (--json has "
                            "them)"]


# ---- the document ----

def file_line(side, log):
    text = f"{side}: {log.path}: {log.form.title}, {plural(log.lines, 'line')}"
    text += f": {plural(log.titles, 'title')}" if log.titles else ""
    text += f", {plural(log.results, 'result')}"
    left = log.left.count
    return text + (f"; left out {left}" if left else "")


def scale_of(table):
    """(divisor, heading) that the numbers of a table share"""
    unit = table.group.unit
    if unit.scaled:
        most = max((side.middle for row in table.rows
                    for side in (row.base, row.new) if side and side.runs),
                   default=0)
        for divisor, letter in SCALES:
            if most >= divisor:
                return divisor, f"{letter}{unit.noun}"
    return 1, unit.noun


def verdict(row):
    if row.verdict in (UNDECIDED, FAILED):
        text = f"{row.why}, {row.verdict}" if row.verdict == UNDECIDED else \
            f"{row.verdict}: {row.why}"
    else:
        text = f"{row.verdict}, {p_value(row.p_corrected)}"
    if row.needs:
        text += f", needs {row.needs}"
    return text


def asked_mark(row):
    asked = (row.base and row.base.asked) or (row.new and row.new.asked)
    return f" ({asked} asked)" if asked else ""


def label_columns(rows):
    """Headings and cells of what tells the rows of a table apart"""
    columns = []
    if any(row.key.bits is not None for row in rows):
        columns.append(("bit key", lambda r: "" if r.key.bits is None
                        else str(r.key.bits)))
    if any(row.key.size is not None for row in rows):
        columns.append(("byte blocks", lambda r: "" if r.key.size is None
                        else f"{r.key.size}{asked_mark(r)}"))
    if any(row.key.detail for row in rows):
        columns.append(("what", lambda r: r.key.detail))
    return columns


def simple_grid(table, rows):
    divisor, noun = scale_of(table)
    labels = label_columns(rows)
    columns = [name for name, _ in labels] + [f"base {noun}", f"new {noun}",
                                              "differ(%)"]
    cells = [[cell(row) for _, cell in labels] +
             [number(row.base.middle / divisor),
              number(row.new.middle / divisor), percent(row.change)]
             for row in rows]
    return columns, cells


def spread_cell(side, divisor):
    spread = side.spread
    return f"{number(side.middle / divisor)}" + (
        "" if spread is None else f" ± {spread:.1f}%")


def robot_grid(table, rows):
    """As the kernel test robot writes: base %stddev %change new %stddev"""
    divisor, noun = scale_of(table)
    columns = [f"base {noun} %stddev", "%change", f"new {noun} %stddev",
               "n", "verdict", "metric"]
    cells = [[spread_cell(row.base, divisor), f"{signed(row.change)}%",
              spread_cell(row.new, divisor), f"{row.base.n}/{row.new.n}",
              verdict(row), row_label(row.key) + asked_mark(row)]
             for row in rows]
    return columns, cells


def table_foot(table):
    unit = table.group.unit
    foot = [f"average differ(%): {percent(table.average)}   "
            f"({words(table.average, unit)})",
            f"total differ(%):   {percent(table.total)}   "
            f"({words(table.total, unit)})"]
    if all(row.verdict == UNDECIDED and row.why == "n=1"
           for row in table.compared):
        foot.append("n=1, no verdict: one run a side has no spread")
    return foot


def table_blocks(table):
    rows = table.compared
    if not rows:
        return
    yield Heading(group_name(table.group))
    grid = robot_grid if any(min(r.base.n, r.new.n) > 1 for r in rows) \
        else simple_grid
    columns, cells = grid(table, rows)
    yield Grid(columns, cells, table_foot(table))


def change_text(change):
    name = f"{change.algorithm} {change.direction}".strip()
    name += f", {change.variant}" if change.variant else ""
    bases, news = (" and ".join(d or "(not said)" for d in drivers)
                   for drivers in (change.bases, change.news))
    text = f"{name}: base ran {bases}, new ran {news}: " \
           f"{plural(change.rows, 'row')} "
    return text + ("compared across drivers" if change.compared
                   else "not compared")


def alerts(c):
    if c.driver_changes:
        lines = [change_text(change) for change in c.driver_changes]
        if any(not change.compared for change in c.driver_changes):
            lines.append("different code ran; --across-drivers compares it "
                         "all the same")
        yield Alert(["WARNING: THE DRIVER CHANGED"] + lines)
    failed = [row for row in c.rows if row.verdict == FAILED]
    if failed:
        yield Alert(["FAILED rows, never compared"] + limited(
            [f"{key_name(row.key)}: {row.why}" for row in failed]))
    if c.machine_differs:
        yield Alert(["WARNING: THE MACHINE DIFFERS"] + c.machine_differs)
    base, new = c.machine_doubts
    for sides, texts in (("base and new", [t for t in base if t in new]),
                         ("base", [t for t in base if t not in new]),
                         ("new", [t for t in new if t not in base])):
        if texts:
            yield Alert([f"warning: numbers of {sides} may waver"] + texts)


def machine_line(c):
    missing = [side for side, known in zip(("base", "new"), c.machine_known)
               if not known]
    if missing:
        return [f"machine: no record in {' and '.join(missing)}: governor, "
                "P-state and turbo are unknown (paste the output of "
                "`qcrypto machine` into the log)"]
    if not c.machine_differs:
        return ["machine: the records agree"]
    return []


def summary(c):
    """What it comes to"""
    compared = c.compared
    if not compared:
        return ["result: no row was compared"]
    lines = []
    for mean in c.means:
        if mean.change is None:
            continue
        word = {None: "", "higher": "more is better",
                "lower": "less is better"}[mean.better]
        sense = "" if mean.better is None or not mean.change else \
            ": better" if (mean.change > 0) == (mean.better == "higher") \
            else ": worse"
        if sense and not any(row.verdict in (BETTER, WORSE)
                             for row in compared):
            sense += ", not proven"
        lines.append(f"geometric mean of new/base, "
                     f"{plural(mean.used, 'matched row')}"
                     f"{', ' + word if word else ''}: "
                     f"{mean.ratio:.4f} ({signed(mean.change)}%){sense}")
    counts = {v: sum(row.verdict == v for row in compared)
              for v in (BETTER, WORSE, SAME, UNDECIDED)}
    lines.append("rows: " + ", ".join(f"{n} {v}" for v, n in counts.items()
                                      if n))
    needs = [row.needs for row in compared if row.needs]
    if needs:
        lines.append(f"{plural(len(needs), 'row')} differ by "
                     f"{c.effect:g}% or more without proof; so many runs a "
                     f"side would decide: {min(needs)}" +
                     (f" to {max(needs)}" if max(needs) > min(needs) else ""))
    if any(row.why == "n=1" for row in compared):
        lines.append("n=1, no verdict: measure several times and give "
                     "--base FILE... --new FILE...")
    elif any(row.verdict != UNDECIDED for row in compared) and \
            min(len(c.base), len(c.new)) == 1:
        lines.append("one run a side: its samples are alike, another start "
                     "of the program may differ by more")
    lines += verdict_lines(c)
    return lines


def verdict_lines(c):
    limit = f"{c.options.threshold:g}%"
    lines = [f"regression: {group_row(row)}: {signed(row.change)}%" +
             (" (no verdict, but a threshold was given)"
              if row.verdict == UNDECIDED else "")
             for row in c.regressions]
    lines = limited(lines)
    if c.regressions:
        lines.append(f"result: {plural(len(c.regressions), 'row')} worse by "
                     f"more than {limit}")
    elif c.failures:
        lines.append("result: FAILED rows in new")
    elif all(row.verdict == UNDECIDED for row in c.compared):
        lines.append("result: no verdict")
    elif any(row.verdict in (BETTER, WORSE) for row in c.compared):
        lines.append(f"result: no regression beyond {limit}")
    else:
        lines.append("result: no difference")
    return lines


def group_row(row):
    return key_name(row.key) + (f" -> {row.new_driver}"
                                if row.new_driver is not None else "")


def unmatched(c):
    """Rows on one side only, by table"""
    for side in ("base", "new"):
        lines = []
        for table in c.tables:
            rows = [r for r in table.rows
                    if r.where == side and not r.other_drivers]
            if not rows:
                continue
            labels = [row_label(r.key) for r in rows]
            text = f"{group_name(table.group)}: {plural(len(rows), 'row')}"
            lines.append(text + (f": {'; '.join(labels)}"
                                 if len(labels) < 4 else ""))
        if lines:
            yield Heading(f"only in {side}")
            yield Lines(limited(lines))


def left_out(c):
    lines = []
    for side, logs in (("base", c.base), ("new", c.new)):
        for log in logs:
            for key, where in log.duplicates().items():
                lines.append(f"{side}: {log.path}: {key_name(key)}: "
                             f"{len(where)} results, lines {ranges(where)}; "
                             "all of them count")
    if lines:
        yield Heading("duplicated results")
        yield Lines(limited(lines))
    found = {}  # what is said of several files is said once
    for side, logs in (("base", c.base), ("new", c.new)):
        for log in logs:
            for text in limited(log.notes) + why_left(log):
                found.setdefault(text, []).append(f"{side}: {log.path}")
    if found:
        yield Heading("left out, and notes")
        yield Lines([(files[0] if len(files) == 1 else
                      f"{len(files)} files") + f": {text}"
                     for text, files in found.items()])


def why_left(log):
    """The lines left out, by reason"""
    reasons = {}
    for line, why, text in log.left.noted:
        reasons.setdefault(why, []).append((line, text))
    lines = [f"{why}: line{'s' if len(found) > 1 else ''} "
             f"{ranges(line for line, _ in found)}: {found[0][1]}"
             for why, found in reasons.items()]
    rest = log.left.count - len(log.left.noted)
    return lines + ([f"{rest} more lines"] if rest else [])


def document(c):
    yield Lines([file_line(side, log) for side, logs in
                 (("base", c.base), ("new", c.new)) for log in logs] +
                machine_line(c))
    yield from alerts(c)
    for table in c.tables:
        yield from table_blocks(table)
    yield from unmatched(c)
    yield from left_out(c)
    yield Heading("summary")
    yield Lines(summary(c))


# ---- hands ----

def as_text(c):
    out = []
    for block in document(c):
        if isinstance(block, Heading):
            out += ["", block.text, "-" * min(len(block.text), 79)]
        elif isinstance(block, Alert):
            out += ["", "!!! " + block.lines[0]]
            out += ["    " + line for line in block.lines[1:]]
        elif isinstance(block, Grid):
            widths = [max(map(len, column)) for column in
                      zip(block.columns, *block.rows)]
            for row in [block.columns] + block.rows:
                out.append(" | ".join(f"{cell:<{width}}" for cell, width in
                                      zip(row, widths)).rstrip())
            out += [""] + block.foot
        else:
            out += block.lines
    return "\n".join(out) + "\n"


def escape(text):
    for c in "\\|<>*_`[]":
        text = text.replace(c, "\\" + c)
    return text


def as_markdown(c):
    out = []
    for block in document(c):
        if isinstance(block, Heading):
            out += ["", "### " + escape(block.text), ""]
        elif isinstance(block, Alert):
            out += ["", f"> **{escape(block.lines[0])}**", ">"]
            out += ["> - " + escape(line) for line in block.lines[1:]]
        elif isinstance(block, Grid):
            out.append("| " + " | ".join(map(escape, block.columns)) + " |")
            out.append("|" + "---|" * len(block.columns))
            out += ["| " + " | ".join(map(escape, row)) + " |"
                    for row in block.rows]
            out += [""] + ["- " + escape(line) for line in block.foot]
        else:
            out += ["- " + escape(line) for line in block.lines]
    return "\n".join(out) + "\n"


def side_object(side):
    if side is None:
        return None
    return {"median": side.middle, "stddev_percent": side.spread,
            "n": side.n, "runs": side.runs, "failed": side.failed}


def row_object(row):
    key = row.key
    asked = [side.asked for side in (row.base, row.new) if side and side.asked]
    return {
        "algorithm": key.algorithm, "driver": key.driver,
        "new_driver": row.new_driver, "direction": key.direction,
        "key_bits": key.bits, "size": key.size,
        "asked_size": asked[0] if asked else key.size,
        "variant": key.variant, "detail": key.detail, "unit": key.unit.name,
        "better": key.unit.better, "in": row.where,
        "base": side_object(row.base), "new": side_object(row.new),
        "change_percent": row.change, "is_better": row.is_better,
        "verdict": row.verdict, "why": row.why, "p": row.p,
        "p_corrected": row.p_corrected, "needs_runs": row.needs,
        "regression": row.beyond, "drivers_on_the_other_side":
        list(row.other_drivers),
    }


def log_object(log):
    return {
        "path": log.path, "format": log.form.name, "lines": log.lines,
        "titles": log.titles, "results": log.results,
        "left_out": {"count": log.left.count, "lines": [
            {"line": line, "why": why, "text": text}
            for line, why, text in log.left.noted]},
        "duplicates": [{"row": key_name(key), "lines": lines}
                       for key, lines in log.duplicates().items()],
        "notes": log.notes, "machine": log.machine or None,
    }


def as_object(c, status):
    return {
        "schema": 1,
        "base": [log_object(log) for log in c.base],
        "new": [log_object(log) for log in c.new],
        "machine": {"differs": c.machine_differs,
                    "doubts": {"base": c.machine_doubts[0],
                               "new": c.machine_doubts[1]}},
        "driver_changes": [change._asdict() for change in c.driver_changes],
        "tables": [{"name": group_name(t.group), "unit": t.group.unit.name,
                    "rows": len(t.compared), "average_percent": t.average,
                    "total_percent": t.total,
                    "meaning": words(t.average, t.group.unit)}
                   for t in c.tables if t.compared],
        "geometric_means": [{"better": m.better, "rows": m.used,
                             "ratio": m.ratio, "change_percent": m.change}
                            for m in c.means],
        "threshold_percent": c.options.threshold,
        "minimum_effect_percent": c.effect,
        "rows": [row_object(row) for row in c.rows],
        "summary": summary(c),
        "status": status,
    }


def as_json(c, status):
    return json.dumps(as_object(c, status), indent=1, ensure_ascii=False,
                      default=str) + "\n"


CSV_SIDE = ("median", "n", "stddev_percent")
CSV_ROW = ("algorithm", "driver", "new_driver", "direction", "key_bits",
           "size", "asked_size", "variant", "detail", "unit", "better", "in")
CSV_END = ("change_percent", "verdict", "why", "p", "p_corrected",
           "needs_runs", "regression")


def csv_cell(value):
    """Nothing that a spreadsheet would compute"""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return "'" + value
    return value


def as_csv(c):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_ROW + tuple(f"{side}_{name}" for side in
                                    ("base", "new") for name in CSV_SIDE) +
                    CSV_END)
    for row in c.rows:
        entry = row_object(row)
        sides = [(entry[side] or {}).get(name) for side in ("base", "new")
                 for name in CSV_SIDE]
        writer.writerow([csv_cell(v) for v in
                         [entry[name] for name in CSV_ROW] + sides +
                         [entry[name] for name in CSV_END]])
    return out.getvalue()
