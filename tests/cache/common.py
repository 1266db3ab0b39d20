"""What the tests of files in the page cache share: files in a known state, commands of `cache`, and each part in a folder that DAMON is watched in."""

import ctypes
import json
import os
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from harness import check, needs_root, ramline  # noqa: E402
from harness.machine import LIBC, PAGE, cached, own_mounts  # noqa: E402
from harness.steady import Others  # noqa: E402


def cache(*words, **more):
    return ramline("cache", *words, **{"timeout": 60, **more})


def stat(*words, **more):
    done = cache("stat", "--json", *words, **more)
    return json.loads(done.stdout), done


def on_lists(path):
    """Pages of a file that are on the active and on the inactive list: each page's own flags, as the kernel shows them to root."""
    size = os.path.getsize(path)
    pages = (size + PAGE - 1) // PAGE
    with open(path, "rb") as of, open("/proc/self/pagemap", "rb") as map_of, open("/proc/kpageflags", "rb", buffering=0) as flags_of:
        at = LIBC.mmap(None, size, 1, 1, of.fileno(), 0)
        try:
            for page in range(pages):
                ctypes.string_at(at + page * PAGE, 1)
            map_of.seek(at // PAGE * 8)
            frames = [entry & (1 << 55) - 1 for entry in struct.unpack(f"{pages}Q", map_of.read(pages * 8)) if entry >> 63]
            lists, last = [0, 0], 0
            for frame in frames:
                flags = struct.unpack("Q", os.pread(flags_of.fileno(), 8, frame * 8))[0]
                # The flags of a folio may be those of its first page alone (16: a later one).
                last = last if flags >> 16 & 1 else flags
                if last >> 5 & 1:
                    lists[0 if last >> 6 & 1 else 1] += 1
            return lists
        finally:
            LIBC.munmap(at, size)


def read(path, offset=0, length=None):
    """Exactly these pages: without read-ahead."""
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    os.pread(fd, length or os.path.getsize(path), offset)
    os.close(fd)


def agree(what, path):
    """Before, ours, after by calls of the test: waits, three looks at most, for one during which the kernel's own count did not change."""
    for _ in range(3):
        first = cached(path)
        document, done = stat(path)
        if cached(path) == first:
            break
    check(what, document["total"]["resident"] == first * PAGE and document["total"]["files"] == 1, (first * PAGE, document["total"], done.stderr))
    return document


def parts(*functions):
    """One after the other, in a mount name space of our own, each in a folder of its own."""
    needs_root()
    own_mounts()
    with Others("cache") as others:
        for function in functions:
            others.steady(function.__name__, function)
