"""What the tests of files in the page cache share: checks, files in a known state, and the kernel asked by calls of our own."""

import ctypes
import json
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

from others import Checks, Others

TOP = Path(__file__).resolve().parent.parent.parent
RAMLINE = os.environ.get("RAMLINE_BIN", str(TOP / "target/debug/ramline"))
PAGE, MIB = os.sysconf("SC_PAGESIZE"), 1 << 20
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

checks = Checks()
check, skip = checks.check, checks.skip


def run(*words, before=(), timeout=60, **more):
    return subprocess.run([*before, RAMLINE, "cache", *map(str, words)], capture_output=True, text=True, timeout=timeout, **more)


def stat(*words, **more):
    done = run("stat", "--json", *words, **more)
    return json.loads(done.stdout), done


def file(path, size, sync=True):
    """A file of random bytes, in the page cache; written to the disk unless it is to stay dirty."""
    with open(path, "wb") as out:
        out.write(os.urandom(size))
        if sync:
            os.fsync(out.fileno())
    return Path(path)


def cached(path):
    """Pages of a file that are resident, by mincore of our own; root is told the truth."""
    size = os.path.getsize(path)
    fd = os.open(path, os.O_RDONLY)
    try:
        at = LIBC.mmap(None, size, 1, 1, fd, 0)
        seen = ctypes.create_string_buffer((size + PAGE - 1) // PAGE)
        assert LIBC.mincore(at, size, seen) == 0
        LIBC.munmap(at, size)
        return sum(byte & 1 for byte in seen.raw)
    finally:
        os.close(fd)


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


def drop(path, offset=0, length=0):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, offset, length, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def read(path, offset=0, length=None):
    """Exactly these pages: without read-ahead."""
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    os.pread(fd, length or os.path.getsize(path), offset)
    os.close(fd)


def agree(what, path):
    """Before, ours, after by calls of the test: at least one of three attempts saw no change."""
    for _ in range(3):
        first = cached(path)
        document, done = stat(path)
        if cached(path) == first:
            break
    check(what, document["total"]["resident"] == first * PAGE and document["total"]["files"] == 1, (first * PAGE, document["total"], done.stderr))
    return document


def mount(*words):
    return subprocess.run(["mount", *map(str, words)], capture_output=True, text=True)


def seccomp(number):
    """A filter under which cachestat fails with that error: BPF on the number of the call."""
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 451), (0x06, 0, 0, 0x00050000 | number), (0x06, 0, 0, 0x7FFF0000)]
    text = b"".join(struct.pack("HBBI", *line) for line in code)

    def install():
        buffer = ctypes.create_string_buffer(text)
        program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer))
        assert LIBC.prctl(38, 1, 0, 0, 0) == 0
        assert LIBC.prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0

    return install


def attempts(base, name, part):
    """Runs `part(folder)`, each time in a folder of its own: again when it failed over pages of files there that DAMON took."""

    def in_folder(attempt):
        for folder in checks.where:
            shutil.rmtree(folder, ignore_errors=True)
        checks.where = [Path(tempfile.mkdtemp(dir=base))]
        # For nobody, too.
        for folder in (base, *checks.where):
            os.chmod(folder, 0o755)
        part(*checks.where)

    checks.steady(name, in_folder)
    checks.where = []


def parts(*functions):
    """Runs them one after the other, in a mount name space of our own, each in a scratch directory; the exit status."""
    if os.geteuid() != 0:
        skip("files in the page cache: needs root, to mount file systems and to be told the truth")
        return checks.end()
    # Mounts of ours are nobody else's.
    if LIBC.unshare(0x00020000) == 0:
        LIBC.mount(None, b"/", None, 0x4000 | 0x40000, None)
    base = Path(tempfile.mkdtemp(prefix="ramline-test-", dir="/var/tmp"))
    checks.others = Others()

    try:
        for part in functions:
            attempts(base, part.__name__, part)
    finally:
        checks.others.end()
        shutil.rmtree(base, ignore_errors=True)
    return checks.end()
