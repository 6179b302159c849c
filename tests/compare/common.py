"""
What the tests of comparing share: the command run as a user runs it, and
result files made up

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import contextlib
import io
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "scripts"))

from speedcompare import cli

from tap import check

DATA = os.path.join(ROOT, "tests", "data")
COMMAND = os.path.join(ROOT, "scripts", "speed-compare")


class Done:
    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    @property
    def object(self):
        return json.loads(self.out)


def inside(argv):
    """The command in this process, which need not load scipy again"""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main(list(argv))
        except SystemExit as error:  # of argparse
            status = error.code
    return Done(status, out.getvalue(), err.getvalue())


def outside(argv, **kwargs):
    """The command as a user starts it"""
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run([COMMAND, *argv], capture_output=True, text=True,
                          errors="replace", timeout=500, **kwargs)
    return Done(done.returncode, done.stdout, done.stderr)


def run(*argv, status=(0, 1), start=False, **kwargs):
    """
    speed-compare; a status that is not expected, or a traceback, fails

    @start: as a process of its own, as it is with more arguments.
    """
    done = outside(argv, **kwargs) if start or kwargs else inside(argv)
    status = (status,) if isinstance(status, int) else status
    check("Traceback" not in done.err, f"{argv}: a traceback\n{done.err}")
    check(done.status in status, f"{argv}: status {done.status}, not "
          f"{status}\n{done.err[-1500:]}{done.out[-1500:]}")
    return done


def write(folder, name, content):
    path = os.path.join(folder, name)
    mode = "wb" if isinstance(content, bytes) else "w"
    with open(path, mode) as out:
        out.write(content)
    return path


def rate(samples):
    ordered = sorted(samples)
    return {"best": ordered[-1], "median": ordered[len(ordered) // 2],
            "stddev": 0.0, "samples": list(samples)}


MACHINE = {"cpu": "Test CPU", "cpus": 2, "governor": "performance",
           "scaling_driver": "acpi-cpufreq", "turbo": False,
           "microcode": "0x1", "kernel": "Linux 6.1.0 x86_64",
           "mitigations": {"meltdown": "Not affected"}, "warnings": []}


def row(samples, algorithm="aes-256-xts", size=4096, **fields):
    entry = {"algtype": "cipher", "algorithm": algorithm,
             "optype": "encrypt", "provider": "builtin", "impl": "aes-ni",
             "inputsize": size, "sectors": 1, "threadnum": 1, "reqnum": 1,
             "inplace": False,
             "bytes_per_sec": samples and rate(samples),
             "ops_per_sec": samples and rate([v / (size or 1)
                                              for v in samples]),
             "cycles_per_byte": None, "counters": None, "verified": True}
    entry.update(fields)
    return entry


def results(rows, **machine):
    return json.dumps({"schema": 1, "machine": {**MACHINE, **machine},
                       "rows": rows, "notes": []})
