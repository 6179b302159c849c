"""
The command bench-report

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import argparse
import os
import sys

from speedcompare.model import InputError

NAME = "bench-report"
EPILOG = """\
examples:
  qcrypto bench --json result.json
  bench-report result.json
      writes the folder bench-report with index.html and the charts

  for i in 1 2 3 4 5; do qcrypto bench --json run$i.json; done
  bench-report run?.json
      runs of one build on one machine: their samples are put together

  bench-report --output release.html --title "0.1 and 0.2" v01.json v02.json
      two builds beside each other; the charts go to release-charts

The page is one file, needs no network and no script, and is light or dark as
the reader prefers.  Charts are also written as SVG (which know both) and as
PNG (NAME.png and NAME-dark.png).
"""


def parser():
    p = argparse.ArgumentParser(
        prog=NAME, description="Results of `qcrypto bench --json` as a page "
        "with charts, tables and the machine's record.", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    p.add_argument("files", nargs="+", metavar="RESULT.json")
    p.add_argument("--output", "-o", default=NAME, metavar="PATH",
                   help="a folder, or a name that ends in .html "
                   "(bench-report)")
    p.add_argument("--title", default="Speed of qcrypto",
                   help="of the page (Speed of qcrypto)")
    p.add_argument("--no-plots", action="store_true",
                   help="the page alone, without charts as files")
    return p


def places(output):
    """(page, folder of the charts)"""
    if output.endswith((".html", ".htm")):
        return output, os.path.splitext(output)[0] + "-charts"
    return os.path.join(output, "index.html"), output


def standalone(text, charts):
    """An SVG file's own colours for light and dark"""
    rules = []
    for theme, rule in ((charts.THEMES["light"], ":root {%s}"),
                        (charts.THEMES["dark"],
                         "@media (prefers-color-scheme: dark) {:root {%s}}")):
        names = {"--text": theme.text, "--muted": theme.muted,
                 "--grid": theme.grid, "--paper": theme.paper,
                 "--raw": theme.raw,
                 **{f"--s{i}": c for i, c in enumerate(theme.series)}}
        rules.append(rule % "".join(f"{k}: {v};" for k, v in names.items()))
    end = text.index(">") + 1
    return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n" + text[:end] + \
        f"<style>{''.join(rules)}svg {{background: var(--paper)}}</style>" + \
        text[end:]


def write_charts(made, folder, charts):
    for chart in made:
        path = os.path.join(folder, chart.slug)
        with open(path + ".svg", "w", encoding="utf-8") as out:
            out.write(standalone(charts.page_svg(chart), charts))
        charts.png(chart, charts.THEMES["light"], path + ".png")
        charts.png(chart, charts.THEMES["dark"], path + "-dark.png")


def report(args):
    from .data import Results
    results = Results(args.files)
    try:
        from . import charts, page
    except ImportError as error:
        if "matplotlib" not in str(error):
            raise
        raise InputError("charts need matplotlib (Debian: "
                         "python3-matplotlib)") from None
    made = charts.charts(results)
    text = page.page(results, made, args.title)
    path, folder = places(args.output)
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if made and not args.no_plots:
            os.makedirs(folder, exist_ok=True)
            write_charts(made, folder, charts)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise InputError(f"{error.filename or path}: "
                         f"{error.strerror}") from None
    print(f"{path}: {len(made)} chart{'s' if len(made) != 1 else ''}, "
          f"{len(results.points)} rows")


def main(argv):
    args = parser().parse_args(argv)
    try:
        report(args)
    except InputError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
