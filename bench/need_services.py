"""Parts of bench/need with services: trials, zram, and a database on a larger host."""

import contextlib
import json
import time
from pathlib import Path

import loads
import services
from harness.areas import zram
from harness.groups import Group
from harness.machine import MIB, drop
from need_parts import MEASURED, device_of, disk, per_operation, ramline, reader, reads, set_limit, stat, used, warm

GUARD = 0.02
SETTLES, HELD = 5, 8
DOWN = 0.96


def waited():
    """Microseconds that some task waited for memory, on the whole machine."""
    line = Path("/proc/pressure/memory").read_text().splitlines()[0]
    return int(line.rsplit("=", 1)[1])


def lost(device, seconds):
    """The share of the time that is lost, by the machine's pressure or by the time that the service's own disk took to read, whichever is more."""
    first, begun = (waited(), reads(device)[1]), time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - begun
    return max((waited() - first[0]) / 1e6 / passed, (reads(device)[1] - first[1]) / 1e3 / passed)


def by_hand(group, device, size):
    """The smallest limit, to 4 %, that costs no more than 2 % of the time when it is held: from the answer down while that holds, and up until it does."""
    base, tried = lost(device, 8), []

    def is_enough(limit):
        set_limit(group, int(limit))
        time.sleep(SETTLES)
        share = lost(device, HELD) - base
        if share > GUARD:
            # What a step pushes out comes back: once more, before it is too small.
            share = lost(device, HELD) - base
        tried.append((int(limit), round(share, 4), stat(group, "total_workingset_refault_anon")))
        return share <= GUARD

    most = used(group)
    found = size if is_enough(size) else None
    while found is None and size < most:
        size *= 1.04
        found = size if is_enough(size) else None
    while tried[0][1] <= GUARD and is_enough(size * DOWN):
        size *= DOWN
        found = size
    return int(found) if found else None, tried


def quantile(values, share):
    values = sorted(values)
    return values[int(len(values) * share)] if values else 0.0


def served(group, at, name):
    return {"redis": services.redis, "memcached": services.memcached, "jvm": services.jvm, "nginx": services.nginx,
            "postgres": lambda group, at: services.postgres(group, at, 30, script=GAUSSIAN)}[name](group, at)


GAUSSIAN = "\\set aid random_gaussian(1, 3000000, 3)\nselect abalance from pgbench_accounts where aid = :aid;\n"


def trial(name):
    """Down from what it has; then by hand."""
    with disk(f"need-{name}", 2048 * MIB) as at, Group(f"need-{name}") as group, zram(1024 * MIB):
        with served(group, at, name) as client:
            time.sleep(10)
            warm(group, 90)
            group.limit(1200 * MIB)
            device, begun = device_of(at), time.monotonic()
            time.sleep(8)
            middle = time.monotonic()
            seen = ramline("need", group.path.name, "--try", "--for", "3min")
            before, during = client.between(begun, middle), client.between(middle, time.monotonic())
            said, tried = seen.get("answer", seen), seen.get("trial", {})
            row = {"name": name, "answer": said.get("size", 0) if isinstance(said, dict) else 0, "said": said, "end": tried.get("end"), "took": tried.get("took", 0) / 1e9,
                   "from": tried.get("before", {}).get("size"), "p99_before": quantile(before, 0.99), "p99_during": quantile(during, 0.99)}
            print(json.dumps(row), flush=True)
            warm(group, 60)
            row["by_hand"], row["tried"] = by_hand(group, device, row["answer"] or used(group))
            print(name, "by hand", row["by_hand"], row["tried"], flush=True)
            group.limit(1200 * MIB)
    return row


def trials(only):
    return [trial(name) for name in ("redis", "jvm", "memcached", "nginx", "postgres") if only in name]


# Beside an anonymous service a reader, and room for its files in MiB.
PAIRS = [
    ("redis, a tenth is hot; zipf", services.redis, {"spread": 0.1}, "zipf", 56),
    ("memcached, a tenth is hot; records", services.memcached, {"spread": 0.1}, "records", 56),
    ("jvm, a tenth is hot; sqlite, mapped", services.jvm, {"spread": 0.1}, "sqlite, mapped", 56),
    ("redis, all is hot; zipf", services.redis, {"spread": 5.0}, "zipf", 56),
    ("jvm, all is hot; two sets", services.jvm, {"spread": 5.0}, "two sets", 56),
    ("memcached, a tenth is hot; loop that fits", services.memcached, {"spread": 0.1}, "loop", 120),
]


def untouched(group, seconds):
    """Anonymous bytes of a group's processes that they do not touch for so long, by accessed bits as /proc/PID/clear_refs and smaps have them."""
    processes = (group.path / "cgroup.procs").read_text().split()
    for pid in processes:
        Path(f"/proc/{pid}/clear_refs").write_text("1")
    time.sleep(seconds)
    cold = 0
    for pid in processes:
        at = {"Anonymous": 0, "Referenced": 0}
        for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
            key = line.split(":")[0]
            if key in at:
                at[key] = int(line.split()[1]) << 10
            # Of a mapping the last of the fields that are read here.
            if key == "Anonymous" and at["Anonymous"]:
                cold += max(0, at["Anonymous"] - at["Referenced"])
    return cold


def pair(name, service, how, load, room):
    """The verdict; then zram is switched on and what is missed is counted again."""
    slug = "".join(letter for letter in name if letter.isalnum())[:20]
    with disk(f"zram-{slug}") as at, disk(f"zramf-{slug}") as files, Group(f"zram-{slug}") as group:
        (group.path / "memory.swappiness").write_text("0")
        make = next(entry[1] for entry in loads.LOADS if entry[0] == load)
        make(files)
        for path in files.iterdir():
            if path.is_file():
                drop(path)
        with service(group, at, **how):
            time.sleep(3)
            # What it read on its way is not needed.
            set_limit(group, stat(group, "total_rss") + room * MIB)
            with reader(group, load, files) as count:
                time.sleep(5)
                warm(group, 90)
                seen = ramline("need", group.path.name, "--zram", "--for", "20s")
                # For as long as it was watched itself.
                cold = untouched(group, (seen.get("zram") or {}).get("time", 10e9) / 1e9)
                device = device_of(files)
                base, present = per_operation(device, count, MEASURED), stat(group, "total_rss")
                with zram(1024 * MIB):
                    (group.path / "memory.swappiness").write_text("60")
                    swapped = 0
                    for _ in range(12):
                        time.sleep(5)
                        before, swapped = swapped, stat(group, "total_swap")
                        if abs(swapped - before) < 2 * MIB:
                            break
                    time.sleep(5)
                    after, swapped = per_operation(device, count, MEASURED), present - stat(group, "total_rss")
                    # Room for what comes back.
                    group.limit(4096 * MIB)
        worth = seen.get("zram") or {}
        row = {"name": name, "verdict": worth.get("verdict", seen.get("error")), "cold": worth.get("cold", 0), "untouched": cold, "present": worth.get("present", 0), "left": worth.get("left"),
               "swapped": swapped, "base": base, "after": after, "measured": after / base if base else None, "answer": seen.get("answer")}
        print(json.dumps(row), flush=True)
        return row


def zrams(only):
    return [pair(*one) for one in PAIRS if only in one[0]]


def database(only):
    """A database of 1,05 GB: what a host of half its size says of a whole one."""
    del only
    rows = []
    with disk("need-database", 4096 * MIB) as at, Group("need-database", 2048 * MIB) as group, contextlib.ExitStack() as back:
        log = back.enter_context(services.postgres(group, at, 70))
        device = device_of(at)
        begun = time.monotonic()
        time.sleep(20)
        set_limit(group, 512 * MIB)
        time.sleep(20)
        warm(group, 60)
        small = [transactions(group, log, device) for _ in range(2)]
        set_limit(group, 1024 * MIB)
        time.sleep(60)
        warm(group, 120)
        large = [transactions(group, log, device) for _ in range(2)]
        print(json.dumps([small, large, time.monotonic() - begun]), flush=True)
        left = {what: sum(one[what] for one in large) / sum(one[what] for one in small) for what in ("misses", "requests")}
        rows.append({"name": "PostgreSQL, 1.05 GB, look-ups all alike; 512 MiB and 1 GiB", "said": [one["said"] for one in small], "left": left, "small": small, "large": large})
    return rows


def transactions(group, log, device):
    """What `need` says, and of the same time misses and requests of the disk for each transaction."""
    first, begun = reads(device)[0], time.monotonic()
    seen = ramline("need", group.path.name)
    last, ended = reads(device)[0], time.monotonic()
    time.sleep(0.5)
    each, curve, steps = len(log.between(begun, ended)) / (ended - begun), seen.get("curve") or {}, seen.get("steps") or [{}]
    said = {"need": (seen.get("answer") or {}).get("size"), "left": steps[-1].get("left"), "at_most": steps[-1].get("at_most"), "reads_ahead": seen.get("reads_ahead"), "watched": curve.get("watched")}
    return {"said": said, "misses": curve.get("misses", 0) / (curve.get("watched", 1) / 1e9) / each, "requests": (last - first) / (ended - begun) / each}
