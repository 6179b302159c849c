"""
The command speed-compare

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import argparse
import json
import os
import sys

from . import render
from .compare import Comparison, Options
from .formats import NAMES, read_log
from .model import InputError

NAME = "speed-compare"
NOTHING_WORSE, REGRESSION, UNUSABLE = 0, 1, 2

EPILOG = """\
formats, found by themselves:
  kernel logs with tcrypt speed tests (dmesg in all its ways, quoted mail),
  qcrypto bench --json, openssl speed (text and -mr), cryptsetup benchmark,
  stress-ng --metrics, perf stat (text and -j), Go benchmarks; packed with
  gzip, bzip2 or xz, too; - is standard input

examples:
  two kernel logs, as they are:
    dmesg > base.log        (boot the other kernel)        dmesg > new.log
    speed-compare base.log new.log

  the same cipher by another driver, with pcrypt for instance:
    speed-compare --across-drivers base.log pcrypt.log

  five runs a side, in turn, and a verdict for each row:
    for i in 1 2 3 4 5; do
        old/tools/qcrypto bench -a aes-256-xts --json old.$i.json
        new/tools/qcrypto bench -a aes-256-xts --json new.$i.json
    done
    speed-compare --base old.?.json --new new.?.json

  in continuous integration, 3% and a comment to post:
    speed-compare --strict --threshold 3 --markdown --output comment.md \\
        --base old.?.json --new new.?.json

  what is in a log:
    speed-compare --list base.log

exit status: 0 no regression, 1 a row is worse by more than the threshold or
FAILED, 2 the input cannot be used (or, with --strict, the machines differ).
"""


def percentage(text):
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1
    if not 0 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"'{text}' is no percentage")
    return value


def parser():
    p = argparse.ArgumentParser(
        prog=NAME, usage="%(prog)s [OPTION...] BASE NEW\n"
        "       %(prog)s [OPTION...] --base FILE... --new FILE...\n"
        "       %(prog)s --list FILE...",
        description="Compares speed logs row by row. A row is an algorithm, "
        "the driver that ran it, the direction, the bits of the key and the "
        "size; rows are never matched by their place.", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    p.add_argument("files", nargs="*", metavar="FILE", help="BASE and NEW")
    p.add_argument("--base", nargs="+", default=[], metavar="FILE",
                   help="runs of the base side")
    p.add_argument("--new", nargs="+", default=[], metavar="FILE",
                   help="runs of the new side")
    p.add_argument("--list", action="store_true",
                   help="print what each FILE holds; nothing is compared")
    p.add_argument("--threshold", type=percentage, metavar="PERCENT",
                   help="how much worse a row may be (5). Given, it also "
                   "decides where there are too few runs for a verdict")
    p.add_argument("--min-effect", type=percentage, metavar="PERCENT",
                   help="smallest difference that gets a verdict (the "
                   "threshold, at most 5)")
    p.add_argument("--across-drivers", action="store_true",
                   help="compare rows whose driver changed, too")
    p.add_argument("--strict", action="store_true",
                   help="refuse when the machines' records differ, one is "
                   "missing, or drivers changed without --across-drivers")
    p.add_argument("--format", choices=NAMES, metavar="NAME",
                   help="of the input, instead of finding out: " +
                   ", ".join(NAMES))
    hands = p.add_mutually_exclusive_group()
    for name, what in (("json", "one object; \"rows\" has an entry a result, "
                        "in both, only in base, or only in new"),
                       ("markdown", "tables for a comment"),
                       ("csv", "a line a result")):
        hands.add_argument(f"--{name}", dest="hand", action="store_const",
                           const=name, help=what)
    p.add_argument("--output", "-o", metavar="FILE",
                   help="write there instead of standard output")
    return p


def sides(p, args):
    if args.base or args.new:
        if args.files or not (args.base and args.new):
            p.error("--base FILE... and --new FILE... go together, without "
                    "other files")
        return args.base, args.new
    if len(args.files) != 2:
        p.error(f"two files are compared, BASE and NEW, not "
                f"{len(args.files)}")
    return args.files[:1], args.files[1:]


def write(args, text):
    if not args.output:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(args.output, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise InputError(f"{args.output}: {error.strerror}") from None


def complain(text):
    print(f"{NAME}: {text}", file=sys.stderr)


def read_side(paths, name):
    logs = [read_log(path, name) for path in paths]
    forms = {log.form.name for log in logs}
    if len(forms) > 1:
        raise InputError("runs of one side have different formats: " +
                         ", ".join(sorted(forms)))
    return logs


def refusal(c):
    """Why --strict does not compare these"""
    if c.machine_differs:
        return "the machines differ: " + "; ".join(c.machine_differs)
    if not all(c.machine_known):
        return "no machine record in " + " and ".join(
            side for side, known in zip(("base", "new"), c.machine_known)
            if not known)
    if any(not change.compared for change in c.driver_changes):
        return "the driver changed: " + "; ".join(
            render.change_text(change) for change in c.driver_changes)
    return None


def compare(args, base, new):
    base, new = (read_side(paths, args.format) for paths in (base, new))
    given = args.threshold is not None
    c = Comparison(base, new, Options(args.threshold if given else 5.0, given,
                                      args.min_effect, args.across_drivers))
    status, why = NOTHING_WORSE, None
    if args.strict and refusal(c):
        status, why = UNUSABLE, refusal(c)
    elif not c.related:
        status, why = UNUSABLE, (
            f"nothing in common: {base[0].form.title} with "
            f"{plural_rows(base)}, {new[0].form.title} with "
            f"{plural_rows(new)}, and no row is in both")
    elif c.regressions or c.failures:
        status = REGRESSION
    hands = {"json": lambda: render.as_json(c, status),
             "markdown": lambda: render.as_markdown(c),
             "csv": lambda: render.as_csv(c), None: lambda: render.as_text(c)}
    if not (args.strict and why):
        write(args, hands[args.hand]())
    if why:
        complain(why)
    return status


def plural_rows(logs):
    return render.plural(len({key for log in logs for key in log.cells}),
                         "row")


def listing(args):
    logs = [read_log(path, args.format) for path in args.files]
    if args.hand == "json":
        objects = []
        for log in logs:
            entry = render.log_object(log)
            entry["rows"] = [
                {"algorithm": k.algorithm, "driver": k.driver,
                 "direction": k.direction, "key_bits": k.bits, "size": k.size,
                 "asked_size": cell.asked or k.size, "variant": k.variant,
                 "detail": k.detail, "unit": k.unit.name,
                 "values": list(cell.values), "lines": cell.lines,
                 "failed": cell.failed} for k, cell in log.cells.items()]
            objects.append(entry)
        write(args, json.dumps(objects, indent=1, ensure_ascii=False) + "\n")
        return NOTHING_WORSE
    out = []
    for log in logs:
        out.append(render.file_line("file", log))
        for key, cell in log.cells.items():
            values = ", ".join(render.number(v) for v in cell.values[:8])
            out.append(f"  {render.key_name(key)}: " + (
                f"FAILED: {cell.failed}" if cell.failed else
                f"{values} {key.unit.name}"))
        for line, why, text in log.left.noted[:render.SHOWN]:
            out.append(f"  left out, line {line}: {why}: {text}")
    write(args, "\n".join(out) + "\n")
    return NOTHING_WORSE


def main(argv):
    p = parser()
    args = p.parse_args(argv)
    try:
        if args.list:
            if not args.files or args.base or args.new:
                p.error("--list takes files")
            return listing(args)
        return compare(args, *sides(p, args))
    except InputError as error:
        complain(error)
        return UNUSABLE
    except BrokenPipeError:
        # the reader of our output has gone; nobody is left to be told
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNUSABLE
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        complain("the input does not fit into the memory")
        return UNUSABLE
