"""What `sadf -j FILE -- -r ALL -S` prints of a day of sysstat: a row a host and day, the moment at which least memory was available.

The day is that of the file, which begins at midnight where the host is; moments are printed in UTC, and part of them belongs to the day before or after there.

sar does not print how much RAM there is: it is the sum of what it splits it into, and unknown where that does not give the percentage beside it (sysstat has
changed what it calls used; without `ALL` the slab is missing). Of /tmp it knows nothing.

>>> memory = {"memfree": 500, "avail": 700, "memused": 300, "memused-percent": 30.0, "buffers": 50, "cached": 100, "slab": 50, "swpfree": 10, "swpused": 2}
>>> day = {"nodename": "a", "statistics": [{"timestamp": {"date": "2026-11-26", "time": "00:10:01"}, "memory": memory}], "file-date": "2026-11-25"}
>>> [(name, date, (row := values(moments))["ram_kib"], row["swap_total_kib"]) for name, date, moments in days({"sysstat": {"hosts": [day]}})]
[('a', '2026-11-25', 1000, 12)]
>>> total({**memory, "memused": 500, "memused-percent": 50.0}), total({**memory, "memused-percent": 11.0})
(1000, None)
"""

from collections.abc import Iterator
from typing import Any

from .study import Refused

MEMORY = {"free_kib": "memfree", "buffers_kib": "buffers", "cached_kib": "cached", "available_kib": "avail"}


def size(memory: dict[str, Any], name: str) -> Any:
    value = memory.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Refused(f"{name} is not a size")
    return value


def total(memory: dict[str, Any]) -> int | None:
    """RAM: of the sums that a version of sysstat could mean, the one of which the part in use is what it says."""
    used, percent = size(memory, "memused"), memory.get("memused-percent")
    parts = [size(memory, name) for name in ("memfree", "buffers", "cached", "slab")]
    if None in (used, parts[0]) or not isinstance(percent, (int, float)):
        return None
    sums = [used + parts[0]] + ([used + sum(parts)] if None not in parts else [])
    fits = [whole for whole in sums if whole and abs(100 * used / whole - percent) <= 0.0051]
    return fits[0] if len(set(fits)) == 1 else None


def days(document: Any) -> Iterator[tuple[Any, Any, list[Any]]]:
    """Host, day and moments of each host and day of a document."""
    try:
        moments = [(host["nodename"], host["file-date"], moment["memory"]) for host in document["sysstat"]["hosts"] for moment in host["statistics"] if "memory" in moment]
        out: dict[Any, list[Any]] = {}
        for host, day, memory in moments:
            out.setdefault((host, day), []).append(memory)
    except (KeyError, TypeError) as error:
        raise Refused("no output of sadf -j") from error
    if not out:
        raise Refused("it does not say how much memory is free")
    for (host, day), of in sorted(out.items(), key=repr):
        yield host, day, of


def values(moments: list[Any]) -> dict[str, Any]:
    """Of the worst moment of a host and day."""
    known = [memory for memory in moments if size(memory, "memfree") is not None]
    if not known:
        raise Refused("it does not say how much memory is free")
    worst = min(known, key=lambda memory: (size(memory, "avail") if size(memory, "avail") is not None else size(memory, "memfree")))
    out = {"ram_kib": total(worst)} | {column: size(worst, name) for column, name in MEMORY.items()}
    used, free = size(worst, "swpused"), size(worst, "swpfree")
    return out | {"swap_total_kib": None if None in (used, free) else used + free, "swap_used_kib": used, "swap_free_kib": free}
