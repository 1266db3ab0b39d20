"""What the states of the soak are made of: programs that run beside the readings, groups, swap areas, file systems.

Each is a context manager and undoes itself, also on failure; what it starts dies with us. What could exhaust memory runs in a group or a guest.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

import harness
from harness import Skip
from harness.groups import Group
from harness.machine import MIB, beside, die_with_parent, drop, must, noise, own_mounts


def shell(script, **words):
    """Work that repeats a line of shell."""

    def work(tell):
        tell()
        while True:
            subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={**os.environ, **{name: str(value) for name, value in words.items()}}, preexec_fn=die_with_parent, check=False)

    return work


def each(step, count=None):
    """Work that repeats a step of ours; `count` processes at once."""

    def work(tell):
        tell()
        for _ in range((count or 1) - 1):
            if os.fork() == 0:
                die_with_parent()
                break
        while True:
            step()

    return work


def scratch():
    return harness.scratch("verdicts")


def fill(path, size):
    """A file with this many bytes of noise, on the disk and out of the page cache."""
    drop(noise(path, size))


def read(path, evict=False):
    with open(path, "rb", buffering=0) as file:
        if evict:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 20):
            pass


@contextlib.contextmanager
def swapped_out(size, stays, data):
    """A process in a group of its own with `size` bytes made by `data(size)`, squeezed until `stays` are left in RAM."""
    with Group("swapped") as group:

        def work(tell):
            group.enter()
            kept = bytearray(size)
            for at in range(0, size, MIB):
                kept[at:at + MIB] = data(MIB)
            tell()
            signal.pause()

        with beside(work):
            group.squeeze(stays)
            yield group


@contextlib.contextmanager
def own_tmp(options):
    """A name space of mounts in which /tmp is a tmpfs of our own; the words that enter it."""

    def work(tell):
        if own_mounts():
            must("mount", "-t", "tmpfs", "-o", options, "verdicts", "/tmp")
            tell()
            signal.pause()

    if shutil.which("nsenter") is None:
        raise Skip("needs nsenter")
    with beside(work) as pid:
        yield Path(f"/proc/{pid}/root/tmp"), ["nsenter", "-t", str(pid), "-m"]
