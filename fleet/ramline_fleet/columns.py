"""Any table of hosts into a store: CSV with a header, or Parquet, with columns named as those of the store. What an exporter of another system knows comes in this way.

| column | |
|---|---|
| `host` | must be there |
| `day` or `dt` | 2026-11-29; without it `--day` |
| `source` | what told it; without it `table` |
| those of `schema.MEASURED` | KiB, as `ram_kib`; an empty cell is not known |
| those of `schema.OVER_TIME` | as `kills`: how much it grew on that day |

Other columns are passed over, and named. A row with a value that cannot be is refused with the reason; rows are looked at as columns, and only those that are not plain one by one.
"""

import argparse
import os
import shlex
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute, csv, parquet

from . import inputs, schema, study
from .lines import Text, once
from .names import Names
from .schema import MEMORY_ROWS, ROWS
from .store import LONGEST, Ingest, commit
from .window import is_future
from .words import Failure, a_day, tell

DAYS, NULLS = ("day", "dt"), ("", "-", "NULL", "null", "NaN", "nan", "None")
NUMBERS = (*schema.MEASURED, *schema.OVER_TIME)
FLAGS = ("tmp_in_ram", "virtual_machine")
# Rows that are looked at together.
BATCH = 50_000
PLAIN = r"^[A-Za-z0-9._@:/-]{1,200}$"


def header(text: str) -> tuple[str, list[str]] | None:
    """The mark between columns and their names, where the first line of a text names columns of the store.

    >>> header("host,ram_kib,weight\\nweb1,1000,2"), header("web1\\t4\\t1000")
    ((',', ['host', 'ram_kib', 'weight']), None)
    """
    first = next((line for line in text.split("\n", 50)[:50] if line.strip() and not line.startswith("#")), "").removeprefix("\ufeff").removesuffix("\r")
    mark = next((one for one in ",\t;" if one in first), ",")
    names = [word.strip().strip('"') for word in first.split(mark)]
    return (mark, names) if "host" in names and set(names) & set(NUMBERS) else None


class Table:
    """Batches of a file, all columns as text, and its rows that have another number of cells."""

    def __init__(self, file: str, text: Text) -> None:
        self.file, self.text, self.ragged = file, text, list[tuple[int, str, str]]()
        self.read = 0
        if text.parquet:
            try:
                self.parquet = parquet.ParquetFile(os.fdopen(inputs.regular(file), "rb"))
            except (pa.ArrowException, OSError) as error:
                raise Failure(f"cannot read {file}: {str(error)[:200]}", f"ls -l {shlex.quote(file)}") from error
            self.names = list(self.parquet.schema_arrow.names)
        else:
            self.mark, self.names = header(text.first) or (",", [])
        if "host" not in self.names or not set(self.names) & set(NUMBERS):
            raise Failure(f"{file} has no column host, or none of {', '.join(NUMBERS[:3])} and so on", "docs/fleet.md, a table of your own")
        if twice := next((name for name in self.names if self.names.count(name) > 1), None):
            raise Failure(f"{file} has two columns {twice}", "one of each")
        self.used = [name for name in self.names if name in ("host", "source", *DAYS, *NUMBERS)]
        if passed := [name for name in self.names if name not in self.used]:
            tell(f"columns that are passed over: {', '.join(passed[:20])}")

    def batches(self) -> Iterator[pa.Table]:
        if self.text.parquet:
            try:
                for batch in self.parquet.iter_batches(BATCH, columns=self.used):
                    self.read += batch.num_rows
                    yield pa.table({name: column if pa.types.is_integer((column := batch.column(name)).type) and name in NUMBERS else as_text(name, column) for name in self.used})
            except (pa.ArrowException, OSError) as error:
                raise Failure(f"cannot read {self.file}: {str(error)[:200]}", f"ls -l {shlex.quote(self.file)}") from error
            return
        head = True
        for block in self.text.blocks():
            kept = [line for line in block.split("\n") if line.strip() and not line.startswith("#")]
            if head and kept:
                kept, head = kept[1:], False
            if kept:
                table = self.parsed(kept)
                self.read += table.num_rows
                yield table

    def parsed(self, kept: list[str]) -> pa.Table:
        before = self.read

        def ragged(row: Any) -> str:
            self.ragged.append((before + (row.number or 1), str(row.text), f"{row.actual_columns} columns, not {row.expected_columns}"))
            self.read += 1
            return "skip"

        convert = csv.ConvertOptions(column_types=dict.fromkeys(self.names, pa.string()), include_columns=self.used, null_values=NULLS, strings_can_be_null=True, quoted_strings_can_be_null=True, check_utf8=False)
        return csv.read_csv(pa.BufferReader("\n".join(kept).encode(errors="replace")), csv.ReadOptions(use_threads=False, column_names=self.names),
                            csv.ParseOptions(delimiter=self.mark, invalid_row_handler=ragged), convert)


def as_text(name: str, column: Any) -> Any:
    try:
        text = column.cast(pa.string())
        return compute.if_else(compute.is_in(text, pa.array(NULLS)), None, text)
    except pa.ArrowException as error:
        raise Failure(f"column {name} is of {str(column.type)[:60]}: neither numbers nor text", "a number or a text in each cell") from error


def ingest(store: str | Path, file: str, day: str, text: Text) -> tuple[int, int, list[Ingest]]:
    """How many rows were read and taken, and a lot a day, the first of which has all that were refused."""
    table, names, lots = Table(file, text), Names(store), dict[str, tuple[Ingest, Ingest]]()

    def lot(of: str) -> tuple[Ingest, Ingest]:
        if of not in lots:
            lots[of] = Ingest(store, of, ROWS, names), Ingest(store, of, MEMORY_ROWS, names)
        return lots[of]

    first, at = lot(day)[0], 0
    for batch in table.batches():
        days = next((batch[name] for name in DAYS if name in batch.column_names), None)
        # Of a day with its hour the day counts.
        days = compute.utf8_slice_codeunits(days, 0, 10).combine_chunks() if days is not None else pa.array([day] * batch.num_rows)
        numbers = pa.array(range(at + 1, at + batch.num_rows + 1))
        at += batch.num_rows
        for one in compute.unique(days).to_pylist():
            these = compute.equal(days, one) if one is not None else compute.is_null(days)
            rows, of = batch.filter(these), numbers.filter(these).to_pylist()
            if wrong := no_day(one):
                for number, row in zip(of, rows.to_pylist()):
                    first.reject(number, shown(row), wrong)
            else:
                taken(rows, of, one, *lot(one))
    for number, row, why in table.ragged:
        first.reject(number, row, why)
    for rows, _ in lots.values():
        rows.settle()
    # One list of all days.
    first.rejected = sorted(one for rows, _ in lots.values() for one in rows.rejected)
    for rows, _ in list(lots.values())[1:]:
        rows.rejected = []
    commit(*(one for pair in lots.values() for one in pair))
    return table.read, sum(rows.count for rows, _ in lots.values()), [rows for rows, _ in lots.values()]


def no_day(word: str | None) -> str | None:
    """Why it is none."""
    if word is None:
        return "it has no day"
    try:
        return f"{word} is in the future: the clock of that host is wrong" if is_future(a_day(word)) else None
    except argparse.ArgumentTypeError:
        return f"{word[:40]!r} is no day, as 2026-11-29"


def taken(rows: pa.Table, numbers: list[int], day: str, lot: Ingest, memory: Ingest) -> None:
    """Rows of one day."""
    values = {name: trimmed(rows[name].combine_chunks()) for name in rows.column_names if name in NUMBERS}
    whole = {name: plain_number(column, 1 if name in FLAGS else study.MOST) for name, column in values.items()}
    fine = [compute.or_(good, compute.is_null(values[name])) for name, good in whole.items()]
    read = {name: compute.if_else(whole[name], column, None).cast(pa.int64()) for name, column in values.items()}
    sources = rows["source"].combine_chunks() if "source" in rows.column_names else pa.nulls(rows.num_rows, pa.string())
    sources = compute.fill_null(sources, "table")
    fine += [compute.fill_null(compute.match_substring_regex(rows["host"].combine_chunks(), PLAIN), False), compute.match_substring_regex(sources, PLAIN), *possible(read)]
    of, host = rows.num_rows, rows["host"].combine_chunks()
    known = sum(schema.BITS[name] for name in values if name in schema.MEASURED)
    columns: dict[str, Any] = {"host": host, "machine": pa.nulls(of, pa.string()), "source": sources, "synthetic": pa.array([False] * of), "known": pa.array([known] * of)}
    table = pa.table(columns | {name: read.get(name, pa.nulls(of, pa.int64())) for name in schema.MEASURED}, schema=schema.ARROW)
    plain = once(table, reduce(compute.and_, fine), lot)
    over_time = {name: read.get(name, pa.nulls(of, pa.int64())) for name in schema.OVER_TIME}
    # Counters of hosts that were taken, where there are any.
    told = reduce(compute.or_, map(compute.is_valid, over_time.values()))
    grown = pa.table({"host": host, "day": pa.array([day] * of), "source": sources, "boot": pa.nulls(of, pa.string()), **over_time}, schema=schema.TABLES[MEMORY_ROWS])
    lot.add_table(table.filter(plain))
    there = pa.array(sorted(memory.hosts & set(host.to_pylist())), pa.string())
    memory.add_table(grown.filter(compute.and_(compute.and_(plain, told), compute.invert(compute.is_in(host, there)))))
    for at in [at for at, good in enumerate(plain.to_pylist()) if not good]:
        row = rows.slice(at, 1).to_pylist()[0]
        texts = {name: None if (cell := values[name][at].as_py()) is None else str(cell) for name in values}
        if why := no_row(row, texts):
            lot.reject(numbers[at], shown(row), why)
            continue
        counted = {name: number(name, texts[name]) for name in texts}
        try:
            good = lot.add(numbers[at], shown(row), schema.row(row["host"].strip(), sources[at].as_py(), False, {name: counted[name] for name in counted if name in schema.MEASURED}))
        except study.Refused as refused:
            good = lot.reject(numbers[at], shown(row), str(refused))
        if good and any(counted.get(name) is not None for name in schema.OVER_TIME):
            memory.add(numbers[at], shown(row), schema.memory_row(row["host"].strip(), day, sources[at].as_py(), None, {name: counted.get(name) for name in schema.OVER_TIME}))


def trimmed(column: Any) -> Any:
    """Whole numbers as they are; of a text its digits. A decimal that is whole counts: some tools have no other numbers."""
    return column if pa.types.is_integer(column.type) else compute.replace_substring_regex(compute.utf8_trim_whitespace(column), r"\.0+$", "")


def plain_number(column: Any, most: int) -> Any:
    """Which are numbers from 0 to the most that there can be."""
    if pa.types.is_integer(column.type):
        return compute.fill_null(compute.and_(compute.greater_equal(column, 0), compute.less_equal(column, most)), False)
    return compute.fill_null(compute.match_substring_regex(column, "^[01]$" if most == 1 else "^[0-9]{1,15}$"), False)


def no_row(row: dict[str, Any], texts: dict[str, str | None]) -> str | None:
    """Why it is none, as far as one cell says it."""
    if not (row["host"] or "").strip():
        return "the host has no name"
    if len(row.get("source") or "") > 200 or len(row["host"]) > LONGEST:
        return "a text of it cannot be shown"
    try:
        for name, text in texts.items():
            if name in FLAGS and text not in (None, "0", "1"):
                return f"{name} is 0 or 1, not {text[:40]!r}"
            number(name, text)
    except study.Refused as why:
        return str(why)
    return "a host without RAM" if texts.get("ram_kib") and number("ram_kib", texts["ram_kib"]) == 0 else None


def number(name: str, text: str | None) -> int | None:
    return None if text is None else study.number(text, name)


def possible(read: dict[str, Any]) -> list[Any]:
    """What `schema.possible` refuses, of plain numbers; what is not known breaks no rule."""
    def of(name: str) -> Any:
        return read.get(name)

    rules = []
    if of("ram_kib") is not None:
        rules.append(compute.not_equal(of("ram_kib"), 0))
        if of("available_kib") is not None:
            rules.append(compute.less_equal(of("available_kib"), of("ram_kib")))
        if None not in (of("tmp_in_ram"), of("tmp_kib"), of("swap_total_kib")):
            rules.append(compute.or_kleene(compute.not_equal(of("tmp_in_ram"), 1), compute.less_equal(of("tmp_kib"), compute.add(of("ram_kib"), of("swap_total_kib")))))
    return [compute.fill_null(rule, True) for rule in rules]


def shown(row: dict[str, Any]) -> str:
    return ",".join("" if value is None else str(value) for value in row.values())
