"""
The record of the machine, wherever it stands, and what differs between two

`qcrypto machine` prints lines "name: value", with --json an object; results
of `qcrypto bench` carry the object; Go's benchmark format has lines of the
same form.  Any of these may have been pasted into a log, before it or after.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import json
import re
from collections import namedtuple

from .model import clean_name

# What decides how fast the same code runs.  (What the program was built of
# differs between two builds for good reason and is not here.)
Fact = namedtuple("Fact", "name title others", defaults=((),))
FACTS = (
    Fact("cpu", "CPU"),
    Fact("microcode", "microcode"),
    Fact("cpus", "number of CPUs", ("nproc",)),
    Fact("affinity", "CPUs that may be used"),
    Fact("smt", "SMT"),
    Fact("governor", "frequency governor", ("scaling_governor",)),
    Fact("scaling_driver", "P-state driver",
         ("pstate_driver", "pstate", "p_state", "cpufreq_driver")),
    Fact("turbo", "turbo", ("boost",)),
    Fact("frequency_min_hz", "lowest frequency"),
    Fact("frequency_max_hz", "highest frequency"),
    Fact("kernel", "kernel", ("kernel-release",)),
    Fact("mitigations", "mitigations"),
    Fact("hypervisor", "hypervisor"),
    Fact("features", "CPU features in force"),
    Fact("optimized", "optimisation of the tool"),
)
# others that a record has
ALSO = ("date", "numa_nodes", "memory_bytes", "load", "qcrypto", "commit",
        "compiler", "flags", "libraries", "clock", "clock_cost_ns",
        "cycles_source", "cycles_per_sec", "counters_missing", "warnings",
        "frequency_current_hz", "frequency_estimate_hz", "goos", "goarch")
OTHERS = {other: fact.name for fact in FACTS for other in fact.others}
NAMES = {fact.name for fact in FACTS} | set(OTHERS) | set(ALSO)
UNKNOWN = {"", "unknown", "null", "none known", "n/a"}
YES, NO = {"yes", "true", "on", "1"}, {"no", "false", "off", "0"}

LINE = re.compile(r"^(?:[>|#] ?)*\s{0,8}([a-z][a-z0-9_-]*)(?:\.([\w.+-]+))?"
                  r":(?:\s+(.*))?$")
WORDS = (rb"^[>|# ]*(?:" + b"|".join(sorted(n.encode() for n in NAMES))
         + rb")[.:]|\"governor\"|Linux version ")
KERNEL = re.compile(r"\bLinux version (\S+)")
LONGEST_RECORD = 1 << 16
# how a line within an object may begin
IN_OBJECT = re.compile(r"\s*(?:[\"{}\]]|-?\d|true|false|null|$)")


def value_of(text):
    text = text.strip()
    lowered = text.lower()
    if lowered in UNKNOWN:
        return None
    if lowered in YES:
        return True if lowered != "1" else 1
    if lowered in NO:
        return False if lowered != "0" else 0
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return clean_name(text)


def from_object(data):
    """The record out of a JSON object of any make"""
    machine = {}
    for name, value in data.items():
        name = OTHERS.get(name, name)
        if isinstance(value, dict):
            machine[name] = {clean_name(k): clean_name(str(v))
                             for k, v in value.items()}
        elif isinstance(value, list):
            machine[name] = [clean_name(str(v)) for v in value]
        elif isinstance(value, str):
            machine[name] = value_of(value)
        else:
            machine[name] = value
    return machine


class Collector:
    """Watches the lines of a log for a record"""

    def __init__(self):
        self.machine = {}
        self.object = None  # lines of an object that is not complete
        self.size = self.depth = 0

    def feed(self, line):
        """True if the line belongs to a record"""
        if self.object is not None:
            return self._object(line)
        bare = line.lstrip("> |")
        if bare.startswith("{") and (bare == "{" or '"' in bare):
            self.object, self.size, self.depth = [], 0, 0
            return self._object(line)
        match = LINE.match(line)
        if match and match[1] in NAMES:
            self._add(OTHERS.get(match[1], match[1]), match[2],
                      match[3] or "")
            return True
        kernel = KERNEL.search(line) if "Linux version" in line else None
        if kernel:
            self.machine.setdefault("kernel", "Linux " + clean_name(kernel[1]))
        return False

    def _object(self, line):
        text = line.lstrip("> |")
        self.object.append(text)
        self.size += len(text)
        self.depth += text.count("{") - text.count("}")
        if not IN_OBJECT.match(text) or self.size > LONGEST_RECORD:
            self.object = None
            return False
        if self.depth > 0:
            return True
        text, self.object = "\n".join(self.object), None
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return False
        if isinstance(data, dict) and isinstance(data.get("machine"), dict):
            data = data["machine"]
        if isinstance(data, dict) and NAMES & data.keys():
            self.machine.update(from_object(data))
            return True
        return False

    def _add(self, name, part, text):
        value = value_of(text)
        if part is not None:
            group = self.machine.setdefault(name, {})
            if isinstance(group, dict):
                group[clean_name(part)] = "" if value is None else str(value)
        elif name == "warnings":
            if value is not None:
                self.machine.setdefault(name, []).append(str(value))
        else:
            self.machine[name] = value


# ---- two records ----

def text_of(value):
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return str(value)


def kernel_of(value):
    """A release alone, and one with its system and machine, are the same"""
    words = str(value).split()
    return words[1] if len(words) > 1 and words[0] == "Linux" else str(value)


def same(name, a, b):
    if a is None or b is None:
        return a is b
    if name == "kernel":
        return kernel_of(a) == kernel_of(b)
    return text_of(a) == text_of(b)


def differences(base, new):
    """[(title, base's value, new's)] of facts that both or one record has"""
    found = []
    for fact in FACTS:
        a, b = base.get(fact.name), new.get(fact.name)
        if isinstance(a, dict) or isinstance(b, dict):
            a = a if isinstance(a, dict) else {}
            b = b if isinstance(b, dict) else {}
            for part in sorted(a.keys() | b.keys()):
                if a.get(part) != b.get(part):
                    found.append((f"{fact.title}, {part}",
                                  text_of(a.get(part)), text_of(b.get(part))))
        elif not same(fact.name, a, b):
            found.append((fact.title, text_of(a), text_of(b)))
    return found


def doubts(machine):
    """Why numbers of this machine waver"""
    found = []
    governor = machine.get("governor")
    if governor is not None and set(str(governor).replace(",", " ").split()) \
            != {"performance"}:
        found.append(f"the frequency governor is {text_of(governor)}, not "
                     "performance")
    if machine.get("turbo") is True or machine.get("turbo") == 1:
        found.append("turbo is on: the frequency depends on heat and on the "
                     "other cores")
    seen = " ".join(found)
    for text in machine.get("warnings") or ():
        if not any(word in text and word in seen
                   for word in ("governor", "turbo")):
            found.append(text)
    return found
