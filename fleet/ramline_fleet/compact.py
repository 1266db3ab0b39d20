"""Many small files of a store become few: of each month that has ended one lot, with one file a bucket. Days that are too old are removed where that is asked for.

A lot that replaces others names them in replaces.json, which comes with it in one rename: from then on readers pass the others over, so that no row is ever missing or double. The others are removed after
that; where a kill comes between, the next run does. A lot of days of several months (as `synth` makes them) is left as it is, since its files are large. Readers that have listed the old files before
and not yet opened them end with an error that names one, and succeed when asked again.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from . import engine, schema
from .names import Names
from .outputs import new_file, synced
from .store import REPLACES, Part, fresh_name, lot_parts, lots_of, parts_of
from .window import ALL, Window, today
from .words import tell

# Lots of a month from which on an ingest merges them by itself.
WORTH = 8


def due(store: Path, table: str, least: int) -> dict[str, list[Part]]:
    """By month that has ended, its parts where they are of several lots or of single days."""
    by_lot: dict[str, list[Part]] = {}
    for part in parts_of(store, table):
        by_lot.setdefault(part.lot, []).append(part)
    out: dict[str, list[Part]] = {}
    for parts in by_lot.values():
        months = {part.month for part in parts}
        if len(months) == 1 and (month := months.pop()) < today()[:7]:
            out.setdefault(month, []).extend(parts)
    return {month: parts for month, parts in out.items() if len({part.lot for part in parts}) >= least or (least <= 2 and any(part.daily for part in parts) and len({part.first for part in parts}) > 1)}


def run(store: str | Path, least: int = 2) -> tuple[int, int]:
    """Files before and after, of what was changed."""
    store, before, after = Path(store), 0, 0
    for table in schema.TABLES:
        remove_replaced(store, table)
        for month, parts in sorted(due(store, table, least).items()):
            before += len(parts)
            after += merged(store, table, parts, [f"month={month}"], ALL)
    Names(store).compact()
    return before, after


def merged(store: Path, table: str, parts: list[Part], folders: list[str], days: Window) -> int:
    """One lot of some parts, in the place of their lots; how many files it has."""
    name, lots, files = fresh_name(), sorted({part.lot for part in parts}), 0
    aside = store / "aside" / name
    buckets: dict[int, list[Part]] = {}
    for part in parts:
        buckets.setdefault(part.bucket, []).append(part)
    one: Any = engine.DuckDb(store)
    try:
        for bucket, of in sorted(buckets.items()):
            at = aside / folders[0] / f"hb={bucket:02}"
            at.mkdir(parents=True)
            if one.merge(table, of, days, at):
                synced(at / "part.parquet")
                files += 1
            else:
                shutil.rmtree(at)
        aside.mkdir(parents=True, exist_ok=True)
        new_file(aside / REPLACES, json.dumps(lots).encode())
        aside.rename(store / table / f"ingest={name}")
        synced(store / table)
    finally:
        one.close()
        shutil.rmtree(aside, ignore_errors=True)
    remove_replaced(store, table)
    return files


def remove_replaced(store: Path, table: str) -> None:
    """Lots whose rows another one has."""
    kept = {folder.name for folder in lots_of(store, table)}
    for folder in (store / table).glob("ingest=*"):
        if folder.name not in kept:
            shutil.rmtree(folder, ignore_errors=True)
    for folder in lots_of(store, table):
        # With the last of them gone the list says nothing any more; a lot without rows neither.
        if (folder / REPLACES).exists() and not any(folder.glob("*=*")):
            shutil.rmtree(folder, ignore_errors=True)


def forget(store: str | Path, first: str) -> int:
    """Removes days before one; how many files were removed or written anew."""
    store, count = Path(store), 0
    for table in schema.TABLES:
        for folder in lots_of(store, table):
            parts = list(lot_parts(folder))
            old = [part for part in parts if part.last < first]
            across = [part for part in parts if part.first < first <= part.last]
            count += len(old) + len(across)
            if across:
                merged(store, table, across, [f"month={across[0].month}"], Window(first, None))
                continue
            for at in {part.path.parent.parent for part in old}:
                shutil.rmtree(at)
            if old and len(old) == len(parts):
                shutil.rmtree(folder, ignore_errors=True)
    return count


def renew(store: str | Path) -> None:
    """After a command that wrote; what was taken stays taken where that fails."""
    try:
        run(store, WORTH)
    except Exception as error:  # an engine has errors of its own kind
        tell(f"the files of the store were not merged: {' '.join(str(error).split())[:200]}")
        tell("  try: ramline-fleet compact STORE")
