"""The series of bench/accuracy: each a load with its limit, under several settings; and those that are run in guests. Data, not code.

`seen` are settings that were looked at while the simulator was written or a constant of it found; they do not count. Of guests: those whose errors led to a rule (statistics that
6.1 sums up in each reclaim, holes in a zram's pool, a fault that maps what is around it twice, idle pages of the program itself, when a reader sums up statistics), on every kernel. Of this machine's server: those that showed that a disk's pace decides what is swapped; of its shared data those that were traced or held count by count; they led to three rules more (writes that are kept back, pages that wait once written, what the program needs for a report).
"""

SETTINGS = "no-swap,swap:1,swap:60,swap:100,swap:180,zram:lz4:60,zram:lz4:180"
# Without swap these are killed while they fill their memory.
SWAPPED = "swap:1,swap:60,swap:100,swap:180,zram:lz4:60,zram:lz4:180"
# Nothing of these can be swapped, so that swap settings say nothing.
FILES = "no-swap,swap:60"

SERIES = {
    "zipf-read": {"load": "zipf-read", "size": "64MiB", "rounds": "4", "arms": FILES, "read-ahead": "128KiB,8MiB"},
    "zipf-mmap": {"load": "zipf-mmap", "size": "64MiB", "rounds": "4", "arms": FILES, "read-ahead": "128KiB,8MiB"},
    "scan-read": {"load": "scan-read", "size": "64MiB", "rounds": "4", "arms": FILES, "read-ahead": "128KiB"},
    "scan-mmap": {"load": "scan-mmap", "size": "64MiB", "rounds": "4", "arms": FILES, "read-ahead": "128KiB"},
    "heap": {"load": "heap", "size": "64MiB", "rounds": "4", "arms": SWAPPED},
    "heap of random data": {"load": "heap", "size": "64MiB", "rounds": "4", "arms": SWAPPED, "fill": "random"},
    "heap-shared": {"load": "heap-shared", "size": "64MiB", "rounds": "4", "arms": SWAPPED},
    "server": {"load": "server", "size": "64MiB", "rounds": "4", "arms": SETTINGS, "seen": "swap:1,swap:180,zram:lz4:180"},
    "server, less room": {"load": "server", "size": "64MiB", "rounds": "4", "limit": "40MiB", "arms": SETTINGS},
    "phases": {"load": "phases", "size": "64MiB", "rounds": "4", "arms": SETTINGS},
    "chase": {"load": "chase", "size": "64MiB", "rounds": "4", "arms": "swap:60,swap:180,zram:lz4:60,zram:lz4:180"},
    "code-plus-data, zeros": {"experiment": "code-plus-data", "unit": "8MiB", "rounds": "4", "fill": "zeros", "arms": SETTINGS, "seed": "31"},
    "code-plus-data, random": {"experiment": "code-plus-data", "unit": "8MiB", "rounds": "4", "fill": "random", "arms": SETTINGS, "seed": "31"},
    "code-plus-data, shared": {"experiment": "code-plus-data", "unit": "8MiB", "rounds": "4", "arms": SETTINGS, "shared": "true", "seed": "31", "seen": "swap:60,swap:180,zram:lz4:180"},
}

# In guests under software emulation (bench/guests.py): a kernel of vm/matrix and its page lists. Smaller loads, since a guest is 20 times slower; a clock that ends none
# of them, since its seconds are those of no machine.
GUESTS = ("6.1 classic", "6.12 classic", "7.3 classic", "6.1 mglru", "6.12 mglru", "7.3 mglru")
GUEST_SETTINGS = "no-swap,swap:1,swap:60,swap:180,zram:lz4:60"
GUEST_SWAPPED = "swap:1,swap:60,swap:180,zram:lz4:60"
GUEST_CLOCK = {"timeout": "10min"}

GUEST_SERIES = {
    "server": {"load": "server", "size": "24MiB", "rounds": "3", "arms": GUEST_SETTINGS, "seen": GUEST_SETTINGS, **GUEST_CLOCK},
    "zipf-mmap": {"load": "zipf-mmap", "size": "24MiB", "rounds": "3", "arms": "no-swap", "seen": "no-swap", **GUEST_CLOCK},
    "code-plus-data, random": {"experiment": "code-plus-data", "unit": "2MiB", "rounds": "3", "fill": "random", "arms": GUEST_SETTINGS, "seed": "31", **GUEST_CLOCK},
    "heap": {"load": "heap", "size": "24MiB", "rounds": "3", "arms": GUEST_SWAPPED, "seen": "zram:lz4:60", **GUEST_CLOCK},
    "phases": {"load": "phases", "size": "24MiB", "rounds": "3", "arms": GUEST_SETTINGS, "seen": GUEST_SETTINGS, **GUEST_CLOCK},
    "code-plus-data, zeros": {"experiment": "code-plus-data", "unit": "2MiB", "rounds": "3", "fill": "zeros", "arms": GUEST_SETTINGS, "seed": "31", **GUEST_CLOCK},
    "zipf-read": {"load": "zipf-read", "size": "24MiB", "rounds": "3", "arms": "no-swap", **GUEST_CLOCK},
}
