#!/usr/bin/env python3
"""Makes the mappings a test asks for, says "ready" and waits."""

import ctypes
import mmap
import os
import signal
import sys
import time

PAGE = mmap.PAGESIZE
MIB = 1 << 20
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.shmat.restype = ctypes.c_void_p
LIBC.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
MAP_HUGETLB = 0x40000
keep = []


def touch(region, size):
    for at in range(0, size, PAGE):
        region[at]


def files(paths):
    for path in paths:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            region = mmap.mmap(file.fileno(), size, mmap.MAP_SHARED, mmap.PROT_READ)
        touch(region, size)
        keep.append(region)


def kinds():
    fd = os.memfd_create("of ramline")
    os.truncate(fd, 3 * MIB)
    for fd, size in ((fd, 3 * MIB),):
        region = mmap.mmap(fd, size)
        region[:] = b"m" * size
        keep.append(region)
    segment = LIBC.shmget(0, ctypes.c_size_t(2 * MIB), 0o1600)
    at = LIBC.shmat(segment, None, 0)
    # It is gone when the last process that has it ends.
    LIBC.shmctl(segment, 0, None)
    ctypes.memset(at, 1, 2 * MIB)
    path = f"/dev/shm/ramline-maps-{os.getpid()}"
    with open(path, "wb+") as file:
        file.truncate(4 * MIB)
        region = mmap.mmap(file.fileno(), 4 * MIB)
    os.unlink(path)
    region[:] = b"t" * 4 * MIB
    shared = mmap.mmap(-1, MIB)
    shared[:] = b"a" * MIB
    code = mmap.mmap(-1, 5 * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code[:] = b"\xc3" * 5 * PAGE
    keep.extend([region, shared, code])
    huge = LIBC.mmap(None, 2 * MIB, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB, -1, 0)
    if huge not in (None, ctypes.c_void_p(-1).value):
        ctypes.memset(huge, 1, 2 * MIB)


def evict(path, size):
    """Maps a file shared, reads its first bytes page by page without read-ahead, changes 4 MiB of them; again when told."""
    with open(path, "rb+") as file:
        region = mmap.mmap(file.fileno(), os.fstat(file.fileno()).st_size)
    region.madvise(mmap.MADV_RANDOM)
    touch(region, size)

    def again(*_):
        touch(region, size)
        print("again", flush=True)

    signal.signal(signal.SIGUSR1, again)
    region[:4 * MIB] = b"d" * 4 * MIB
    keep.append(region)


def many(path, count):
    """Pages of one file in turn readable and not, so that no two ranges merge."""
    fd = os.open(path, os.O_RDONLY)
    here = sum(1 for _ in open("/proc/self/maps", "rb"))
    for n in range(count - here):
        at = LIBC.mmap(None, PAGE, 1, mmap.MAP_PRIVATE, fd, n * 2 % 64 * PAGE)
        if at in (None, ctypes.c_void_p(-1).value):
            break
        ctypes.string_at(at, 1)


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "files":
        files(rest)
    elif what == "kinds":
        kinds()
    elif what == "evict":
        evict(rest[0], int(rest[1]))
    elif what == "many":
        many(rest[0], int(rest[1]))
    print("ready", flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main()
