"""What a row is: a host on a day; beside it, of the hosts that sent them, a row a setting and a row a finding of that day.

A reader takes rows of its own version and of older ones; what an older one has not is NULL. Version 2 (ramline 0.2.1) has uptime and kind of machine, and no buckets.
"""

from typing import Any

import pyarrow as pa

from .study import Refused

VERSION = 2

# Name and what it is. KiB, but for what counts something.
MEASURED = {
    "ram_kib": "MemTotal",
    "used_kib": "what free calls used",
    "free_kib": "what free calls free",
    "shared_kib": "what free calls shared: tmpfs and shared memory",
    "buffers_kib": "buffers, of the old layout of free alone",
    "cached_kib": "page cache; buffers included in the new layout of free",
    "available_kib": "MemAvailable, of the new layout of free alone",
    "swap_total_kib": "swap areas, 0 where there are none",
    "swap_used_kib": "of these in use",
    "swap_free_kib": "of these free",
    "tmp_kib": "files in /tmp",
    "tmp_inodes": "inodes of /tmp in use",
    "tmp_in_ram": "1 where /tmp is a tmpfs already, 0 where it is not",
    "up_s": "seconds since the host was started",
    "virtual_machine": "1 of a virtual machine, 0 of one without a hypervisor",
}
# Those with a histogram; only some sources know the last.
COUNTED = ("ram_kib", "free_kib", "swap_total_kib", "swap_used_kib", "tmp_kib", "tmp_inodes", "up_s")
# Columns of host_day that version 1 has not.
SINCE_2 = ("up_s", "virtual_machine")
# A bit of `known` for each that the source can tell: NULL with its bit set is a value that was broken, without it one that this source never has.
BITS = {name: 1 << number for number, name in enumerate(MEASURED)}


ARROW = pa.schema(
    [("host", pa.string()), ("machine", pa.string()), ("source", pa.string()), ("synthetic", pa.bool_()), ("known", pa.int64())]
    + [(name, pa.int64()) for name in MEASURED],
    metadata={"ramline_fleet_schema": str(VERSION)},
)
# A row a setting, as text. What is not known has no row.
SETTINGS = pa.schema([("host", pa.string()), ("day", pa.string()), ("name", pa.string()), ("value", pa.string())], metadata=ARROW.metadata)
# A row a host without a finding, which says that it was asked, and a row a finding.
FINDINGS = pa.schema([("host", pa.string()), ("day", pa.string()), ("finding", pa.string()), ("level", pa.string())], metadata=ARROW.metadata)
ROWS, SETTING_ROWS, FINDING_ROWS, MEMORY_ROWS = "host_day", "host_setting", "host_finding", "host_memory"
# What a host did with its memory: counters of a boot as they stood that day, or, without a boot, how much they grew on that day.
OVER_TIME = {
    "uptime_s": "seconds that the counters are of",
    "waited_us": "time in which some task waited for memory (PSI, some)",
    "stalled_us": "time in which all tasks waited for memory (PSI, full)",
    "refault_anon_kib": "anonymous memory that was read back soon after it was swapped out (workingset_refault_anon)",
    "refault_file_kib": "file data that was read again soon after it was dropped (workingset_refault_file)",
    "swap_in_kib": "read from swap",
    "swap_out_kib": "written to swap",
    "kills": "processes that the kernel killed for want of memory (oom_kill)",
    "zram_stored_kib": "what zram holds, before it is compressed",
    "zram_taken_kib": "RAM that zram takes for it",
    "must_stay_kib": "what cannot be dropped: anonymous and shared memory, and the kernel's own that it cannot give back",
    "floor_kib": "free memory below which the kernel begins to reclaim (the sum of the zones' low watermarks)",
}
MEMORY_TYPES = {"source": "VARCHAR(20)", "boot": "VARCHAR(40)"} | dict.fromkeys(OVER_TIME, "BIGINT")
OF_MEMORY = pa.schema([("host", pa.string()), ("day", pa.string()), ("source", pa.string()), ("boot", pa.string())] + [(name, pa.int64()) for name in OVER_TIME], metadata=ARROW.metadata)
# The tables of a store: a folder each.
TABLES = {ROWS: ARROW, SETTING_ROWS: SETTINGS, FINDING_ROWS: FINDINGS, MEMORY_ROWS: OF_MEMORY}


def columns(table: str, version: int) -> list[str]:
    """What stands behind SELECT for rows of a version; what it has not is NULL.

    >>> columns("host_day", 1)[-1], columns("host_day", 2)[-1]
    ('CAST(NULL AS BIGINT) AS virtual_machine', 'virtual_machine')
    """
    return [f"CAST(NULL AS BIGINT) AS {name}" if version < 2 and table == ROWS and name in SINCE_2 else name for name in TABLES[table].names]


def row(host: str, source: str, synthetic: bool, values: dict[str, Any], machine: str | None = None) -> dict[str, Any]:
    """A row as the store has it; `values` are those that the source can tell, None where one was not given; `machine` tells two names of one (`names.key`)."""
    possible(values)
    out: dict[str, Any] = {"host": host, "machine": machine, "source": source, "synthetic": synthetic, "known": sum(BITS[name] for name in values)}
    return out | {name: values.get(name) for name in MEASURED}


def possible(values: dict[str, Any]) -> None:
    """Refuses what no machine has, whichever source says it."""
    ram, tmp, swap = (values.get(name) for name in ("ram_kib", "tmp_kib", "swap_total_kib"))
    if ram is not None and (values.get("available_kib") or 0) > ram:
        raise Refused("more is available than there is")
    if values.get("tmp_in_ram") == 1 and ram is not None and tmp is not None and swap is not None and tmp > ram + swap:
        raise Refused("more lies in the tmpfs at /tmp than there is memory and swap")


def memory_row(host: str, day: str, source: str, boot: str | None, values: dict[str, Any]) -> dict[str, Any]:
    """A row of host_memory."""
    return {"host": host, "day": day, "source": source, "boot": boot} | {name: values.get(name) for name in OVER_TIME}
