"""Checks of what is in the page cache, and whether DAMON took pages of the test's own files: the kernel's own record of each page kdamond removes from it.

A machine may run a DAMON scheme that evicts unmapped pages, also such as were read a moment ago: their memory had been idle under somebody else. A
check of residency that fails over that says nothing of ramline. `Checks.steady` repeats a part of a test only when a check failed and at that moment
pages of files of its own are in the record; any other failure stands.
"""

import os
import re
import signal
import subprocess
import tempfile
import traceback
from pathlib import Path

GONE = re.compile(r"mm_filemap_delete_from_page_cache: dev (\d+):(\d+) ino ([0-9a-f]+) ")
ATTEMPTS = 6


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


class Checks:
    """What a test has checked. `where` has the folders, and `held` the open files without a name, whose pages matter."""

    def __init__(self):
        # A shell without job control starts what runs in the background with SIGINT ignored, and ramline leaves it so. Tests send it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.passed = self.failed = self.skipped = 0
        self.others, self.where, self.held = None, [], []
        # What failed in an attempt is said when it is known to stand.
        self.unsaid = None

    def check(self, what, ok, details=""):
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        if ok:
            return
        if self.others:
            self.others.failed(*self.where, held=self.held)
        said = f"{what}\n  {str(details)[-2000:]}"
        if self.unsaid is None:
            print(f"FAILED: {said}", flush=True)
        else:
            self.unsaid.append(said)

    def skip(self, reason):
        self.skipped += 1
        print(f"SKIP: {reason}", flush=True)

    def steady(self, name, part):
        """Runs `part(attempt)`, again while it fails over pages that DAMON took."""
        for attempt in range(ATTEMPTS):
            before = self.passed, self.failed, self.skipped
            self.unsaid = []
            self.others.begin()
            try:
                part(attempt)
            except Exception:  # noqa: BLE001
                self.check(f"{name} comes to its end", False, traceback.format_exc())
            again = self.unsaid and self.others.spoiled and attempt < ATTEMPTS - 1
            for said in self.unsaid:
                print(f"{'not counted' if again else 'FAILED'}: {said}", flush=True)
            self.unsaid = None
            if not again:
                return
            print(f"{name}: DAMON took {self.others.spoiled} folios of its files before these checks: all of it once more", flush=True)
            self.passed, self.failed, self.skipped = before

    def end(self):
        """Says what was counted; the exit status."""
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        return 1 if self.failed else 0
