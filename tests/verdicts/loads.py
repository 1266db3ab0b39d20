"""What healthy machines do: each a load that runs while its block does."""

import contextlib
import mmap
import os
import random
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

from harness import TOP, Skip
from harness.areas import zram
from harness.groups import Group
from harness.machine import GIB, MIB, beside, tmpfs
from makers import each, fill, read, scratch, shell, swapped_out

TEXT = b"The quick brown fox jumps over the lazy dog, again and again, line after line.\n"


@contextlib.contextmanager
def idle():
    yield


@contextlib.contextmanager
def compile_():
    """rustc, on both processors, over a source of a few thousand functions."""
    if shutil.which("rustc") is None:
        raise Skip("needs rustc")
    lines = [f"pub fn f{i}(x: u64) -> Vec<String> {{ (0..x).map(|n| format!(\"{{}} {{}}\", n * {i}, x)).filter(|s| s.len() > {i % 7}).collect() }}" for i in range(1500)]
    with scratch() as folder:
        (folder / "a.rs").write_text("\n".join(lines))
        with beside(shell("rustc -O --crate-type lib -o $AT/a.rlib $AT/a.rs & rustc --crate-type lib -o $AT/b.rlib $AT/a.rs; wait", AT=folder)):
            yield


@contextlib.contextmanager
def tar_of_a_tree():
    with beside(shell("tar cf - /usr/lib /usr/share 2>/dev/null | cat >/dev/null")):
        yield


@contextlib.contextmanager
def read_cold():
    with scratch() as folder:
        fill(folder / "file", 4 * GIB)
        with beside(each(lambda: read(folder / "file", evict=True))):
            yield


@contextlib.contextmanager
def written():
    with scratch() as folder:
        with beside(shell("dd if=/dev/zero of=$AT/file bs=1M count=4096; rm $AT/file", AT=folder)):
            yield


@contextlib.contextmanager
def pgbench():
    tools = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not tools:
        raise Skip("needs PostgreSQL")
    with scratch() as folder:
        data = folder / "data"
        data.mkdir()
        for path in (folder, data):
            shutil.chown(path, "postgres", "postgres")
        run = lambda *words: subprocess.run(["runuser", "-u", "postgres", "--", *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=folder)
        tool = lambda name: tools[-1] / name
        run(tool("initdb"), "-D", data, "-N")
        run(tool("pg_ctl"), "-D", data, "-w", "-l", folder / "log", "-o", f"-k {folder} -c listen_addresses=", "start")
        try:
            run(tool("pgbench"), "-h", folder, "-i", "-q", "-s", "20", "postgres")
            with beside(shell(f"exec runuser -u postgres -- {tool('pgbench')} -h $AT -c 4 -j 2 -T 600 postgres", AT=folder)):
                yield
        finally:
            run(tool("pg_ctl"), "-D", data, "-m", "immediate", "stop")


@contextlib.contextmanager
def groups_made():
    group = Group("made", 64 * MIB)

    def step():
        with group:
            if (pid := os.fork()) == 0:
                group.enter()
                bytearray(8 * MIB)
                os._exit(0)
            os.waitpid(pid, 0)

    try:
        with beside(each(step)):
            yield
    finally:
        # The one that was there when the load was ended.
        group.remove()


@contextlib.contextmanager
def batch_at_limit():
    """It reads past a limit of 128 MiB what it never reads again."""
    with Group("batch", 128 * MIB) as group:

        def work(tell):
            group.enter()
            shell("tar cf - /usr/lib /usr/share 2>/dev/null | cat >/dev/null")(tell)

        with beside(work):
            time.sleep(3)
            yield


@contextlib.contextmanager
def guest_boots():
    if shutil.which("qemu-system-x86_64") is None:
        raise Skip("needs QEMU")
    with scratch() as folder:
        (folder / "script").write_text("true\n")
        with beside(shell("vm/bare 6.12 --script $AT/script --mem 1G", AT=folder)):
            yield


@contextlib.contextmanager
def evicted_by_age():
    """Files of 2 GiB, evicted by MADV_PAGEOUT as DAMON's schemes evict, and read again, in turns."""
    with scratch() as folder:
        paths = [folder / str(number) for number in range(16)]
        for path in paths:
            fill(path, 128 * MIB)

        def step():
            for path in paths:
                read(path)
            for path in paths:
                with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as view:
                    view.madvise(22)  # MADV_POPULATE_READ
                    view.madvise(mmap.MADV_PAGEOUT if hasattr(mmap, "MADV_PAGEOUT") else 21)

        with beside(each(step)):
            time.sleep(4)
            yield


@contextlib.contextmanager
def evicted_by_damon():
    """As above, by this machine's own DAMON scheme, where one evicts what is idle for 30 s."""
    admin = Path("/sys/kernel/mm/damon/admin/kdamonds")
    if not any(path.read_text().strip() == "on" for path in admin.glob("*/state")):
        raise Skip("no DAMON scheme runs here")
    with scratch() as folder:
        paths = [folder / str(number) for number in range(48)]
        for path in paths:
            fill(path, 64 * MIB)

        def work(tell):
            for path in paths:
                read(path)
            time.sleep(75)
            tell()
            while True:
                for path in paths:
                    read(path)
                    time.sleep(1.2)

        with beside(work):
            yield


@contextlib.contextmanager
def dropped():
    with scratch() as folder:
        fill(folder / "file", GIB)

        def step():
            Path("/proc/sys/vm/drop_caches").write_text("1\n")
            for _ in range(3):
                read(folder / "file")
                time.sleep(0.5)

        with beside(each(step)):
            yield


@contextlib.contextmanager
def fork_storm():
    def step():
        pids = []
        for _ in range(50):
            if (pid := os.fork()) == 0:
                os._exit(0)
            pids.append(pid)
        for pid in pids:
            os.waitpid(pid, 0)

    with beside(each(step, 2)):
        yield


@contextlib.contextmanager
def tmpfs_in_and_out():
    with scratch() as folder, tmpfs(folder / "at", "4G") as at:
        with beside(shell("dd if=/dev/zero of=$AT/file bs=1M count=2048; rm $AT/file", AT=at)):
            yield


@contextlib.contextmanager
def swap_idle():
    with zram(512 * MIB), swapped_out(256 * MIB, 64 * MIB, lambda size: (TEXT * (size // len(TEXT) + 1))[:size]):
        time.sleep(12)
        yield


@contextlib.contextmanager
def sorting():
    with scratch() as folder:
        with beside(shell("seq 1 6000000 | shuf | sort -S 256M -T $AT >/dev/null", AT=folder)):
            yield


@contextlib.contextmanager
def copied_tree():
    with scratch() as folder:
        with beside(shell("cp -a /usr/share $AT/tree; rm -rf $AT/tree", AT=folder)):
            yield


@contextlib.contextmanager
def names_searched():
    with beside(shell("find / -xdev -type f -size +1G >/dev/null")):
        yield


@contextlib.contextmanager
def small_transactions():
    with scratch() as folder:

        def work(tell):
            base = sqlite3.connect(folder / "base")
            base.execute("create table t (a integer primary key, b text)")
            tell()
            while True:
                base.execute("insert into t (b) values (?)", (os.urandom(200).hex(),))
                base.commit()

        with beside(work):
            yield


@contextlib.contextmanager
def sawtooth():
    """2 GiB of process memory, taken and given back."""

    def step():
        area = mmap.mmap(-1, 2 * GIB)
        area.madvise(23)  # MADV_POPULATE_WRITE
        time.sleep(0.3)
        area.close()

    with beside(each(step)):
        yield


@contextlib.contextmanager
def shared_memory():
    def work(tell):
        area = os.memfd_create("verdicts")
        for _ in range(1024):
            os.write(area, bytes(MIB))
        tell()
        while True:
            os.pread(area, MIB, random.randrange(1023) * MIB)
            time.sleep(0.01)

    with beside(work):
        yield


@contextlib.contextmanager
def mapped_at_random():
    """A file of 1 GiB, read by single pages through a mapping; all of it fits."""
    with scratch() as folder:
        fill(folder / "file", GIB)

        def work(tell):
            with open(folder / "file", "rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as view:
                view.madvise(mmap.MADV_RANDOM)
                tell()
                while True:
                    view[random.randrange(GIB)]

        with beside(work):
            yield


@contextlib.contextmanager
def archive_packed():
    with beside(shell(f"tar cf - {TOP / 'crates'} /usr/share/doc 2>/dev/null | xz -T2 -6 >/dev/null")):
        yield


@contextlib.contextmanager
def small_files():
    with scratch() as folder:

        def step():
            for number in range(5000):
                (folder / str(number)).write_bytes(b"x" * 2000)
            for number in range(5000):
                (folder / str(number)).unlink()

        with beside(each(step)):
            yield


@contextlib.contextmanager
def streams_in_two_groups():
    """Two groups at their limits at once, each reading what it never reads again."""
    with Group("one", 96 * MIB) as one, Group("two", 192 * MIB) as two:

        def within(group, tree):
            def work(tell):
                group.enter()
                shell(f"tar cf - {tree} 2>/dev/null | cat >/dev/null")(tell)

            return work

        with beside(within(one, "/usr/lib")), beside(within(two, "/usr/share")):
            time.sleep(3)
            yield
