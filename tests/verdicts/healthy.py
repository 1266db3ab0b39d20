"""Loads on which the first line must not alarm. Two lists: the second was written after the judgement, to try it on what it had not seen."""

import contextlib

import loads
import loads_second
import trees
from readings import State

HEALTHY = [
    State("idle", "Nothing but the readings.", loads.idle, quick=True),
    State("compile", "`rustc` on two processors, again and again.", loads.compile_),
    State("tar of a tree", "`tar` of /usr/lib and /usr/share to a pipe.", loads.tar_of_a_tree, quick=True),
    State("4 GiB read cold", "A file of 4 GiB read after it was evicted, in turns.", loads.read_cold),
    State("4 GiB written", "`dd` of 4 GiB to the disk, removed, in turns.", loads.written),
    State("pgbench", "PostgreSQL, `pgbench -s 20` with four clients.", loads.pgbench),
    State("groups made and removed", "A group with a process of 8 MiB, removed, in turns.", loads.groups_made, quick=True),
    State("batch at its limit", "`tar` of a tree in a group of 128 MiB: read once, never again.", loads.batch_at_limit, quick=True),
    State("a guest boots", "QEMU with 1 GiB boots a kernel, in turns.", loads.guest_boots),
    State("read again, evicted by age", "2 GiB read, evicted by MADV_PAGEOUT, read again, in turns.", loads.evicted_by_age),
    State("read again, evicted by DAMON", "3 GiB read, left alone until this machine's DAMON scheme has evicted them, read again.", loads.evicted_by_damon),
    State("drop_caches and read again", "`drop_caches`, then 1 GiB read three times, in turns.", loads.dropped),
    State("fork storm", "Two processes fork 50 at a time without a pause.", loads.fork_storm, quick=True),
    State("2 GiB into tmpfs and out", "`dd` of 2 GiB into a tmpfs of 4 GiB, removed, in turns.", loads.tmpfs_in_and_out, quick=True),
    State("swap in use, idle", "192 MiB of text in zram swap, not touched.", loads.swap_idle),
    State("a guest has booted", "A guest of 1 GiB with systemd, from the first second of its session.", guest="booted"),
    State("growth to 60 % of RAM", "In a guest of 1 GiB a process grows to 60 % of RAM and stays.", guest="grown"),
    State("swap in use, idle, in a guest", "In a guest 96 MiB in zram swap, not touched.", guest="idle_swap"),
    State("sort of a large file", "`sort` of six million lines with temporary files.", loads.sorting),
    State("a tree copied", "`cp -a` of /usr/share, removed, in turns.", loads.copied_tree),
    State("names searched", "`find` over the root file system.", loads.names_searched),
    State("small transactions", "SQLite commits one row after the other.", loads.small_transactions),
    State("2 GiB taken and given back", "Anonymous memory, in turns.", loads.sawtooth, quick=True),
    State("1 GiB of shared memory", "A memfd of 1 GiB read at random.", loads.shared_memory),
    State("a mapping read at random", "1 GiB of file, page by page through a mapping.", loads.mapped_at_random),
    State("an archive packed", "`xz -6` with two threads.", loads.archive_packed),
    State("small files made and removed", "5,000 files of 2,000 bytes, in turns.", loads.small_files),
    State("two batches at their limits", "Two groups at their limits read what they never read again.", loads.streams_in_two_groups),
    State("a tree searched in a guest", "In a guest of 1 GiB `find` and `tar` over all of its disk.", guest="searched"),
    State("most of RAM in the ZFS cache", "A captured tree: 20.5 of 24 GiB are ARC, which is freed when memory is short.", contextlib.nullcontext, shapes=("instant", "checkup"),
          args=("--root", str(trees.directory("states/zfs-cache"))), quick=True, still=True),
    # The second list.
    State("a repository packed", "`git repack -f` with two threads.", loads_second.repository_packed, second=True),
    State("many processes asleep", "300 processes with 2 MiB each.", loads_second.many_asleep, second=True),
    State("a heap of huge pages", "1.5 GiB of transparent huge pages, discarded and touched, in turns.", loads_second.huge_heap, second=True),
    State("interpreters begin and end", "Eight `python3` at once, again and again.", loads_second.interpreters, second=True),
    State("a disk read directly", "1 GiB read with O_DIRECT, in turns.", loads_second.read_directly, second=True),
    State("1 GiB locked", "A process with 1 GiB in mlock.", loads_second.locked, second=True),
    State("bytes over a socket", "One process sends to another without a pause.", loads_second.over_loopback, second=True),
    State("a tree into an image", "Copied to an ext4 on a loop device, removed, in turns.", loads_second.image_mounted, second=True),
    State("a group nearly at its limit", "90 MiB of process memory in a group of 100 MiB.", loads_second.group_nearly_full, second=True),
    State("small files synced", "256 KiB and fsync, two processes.", loads_second.synced, second=True),
    State("a mapping written", "512 MiB of file written at random through a mapping.", loads_second.mapping_written, second=True),
    State("evicted and warmed", "`ramline cache evict` and `cache warm` of 1 GiB, in turns.", loads_second.evicted_and_warmed, second=True),
    State("a tree packed in a guest", "In a guest of 1 GiB `tar` of its disk to gzip and to a file.", guest="packed", second=True),
]
