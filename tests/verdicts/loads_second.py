"""Loads of the second list, written when the judgement was made."""

import contextlib
import ctypes
import mmap
import os
import random
import signal
import socket
import subprocess
import time

from harness import RAMLINE, TOP
from harness.groups import Group
from harness.machine import GIB, LIBC, MIB, beside, die_with_parent, image
from makers import each, fill, scratch, shell


@contextlib.contextmanager
def repository_packed():
    with scratch() as folder:
        subprocess.run(["git", "clone", "-q", "--mirror", TOP, folder / "repository"], check=True, stdin=subprocess.DEVNULL)
        with beside(shell("git -C $AT/repository repack -q -a -d -f --threads=2", AT=folder)):
            yield


@contextlib.contextmanager
def many_asleep():
    """300 processes with 2 MiB each that wait."""

    def work(tell):
        for _ in range(300):
            if os.fork() == 0:
                die_with_parent()
                kept = bytearray(2 * MIB)
                kept[::4096] = b"x" * 512
                signal.pause()
        tell()
        signal.pause()

    with beside(work):
        yield


@contextlib.contextmanager
def huge_heap():
    """1.5 GiB in transparent huge pages, given back by MADV_DONTNEED and touched again."""
    size = 3 * GIB // 2

    def work(tell):
        area = mmap.mmap(-1, size)
        area.madvise(mmap.MADV_HUGEPAGE)
        tell()
        while True:
            area.madvise(23)  # MADV_POPULATE_WRITE
            time.sleep(0.2)
            area.madvise(mmap.MADV_DONTNEED)

    with beside(work):
        yield


@contextlib.contextmanager
def interpreters():
    with beside(shell("for n in 1 2 3 4 5 6 7 8; do python3 -c 'import json, sqlite3, email, http.client' & done; wait")):
        yield


@contextlib.contextmanager
def read_directly():
    with scratch() as folder:
        fill(folder / "file", GIB)
        with beside(shell("dd if=$AT/file of=/dev/null bs=1M iflag=direct", AT=folder)):
            yield


@contextlib.contextmanager
def locked():
    def work(tell):
        area = mmap.mmap(-1, GIB)
        address = ctypes.addressof(ctypes.c_char.from_buffer(area))
        if LIBC.mlock(address, GIB) != 0:
            os._exit(1)
        tell()
        signal.pause()

    with beside(work):
        yield


@contextlib.contextmanager
def over_loopback():
    """One process sends to another as fast as it takes it, over a socket."""

    def work(tell):
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            die_with_parent()
            while theirs.recv(1 << 20):
                pass
        tell()
        block = bytes(1 << 20)
        while True:
            ours.sendall(block)

    with beside(work):
        yield


@contextlib.contextmanager
def image_mounted():
    """A tree is copied to an ext4 in an image of 2 GiB, again and again."""
    with scratch() as folder:
        with image(folder / "to", 2 * GIB, "mke2fs", "-q", "-F", "-t", "ext4") as at:
            with beside(shell("cp -a /usr/include /usr/share/doc $AT; sync -f $AT; rm -rf $AT/*", AT=at)):
                yield


@contextlib.contextmanager
def group_nearly_full():
    """90 MiB of process memory in a group that may have 100, not touched."""
    with Group("nearly", 100 * MIB) as group:

        def work(tell):
            group.enter()
            kept = mmap.mmap(-1, 90 * MIB)
            kept.madvise(23)  # MADV_POPULATE_WRITE
            tell()
            signal.pause()

        with beside(work):
            yield


@contextlib.contextmanager
def synced():
    with scratch() as folder:

        def step():
            with open(folder / "file", "wb", buffering=0) as file:
                for _ in range(16):
                    file.write(bytes(256 << 10))
                    os.fsync(file.fileno())

        with beside(each(step, 2)):
            yield


@contextlib.contextmanager
def mapping_written():
    """A mapping of 512 MiB, written at random and synced."""
    with scratch() as folder:
        fill(folder / "file", GIB // 2)

        def work(tell):
            with open(folder / "file", "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
                tell()
                while True:
                    for _ in range(2000):
                        view[random.randrange(GIB // 2)] = 1
                    view.flush()

        with beside(work):
            yield


@contextlib.contextmanager
def evicted_and_warmed():
    """By ramline's own commands."""
    with scratch() as folder:
        fill(folder / "file", GIB)
        with beside(shell("$TOOL cache warm $AT/file; $TOOL cache evict $AT/file", AT=folder, TOOL=RAMLINE)):
            yield
