"""How places with a name are made: files, links, directories, mounts, and names that are refused."""

import contextlib
import os
import subprocess
import threading
from pathlib import Path

from harness import Skip
from harness.machine import command, must, until
from holding import ROOT

# Files.


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


def closed(*numbers):
    """Started with these descriptors closed: they must not become the file."""

    def make(case):
        here(case, case.file("old"))
        case.closed = numbers

    return make
