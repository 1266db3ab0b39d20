"""How tests/attack/machine runs a command and judges how that ended, and what of this machine only it asks for."""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import trees  # noqa: E402
from harness import RAMLINE, Skip, environment, ramline  # noqa: E402
from harness.machine import mounted  # noqa: E402

FIXTURE = trees.directory("healthy/debian-13")
# A refusal that is one: usage, privilege, kernel, refused before anything was started.
REFUSALS = (2, 3, 4, 5)
BROKEN = re.compile(r"internal error|panicked at|RUST_BACKTRACE")
# What no terminal should get: control characters but tab and newline, also the eight-bit ones.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


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
        steps = [*([group.enter] if group else []), *inside]
        more = {"env": environment(self.state), "stdin": subprocess.DEVNULL, **more}
        child = subprocess.Popen(list(map(str, words)), preexec_fn=(lambda: [step() for step in steps]) if steps else None, start_new_session=True, **more)
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
            ramline("lab", "clean", state=self.state)


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


def knows(kind):
    return any(line.split()[-1] == kind for line in Path("/proc/filesystems").read_text().splitlines())


def instances(where):
    """Trace instances there are, through a tracefs of our own; None where that cannot be mounted."""
    try:
        with mounted(where, "-t", "tracefs", "tracefs"):
            return set(os.listdir(where / "instances"))
    except Skip:
        return None
