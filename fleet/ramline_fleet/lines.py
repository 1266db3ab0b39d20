"""Lines of the study's file into a store, some thousand at a time.

Most lines are plain: a name of letters and digits, whole numbers, sums that come out. These are looked at together, as columns. Every other line goes one by one through `study.line`, which says what is
wrong with it; both ways take and refuse the same lines.
"""

import itertools
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute

from . import inputs, schema, study
from .names import Names
from .store import Ingest, commit
from .words import Failure

# Numbers of 15 digits and their sums are exact as floating point, so that both ways compare alike.
NUMBER = r"\t(-|[0-9]{1,15})"
PLAIN = re.compile(rf"^([A-Za-z0-9._@:-]+){NUMBER * 11}(?:{NUMBER}\t(physical|virtual|-))?\r?$", re.MULTILINE)
LAYOUT = re.compile(r"^#\s*layout:\s*(old|new)\s*$", re.MULTILINE)
# What a line may say beyond the twelve columns.
MORE = schema.BITS["up_s"] | schema.BITS["virtual_machine"]


class Text:
    """A file that was named: the first of it is read before anything is made."""

    def __init__(self, file: Any) -> None:
        self.file, pieces = file, inputs.blocks(file, inputs.MOST_OF_LINES)
        try:
            head = next(pieces, b"")
            self.parquet = head.startswith(b"PAR1")
            self.rest: Iterator[str] = iter(()) if self.parquet else inputs.lines(itertools.chain([head], pieces))
            # The mark with which some editors begin a file.
            self.first = next(self.rest, "").removeprefix("\ufeff")
        except OSError as error:
            raise Failure(f"cannot read {file}: {error}", f"ls -l {shlex.quote(str(file))}") from error

    def blocks(self) -> Iterator[str]:
        yield self.first
        try:
            yield from self.rest
        except inputs.Unread as error:
            raise Failure(f"cannot read {self.file}: {error}", f"ls -l {shlex.quote(str(self.file))}") from error

    def layout(self) -> str | None:
        """What a comment says of free: `# layout: old`. It stands before the hosts."""
        found = LAYOUT.search(self.first)
        return found[1] if found else None


def ingest(store: str | Path, file: Any, layout: str | None, day: str, text: Text | None = None) -> tuple[int, int, Ingest]:
    """How many lines were read and taken, and the lot with those that were refused."""
    text = text or Text(file)
    layout = layout or text.layout()
    if layout is None:
        raise Failure(f"{file} does not say of which layout of free its numbers are, and a number does not show it", "--layout new (procps 3.3.10 or later) or --layout old")
    lot, read, number, synthetic = Ingest(store, day, names=Names(store)), 0, 0, False
    for block in text.blocks():
        lines, found, rest = block.split("\n"), PLAIN.findall(block), list[tuple[int, str]]()
        if len(found) < len(lines):
            synthetic = synthetic or any("synthetic" in line for line in lines if line.startswith("#"))
            rest = [(at, line.removesuffix("\r")) for at, line in enumerate(lines, number + 1) if not PLAIN.fullmatch(line)]
            rest = [(at, line) for at, line in rest if line.strip() and not line.startswith("#")]
        read += len(found) + len(rest)
        if found:
            table = columns(found, layout, synthetic)
            fine = once(table, adding_up(table, layout), lot, {line.partition("\t")[0].strip() for _, line in rest})
            if not all(fine.to_pylist()):
                # Where a host has a line that is taken and one that is not, both are among them.
                hosts = set(table["host"].filter(compute.invert(fine)).to_pylist())
                rest = sorted([*rest, *((at, line.removesuffix("\r")) for at, line in enumerate(lines, number + 1) if line.partition("\t")[0] in hosts and PLAIN.fullmatch(line))])
            lot.add_table(table.filter(fine))
        one_by_one(rest, layout, synthetic, lot)
        number += len(lines)
    lot.settle()
    commit(lot)
    return read, lot.count, lot


def one_by_one(rest: Iterable[tuple[int, str]], layout: str, synthetic: bool, lot: Ingest) -> None:
    """Those that are not plain, each with its number."""
    for number, line in rest:
        try:
            values = study.line(line, layout)
            lot.add(number, line, schema.row(values.pop("host"), "study", synthetic, values))
        except study.Refused as why:
            lot.reject(number, line, str(why))


def columns(found: list[tuple[str, ...]], layout: str, synthetic: bool) -> pa.Table:
    """Rows of plain lines."""
    host, *texts = zip(*found)
    names = ("tmp_kib", *study.MEMORY[layout], *study.SWAP, "tmp_inodes", "up_s")
    values = {name: numbers(column) for name, column in zip(names, texts)}
    kinds = pa.array(texts[-1])
    kind = compute.if_else(compute.equal(kinds, "virtual"), 1, compute.if_else(compute.equal(kinds, "physical"), 0, None)).cast(pa.int64())
    known = compute.if_else(compute.equal(kinds, ""), sum(schema.BITS[name] for name in names[:-1]), sum(schema.BITS[name] for name in names) | MORE).cast(pa.int64())
    of = len(host)
    out: dict[str, Any] = {"host": pa.array(host), "machine": pa.nulls(of, pa.string()), "source": pa.array(["study"] * of), "synthetic": pa.array([synthetic] * of), "known": known}
    return pa.table(out | {name: values.get(name, pa.nulls(of, pa.int64())) for name in schema.MEASURED} | {"virtual_machine": kind}, schema=schema.ARROW)


def once(table: pa.Table, fine: Any, lot: Ingest, others: AbstractSet[str] = frozenset()) -> Any:
    """Of rows that are fine those whose host has one row alone, and none in the store or among the others; nor is it known under another name."""
    hosts = table["host"].to_pylist()
    several = {host for host, count in Counter(hosts).items() if count > 1} | lot.hosts.intersection(hosts) | (others & set(hosts))
    several |= lot.names.latest.keys() & hosts if lot.names else set()
    # A table may have rows without one.
    several.discard(None)
    return compute.and_(fine, compute.invert(compute.is_in(table["host"].combine_chunks(), pa.array(sorted(several), pa.string())))) if several else fine


def numbers(texts: Iterable[str]) -> Any:
    """Whole numbers of their digits; `-` and nothing are not known."""
    column = pa.array(texts)
    return compute.if_else(compute.or_(compute.equal(column, "-"), compute.equal(column, "")), None, column).cast(pa.int64())


def adding_up(table: pa.Table, layout: str) -> Any:
    """Which rows `study.adds_up` takes."""
    of = {name: table[name].combine_chunks() for name in ("ram_kib", "used_kib", "free_kib", "cached_kib", "available_kib", *study.SWAP)}
    total, cached = of["ram_kib"], of["cached_kib"]

    def loose(whole: Any) -> Any:
        return compute.multiply(whole.cast(pa.float64()), study.LOOSE)

    def near(one: Any, other: Any, whole: Any) -> Any:
        return compute.less_equal(compute.abs(compute.subtract(compute.add(one, other), whole)).cast(pa.float64()), loose(whole))

    sums = near(of["used_kib"], of["free_kib"], total)
    if layout == "old":
        # Where the cache is not known the sum was not looked at.
        rules = [compute.or_kleene(sums, compute.is_null(cached))]
    else:
        rules = [compute.invert(compute.and_kleene(sums, compute.greater(cached.cast(pa.float64()), loose(total))))]
    rules += [compute.not_equal(total, 0), compute.less_equal(of["available_kib"], total), near(of["swap_used_kib"], of["swap_free_kib"], of["swap_total_kib"])]
    # What is not known breaks no rule.
    return reduce(compute.and_, (compute.fill_null(rule, True) for rule in rules))
