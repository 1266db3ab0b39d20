"""Rows in Parquet files: TABLE/ingest=ID/dt=DAY/hb=BUCKET/part.parquet below the folder of the store, or month=MONTH for dt=DAY where `compact` has made few files of many; then the day is a
column. A table is one of `schema.TABLES`. A lot whose number is in replaces.json of another one is not read: that one has its rows.

What is taken in is written to a folder of its own aside and renamed as one: a half-written day is never read. A host that is there for that day already is
refused, so nothing is counted twice: one command writes at a time (`lock`). Lines that are no rows go to rejects/ID.tsv with their number and the reason.
"""

import calendar
import errno
import hashlib
import json
import os
import shutil
import stat
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import compute, parquet

from . import inputs, schema, window
from .outputs import new_file, new_sink, synced
from .schema import ROWS
from .study import MOST
from .window import ALL, Window
from .words import Failure, plain

HASHED = 16
# No word of a row is longer.
LONGEST = 1000
# In the folder of a lot: whose rows it has.
REPLACES = "replaces.json"
# Rows that are kept as such; then they become columns. Of columns so many rows are kept; then they are written aside.
PACK, SPILL = 20_000, 100_000


class Part(NamedTuple):
    """A file of a table; its rows are of days from one to another."""

    path: Path
    lot: str
    first: str
    last: str
    bucket: int

    @property
    def month(self) -> str:
        return self.first[:7]

    @property
    def daily(self) -> bool:
        """Whether the day is in its path, and not in its rows."""
        return self.path.parent.parent.name.startswith("dt=")


class Ingest:
    """One lot of rows of one day."""

    def __init__(self, store: str | Path, day: str, table: str = ROWS, names: Any = None) -> None:
        if window.is_future(day):
            raise Failure(f"{day} is in the future: nothing was measured then", "--day, or the clock of that host")
        self.store, self.day, self.table, self.names = Path(store), day, table, names
        self.name = fresh_name()
        self.aside = self.store / "aside" / self.name
        self.rows: list[dict[str, Any]] = []
        self.packed: list[pa.Table] = []
        self.writers: dict[int, parquet.ParquetWriter] = {}
        self.sinks: list[Any] = []
        self.count, self.unknown = 0, {"tmp_kib": 0, "machine": 0}
        self.rejected: list[tuple[int, str, str]] = []
        self.other_names: list[tuple[int, str, str]] = []
        self.taken: set[str] = set()
        self.hosts = self.there()

    def there(self) -> set[str]:
        """Hosts of that day that the store has."""
        found: set[str] = set()
        for part in parts_of(self.store, self.table, Window(self.day, self.day)):
            try:
                columns = ["host"] if part.daily else ["host", day_column(self.table)]
                rows = parquet.ParquetFile(part.path).read(columns=columns).to_pylist()
            except pa.ArrowInvalid as error:
                raise OSError(errno.EIO, f"is no file of a store: {str(error)[:200]}", str(part.path)) from error
            found |= {row["host"] for row in rows if part.daily or row[columns[1]] == self.day}
        return found

    def had(self, host: str) -> bool:
        """Whether the store has rows of that host, of an earlier lot."""
        return host in self.hosts and host not in self.taken

    def add(self, number: int, text: str, *rows: dict[str, Any], key: str | None = None) -> bool:
        """The rows of a host, whether they were taken; a host of that name is refused, and what no reader of rows could take. `key` says which machine it is (`names`)."""
        host, values = rows[0]["host"], [value for row in rows for value in row.values()]
        if not (isinstance(host, str) and host.strip() and host.isprintable()):
            return self.reject(number, text, "the host has no name that can be shown")
        if any(isinstance(value, int) and not 0 <= value <= MOST for value in values):
            return self.reject(number, text, "a size is more than there can be")
        if any(isinstance(value, str) and not (value.isprintable() and len(value) <= LONGEST) for value in values):
            return self.reject(number, text, "a text of it cannot be shown")
        name, host = host, self.names.one(host, key) if self.names else host
        if host in self.hosts:
            if name != host:
                self.twice(number, name, host)
                return False
            return self.reject(number, text, f"host {host} is there already for {self.day}")
        if name != host:
            rows = tuple({**row, "host": host} for row in rows)
        self.hosts.add(host)
        self.taken.add(host)
        self.rows += rows
        self.count += len(rows)
        for name in self.unknown:
            self.unknown[name] += sum(name in row and row[name] is None for row in rows)
        if len(self.rows) >= PACK:
            self.pack()
        return True

    def add_table(self, table: pa.Table) -> None:
        """Many rows at once, of as many hosts that are not here yet and whose values were looked at (`lines`, `columns`)."""
        hosts = table["host"].to_pylist()
        self.hosts.update(hosts)
        self.taken.update(hosts)
        self.count += len(hosts)
        for name in self.unknown:
            if name in table.column_names:
                self.unknown[name] += table[name].null_count
        self.packed.append(table)
        if sum(one.num_rows for one in self.packed) >= SPILL:
            self.spill()

    def pack(self) -> None:
        """As columns rows take a tenth of the memory."""
        if self.rows:
            self.packed.append(pa.Table.from_pylist(self.rows, schema=schema.TABLES[self.table]))
            self.rows = []

    def spill(self) -> None:
        """Writes what there is aside: a file a bucket, a group of rows each time. It has no end yet."""
        self.pack()
        if not self.packed:
            return
        table = pa.concat_tables(self.packed)
        self.packed = []
        buckets = pa.array([hashed(host) for host in table["host"].to_pylist()], pa.int16())
        for bucket in compute.unique(buckets).to_pylist():
            if bucket not in self.writers:
                folder = self.aside / f"dt={self.day}" / f"hb={bucket:02}"
                folder.mkdir(parents=True)
                sink = new_sink(folder / "part.parquet")
                self.writers[bucket] = parquet.ParquetWriter(sink, schema.TABLES[self.table], compression="zstd")
                self.sinks.append(sink)
            self.writers[bucket].write_table(table.filter(compute.equal(buckets, bucket)).sort_by("host"))

    def known(self, host: str) -> str:
        """The name under which the store has it."""
        return str(self.names.find(host, None)[0]) if self.names else host

    def twice(self, number: int, host: str, name: str) -> None:
        """A name of a machine that is there under another one: no row, and nothing that is missing."""
        self.other_names.append((number, host, name))

    def settle(self) -> None:
        """Of a file each line is a row or is refused, also one of a machine that is there under another name."""
        self.rejected += [(number, f"is {name} under another name, which is there already", host) for number, host, name in self.other_names]
        self.other_names = []

    def reject(self, number: int, text: str, why: str) -> bool:
        self.rejected.append((number, why, text))
        return False

    def stage(self) -> None:
        """Writes all of it aside."""
        self.spill()
        for writer in self.writers.values():
            writer.close()
        for sink in self.sinks:
            sink.flush()
            os.fsync(sink.fileno())
            sink.close()
        self.writers, self.sinks = {}, []
        if self.rejected:
            file = self.store / "rejects" / f"{self.name}.tsv"
            file.parent.mkdir(parents=True, exist_ok=True)
            new_file(file, self.rejects())

    def rejects(self) -> bytes:
        """A line each: its number, the reason and its text."""
        lines = ("\t".join([str(number), *map(plain, why.split("\t")), *map(plain, text.split("\t"))]) for number, why, text in self.rejected)
        return "".join(f"{line}\n" for line in lines).encode()

    def keep(self) -> None:
        if self.count:
            (self.store / self.table).mkdir(parents=True, exist_ok=True)
            self.aside.rename(self.store / self.table / f"ingest={self.name}")
            synced(self.store / self.table)


def commit(*lots: Ingest) -> None:
    """Writes all of each, or nothing. Where the machine goes down between two tables, the same files once more add what is missing."""
    try:
        for lot in lots:
            lot.stage()
        for lot in lots:
            lot.keep()
        for names in {id(lot.names): lot.names for lot in lots if lot.names}.values():
            names.keep()
    finally:
        for lot in lots:
            shutil.rmtree(lot.aside, ignore_errors=True)


def lots_of(store: str | Path, table: str) -> list[Path]:
    """The folders of its lots, in the order of their names, without those whose rows another one has."""
    folders = sorted((Path(store) / table).glob("ingest=*"))
    replaced: set[str] = set()
    for folder in folders:
        if (said := folder / REPLACES).exists():
            try:
                replaced |= set(map(str, json.loads(inputs.pieces(said))))
            except (ValueError, TypeError, RecursionError) as error:
                raise OSError(errno.EIO, "is no list of lots", str(said)) from error
    return [folder for folder in folders if folder.name.removeprefix("ingest=") not in replaced]


def parts_of(store: str | Path, table: str, days: Window = ALL) -> list[Part]:
    """Files with rows of these days, in the order of their names; what is no file would be waited for, or have no end."""
    return [part for folder in lots_of(store, table) for part in lot_parts(folder, days)]


def has_parts(store: str | Path, table: str, days: Window = ALL) -> bool:
    """Whether there are any; the first is enough."""
    return any(True for folder in lots_of(store, table) for _ in lot_parts(folder, days))


def lot_parts(folder: Path, days: Window = ALL) -> Iterator[Part]:
    for at in sorted(folder.iterdir()):
        kind, _, when = at.name.partition("=")
        if kind == "dt":
            first = last = when
        elif kind == "month" and len(when) == 7:
            first, last = f"{when}-01", f"{when}-{calendar.monthrange(int(when[:4]), int(when[5:]))[1]}"
        else:
            continue
        if days.meets(first, last):
            lot = folder.name.removeprefix("ingest=")
            for bucket in sorted(name for name in os.listdir(at) if name.startswith("hb=")):
                with os.scandir(at / bucket) as files:
                    found = sorted((one.name, one.stat().st_mode) for one in files if one.name.endswith(".parquet"))
                for name, mode in found:
                    if not stat.S_ISREG(mode):
                        raise no_file(at / bucket / name)
                    yield Part(at / bucket / name, lot, first, last, int(bucket.removeprefix("hb=")))


def day_column(table: str) -> str:
    """Of a file of a month, where the day is in its rows."""
    return "dt" if table == ROWS else "day"


def newest_day(store: str | Path, tables: Iterable[str]) -> str | None:
    """The newest day that the store has; days of the future count where there are no others. None where there are none."""
    names = [(table, at.name) for table in tables for folder in lots_of(store, table) for at in folder.iterdir()]
    days = {name.removeprefix("dt=") for _, name in names if name.startswith("dt=")}
    newest = max((day for day in days if not window.is_future(day)), default="")
    # Of a file of a month only its rows say which days it has.
    last = max((name.removeprefix("month=") for _, name in names if name.startswith("month=")), default="")
    months = Window(f"{last}-01", f"{last}-31") if last and f"{last}-31" > newest else None
    for table in tables if months else []:
        for part in parts_of(store, table, months or ALL):
            if not part.daily:
                newest = max([newest, *parquet.ParquetFile(part.path).read(columns=[day_column(table)])[0].to_pylist()])
    return newest or max(days, default="") or None


def regular(files: Iterable[Path]) -> list[Path]:
    """In the order of their names; what is no file would be waited for, or have no end."""
    found = sorted(files)
    for file in found:
        if not stat.S_ISREG(file.stat().st_mode):
            raise no_file(file)
    return found


def no_file(path: Path) -> OSError:
    return OSError(errno.EINVAL, "is no file", str(path))


def refuse_newer(parts: Iterable[Part]) -> None:
    """A table that a newer ramline-fleet has written may mean something else."""
    by_version(parts)


def by_version(parts: Iterable[Part]) -> dict[int, list[Part]]:
    """The files of each version of the schema. All files of a lot are of one."""
    out: dict[int, list[Part]] = {}
    for part in parts:
        if part.lot not in VERSIONS:
            VERSIONS[part.lot] = version_of(part.path)
        out.setdefault(VERSIONS[part.lot], []).append(part)
    return out


# Of lots that were looked at; a lot is never written to again.
VERSIONS: dict[str, int] = {}


def version_of(path: Path) -> int:
    try:
        said = (parquet.read_metadata(path).metadata or {}).get(b"ramline_fleet_schema", b"1").decode(errors="replace")
    except pa.ArrowInvalid as error:
        raise OSError(errno.EIO, f"is no file of a store: {str(error)[:200]}", str(path)) from error
    if not said.isdigit() or int(said) > schema.VERSION:
        raise Failure(f"{path} is of schema version {plain(said)[:20]}, and this ramline-fleet reads up to {schema.VERSION}", "make fleet, with a newer ramline")
    return int(said)


def as_parquet(table: pa.Table) -> Any:
    """A file of it, in memory."""
    out = pa.BufferOutputStream()
    parquet.write_table(table, out, compression="zstd")
    return out.getvalue()


def fresh_name() -> str:
    """In the order of time, also within a second, and of nobody else's."""
    seconds, ns = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(seconds))}{ns:09}-{uuid.uuid4().hex[:8]}"


def hashed(host: str) -> int:
    """The same on any machine and in any run."""
    return hashlib.blake2b(host.encode(), digest_size=2).digest()[0] % HASHED

