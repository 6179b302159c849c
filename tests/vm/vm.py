"""
A command in a Linux kernel of its own

run() boots Debian's cloud kernel in QEMU with a file system that holds
busybox, the kernel's crypto and device mapper modules, the command, whatever
files were named, and the shared libraries that these need; it gives the
command's status.  No network, no disk, and the emulated CPU is the same on
every host.

Nothing is left behind, whichever way it ends: what passes between host and
guest goes through pipes and files that have no name, and QEMU is started so
that it dies with us.

The guest's side is INIT below.  Four ports of a virtio console lead out of
it: standard output, standard error, the status, and a tar archive of /out
(a serial line would do too, byte by byte).

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import os
import re
import selectors
import shlex
import shutil
import stat
import subprocess
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
KERNEL = os.environ.get("QCRYPTO_VM_KERNEL",
                        os.path.join(ROOT, "build/vm/kernel"))
QEMU = "qemu-system-x86_64"
# where a login shell of an ordinary user does not look
PATH = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"

# The modules that are always there, to be loaded by the guest or by its
# kernel: folders, or single ones.
MODULES = ("kernel/crypto/", "kernel/arch/x86/crypto/", "kernel/lib/",
           "kernel/drivers/md/", "kernel/drivers/virtio/",
           "kernel/drivers/char/virtio_console.ko",
           "kernel/drivers/char/hw_random/",
           "kernel/drivers/block/loop.ko", "kernel/drivers/block/brd.ko")

# Without no_timer_check the kernel panics early when the host is so busy that
# the emulated timer does not tick while it looks.
CMDLINE = "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check"

INIT = r"""#!/bin/busybox sh
/bin/busybox --install -s
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DM_DISABLE_UDEV=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
modprobe virtio_pci
modprobe virtio_console
until [ -c /dev/vport0p4 ]; do
    usleep 10000
done

# what the command opens as /dev/stdout must be openable: a port is not, twice
mkfifo /run/1 /run/2
cat </run/1 >/dev/vport0p1 &
first=$!
cat </run/2 >/dev/vport0p2 &
second=$!
exec >/run/1 2>/run/2
ip link set lo up
sh /guest/command </dev/null
status=$?
tar -C /out -cf /dev/vport0p4 .
echo $status >/dev/vport0p3

# a process that lives on may hold the pipes
{ sleep 5; poweroff -f; } >/dev/null 2>&1 &
exec >/dev/null 2>&1
wait $first $second
poweroff -f
"""


class GuestError(Exception):
    """The guest, or what leads to it, failed; not the command in it"""


class OutOfTime(GuestError):
    """The guest was stopped at its time limit"""


class Archive:
    """A cpio archive ("newc"), the file system that a guest starts with"""

    def __init__(self, file):
        self.file = file
        self.names = set()

    @staticmethod
    def place(path):
        """The name in the archive; /bin, /lib... are links, as in Debian"""
        name = os.path.normpath(path).lstrip("/")
        return re.sub(r"^(s?bin|lib(32|64|x32)?)(?=/|$)", r"usr/\1", name)

    def entry(self, name, mode, data=b"", size=None):
        size = len(data) if size is None else size
        if size >> 32:
            raise GuestError(f"'{name}' is too large for a guest's file system")
        self.names.add(name)
        raw = name.encode() + b"\0"
        fields = (len(self.names), mode, 0, 0, 1, 0, size, 0, 0, 0, 0,
                  len(raw), 0)
        self.file.write(b"070701" + b"".join(b"%08x" % f for f in fields))
        self.file.write(raw + bytes(-(110 + len(raw)) % 4))
        self.file.write(data + bytes(-len(data) % 4))

    def folder(self, path, mode=0o755):
        name = self.place(path)
        if name in (".", "") or name in self.names:
            return
        self.folder("/" + os.path.dirname(name))
        self.entry(name, stat.S_IFDIR | mode)

    def new(self, path):
        """The name for a path, or None when there is one already"""
        name = self.place(path)
        self.folder("/" + os.path.dirname(name))
        return None if name in self.names else name

    def link(self, path, target):
        name = self.new(path)
        if name:
            self.entry(name, stat.S_IFLNK | 0o777, target.encode())

    def data(self, path, data, mode=0o644):
        name = self.new(path)
        if name:
            self.entry(name, stat.S_IFREG | mode, data)

    def copy(self, source, path):
        name = self.new(path)
        if not name:
            return
        # looked at before it is opened: opening a pipe would wait
        about = os.stat(source)
        if not stat.S_ISREG(about.st_mode):
            raise GuestError(f"'{source}' is neither a file nor a folder")
        with open(source, "rb") as f:
            self.entry(name, about.st_mode & 0o170777, size=about.st_size)
            start = self.file.tell()
            shutil.copyfileobj(f, self.file)
            if self.file.tell() - start != about.st_size:
                raise GuestError(f"'{source}' changed while it was read")
            self.file.write(bytes(-about.st_size % 4))

    def end(self):
        self.entry("TRAILER!!!", 0)
        self.file.flush()


class Kernel:
    """An unpacked kernel package, as tests/vm/kernel leaves it"""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        try:
            self.version, = os.listdir(os.path.join(folder, "lib/modules"))
            self.modules = os.path.join(self.folder, "lib/modules",
                                        self.version)
            self.image = os.path.join(self.folder, "boot",
                                      "vmlinuz-" + self.version)
            self.needs = dict(self.lines("modules.dep"))
            self.builtin = {self.name(path)
                            for path, _ in self.lines("modules.builtin")}
            with open(self.image, "rb"):
                pass
        except (OSError, ValueError):
            raise GuestError(f"no kernel in '{folder}'; tests/vm/kernel "
                             "downloads one") from None
        self.paths = {self.name(path): path for path in self.needs}

    @staticmethod
    def name(path):
        return os.path.basename(path).partition(".")[0].replace("-", "_")

    def lines(self, name):
        with open(os.path.join(self.modules, name), encoding="ascii") as f:
            for line in f:
                path, _, rest = line.strip().partition(":")
                yield path, rest.split()

    def path(self, module):
        """Where a module is; None when it is part of the kernel"""
        name = self.name(module)
        if name not in self.paths and name not in self.builtin:
            raise GuestError(f"no module '{module}' in the kernel "
                             f"{self.version}")
        return self.paths.get(name)

    def pack(self, archive, names, without):
        left_out = {self.path(name) for name in without}
        wanted = {path for path in self.needs if path.startswith(MODULES)}
        wanted |= {self.path(name) for name in names} - {None}
        wanted -= left_out
        for path in list(wanted):
            wanted.update(self.needs[path])  # those of those, too
        for path in sorted(wanted - left_out):
            archive.copy(os.path.join(self.modules, path),
                         f"/lib/modules/{self.version}/{path}")
        for name in os.listdir(self.modules):
            if name.startswith("modules."):
                archive.copy(os.path.join(self.modules, name),
                             f"/lib/modules/{self.version}/{name}")


def tool(name):
    path = shutil.which(name, path=PATH)
    if not path:
        raise GuestError(f"'{name}' is not installed")
    return path


def applets():
    done = subprocess.run([tool("busybox"), "--list"], check=True, text=True,
                          stdout=subprocess.PIPE)
    return set(done.stdout.split())


class Contents:
    """Files for the guest, and what they need to run there"""

    def __init__(self, archive):
        self.archive = archive
        self.applets = applets()
        self.programs = []

    def add(self, spec):
        """PATH, PATH=PLACE, or the name of a program"""
        source, _, place = spec.partition("=")
        if "/" not in source and not os.path.exists(source):
            source = tool(source)
        place = os.path.abspath(place or source)
        if not os.path.isdir(source):
            self.file(source, place)
            self.interpreter(source)
            return
        self.archive.folder(place)
        for folder, folders, names in os.walk(source):
            at = os.path.join(place, os.path.relpath(folder, source))
            self.archive.folder(at)
            for name in folders + names:
                path = os.path.join(folder, name)
                if os.path.islink(path) and not os.path.isfile(path):
                    self.archive.link(os.path.join(at, name),
                                      os.readlink(path))
                elif not os.path.isdir(path):
                    self.file(path, os.path.join(at, name))

    def file(self, source, place):
        self.archive.copy(source, place)
        with open(source, "rb") as f:
            if f.read(4) == b"\x7fELF":
                self.programs.append(os.path.abspath(source))

    def interpreter(self, script):
        with open(script, "rb") as f:
            line = f.readline(256)
        if not line.startswith(b"#!") or not os.access(script, os.X_OK):
            return
        words = line[2:].decode().split()
        if words and os.path.basename(words[0]) == "env":
            words = words[1:]
        if words and os.path.basename(words[0]) not in self.applets:
            self.add(words[0])

    def command(self, words):
        """The command's words, the first one as the guest will find it"""
        name = words[0]
        if "/" not in name and name in self.applets:
            return words
        path = os.path.abspath(name) if "/" in name else tool(name)
        if not os.path.isfile(path):
            raise GuestError(f"no such command: '{name}'")
        self.add(path)
        return [path, *words[1:]]

    def libraries(self):
        if not self.programs:
            return
        done = subprocess.run(["ldd", *self.programs], text=True,
                              env={**os.environ, "LC_ALL": "C"},
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        lost = re.search(r"^\s+(\S+) => not found", done.stdout, re.M)
        if lost:
            raise GuestError(f"the library {lost[1]} is not found")
        for path in set(re.findall(r"^(?:.*=>)?\s+(/\S+) \(0x", done.stdout,
                                   re.M)):
            self.archive.copy(path, path)


def fill(archive, kernel, command, files, modules, without, environment):
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.folder("/usr/" + name)
        archive.entry(name, stat.S_IFLNK | 0o777, f"usr/{name}".encode())
    for name in ("proc", "sys", "dev", "run", "out", "root", "guest"):
        archive.folder("/" + name)
    archive.folder("/tmp", 0o1777)
    archive.folder(os.getcwd())
    contents = Contents(archive)
    contents.file(tool("busybox"), "/bin/busybox")
    for spec in files:
        contents.add(spec)
    command = contents.command(command)
    contents.libraries()
    kernel.pack(archive, modules, without)
    # modprobe must lie where the kernel looks for it
    archive.link("/sbin/modprobe", "/bin/busybox")
    archive.data("/etc/passwd", b"root:x:0:0::/root:/bin/sh\n")
    archive.data("/init", INIT.encode(), 0o755)
    lines = [f"export {name}={shlex.quote(value)}"
             for name, value in environment.items()]
    lines += [f"modprobe {shlex.quote(name)} || exit 125" for name in modules]
    lines += ["cd " + shlex.quote(os.getcwd()), "exec " + shlex.join(command)]
    archive.data("/guest/command", "\n".join([*lines, ""]).encode())
    archive.end()


def said(console):
    """The end of what a console was told, or how the end began"""
    console.seek(0)
    text = console.read().decode(errors="replace").replace("\r", "")
    lines = text.strip().splitlines()
    for number, line in enumerate(lines):
        if re.search("Kernel panic|BUG: |Oops: ", line):
            return "\n".join(lines[number:][:30])
    return "\n".join(lines[-30:])


def pump(pipes, process, deadline):
    """Passes on what comes out of pipes until all of them end"""
    with selectors.DefaultSelector() as selector:
        for pipe, sink in pipes:
            selector.register(pipe, selectors.EVENT_READ, sink)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in selector.select(left):
                data = os.read(key.fd, 1 << 16)
                if data:
                    key.data(data)
                else:
                    selector.unregister(key.fileobj)
    process.wait()
    return True


def run(command, *, files=(), modules=(), without=(), environment=(),
        memory=512, cpus=2, limit=120, append="", accel="tcg,thread=multi",
        kernel=KERNEL, out=None, console=None, stdout, stderr):
    """
    Runs a command, a list of words, in a guest and returns its status.

    stdout and stderr are called with bytes as they come; out is a folder for
    the files that the guest has in /out when the command ends; console is a
    file for the kernel's messages.  A guest that gives no status is a
    GuestError.
    """
    kernel = Kernel(kernel)
    emulator = tool(QEMU)
    environment = dict(environment)
    if "LD_LIBRARY_PATH" in os.environ:
        environment.setdefault("LD_LIBRARY_PATH",
                               os.environ["LD_LIBRARY_PATH"])
    with tempfile.TemporaryFile() as image, \
            tempfile.TemporaryFile() as messages, \
            tempfile.TemporaryFile() as status, \
            tempfile.TemporaryFile() as files_out:
        try:
            fill(Archive(image), kernel, command, files, modules, without,
                 environment)
        except OSError as error:
            raise GuestError(f"'{error.filename}': {error.strerror}") from None
        # the archive and the files unpacked from it are there together
        need = 2 * (image.tell() >> 20) + 96
        if memory < need:
            raise GuestError(f"a guest with these files needs {need} MiB of "
                             f"memory, not {memory}")

        readers, writers = zip(*(os.pipe() for _ in range(3)))
        ports = (writers[0], writers[1], status.fileno(), files_out.fileno())
        keep = (*writers, *(f.fileno()
                            for f in (image, messages, status, files_out)))

        def fd(number):
            return f"/proc/self/fd/{number}"

        words = ["setpriv", "--pdeathsig", "KILL", emulator,
                 "-nodefaults", "-no-user-config", "-no-reboot",
                 "-display", "none", "-accel", accel, "-cpu", "max",
                 "-m", str(memory), "-smp", str(cpus),
                 "-kernel", kernel.image, "-initrd", fd(image.fileno()),
                 "-append", " ".join((CMDLINE, append)),
                 "-chardev", f"file,id=console,path={fd(messages.fileno())}",
                 "-serial", "chardev:console", "-device", "virtio-serial-pci"]
        for number, port in enumerate(ports, 1):
            words += ["-chardev", f"file,id=port{number},path={fd(port)}",
                      "-device",
                      f"virtserialport,nr={number},chardev=port{number}"]
        complaints = []
        try:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL,
                                       stdout=writers[2], stderr=writers[2],
                                       pass_fds=keep)
        finally:
            for number in writers:
                os.close(number)
        try:
            ended = pump(zip(readers, (stdout, stderr, complaints.append)),
                         process, time.monotonic() + limit)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            for number in readers:
                os.close(number)
            if console:
                messages.seek(0)
                with open(console, "wb") as f:
                    shutil.copyfileobj(messages, f)
        if not ended:
            raise OutOfTime(f"not done after {limit} s; the console "
                            f"says:\n{said(messages)}")
        if process.returncode != 0:
            text = b"".join(complaints).decode(errors="replace").strip()
            raise GuestError(f"{QEMU} ended with status "
                             f"{process.returncode}: {text}")
        status.seek(0)
        number = status.read()
        if not re.fullmatch(rb"\d+\n", number):
            raise GuestError("the guest ended without a status; the console "
                             f"says:\n{said(messages)}")
        if out:
            os.makedirs(out, exist_ok=True)
            files_out.seek(0)
            subprocess.run(["tar", "-x", "--touch", "--no-same-owner",
                            "--no-overwrite-dir", "-C", out], check=True,
                           stdin=files_out)
        return int(number)
