"""Memory control groups of our own, of version 1 or 2.

    with Group("name", 64 * MIB) as group:
        subprocess.run(words, preexec_fn=group.enter)

Their names do not have ramline's in them, which harness/traces.py would take for something that ramline has left, and end with our number, by which
tests/left knows those of a test that was killed.
"""

import contextlib
import os
from pathlib import Path

from .checks import Skip, check
from .machine import until

V1, V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
FIRST = (V1 / "memory.limit_in_bytes").exists()


def top():
    """Where groups of memory are; Skip where there are none."""
    if FIRST:
        return V1
    try:
        if "memory" not in (V2 / "cgroup.controllers").read_text().split():
            raise Skip("no memory controller")
        # Without it groups there have no files of memory.
        if "memory" not in (V2 / "cgroup.subtree_control").read_text().split():
            (V2 / "cgroup.subtree_control").write_text("+memory")
    except OSError as error:
        raise Skip(f"no memory controller: {error}") from None
    return V2


def needs_version_1():
    if not FIRST:
        raise Skip("needs a memory controller of version 1")


class Group:
    """One group; `exactly` is a name without our number."""

    def __init__(self, name, limit=None, exactly=False):
        self.path = top() / (name if exactly else f"ramtest-{name}-{os.getpid()}")
        self.wanted = limit
        self.limit_file = self.path / ("memory.limit_in_bytes" if FIRST else "memory.max")

    def __enter__(self):
        self.path.mkdir(parents=True)
        if self.wanted:
            self.limit(self.wanted)
        return self

    def __exit__(self, *_):
        self.remove()

    def limit(self, size):
        """OSError where more is in use and cannot be taken back."""
        self.limit_file.write_text(str(size))

    def enter(self):
        """The process that calls this, also between fork and exec."""
        (self.path / "cgroup.procs").write_text("0")

    def pids(self):
        return [int(pid) for pid in (self.path / "cgroup.procs").read_text().split()]

    def squeeze(self, size):
        """To this size by reclaim, as far as it goes, without a kill."""
        with contextlib.suppress(OSError):
            if FIRST:
                self.limit(size)
            else:
                (self.path / "memory.reclaim").write_text(str(max(0, int((self.path / "memory.current").read_text()) - size)))

    def remove(self):
        """With the groups in it. Who is still in one is moved out; one that has just ended is waited for."""
        for folder, _, _ in os.walk(os.fsencode(self.path), topdown=False):
            if not until(lambda: _removed(folder), 10):
                check(f"group {os.fsdecode(folder)} is removed", False, "it is busy")


def _removed(folder):
    try:
        with open(folder + b"/cgroup.procs") as procs:
            for pid in procs.read().split():
                with contextlib.suppress(OSError):
                    (top() / "cgroup.procs").write_text(pid)
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True
