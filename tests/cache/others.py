"""Whether DAMON took pages of a test's own files: the kernel's own record of each page kdamond removes from the page cache.

A machine may run a DAMON scheme that evicts unmapped pages, also such as were read a moment ago: their memory had been idle under somebody else. A
check of residency that fails over that says nothing of ramline. `steady` repeats a part of a test only when a check failed and at that moment pages of
files of its own are in the record; any other failure stands.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

GONE = re.compile(r"mm_filemap_delete_from_page_cache: dev (\d+):(\d+) ino ([0-9a-f]+) ")
ATTEMPTS = 4


class Others:
    """Watches from when it is made until `end`; without DAMON, root or tracefs it sees nothing."""

    def __init__(self):
        self.instance = self.mounted = None
        self.spoiled = 0
        pids = [path.parent.name for path in Path("/proc").glob("[0-9]*/comm") if named(path).startswith("kdamond")]
        if not pids or os.geteuid() != 0:
            return
        self.mounted = Path(tempfile.mkdtemp(prefix=f"kdamond-{os.getpid()}-", dir="/tmp"))
        if subprocess.run(["mount", "-t", "tracefs", "none", self.mounted], capture_output=True).returncode:
            return self.end()
        self.instance = self.mounted / "instances" / f"kdamond-{os.getpid()}"
        try:
            self.instance.mkdir()
            event = self.instance / "events/filemap/mm_filemap_delete_from_page_cache"
            (event / "filter").write_text(" || ".join(f"common_pid == {pid}" for pid in pids))
            (event / "enable").write_text("1")
        except OSError:
            self.end()

    def begin(self):
        """Forgets what was."""
        self.spoiled = 0
        if self.instance:
            (self.instance / "trace").write_text("")

    def failed(self, *folders, held=()):
        """A check has failed: how many records are of files below these folders, or of open files that have no name."""
        if self.instance:
            ours = {identity(os.path.join(at, name)) for folder in folders for at, _, names in os.walk(folder) for name in names}
            ours |= {(os.major(seen.st_dev), os.minor(seen.st_dev), seen.st_ino) for seen in map(os.fstat, held)}
            gone = [(int(a), int(b), int(ino, 16)) for a, b, ino in GONE.findall((self.instance / "trace").read_text())]
            self.spoiled += sum(1 for one in gone if one in ours)

    def end(self):
        if self.instance and self.instance.exists():
            (self.instance / "events/enable").write_text("0")
            self.instance.rmdir()
        self.instance = None
        if self.mounted:
            subprocess.run(["umount", self.mounted], capture_output=True)
            self.mounted.rmdir()
        self.mounted = None


def named(path):
    try:
        return path.read_text()
    except OSError:
        return ""


def identity(path):
    try:
        seen = os.lstat(path)
        return os.major(seen.st_dev), os.minor(seen.st_dev), seen.st_ino
    except OSError:
        return None


def steady(others, name, part, counters):
    """Runs `part(attempt)`, again while it fails over pages that DAMON took; `counters` gets and sets what was counted of checks."""
    for attempt in range(ATTEMPTS):
        before = counters()
        others.begin()
        part(attempt)
        if counters()[1] == before[1] or not others.spoiled or attempt == ATTEMPTS - 1:
            return
        print(f"{name}: DAMON took {others.spoiled} folios of its files before these checks: all of it once more", flush=True)
        counters(before)
