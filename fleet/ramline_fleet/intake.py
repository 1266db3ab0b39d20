"""Documents of hosts into a store: each host of each file into its own day, and what is said of it.

A source yields (host, day, tables): of each table a function that gives the rows of the host, or raises why there are none. What is wrong with one host or file takes nothing from the others.
"""

import argparse
import json
from pathlib import Path

from . import checkup, inputs, sadf, schema, snapshot
from .schema import FINDING_ROWS, ROWS, SETTING_ROWS
from .store import Ingest, commit
from .study import Refused
from .words import a_day, tell

# As ramline has it: done but for a part.
PARTLY = 7
BROKEN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, argparse.ArgumentTypeError)


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
    for host, day, moments in sadf.days(document):
        yield host, a_day(day), {ROWS: lambda host=host, moments=moments: [schema.row(host, "sysstat", False, sadf.values(moments))]}


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
            for host, day, makers in read(file, json.loads(inputs.pieces(file))):
                # Of each file its rows are kept, not the document.
                by_day.setdefault(day, []).append((order, file, host, {table: made(make, what) for table, make in makers.items()}))
        except (OSError, *BROKEN) as why:
            tell(f"  {file}: {why if isinstance(why, (Refused, OSError)) else what}")
            status = PARTLY
    if status:
        tell(f"  try: {hint}")
    for day, found in sorted(by_day.items()):
        lots = {table: Ingest(store, day, table) for table in tables}
        first, there = next(iter(lots.values())), 0
        for order, file, host, rows_of in found:
            there += first.had(host)
            wanted = {table: rows for table, rows in rows_of.items() if not lots[table].had(host)}
            if wrong := next((rows for rows in wanted.values() if isinstance(rows, str)), None):
                first.reject(order, file, wrong)
                continue
            for table, rows in wanted.items():
                # A host that the first table refuses is in none.
                if rows and not lots[table].add(order, file, *rows):
                    break
        status = closed(list(lots.values()), len(found), there, list(tables.values()), f"{day}: ") or status
    return status


def made(make, what):
    """The rows, or why there are none."""
    try:
        return make()
    except BROKEN as why:
        return str(why) if isinstance(why, Refused) else what


def closed(lots, hosts, there, names=("hosts",), head=""):
    """Keeps what has come, and says what has not; the exit status."""
    commit(*lots)
    lot, *more = lots
    unknown = sum(row.get("tmp_kib", 0) is None for row in lot.rows)
    beside = "".join(f", {name} of {len(one.taken)}" for one, name in zip(more, names[1:]))
    tell(f"{head}{len(lot.taken)} of {hosts} {names[0]} taken" + (f", {there} were there already" if there else "") + beside
         + (f"; of {unknown} it is not known what lies in /tmp" if unknown else ""))
    rejected = sorted(one for lot in lots for one in lot.rejected)
    for _, why, host in rejected:
        tell(f"  {host}: {why}")
    for _, host, name in sorted(lot.other_names):
        tell(f"  {host}: is {name} under another name, and counts once")
    left = hosts - there - len(lot.taken) - len(lot.other_names)
    if left:
        tell(f"  try: the same command again asks only the {left} that are missing")
    return PARTLY if rejected else 0
