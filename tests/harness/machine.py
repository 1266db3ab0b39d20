"""The kernel asked and used by calls of our own: counters, pages of files, mounts, processes beside the test, calls that fail."""

import contextlib
import ctypes
import os
import signal
import struct
import subprocess
import time
from pathlib import Path

from .checks import Skip

PAGE, MIB, GIB = os.sysconf("SC_PAGESIZE"), 1 << 20, 1 << 30
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
LIBC.munmap.argtypes = LIBC.mlock.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
CACHESTAT = {"alpha": 561}.get(os.uname().machine, 451)


def counters(path):
    """Name and number of each line of /proc/meminfo, /proc/vmstat or a file of their kind; kB becomes bytes."""
    rows = (line.replace(":", "").split() for line in Path(path).read_text().splitlines())
    return {row[0]: int(row[1]) * (1024 if row[2:] == ["kB"] else 1) for row in rows}


def meminfo(key):
    return counters("/proc/meminfo").get(key, 0)


def command(*words, **more):
    """A tool, its end and its output; it may fail."""
    more = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace", **more}
    return subprocess.run([str(word) for word in words], check=False, **more)


def must(*words, **more):
    """The output of a tool that does not fail; Skip where it does."""
    done = command(*words, **more)
    if done.returncode:
        raise Skip(f"{words[0]}: {(done.stderr or done.stdout or '').strip() or f'ended with {done.returncode}'}")
    return done.stdout


def until(holds, seconds=10.0, every=0.05):
    """Waits until a condition holds; whether it does."""
    end = time.monotonic() + seconds
    while not (seen := holds()) and time.monotonic() < end:
        time.sleep(every)
    return seen


def bpf_objects(kind):
    """The ids of all "programs" or "maps" in the kernel (BPF_PROG_GET_NEXT_ID, BPF_MAP_GET_NEXT_ID)."""
    command = {"programs": 11, "maps": 12}[kind]
    libc, last, out = ctypes.CDLL(None, use_errno=True), ctypes.c_uint32(0), set()
    while True:
        attributes = (ctypes.c_uint32 * 4)(last.value)
        if libc.syscall(321, command, ctypes.byref(attributes), 16) != 0:
            return out
        last = ctypes.c_uint32(attributes[1])
        out.add(last.value)


# Pages of files.


def pages_of(descriptor):
    """Which pages of an open file are resident, by mincore: root is told the truth."""
    size = os.fstat(descriptor).st_size
    at = LIBC.mmap(None, size, 1, 1, descriptor, 0)
    try:
        seen = ctypes.create_string_buffer((size + PAGE - 1) // PAGE)
        if LIBC.mincore(at, size, seen):
            raise OSError(ctypes.get_errno(), "mincore")
        return [byte & 1 for byte in seen.raw]
    finally:
        LIBC.munmap(at, size)


def cached(path):
    """How many pages of a file are resident."""
    with open(path, "rb") as file:
        return sum(pages_of(file.fileno()))


def cachestat(descriptor, offset=0, length=0):
    """Pages in the cache, dirty, being written, evicted, recently evicted; OSError before Linux 6.5."""
    span, seen = (ctypes.c_uint64 * 2)(offset, length), (ctypes.c_uint64 * 5)()
    if LIBC.syscall(CACHESTAT, descriptor, span, seen, 0):
        raise OSError(ctypes.get_errno(), "cachestat")
    return list(seen)


def drop(path, offset=0, length=0):
    """Written to the disk, and out of the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), offset, length, os.POSIX_FADV_DONTNEED)


class Mapped:
    """A file mapped by a descriptor that is open already, which nothing opens again: its pages in the page cache."""

    def __init__(self, path):
        self.size = os.path.getsize(path)
        self.descriptor = os.open(path, os.O_RDONLY)
        self.at = LIBC.mmap(None, self.size, 1, 1, self.descriptor, 0)

    def lock(self):
        """Reads and locks all of it: such pages go when the file's server or owner says so, and not because the kernel finds them idle."""
        if LIBC.mlock(self.at, self.size):
            raise OSError(ctypes.get_errno(), "mlock")

    def cached(self):
        return sum(pages_of(self.descriptor))

    def close(self):
        LIBC.munmap(self.at, self.size)
        os.close(self.descriptor)


def noise(path, size, sync=True):
    """A file of random bytes, the same in each MiB, in the page cache; written to the disk unless it is to stay dirty."""
    block = os.urandom(min(MIB, size))
    with open(path, "wb") as out:
        for at in range(0, size, MIB):
            out.write(block[:min(MIB, size - at)])
        if sync:
            out.flush()
            os.fsync(out.fileno())
    return Path(path)


# Mounts.


def own_mounts():
    """A mount name space of our own: its mounts are nobody else's and go with it. Whether there is one."""
    # CLONE_NEWNS; MS_REC | MS_PRIVATE
    return os.geteuid() == 0 and LIBC.unshare(0x20000) == 0 and LIBC.mount(None, b"/", None, 0x4000 | 0x40000, None) == 0


def unmount(at):
    """At once where that goes, and when it is not in use any more otherwise. A loop device below goes with it: it is waited for."""
    if not until(lambda: command("umount", at).returncode == 0 or not os.path.ismount(at), 2, 0.1):
        command("umount", "-l", at)
    until(lambda: not command("losetup", "-j", f"{at}.img").stdout.strip(), 5, 0.1)


@contextlib.contextmanager
def mounted(at, *words):
    """A mount on a file, or on a folder that is made where it is missing."""
    if not Path(at).exists():
        Path(at).mkdir(parents=True)
    must("mount", *words, at)
    try:
        yield Path(at)
    finally:
        unmount(at)


def tmpfs(at, size):
    return mounted(at, "-t", "tmpfs", "-o", f"size={size}", "ramline-test")


@contextlib.contextmanager
def image(at, size, *maker):
    """A file system in a file, AT.img, on a loop device."""
    path = Path(f"{at}.img")
    path.touch()
    os.truncate(path, size)
    try:
        must(*maker, path)
        with mounted(at, "-o", "loop", path):
            yield Path(at)
    finally:
        path.unlink()


@contextlib.contextmanager
def loop(path):
    """The loop device of a file."""
    device = must("losetup", "--find", "--show", path).strip()
    try:
        yield device
    finally:
        command("losetup", "--detach", device)


# Processes.


def die_with_parent():
    LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


@contextlib.contextmanager
def beside(work):
    """A process that does `work(tell)` while the block runs, which begins when it has told; its pid. It leads a group of processes, all of which end."""
    heard, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            os.setpgid(0, 0)
            die_with_parent()
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            os.close(heard)
            work(lambda: os.write(told, b"."))
        os._exit(1)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    os.close(told)
    try:
        if not os.read(heard, 1):
            raise Skip("a process ended before it was ready")
        yield pid
    finally:
        os.close(heard)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def answering(call, error):
    """A function for between fork and exec that has the system call of this number fail with that error: a seccomp filter."""
    allow, fail = 0x7FFF0000, 0x00050000 | error
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, fail), (0x06, 0, 0, allow)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
    keep = (text, program)

    def install():
        if LIBC.prctl(38, 1, 0, 0, 0) or LIBC.prctl(22, 2, ctypes.byref(keep[1]), 0, 0):
            raise OSError("no seccomp filter")

    return install


@contextlib.contextmanager
def written(path, text):
    """A file of /proc or /sys with another value for a while."""
    before = Path(path).read_text()
    Path(path).write_text(text)
    try:
        yield
    finally:
        Path(path).write_text(before)
