"""A row a host of all days so far, kept beside the rows a host and day: a report of a year reads it instead of the year.

host_peak/NAME/ has hb=BUCKET/host_peak.parquet, host_lack.parquet beside it (days on which there was too little) and lots.json, which names the lots that are in it, each with its files and bytes. It is made from the one before
and from what has come since, written aside and renamed as one; one that a change of queries/host_peak.sql has outdated, or of which a lot or a day is gone, is
not used. Nothing is lost without it: an engine makes the rest of it, or all, from the rows.
"""

import contextlib
import hashlib
import json
import shlex
import shutil
from pathlib import Path

import pyarrow.parquet as parquet

from . import inputs, sql
from .outputs import synced
from .store import ROWS, fresh_name, new_file, regular
from .words import tell

LOTS = "lots.json"
# So many rows are gone through in less than a second; for fewer nothing is kept.
WORTH = 100_000


def version():
    """Of the texts that say what a peak is."""
    return hashlib.sha256("".join(map(sql.query, (sql.PEAK, sql.MERGE, sql.LACK))).encode()).hexdigest()[:16]


class Peaks:
    """The newest that can be used, and the lots that are not in it."""

    def __init__(self, store):
        self.rows = Path(store) / ROWS
        there = {folder.name: marks for folder in self.rows.glob("ingest=*") if (marks := marked(folder)) != [0, 0]}
        self.at, known, self.hosts = None, set(), 0
        for file in sorted(Path(store).glob(f"{sql.PEAK}/*/{LOTS}"), reverse=True):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                said = json.loads(inputs.pieces(file))
                if said["version"] == version() and all(there.get(lot) == marks for lot, marks in said["lots"].items()):
                    self.at, known, self.hosts = file.parent, set(said["lots"]), said["hosts"]
                    break
        self.lots, self.missing = there, sorted(there.keys() - known)

    def kept_files(self, name):
        """By bucket, those of `host_peak` or of `host_lack`."""
        return by_bucket(regular(self.at.glob(f"hb=*/{name}.parquet")) if self.at else [])

    def missing_files(self):
        """By bucket, of the rows that are not in it."""
        return by_bucket(file for lot in self.missing for file in regular((self.rows / lot).glob("dt=*/hb=*/*.parquet")))


def marked(folder):
    """How many files a lot has, and their bytes: days may be removed from it."""
    sizes = [file.stat().st_size for file in folder.glob("dt=*/hb=*/*.parquet")]
    return [len(sizes), sum(sizes)]


def by_bucket(files):
    out = {}
    for file in files:
        out.setdefault(int(file.parent.name.removeprefix("hb=")), []).append(file)
    return out


def renew(store, engine, say=lambda text: None):
    """Keeps a new one where it saves more work than it is; rows that were taken stay taken where that fails."""
    try:
        old = Peaks(store)
        rows = sum(parquet.read_metadata(file).num_rows for files in old.missing_files().values() for file in files)
        if rows >= max(WORTH, old.hosts):
            make(store, old, engine, say)
    except Exception as error:  # an engine has errors of its own kind
        tell(f"the summary of hosts was not renewed, so that reports take longer: {' '.join(str(error).split())[:200]}")
        tell(f"  try: ramline-fleet summarize {shlex.quote(str(store))}")


def make(store, old, engine, say):
    """Keeps a new one of all lots there are; `engine` makes one that writes it."""
    name = fresh_name()
    aside, kept = Path(store) / "aside" / name, Path(store) / sql.PEAK
    aside.mkdir(parents=True)
    try:
        with contextlib.closing(engine(store)) as one:
            # The same look at the store for the files and for the list of what is in them.
            hosts = one.keep(aside, old, say)
        for file in aside.glob("hb=*/*.parquet"):
            synced(file)
        new_file(aside / LOTS, json.dumps({"version": version(), "lots": old.lots, "hosts": hosts}).encode())
        kept.mkdir(exist_ok=True)
        aside.rename(kept / name)
        synced(kept)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    # A report that is being made may read the one before.
    for folder in sorted(kept.iterdir())[:-2]:
        # Without its list it is none, whatever is left of it.
        (folder / LOTS).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
