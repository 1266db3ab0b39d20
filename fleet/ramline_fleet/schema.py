"""What a row is: a host on a day; beside it, of the hosts that sent them, a row a setting and a row a finding of that day.

Version 1. A reader takes rows of its own version and of older ones; what an older one has not is NULL.
"""

import pyarrow as pa

from .buckets import bucket

VERSION = 1

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
}
# Those with a histogram.
COUNTED = ("ram_kib", "free_kib", "swap_total_kib", "swap_used_kib", "tmp_kib", "tmp_inodes")
# A bit of `known` for each that the source can tell: NULL with its bit set is a value that was broken, without it one that this source never has.
BITS = {name: 1 << number for number, name in enumerate(MEASURED)}


def bucket_of(name):
    """The column with the bucket of another.

    >>> bucket_of("tmp_kib")
    'b_tmp_kib'
    """
    return f"b_{name}"


ARROW = pa.schema(
    [("host", pa.string()), ("machine", pa.string()), ("source", pa.string()), ("synthetic", pa.bool_()), ("known", pa.int64())]
    + [(name, pa.int64()) for name in MEASURED]
    + [(bucket_of(name), pa.int16()) for name in COUNTED],
    metadata={"ramline_fleet_schema": str(VERSION)},
)
# A row a setting, as text. What is not known has no row.
SETTINGS = pa.schema([("host", pa.string()), ("day", pa.string()), ("name", pa.string()), ("value", pa.string())], metadata=ARROW.metadata)
# A row a host without a finding, which says that it was asked, and a row a finding.
FINDINGS = pa.schema([("host", pa.string()), ("day", pa.string()), ("finding", pa.string()), ("level", pa.string())], metadata=ARROW.metadata)
ROWS, SETTING_ROWS, FINDING_ROWS = "host_day", "host_setting", "host_finding"
# The tables of a store: a folder each.
TABLES = {ROWS: ARROW, SETTING_ROWS: SETTINGS, FINDING_ROWS: FINDINGS}


def row(host, source, synthetic, values, machine=None):
    """A row as the store has it; `values` are those that the source can tell, None where one was not given; `machine` tells two names of one."""
    out = {"host": host, "machine": machine, "source": source, "synthetic": synthetic, "known": sum(BITS[name] for name in values)}
    out |= {name: values.get(name) for name in MEASURED}
    return out | {bucket_of(name): None if out[name] is None else bucket(out[name]) for name in COUNTED}
