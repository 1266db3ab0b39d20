"""Documents of hosts into a store: each host of each file into its own day, and what is said of it.

A source yields (host, day, key, tables): the key of its machine (`names`), and of each table a function that gives the rows of the host, or raises why there are none. What is wrong with one host or file takes nothing from the others.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from . import checkup, inputs, sadf, schema, snapshot
from .names import Names
from .schema import FINDING_ROWS, MEMORY_ROWS, ROWS, SETTING_ROWS
from .store import Ingest, commit
from .study import Refused
from .window import is_future
from .words import a_day, tell

# As ramline has it: done but for a part.
PARTLY = 7
BROKEN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, argparse.ArgumentTypeError)
# Host, day, key and what gives the rows of each table.
Found = tuple[str, str, str | None, dict[str, Callable[[], list[dict[str, Any]]]]]


def of_snapshot(file: str, document: Any) -> Iterator[Found]:
    day = snapshot.day(document)
    host, key = snapshot.host(document, Path(file).stem), snapshot.key(document)
    yield host, day, key, {
        ROWS: lambda: [schema.row(host, "snapshot", False, snapshot.values(document), key)],
        MEMORY_ROWS: lambda: [schema.memory_row(host, day, "snapshot", key, snapshot.over_time(document))],
        SETTING_ROWS: lambda: [{"host": host, "day": day, "name": name, "value": value} for name, value in snapshot.settings(document).items()]}


def of_report(file: str, document: Any) -> Iterator[Found]:
    day = snapshot.day(document, "report of ramline checkup", checkup.VERSION)
    host = snapshot.host(document, Path(file).stem)
    yield host, day, snapshot.key(document), {FINDING_ROWS: lambda: [{"host": host, "day": day, "finding": name, "level": level} for name, level in checkup.findings(document).items()]}


def of_moments(host: str, moments: list[Any]) -> list[dict[str, Any]]:
    return [schema.row(host, "sysstat", False, sadf.values(moments))]


def of_sadf(_: str, document: Any) -> Iterator[Found]:
    for host, day, moments in sadf.days(document):
        yield host, a_day(day), None, {ROWS: partial(of_moments, host, moments)}


# By option: how a file is read, what it is not where it cannot be, how one is made, and what its rows are called, those of the first table in front.
SOURCES: dict[str, tuple[Callable[[str, Any], Iterator[Found]], str, str, dict[str, str]]] = {
    "sadf": (of_sadf, "no output of sadf -j", "sadf -j FILE -- -r ALL -S > HOST.json", {ROWS: "hosts"}),
    "snapshots": (of_snapshot, "no snapshot of ramline", "ramline snapshot > HOST.json", {ROWS: "hosts", SETTING_ROWS: "settings", MEMORY_ROWS: "memory over time"}),
    "reports": (of_report, "no report of ramline checkup", "ramline checkup --json HOST.json", {FINDING_ROWS: "reports"}),
}


def take(store: Path, source: str, files: list[str]) -> int:
    """The exit status. A folder stands for the files in it that end with .json."""
    read, what, hint, tables = SOURCES[source]
    by_day: dict[str, list[Any]] = {}
    status = 0
    for order, file in enumerate(each(files), 1):
        try:
            for host, day, key, makers in read(file, json.loads(inputs.pieces(file))):
                if is_future(day):
                    raise Refused(f"{day} is in the future: the clock of that host is wrong")
                # Of each file its rows are kept, not the document.
                by_day.setdefault(day, []).append((order, file, host, key, {table: made(make, what) for table, make in makers.items()}))
        except (OSError, *BROKEN) as why:
            tell(f"  {file}: {why if isinstance(why, (Refused, OSError)) else what}")
            status = PARTLY
    if status:
        tell(f"  try: {hint}")
    names = Names(store)
    for day, found in sorted(by_day.items()):
        lots = {table: Ingest(store, day, table, names) for table in tables}
        first, there = next(iter(lots.values())), 0
        for order, file, host, key, rows_of in found:
            name, _ = names.find(host, key)
            there += first.had(name)
            wanted = {table: rows for table, rows in rows_of.items() if not lots[table].had(name)}
            if wrong := next((rows for rows in wanted.values() if isinstance(rows, str)), None):
                first.reject(order, file, wrong)
                continue
            for table, rows in wanted.items():
                # A host that the first table refuses is in none.
                if rows and not lots[table].add(order, file, *rows, key=key):
                    break
        status = closed(list(lots.values()), len(found), there, list(tables.values()), f"{day}: ") or status
    return status


def each(files: list[str]) -> Iterator[str]:
    """More files than a command line has room for are named by their folder."""
    for file in files:
        inside = sorted(Path(file).glob("*.json")) if Path(file).is_dir() else []
        yield from map(str, inside) if inside else [file]


def made(make: Callable[[], Any], what: str) -> Any:
    """The rows, or why there are none."""
    try:
        return make()
    except BROKEN as why:
        return str(why) if isinstance(why, Refused) else what


def closed(lots: list[Ingest], hosts: int, there: int, names: Sequence[str] = ("hosts",), head: str = "") -> int:
    """Keeps what has come, and says what has not; the exit status."""
    commit(*lots)
    lot, *more = lots
    unknown, machines = lot.unknown["tmp_kib"], lot.unknown["machine"]
    beside = "".join(f", {name} of {len(one.taken)}" for one, name in zip(more, names[1:]))
    tell(f"{head}{len(lot.taken)} of {hosts} {names[0]} taken" + (f", {there} were there already" if there else "") + beside
         + (f"; of {unknown} it is not known what lies in /tmp" if unknown else "") + (f"; of {machines} it is not known which machine they are, so that one under two names counts twice" if machines else ""))
    rejected = sorted(one for lot in lots for one in lot.rejected)
    for _, why, host in rejected:
        tell(f"  {host}: {why}")
    for _, host, name in sorted(lot.other_names):
        tell(f"  {host}: is {name} under another name, and counts once")
    left = hosts - there - len(lot.taken) - len(lot.other_names)
    if left:
        tell(f"  try: the same command again asks only the {left} that are missing")
    return PARTLY if rejected else 0
