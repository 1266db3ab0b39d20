"""Engines: each answers the same text of a query with the same rows.

What it is not: a place for arithmetic. What an engine calls a median or a mode differs from one to the next; that is walked from counts (`histogram`).

An engine has `prepare(say)`, which makes `host_peak`, a row a host, of what is kept of it (`peaks`) and of days that are not in that; `ask(name)`, the names of the columns and the rows of
queries/NAME.sql; and `close()`. For the queries of settings and findings `latest` prepares it instead, through `view`, `roles` and `make`.
"""

import csv
import glob
import io
import os
from pathlib import Path

import pyarrow as pa

from . import sql, store
from .peaks import Peaks
from .sql import KNOWN, LACK, PEAK, ROLE, query
from .store import files_of
from .words import Failure, plain as shown

# So much of this machine's memory; the rest goes to files aside.
MEMORY = "3GB"


def quoted(path):
    text = str(path).replace("'", "''")
    return f"'{text}'"


def read(paths):
    """Files as DuckDB reads them: a path is text of the machine, and no pattern."""
    return f"read_parquet([{', '.join(quoted(glob.escape(str(path))) for path in paths)}], hive_partitioning = false)"


def plain(row):
    """Whole numbers and texts, whatever an engine has them in."""
    return tuple(int(cell) if cell is not None and not isinstance(cell, str) else cell for cell in row)


def latest(engine, table, roles, say):
    """Makes what the queries of settings or of findings ask; `roles` has the role of each host."""
    peaks = Peaks(engine.store)
    files = {table: files_of(engine.store, table)}
    files |= {name: [file for of in found.values() for file in of] for name, found in (("known_kept", peaks.kept_files(PEAK)), ("known_new", peaks.missing_files()))}
    files = {name: found for name, found in files.items() if found}
    for name, found in files.items():
        engine.view(name, found)
    engine.roles(roles)
    engine.make(KNOWN, sql.known(files))
    engine.make(sql.LATEST[table], query(sql.LATEST[table]))
    say("hosts")


class DuckDb:
    """In this process."""

    def __init__(self, store):
        import duckdb

        self.store = store
        self.connection = duckdb.connect()
        self.connection.execute(f"SET memory_limit = '{MEMORY}'")

    @staticmethod
    def by_bucket(peaks):
        """The queries for peaks and lacks of each bucket, whose hosts find room near the processor, with its number and how many there are."""
        found = (peaks.kept_files(PEAK), peaks.kept_files(LACK), peaks.missing_files())
        kept, lack, days = ({bucket: read(of) for bucket, of in one.items()} for one in found)
        buckets = sorted(kept.keys() | days.keys())
        for bucket in buckets:
            yield bucket, len(buckets), {PEAK: sql.peaks(kept.get(bucket), days.get(bucket)), LACK: sql.lacks(lack.get(bucket), days.get(bucket))}

    def prepare(self, say):
        for number, (_, of, texts) in enumerate(self.by_bucket(Peaks(self.store))):
            for name, text in texts.items():
                self.connection.execute(f"{f'INSERT INTO {name}' if number else f'CREATE TEMP TABLE {name} AS'} {text}")
            say(f"hosts, part {number + 1} of {of}")

    def view(self, name, files):
        self.connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM {read(files)}")

    def roles(self, roles):
        self.connection.register(ROLE, pa.table({"host": pa.array(list(roles), pa.string()), "role": pa.array(list(roles.values()), pa.string())}))

    def make(self, name, text):
        self.connection.execute(f"CREATE TEMP TABLE {name} AS {text}")

    def keep(self, folder, peaks, say):
        """All peaks as files below a folder; how many."""
        hosts = 0
        for number, (bucket, of, texts) in enumerate(self.by_bucket(peaks)):
            at = folder / f"hb={bucket:02}"
            at.mkdir()
            copied = {}
            for name, text in texts.items():
                done = self.connection.execute(f"COPY ({text} ORDER BY host) TO {quoted(at / f'{name}.parquet')} (FORMAT parquet, COMPRESSION zstd)")
                copied[name] = done.fetchone()[0]
            hosts += copied[PEAK]
            say(f"summary of hosts, part {number + 1} of {of}")
        return hosts

    def ask(self, name):
        done = self.connection.execute(query(name))
        return [column[0] for column in done.description], [plain(row) for row in done.fetchall()]

    def close(self):
        self.connection.close()


class Spark:
    """A cluster, or one made for the moment (`local-cluster`: two workers on this machine)."""

    def __init__(self, store, master):
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise Failure("pyspark is not installed", "make fleet-spark") from error
        if not os.environ.get("JAVA_HOME") and not any((Path(folder) / "java").is_file() for folder in os.environ.get("PATH", "").split(":")):
            raise Failure("Spark needs Java 17, and there is no java on the path", "apt install openjdk-17-jre-headless")
        master = "local-cluster[2,1,1024]" if master == "local-cluster" else master
        builder = SparkSession.builder.master(master).appName("ramline-fleet").config("spark.ui.enabled", "false")
        # A day's bucket is small: many of them are one task.
        builder = builder.config("spark.sql.shuffle.partitions", "8").config("spark.executor.memory", "1g")
        self.session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        self.store = Path(store).resolve()

    def prepare(self, say):
        """Made once, and kept by the workers."""
        peaks = Peaks(self.store)
        for view, found in (("host_kept", peaks.kept_files(PEAK)), ("lack_kept", peaks.kept_files(LACK)), ("host_new", peaks.missing_files())):
            if found:
                self.view(view, [file for of in found.values() for file in of])
        new = "host_new" if peaks.missing_files() else None
        self.session.sql(sql.lacks("lack_kept" if peaks.kept_files(LACK) else None, new)).createOrReplaceTempView(LACK)
        self.make(PEAK, sql.peaks("host_kept" if peaks.kept_files(PEAK) else None, new))
        say("hosts")

    def view(self, name, files):
        self.session.read.parquet(*map(str, files)).createOrReplaceTempView(name)

    def roles(self, roles):
        self.session.createDataFrame(sorted(roles.items()), "host string, role string").createOrReplaceTempView(ROLE)

    def make(self, name, text):
        self.session.sql(text).createOrReplaceTempView(name)
        self.session.catalog.cacheTable(name)
        self.session.table(name).count()

    def ask(self, name):
        done = self.session.sql(query(name))
        return done.columns, [plain(row) for row in done.collect()]

    def close(self):
        self.session.stop()


def of(word, store):
    """The engine a word names: duckdb, local-cluster, spark://HOST:PORT."""
    if word == "duckdb":
        return DuckDb(store)
    if word == "local-cluster" or word.startswith("spark://"):
        return Spark(store, word)
    raise Failure(f"there is no engine {word!r}; there are duckdb, local-cluster and spark://HOST:PORT", "--engine duckdb")


def table(columns, rows):
    """As comma-separated values, NULL as nothing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([shown(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


# What is no whole number.
TEXTS = ("host", "variable", "role", "setting", "value", "usual", "first_host", "last_host", "finding", "level")


def as_parquet(columns, rows):
    """Rows of a query as a file in memory; what is no text is a whole number, also where all are NULL."""
    types = pa.schema([(name, pa.string() if name in TEXTS else pa.int64()) for name in columns])
    return store.as_parquet(pa.Table.from_pylist([dict(zip(columns, row)) for row in rows], schema=types))
