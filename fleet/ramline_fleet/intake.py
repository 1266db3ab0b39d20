"""Documents of hosts into a store: each host of each file into its own day, and what is said of it.

A source yields (host, day, tables): of each table a function that gives the rows of the host, or raises why there are none.
"""

import argparse
import json
import sys
from pathlib import Path

from . import checkup, sadf, schema, snapshot
from .schema import FINDING_ROWS, ROWS, SETTING_ROWS
from .store import Ingest, commit
from .study import Refused
from .words import a_day

# As ramline has it: done but for a part.
PARTLY = 7
BROKEN = (AttributeError, KeyError, TypeError, ValueError, argparse.ArgumentTypeError)


def of_snapshot(file, document):
    day = snapshot.day(document)
    host = snapshot.host(document, Path(file).stem)
    yield host, day, {
        ROWS: lambda: [schema.row(host, "snapshot", False, snapshot.values(document))],
        SETTING_ROWS: lambda: [{"host": host, "day": day, "name": name, "value": value} for name, value in snapshot.settings(document).items()]}


def of_report(file, document):
    day = snapshot.day(document, "report of ramline checkup", checkup.VERSION)
    host = snapshot.host(document, Path(file).stem)
    yield host, day, {FINDING_ROWS: lambda: [{"host": host, "day": day, "finding": name, "level": level} for name, level in checkup.findings(document).items()]}


def of_sadf(_, document):
    for host, day, values in sadf.rows(document):
        yield host, a_day(day), {ROWS: lambda host=host, values=values: [schema.row(host, "sysstat", False, values)]}


# By option: how a file is read, what it is not where it cannot be, how one is made, and what its rows are called, those of the first table in front.
SOURCES = {
    "sadf": (of_sadf, "no output of sadf -j", "sadf -j FILE -- -r ALL -S > HOST.json", {ROWS: "hosts"}),
    "snapshots": (of_snapshot, "no snapshot of ramline", "ramline snapshot > HOST.json", {ROWS: "hosts", SETTING_ROWS: "settings"}),
    "reports": (of_report, "no report of ramline checkup", "ramline checkup --json HOST.json", {FINDING_ROWS: "reports"}),
}


def take(store, source, files):
    """The exit status."""
    read, what, hint, tables = SOURCES[source]
    by_day, status = {}, 0
    for order, file in enumerate(files, 1):
        try:
            for host, day, makers in read(file, json.loads(Path(file).read_bytes())):
                by_day.setdefault(day, []).append((order, file, host, makers))
        except (OSError, RecursionError, *BROKEN) as why:
            print(f"  {file}: {why if isinstance(why, (Refused, OSError)) else what}", file=sys.stderr)
            status = PARTLY
    if status:
        print(f"  try: {hint}", file=sys.stderr)
    for day, found in sorted(by_day.items()):
        lots = {table: Ingest(store, day, table) for table in tables}
        first, there = next(iter(lots.values())), 0
        for order, file, host, makers in found:
            there += first.had(host)
            try:
                made = {table: make() for table, make in makers.items() if not lots[table].had(host)}
            except BROKEN as why:
                first.reject(order, file, str(why) if isinstance(why, Refused) else what)
                continue
            for table, rows in made.items():
                # A host that the first table refuses is in none.
                if rows and not lots[table].add(order, file, *rows):
                    break
        print(f"{day}: ", end="", file=sys.stderr)
        status = closed(list(lots.values()), len(found), there, list(tables.values())) or status
    return status


def closed(lots, hosts, there, names=("hosts",)):
    """Keeps what has come, and says what has not; the exit status."""
    commit(*lots)
    lot, *more = lots
    unknown = sum(row.get("tmp_kib", 0) is None for row in lot.rows)
    beside = "".join(f", {name} of {len(one.taken)}" for one, name in zip(more, names[1:]))
    print(f"{len(lot.taken)} of {hosts} {names[0]} taken" + (f", {there} were there already" if there else "") + beside
          + (f"; of {unknown} it is not known what lies in /tmp" if unknown else ""), file=sys.stderr)
    rejected = sorted(one for lot in lots for one in lot.rejected)
    for _, why, host in rejected:
        print(f"  {host}: {why}", file=sys.stderr)
    for _, host, name in sorted(lot.other_names):
        print(f"  {host}: is {name} under another name, and counts once", file=sys.stderr)
    left = hosts - there - len(lot.taken) - len(lot.other_names)
    if left:
        print(f"  try: the same command again asks only the {left} that are missing", file=sys.stderr)
    return PARTLY if rejected else 0
