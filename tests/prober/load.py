"""A load that uses processor and disk and needs no memory: one processor kept busy, and random reads past the page cache.

    load.py FILE SIZE RATE PARENT     reads of SIZE bytes, RATE a second, until process PARENT is gone or SIGTERM comes
"""

import mmap
import os
import random
import sys
import time


def main():
    path, size, rate, parent = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    slots = os.fstat(file).st_size // size
    # Direct reads want an aligned buffer: a mapping is.
    buffer = mmap.mmap(-1, size)
    pick = random.Random(256)
    begin, done = time.monotonic(), 0
    while os.getppid() == parent:
        if done < rate * (time.monotonic() - begin):
            os.preadv(file, [buffer], pick.randrange(slots) * size)
            done += 1


if __name__ == "__main__":
    main()
