"""ramline-fleet: many hosts.

    ramline-fleet ingest STORE FILE --layout new --day 2016-01-19       lines of the study's file into a store
    ramline-fleet report STORE|FILE [--layout old|new] [--json]         the report of the study
    ramline-fleet synth FILE                                            a made-up file of 502 hosts with the points that the study published
"""

import argparse
import datetime
import json
import sys
import tempfile
from pathlib import Path

from . import report, schema, study, text
from .engine import DuckDb
from .store import ROWS, Ingest
from .synth import published


class Failure(Exception):
    """What cannot be done: the object, the rule, and the way out."""


def ingest(store, file, layout, day, source="study"):
    """Lines of a file into a store: how many were read, taken and refused."""
    lot, read, synthetic = Ingest(store, day), 0, False
    try:
        lines = Path(file).read_text(errors="replace").splitlines()
    except OSError as error:
        raise Failure(f"cannot read {file}: {error.strerror}\n  try: ls -l {file}") from error
    for number, words in enumerate(lines, 1):
        if not words.strip() or words.startswith("#"):
            synthetic = synthetic or "synthetic" in words
            continue
        read += 1
        try:
            values = study.line(words, layout)
        except study.Refused as why:
            lot.reject(number, words, str(why))
            continue
        host = values.pop("host")
        lot.add(number, words, schema.row(host, source, synthetic, values))
    lot.commit()
    return read, len(lot.rows), lot


def told(read, taken, lot):
    """The line that says what became of the lines; some of those that were refused."""
    print(f"{read} lines read: {taken} hosts taken, {len(lot.rejected)} lines refused", file=sys.stderr)
    for number, why, _ in lot.rejected[:5]:
        print(f"  line {number}: {why}", file=sys.stderr)
    if len(lot.rejected) > 5:
        print(f"  and {len(lot.rejected) - 5} more: {lot.store}/rejects/{lot.name}.tsv", file=sys.stderr)


def made(args):
    """The document of the report."""
    if Path(args.store).is_dir():
        if not (Path(args.store) / ROWS).is_dir():
            raise Failure(f"{args.store} is no store: it has no {ROWS}\n  try: ramline-fleet ingest {args.store} FILE --layout new")
        return report.study(DuckDb(args.store))
    if args.layout is None:
        raise Failure(f"{args.store} is a file, and a number does not say of which layout of free it is\n  try: --layout new (procps 3.3.10 or later) or --layout old")
    with tempfile.TemporaryDirectory(prefix="ramline-fleet-") as store:
        read, taken, lot = ingest(store, args.store, args.layout, args.day)
        told(read, taken, lot)
        if not taken:
            raise Failure(f"no line of {args.store} is a host\n  try: ramline-fleet report --layout {'old' if args.layout == 'new' else 'new'}")
        return {**report.study(DuckDb(store)), "lines": {"read": read, "taken": taken, "refused": len(lot.rejected)}}


def main(words=None):
    parser = argparse.ArgumentParser(prog="ramline-fleet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    for verb in ("ingest", "report"):
        one = verbs.add_parser(verb)
        one.add_argument("store")
        if verb == "ingest":
            one.add_argument("file")
        one.add_argument("--layout", choices=("old", "new"), required=verb == "ingest", help="of free: new has a column 'available', old has 'buffers' and 'cached'")
        one.add_argument("--day", default=day, type=lambda word: datetime.date.fromisoformat(word).isoformat())
        one.add_argument("--json", action="store_true")
    verbs.add_parser("synth").add_argument("file")
    args = parser.parse_args(words)
    try:
        if args.verb == "synth":
            Path(args.file).write_text(published())
        elif args.verb == "ingest":
            told(*ingest(args.store, args.file, args.layout, args.day))
        else:
            document = made(args)
            print(json.dumps(document, indent=1) if args.json else text.of(document))
    except Failure as failure:
        print(f"ramline-fleet: {failure}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"ramline-fleet: cannot use {error.filename or args.verb}: {error.strerror}; nothing of it was kept\n  try: df -h {error.filename or '.'}", file=sys.stderr)
        return 1
    return 0
