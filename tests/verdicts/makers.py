"""What the states of the soak are made of: programs that run beside the readings, groups, swap areas, file systems.

Each is a context manager and undoes itself, also on failure; what it starts dies with us. What could exhaust memory runs in a group or a guest.
"""

import contextlib
import ctypes
import importlib.machinery
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
MIB, GIB = 1 << 20, 1 << 30
V1, V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


class Skip(Exception):
    """This machine cannot show it."""


def provocations():
    """The set-ups of tests/findings/run, which has no suffix to be imported by."""
    loader = importlib.machinery.SourceFileLoader("provocations", str(TOP / "tests/findings/run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("provocations", loader))
    loader.exec_module(module)
    return module


def meminfo(key):
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@contextlib.contextmanager
def beside(work, ready=True):
    """A process that does `work(tell)` while the block runs; with `ready` the block begins when it has told."""
    heard, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            os.setpgid(0, 0)
            die_with_parent()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.close(heard)
            work(lambda: os.write(told, b"."))
        os._exit(1)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    os.close(told)
    try:
        if ready and not os.read(heard, 1):
            raise Skip("the load ended before it was ready")
        yield pid
    finally:
        os.close(heard)
        # The group of processes that this one leads, and nothing else.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def shell(script, **words):
    """Work that repeats a line of shell."""

    def work(tell):
        tell()
        while True:
            subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={**os.environ, **{name: str(value) for name, value in words.items()}}, preexec_fn=die_with_parent, check=False)

    return work


def each(step, count=None):
    """Work that repeats a step of ours; `count` processes at once."""

    def work(tell):
        tell()
        for _ in range((count or 1) - 1):
            if os.fork() == 0:
                die_with_parent()
                break
        while True:
            step()

    return work


@contextlib.contextmanager
def scratch(on="/var/tmp"):
    with tempfile.TemporaryDirectory(prefix="ramline-verdicts-", dir=on) as folder:
        yield Path(folder)


def fill(path, size, data=None):
    """A file with this many bytes of noise, or of `data` repeated; on the disk, and out of the page cache."""
    block = data * (16 * MIB // len(data)) if data else os.urandom(16 * MIB)
    with open(path, "wb") as file:
        for at in range(0, size, len(block)):
            file.write(block[:size - at])
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read(path, evict=False):
    with open(path, "rb", buffering=0) as file:
        if evict:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 20):
            pass


class Group:
    """A memory control group, of version 1 or 2."""

    def __init__(self, name, limit=None):
        if (V1 / "memory.limit_in_bytes").exists():
            self.path, self.knob = V1 / f"verdicts-{name}-{os.getpid()}", "memory.limit_in_bytes"
        elif "memory" in (V2 / "cgroup.subtree_control").read_text().split():
            self.path, self.knob = V2 / f"verdicts-{name}-{os.getpid()}", "memory.max"
        else:
            raise Skip("no memory controller")
        self.wanted = limit

    def __enter__(self):
        self.path.mkdir()
        if self.wanted:
            self.limit(self.wanted)
        return self

    def limit(self, size):
        (self.path / self.knob).write_text(f"{size}\n")

    def enter(self):
        (self.path / "cgroup.procs").write_text(f"{os.getpid()}\n")

    def squeeze(self, size):
        """To this size by reclaim, as far as it goes, without a kill."""
        if self.knob == "memory.max":
            now = int((self.path / "memory.current").read_text())
            with contextlib.suppress(OSError):
                (self.path / "memory.reclaim").write_text(str(max(0, now - size)))
        else:
            with contextlib.suppress(OSError):
                self.limit(size)

    def __exit__(self, *_):
        for _ in range(100):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.1)


@contextlib.contextmanager
def zram(size, priority=100, limit=None):
    """A zram device of our own as swap, without a priority if it is None; the number the kernel gave it."""
    control = Path("/sys/class/zram-control/hot_add")
    if not control.exists():
        raise Skip("needs /sys/class/zram-control")
    number = int(control.read_text())
    device, knobs = f"/dev/zram{number}", Path(f"/sys/block/zram{number}")
    try:
        (knobs / "disksize").write_text(str(size))
        if limit:
            (knobs / "mem_limit").write_text(str(limit))
        subprocess.run(["mkswap", "-q", device], check=True)
        swap_on(device, priority)
        yield number
    finally:
        subprocess.run(["swapoff", device], check=False, stderr=subprocess.DEVNULL)
        (knobs / "reset").write_text("1")
        Path("/sys/class/zram-control/hot_remove").write_text(str(number))


def swap_on(path, priority):
    subprocess.run(["swapon", *(() if priority is None else ("-p", str(priority))), path], check=True)


@contextlib.contextmanager
def swap_file(size, priority=None):
    with scratch() as folder:
        path = folder / "swap"
        fill(path, size, b"\0" * 4096)
        path.chmod(0o600)
        subprocess.run(["mkswap", "-q", path], check=True, stdout=subprocess.DEVNULL)
        swap_on(path, priority)
        try:
            yield
        finally:
            subprocess.run(["swapoff", path], check=False)


@contextlib.contextmanager
def swapped_out(size, stays, data):
    """A process in a group of its own with `size` bytes made by `data(size)`, squeezed until `stays` are left in RAM."""
    with Group("swapped") as group:

        def work(tell):
            group.enter()
            kept = bytearray(size)
            for at in range(0, size, MIB):
                kept[at:at + MIB] = data(MIB)
            tell()
            signal.pause()

        with beside(work):
            group.squeeze(stays)
            yield group


@contextlib.contextmanager
def own_tmp(options):
    """A name space of mounts in which /tmp is a tmpfs of our own; the words that enter it."""

    def work(tell):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x20000):  # CLONE_NEWNS
            return
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "verdicts", "/tmp"], check=True)
        tell()
        signal.pause()

    if shutil.which("nsenter") is None:
        raise Skip("needs nsenter")
    with beside(work) as pid:
        yield Path(f"/proc/{pid}/root/tmp"), ["nsenter", "-t", str(pid), "-m"]
