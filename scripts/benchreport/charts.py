"""
Which charts there are to draw, and how

A chart is a list of panels with lines or bars, found from what varies in the
results; drawing knows nothing of them.  It is drawn in a theme: colours for
light or dark pages, or names of the page's own, which the page then gives
their colours by what the reader prefers.

The points are the best samples, and thin bars go down to the lower quartile:
a disturbance only slows, so the best says what the code can do, and the bar
how quiet the machine was.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import io
import math
import re
from collections import namedtuple

import matplotlib

matplotlib.use("agg")

from matplotlib import pyplot
from matplotlib.transforms import ScaledTranslation
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from . import data

# Okabe and Ito: told apart by every kind of eyes; the lighter ones are for
# dark pages
LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07D00", "#4B3F9E",
         "#56B4E9", "#7A4A1E")
DARK = ("#56B4E9", "#FF8A3D", "#2FCB9B", "#E9A3CB", "#F0C33C", "#A79BF5",
        "#9AD7F7", "#C99A6B")
MARKERS = "osD^vPhp"
STROKES = ("-", (0, (4, 2)), (0, (1.2, 1.6)), (0, (6, 2, 1.2, 2)))
FAINT = (1, 0.6, 0.4, 0.3)  # bars of further builds

Theme = namedtuple("Theme", "name text muted grid paper series raw")
THEMES = {
    "light": Theme("light", "#1b1f24", "#57606a", "#d8dee4", "#ffffff",
                   LIGHT, "#6e7781"),
    "dark": Theme("dark", "#e6edf3", "#9aa4af", "#343b44", "#14181d", DARK,
                  "#8b949e"),
}
# colours that stand for the page's own names
NAMES = {"--text": "#010101", "--muted": "#020202", "--grid": "#030303",
         "--paper": "#fefefe", "--raw": "#040404",
         **{f"--s{i}": f"#0505{i + 16:02x}" for i in range(len(LIGHT))}}
PAGE = Theme("page", NAMES["--text"], NAMES["--muted"], NAMES["--grid"],
             NAMES["--paper"], tuple(NAMES[f"--s{i}"]
                                     for i in range(len(LIGHT))),
             NAMES["--raw"])

# points: [(x, value, low)]; set: which build's; bound: the raw limit
Line = namedtuple("Line", "name points color bound set", defaults=(0,))
# reference: (value, text) of a level
Panel = namedtuple("Panel", "title lines reference", defaults=(None,))
# rows: [(name, value, low, color, bound, set)]
Bars = namedtuple("Bars", "title rows")
# axis: "size", "threads", ...; unit: (divisor, text)
Chart = namedtuple("Chart", "slug group title caption axis unit panels")


MOST_PANELS = 8  # of a chart
MOST_SPREADS = 6  # lines of a panel of which the spread is drawn


def size_text(n):
    for unit, power in (("MiB", 20), ("KiB", 10)):
        if n >= 1 << power and n % (1 << (power - 2)) == 0:
            return f"{n / (1 << power):g} {unit}"
    return f"{n:g} B"


def scale(values, unit):
    """(divisor, text) that suits the largest"""
    most = max(values, default=0)
    name = {"bytes/s": "B/s"}.get(unit, "operations/s")
    for divisor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if most >= divisor:
            if name == "B/s":
                return divisor, f"{letter}B/s"
            return divisor, {"G": "10⁹", "M": "million",
                             "k": "thousand"}[letter] + " operations/s"
    return 1, name


# ---- which charts ----

# whose colour is the same on every page
PLACES = ("builtin", data.PEER, "gcrypt", "nettle", "gnutls")


class Colors:
    """
    A colour a series; of several builds each has its own strokes

    Well-known providers have their own, whatever else is there; what a kind
    of algorithm has besides, such as several implementations of one provider,
    gets those that are left.
    """

    def __init__(self, results):
        self.results = results
        self.places = {}
        kinds = {}
        for case in results.points:
            if case.provider not in (data.RAW, data.NULL):
                names = kinds.setdefault(case.algtype, {})
                names.setdefault(results.short_name(case), case)
        for kind, names in kinds.items():
            providers = [case.provider for case in names.values()]
            taken = {}
            for name, case in names.items():
                if case.provider in PLACES and \
                        providers.count(case.provider) == 1:
                    taken[name] = PLACES.index(case.provider)
            free = (i for i in range(1000) if i not in taken.values())
            for name in names:
                if name not in taken:
                    taken[name] = next(free)
            self.places[kind] = taken

    def of(self, case):
        return self.places[case.algtype].get(
            self.results.short_name(case), 0)


def lines_of(results, colors, found, x_of):
    """Lines of (case, point), x by @x_of, largest first"""
    lines = {}
    for case, point in found:
        name = results.series_name(case)
        line = lines.setdefault(name, Line(
            name, [], None if case.provider == data.RAW else colors.of(case),
            case.provider == data.RAW, case.set))
        line.points.append((x_of(case), point.best, point.low))
    for line in lines.values():
        line.points.sort()
    return sorted(lines.values(), key=lambda line: -max(
        v for _, v, _ in line.points))


def grouped(found, key):
    groups = {}
    for case, point in found:
        groups.setdefault(key(case), []).append((case, point))
    return groups


def slug_of(kind, case, *parts):
    """A file's name: size-hmac-sha256, bars-aes-128-xts-8x512-in-place"""
    words = [kind, case.algtype if case.algtype != "cipher" else "",
             *(parts or (case.algorithm,)),
             "in-place" if case.inplace else "", case.other]
    return re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, words)).lower()
                  )[:80].strip("-")


def common(case):
    """What the cases of one chart share beside its own axis"""
    return (case.algtype, case.algorithm, case.keysize, case.inplace,
            case.numamask, case.other, case.unit)


def describe(case, *more):
    text = [part for part in more if part]
    if case.inplace:
        text.append("in place")
    if case.numamask != "0x0":
        text.append(f"NUMA nodes {case.numamask}")
    if case.other:
        text.append(case.other)
    return ", ".join(text)


def varying(results, colors, axis, x_of, fixed, name):
    """
    Charts of everything over one axis

    @fixed: what else must be equal in one panel; @name: of a panel.
    """
    found = [(c, p) for c, p in results.good() if c.provider != data.NULL]
    for _, group in grouped(found, common).items():
        panels = {}
        for key, part in grouped(group, fixed).items():
            series = {}
            for c, _ in part:
                series.setdefault((c.set, c.provider, c.impl),
                                  set()).add(x_of(c))
            if max(map(len, series.values())) > 1:
                panels[key] = part
        if not panels:
            continue
        case = next(iter(panels.values()))[0][0]
        divisor_unit = scale([p.best for part in panels.values()
                              for _, p in part], case.unit.name)
        made = [Panel(name(part[0][0]),
                      [line for line in lines_of(results, colors, part, x_of)
                       if len({x for x, _, _ in line.points}) > 1])
                for part in sorted(panels.values(), key=lambda part: (
                    part[0][0].threads, part[0][0].requests))]
        made = [panel for panel in made if panel.lines]
        # many combinations make several charts, and none is left out
        for first in range(0, len(made), MOST_PANELS):
            yield case, divisor_unit, made[first:first + MOST_PANELS]


def x_axis_of(case):
    """What the size of a case is of"""
    if case.algtype != "kdf":
        return "size"
    return "memory" if case.algorithm.startswith("argon2") else "key"


def by_size(results, colors):
    for case, unit, panels in varying(
            results, colors, "size", lambda c: c.size,
            lambda c: (c.optype, c.sectors, c.sources, c.threads, c.requests),
            lambda c: ", ".join(filter(None, (
                c.optype, f"runs of {c.sectors}" if c.sectors > 1 else "",
                f"{c.sources} sources" if c.sources else "",
                f"{c.threads} threads" if c.threads > 1 else "",
                f"{c.requests} requests" if c.requests > 1 else "")))):
        if case.algtype == "xor":
            continue
        yield Chart(slug_of("size", case),
                    "Throughput by size", case.algorithm,
                    describe(case), x_axis_of(case), unit, panels)


def by_threads(results, colors):
    for case, unit, panels in varying(
            results, colors, "threads", lambda c: c.threads,
            lambda c: (c.optype, c.size, c.sectors, c.sources, c.requests),
            lambda c: f"{c.optype}, {unit_text(c)}"):
        yield Chart(slug_of("threads", case),
                    "Throughput by threads", case.algorithm,
                    describe(case, "all threads together, each with an "
                             "object of its own"),
                    "threads", unit, panels)


def by_requests(results, colors):
    for case, unit, panels in varying(
            results, colors, "requests", lambda c: c.requests,
            lambda c: (c.optype, c.size, c.sectors, c.sources, c.threads),
            lambda c: f"{c.optype}, {unit_text(c)}"):
        yield Chart(slug_of("requests", case),
                    "Throughput by requests in flight", case.algorithm,
                    describe(case, "of each thread"), "requests", unit,
                    panels)


def unit_text(case):
    text = size_text(case.size) if case.size else "no data"
    return text + (f", runs of {case.sectors}" if case.sectors > 1 else "")


def xor_templates(results, colors):
    """By sources, a panel a size"""
    found = [(c, p) for c, p in results.good()
             if c.algtype == "xor" and c.sources and c.threads == 1 and
             c.requests == 1]
    # memcpy moves one source, whatever the row asks
    def sources(case):
        match = re.search(r"(\d+)$", case.algorithm)
        return int(match[1]) if match else case.sources
    for unit_name, group in grouped(found, lambda c: c.unit.name).items():
        unit = scale([p.best for _, p in group], unit_name)
        panels = []
        for size, part in sorted(grouped(group, lambda c: c.size).items()):
            if len({sources(c) for c, _ in part}) < 2:
                continue
            panels.append(Panel(f"sources of {size_text(size)}",
                                lines_of(results, colors, part, sources)))
        if panels:
            yield Chart(slug_of("templates", group[0][0], "by-sources"), "XOR templates",
                        "XOR of several sources",
                        "bytes of all sources count; memcpy moves one",
                        "sources", unit, panels[:MOST_PANELS])


def runs_of_sectors(results, colors):
    """Bars of what has one size only"""
    found = [(c, p) for c, p in results.good()
             if c.provider != data.NULL and c.algtype != "xor"]
    keyed = grouped(found, lambda c: common(c) + (
        c.sectors, c.threads, c.requests))
    for _, group in keyed.items():
        if len({c.size for c, _ in group}) > 1:
            continue
        case = group[0][0]
        if case.threads > 1 or case.requests > 1:
            continue
        peers = [c for c, _ in found if common(c) == common(case) and
                 c.sectors == case.sectors and c.size == case.size]
        if any(c.threads > 1 or c.requests > 1 for c in peers):
            continue  # there is a chart by these
        unit = scale([p.best for _, p in group], case.unit.name)
        panels = [Bars(optype, sorted((
            (results.series_name(c), p.best, p.low,
             None if c.provider == data.RAW else colors.of(c),
             c.provider == data.RAW, c.set) for c, p in part),
            key=lambda bar: -bar[1]))
            for optype, part in grouped(group, lambda c: c.optype).items()]
        title = case.algorithm + (f", runs of {case.sectors} units of "
                                  f"{size_text(case.size)}"
                                  if case.sectors > 1 else
                                  f", {unit_text(case)}" if case.size else "")
        sizes = (f"{case.sectors}x" if case.sectors > 1 else "") + \
            (str(case.size) if case.size else "")
        yield Chart(slug_of("bars", case, case.algorithm, sizes),
                    "Sector runs and single sizes", title, describe(case), "bars", unit,
                    panels[:MOST_PANELS])


def ratios(results, colors):
    """The best of the library against the bound and against the peer"""
    found = [(c, p) for c, p in results.good()
             if c.threads == 1 and c.requests == 1]
    for _, group in grouped(found, lambda c: common(c) + (c.set,)).items():
        panels = []
        for bound, title in ((data.RAW, "share of the raw limit, %"),
                             (data.PEER, "times OpenSSL")):
            lines = []
            for (optype, sectors, sources), part in grouped(
                    group, lambda c: (c.optype, c.sectors,
                                      c.sources)).items():
                points = []
                for size, row in sorted(grouped(
                        part, lambda c: c.size).items()):
                    own = [p.best for c, p in row
                           if c.provider not in data.BESIDE]
                    other = [p.best for c, p in row if c.provider == bound]
                    if own and other and max(other) > 0:
                        value = max(own) / max(other)
                        value *= 100 if bound == data.RAW else 1
                        points.append((size, value, value))
                if points:
                    name = optype + (f", runs of {sectors}"
                                     if sectors > 1 else "")
                    lines.append(Line(name, points, len(lines), False))
            if lines and any(len(line.points) > 1 for line in lines):
                panels.append(Panel(title, lines, (
                    100 if bound == data.RAW else 1,
                    "raw: AES rounds alone" if bound == data.RAW
                    else "as fast as OpenSSL")))
        if panels:
            case = group[0][0]
            name = case.algorithm + (f", {results.sets[case.set].name}"
                                     if len(results.sets) > 1 else "")
            yield Chart(slug_of("ratio", case, name),
                        "Against the limit and OpenSSL", name,
                        describe(case, "the fastest backend of the library "
                                 "at each size"), "ratio", (1, ""), panels)


MAKERS = (by_size, runs_of_sectors, ratios, by_threads, by_requests,
          xor_templates)


def charts(results):
    colors = Colors(results)
    made, slugs = [], set()
    for maker in MAKERS:
        for chart in maker(results, colors):
            slug, n = chart.slug, 2
            while slug in slugs:
                slug, n = f"{chart.slug}-{n}", n + 1
            slugs.add(slug)
            made.append(chart._replace(slug=slug))
    return made


# ---- how ----

SETTINGS = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "qcrypto",
    "text.parse_math": False, "axes.unicode_minus": False,
}
X_LABELS = {"size": "bytes in one call",
            "key": "bytes of the derived key", "memory": "bytes of memory",
            "ratio": "bytes in one call",
            "threads": "threads", "requests": "requests in flight",
            "sources": "sources"}


def legible(value, _=None):
    return f"{value:g}"


def style(axes, theme):
    axes.set_facecolor("none")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(theme.muted)
    axes.tick_params(colors=theme.muted, length=0, pad=6)
    axes.tick_params(axis="x", length=4, width=0.8)
    axes.set_axisbelow(True)


def draw_line(axes, line, theme, divisor, place, of):
    xs = [x for x, _, _ in line.points]
    ys = [v / divisor for _, v, _ in line.points]
    if line.bound:
        return axes.plot(xs, ys, color=theme.raw, linewidth=1.5,
                         linestyle=(0, (5, 3)), label=line.name, zorder=2)[0]
    color = theme.series[line.color % len(theme.series)]
    marker = MARKERS[line.color % len(MARKERS)]
    strokes = STROKES[(line.set + line.color // len(theme.series)) %
                      len(STROKES)]
    # beside each other, so that all of them are seen
    beside = axes.transData + ScaledTranslation(
        (place - (of - 1) / 2) * 3 / 72, 0, axes.figure.dpi_scale_trans)
    if of <= MOST_SPREADS:
        axes.vlines(xs, [low / divisor for _, _, low in line.points], ys,
                    color=color, linewidth=1.1, alpha=0.6, zorder=1.5,
                    transform=beside)
    return axes.plot(xs, ys, color=color, linewidth=2,
                     linestyle=strokes, marker=marker,
                     markersize=6.5, markeredgewidth=0, label=line.name,
                     zorder=3)[0]


def x_axis(axes, panel, axis, theme):
    ticks = sorted({x for line in panel.lines for x, _, _ in line.points})
    if axis in ("size", "ratio", "key", "memory"):
        if ticks[0] > 0:
            axes.set_xscale("log", base=2)
        labels = list(map(size_text, ticks))
        # as many labels as have room
        while len(ticks) > 7:
            ticks, labels = ticks[::2], labels[::2]
    else:
        if len(ticks) > 3 and ticks[0] > 0 and ticks[-1] >= 8 * ticks[0]:
            axes.set_xscale("log", base=2)
        labels = list(map(legible, ticks))
        while len(ticks) > 12:
            ticks, labels = ticks[::2], labels[::2]
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(ticks, labels)
    axes.set_xlabel(X_LABELS[axis], color=theme.muted, labelpad=8)
    axes.margins(x=0.06)


def highest_of(panel):
    return max(value for line in panel.lines for _, value, _ in line.points)


def draw_lines(axes, chart, panel, theme, highest):
    style(axes, theme)
    axes.grid(axis="y", color=theme.grid, linewidth=0.8)
    handles = [draw_line(axes, line, theme, chart.unit[0], i,
                         len(panel.lines))
               for i, line in enumerate(panel.lines)]
    x_axis(axes, panel, chart.axis, theme)
    top = 1.04 * highest / chart.unit[0]
    if panel.reference:
        level, text = panel.reference
        top = max(top, level * 1.08)
        axes.axhline(level, color=theme.raw, linewidth=1.2,
                     linestyle=(0, (5, 3)), zorder=1)
        axes.annotate(text, (1, level), xycoords=("axes fraction", "data"),
                      xytext=(0, 4), textcoords="offset points", ha="right",
                      va="bottom", color=theme.muted, fontsize=8.5)
        top = max(top, level * 1.14)
    axes.set_ylim(0, top * 1.03)
    axes.yaxis.set_major_locator(MaxNLocator(6, min_n_ticks=4))
    axes.yaxis.set_major_formatter(FuncFormatter(legible))
    return handles


def three(value):
    """Three digits that matter"""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def draw_bars(axes, chart, panel, theme):
    style(axes, theme)
    axes.grid(axis="x", color=theme.grid, linewidth=0.8)
    axes.spines["bottom"].set_visible(False)
    names = [row[0] for row in panel.rows]
    for i, (_, value, low, color, bound, number) in enumerate(panel.rows):
        paint = theme.raw if bound else \
            theme.series[color % len(theme.series)]
        value, low = value / chart.unit[0], low / chart.unit[0]
        if bound:
            axes.barh(i, value, height=0.62, facecolor="none",
                      edgecolor=paint, linewidth=1.3, linestyle=(0, (4, 3)))
        else:
            axes.barh(i, value, height=0.62, color=paint,
                      alpha=FAINT[number % len(FAINT)])
            if value > low:
                axes.plot([low, value], [i, i], color=theme.paper,
                          linewidth=1.4, alpha=0.85,
                          solid_capstyle="butt")
        axes.annotate(three(value), (value, i), xytext=(6, 0),
                      textcoords="offset points", va="center",
                      color=theme.text, fontsize=9.5)
    axes.set_yticks(range(len(names)), names, color=theme.text)
    axes.invert_yaxis()
    axes.set_xlim(0, max(row[1] for row in panel.rows) / chart.unit[0] * 1.17)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(legible))
    axes.set_xlabel(chart.unit[1], color=theme.muted, labelpad=8)


def legend(figure, handles, theme):
    """One for all panels, in rows below them"""
    unique = {handle.get_label(): handle for handles_ in handles
              for handle in handles_}
    names = list(unique)
    columns = max(1, min(len(names), 150 // (max(map(len, names)) + 8)))
    rows = math.ceil(len(names) / columns)
    height = figure.get_figheight()
    box = figure.legend(unique.values(), names, loc="lower center",
                        ncol=columns, frameon=False, labelcolor=theme.text,
                        handlelength=2.4, columnspacing=1.8,
                        bbox_to_anchor=(0.5, 0))
    box.set_in_layout(False)
    return (rows * 0.21 + 0.16) / height


def draw(chart, theme):
    """The figure of a chart"""
    bars = isinstance(chart.panels[0], Bars)
    columns = 1 if len(chart.panels) == 1 and not bars else 2
    rows = math.ceil(len(chart.panels) / columns)
    if bars:
        most = max(len(panel.rows) for panel in chart.panels)
        height = rows * (0.95 + 0.36 * most)
    else:
        height = rows * 3.4 + 0.4
        tops = [highest_of(panel) for panel in chart.panels]
        # panels that can be read on one scale are
        shared = chart.axis != "ratio" and max(tops) < 3 * min(tops)
    with matplotlib.rc_context(SETTINGS):
        figure, grid = pyplot.subplots(
            rows, columns, figsize=(10.4, height), squeeze=False,
            sharey=not bars and shared)
        try:
            places = grid.ravel()
            for axes in places[len(chart.panels):]:
                axes.set_visible(False)
            handles = []
            for i, (axes, panel) in enumerate(zip(places, chart.panels)):
                axes.set_title(panel.title, loc="left", color=theme.text,
                               fontsize=11, fontweight="semibold", pad=12)
                if bars:
                    draw_bars(axes, chart, panel, theme)
                else:
                    handles.append(draw_lines(
                        axes, chart, panel, theme,
                        max(tops) if shared else tops[i]))
            if chart.unit[1] and not bars:
                for axes in grid[:, 0] if shared else places:
                    axes.set_ylabel(chart.unit[1], color=theme.muted,
                                    labelpad=8)
            bottom = legend(figure, handles, theme) if handles else 0
            figure.set_facecolor("none" if theme is PAGE else theme.paper)
            figure.tight_layout(rect=(0.005, bottom, 0.995, 0.995), w_pad=2.4,
                                h_pad=1.6)
        except BaseException:
            pyplot.close(figure)
            raise
    return figure


def svg(chart, theme):
    figure = draw(chart, theme)
    out = io.StringIO()
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(out, format="svg", metadata={"Date": None,
                                                    "Creator": None})
    pyplot.close(figure)
    return out.getvalue()


def page_svg(chart):
    """For the page: its colours by name, its ids its own"""
    text = svg(chart, PAGE)
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    for name, color in NAMES.items():
        text = text.replace(color, f"var({name})")
    text = re.sub(r'(id="|url\(#|href="#)', rf"\1{chart.slug}-", text)
    # browsers have other fonts, too
    text = text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    # the size is the page's affair
    return re.sub(r'<svg ([^>]*?)height="[^"]*"([^>]*?)width="[^"]*"',
                  r"<svg \1\2", text, 1)


def png(chart, theme, path):
    figure = draw(chart, theme)
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(path, dpi=144, metadata={"Software": None})
    pyplot.close(figure)
