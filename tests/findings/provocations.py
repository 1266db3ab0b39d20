"""Set-ups that provoke a finding: each is made alone and undone, also when it fails and on a signal. Nothing here makes memory short: the one that needs a
limit has a memory cgroup of its own. What a virtual machine can show better is in tests/vm/parts/findings.py.

    with PROVOCATIONS["huge-pages-unused"]():
        ...
"""

import contextlib
import ctypes
import mmap
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from harness import Skip, scratch
from harness.groups import Group
from harness.machine import LIBC, MIB, beside, die_with_parent, drop, meminfo, noise, written


@contextlib.contextmanager
def new_file(path, text):
    """A file that was not there."""
    path = Path(path)
    if path.exists():
        raise Skip(f"{path} exists")
    made = not path.parent.exists()
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    try:
        yield
    finally:
        path.unlink()
        if made:
            path.parent.rmdir()


@contextlib.contextmanager
def huge_pages():
    """Two per cent of RAM, as pages of 2 MiB that nobody asks for."""
    count = meminfo("MemTotal") // 50 // (2 * MIB)
    if int(Path("/proc/sys/vm/nr_hugepages").read_text()):
        raise Skip("there is a pool of huge pages already")
    with written("/proc/sys/vm/nr_hugepages", f"{count}\n"):
        yield


@contextlib.contextmanager
def setting_that_loses():
    """The administrator's file sorts before a package's."""
    now = Path("/proc/sys/vm/swappiness").read_text().strip()
    other = "11" if now != "11" else "12"
    with new_file("/etc/sysctl.d/10-ramline-test.conf", f"vm.swappiness = {other}\n"):
        with new_file("/usr/lib/sysctl.d/98-ramline-test.conf", f"vm.swappiness = {now}\n"):
            yield


@contextlib.contextmanager
def killer():
    """earlyoom, told to wait until 1 MiB is available; the real one only says what it would do. Without it, a script of its name:
    what counts is what runs under that name, and with which arguments."""
    with tempfile.TemporaryDirectory(prefix="ramline-findings-") as folder:
        stand_in = Path(folder) / "earlyoom"
        stand_in.write_text("#!/bin/sh\nexec 9<&0\nread wait <&9\n")
        stand_in.chmod(0o755)
        program = shutil.which("earlyoom") or str(stand_in)
        arguments = [program, "--dryrun", "-M", "1024"]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                time.sleep(0.3)
                yield
            finally:
                process.kill()


@contextlib.contextmanager
def page_tables():
    """Many processes that map one shared area: a fortieth of RAM in page tables for a twentieth of RAM of memory."""
    size = meminfo("MemTotal") // 20 // MIB * MIB
    if meminfo("MemAvailable") < 4 * size:
        raise Skip("less than a fifth of RAM is available")
    if "[always]" in Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled").read_text():
        raise Skip("shared memory comes in huge pages here")
    forks = 260  # each has 1/512 of the area in tables: together half of it, a fortieth of RAM

    def work(tell):
        area = mmap.mmap(-1, size)
        area.madvise(23)  # MADV_POPULATE_WRITE
        ready, told = os.pipe()
        for _ in range(forks):
            if os.fork() == 0:
                die_with_parent()
                area.madvise(22)  # MADV_POPULATE_READ
                os.write(told, b".")
                signal.pause()
        for _ in range(forks):
            os.read(ready, 1)
        tell()
        signal.pause()

    with beside(work):
        yield


@contextlib.contextmanager
def growing_slab():
    """Messages that nobody takes: 45 MiB a second of unreclaimable slab, at most 400 MiB, then gone."""
    queues = []
    limit = int(Path("/proc/sys/kernel/msgmnb").read_text())
    message = ctypes.create_string_buffer(8 + 4000)
    ctypes.c_long.from_buffer(message).value = 1

    def fill(tell):
        tell()
        while True:
            end = time.monotonic() + 0.1
            for queue in queues[fill.at:fill.at + per_tick]:
                for _ in range(limit // 4000):
                    LIBC.msgsnd(queue, message, 4000, 0o4000)  # IPC_NOWAIT
            fill.at += per_tick
            time.sleep(max(0.0, end - time.monotonic()))

    fill.at = 0
    per_tick = max(1, int(4.5 * MIB) // limit)
    try:
        for _ in range(400 * MIB // limit):
            queue = LIBC.msgget(0, 0o600)
            if queue < 0:
                break
            queues.append(queue)
        if len(queues) * limit < 150 * MIB:
            raise Skip("too few message queues may be made here")
        with beside(fill):
            time.sleep(0.5)
            yield
    finally:
        for queue in queues:
            LIBC.msgctl(queue, 0, None)  # IPC_RMID


@contextlib.contextmanager
def leaked_file():
    """A deleted file of 2 % of RAM in /dev/shm, open in a process and last used two hours ago."""
    size = meminfo("MemTotal") // 50 // MIB * MIB

    def work(tell):
        file = os.open("/dev/shm/ramline-test-leak", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.unlink("/dev/shm/ramline-test-leak")
        block = b"x" * MIB
        for _ in range(size // MIB):
            os.write(file, block)
        then = time.time() - 7200
        os.utime(file, (then, then))
        tell()
        signal.pause()

    with beside(work):
        yield


@contextlib.contextmanager
def group_at_limit():
    """A group of 64 MiB that reads a file of 96 MiB again and again, in version 1 or 2 of control groups."""
    with scratch("findings") as folder, Group("findings", 64 * MIB) as group:
        file = noise(folder / "file", 96 * MIB)
        drop(file)

        def work(tell):
            group.enter()
            data = os.open(file, os.O_RDONLY)
            rounds = 0
            while True:
                for at in range(0, 96 * MIB, 128 * 1024):
                    os.pread(data, 128 * 1024, at)
                rounds += 1
                if rounds == 3:
                    tell()

        with beside(work):
            yield


PROVOCATIONS = {
    "huge-pages-unused": huge_pages,
    "sysctl-set-twice": setting_that_loses,
    "killer-cannot-trigger": killer,
    "page-tables-out-of-proportion": page_tables,
    "kernel-memory-growing": growing_slab,
    "leaked-tmpfs-files": leaked_file,
    "group-at-limit-loses-cache": group_at_limit,
}
