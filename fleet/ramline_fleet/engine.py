"""Engines: each answers the same text of a query with the same rows.

What it is not: a place for arithmetic. What an engine calls a median or a mode differs from one to the next; that is walked from counts (`histogram`).

An engine has `prepare(say)`, which makes `host_peak`, a row a host, of the view `host_day`; `ask(name)`, the names of the columns and the rows of
queries/NAME.sql; and `close()`.
"""

import csv
import glob
import io
import os
from importlib import resources
from pathlib import Path

from .store import ROWS, files

# What the others ask, made first: a row a host.
PEAK = "host_peak"
QUERIES = ("hosts", "histogram", "shares", "models", "upgrade", "rule", "breaks")
# So much of this machine's memory; the rest goes to files aside.
MEMORY = "3GB"


class Missing(Exception):
    """What an engine needs and is not there."""


def query(name):
    """The text of queries/NAME.sql."""
    return resources.files(__package__).joinpath(f"queries/{name}.sql").read_text()


def plain(row):
    """Whole numbers and texts, whatever an engine has them in."""
    return tuple(int(cell) if cell is not None and not isinstance(cell, str) else cell for cell in row)


class DuckDb:
    """In this process."""

    def __init__(self, store):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute(f"SET memory_limit = '{MEMORY}'")
        # A path is text of the machine, and no pattern.
        path = files(glob.escape(str(store))).replace("'", "''")
        self.connection.execute(f"CREATE VIEW host_day AS SELECT * FROM read_parquet('{path}', hive_partitioning = true)")

    def prepare(self, say):
        """Bucket by bucket: the hosts of one find room near the processor."""
        buckets = [bucket for bucket, in self.connection.execute("SELECT DISTINCT hb FROM host_day ORDER BY hb").fetchall()]
        for number, bucket in enumerate(buckets):
            text = query(PEAK).replace("FROM host_day", f"FROM host_day WHERE hb = {int(bucket)}")
            self.connection.execute(f"{f'INSERT INTO {PEAK}' if number else f'CREATE TEMP TABLE {PEAK} AS'} {text}")
            say(f"hosts, part {number + 1} of {len(buckets)}")

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
        at = str(Path(store).resolve() / ROWS)
        self.session.read.parquet(at).createOrReplaceTempView("host_day")

    def prepare(self, say):
        """Made once, and kept by the workers."""
        self.session.sql(query(PEAK)).createOrReplaceTempView(PEAK)
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
