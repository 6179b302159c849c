"""
The page: one file that needs nothing else, in light and in dark

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import re
from html import escape

from speedcompare import machine

from . import charts, data

STYLE = """
:root {
  color-scheme: light dark;
  --text: %(lt)s; --muted: %(lm)s; --grid: %(lg)s; --paper: %(lp)s;
  --raw: %(lr)s; --back: #f3f5f8; --accent: #0b62a8; --bad: #a3250b;
  --warn-back: #fff6df; --warn-edge: #d69a00; %(ls)s
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: %(dt)s; --muted: %(dm)s; --grid: %(dg)s; --paper: %(dp)s;
    --raw: %(dr)s; --back: #0c0f13; --accent: #6cb8f5; --bad: #ff9b85;
    --warn-back: #2a2411; --warn-edge: #b98a16; %(ds)s
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 16px/1.55 system-ui, "DejaVu Sans", sans-serif;
}
main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 72px; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 6px; }
h2 { font-size: 1.3rem; margin: 48px 0 14px; }
h3 { font-size: 1.05rem; margin: 0; }
p { margin: 0 0 12px; }
.sub, figcaption, .muted { color: var(--muted); }
.sub { margin-bottom: 24px; }
figure, .card {
  background: var(--paper); border: 1px solid var(--grid);
  border-radius: 10px; margin: 0 0 20px; padding: 20px 22px;
}
figcaption { font-size: .92rem; margin-bottom: 8px; }
figcaption h3 { color: var(--text); }
svg { display: block; width: 100%%; height: auto; }
svg text { font-family: "DejaVu Sans", Verdana, sans-serif; }
.found { display: grid; gap: 14px; padding: 0; margin: 0 0 20px;
  grid-template-columns: repeat(auto-fit, minmax(240px, 1fr)); }
.found li { list-style: none; background: var(--paper); padding: 16px 18px;
  border: 1px solid var(--grid); border-radius: 10px; }
.found b { display: block; font-size: 1.55rem; line-height: 1.25; }
.found span { color: var(--muted); font-size: .92rem; }
.warn { background: var(--warn-back); border-left: 4px solid
  var(--warn-edge); border-radius: 6px; padding: 12px 18px;
  margin: 0 0 20px; }
.warn ul { margin: 0; padding-left: 20px; }
.bad { color: var(--bad); font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%%; font-size: .88rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: 5px 12px 5px 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--grid); }
th { color: var(--muted); font-weight: 600; white-space: nowrap; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.top { font-weight: 650; }
details > summary { cursor: pointer; color: var(--accent);
  font-weight: 600; padding: 4px 0; }
footer { margin-top: 48px; color: var(--muted); font-size: .88rem; }
"""

# what stands first in the record; the rest follows as it comes
FIRST = ("date", "cpu", "cpus", "affinity", "smt", "governor",
         "scaling_driver", "turbo", "kernel", "hypervisor", "microcode",
         "load", "qcrypto", "commit", "compiler", "flags")
LAST = ("features", "libraries", "mitigations")


def style():
    names = {"t": "text", "m": "muted", "g": "grid", "p": "paper", "r": "raw"}
    parts = {}
    for letter, theme in (("l", charts.THEMES["light"]),
                          ("d", charts.THEMES["dark"])):
        for short, name in names.items():
            parts[letter + short] = getattr(theme, name)
        parts[letter + "s"] = " ".join(
            f"--s{i}: {color};" for i, color in enumerate(theme.series))
    return STYLE % parts


def rate_text(value, unit):
    divisor, name = charts.scale([value], unit.name)
    return f"{charts.three(value / divisor)} {name}"


# ---- the record ----

def record_value(value):
    if isinstance(value, dict):
        return "; ".join(f"{k}: {machine.text_of(v)}"
                         for k, v in value.items()) or "none"
    return machine.text_of(value)


def record(results):
    sets = results.sets
    names = [n for n in FIRST]
    seen = [n for one in sets for n in one.machine]
    names += [n for n in dict.fromkeys(seen)
              if n not in FIRST + LAST + ("warnings",)]
    names = [n for n in names if n in seen] + [n for n in LAST if n in seen]
    out = ["<div class='card wide'><table><thead><tr><th></th>"]
    out += [f"<th>{escape(one.name)}</th>" for one in sets]
    out.append("</tr></thead><tbody>")
    for name in names:
        values = [record_value(one.machine.get(name)) for one in sets]
        differs = len(set(values)) > 1 and name not in ("date", "load")
        out.append(f"<tr><th>{escape(name.replace('_', ' '))}</th>" + "".join(
            f"<td{' class=top' if differs else ''}>{escape(v)}</td>"
            for v in values) + "</tr>")
    out.append("</tbody></table></div>")
    return "".join(out)


# ---- what is found ----

def findings(results):
    """The few numbers that one looks for first"""
    found = []
    groups = {}
    for case, point in results.good():
        if case.algtype == "cipher" and case.threads == 1 and \
                case.requests == 1 and case.provider != data.NULL:
            groups.setdefault((case.set, case.algorithm, case.optype,
                               case.size, case.sectors), []).append(
                                   (case, point))
    # a sector of a page, or what comes next to it
    chosen = {}
    for key, rows in groups.items():
        near = abs(key[3] - 4096) + (1 << 20) * (key[4] > 1) + \
            (key[2] != "encrypt")
        name = key[:2]
        if name not in chosen or near < chosen[name][0]:
            chosen[name] = near, key, rows
    for _, key, rows in list(chosen.values())[:4]:
        own = [(c, p) for c, p in rows if c.provider not in data.BESIDE]
        if not own:
            continue
        case, point = max(own, key=lambda row: row[1].best)
        said = [f"{results.series_name(case)}, {case.optype}, "
                f"{charts.unit_text(case)}"]
        for provider, text in ((data.RAW, "{:.0%} of the raw limit"),
                               (data.PEER, "{:.2f} times OpenSSL")):
            other = [p.best for c, p in rows if c.provider == provider]
            if other and max(other):
                said.append(text.format(point.best / max(other)))
        found.append((rate_text(point.best, case.unit), case.algorithm,
                      "; ".join(said)))
    if not found:
        case, point = max(results.good(), key=lambda row: row[1].best)
        found.append((rate_text(point.best, case.unit), case.algorithm,
                      f"{results.series_name(case)}, {case.optype}"))
    return "<ul class='found'>" + "".join(
        f"<li><b>{escape(value)}</b>{escape(name)}<br>"
        f"<span>{escape(text)}</span></li>"
        for value, name, text in found) + "</ul>"


def notes(results):
    """Those that differ in their numbers only are said once"""
    found = {}
    for one in results.sets:
        for note in one.notes:
            texts, sets = found.setdefault(re.sub(r"[\d.]+", "0", note),
                                           ([], []))
            if note not in texts:
                texts.append(note)
            if one not in sets:
                sets.append(one)
    for texts, sets in found.values():
        text = texts[0]
        if len(sets) < len(results.sets):
            text = ", ".join(one.name for one in sets) + f": {text}"
        more = len(texts) - 1
        yield text + (f" (and {more} more like it)" if more else "")


def warnings(results):
    texts = list(notes(results))
    out = ""
    failed = results.failures()
    if failed:
        out += "<div class='warn'><p class='bad'>" \
            f"{len(failed)} FAILED row{'s' if len(failed) > 1 else ''}, " \
            "without a number</p><ul>" + "".join(
                f"<li>{escape(row_name(results, case))}: "
                f"{escape(point.failed)}</li>" for case, point in failed) + \
            "</ul></div>"
    if texts:
        out += "<div class='warn'><ul>" + "".join(
            f"<li>{escape(text)}</li>" for text in texts) + "</ul></div>"
    return out


def row_name(results, case):
    return f"{case.algorithm} {case.optype}, {results.series_name(case)}, " \
           f"{charts.unit_text(case)}"


# ---- the numbers ----

COLUMNS = (("backend", ""), ("", ""), ("unit of data", "n"), ("units", "n"),
           ("threads", "n"), ("requests", "n"), ("best", "n"),
           ("median", "n"), ("spread", "n"), ("cycles/B", "n"),
           ("samples", "n"))


def number_row(results, case, point, top):
    cells = [results.series_name(case), case.optype]
    numbers = [charts.size_text(case.size) if case.size else "",
               str(case.sectors), str(case.threads), str(case.requests)]
    if point.failed and not point.samples:
        return "<tr>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + \
            "".join(f"<td class=n>{escape(n)}</td>" for n in numbers) + \
            f"<td colspan=5 class=bad>FAILED: {escape(point.failed)}</td></tr>"
    spread = "" if point.spread is None else f"±{point.spread:.1f}%"
    cycles = charts.three(min(point.cycles)) if point.cycles else ""
    if point.cycles and min(point.cycles) < 0.1:
        cycles = f"{min(point.cycles):.3g}"
    numbers += [rate_text(point.best, case.unit),
                rate_text(point.median, case.unit), spread, cycles,
                str(len(point.samples))]
    out = "".join(f"<td>{escape(c)}</td>" for c in cells)
    for i, n in enumerate(numbers):
        mark = " top" if i == 4 and top else ""
        out += f"<td class='n{mark}'>{escape(n)}</td>"
    return f"<tr>{out}</tr>"


def tables(results):
    groups = {}
    for case, point in results.points.items():
        groups.setdefault((case.algtype, case.algorithm, case.inplace,
                           case.other), []).append((case, point))
    out = []
    for (algtype, algorithm, inplace, other), rows in groups.items():
        best = {}
        for case, point in rows:
            if point.samples and case.provider not in (data.RAW, data.NULL):
                key = case._replace(provider="", impl="")
                best[key] = max(best.get(key, 0), point.best)
        title = f"{algorithm}, {algtype}" + (", in place" if inplace else "")
        title += f", {other}" if other else ""
        head = "".join(f"<th{' class=n' if kind else ''}>{name}</th>"
                       for name, kind in COLUMNS)
        body = "".join(number_row(
            results, case, point, point.samples and best.get(
                case._replace(provider="", impl="")) == point.best)
            for case, point in rows)
        out.append(f"<details class='card'{' open' if len(groups) == 1 else ''}>"
                   f"<summary>{escape(title)} "
                   f"<span class=muted>({len(rows)} rows)</span></summary>"
                   f"<div class='wide'><table><thead><tr>{head}</tr></thead>"
                   f"<tbody>{body}</tbody></table></div></details>")
    return "".join(out)


def subtitle(results):
    parts = []
    for one in results.sets:
        m = one.machine
        text = ", ".join(machine.text_of(m[n]) for n in ("cpu", "kernel")
                         if m.get(n) is not None)
        n = len(one.files)
        text += f"; {n} file{'s' if n > 1 else ''}"
        if m.get("date"):
            text += f", {m['date']}"
        parts.append(text if len(results.sets) == 1 else f"{one.name}: {text}")
    return "<br>".join(map(escape, parts))


def page(results, made, title):
    out = [
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>",
        # nothing is fetched, and nothing runs
        "<meta http-equiv='Content-Security-Policy' content=\"default-src "
        "'none'; style-src 'unsafe-inline'; img-src data:\">",
        "<meta name='viewport' content='width=device-width, "
        "initial-scale=1'>",
        f"<title>{escape(title)}</title><link rel='icon' href='data:,'>",
        f"<style>{style()}</style></head><body><main>",
        f"<h1>{escape(title)}</h1><p class='sub'>{subtitle(results)}</p>",
        findings(results), warnings(results),
    ]
    group = None
    for chart in made:
        if chart.group != group:
            group = chart.group
            out.append(f"<h2>{escape(group)}</h2>")
        caption = f"<p>{escape(chart.caption)}</p>" if chart.caption else ""
        out.append(f"<figure><figcaption><h3>{escape(chart.title)}</h3>"
                   f"{caption}</figcaption>{charts.page_svg(chart)}</figure>")
    out.append(
        "<p class='muted'>Points and bars are the best samples; thin lines "
        "reach down to the lower quartile. What disturbs a measurement makes "
        "it slower, never faster, so the best says what the code can do and "
        "the line how quiet the machine was. kB, MB and GB are powers of "
        "ten; KiB and MiB of two.</p>")
    out.append("<h2>All numbers</h2>" + tables(results))
    out.append("<h2>The machine</h2>" + record(results))
    out.append("<footer>" + escape("; ".join(
        f for one in results.sets for f in one.files)) +
        "</footer></main></body></html>\n")
    return "".join(out)
