#!/usr/bin/env python3
"""A process with known anonymous pages: holder.py KIND PAGES; says "ready" and waits for the end of its input.
`contents` gives the same as bytes, for a guest or a device.

Kinds: text (words of English by chance), random, zeros, word (one repeated word), mix (all of them and half-empty pages, as heaps have), marker (each
page holds the marker and noise beside it), sparse (PAGES pages of text in a range of 2 TiB)."""

import ctypes
import mmap
import random
import sys

PAGE = mmap.PAGESIZE
WORDS = [b"memory", b"page", b"swap", b"kernel", b"reclaim", b"the", b"of", b"and", b"a", b"process", b"anonymous", b"file", b"cache", b"latency",
         b"compressed", b"device", b"in", b"is", b"was", b"written", b"\n", b"0x7f", b"error:", b"zram"]


def text(source):
    out = bytearray()
    while len(out) < PAGE:
        out += source.choice(WORDS) + b" " + (b"%d " % source.randrange(10**6) if source.random() < 0.2 else b"")
    return bytes(out[:PAGE])


def heap(source):
    """Pointers that share their upper bytes, small numbers, and what was never used."""
    used = source.randrange(PAGE // 16)
    out = b"".join(source.choice((0x7F3A12000000 + source.randrange(1 << 22), source.randrange(256), 0)).to_bytes(8, "little") for _ in range(used * 2))
    return out.ljust(PAGE, b"\0")[:PAGE]


def one(kind, number, source, marker):
    match kind:
        case "text":
            return text(source)
        case "random":
            return source.randbytes(PAGE)
        case "zeros":
            return bytes(PAGE)
        case "word":
            return (number * 2654435761 | 1).to_bytes(8, "little") * (PAGE // 8)
        case "marker":
            return (marker + b" " + source.randbytes(64).hex().encode() + b"\n").ljust(PAGE, text(source)[:1])
        case "mix":
            return one(("text", "heap", "heap", "random", "zeros", "word")[number % 6], number, source, marker)
        case _:
            return heap(source)


def contents(kind, count):
    """The pages of a kind, one after the other."""
    source = random.Random(7)
    return b"".join(one(kind, number, source, b"") for number in range(count))


def main():
    kind, pages = sys.argv[1], int(sys.argv[2])
    marker = sys.stdin.buffer.readline().strip() if kind == "marker" else b""
    source = random.Random(7)
    # Of a sparse range nothing is promised (MAP_NORESERVE).
    gap = (1 << 41) // pages // PAGE if kind == "sparse" else 1
    held = mmap.mmap(-1, pages * PAGE * gap, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (0x4000 if kind == "sparse" else 0))
    # Small pages, and each of its own.
    ctypes.CDLL(None).madvise(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(held))), ctypes.c_size_t(len(held)), 15)
    for number in range(pages):
        held[number * gap * PAGE:(number * gap + 1) * PAGE] = one("text" if kind == "sparse" else kind, number, source, marker)
    print("ready", flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
