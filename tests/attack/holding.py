"""One place that a document is sent to, and what must hold after a run: a function gives the problems it finds, none when all is well."""

import contextlib
import hashlib
import os
import re
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT, NOBODY = 0, 65534
# crates/cli/src/exit.rs
DONE, FAILED, USAGE, REFUSED = 0, 1, 2, 5
TEMPORARY = re.compile(r"\.ramline-|\.tmp\b|\.partial\b")
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@dataclass
class Case:
    """One option, one place, one user."""

    option: object
    uid: int
    folder: Path
    undo: contextlib.ExitStack
    # What is given on the command line.
    path: str = ""
    # Which file, or directory, is to be there afterwards.
    target: Path | None = None
    # Gives what arrived at a place that is no file.
    arrived: object = None
    # What is asked while it runs, and afterwards; gives problems.
    watch: object = None
    # Bytes a file may have.
    limit: int | None = None
    closed: tuple = ()
    stdout: object = subprocess.PIPE
    pass_fds: tuple = ()
    times: int = 1
    # A refusal comes within so many seconds.
    within: float = 1.5
    # How the box, and the file that is to be replaced, were before.
    before: dict = field(default_factory=dict)
    kept: tuple | None = None

    @property
    def box(self):
        return self.folder / "box"

    def own(self, path, uid=None, gid=None):
        uid = self.uid if uid is None else uid
        if os.geteuid() == 0:
            os.chown(path, uid, uid if gid is None else gid, **({} if isinstance(path, int) else {"follow_symlinks": False}))
        return path

    def dir(self, name, mode=0o755, uid=None):
        path = self.box / name
        path.mkdir()
        self.own(path, uid)
        path.chmod(mode)
        return path

    def file(self, name, data=None, mode=0o644, uid=None):
        """A file with an old document in it."""
        path = self.box / name
        path.write_bytes(self.option.old if data is None else data)
        self.own(path, uid)
        path.chmod(mode)
        return path

    def link(self, name, to, uid=None):
        os.symlink(to, self.box / name)
        return self.own(self.box / name, uid)


def look(folder, leave_out=None):
    """All that is below a folder: what each is, whose, and what is in it."""
    seen = {}
    for place, dirs, files in os.walk(folder):
        for name in dirs + files:
            path = Path(place, name)
            if leave_out and (path == leave_out or leave_out in path.parents):
                continue
            at = path.lstat()
            inside = ""
            if stat.S_ISLNK(at.st_mode):
                inside = os.readlink(path)
            elif stat.S_ISREG(at.st_mode):
                inside = hashlib.sha256(path.read_bytes()).hexdigest()
            seen[str(path.relative_to(folder))] = (oct(at.st_mode), at.st_ino, at.st_uid, at.st_gid, at.st_rdev, inside)
    return seen


def differences(before, now):
    for name in sorted(now.keys() - before.keys()):
        yield f"left beside it: {name!r}"
    for name in sorted(before.keys() - now.keys()):
        yield f"is gone: {name!r}"
    for name in sorted(before.keys() & now.keys()):
        if before[name] != now[name]:
            yield f"changed: {name!r} from {before[name]} to {now[name]}"


# What must hold.


def always(case, done):
    """Holds at every place: no crash, nothing but the target has changed, and no word of how it is done in what is said."""
    if done.returncode is None:
        yield "it did not end"
        return
    if done.returncode < 0:
        yield f"ended by signal {-done.returncode}"
    if "panicked" in done.stderr:
        yield f"panicked: {done.stderr[:200]!r}"
    if found := TEMPORARY.search(done.stderr):
        yield f"names a temporary file ({found[0]}): {done.stderr!r}"
    if found := CONTROL.search(done.stderr):
        yield f"a raw control byte {found[0]!r} in {done.stderr[-300:]!r}"
    yield from differences(case.before, look(case.box, case.target))
    if left := os.listdir(case.folder / "tmp"):
        yield f"left in TMPDIR: {left}"


def said(done):
    """The error, or the end of what was said."""
    text = done.stderr.strip()
    at = text.find("ramline: ")
    return text[at:][:300] if at >= 0 else text[-300:]


def one_error(case, done, *causes, alone=False):
    """One error that names the path, and what to try; alone: and nothing else."""
    lines = done.stderr.splitlines()
    errors = [at for at, line in enumerate(lines) if line.startswith("ramline: ")]
    if len(errors) != 1:
        yield f"{len(errors)} lines begin with 'ramline: ' in {done.stderr[-300:]!r}"
        return
    line, after = lines[errors[0]], lines[errors[0] + 1 :]
    if not after or not after[0].startswith("  try: "):
        yield f"no 'try:' below the error: {said(done)!r}"
    elif alone and len(lines) != 2 and not case.option.progress:
        yield f"more than an error and what to try: {done.stderr!r}"
    # A limit is in the way of a series' own records first.
    records = case.option.progress and case.limit is not None
    plain = not records and case.path.isprintable() and case.path.strip()
    if case.path == "-" and "standard output" not in line:
        yield f"the error does not name standard output: {line!r}"
    elif plain and case.path != "-" and case.path not in line:
        yield f"the error does not name {case.path}: {line!r}"
    if causes and not any(cause in line.lower() for cause in causes):
        yield f"the error does not say the cause ({' or '.join(causes)}): {line!r}"


def refused_with(*codes):
    def check(case, done):
        if done.returncode not in codes:
            yield f"ended with {done.returncode}, not {' or '.join(map(str, codes))}: {said(done)!r}"
        yield from one_error(case, done, alone=True)
        if done.stdout:
            yield f"printed {done.stdout[:80]!r} although refused"
        if any(case.folder.glob("state/lab/*")):
            yield "a series was begun although refused"
        if done.took > case.within:
            yield f"refused only after {done.took:.1f} s"
        if case.target and case.kept is None and case.target.exists():
            yield f"{case.target.name!r} is there although refused"

    return check


refused = refused_with(USAGE)


def ended_well(case, done):
    if done.returncode != DONE:
        yield f"ended with {done.returncode}: {said(done)!r}"


def made(case, done):
    """Where nothing was, the document is."""
    yield from ended_well(case, done)
    if done.returncode == DONE:
        yield from new(case)


def new(case):
    if not case.option.tree and not (case.target.exists() and stat.S_ISREG(case.target.lstat().st_mode)):
        yield f"{case.target.name!r} is no regular file"
    elif not case.option.tree and case.target.read_bytes() == case.option.old:
        yield "the old document is still there"
    elif problem := case.option.whole(case.target):
        yield problem


def replaced(case, done):
    """The file has the new document, and mode and owner of the old one."""
    yield from made(case, done)
    if done.returncode == DONE and case.target.exists():
        at = case.target.lstat()
        now = oct(at.st_mode), at.st_uid, at.st_gid
        if now != case.kept:
            yield f"mode and owner were {case.kept}, are {now}"
    elif not case.target.exists():
        yield "the old file is gone"


def delivered(case, done):
    """All of the document arrived at a place that is no file."""
    yield from ended_well(case, done)
    if done.returncode == DONE:
        data = case.arrived(done)
        document = case.option.extract(data)
        if document is None:
            yield f"no whole document arrived, but {len(data)} bytes: {data[:60]!r}"
        elif problem := case.option.whole_bytes(document, case.folder):
            yield problem


def alone(case, done):
    """And nothing but the document."""
    yield from delivered(case, done)
    if done.returncode == DONE and (document := case.option.extract(done.stdout)) is not None and document.strip() != done.stdout.strip():
        yield f"standard output has more than the document: {done.stdout.strip()[len(document) :][:80]!r}"


def full(case, done):
    if done.returncode != FAILED:
        yield f"ended with {done.returncode}, not {FAILED}"
    yield from one_error(case, done, "space")


def gone_early(case, done):
    if done.returncode not in (DONE, FAILED):
        yield f"ended with {done.returncode}, not with 0 or 1"


def failed(*causes):
    """The old file stays, or no file is there where none was."""

    def check(case, done):
        # What is not as long as the limit need not fail.
        if case.limit is not None and case.option.largest <= case.limit:
            yield from ended_well(case, done)
            return
        if done.returncode <= 0:
            yield f"ended with {done.returncode}"
        yield from one_error(case, done, *causes)
        if case.kept is None and os.path.lexists(case.target):
            yield f"{case.target.name!r} is left there"
        elif case.kept is not None and case.target.read_bytes() != case.option.old:
            yield "the old file is not what it was"

    return check


no_space, too_large = failed("space"), failed("too large", "limit")


def either(*checks):
    """One of these holds."""

    def check(case, done):
        found = [list(each(case, done)) for each in checks]
        if all(found):
            yield " / or: ".join(problems[0] for problems in found)

    return check


def untouched_or_new(case, done):
    """However it ended, the file is whole."""
    if case.target.read_bytes() != case.option.old:
        yield from new(case)
