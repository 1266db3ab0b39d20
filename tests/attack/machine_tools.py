"""What tests/attack/machine makes on this machine, each thing with its way back, and how it runs a command and judges how that ended."""

import contextlib
import ctypes
import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import trees  # noqa: E402
from labtest import RAMLINE, TOP, check, skip, traces  # noqa: E402, F401  (handed on)

MIB, PAGE = 1 << 20, os.sysconf("SC_PAGESIZE")
FIXTURE = trees.directory("healthy/debian-13")
MEMORY = Path("/sys/fs/cgroup/memory")
ZRAM = Path("/sys/class/zram-control")
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
# A refusal that is one: usage, privilege, kernel, refused before anything was started.
REFUSALS = (2, 3, 4, 5)
BROKEN = re.compile(r"internal error|panicked at|RUST_BACKTRACE")
# What no terminal should get: control characters but tab and newline, also the eight-bit ones.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


class Undo(contextlib.ExitStack):
    """Ways back, the last first; one that fails does not stop those before it."""

    def add(self, function, *words):
        def quietly():
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                function(*words)

        self.callback(quietly)


@dataclass
class Done:
    """How a run ended: with a code below 0 by that signal, with None by us because it was late."""

    words: list
    code: int
    out: str
    err: str
    raw: bytes
    took: float
    memory: int

    def __str__(self):
        return f"ramline {' '.join(map(str, self.words))}\nexit {self.code} after {self.took:.1f} s\n{self.err[-1500:]}\n{self.out[-300:]}"


class Runner:
    """Runs ramline with a state directory of its own, and starts other programs; all are gone when it ends."""

    def __init__(self, state):
        self.state, self.running = str(state), set()

    def start(self, words, group=None, inside=(), **more):
        """`inside` are functions that run between fork and exec."""
        def prepare():
            if group:
                with open(f"{group}/cgroup.procs", "w") as procs:
                    procs.write("0")
            for function in inside:
                function()

        more.setdefault("env", {**os.environ, "RAMLINE_STATE_DIR": self.state, "COLUMNS": "100"})
        more.setdefault("stdin", subprocess.DEVNULL)
        child = subprocess.Popen(list(map(str, words)), preexec_fn=prepare if group or inside else None, start_new_session=True, **more)
        self.running.add(child)
        return child

    def run(self, words, timeout=60, binary=RAMLINE, **more):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.monotonic()
            child = self.start([binary, *words], stdout=out, stderr=err, **more)
            handle = os.pidfd_open(child.pid)
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            late = not poll.poll(timeout * 1000)
            took = time.monotonic() - begin
            os.close(handle)
            # Not waited for, so its number is still its own.
            self.kill(child)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.running.discard(child)
            out.seek(0)
            err.seek(0)
            data, said = out.read(), err.read()
        if os.environ.get("MACHINE_TIMES"):
            print(f"    {took:.1f} s: {' '.join(map(str, words))[:100]}", flush=True)
        text, error = data.decode(errors="replace"), said.decode(errors="replace")
        return Done(list(words), None if late else child.returncode, text, error, data + said, took, used.ru_maxrss * 1024)

    def kill(self, child):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    def stop(self, child):
        self.kill(child)
        child.wait()
        self.running.discard(child)

    def end(self):
        """A lab is let put back what it has changed; then whatever still runs is killed, and what is left of it undone."""
        alive = [child for child in self.running if child.returncode is None and child.poll() is None]
        for child in alive:
            child.terminate()
        for child in alive:
            try:
                child.wait(timeout=15)
            except subprocess.TimeoutExpired:
                self.kill(child)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(timeout=10)
        self.running.clear()
        if os.path.isdir(f"{self.state}/journal"):
            command(RAMLINE, "lab", "clean", env={**os.environ, "RAMLINE_STATE_DIR": self.state})


def sound(done):
    """Why this is no orderly end, whatever the code: late, by a signal, a panic; several errors where one is told."""
    if done.code is None:
        return f"not ended after {done.took:.0f} s"
    if done.code < 0:
        return f"ended by signal {-done.code}"
    if BROKEN.search(done.err):
        return "a panic"
    if done.code in (1, *REFUSALS, 6) and len(errors(done)) != 1:
        return f"{len(errors(done))} lines begin with 'ramline: '"
    return None


def errors(done):
    return [line for line in done.err.splitlines() if line.startswith("ramline: ")]


def done_or_refused(done):
    """Why this neither worked nor was refused with one clear error and a way out."""
    if problem := sound(done):
        return problem
    if done.code == 0:
        return None
    if done.code not in REFUSALS:
        return f"exit {done.code} is neither done nor a refusal"
    return None if "try:" in done.err else "no way out (try:) in the refusal"


# Between fork and exec.

# Of x86-64. Not poll: without it Rust's own start gives up, before any line of ours.
NUMBERS = {
    "cachestat": 451, "mincore": 27, "openat2": 437, "statx": 332, "faccessat": 269, "faccessat2": 439, "pidfd_open": 434,
    "pidfd_send_signal": 424, "unshare": 272, "linkat": 265, "renameat": 264, "renameat2": 316, "rename": 82, "flock": 73,
    "memfd_create": 319, "mlock": 149, "fchmod": 91, "fchown": 93, "fsync": 74, "fdatasync": 75, "syncfs": 306, "sendfile": 40,
    "splice": 275, "fadvise64": 221, "readlinkat": 267, "getrandom": 318, "membarrier": 324, "sched_getaffinity": 204, "clone3": 435,
    "set_robust_list": 273, "rseq": 334, "prctl": 157, "copy_file_range": 326, "preadv2": 327, "io_uring_setup": 425, "getdents64": 217,
    "readlink": 89, "sysinfo": 99, "prlimit64": 302, "inotify_init1": 294, "ppoll": 271, "statfs": 137, "fstatfs": 138,
    "madvise": 28, "sigaltstack": 131, "unlink": 87, "unlinkat": 263,
}


def answering(call, error):
    """A function that has a system call fail with that error from now on: a seccomp filter on its number."""
    allow, fail = 0x7FFF0000, 0x00050000 | error
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, NUMBERS[call]), (0x06, 0, 0, fail), (0x06, 0, 0, allow)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
    keep = (text, program)

    def install():
        if LIBC.prctl(38, 1, 0, 0, 0) or LIBC.prctl(22, 2, ctypes.byref(keep[1]), 0, 0):
            raise OSError("no seccomp filter")

    return install


# Things on this machine.

def own_mounts():
    """A mount name space of our own: whatever happens, its mounts go with it."""
    return LIBC.unshare(0x00020000) == 0 and LIBC.mount(None, b"/", None, 0x4000 | 0x40000, None) == 0


def command(*words, **more):
    return subprocess.run(list(map(str, words)), **more, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False)


def mount(undo, at, *words):
    """Why it could not be mounted, or None."""
    Path(at).mkdir(parents=True, exist_ok=True)
    done = command("mount", *words, at)
    if done.returncode:
        return done.stderr.strip() or f"mount ended with {done.returncode}"
    undo.add(unmount, at)
    return None


def unmount(at):
    # A lazy one alone would leave the loop device for later.
    if command("umount", at).returncode:
        command("umount", "-l", at)
    for _ in range(50):
        if not command("losetup", "-j", f"{at}.img").stdout.strip():
            return
        time.sleep(0.1)


def image(undo, at, size, *maker):
    """A file system on a loop device that goes with the mount; why not, or None. The image is AT.img."""
    path = Path(f"{at}.img")
    with open(path, "wb") as out:
        out.truncate(size)
    undo.add(path.unlink)
    made = command(*maker, path)
    if made.returncode:
        return f"{maker[0]}: {made.stderr.strip() or made.stdout.strip()}"
    return mount(undo, at, "-o", "loop", path)


def knows(kind):
    return any(line.split()[-1] == kind for line in Path("/proc/filesystems").read_text().splitlines())


def group(undo, name, limit=None):
    """A memory control group of version 1."""
    path = MEMORY / name
    path.mkdir()
    undo.add(remove_group, path)
    if limit:
        (path / "memory.limit_in_bytes").write_text(str(limit))
    return path


def remove_group(path):
    for _ in range(100):
        for pid in (path / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (MEMORY / "cgroup.procs").write_text(pid)
        try:
            path.rmdir()
            return
        except OSError:
            time.sleep(0.05)
    print(f"left behind: {path}", flush=True)


def swap_on(undo, path, priority):
    """Why not, or None."""
    for words in (["mkswap", path], ["swapon", "-p", priority, path]):
        done = command(*words)
        if done.returncode:
            return f"{words[0]}: {done.stderr.strip()}"
    undo.add(command, "swapoff", path)
    return None


def zram_device(undo, size):
    """The path of a device of ours."""
    number = (ZRAM / "hot_add").read_text().strip()
    undo.add(remove_zram, number)
    Path(f"/sys/block/zram{number}/disksize").write_text(str(size))
    return Path(f"/dev/zram{number}")


def remove_zram(number):
    for _ in range(50):
        try:
            (ZRAM / "hot_remove").write_text(number)
            return
        except OSError:
            time.sleep(0.1)
    print(f"left behind: /dev/zram{number}", flush=True)


def areas():
    """Swap areas: path, kind, priority."""
    lines = [line.split() for line in Path("/proc/swaps").read_text().splitlines()[1:]]
    return {line[0]: (line[1], line[4]) for line in lines}


def instances(where):
    """Trace instances there are, through a tracefs of our own; None where that cannot be mounted."""
    with Undo() as undo:
        if mount(undo, where, "-t", "tracefs", "tracefs"):
            return None
        return set(os.listdir(where / "instances"))


class Mapped:
    """A file mapped by a descriptor that is open already: its pages in the page cache, as mincore tells root."""

    def __init__(self, path):
        self.size = os.path.getsize(path)
        self.descriptor = os.open(path, os.O_RDONLY)
        self.at = LIBC.mmap(None, self.size, 1, 1, self.descriptor, 0)

    def cached(self):
        seen = ctypes.create_string_buffer((self.size + PAGE - 1) // PAGE)
        assert LIBC.mincore(self.at, self.size, seen) == 0
        return sum(byte & 1 for byte in seen.raw)

    def close(self):
        LIBC.munmap(self.at, self.size)
        os.close(self.descriptor)
