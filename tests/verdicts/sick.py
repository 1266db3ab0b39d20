"""States that the first line must name. What exhausts memory is made in a group or in the guest (tests/vm/guest/verdicts.sh)."""

import contextlib
import mmap
import os
import random
import signal
import time

import provocations
import trees
from harness import Skip
from harness.areas import swap_file, zram
from harness.groups import Group, needs_version_1
from harness.machine import MIB, beside, meminfo, tmpfs, written
from makers import each, fill, own_tmp, scratch, swapped_out
from readings import RATES, State


@contextlib.contextmanager
def zram_full():
    with zram(256 * MIB, limit=32 * MIB), swapped_out(96 * MIB, 40 * MIB, os.urandom):
        yield


@contextlib.contextmanager
def zram_noise():
    with zram(256 * MIB), swapped_out(192 * MIB, 64 * MIB, os.urandom):
        yield


@contextlib.contextmanager
def tmp_by_bytes():
    with own_tmp("size=64M") as (tmp, enter):
        (tmp / "fill").write_bytes(bytes(int(62.1 * MIB)))
        yield enter


@contextlib.contextmanager
def tmp_by_inodes():
    with own_tmp("size=64M,nr_inodes=2000") as (tmp, enter):
        for number in range(1940):
            (tmp / str(number)).touch()
        yield enter


@contextlib.contextmanager
def outranked():
    with zram(128 * MIB, priority=10), swap_file(64 * MIB, priority=20):
        yield


@contextlib.contextmanager
def level():
    with zram(128 * MIB, priority=20), swap_file(64 * MIB, priority=20):
        yield


@contextlib.contextmanager
def huge_pages():
    """Seven per cent of RAM."""
    if meminfo("MemAvailable") < meminfo("MemTotal") // 3:
        raise Skip("less than a third of RAM is available")
    with written("/proc/sys/vm/nr_hugepages", f"{int(meminfo('MemTotal') * 0.07) // (2 * MIB)}\n"):
        yield


@contextlib.contextmanager
def killed_again_and_again():
    """A process that takes more than its group of 96 MiB may have, started again whenever it is killed: more often than every two seconds."""
    with Group("leak", 96 * MIB) as group:

        def work(tell):
            tell()
            while True:
                if (pid := os.fork()) == 0:
                    group.enter()
                    kept = []
                    while True:
                        kept.append(bytearray(b"x") * MIB)
                os.waitpid(pid, 0)

        with beside(work):
            time.sleep(2)
            yield


@contextlib.contextmanager
def group_swaps():
    """160 MiB of process memory touched at random in a group of 96 MiB, with zram swap."""
    with zram(256 * MIB), Group("swaps", 96 * MIB) as group:

        def touch(tell):
            group.enter()
            area = mmap.mmap(-1, 160 * MIB)
            for at in range(0, 160 * MIB, 4096):
                area[at:at + 8] = at.to_bytes(8, "little")
            tell()
            while True:
                area[random.randrange(160 * MIB)] = 1

        def work(tell):
            # Now and then reclaim finds nothing in time, and the kernel kills it.
            while True:
                if (pid := os.fork()) == 0:
                    touch(tell)
                os.waitpid(pid, 0)

        with beside(work):
            time.sleep(2)
            yield


@contextlib.contextmanager
def group_maps():
    """A mapping of 128 MiB read at random in a group of 64 MiB."""
    with scratch() as folder, Group("maps", 64 * MIB) as group:
        fill(folder / "file", 128 * MIB)

        def work(tell):
            group.enter()
            with open(folder / "file", "rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as view:
                tell()
                while True:
                    view[random.randrange(128 * MIB)]

        with beside(work):
            time.sleep(4)
            yield


@contextlib.contextmanager
def kills_off():
    """A process that needs more than the 48 MiB of its group, where the kernel may not kill: it sleeps."""
    needs_version_1()
    with Group("stuck", 48 * MIB) as group:
        (group.path / "memory.oom_control").write_text("1")

        def work(tell):
            group.enter()
            tell()
            kept = []
            while True:
                kept.append(bytearray(b"x") * MIB)

        with beside(work):
            time.sleep(3)
            yield


@contextlib.contextmanager
def dirty_group():
    """A file written again and again in a group of 64 MiB: what it holds must be written before it can be taken."""
    needs_version_1()
    with scratch() as folder, Group("dirty", 64 * MIB) as group:

        def work(tell):
            group.enter()
            block = bytes(MIB)
            with open(folder / "file", "wb", buffering=0) as file:
                tell()
                while True:
                    file.seek(0)
                    for _ in range(512):
                        file.write(block)

        with beside(work):
            time.sleep(3)
            yield


def captured(name):
    """The arguments that read a captured tree instead of this machine."""
    return ("--root", str(trees.directory(name)))


@contextlib.contextmanager
def small_tmpfs():
    with scratch() as folder, tmpfs(folder / "at", "48M") as at:
        (at / "fill").write_bytes(bytes(46 * MIB))
        yield


@contextlib.contextmanager
def leaked_file():
    """6 % of RAM in a deleted file of /dev/shm that a process holds open, last used two hours ago."""
    size = int(meminfo("MemTotal") * 0.06) // MIB * MIB
    if meminfo("MemAvailable") < 4 * size:
        raise Skip("less than a quarter of RAM is available")

    def work(tell):
        path = f"/dev/shm/ramline-verdicts-{os.getpid()}"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.unlink(path)
        for _ in range(size // MIB):
            os.write(file, bytes(MIB))
        then = time.time() - 7200
        os.utime(file, (then, then))
        tell()
        signal.pause()

    with beside(work):
        yield


@contextlib.contextmanager
def in_order_of_making():
    """A swap file and then zram, neither with a priority: the kernel gives the file the higher one."""
    with swap_file(64 * MIB), zram(128 * MIB, priority=None):
        yield


@contextlib.contextmanager
def shared_by_inodes():
    with scratch() as folder, tmpfs(folder / "at", "256M,nr_inodes=500") as at:
        for number in range(490):
            (at / str(number)).touch()
        yield


@contextlib.contextmanager
def group_of_readers():
    """Three processes read a file of 120 MiB at random in a group of 72 MiB."""
    with scratch() as folder, Group("readers", 72 * MIB) as group:
        fill(folder / "file", 120 * MIB)

        def step():
            with open(folder / "file", "rb", buffering=0) as file:
                for _ in range(500):
                    os.pread(file.fileno(), 4096, random.randrange(120 * MIB // 4096) * 4096)

        def work(tell):
            group.enter()
            each(step, 3)(tell)

        with beside(work):
            time.sleep(5)
            yield


@contextlib.contextmanager
def mostly_noise():
    """Noise in zram, and a little text beside it."""
    with zram(512 * MIB), swapped_out(256 * MIB, 64 * MIB, lambda size: os.urandom(size * 3 // 4) + b"text " * (size // 20)):
        yield


GROUP = ("group-at-limit-loses-cache", "group-held-at-limit", "group_at_limit", "no-swap-and-refaults")
SHORT = ("refaulting", "thrashing", "stalling", "no-swap-and-refaults", "process-swap-hot")
SHORT_WORDS = r"memory is short|thrashing|out of memory|read again|waits for its swapped|working set"
SICK = [
    State("working set beyond RAM, no swap", "A guest of 1 GiB, RAM filled, a file mapped and read at random that does not fit.", guest="beyond", sick=True,
          causes=SHORT, words=SHORT_WORDS, shapes=RATES),
    State("working set beyond RAM, swap on disk", "The same guest: a process touches 1.3 times what is available, at random.", guest="beyond_disk", sick=True,
          causes=SHORT, words=SHORT_WORDS, shapes=RATES),
    State("working set beyond RAM, zram", "The same with zram.", guest="beyond_zram", sick=True, causes=SHORT, words=SHORT_WORDS, shapes=RATES),
    State("leak of 50 MiB/s", "In the guest without swap a process leaks, is killed, and starts again.", guest="leak", sick=True,
          causes=SHORT, words=r"out of memory|memory is short|thrashing", shapes=RATES),
    State("writers stalled by dirty limits", "In the guest `dd` to a disk of 1 MiB/s with 64 MiB of unwritten data allowed.", guest="dirty", sick=True,
          causes=("dirty-limits-in-seconds",), words=r"write", shapes=RATES),
    State("zram full", "zram with a `mem_limit` of 32 MiB, reached by a group.", zram_full, sick=True, causes=("zram-limit-fails-writes",),
          words=r"zram\d+ .*limit|writes to zram\d+ failed", quick=True),
    State("zram incompressible", "128 MiB of noise in zram.", zram_noise, sick=True, causes=("zram-incompressible",), words=r"does not compress", quick=True),
    State("/tmp at 97 % by bytes", "A tmpfs of 64 MiB on /tmp, in a name space of mounts.", tmp_by_bytes, sick=True, causes=("tmp-near-limit",),
          words=r"/tmp .*97 % of its space", quick=True, still=True),
    State("/tmp at 97 % by inodes", "The same with 2,000 inodes.", tmp_by_inodes, sick=True, causes=("tmp-near-limit",),
          words=r"/tmp .*97 % of its inodes", quick=True, still=True),
    State("group thrashing", "A group of 64 MiB reads a file of 96 MiB again and again.", provocations.group_at_limit, sick=True, causes=GROUP, words=r"group",
          shapes=RATES, quick=True),
    State("slab growing", "45 MiB a second of messages that no process takes.", provocations.growing_slab, sick=True, causes=("kernel-memory-growing",), words=r"slab",
          shapes=RATES, fresh=True),
    State("swap outranking zram", "A swap file of a higher priority than zram.", outranked, sick=True, causes=("swap-outranked",),
          words=r"only after the slower swap", quick=True, still=True),
    State("huge pages hogging", "7 % of RAM as huge pages that nothing uses.", huge_pages, sick=True, causes=("huge-pages-unused",),
          words=r"huge pages", quick=True),
    State("group killed again and again", "A process that needs more than the 96 MiB of its group, started again whenever it is killed.", killed_again_and_again, sick=True,
          causes=("group_at_limit",), words=r"killed at the limit of a group|group", shapes=RATES),
    State("group swapping", "160 MiB touched at random in a group of 96 MiB, with zram.", group_swaps, sick=True,
          causes=("group_at_limit", "group-held-at-limit", "process-swap-hot"), words=r"group", shapes=RATES),
    State("group stuck with kills off", "A process that needs more than the 48 MiB of its group (version 1), with oom_kill_disable.", kills_off, sick=True,
          causes=("group_at_limit",), words=r"group .* is out of memory with kills off", quick=True),
    State("group mapping", "A mapping of 128 MiB read at random in a group of 64 MiB.", group_maps, sick=True, causes=GROUP, words=r"group",
          shapes=RATES),
    State("tmpfs nearly full", "A tmpfs of 48 MiB with 46 MiB in it.", small_tmpfs, sick=True, causes=("tmpfs-near-limit",), words=r"tmpfs on .*space",
          quick=True, still=True),
    State("zram level with a disk", "zram and a swap file of one priority.", level, sick=True, causes=("swap-outranked",),
          words=r"shares priority", still=True),
    State("deleted file held open", "6 % of RAM in a deleted file of /dev/shm.", leaked_file, sick=True, causes=("leaked-tmpfs-files",), words=r"delet",
          shapes=("checkup",)),
    State("page tables out of proportion", "260 processes map one shared area.", provocations.page_tables, sick=True,
          causes=("page-tables-out-of-proportion",), words=r"page tables", shapes=("checkup",)),
    State("RAM filled by a tmpfs", "In the guest, without swap, a tmpfs takes all but the last 30 to 70 MiB.", guest="tmpfs_full", sick=True,
          causes=(*SHORT, "nearly_used_up", "low"), words=r"memory is short|memory is low|nearly used up|thrashing|out of memory"),
    # A kernel without quotas on tmpfs cannot make it, and neither this one nor any of Debian's has them: read from a captured tree.
    State("/tmp at 97 % by quota", "A captured tree with a quota of one user on /tmp.", contextlib.nullcontext, sick=True, causes=("tmpfs-quota-near-limit",),
          words=r"quota", shapes=("instant", "checkup"), args=captured("findings/tmpfs-quota-near-limit/fires"),
          quick=True, still=True),
    # What no machine of ours has: a hypervisor that takes memory back, a graphics card.
    State("balloon of the hypervisor", "A captured tree of a VMware guest whose balloon holds 11.4 of 24 GiB.", contextlib.nullcontext, sick=True,
          causes=("memory-without-owner",), words=r"hypervisor .*balloon", shapes=("instant", "checkup"), args=captured("findings/memory-without-owner/fires"),
          quick=True, still=True),
    State("memory of a graphics card", "A captured tree with 17 of 24 GiB in GPUActive.", contextlib.nullcontext, sick=True,
          causes=("memory-without-owner",), words=r"graphics|GPU", shapes=("instant", "checkup"), args=captured("states/graphics"), quick=True, still=True),
    State("slab of a driver", "A captured tree with 14.3 of 24 GiB in objects of kmalloc-64.", contextlib.nullcontext, sick=True,
          causes=("memory-without-owner",), words=r"kernel objects|slab", shapes=("instant", "checkup"), args=captured("states/slab"), quick=True, still=True),
    State("low memory of 32 bits", "A captured tree of Debian 12's 32-bit kernel: kernel objects fill what they may lie in, and 1 GiB of high memory is free.",
          contextlib.nullcontext, sick=True, causes=("memory-without-owner", "low_zone"), words=r"low memory", shapes=("instant", "checkup"),
          args=captured("states/low-memory"), quick=True, still=True),
    State("close to its end", "A captured tree with 622 MiB of 24 GiB available, no swap, and no task that waits.", contextlib.nullcontext, sick=True,
          causes=("low",), words=r"memory is low", shapes=("instant", "checkup"), args=captured("states/close-to-its-end"), quick=True, still=True),
    State("leak of a memfd", "In the guest without swap a process writes 1 MiB/s to a memfd that holds 250 MiB.", guest="memfd", sick=True,
          causes=("running_out", *SHORT), words=r"shared memory|memfd", shapes=("window",)),
    State("leak of eventfds", "In the guest two processes open eventfds and close none: 250,000 each, and 3,500 a second more.", guest="eventfds", sick=True,
          causes=("memory-without-owner", "kernel-memory-growing"), words=r"kernel objects|slab", shapes=("window",)),
    # The second list.
    State("swap in the order of making", "A swap file and then zram, both without a priority.", in_order_of_making, sick=True, second=True,
          causes=("swap-outranked",), words=r"only after the slower swap", still=True),
    State("a tmpfs without inodes", "490 of 500 inodes used.", shared_by_inodes, sick=True, second=True, causes=("tmpfs-near-limit",),
          words=r"inodes", still=True),
    State("a group of readers", "Three processes read 120 MiB at random in a group of 72 MiB.", group_of_readers, sick=True, second=True, causes=GROUP,
          words=r"group", shapes=RATES),
    State("mostly noise in zram", "Three quarters noise, one quarter text.", mostly_noise, sick=True, second=True, causes=("zram-incompressible",),
          words=r"does not compress"),
    State("working set beyond RAM, zram and disk", "In the guest with both, 1.6 times what is available touched at random.", guest="beyond_both", sick=True,
          second=True, causes=SHORT, words=SHORT_WORDS, shapes=RATES),
    State("group frozen at memory.high", "In the guest 120 MiB of process memory in a group that is slowed from 64 MiB on and may not swap.", guest="frozen",
          sick=True, causes=("group_at_limit",), words=r"group .*memory\.high"),
    State("group writing beyond its limit", "A file of 512 MiB written again and again in a group of 64 MiB (version 1).", dirty_group, sick=True, second=True,
          causes=("group_at_limit",), words=r"group .*writes", shapes=RATES),
    State("a group slowed by memory.high", "In the guest 160 MiB touched at random in a group that is slowed from 96 MiB on.", guest="slowed", sick=True, second=True,
          causes=("group_at_limit", "process-swap-hot", "group-at-limit-loses-cache"), words=r"group", shapes=RATES),
]
