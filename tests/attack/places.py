"""Every kind of place a document can be sent to: how it is made, what must hold after a run, and how it is undone.

A place is made in the folder of one case (`Case.box`); all that is made there for it is undone by what stands on `Case.undo`. What holds is a function that
gives the problems it finds, none when all is well. It is no runner: tests/attack/outputs makes the cases, runs them and counts.

    Place("a link to a file", link_to_file, replaced, refused)

is: made by `link_to_file`; a document sent there replaces the file it leads to; a tree sent there is refused.
"""

import contextlib
import fcntl
import hashlib
import os
import pty
import re
import socket
import stat
import subprocess
import threading
import time
import tty
from dataclasses import dataclass, field
from pathlib import Path

from harness import Skip
from harness.machine import command, must, until

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


# How places are made. Files.


def here(case, path):
    """This path, and what is to be there."""
    case.path, case.target = str(path), Path(path)


def new_name(case):
    here(case, case.box / "new")


def named(name):
    def make(case):
        here(case, case.box / name)

    return make


def relative(case):
    here(case, case.box / "new")
    case.path = "new"


def file_of(mode, uid=None):
    def make(case):
        here(case, case.file("old", mode=mode, uid=uid))

    return make


def empty_file(case):
    here(case, case.file("old", b""))


def strange_file(case):
    case.path = str(case.file("old", b"#!/bin/sh\necho this is somebody's\n"))


def hard_link(case):
    here(case, case.file("old"))
    os.link(case.target, case.box / "other")


def held_open(case):
    here(case, case.file("old"))
    fd = os.open(case.target, os.O_RDONLY)
    case.undo.callback(os.close, fd)

    def watch():
        if os.pread(fd, 1 << 24, 0) != case.option.old:
            yield "who has the old file open reads something else"

    case.watch = watch


def read_meanwhile(case):
    """A reader that opens and reads all the time sees whole documents only."""
    here(case, case.file("old"))
    case.times = 4
    seen, stop, wrong = set(), threading.Event(), []

    def loop():
        while not stop.is_set():
            try:
                seen.add(case.target.read_bytes())
            except OSError as error:
                wrong.append(f"meanwhile the file could not be read: {error}")
                return

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    case.undo.callback(lambda: (stop.set(), thread.join()))

    def watch():
        stop.set()
        thread.join()
        yield from wrong
        for data in seen:
            if data != case.option.old and (problem := case.option.whole_bytes(data, case.folder)):
                yield f"a reader saw {len(data)} bytes meanwhile: {problem}"

    case.watch = watch


def somebodys(case, name):
    """Somebody's own files, named as a program may name what it writes beside its target: files, a link, a FIFO nobody writes, a directory."""
    for other in (f".{name}.partial", f"{name}.partial", f".{name}.tmp", f"{name}.tmp", f"{name}~", ".ramline-own", f".{name}.ramline-own", f".{name}.ramline-0"):
        case.file(other, b"this is mine\n")
    case.link(f".{name}.ramline-1", f"{name}.tmp")
    os.mkfifo(case.box / f".{name}.ramline-2")
    case.own(case.box / f".{name}.ramline-2")
    case.dir(f".{name}.ramline-3")
    case.file(f".{name}.ramline-3/something", b"this is mine\n")


def file_beside(case):
    here(case, case.file("old"))
    somebodys(case, "old")


def new_beside(case):
    here(case, case.box / "new")
    somebodys(case, "new")


# Links.


def link_to_file(case):
    here(case, case.file("old", mode=0o640))
    case.path = str(case.link("link", str(case.target)))


def relative_link(case):
    case.dir("a"), case.dir("b")
    here(case, case.file("b/old"))
    case.path = str(case.link("a/link", "../b/old"))


def two_links(case):
    case.dir("a"), case.dir("b")
    here(case, case.file("b/old", mode=0o600))
    case.link("a/second", "../b/old")
    case.path = str(case.link("first", "a/second"))


def through_linked_directory(case):
    case.dir("b")
    here(case, case.file("b/old"))
    case.link("a", "b")
    case.path = str(case.box / "a" / "old")


def link_to_directory(case):
    case.dir("directory")
    case.path = str(case.link("link", "directory"))


def dead_link(case):
    case.path = str(case.link("link", "nowhere"))


def link_loop(case):
    case.link("one", "two")
    case.path = str(case.link("two", "one"))


def link_to_null(case):
    node(case, "null", 3)
    case.path = str(case.link("link", "null"))


def sticky(owner, uid):
    """A link in a directory where everybody may make one, to a file of root."""

    def make(case):
        case.dir("sticky", 0o1777, ROOT)
        file = case.file("owned", mode=0o644, uid=ROOT)
        case.path = str(case.link("sticky/link", "../owned", owner))
        if owner == uid:
            case.target = file

    return make


# Names that are refused.


def directory(case):
    case.path = str(case.dir("directory"))


def empty_directory(case):
    case.path = str(case.dir("directory"))
    case.target = Path(case.path) if case.option.tree else None


def full_directory(case):
    case.path = str(case.dir("directory"))
    case.file("directory/something", b"this is mine\n")


def name_of_escapes(case):
    case.path = str(case.dir("red\x1b[31m\nramline: all is well"))
    case.file("red\x1b[31m\nramline: all is well/something", b"this is mine\n")


def no_parent(case):
    case.path = str(case.box / "missing" / "new")


def no_parent_tree(case):
    no_parent(case)
    if case.option.tree:
        case.target = case.box / "missing"


def parent_is_file(case):
    case.file("parent", b"this is mine\n")
    case.path = str(case.box / "parent" / "new")


def long_name(case):
    case.path = str(case.box / ("n" * 256))


def slash_new(case):
    case.path = str(case.box / "new") + "/"


def slash_file(case):
    case.path = str(case.file("old")) + "/"


def empty_name(case):
    case.path = ""


def no_right(mode):
    """A directory its user cannot make a file in."""

    def make(case):
        case.dir("locked")
        if mode == "old":
            case.file("locked/old")
        (case.box / "locked").chmod(0o555)
        case.undo.callback((case.box / "locked").chmod, 0o755)
        case.path = str(case.box / "locked" / mode)

    return make


def directory_of_root(case):
    case.dir("of-root", uid=ROOT)
    case.path = str(case.file("of-root/old"))


def file_of_root(mode):
    def make(case):
        case.path = str(case.file("old", mode=mode, uid=ROOT))

    return make


# Mounts, in the mount name space of the test.


def mount(case, at, *words):
    if not case.option.mounts:
        raise Skip("no mount name space of our own: nothing is mounted")
    must("mount", *words, at)
    case.undo.callback(command, "umount", "-l", at)


def disk(case, size="1m"):
    at = case.dir("disk")
    mount(case, at, "-t", "tmpfs", "-o", f"size={size},mode=755,uid={case.uid},gid={case.uid}", "tmpfs")
    return at


def read_only(name):
    def make(case):
        at = disk(case)
        if name == "old":
            case.file("disk/old")
        # A process that another thread starts has our files open until it runs its own program: while it does, the mount is busy.
        until(lambda: command("mount", "-o", "remount,ro", at).returncode == 0)
        case.path = str(at / name)

    return make


def full_disk(name):
    def make(case):
        at = disk(case, "64k")
        here(case, at / name)
        if name == "old":
            case.file("disk/old")
        with contextlib.suppress(OSError), open(at / "filler", "wb", buffering=0) as out:
            while True:
                out.write(b"x" * 512)

    return make


def mounted_over(case):
    over = case.file("over")
    path = case.file("old")
    mount(case, path, "--bind", over)
    case.path = str(path)


def immutable(case):
    """In memory where that can be, so that a test that is killed leaves nothing nobody can remove."""
    try:
        disk(case)
    except Skip:
        (case.box / "disk").exists() or case.dir("disk")
    path = case.file("disk/old")
    done = subprocess.run(["chattr", "+i", path], capture_output=True, text=True)
    if done.returncode:
        path = case.file("old")
        done = subprocess.run(["chattr", "+i", path], capture_output=True, text=True)
        if done.returncode:
            raise Skip(f"chattr +i: {done.stderr.strip().splitlines()[-1]}")
    case.undo.callback(subprocess.run, ["chattr", "-i", path], capture_output=True)
    case.path = str(path)


# A file-size limit.


def limited(name, blocks):
    def make(case):
        here(case, case.file("old") if name == "old" else case.box / "new")
        case.limit = blocks * 1024

    return make


# Standard output, and what links to it.


def everything(done):
    return done.stdout


def dash(case):
    case.path = "-"
    case.arrived = everything


def pipe_of(case):
    """A pipe that its user may open again, with room for a document; what is in it, and its writing end."""
    reading, writing = os.pipe()
    case.undo.callback(os.close, reading)
    case.undo.callback(os.close, writing)
    case.own(writing)
    os.set_blocking(reading, False)
    fcntl.fcntl(reading, 1031, 1 << 20)

    def arrived(done):
        with contextlib.suppress(BlockingIOError):
            return os.read(reading, 1 << 20)
        return b""

    case.arrived = arrived
    return writing


def dev_stdout(case):
    """Only where /dev is our own: a product that is wrong would replace it."""
    if os.geteuid() == 0 and not case.option.mounts:
        raise Skip("/dev/stdout: no mount name space of our own")
    if not os.path.islink("/dev/stdout"):
        raise Skip("/dev/stdout is no link here")
    case.path, case.stdout = "/dev/stdout", pipe_of(case)
    nodes = sorted(os.listdir("/dev"))

    def watch():
        if not os.path.islink("/dev/stdout"):
            yield "/dev/stdout is no link any more"
            os.unlink("/dev/stdout")
            os.symlink("/proc/self/fd/1", "/dev/stdout")
        if sorted(os.listdir("/dev")) != nodes:
            yield f"other names in /dev: {sorted(set(os.listdir('/dev')) ^ set(nodes))}"

    case.watch = watch


def link_to_stdout(case):
    case.path, case.stdout = str(case.link("link", "/proc/self/fd/1")), pipe_of(case)


def stdout_is_file(case):
    """`> file` and a link to standard output: the document is in the file."""
    path = case.target = case.file("out", b"")
    case.stdout = open(path, "wb")
    case.undo.callback(case.stdout.close)
    case.path = "/proc/self/fd/1"
    case.arrived = lambda done: path.read_bytes()


def substitution(form):
    """As `>(command)` of a shell: a pipe that has a number and no name."""

    def make(case):
        writing = pipe_of(case)
        case.pass_fds = (writing,)
        case.path = form.format(writing)

    return make


def closed(*numbers):
    """Started with these descriptors closed: they must not become the file."""

    def make(case):
        here(case, case.file("old"))
        case.closed = numbers

    return make


# Nodes.


def node(case, name, minor, major=1, kind=stat.S_IFCHR):
    path = case.box / name
    try:
        os.mknod(path, kind | 0o666, os.makedev(major, minor))
        path.chmod(0o666)
        case.own(path)
        os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        raise Skip(f"mknod of a device in {case.box.parent.parent}: {error.strerror}") from None
    case.path = str(path)
    return path


def char(name, minor):
    def make(case):
        node(case, name, minor)

    return make


def block(case):
    """A loop device over a file of 4 MiB. It goes by itself when nobody has it open, even if the test is killed."""
    backing = case.folder / "backing"
    backing.write_bytes(bytes(4 << 20))
    done = subprocess.run(["losetup", "--find", "--show", backing], capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"losetup: {done.stderr.strip()}")
    name = done.stdout.strip()
    at = os.stat(name)
    try:
        path = node(case, "block", os.minor(at.st_rdev), os.major(at.st_rdev), stat.S_IFBLK)
        fd = os.open(path, os.O_RDONLY)
        case.undo.callback(os.close, fd)
    finally:
        subprocess.run(["losetup", "-d", name], capture_output=True)

    def arrived(done):
        os.fsync(fd)
        return backing.read_bytes()

    case.arrived = arrived


def terminal(case):
    try:
        master, slave = pty.openpty()
        name = os.ttyname(slave)
        os.stat(name)
    except OSError as error:
        raise Skip(f"no terminal can be opened: {error}") from None
    case.undo.callback(os.close, master)
    case.undo.callback(os.close, slave)
    tty.setraw(slave)
    case.own(name)
    case.path = name
    collected, stop = bytearray(), threading.Event()
    os.set_blocking(master, False)

    def loop():
        while True:
            last = stop.is_set()
            try:
                collected.extend(os.read(master, 1 << 16))
                continue
            except BlockingIOError:
                if last:
                    return
                time.sleep(0.005)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    case.undo.callback(lambda: (stop.set(), thread.join()))
    before = os.lstat(name)

    def arrived(done):
        time.sleep(0.02)
        stop.set()
        thread.join()
        return bytes(collected)

    def watch():
        now = os.lstat(name)
        if (now.st_mode, now.st_rdev, now.st_ino) != (before.st_mode, before.st_rdev, before.st_ino):
            yield "the terminal's node is not what it was"

    case.arrived, case.watch = arrived, watch


def fifo_of(case, name="fifo"):
    path = case.box / name
    os.mkfifo(path)
    path.chmod(0o600)
    case.own(path)
    case.path = str(path)
    return path


def fifo(case):
    """Somebody reads as `cat` does: to the first end."""
    reader(case, fifo_of(case))


def link_to_fifo(case):
    path = fifo_of(case)
    reader(case, path)
    case.path = str(case.link("link", path.name))


def reader(case, path):
    collected = bytearray()

    def read():
        with open(path, "rb", buffering=0) as source:
            while data := source.read(1 << 16):
                collected.extend(data)

    # The FIFO itself, whatever has its name by then.
    fd = os.open(path, os.O_PATH)
    case.undo.callback(os.close, fd)
    thread = threading.Thread(target=read, daemon=True)
    thread.start()

    def arrived(done):
        release(fd, thread)
        return bytes(collected)

    case.arrived = arrived
    case.undo.callback(release, fd, thread)


def release(fd, thread):
    """A reader that nobody has written to waits for ever."""
    while thread.is_alive():
        # Not before the reader had its chance to see what was written.
        thread.join(0.05)
        with contextlib.suppress(OSError):
            os.close(os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK))


def unread_fifo(case):
    fifo_of(case)
    case.within = 5


def impatient_fifo(case):
    """The reader takes a byte of a pipe that holds less than the document, and goes."""
    path = fifo_of(case)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(fd, 1031, 4096)
    gone = threading.Event()

    def read():
        while not gone.is_set():
            with contextlib.suppress(BlockingIOError):
                if os.read(fd, 1):
                    break
            time.sleep(0.001)
        os.close(fd)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    case.undo.callback(thread.join)
    case.undo.callback(gone.set)


def bound(case):
    """A name of a socket has room for 107 bytes: it is made by a short way."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    case.undo.callback(server.close)
    path = case.box / "socket"
    fd = os.open(case.box, os.O_PATH)
    try:
        server.bind(f"/proc/self/fd/{fd}/socket")
    finally:
        os.close(fd)
    path.chmod(0o666)
    case.own(path)
    case.path = str(path)
    return server


def listening(case):
    server = bound(case)
    server.listen(4)
    server.settimeout(0.02)
    collected, over = bytearray(), threading.Event()

    def serve():
        # Only who comes first: a try-out that is closed again would be the document.
        while True:
            last = over.is_set()
            try:
                client, _ = server.accept()
                break
            except TimeoutError:
                if last:
                    return
        with client:
            client.settimeout(10)
            with contextlib.suppress(OSError):
                while data := client.recv(1 << 16):
                    collected.extend(data)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()

    def arrived(done):
        over.set()
        thread.join()
        return bytes(collected)

    case.arrived = arrived
    case.undo.callback(lambda: (over.set(), thread.join()))


def not_listening(case):
    bound(case)


@dataclass
class Place:
    name: str
    make: object
    # For a document, and for a tree; none: this is not asked.
    holds: object
    tree: object = None
    # Who writes: None is everybody, NOBODY any ordinary user.
    uid: int | None = None
    # Made by root.
    privileged: bool = False
    # What holds for a hot set where that is something else.
    hot_set: object = None


PLACES = [
    # 1. Standard output.
    Place("'-'", dash, alone, refused),
    Place("/dev/stdout", dev_stdout, delivered),
    Place("a link to standard output", link_to_stdout, delivered),
    Place("a link to standard output that is a file", stdout_is_file, delivered),
    Place("a pipe as /dev/fd/N", substitution("/dev/fd/{}"), delivered),
    Place("a pipe as /proc/self/fd/N", substitution("/proc/self/fd/{}"), delivered, refused),
    # 2. What is no file: written through, and the node stays.
    Place("a device that takes everything (null)", char("null", 3), ended_well, refused, privileged=True),
    Place("a device that takes everything (zero)", char("zero", 5), ended_well, privileged=True),
    Place("a device that is full", char("full", 7), full, refused, privileged=True),
    Place("a link to a device", link_to_null, ended_well, refused, privileged=True),
    Place("a block device", block, delivered, refused, privileged=True),
    Place("a terminal", terminal, delivered, refused),
    Place("a FIFO with a reader", fifo, delivered),
    Place("a link to a FIFO with a reader", link_to_fifo, delivered),
    Place("a FIFO nobody reads", unread_fifo, refused, refused),
    Place("a FIFO whose reader goes", impatient_fifo, gone_early),
    Place("a socket with a server", listening, delivered),
    Place("a socket nobody listens on", not_listening, refused, refused),
    # 3. Regular files.
    Place("a new name", new_name, made, made),
    Place("a new name without a folder", relative, made, made),
    Place("a new name that is not UTF-8", named("new-\udcff\udcfe"), made, made),
    Place("a new name of 255 bytes", named("n" * 255), made, made),
    Place("a new name with escapes", named("new\x1b[31m\nx"), made, made),
    Place("a file of mode 0644", file_of(0o644), replaced, refused),
    Place("a file of mode 0600", file_of(0o600), replaced),
    Place("a file of mode 0640", file_of(0o640), replaced),
    Place("a file of mode 0444", file_of(0o444), either(replaced, refused)),
    Place("a file of mode 0600 of user 1234", file_of(0o600, 1234), replaced, uid=ROOT),
    Place("a file of mode 0640 of user 1234", file_of(0o640, 1234), replaced, uid=ROOT),
    Place("a file of mode 0444 of user 1234", file_of(0o444, 1234), replaced, refused, uid=ROOT),
    Place("an empty file", empty_file, replaced, refused, hot_set=refused_with(REFUSED)),
    Place("a file of something else", strange_file, None, refused, hot_set=refused_with(REFUSED)),
    Place("a file with two names", hard_link, replaced),
    Place("a file that somebody has open", held_open, replaced),
    Place("a file that somebody reads meanwhile", read_meanwhile, replaced),
    Place("a file beside somebody's own", file_beside, replaced),
    Place("a new name beside somebody's own", new_beside, made, made),
    # 4. Links to files.
    Place("a link to a file", link_to_file, replaced, refused),
    Place("a relative link to another directory", relative_link, replaced),
    Place("a link to a link to a file", two_links, replaced, refused),
    Place("a file in a linked directory", through_linked_directory, replaced),
    Place("a link of our own in a sticky directory", sticky(ROOT, ROOT), replaced, uid=ROOT),
    # 5. Refused.
    Place("an empty directory", empty_directory, refused, made),
    Place("a directory with something in it", full_directory, refused, refused_with(USAGE, REFUSED)),
    Place("a directory with escapes in its name", name_of_escapes, refused, refused_with(USAGE, REFUSED)),
    Place("a link to a directory", link_to_directory, refused),
    Place("a link that leads nowhere", dead_link, refused, refused),
    Place("a loop of links", link_loop, refused, refused),
    Place("a missing parent", no_parent_tree, refused, either(refused, ended_well)),
    Place("a parent that is a file", parent_is_file, refused, refused),
    Place("a name of 256 bytes", long_name, refused, refused),
    Place("a new name with a slash behind it", slash_new, refused),
    Place("a file with a slash behind it", slash_file, refused, refused),
    Place("the empty name", empty_name, refused, refused),
    Place("a new name on a read-only disk", read_only("new"), refused, refused, privileged=True),
    Place("a file on a read-only disk", read_only("old"), refused, refused, privileged=True),
    Place("a new name in a locked directory", no_right("new"), refused, refused, uid=NOBODY),
    Place("a file in a locked directory", no_right("old"), refused, uid=NOBODY),
    Place("a file in a directory of root", directory_of_root, refused, uid=NOBODY, privileged=True),
    Place("a file of root in a directory of one's own", file_of_root(0o644), refused, uid=NOBODY, privileged=True),
    Place("a file of root that all may write", file_of_root(0o666), refused, uid=NOBODY, privileged=True),
    Place("somebody's link in a sticky directory", sticky(NOBODY, ROOT), refused, uid=ROOT, privileged=True),
    Place("a file that cannot be changed (chattr +i)", immutable, refused, refused, privileged=True),
    Place("a file that is mounted over", mounted_over, refused, refused, privileged=True),
    # 6. No room.
    Place("a new name on a full disk", full_disk("new"), no_space, no_space, privileged=True),
    Place("a file on a full disk", full_disk("old"), no_space, privileged=True),
    *(Place(f"a new name under a limit of {n} KiB", limited("new", n), too_large, too_large) for n in (0, 1, 8)),
    *(Place(f"a file under a limit of {n} KiB", limited("old", n), too_large) for n in (0, 1, 8)),
    # 9. What the caller has closed does not become the file.
    Place("a file, with standard output closed", closed(1), untouched_or_new),
    Place("a file, with 0, 1 and 2 closed", closed(0, 1, 2), untouched_or_new),
]

# Of these a look at the running machine, which takes seconds, is made as well.
LIVE = {"'-'", "a new name", "an empty directory", "a missing parent", "a FIFO nobody reads", "a device that takes everything (null)"}
