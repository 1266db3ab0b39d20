"""Rows in Parquet files: host_day/ingest=ID/dt=DAY/hb=BUCKET/part.parquet below the folder of the store.

What is taken in is written to a folder of its own aside and renamed as one: a half-written day is never read. A host that is there for that day already is
refused, so nothing is counted twice. Lines that are no rows go to rejects/ID.tsv with their number and the reason.
"""

import errno
import hashlib
import os
import shutil
import time
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from . import schema
from .study import MOST

HASHED = 16
ROWS = "host_day"


class Ingest:
    """One lot of rows of one day."""

    def __init__(self, store, day):
        self.store, self.day = Path(store), day
        self.name = fresh_name()
        self.rows, self.rejected, self.other_names = [], [], []
        self.hosts, self.machines = self.there()

    def there(self):
        """Hosts of that day that the store has, and which name each machine has there."""
        files = sorted((self.store / ROWS).glob(f"ingest=*/dt={self.day}/hb=*/*.parquet"))
        rows = []
        for file in files:
            try:
                rows += parquet.ParquetFile(file).read(columns=["host", "machine"]).to_pylist()
            except pa.ArrowInvalid as error:
                raise OSError(errno.EIO, f"is no file of a store: {str(error)[:200]}", str(file)) from error
        return {row["host"] for row in rows}, {row["machine"]: row["host"] for row in rows if row["machine"]}

    def add(self, number, text, row):
        """A row; a host of that name is refused, and what no reader of rows could take."""
        if not (isinstance(row["host"], str) and row["host"].strip() and row["host"].isprintable()):
            return self.reject(number, text, "the host has no name that can be shown")
        if any(isinstance(value, int) and not 0 <= value <= MOST for value in row.values()):
            return self.reject(number, text, "a size is more than there can be")
        if row["host"] in self.hosts:
            return self.reject(number, text, f"host {row['host']} is there already for {self.day}")
        self.hosts.add(row["host"])
        self.rows.append(row)

    def twice(self, number, host, name):
        """A name of a machine that is there under another one: no row, and nothing that is missing."""
        self.other_names.append((number, host, name))

    def reject(self, number, text, why):
        self.rejected.append((number, why, text))

    def commit(self):
        """Writes all of it, or nothing."""
        aside = self.store / "aside" / self.name
        try:
            for bucket in range(HASHED):
                rows = sorted((row for row in self.rows if hashed(row["host"]) == bucket), key=lambda row: row["host"])
                if rows:
                    folder = aside / f"dt={self.day}" / f"hb={bucket:02}"
                    folder.mkdir(parents=True)
                    parquet.write_table(pa.Table.from_pylist(rows, schema=schema.ARROW), folder / "part.parquet", compression="zstd")
                    synced(folder / "part.parquet")
            if self.rejected:
                file = self.store / "rejects" / f"{self.name}.tsv"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("".join(f"{number}\t{why}\t{text}\n" for number, why, text in self.rejected))
            if self.rows:
                (self.store / ROWS).mkdir(parents=True, exist_ok=True)
                aside.rename(self.store / ROWS / f"ingest={self.name}")
                synced(self.store / ROWS)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def fresh_name():
    """In the order of time, and of nobody else's."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{uuid.uuid4().hex[:8]}"


def hashed(host):
    """The same on any machine and in any run."""
    return hashlib.blake2b(host.encode(), digest_size=2).digest()[0] % HASHED


def synced(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

