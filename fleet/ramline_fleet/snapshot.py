"""What `ramline snapshot` has written of a machine: a file a host and moment.

Of /tmp it knows what a tmpfs holds; of a /tmp on a disk nothing.

>>> seen = lambda data: {"state": "seen", "data": data}
>>> machine = {"host": "a", "taken_unix_ns": 1_000_000_000_000_000_000}
>>> document = {"machine": machine, "meminfo": seen({"mem_total": 2048, "mem_free": 1024}), "swaps": seen([]), "mounts": {"state": "denied"}}
>>> row = values(document)
>>> row["ram_kib"], row["swap_total_kib"], row["tmp_kib"], day(document)
(2, 0, None, '2001-09-09')
"""

import datetime
import time

from .study import Refused

MEMORY = {"mem_total": "ram_kib", "mem_free": "free_kib", "shmem": "shared_kib", "buffers": "buffers_kib", "cached": "cached_kib", "mem_available": "available_kib"}


def kib(value, name):
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Refused(f"{name} is not a size")
    return value >> 10


def section(document, name):
    """What was read of it; None where it could not be."""
    found = document.get(name)
    return found.get("data") if isinstance(found, dict) and found.get("state") == "seen" else None


def day(document):
    """The day in UTC on which it was taken."""
    taken = document.get("machine", {}).get("taken_unix_ns") if isinstance(document, dict) and isinstance(document.get("machine"), dict) else None
    if not isinstance(taken, int):
        raise Refused("no snapshot of ramline, or it does not say when it was taken")
    if taken / 1e9 > time.time() + 86_400:
        raise Refused("it was taken in the future: the clock of that host is wrong")
    return datetime.datetime.fromtimestamp(taken / 1e9, datetime.timezone.utc).date().isoformat()


def values(document):
    """The columns of the host."""
    memory = section(document, "meminfo")
    if not isinstance(memory, dict) or not memory.get("mem_total"):
        raise Refused("says nothing of its RAM")
    out = {column: kib(memory.get(name), name) for name, column in MEMORY.items()}
    if (out["free_kib"] or 0) > out["ram_kib"]:
        raise Refused("more is free than there is")
    areas, mounts = section(document, "swaps"), section(document, "mounts")
    sums = [None if areas is None else sum(kib(area.get(name), name) or 0 for area in areas) for name in ("size", "used")]
    out |= {"swap_total_kib": sums[0], "swap_used_kib": sums[1], "swap_free_kib": None if areas is None else sums[0] - sums[1]}
    tmp = [mount["capacity"] for mount in mounts or [] if mount.get("at") == "/tmp" and mount.get("fs") == "tmpfs" and not mount.get("hidden") and mount.get("capacity")]
    # 0 of 0 is said where there is no limit.
    out["tmp_kib"] = kib(tmp[-1]["size"] - tmp[-1]["free"], "/tmp") if tmp and tmp[-1]["size"] else None
    out["tmp_inodes"] = tmp[-1]["inodes"] - tmp[-1]["inodes_free"] if tmp and tmp[-1]["inodes"] else None
    out["tmp_in_ram"] = None if mounts is None else int(bool(tmp))
    return out
