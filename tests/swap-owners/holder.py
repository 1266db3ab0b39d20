#!/usr/bin/env python3
"""A process with known anonymous pages: holder.py random|text|zeros=MIB ...; says "ready", and then does what each line of its input says.

`out` swaps its pages out (MADV_PAGEOUT), `more` takes 2 MiB more of noise, `check` reads all and compares; each is answered by a line. Pages of text are a few
thousand different ones again and again: zram compresses each alone."""

import mmap
import os
import random
import sys
import zlib

MIB, PAGE = 1 << 20, mmap.PAGESIZE
NO_HUGE_PAGES, PAGEOUT = 15, 21
WORDS = [b"memory", b"page", b"swap", b"kernel", b"reclaim", b"the", b"of", b"and", b"process", b"cache", b"latency", b"device", b"error:", b"\n"]


def text(source):
    out = bytearray()
    while len(out) < PAGE:
        out += source.choice(WORDS) + b" " + (b"%d " % source.randrange(10**6) if source.random() < 0.2 else b"")
    return bytes(out[:PAGE])


def piece(kind, source):
    """One MiB."""
    if kind == "random":
        return os.urandom(MIB)
    return b"".join(text(source) for _ in range(MIB // PAGE)) if kind == "text" else bytes(MIB)


def main():
    wanted = [word.split("=") for word in sys.argv[1:]]
    size = sum(int(mib) for _, mib in wanted)
    held = mmap.mmap(-1, size * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held.madvise(NO_HUGE_PAGES)
    source, sums = random.Random(7), []
    texts = [piece("text", source) for _ in range(16)] if any(kind == "text" for kind, _ in wanted) else []
    for kind in (kind for kind, mib in wanted for _ in range(int(mib))):
        part = texts[len(sums) % len(texts)] if kind == "text" else piece(kind, source)
        held[len(sums) * MIB:(len(sums) + 1) * MIB] = part
        sums.append(zlib.crc32(part))
    more = []
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "out":
            held.madvise(PAGEOUT)
            print("out", flush=True)
        elif line.strip() == "more":
            more.append(os.urandom(2 * MIB))
            print("more", flush=True)
        else:
            same = all(zlib.crc32(held[at * MIB:(at + 1) * MIB]) == known for at, known in enumerate(sums))
            print("same" if same else "different", flush=True)


if __name__ == "__main__":
    main()
