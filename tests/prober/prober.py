"""A program beside a sandbox: every 10 ms it allocates 1 MiB, touches each of its pages and gives it back. Times go to a file.

    prober.py FILE PARENT     until SIGTERM, or until process PARENT is gone

FILE gets three 64-bit numbers per touch: when it began (CLOCK_MONOTONIC), how late that was, how long allocating and touching took; all ns.
"""

import array
import ctypes
import gc
import mmap
import os
import signal
import sys
import time

SIZE = 1 << 20
EVERY = 10_000_000
PAGES = SIZE // mmap.PAGESIZE


def touch(ones):
    """Takes fresh private memory and writes to each page, in one loop in C; ns."""
    begin = time.monotonic_ns()
    memory = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[::mmap.PAGESIZE] = ones
    took = time.monotonic_ns() - begin
    memory.close()
    return begin, took


def bring_in_its_files():
    """Maps all of its program and libraries now: what DAMON took of them before the test would be waited for within it. What a sandbox takes of them
    is still seen."""
    with open("/proc/self/maps") as maps:
        parts = [line.split() for line in maps if "r" in line.split()[1] and line.split()[-1].startswith("/")]
    for span, *_ in parts:
        begin, end = (int(word, 16) for word in span.split("-"))
        ctypes.CDLL(None).madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), 22)  # MADV_POPULATE_READ


def main():
    path, parent = sys.argv[1], int(sys.argv[2])
    goes_on = True

    def end(*_):
        nonlocal goes_on
        goes_on = False

    signal.signal(signal.SIGTERM, end)
    gc.disable()
    bring_in_its_files()
    ones = b"\1" * PAGES
    found = array.array("Q")
    due = time.monotonic_ns() + EVERY
    while goes_on and os.getppid() == parent:
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        begin, took = touch(ones)
        found.extend((begin, max(0, begin - due), took))
        # One that came too late to keep the beat leaves beats out, it does not catch up.
        due += EVERY * max(1, -(-(begin + took - due) // EVERY))
    with open(path, "wb") as file:
        found.tofile(file)


if __name__ == "__main__":
    main()
