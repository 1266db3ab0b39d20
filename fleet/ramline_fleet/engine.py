"""Engines: each answers the same text of a query with the same rows.

What it is not: a place for arithmetic. What an engine calls a median or a mode differs from one to the next; that is walked from counts (`histogram`).

An engine has `prepare(say)`, which makes `host_peak`, a row a host, of what is kept of it (`peaks`) and of days that are not in that; `ask(name)`, the names of the columns and the rows of
queries/NAME.sql; and `close()`.
"""

import csv
import glob
import io
import os
from pathlib import Path

from . import sql
from .peaks import Peaks
from .sql import PEAK, query
from .store import ROWS, files

# So much of this machine's memory; the rest goes to files aside.
MEMORY = "3GB"


class Missing(Exception):
    """What an engine needs and is not there."""


def quoted(path):
    text = str(path).replace("'", "''")
    return f"'{text}'"


def read(paths, hive):
    """Files as DuckDB reads them; with `hive` the names of folders are columns."""
    return f"read_parquet([{', '.join(map(quoted, paths))}], hive_partitioning = {str(hive).lower()})"


def plain(row):
    """Whole numbers and texts, whatever an engine has them in."""
    return tuple(int(cell) if cell is not None and not isinstance(cell, str) else cell for cell in row)


class DuckDb:
    """In this process."""

    def __init__(self, store):
        import duckdb

        self.store = store
        self.connection = duckdb.connect()
        self.connection.execute(f"SET memory_limit = '{MEMORY}'")
        # A path is text of the machine, and no pattern.
        self.connection.execute(f"CREATE VIEW host_day AS SELECT * FROM {read([files(glob.escape(str(store)))], True)}")

    @staticmethod
    def by_bucket(peaks):
        """The query for the peaks of each bucket, whose hosts find room near the processor, with its number and how many there are."""
        kept, days = ({bucket: read([glob.escape(str(file)) for file in of], False) for bucket, of in found.items()} for found in (peaks.kept_files(), peaks.missing_files()))
        buckets = sorted(kept.keys() | days.keys())
        for bucket in buckets:
            yield bucket, len(buckets), sql.peaks(kept.get(bucket), days.get(bucket))

    def prepare(self, say):
        for number, (_, of, text) in enumerate(self.by_bucket(Peaks(self.store))):
            self.connection.execute(f"{f'INSERT INTO {PEAK}' if number else f'CREATE TEMP TABLE {PEAK} AS'} {text}")
            say(f"hosts, part {number + 1} of {of}")

    def keep(self, folder, peaks, say):
        """All peaks as files below a folder; how many."""
        hosts = 0
        for number, (bucket, of, text) in enumerate(self.by_bucket(peaks)):
            file = folder / f"hb={bucket:02}" / "part.parquet"
            file.parent.mkdir()
            hosts += self.connection.execute(f"COPY ({text} ORDER BY host) TO {quoted(file)} (FORMAT parquet, COMPRESSION zstd)").fetchone()[0]
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
            raise Missing("pyspark is not installed\n  try: make fleet-spark") from error
        if not os.environ.get("JAVA_HOME") and not any((Path(folder) / "java").is_file() for folder in os.environ.get("PATH", "").split(":")):
            raise Missing("Spark needs Java 17, and there is no java on the path\n  try: apt install openjdk-17-jre-headless")
        master = "local-cluster[2,1,1024]" if master == "local-cluster" else master
        builder = SparkSession.builder.master(master).appName("ramline-fleet").config("spark.ui.enabled", "false")
        # A day's bucket is small: many of them are one task.
        builder = builder.config("spark.sql.shuffle.partitions", "8").config("spark.executor.memory", "1g")
        self.session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        self.store = Path(store).resolve()
        self.session.read.parquet(str(self.store / ROWS)).createOrReplaceTempView("host_day")

    def prepare(self, say):
        """Made once, and kept by the workers."""
        peaks = Peaks(self.store)
        for view, found in (("host_kept", peaks.kept_files()), ("host_new", peaks.missing_files())):
            if found:
                self.session.read.parquet(*(str(file) for of in found.values() for file in of)).createOrReplaceTempView(view)
        text = sql.peaks("host_kept" if peaks.kept_files() else None, "host_new" if peaks.missing_files() else None)
        self.session.sql(text).createOrReplaceTempView(PEAK)
        self.session.catalog.cacheTable(PEAK)
        self.session.table(PEAK).count()
        say("hosts")

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
    raise Missing(f"there is no engine {word!r}; there are duckdb, local-cluster and spark://HOST:PORT\n  try: --engine duckdb")


def table(columns, rows):
    """As comma-separated values, NULL as nothing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()
