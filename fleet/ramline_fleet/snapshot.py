"""What `ramline snapshot` has written of a machine: a file a host and moment. Columns of the host, and its memory settings.

Of /tmp it knows what a tmpfs holds, and of one on a disk what was found there, where it could look into all of it.

>>> seen = lambda data: {"state": "seen", "data": data}
>>> machine = {"host": "a", "taken_unix_ns": 1_000_000_000_000_000_000}
>>> document = {"schema_version": 1, "machine": machine, "meminfo": seen({"mem_total": 2048, "mem_free": 1024}), "swaps": seen([]), "mounts": {"state": "denied"}}
>>> row = values(document)
>>> row["ram_kib"], row["swap_total_kib"], row["tmp_kib"], day(document)
(2, 0, None, '2001-09-09')
>>> settings(document | {"settings": seen({"page_cluster": 3, "swappiness": None}), "lru_gen": {"state": "absent"}})
{'vm.page-cluster': '3', 'lru_gen/enabled': 'not there', 'swap': 'none'}
"""

import datetime
import time
from collections.abc import Iterable
from typing import Any

from . import names
from .study import Refused

VERSION = 1

MEMORY = {"mem_total": "ram_kib", "mem_free": "free_kib", "shmem": "shared_kib", "buffers": "buffers_kib", "cached": "cached_kib", "mem_available": "available_kib"}
# Sections of switches: by the folder that the kernel has them in, those of its files that the section has.
SWITCHES = {"lru_gen": ("lru_gen", ("enabled", "min_ttl_ms")), "zswap": ("zswap", ("enabled", "compressor", "max_pool_percent", "accept_threshold_percent", "shrinker")),
            "thp": ("transparent_hugepage", ("enabled", "defrag", "shmem_enabled", "max_ptes_none"))}


def kib(value: Any, name: str) -> Any:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Refused(f"{name} is not a size")
    return value >> 10


def section(document: Any, name: str) -> Any:
    """What was read of it; None where it could not be."""
    found = document.get(name)
    return found.get("data") if isinstance(found, dict) and found.get("state") == "seen" else None


def host(document: Any, otherwise: str) -> str:
    """Its name, or what it is called where a capture has none."""
    name = document["machine"].get("host")
    if name is not None and not isinstance(name, str):
        raise Refused("the host has no name that can be shown")
    return name or otherwise


def day(document: Any, what: str = "snapshot of ramline", version: int = VERSION) -> str:
    """The day in UTC on which it was taken."""
    machine = document.get("machine") if isinstance(document, dict) else None
    taken = machine.get("taken_unix_ns") if isinstance(machine, dict) else None
    if not isinstance(taken, int) or taken < 0:
        raise Refused(f"no {what}, or it does not say when it was taken")
    if (found := document.get("schema_version")) != version:
        raise Refused(f"its schema_version is {repr(found)[:20]}, and {version} is what this ramline-fleet reads")
    # Whole seconds: a number of any length stays one.
    if taken // 10**9 > time.time() + 86_400:
        raise Refused("it was taken in the future: the clock of that host is wrong")
    return datetime.datetime.fromtimestamp(taken // 10**9, datetime.UTC).date().isoformat()


def values(document: Any) -> dict[str, Any]:
    """The columns of the host."""
    memory = section(document, "meminfo")
    if not isinstance(memory, dict) or not memory.get("mem_total"):
        raise Refused("says nothing of its RAM")
    out: dict[str, Any] = {column: kib(memory.get(name), name) for name, column in MEMORY.items()}
    if (out["free_kib"] or 0) > out["ram_kib"]:
        raise Refused("more is free than there is")
    areas, mounts = section(document, "swaps"), section(document, "mounts")
    sums: list[Any] = [None if areas is None else sum(kib(area.get(name), name) or 0 for area in areas) for name in ("size", "used")]
    out |= {"swap_total_kib": sums[0], "swap_used_kib": sums[1], "swap_free_kib": None if areas is None else sums[0] - sums[1]}
    tmp = [mount["capacity"] for mount in mounts or [] if mount.get("at") == "/tmp" and mount.get("fs") == "tmpfs" and not mount.get("hidden") and mount.get("capacity")]
    # 0 of 0 is said where there is no limit.
    out["tmp_kib"] = kib(tmp[-1]["size"] - tmp[-1]["free"], "/tmp") if tmp and tmp[-1]["size"] else None
    out["tmp_inodes"] = tmp[-1]["inodes"] - tmp[-1]["inodes_free"] if tmp and tmp[-1]["inodes"] else None
    out["tmp_in_ram"] = None if mounts is None else int(bool(tmp))
    found = next((one for one in section(document, "dirs") or [] if one.get("path") == "/tmp"), None)
    if not tmp and found and found.get("complete") and not found.get("refused"):
        out["tmp_kib"], out["tmp_inodes"] = kib(found["allocated"], "/tmp"), found["inodes"]
    return out


def key(document: dict[str, Any]) -> str | None:
    """Which machine it is (`names`): a snapshot knows its boot."""
    boot = document["machine"].get("boot_id")
    return names.key(boot, None) if isinstance(boot, str) else None


# Counters of vmstat, in pages.
PAGES = {"workingset_refault_anon": "refault_anon_kib", "workingset_refault_file": "refault_file_kib", "pswpin": "swap_in_kib", "pswpout": "swap_out_kib"}
# Of meminfo, what no reclaim gets back without swap.
STAYS = ("anon_pages", "shmem", "s_unreclaim", "kernel_stack", "page_tables", "sec_page_tables", "percpu")


def over_time(document: dict[str, Any]) -> dict[str, Any]:
    """What its memory did since its boot, what zram holds, what must stay."""
    machine, memory, counters, pressure, zram, zones = document["machine"], *(section(document, name) for name in ("meminfo", "vmstat", "pressure_memory", "zram", "zoneinfo"))
    page = machine.get("page_size") or 4096
    out: dict[str, Any] = {"uptime_s": whole(machine.get("uptime"), 10**9)}
    out |= {column: whole(value * page, 1024) if (value := number_of(counters, name)) is not None else None for name, column in PAGES.items()}
    out["kills"] = number_of(counters, "oom_kill")
    for column, kind in (("waited_us", "some"), ("stalled_us", "full")):
        out[column] = number_of((pressure or {}).get(kind), "total_us")
    devices = [device["mm"] for device in zram["devices"] if device.get("mm")] if zram is not None else None
    for column, name in (("zram_stored_kib", "orig_data_size"), ("zram_taken_kib", "mem_used_total")):
        out[column] = None if devices is None else sum(kib(device[name], name) or 0 for device in devices)
    known = [value for name in STAYS if (value := number_of(memory, name)) is not None]
    out["must_stay_kib"] = sum(known) >> 10 if number_of(memory, "anon_pages") is not None else None
    out["floor_kib"] = sum(zone["low"] for zone in zones["zones"]) * page >> 10 if zones else None
    return out


def number_of(data: Any, name: str) -> int | None:
    """A whole number of 0 or more; None where there is none."""
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def whole(value: Any, unit: int) -> int | None:
    return value // unit if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def settings(document: Any) -> dict[str, str]:
    """By name, as text: what is not known is left out, what this kernel has not is 'not there'. Some follow the RAM: min_free_kbytes where it is not set, sizes of zram."""
    vm, areas, zram, mounts = (section(document, name) for name in ("settings", "swaps", "zram", "mounts"))
    # What ramline could not read as a number stands in `unknown`.
    out: dict[str, Any] = {f"vm.{'page-cluster' if name == 'page_cluster' else name}": value for name, value in (vm or {}).items() if name != "unknown"}
    for name, (folder, files) in SWITCHES.items():
        found = section(document, name)
        absent = (document.get(name) or {}).get("state") == "absent"
        out |= {f"{folder}/{file}": (found or {}).get(file) for file in files} | ({f"{folder}/enabled": "not there"} if absent else {})
    for one in (section(document, "thp") or {}).get("sizes") or []:
        out[f"transparent_hugepage/hugepages-{one['page'] >> 10}kB/enabled"] = one["enabled"]
    if areas is not None:
        out["swap"] = listed(f"{'zram' if area['path'].startswith('/dev/zram') else area['kind']} priority {area['priority']}" for area in sorted(areas, key=lambda area: -area["priority"]))
    if zram is not None:
        devices = [device for device in zram["devices"] if device["disksize"]]
        out |= {"zram/comp_algorithm": listed(device["algorithm"] or "not known" for device in devices), "zram/disksize": listed(size(device["disksize"]) for device in devices)}
    if mounts is not None:
        # Where no mount is at /tmp it lies on the root.
        at = {mount["at"]: mount["fs"] for mount in mounts if not mount.get("hidden")}
        out["/tmp"] = at.get("/tmp") or at.get("/")
    return {name: text(name, value) for name, value in out.items() if value is not None}


def listed(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"


def size(value: int) -> str:
    """Of whole KiB, in the largest unit that leaves a whole number.

    >>> size(8 << 30), size(506986496)
    ('8 GiB', '495104 KiB')
    """
    kib = value >> 10
    return f"{kib >> 20} GiB" if kib % (1 << 20) == 0 else f"{kib >> 10} MiB" if kib % (1 << 10) == 0 else f"{kib} KiB"


def text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if name == "lru_gen/enabled" and isinstance(value, int):
        return f"0x{value:04x}"
    if not isinstance(value, (str, int)):
        raise Refused(f"{name[:40]!r} is no setting")
    return str(value)
