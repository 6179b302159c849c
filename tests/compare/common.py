"""
What the tests of comparing share: the command run as a user runs it, and
result files made up

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

from tap import check

ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
DATA = os.path.join(ROOT, "tests", "data")
COMMAND = os.path.join(ROOT, "scripts", "speed-compare")


class Done:
    def __init__(self, argv, done):
        self.argv = argv
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def object(self):
        return json.loads(self.out)


def run(*argv, status=(0, 1), **kwargs):
    """speed-compare; a status that is not expected, or a traceback, fails"""
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    kwargs.setdefault("timeout", 300)
    done = Done(argv, subprocess.run([COMMAND, *argv], capture_output=True,
                                     text=True, errors="replace", **kwargs))
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
