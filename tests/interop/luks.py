"""
What the tests of LUKS volumes share: the command, its peers, files

The peers' volumes are made where they are needed, with the cheapest key
derivation, since what is tried here is not how dear it is.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time

from tap import check, check_equal

MIB = 1 << 20
# of qcrypto and cryptsetup
FAST = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"]
FAST_ARGON = ["--pbkdf", "argon2id", "--pbkdf-force-iterations", "4",
              "--pbkdf-memory", "1024", "--pbkdf-parallel", "1"]
PASS = b"correct horse"


def folder(name):
    """An empty folder to work in, as long as the object lives"""
    f = tempfile.TemporaryDirectory(prefix=f"qcrypto-{name}-")
    os.chdir(f.name)
    return f


def noise(n, seed):
    """n bytes that are the same in every run"""
    return hashlib.shake_128(seed.encode()).digest(n)


def put(name, data):
    with open(name, "wb") as f:
        f.write(data)
    return name


def get(name, offset=0, length=-1):
    with open(name, "rb") as f:
        f.seek(offset)
        return f.read(length)


def patch(name, offset, data):
    with open(name, "r+b") as f:
        f.seek(offset)
        f.write(data)


def digest(name):
    return hashlib.sha256(get(name)).hexdigest()


class Command:
    """`qcrypto luks`, with the passphrase on standard input by default"""

    def __init__(self, qcrypto):
        self.qcrypto = os.path.abspath(qcrypto)

    def run(self, *args, stdin=PASS, **options):
        return subprocess.run([self.qcrypto, "luks", *map(str, args)],
                              input=stdin, capture_output=True, timeout=120,
                              **options)

    def __call__(self, *args, **options):
        done = self.run(*args, **options)
        check(done.returncode == 0,
              f"luks {' '.join(map(str, args))}: {done.stderr.decode()}")
        return done.stdout

    def refuses(self, status, pattern, *args, **options):
        """The status, one line on stderr that says it, nothing left behind"""
        before = set(os.listdir("."))
        done = self.run(*args, **options)
        text = done.stderr.decode()
        check_equal(done.returncode, status,
                    f"status of {args} ({text.strip()})")
        check(re.search(pattern, text), f"no {pattern!r} in {text!r}")
        check_equal(len(text.splitlines()), 1, "lines of the error " + text)
        check_equal(done.stdout, b"", "output of a failure")
        check_equal(set(os.listdir(".")) - before, set(), "files left behind")


def peer(*args, stdin=b"", fails=False):
    """Another program; its standard output"""
    done = subprocess.run(list(map(str, args)), input=stdin, timeout=120,
                          capture_output=True)
    check((done.returncode != 0) if fails else (done.returncode == 0),
          f"{' '.join(map(str, args))}: status {done.returncode}, "
          f"{done.stderr.decode()}")
    return done.stdout


def cryptsetup(*args, stdin=PASS, fails=False):
    return peer("cryptsetup", "-q", *args, stdin=stdin, fails=fails)


def cryptsetup_volume(name, size, *args, stdin=PASS):
    """A volume by cryptsetup, of that many bytes in all"""
    with open(name, "wb") as f:
        f.truncate(size)
    cryptsetup("luksFormat", *args, name, stdin=stdin)
    return name


def qemu_options(name, driver="luks"):
    return f"driver={driver},key-secret=s,file.filename={name}"


def qemu_secret(passphrase=PASS):
    return ["--object", f"secret,id=s,data={passphrase.decode()}"]


def qemu_volume(name, size):
    """A LUKS1 volume by qemu-img"""
    for _ in range(20):
        # it gives up when the machine is too busy for its measuring
        done = subprocess.run(
            ["qemu-img", "create", "-q", "-f", "luks", *qemu_secret(), "-o",
             "key-secret=s,iter-time=100", name, str(size)],
            capture_output=True, timeout=120)
        if done.returncode == 0:
            return name
    raise AssertionError(done.stderr.decode())


def qemu_read(name, out="qemu.raw", passphrase=PASS):
    """The payload, by qemu-img"""
    peer("qemu-img", "convert", *qemu_secret(passphrase), "--image-opts",
         qemu_options(name), "-O", "raw", out)
    return get(out)


def opens(name, passphrase=PASS, *args):
    """cryptsetup takes the passphrase"""
    cryptsetup("open", "--test-passphrase", *args, name, stdin=passphrase)


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, f"waited in vain for {what}")
        time.sleep(0.01)


def file_system(name, size, files):
    """An ext4 file system with files of those names and contents"""
    tree = tempfile.mkdtemp(dir=".")
    for path, data in files.items():
        put(os.path.join(tree, path), data)
    peer("mkfs.ext4", "-q", "-d", tree, name, f"{size // 1024}k")
    shutil.rmtree(tree)
    return name
