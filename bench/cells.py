"""The series of bench/accuracy: each a load with its limit, under several settings; and those that are run in guests. Data, not code.

Seeds or sizes are others than those of the series by which the simulator's rules and constants were found (bench/runs/accuracy-found.json, -2 and -3,
of which costs of a processor were found by the times, -4, by which the times of writes were, -5, by which all costs were found anew, -6, by which folios and what a program's own pages take of a zram were, -7 of guests, by which faults that are tried again and writes of emulated machines were, -8 of guests, by which pages on their way from the disk, folios with MGLRU and holes beside folios were, -9, by which the lab's looks were, -10, by which the two paces of a disk were, and -11, by which the search for them was); those do not count. By code-plus-data of random data with seed 167 the order of those pages was
found, so that series has another seed. `seen` are settings that were looked at while something was changed because of them, in guests by place; they do not count either.
"""

SETTINGS = "no-swap,swap:1,swap:60,swap:100,swap:180,zram:lz4:60,zram:lz4:180"
# Without swap these are killed while they fill their memory.
SWAPPED = "swap:1,swap:60,swap:100,swap:180,zram:lz4:60,zram:lz4:180"
# In a zram random data takes all of the limit, so that its memory is not filled within the lab's patience.
ON_DISK = "swap:1,swap:60,swap:100,swap:180"
# Nothing of these can be swapped, so that swap settings say nothing.
FILES = "no-swap,swap:60"

SERIES = {
    "zipf-read": {"load": "zipf-read", "size": "60MiB", "rounds": "4", "arms": FILES, "read-ahead": "128KiB,8MiB", "seed": "167"},
    "zipf-mmap": {"load": "zipf-mmap", "size": "54MiB", "rounds": "4", "timeout": "10s", "arms": FILES, "read-ahead": "128KiB,8MiB", "seed": "167"},
    "scan-read": {"load": "scan-read", "size": "60MiB", "rounds": "4", "arms": FILES, "read-ahead": "128KiB", "seed": "167"},
    "scan-mmap": {"load": "scan-mmap", "size": "54MiB", "rounds": "4", "arms": FILES, "read-ahead": "128KiB", "seed": "167"},
    "heap": {"load": "heap", "size": "58MiB", "rounds": "4", "arms": SWAPPED, "seed": "167"},
    "heap of random data": {"load": "heap", "size": "58MiB", "rounds": "4", "arms": ON_DISK, "fill": "random", "seed": "167"},
    "heap-shared": {"load": "heap-shared", "size": "58MiB", "rounds": "4", "arms": SWAPPED, "seed": "167"},
    "server": {"load": "server", "size": "58MiB", "rounds": "4", "arms": SETTINGS, "seed": "193"},
    "server, less room": {"load": "server", "size": "58MiB", "rounds": "4", "limit": "37MiB", "arms": SETTINGS, "seed": "193"},
    "phases": {"load": "phases", "size": "58MiB", "rounds": "4", "arms": SETTINGS, "seed": "197"},
    "chase": {"load": "chase", "size": "58MiB", "rounds": "4", "arms": "swap:60,swap:180,zram:lz4:60,zram:lz4:180", "seed": "167"},
    "code-plus-data, zeros": {"experiment": "code-plus-data", "unit": "9MiB", "rounds": "4", "fill": "zeros", "arms": SETTINGS, "seed": "167"},
    "code-plus-data, random": {"experiment": "code-plus-data", "unit": "9MiB", "rounds": "4", "fill": "random", "arms": SETTINGS, "seed": "173"},
    "code-plus-data, two read-aheads": {"experiment": "code-plus-data", "unit": "8MiB", "rounds": "4", "timeout": "15s", "fill": "text", "arms": "no-swap,swap:0,swap:60,swap:140,zram:lz4:60",
                                        "read-ahead": "128KiB,8MiB", "seed": "199"},
    "server, other swappiness": {"load": "server", "size": "58MiB", "rounds": "4", "arms": "swap:0,swap:60,swap:140", "seed": "199"},
    "code-plus-data, shared": {"experiment": "code-plus-data", "unit": "9MiB", "rounds": "4", "arms": SETTINGS, "shared": "true", "seed": "191"},
}

# In guests under software emulation (bench/guests.py): a kernel of vm/matrix and its page lists. Smaller loads, since a guest is 20 times slower; a clock that ends none
# of them, since its seconds are those of no machine.
GUESTS = ("6.1 classic", "6.12 classic", "7.3 classic", "6.1 mglru", "6.12 mglru", "7.3 mglru")
GUEST_SETTINGS = "no-swap,swap:1,swap:60,swap:180,zram:lz4:60"
GUEST_SWAPPED = "swap:1,swap:60,swap:180,zram:lz4:60"
GUEST_CLOCK = {"timeout": "10min"}

GUEST_SERIES = {
    "server": {"load": "server", "size": "18MiB", "rounds": "3", "arms": GUEST_SETTINGS, "seed": "101", **GUEST_CLOCK},
    "zipf-mmap": {"load": "zipf-mmap", "size": "21MiB", "rounds": "2", "arms": "no-swap", "seed": "701", **GUEST_CLOCK},
    "code-plus-data, random": {"experiment": "code-plus-data", "unit": "2MiB", "rounds": "3", "fill": "random", "arms": GUEST_SETTINGS, "seed": "101", **GUEST_CLOCK},
    "heap": {"load": "heap", "size": "21MiB", "rounds": "3", "arms": GUEST_SWAPPED, "seed": "601", **GUEST_CLOCK},
    "phases": {"load": "phases", "size": "18MiB", "rounds": "3", "arms": GUEST_SETTINGS, "seed": "101", **GUEST_CLOCK},
    "code-plus-data, zeros": {"experiment": "code-plus-data", "unit": "2MiB", "rounds": "3", "fill": "zeros", "arms": GUEST_SETTINGS, "seed": "101", **GUEST_CLOCK},
    "zipf-read": {"load": "zipf-read", "size": "23MiB", "rounds": "3", "arms": "no-swap", "seed": "701", **GUEST_CLOCK},
}
