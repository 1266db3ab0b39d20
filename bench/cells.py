"""The series of bench/accuracy: each a load with its limit, under several settings. Data, not code.

`seen` are settings that were looked at while the simulator was written or a constant of it found; they do not count.
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
    "server": {"load": "server", "size": "64MiB", "rounds": "4", "arms": SETTINGS},
    "server, less room": {"load": "server", "size": "64MiB", "rounds": "4", "limit": "40MiB", "arms": SETTINGS},
    "phases": {"load": "phases", "size": "64MiB", "rounds": "4", "arms": SETTINGS},
    "chase": {"load": "chase", "size": "64MiB", "rounds": "4", "arms": "swap:60,swap:180,zram:lz4:60,zram:lz4:180"},
    "code-plus-data, zeros": {"experiment": "code-plus-data", "unit": "8MiB", "rounds": "4", "fill": "zeros", "arms": SETTINGS, "seed": "31"},
    "code-plus-data, random": {"experiment": "code-plus-data", "unit": "8MiB", "rounds": "4", "fill": "random", "arms": SETTINGS, "seed": "31"},
    "code-plus-data, shared": {"experiment": "code-plus-data", "unit": "8MiB", "rounds": "4", "arms": SETTINGS, "shared": "true", "seed": "31"},
}
