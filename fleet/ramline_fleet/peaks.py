"""A row a host and month, kept beside the rows a host and day: a report of a year reads twelve of them instead of 365. Rows of several months become one as those of several days do.

host_peak/month=MONTH/NAME/ has hb=BUCKET/host_peak.parquet and lots.json, which names the lots whose days of that month are in it,
each with its files and bytes. It is made from the one before and from what has come since, written aside and renamed as one; one that a change of queries/host_peak.sql has outdated, or of which
a lot or a day is gone, is not used. Nothing is lost without it: an engine makes the rest of it, or all, from the rows.
"""

import contextlib
import hashlib
import json
import shlex
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pyarrow import parquet

from . import inputs, sql
from .outputs import new_file, synced
from .schema import ROWS
from .store import Part, fresh_name, parts_of, regular
from .window import ALL, Window
from .words import tell

LOTS = "lots.json"
# Rows that are read in less than a second; for fewer nothing is kept.
WORTH = 100_000
Say = Callable[[str], None]


def version() -> str:
    """Of the texts that say what a peak is."""
    return hashlib.sha256("".join(map(sql.query, (sql.PEAK, sql.MERGE))).encode()).hexdigest()[:16]


class Month:
    """The newest that is kept of a month and can be used, and the files that are not in it."""

    def __init__(self, store: Path, month: str, parts: list[Part]) -> None:
        self.month, self.parts = month, parts
        there = marked(parts)
        self.lots, self.at, known, self.hosts = there, None, set(), 0
        for file in sorted((store / sql.PEAK / f"month={month}").glob(f"*/{LOTS}"), reverse=True):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                said = json.loads(inputs.pieces(file))
                if said["version"] == version() and all(there.get(lot) == marks for lot, marks in said["lots"].items()):
                    self.at, known, self.hosts = file.parent, set(said["lots"]), said["hosts"]
                    break
        self.missing = [part for part in parts if part.lot not in known]

    def kept(self) -> list[Path]:
        """Its files."""
        return regular(self.at.glob(f"hb=*/{sql.PEAK}.parquet")) if self.at else []


class Peaks:
    """What answers for some days: of months that lie in them what is kept, of the others the rows."""

    def __init__(self, store: str | Path, days: Window = ALL) -> None:
        self.store, self.days = Path(store), days
        by_month: dict[str, list[Part]] = {}
        for part in parts_of(store, ROWS):
            by_month.setdefault(part.month, []).append(part)
        self.months: list[Month] = []
        self.rows: list[Part] = []
        # Of hosts that were there before.
        self.older: list[Path] = []
        for month, parts in sorted(by_month.items()):
            first, last = min(part.first for part in parts), max(part.last for part in parts)
            if days.holds(first, last) or days.since and last < days.since:
                one = Month(self.store, month, parts)
                if days.holds(first, last):
                    self.months.append(one)
                    self.rows += one.missing
                else:
                    self.older += [*one.kept(), *(part.path for part in one.missing)]
            else:
                self.rows += [part for part in parts if days.meets(part.first, part.last)]
                self.older += [part.path for part in parts if days.since and part.last < days.since]
        # A month file has days before the first as well, which are looked at where it is read.
        self.across = [part for part in self.rows if days.since and part.first < days.since <= part.last]

    def kept_files(self) -> dict[int, list[Path]]:
        """By bucket."""
        return by_bucket(file for one in self.months for file in one.kept())

    def missing_parts(self) -> dict[int, list[Part]]:
        """By bucket, the rows that are not in it."""
        out: dict[int, list[Part]] = {}
        for part in self.rows:
            out.setdefault(part.bucket, []).append(part)
        return out

    @property
    def hosts(self) -> int:
        """Rows that are kept."""
        return sum(one.hosts for one in self.months)


def marked(parts: Iterable[Part]) -> dict[str, list[int]]:
    """Of each lot how many files it has of a month, and their bytes: days may be removed from it."""
    out: dict[str, list[int]] = {}
    for part in parts:
        marks = out.setdefault(part.lot, [0, 0])
        marks[0] += 1
        marks[1] += part.path.stat().st_size
    return out


def by_bucket(files: Iterable[Path]) -> dict[int, list[Path]]:
    out: dict[int, list[Path]] = {}
    for file in files:
        out.setdefault(int(file.parent.name.removeprefix("hb=")), []).append(file)
    return out


def renew(store: str | Path, engine: Any, say: Say = lambda text: None) -> None:
    """Keeps a new one of each month where it saves more work than it is; rows that were taken stay taken where that fails."""
    try:
        for one in Peaks(store).months:
            rows = sum(parquet.read_metadata(part.path).num_rows for part in one.missing)
            if rows >= max(WORTH, one.hosts):
                make(store, one, engine, say)
    except Exception as error:  # an engine has errors of its own kind
        tell(f"the summary of hosts was not renewed, so that reports take longer: {' '.join(str(error).split())[:200]}")
        tell(f"  try: ramline-fleet summarize {shlex.quote(str(store))}")


def make_all(store: str | Path, engine: Any, say: Say) -> None:
    """Of every month that has one which is not whole."""
    for one in Peaks(store).months:
        if one.missing:
            make(store, one, engine, say)
    remove_old(Path(store))


def make(store: str | Path, old: Month, engine: Any, say: Say) -> None:
    """Keeps a new one of all lots of a month; `engine` makes one that writes it."""
    name = fresh_name()
    aside, kept = Path(store) / "aside" / name, Path(store) / sql.PEAK / f"month={old.month}"
    aside.mkdir(parents=True)
    try:
        with contextlib.closing(engine(store)) as one:
            # The same look at the store for the files and for the list of what is in them.
            hosts = one.keep(aside, old, say)
        for file in aside.glob("hb=*/*.parquet"):
            synced(file)
        new_file(aside / LOTS, json.dumps({"version": version(), "lots": old.lots, "hosts": hosts}).encode())
        kept.mkdir(parents=True, exist_ok=True)
        aside.rename(kept / name)
        synced(kept)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    # A report that is being made may read the one before.
    for folder in sorted(kept.iterdir())[:-2]:
        discard(folder)
    remove_old(Path(store))


def remove_old(store: Path) -> None:
    """Those of the version before, which were of all days, and of months of which no rows are left."""
    months = {part.month for part in parts_of(store, ROWS)}
    for folder in (store / sql.PEAK).glob("*"):
        if not folder.name.startswith("month="):
            discard(folder)
        elif folder.name.removeprefix("month=") not in months:
            shutil.rmtree(folder, ignore_errors=True)


def discard(folder: Path) -> None:
    # Without its list it is none, whatever is left of it.
    (folder / LOTS).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
