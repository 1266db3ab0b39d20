"""Engines: each answers the same text of a query with the same rows.

What it is not: a place for arithmetic. What an engine calls a median or a mode differs from one to the next; that is walked from counts (`histogram`).

An engine has `prepare(say)`, which makes `host_peak`, a row a host, of what is kept of it (`peaks`) and of days that are not in that; `ask(name)`, the names of the columns and the rows of
queries/NAME.sql; and `close()`. For the queries of the other tables `latest` and `daily` prepare it instead, through `view`, `listed`, `make` and `define`. Only days of its `Window` are asked.
"""

import csv
import functools
import glob
import io
import os
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from . import schema, sql, store
from .peaks import Month, Peaks
from .schema import MEMORY_ROWS, ROWS
from .sql import BEFORE, JUDGED, KNOWN, PEAK, ROLE, query
from .store import Part, parts_of, refuse_newer
from .window import ALL, Window
from .words import Failure
from .words import plain as shown

# Of this machine's memory; the rest goes to files aside.
MEMORY = "3GB"
# Seconds in which a Spark master must accept a connection, and in which a cluster must have a worker.
MASTER, WORKERS = 5, 60
Say = Callable[[str], None]
Rows = tuple[list[str], list[tuple[Any, ...]]]


def quoted(path: object) -> str:
    text = str(path).replace("'", "''")
    return f"'{text}'"


def listed_files(paths: Iterable[Path]) -> str:
    """As DuckDB takes them: a path is text of the machine, and no pattern."""
    return f"[{', '.join(quoted(glob.escape(str(path))) for path in paths)}]"


def read(paths: Iterable[Path]) -> str:
    return f"read_parquet({listed_files(paths)}, hive_partitioning = false)"


def day_of(table: str) -> str:
    """The column of a file of a month that has the day, as `dt`."""
    return "dt" if (name := store.day_column(table)) == "dt" else f"{name} AS dt"


def rows(table: str, parts: list[Part], days: Window) -> str:
    """What stands behind FROM for some files of a table, with the day of each row as `dt`."""
    texts = []
    for version, of in sorted(store.by_version(parts).items()):
        columns = ", ".join(schema.columns(table, version))
        if found := [part.path for part in of if part.daily]:
            texts.append(f"SELECT {columns}, dt FROM read_parquet({listed_files(found)}, hive_partitioning = true, hive_types_autocast = false)")
        if found := [part.path for part in of if not part.daily]:
            texts.append(f"SELECT * FROM (SELECT {columns}, {day_of(table)} FROM {read(found)}) AS month_rows WHERE {days.sql()}")
    return f"({' UNION ALL '.join(texts)}) AS {table}"


def plain(row: Iterable[Any]) -> tuple[Any, ...]:
    """Whole numbers and texts, whatever an engine has them in."""
    return tuple(int(cell) if cell is not None and not isinstance(cell, str) else cell for cell in row)


def latest(engine: Any, table: str, roles: dict[str, str], say: Say) -> None:
    """Makes what the queries of settings or of findings ask; `roles` has the role of each host."""
    peaks, sources = Peaks(engine.store, engine.days), []
    parts = parts_of(engine.store, table, engine.days)
    refuse_newer(parts)
    engine.view(table, table, parts)
    if kept := [file for of in peaks.kept_files().values() for file in of]:
        engine.files("known_kept", kept)
        sources.append("known_kept")
    if peaks.rows:
        engine.view("known_new", ROWS, peaks.rows)
        sources.append("known_new")
    engine.listed(ROLE, ("host", "role"), sorted(roles.items()))
    engine.make(KNOWN, sql.known([table, *sources]))
    engine.make(sql.LATEST[table], query(sql.LATEST[table]))
    say("hosts")


def daily(engine: Any, roles: dict[str, str], hosts: Iterable[str], say: Say) -> None:
    """Makes what the queries of memory over time ask: rows a host and day with the role, and a row a host."""
    parts, memory = (parts_of(engine.store, table, engine.days) for table in (ROWS, MEMORY_ROWS))
    refuse_newer([*parts, *memory])
    engine.view(ROWS, ROWS, parts)
    if memory:
        engine.view(MEMORY_ROWS, MEMORY_ROWS, memory)
    else:
        engine.define(MEMORY_ROWS, f"SELECT host, dt AS day, {', '.join(f'CAST(NULL AS {kind}) AS {name}' for name, kind in schema.MEMORY_TYPES.items())} FROM host_day WHERE 1 = 0")
    engine.listed(ROLE, ("host", "role"), sorted(roles.items()))
    engine.listed("host_asked", ("host",), [(host,) for host in sorted(hosts)])
    first = engine.days.since or min((part.first for part in parts), default=engine.days.until)
    engine.listed("day_number", ("dt", "n"), [(day, number) for number, day in enumerate(days_between(first, engine.days.until))])
    engine.make(sql.DAILY, query(sql.DAILY))
    engine.make(sql.MEMORY, query(sql.MEMORY))
    say("hosts")


def days_between(first: str, last: str) -> Iterator[str]:
    import datetime

    at, end = datetime.date.fromisoformat(first), datetime.date.fromisoformat(last)
    while at <= end:
        yield at.isoformat()
        at += datetime.timedelta(days=1)


def no_rows(days: Window) -> Failure:
    return Failure(f"the store has no host from {days.since or 'its first day'} to {days.until}", "--last all")


class DuckDb:
    """In this process."""

    def __init__(self, store: str | Path, days: Window = ALL) -> None:
        import duckdb

        self.store, self.days = store, days
        self.connection: Any = duckdb.connect()
        self.connection.execute(f"SET memory_limit = '{MEMORY}'")

    def by_bucket(self, kept: dict[int, list[Path]], missing: dict[int, list[Part]], several: bool) -> Iterator[tuple[int, int, str]]:
        """The query for the peaks of each bucket, whose hosts find room near the processor, with its number and how many there are."""
        buckets = sorted(kept.keys() | missing.keys())
        for bucket in buckets:
            peak = read(found) if (found := kept.get(bucket)) else None
            days = rows(ROWS, parts, self.days) if (parts := missing.get(bucket)) else None
            yield bucket, len(buckets), sql.peaks(peak, days, several)

    def prepare(self, say: Say) -> None:
        peaks = Peaks(self.store, self.days)
        refuse_newer(peaks.rows)
        number = -1
        for number, (_, of, text) in enumerate(self.by_bucket(peaks.kept_files(), peaks.missing_parts(), len(peaks.months) > 1)):
            self.connection.execute(f"{f'INSERT INTO {PEAK}' if number else f'CREATE TEMP TABLE {PEAK} AS'} {text}")
            say(f"hosts, part {number + 1} of {of}")
        if number < 0:
            raise no_rows(self.days)
        before = [f"SELECT host FROM {read(peaks.older)}"] if peaks.older else []
        before += [f"SELECT host FROM {read([part.path for part in peaks.across])} WHERE dt < '{self.days.since}'"] if peaks.across else []
        self.define(BEFORE, " UNION ALL ".join(before) or f"SELECT host FROM {PEAK} WHERE 1 = 0")
        self.define(JUDGED, query(JUDGED))

    def view(self, name: str, table: str, parts: list[Part]) -> None:
        self.define(name, f"SELECT * FROM {rows(table, parts, self.days)}")

    def files(self, name: str, paths: list[Path]) -> None:
        self.define(name, f"SELECT * FROM {read(paths)}")

    def listed(self, name: str, columns: tuple[str, ...], found: list[tuple[Any, ...]]) -> None:
        """Rows of this program; all are texts but `n`."""
        types = {column: pa.int64() if column == "n" else pa.string() for column in columns}
        self.connection.register(name, pa.table({column: pa.array([row[at] for row in found], types[column]) for at, column in enumerate(columns)}))

    def make(self, name: str, text: str) -> None:
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {text}")

    def define(self, name: str, text: str) -> None:
        self.connection.execute(f"CREATE TEMP VIEW {name} AS {text}")

    def keep(self, folder: Path, month: Month, say: Say) -> int:
        """All peaks of a month as files below a folder; how many."""
        from .peaks import by_bucket

        hosts, missing = 0, dict[int, list[Part]]()
        for part in month.missing:
            missing.setdefault(part.bucket, []).append(part)
        for number, (bucket, of, text) in enumerate(self.by_bucket(by_bucket(month.kept()), missing, False)):
            at = folder / f"hb={bucket:02}"
            at.mkdir()
            done = self.connection.execute(f"COPY ({text} ORDER BY host) TO {quoted(at / f'{PEAK}.parquet')} (FORMAT parquet, COMPRESSION zstd)")
            hosts += done.fetchone()[0]
            say(f"summary of hosts of {month.month}, part {number + 1} of {of}")
        return hosts

    def merge(self, table: str, parts: list[Part], days: Window, at: Path) -> int:
        """Rows of some files as one file, in the order of host and day; how many."""
        day = ", dt" if table == ROWS else ""
        text = f"SELECT {', '.join(schema.TABLES[table].names)}{day} FROM {rows(table, parts, days)} WHERE {days.sql()} ORDER BY host, dt"
        done = self.connection.execute(f"COPY ({text}) TO {quoted(at / 'part.parquet')} (FORMAT parquet, COMPRESSION zstd, KV_METADATA {{ramline_fleet_schema: '{schema.VERSION}'}})")
        return int(done.fetchone()[0])

    def ask(self, name: str) -> Rows:
        done = self.connection.execute(query(name))
        return [column[0] for column in done.description], [plain(row) for row in done.fetchall()]

    def close(self) -> None:
        self.connection.close()


class Spark:
    """A cluster, or one made for the moment (`local-cluster`: two workers on this machine)."""

    def __init__(self, store: str | Path, master: str, days: Window = ALL) -> None:
        answers(master)
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise Failure("pyspark is not installed", "make fleet-spark") from error
        if not os.environ.get("JAVA_HOME") and not any((Path(folder) / "java").is_file() for folder in os.environ.get("PATH", "").split(":")):
            raise Failure("Spark needs Java 17, and there is no java on the path", "apt install openjdk-17-jre-headless")
        self.lost: Failure | None = None
        spark_master = "local-cluster[2,1,1024]" if master == "local-cluster" else master
        builder = SparkSession.builder.master(spark_master).appName("ramline-fleet").config("spark.ui.enabled", "false")
        if master == "local-cluster" or master.startswith("spark://"):
            # A day's bucket is small: many of them are one task. Other clusters have settings of their own.
            builder = builder.config("spark.sql.shuffle.partitions", "8").config("spark.executor.memory", "1g")
        # The day of a path is a text, as it is in a file of a month.
        builder = builder.config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        self.session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")
        self.store, self.days = Path(store).resolve(), days
        self.closed = threading.Event()
        # Other clusters may take their time to give workers, or have none while nothing is asked.
        if master == "local-cluster" or master.startswith("spark://"):
            threading.Thread(target=self.watch, args=(master,), daemon=True).start()

    def watch(self, master: str) -> None:
        """Ends the work where no worker has been there for a while: Spark itself waits without an end."""
        alone = 0
        while not self.closed.wait(1):
            try:
                # The program itself is one of them.
                workers = len(self.session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) - 1
                alone = alone + 1 if not workers and self.session.sparkContext.statusTracker().getActiveJobsIds() else 0
                if alone >= WORKERS:
                    self.lost = Failure(f"{master} has had no worker for {WORKERS} s", "the cluster's own page of workers; --engine duckdb needs none")
                    self.session.sparkContext.cancelAllJobs()
            except Exception:  # the session has ended meanwhile
                return

    def done(self, work: Callable[[], Any]) -> Any:
        """What a job gives, or that there is nothing to do it."""
        try:
            return work()
        except Exception as error:
            if self.lost:
                raise self.lost from error
            raise

    def prepare(self, say: Say) -> None:
        """Made once, and kept by the workers."""
        peaks = Peaks(self.store, self.days)
        refuse_newer(peaks.rows)
        kept = [file for of in peaks.kept_files().values() for file in of]
        if not kept and not peaks.rows:
            raise no_rows(self.days)
        if kept:
            self.files("host_kept", kept)
        if peaks.rows:
            self.view("host_new", ROWS, peaks.rows)
        new = "host_new" if peaks.rows else None
        self.make(PEAK, sql.peaks("host_kept" if kept else None, new, len(peaks.months) > 1))
        before = []
        if peaks.older:
            self.session.read.parquet(*map(str, peaks.older)).select("host").createOrReplaceTempView("host_older")
            before.append("SELECT host FROM host_older")
        if peaks.across:
            self.files("host_across", [part.path for part in peaks.across])
            before.append(f"SELECT host FROM host_across WHERE dt < '{self.days.since}'")
        self.define(BEFORE, " UNION ALL ".join(before) or f"SELECT host FROM {PEAK} WHERE 1 = 0")
        self.define(JUDGED, query(JUDGED))
        say("hosts")

    def view(self, name: str, table: str, parts: list[Part]) -> None:
        frames = []
        for version, of in sorted(store.by_version(parts).items()):
            columns = schema.columns(table, version)
            if found := [str(part.path) for part in of if part.daily]:
                frames.append(self.session.read.option("basePath", str(self.store / table)).parquet(*found).selectExpr(*columns, "dt"))
            if found := [str(part.path) for part in of if not part.daily]:
                frames.append(self.session.read.parquet(*found).selectExpr(*columns, day_of(table)).where(self.days.sql()))
        functools.reduce(lambda one, other: one.unionAll(other), frames).createOrReplaceTempView(name)

    def files(self, name: str, paths: list[Path]) -> None:
        self.session.read.parquet(*map(str, paths)).createOrReplaceTempView(name)

    def listed(self, name: str, columns: tuple[str, ...], found: list[tuple[Any, ...]]) -> None:
        types = ", ".join(f"{column} {'long' if column == 'n' else 'string'}" for column in columns)
        self.session.createDataFrame(found, types).createOrReplaceTempView(name)

    def make(self, name: str, text: str) -> None:
        def made() -> None:
            self.session.sql(text).createOrReplaceTempView(name)
            self.session.catalog.cacheTable(name)
            self.session.table(name).count()

        self.done(made)

    def define(self, name: str, text: str) -> None:
        self.session.sql(text).createOrReplaceTempView(name)

    def ask(self, name: str) -> Rows:
        done = self.session.sql(query(name))
        return done.columns, [plain(row) for row in self.done(done.collect)]

    def close(self) -> None:
        self.closed.set()
        self.session.stop()


def answers(master: str) -> None:
    """Refuses a master at whose address nothing listens: Spark would ask again and again, without a word."""
    if not master.startswith("spark://"):
        return
    why = "no address"
    for address in master.removeprefix("spark://").split(","):
        found = re.fullmatch(r"\[?(.+?)\]?:(\d{1,5})", address)
        if not found:
            why = f"{shown(address)} is not HOST:PORT"
            continue
        try:
            socket.create_connection((found[1], int(found[2])), MASTER).close()
            return
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
    raise Failure(f"no Spark master answers at {shown(master)}: {why}", "--engine spark://HOST:7077, the address that the master's own page names")


# Masters that Spark itself knows, beside its own.
OTHERS = re.compile(r"yarn|k8s://.+|mesos://.+|local\[[0-9*]+\]")


def from_word(word: str, store: str | Path, days: Window = ALL) -> Any:
    """The engine a word names: duckdb, local-cluster, spark://HOST:PORT, or another master as Spark has it."""
    if word == "duckdb":
        return DuckDb(store, days)
    if word == "local-cluster" or word.startswith("spark://") or OTHERS.fullmatch(word):
        return Spark(store, word, days)
    raise Failure(f"there is no engine {word!r}; there are duckdb, local-cluster, spark://HOST:PORT, yarn and k8s://URL", "--engine duckdb")


def table(columns: list[str], rows: list[tuple[Any, ...]]) -> str:
    """As comma-separated values, NULL as nothing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([shown(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


# What is no whole number.
TEXTS = ("host", "variable", "role", "setting", "value", "usual", "first_host", "last_host", "finding", "level", "machine", "day", "dt", "first_day", "last_day", "boot", "source", "what", "name")


def as_parquet(columns: list[str], rows: list[tuple[Any, ...]]) -> Any:
    """Rows of a query as a file in memory; what is no text is a whole number, also where all are NULL."""
    types = pa.schema([(name, pa.string() if name in TEXTS else pa.int64()) for name in columns])
    return store.as_parquet(pa.Table.from_pylist([dict(zip(columns, row)) for row in rows], schema=types))
