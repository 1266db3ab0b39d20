"""Checks of what is in the page cache, and whether DAMON took pages of the test's own files: the kernel's own record of each page kdamond removes from it.

A machine may run a DAMON scheme that evicts unmapped pages, also such as were read a moment ago: their memory had been idle under somebody else. A
check of residency that fails over that says nothing of ramline. `steady` repeats a part of a test only when a check failed and at that moment pages
of files of its own are in the record, and counts that; any other failure stands.

    with Others() as others:
        others.steady("what is read is named", part)       # part(folder): a folder of its own each time
"""

import os
import re
import tempfile
import traceback
from pathlib import Path

from .checks import TALLY, Skip, check, repeated, skip
from .machine import command
from .undo import Undo, scratch

GONE = re.compile(r"mm_filemap_delete_from_page_cache: dev (\d+):(\d+) ino ([0-9a-f]+) ")
ATTEMPTS = 6


class Others:
    """Watches while its block runs; without DAMON, root or tracefs it sees nothing."""

    def __init__(self, name):
        self.name, self.instance, self.spoiled = name, None, 0
        # Open files without a name, whose pages matter as well.
        self.folder, self.held = None, []

    def __enter__(self):
        with Undo() as back:
            self.base = back.enter_context(scratch(self.name))
            self.watch(back)
            self.back = back.pop_all()
        return self

    def __exit__(self, *_):
        self.back.close()

    def watch(self, back):
        pids = [path.parent.name for path in Path("/proc").glob("[0-9]*/comm") if named(path).startswith("kdamond")]
        if not pids or os.geteuid() != 0:
            return
        at = Path(tempfile.mkdtemp(prefix=f"kdamond-{os.getpid()}-", dir="/tmp"))
        back.add(at.rmdir)
        if command("mount", "-t", "tracefs", "none", at).returncode:
            return
        back.add(command, "umount", at)
        instance = at / "instances" / f"kdamond-{os.getpid()}"
        try:
            instance.mkdir()
            back.add(instance.rmdir)
            event = instance / "events/filemap/mm_filemap_delete_from_page_cache"
            (event / "filter").write_text(" || ".join(f"common_pid == {pid}" for pid in pids))
            (event / "enable").write_text("1")
            back.add((event / "enable").write_text, "0")
            self.instance = instance
        except OSError:
            pass

    def begin(self):
        """Forgets what was."""
        self.spoiled, self.held = 0, []
        if self.instance:
            (self.instance / "trace").write_text("")

    def failed(self):
        """A check has failed: how many records are of files below the folder, or of open files that have no name."""
        if self.instance:
            ours = {identity(os.path.join(at, name)) for at, _, names in os.walk(self.folder) for name in names}
            ours |= {(os.major(seen.st_dev), os.minor(seen.st_dev), seen.st_ino) for seen in map(os.fstat, self.held)}
            gone = [(int(a), int(b), int(ino, 16)) for a, b, ino in GONE.findall((self.instance / "trace").read_text())]
            self.spoiled += sum(1 for one in gone if one in ours)

    def steady(self, name, part):
        """Runs `part(folder)`, again while it fails over pages that DAMON took."""
        for attempt in range(ATTEMPTS):
            before = TALLY.passed, TALLY.failed, TALLY.skipped
            self.folder = Path(tempfile.mkdtemp(dir=self.base))
            # For nobody, too.
            for folder in (self.base, self.folder):
                folder.chmod(0o755)
            TALLY.unsaid, TALLY.noticed = [], self.failed
            self.begin()
            try:
                part(self.folder)
            except Skip as why:
                skip(f"{name}: {why}")
            except Exception:  # noqa: BLE001
                check(f"{name} comes to its end", False, traceback.format_exc())
            failures, TALLY.unsaid, TALLY.noticed = TALLY.unsaid, None, None
            command("rm", "-rf", self.folder)
            again = failures and self.spoiled and attempt < ATTEMPTS - 1
            for said in failures:
                print(f"{'not counted' if again else 'FAILED'}: {said}", flush=True)
            if not again:
                return
            repeated(name, f"DAMON took {self.spoiled} folios of its files before a check of it failed")
            TALLY.passed, TALLY.failed, TALLY.skipped = before


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
