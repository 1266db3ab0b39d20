"""Made-up fleets. They say that they are: the first line of a file, and `synthetic` in each row of a store.
"""

import datetime
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import schema, study
from .schema import ROWS
from .store import Ingest, hashed, parts_of
from .window import Window
from .words import Failure

GB, MB = 1_000_000, 1_000
HOSTS = 502


def spread(rng: random.Random, count: int, low: int, high: int) -> list[int]:
    """So many different values from low to just below high."""
    return [rng.randrange(low, high) for _ in range(count)]


def filled(rng: random.Random, values: list[Any], total: int, around: int) -> list[int]:
    """Those that are None get values around their mean, in pairs as far above as below it, so that all add up to the total."""
    free = sum(1 for value in values if value is None)
    each, rest = divmod(total - sum(value for value in values if value is not None), free)
    offsets = [offset for _ in range(free // 2) for far in [rng.randrange(1, around)] for offset in (far, -far)] + [0] * (free % 2)
    gaps = iter(offset + each + (1 if number < rest else 0) for number, offset in enumerate(offsets))
    return [next(gaps) if value is None else value for value in values]


def published() -> str:
    """The study's file, old layout of free: 502 hosts with every figure that the article of January 2016 prints, and no other likeness to the hosts it was about."""
    rng = random.Random(HOSTS)
    ram: list[Any] = [1 * GB, *spread(rng, 6, 1_100_000, 2 * GB), *spread(rng, 45, 2 * GB, 2_990_000), *spread(rng, 13, 3_010_000, 4 * GB), *[4_100_000] * 60,
           *spread(rng, 122, 4_110_000, 9_990_000), *[10_200_000] * 10, *spread(rng, 88, 10_300_000, 23 * GB), *spread(rng, 83, 24 * GB, 44 * GB), *[None] * 72, 96 * GB, 255 * GB]
    ram = filled(rng, ram, 24 * GB * HOSTS, 17 * GB)
    swap: list[Any] = [*spread(rng, 60, GB, 2_900_000), *[2_960_000] * 80, *spread(rng, 102, 3_100_000, 6_200_000), *[6_300_000] * 5, *[None] * 237, 201 * GB]
    swap = filled(rng, swap, 13 * GB * len(swap), 15 * GB)
    used: list[Any] = [*[0] * (150 - 17), *spread(rng, 90, MB, 17 * MB), *[18 * MB] * 15, *spread(rng, 111, 19 * MB, 100 * MB), *spread(rng, 97, 100 * MB, 900 * MB),
            *spread(rng, 13, GB, 4 * GB), *[None] * 25, 19 * GB]
    used = filled(rng, used, 657 * MB * HOSTS, 5 * GB)
    tmp: list[Any] = [*[4] * 180, *[8] * 60, *[16] * 30, *spread(rng, 100, 20, 1000), *spread(rng, 44, MB, 10 * MB), *spread(rng, 40, 10 * MB, 100 * MB), *[None] * 29,
           *spread(rng, 5, GB, 1_400_000), *spread(rng, 8, 1_600_000, 4 * GB), 5_100_000, 5_300_000, 10 * GB, 13 * GB, 42 * GB, 101 * GB]
    tmp = filled(rng, tmp, 453 * MB * HOSTS, 180 * MB)
    # What is large lies where it can: the last 46 of tmp on the last 46 of RAM, the largest swap in use on the largest swap. 17 hosts have none.
    pairs = list(zip(tmp[:-46], shuffled(rng, ram[:-46]))) + list(zip(tmp[-46:], ram[-46:]))
    areas = sorted(zip(swap, used))
    small = [pair for pair in areas if pair[1] == 0][:4]
    areas = shuffled(rng, without(areas, small) + [(0, 0)] * 17) + small
    lines = ["# synthetic: made by ramline-fleet to the published points of the study of 502 servers; no host is real", "# layout: old"]
    for number, ((files, total), (area, taken)) in enumerate(zip(pairs, areas), 1):
        last = HOSTS - number
        if last < 4:
            # Neither free memory nor swap has room for it.
            free = min(total // 20, files // 10)
        elif last < 17:
            free = files * 6 // 5
        else:
            free = max(2 * files + MB, int(total * rng.uniform(0.05, 0.6)))
        free = min(free, total)
        buffers, cached = (total - free) // 20, (total - free) // 2
        lines.append("\t".join(map(str, (number, files, total, total - free, free, 0, buffers, cached, area, taken, area - taken, rng.randrange(1, 40) + files // 9000))))
    return "\n".join(lines) + "\n"


def shuffled(rng: random.Random, values: list[Any]) -> list[Any]:
    values = list(values)
    rng.shuffle(values)
    return values


def without(pairs: list[Any], some: list[Any]) -> list[Any]:
    left = list(pairs)
    for pair in some:
        left.remove(pair)
    return left


# A number from a host and a day that looks drawn, the same on any machine.
DRAWN = "((h.number * {a} + CAST({day} AS BIGINT) * {b}) % {c})"


def fleet(store: str | Path, hosts: int, days: int, first: str, say: Callable[[str], None]) -> None:
    """A store of so many made-up hosts on so many days: each host is one of the 502 over and over, and what changes from day to day does by some percent."""
    import duckdb
    import pyarrow as pa

    dates = [(datetime.date.fromisoformat(first) + datetime.timedelta(days=day)).isoformat() for day in range(days)]
    # Each name is in it once a day.
    if there := next((date for date in dates if parts_of(store, ROWS, Window(date, date))), None):
        raise Failure(f"{store} has hosts of {there} already", "another --day, or another store")
    base = [study.line(line, "old") for line in published().splitlines()[2:]]
    names = [f"synthetic-{number:07}" for number in range(hosts)]
    columns: dict[str, Any] = {"number": range(hosts), "host": names, "hb": [f"{hashed(name):02}" for name in names]}
    columns |= {name: [base[number % HOSTS][name] for number in range(hosts)] for name in base[0] if name != "host"}
    table = pa.table(columns).sort_by([("hb", "ascending"), ("host", "ascending")])
    known = sum(bit for name, bit in schema.BITS.items() if name in base[0])
    connection = duckdb.connect()
    connection.register("hosts", table)
    lot = Ingest(store, first)
    aside = Path(store) / "aside" / lot.name
    aside.mkdir(parents=True)
    try:
        for day, date in enumerate(dates):
            drawn = [DRAWN.format(a=a, b=b, c=c, day=day) for a, b, c in ((7919, 104729, 81), (6007, 15485863, 101), (3001, 32452843, 61))]
            values = f"""SELECT host, hb, ram_kib, shared_kib, buffers_kib, cached_kib, swap_total_kib, tmp_kib + tmp_kib * ({drawn[0]} - 40) // 1000 AS tmp_kib,
                least(ram_kib, free_kib + free_kib * ({drawn[1]} - 50) // 1000) AS free_kib,
                least(swap_total_kib, swap_used_kib + swap_used_kib * ({drawn[2]} - 30) // 1000) AS swap_used_kib, tmp_inodes + {drawn[0]} % 7 AS tmp_inodes FROM hosts h"""
            known_columns = ", ".join({"used_kib": "ram_kib - free_kib AS used_kib", "available_kib": "CAST(NULL AS BIGINT) AS available_kib", "tmp_in_ram": "CAST(NULL AS BIGINT) AS tmp_in_ram", "up_s": "CAST(NULL AS BIGINT) AS up_s", "virtual_machine": "CAST(NULL AS BIGINT) AS virtual_machine",
                                       "swap_free_kib": "swap_total_kib - swap_used_kib AS swap_free_kib"}.get(name, name) for name in schema.MEASURED)
            rows = f"SELECT host, CAST(NULL AS VARCHAR) AS machine, 'synthetic' AS source, true AS synthetic, CAST({known} AS BIGINT) AS known, {known_columns}, hb FROM ({values})"
            target = str(aside / f"dt={date}").replace("'", "''")
            connection.execute(f"COPY ({rows}) TO '{target}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (hb), KV_METADATA {{ramline_fleet_schema: '{schema.VERSION}'}})")
            say(f"day {day + 1} of {days}")
        (Path(store) / ROWS).mkdir(exist_ok=True)
        aside.rename(Path(store) / ROWS / f"ingest={lot.name}")
    finally:
        shutil.rmtree(aside, ignore_errors=True)
