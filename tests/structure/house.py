"""
What the tests of the tree's structure share: its files, their text without
comments, the objects of a build and their symbols.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import json
import os
import re
import subprocess
import sys

# a function that a public header exports; not the #define of the mark
DECLARED = re.compile(r"^QCRYPTO_API\b[^;{(]*?(\w+)\s*\(", re.M)

SOURCE_DIRS = ("crypto", "tools", "include", "tests", "examples")


def source_files(root, dirs=SOURCE_DIRS, suffixes=(".c", ".h", ".S")):
    """Paths below the root, sorted; build folders and links are left out."""
    found = []
    for top in dirs:
        for folder, names, files in os.walk(os.path.join(root, top)):
            names[:] = [n for n in names
                        if not os.path.exists(
                            os.path.join(folder, n, "meson-private"))]
            for name in files:
                path = os.path.join(folder, name)
                if name.endswith(suffixes) and not os.path.islink(path):
                    found.append(os.path.relpath(path, root))
    return sorted(found)


def project_files(root):
    """(path, text) of every text file that belongs to the project"""
    for folder, names, files in os.walk(root):
        names[:] = sorted(n for n in names
                          if n not in (".git", "build", "build-check",
                                       "__pycache__")
                          and not os.path.islink(os.path.join(folder, n))
                          and not os.path.exists(
                              os.path.join(folder, n, "meson-private")))
        for name in sorted(files):
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as f:
                data = f.read()
            if b"\0" not in data:  # an image otherwise
                yield os.path.relpath(path, root), data.decode("utf-8",
                                                               "replace")


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def without_comments(text):
    """C text with comments blanked; lines keep their numbers."""
    token = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
                       r'|/\*.*?\*/|//[^\n]*', re.S)

    def blank(match):
        word = match.group(0)
        if word[0] != "/":
            return word
        return " " + "\n" * word.count("\n")

    return token.sub(blank, text)


def includes(text):
    """(line, name) of every #include, of both kinds"""
    pattern = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.M)
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def library_objects(root, build):
    """{source path: object file} of what lies under crypto/ and tools/"""
    with open(os.path.join(build, "compile_commands.json")) as f:
        commands = json.load(f)
    objects = {}
    for command in commands:
        source = os.path.realpath(
            os.path.join(command["directory"], command["file"]))
        source = os.path.relpath(source, os.path.realpath(root))
        output = os.path.join(command["directory"], command["output"])
        if source.startswith(("crypto/", "tools/")) and os.path.exists(output):
            objects.setdefault(source, output)
    return objects


def symbols(path, nm, *options):
    """[(name, type)] of the global symbols that nm shows of one file"""
    out = subprocess.run([nm, "-P", "-g", *options, path], check=True,
                         capture_output=True, text=True).stdout
    found = []
    for line in out.splitlines():
        fields = line.split()
        if len(fields) < 2 or fields[0].endswith(":"):
            continue
        name = fields[0].split("@")[0]
        # what compilers add for sanitizers and coverage
        if not name.startswith(("__odr_asan", "__asan", "__gcov", "__start_",
                                "__stop_")):
            found.append((name, fields[1]))
    return found


def declared_functions(root):
    """{name: header} of everything that the public headers export"""
    found = {}
    for path in source_files(root, ("include",)):
        text = without_comments(read(root, path))
        for match in DECLARED.finditer(text):
            found[match.group(1)] = path
    return found


class Report:
    """Collects faults; the exit status tells whether there were any."""

    def __init__(self):
        self.faults = 0

    def fault(self, text):
        self.faults += 1
        print("fault: " + text)

    def finish(self, checked, what):
        """A test that looked at nothing has not passed."""
        if not checked:
            self.fault("found no " + what)
        print(f"{checked} {what} checked, {self.faults} faults")
        sys.exit(1 if self.faults else 0)
