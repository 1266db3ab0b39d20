"""Rows in Parquet files: TABLE/ingest=ID/dt=DAY/hb=BUCKET/part.parquet below the folder of the store. A table is host_day, host_setting or host_finding (`schema`).

What is taken in is written to a folder of its own aside and renamed as one: a half-written day is never read. A host that is there for that day already is
refused, so nothing is counted twice: one command writes at a time (`lock`). Lines that are no rows go to rejects/ID.tsv with their number and the reason.
"""

import errno
import hashlib
import os
import shutil
import stat
import time
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from . import schema
from .schema import ROWS
from .outputs import synced, written
from .study import MOST
from .words import plain

HASHED = 16
# No word of a row is longer.
LONGEST = 1000


class Ingest:
    """One lot of rows of one day."""

    def __init__(self, store, day, table=ROWS):
        self.store, self.day, self.table = Path(store), day, table
        self.name = fresh_name()
        self.aside = self.store / "aside" / self.name
        self.rows, self.rejected, self.other_names, self.taken = [], [], [], set()
        self.hosts, self.machines = self.there()

    def there(self):
        """Hosts of that day that the store has, and which name each machine has there."""
        columns = [name for name in ("host", "machine") if name in schema.TABLES[self.table].names]
        rows = []
        for file in files_of(self.store, self.table, self.day):
            try:
                rows += parquet.ParquetFile(file).read(columns=columns).to_pylist()
            except pa.ArrowInvalid as error:
                raise OSError(errno.EIO, f"is no file of a store: {str(error)[:200]}", str(file)) from error
        return {row["host"] for row in rows}, {row["machine"]: row["host"] for row in rows if row.get("machine")}

    def had(self, host):
        """Whether the store has rows of that host, of an earlier lot."""
        return host in self.hosts and host not in self.taken

    def add(self, number, text, *rows):
        """The rows of a host, whether they were taken; a host of that name is refused, and what no reader of rows could take."""
        host, values = rows[0]["host"], [value for row in rows for value in row.values()]
        if not (isinstance(host, str) and host.strip() and host.isprintable()):
            return self.reject(number, text, "the host has no name that can be shown")
        if any(isinstance(value, int) and not 0 <= value <= MOST for value in values):
            return self.reject(number, text, "a size is more than there can be")
        if any(isinstance(value, str) and not (value.isprintable() and len(value) <= LONGEST) for value in values):
            return self.reject(number, text, "a text of it cannot be shown")
        if host in self.hosts:
            return self.reject(number, text, f"host {host} is there already for {self.day}")
        self.hosts.add(host)
        self.taken.add(host)
        self.rows += rows
        return True

    def twice(self, number, host, name):
        """A name of a machine that is there under another one: no row, and nothing that is missing."""
        self.other_names.append((number, host, name))

    def reject(self, number, text, why):
        self.rejected.append((number, why, text))
        return False

    def stage(self):
        """Writes all of it aside."""
        by_bucket = {}
        for row in sorted(self.rows, key=lambda row: row["host"]):
            by_bucket.setdefault(hashed(row["host"]), []).append(row)
        for bucket, rows in by_bucket.items():
            folder = self.aside / f"dt={self.day}" / f"hb={bucket:02}"
            folder.mkdir(parents=True)
            new_file(folder / "part.parquet", as_parquet(pa.Table.from_pylist(rows, schema=schema.TABLES[self.table])))
        if self.rejected:
            file = self.store / "rejects" / f"{self.name}.tsv"
            file.parent.mkdir(parents=True, exist_ok=True)
            lines = ("\t".join([str(number), *map(plain, why.split("\t")), *map(plain, text.split("\t"))]) for number, why, text in self.rejected)
            new_file(file, "".join(f"{line}\n" for line in lines).encode())

    def keep(self):
        if self.rows:
            (self.store / self.table).mkdir(parents=True, exist_ok=True)
            self.aside.rename(self.store / self.table / f"ingest={self.name}")
            synced(self.store / self.table)


def commit(*lots):
    """Writes all of each, or nothing. Where the machine goes down between two tables, the same files once more add what is missing."""
    try:
        for lot in lots:
            lot.stage()
        for lot in lots:
            lot.keep()
    finally:
        for lot in lots:
            shutil.rmtree(lot.aside, ignore_errors=True)


def files_of(store, table, day="*"):
    return regular((Path(store) / table).glob(f"ingest=*/dt={day}/hb=*/*.parquet"))


def regular(files):
    """In the order of their names; what is no file would be waited for, or have no end."""
    found = sorted(files)
    for file in found:
        if not stat.S_ISREG(file.stat().st_mode):
            raise OSError(errno.EINVAL, "is no file", str(file))
    return found


def as_parquet(table):
    """A file of it, in memory."""
    out = pa.BufferOutputStream()
    parquet.write_table(table, out, compression="zstd")
    return out.getvalue()


def new_file(path, content):
    """A file of a store, which no other may have made before, through no link."""
    found = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        written(found, content)
        os.fsync(found)
    finally:
        os.close(found)


def fresh_name():
    """In the order of time, also within a second, and of nobody else's."""
    seconds, ns = divmod(time.time_ns(), 10**9)
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(seconds))}{ns:09}-{uuid.uuid4().hex[:8]}"


def hashed(host):
    """The same on any machine and in any run."""
    return hashlib.blake2b(host.encode(), digest_size=2).digest()[0] % HASHED

