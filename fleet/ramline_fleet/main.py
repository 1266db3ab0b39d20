"""ramline-fleet: many hosts.

    ramline-fleet ingest STORE FILE --layout new --day 2016-01-19       lines of the study's file into a store
    ramline-fleet collect STORE --ssh HOSTS                             asks every host of a file, a line each, over ssh
    ramline-fleet collect STORE --prometheus URL                        what a server knew of each host at the end of the day, or knows now
    ramline-fleet collect STORE --metrics FILE...                       what node_exporter printed; the host is the name of the file
    ramline-fleet collect STORE --snapshots FILE...                     what `ramline snapshot` wrote, each on its own day, memory settings too
    ramline-fleet collect STORE --reports FILE...                       the findings that `ramline checkup --json FILE` wrote
    ramline-fleet collect STORE --sadf FILE...                          what `sadf -j FILE -- -r ALL -S` printed, each day and host by itself
    ramline-fleet textfile                                              a script that tells node_exporter's textfile collector how much lies in /tmp
    ramline-fleet report STORE|FILE [--layout old|new]                  the report of the study as a document; `ramline fleet report` shows it
    ramline-fleet settings STORE [--roles FILE]                         memory settings that differ between hosts of one role
    ramline-fleet findings STORE                                        findings of checkup, counted over hosts
    ramline-fleet query NAME|all STORE                                  rows of one query, or of each of the report's, comma-separated
    ramline-fleet summarize STORE                                       makes anew what is kept of each host, as an ingest of many rows does by itself
    ramline-fleet rollout STORE [--roles FILE]                          in which order /tmp moves into memory: waves of hosts of every kind, and what a clean one says
    ramline-fleet synth FILE                                            a made-up file of 502 hosts with the points that the study published
    ramline-fleet synth STORE --hosts N [--days N]                      a made-up store of as many hosts like these
"""

import argparse
import contextlib
import datetime
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from . import collect, engine, findings, peaks, prometheus, report, rollout, schema, settings, sql, study
from .intake import SOURCES, closed, take
from .schema import FINDING_ROWS, ROWS, SETTING_ROWS
from .store import Ingest, commit, files_of
from .synth import fleet, published
from .words import a_day, bounds, whole, words_of


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
    commit(lot)
    return read, len(lot.rows), lot


def asked_over_ssh(args):
    """Every host that has no row for the day yet; the exit status."""
    try:
        hosts = collect.hosts_of(Path(args.ssh).read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"cannot read {args.ssh}: {error}\n  try: a line a host, [user@]host[:port]") from error
    if not hosts:
        raise Failure(f"{args.ssh} names no host\n  try: a line a host, [user@]host[:port]")
    lot, tell = Ingest(args.store, args.day), Progress()
    missing = [host for host in hosts if host not in lot.hosts]
    try:
        collect.collect(missing, lot, args.ssh_command, args.timeout, args.at_once, lambda done, failed: tell(f"{done} of {len(missing)} hosts asked, {failed} failed"))
    finally:
        status = closed([lot], len(hosts), len(hosts) - len(missing))
    return status


def scraped(args):
    """Every host that node_exporter has told of, in texts or through a server; the exit status."""
    lot = Ingest(args.store, args.day)
    if args.metrics:
        names = [Path(file).stem for file in args.metrics]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise Failure(f"two files are named {twice[0]}, and the name is the host's\n  try: one file a host, HOST.prom")
        texts = {Path(file).stem: lambda file=file: prometheus.samples(Path(file).read_text()) for file in args.metrics}
    else:
        end = datetime.datetime.fromisoformat(f"{args.day}T23:59:59+00:00").timestamp()
        try:
            known = prometheus.hosts(args.prometheus, min(end, time.time()))
        except study.Refused as why:
            raise Failure(f"{why}\n  try: --prometheus http://HOST:9090") from why
        texts = {host: lambda samples=samples: samples for host, samples in known.items()}
    there = sum(host in lot.hosts for host in texts)
    for order, (host, samples) in enumerate(sorted(texts.items()), 1):
        if host not in lot.hosts:
            try:
                lot.add(order, host, schema.row(host, "node_exporter", False, prometheus.values(samples())))
            except (study.Refused, OSError, UnicodeDecodeError) as why:
                lot.reject(order, host, str(why))
    return closed([lot], len(texts), there)


class Progress:
    """Says on standard error how far something is, at most once a second."""

    def __init__(self):
        self.start, self.said = time.monotonic(), 0.0

    def __call__(self, text):
        passed = time.monotonic() - self.start
        if passed - self.said >= 1:
            self.said = passed
            print(f"{passed:.0f} s: {text}", file=sys.stderr, flush=True)


def say(read, taken, lot):
    """The line that says what became of the lines; some of those that were refused."""
    print(f"{read} lines read: {taken} hosts taken, {len(lot.rejected)} lines refused", file=sys.stderr)
    for number, why, _ in lot.rejected[:5]:
        print(f"  line {number}: {why}", file=sys.stderr)
    if len(lot.rejected) > 5:
        print(f"  and {len(lot.rejected) - 5} more: {lot.store}/rejects/{lot.name}.tsv", file=sys.stderr)


class Told:
    """An engine that says how far it is."""

    def __init__(self, one, table, roles):
        self.of, self.say, self.asked = one, Progress(), 0
        if table == ROWS:
            self.of.prepare(self.say)
        else:
            engine.latest(one, table, roles, self.say)

    def ask(self, name):
        self.asked += 1
        found = self.of.ask(name)
        self.say(f"query {self.asked}, {name}")
        return found

    def counts(self, name):
        """Of a query with one row."""
        names, (row,) = self.ask(name)
        return dict(zip(names, row))


# What a store has none of, and how it comes to some.
NONE = {ROWS: "hosts in it: it has no rows in host_day\n  try: ramline-fleet ingest {} FILE --layout new", SETTING_ROWS: "settings in it\n  try: ramline-fleet collect {} --snapshots FILE...",
        FINDING_ROWS: "findings in it\n  try: ramline-fleet collect {} --reports FILE..."}


def refuse_unless_store(store, table=ROWS):
    if not files_of(store, table):
        raise Failure(f"{store} is no store with {NONE[table].format(store)}")


@contextlib.contextmanager
def asked(word, store, table=ROWS, roles=None):
    """An engine on a table of a store."""
    refuse_unless_store(store, table)
    try:
        one = engine.of(word, store)
    except engine.Missing as why:
        raise Failure(why) from why
    except Exception as error:  # an engine has errors of its own kind
        raise engine_failed(word, store, error) from error
    try:
        yield Told(one, table, roles or {})
    except (Failure, OSError):
        raise
    except Exception as error:
        raise engine_failed(word, store, error) from error
    finally:
        one.close()


def differing(args):
    """The document of the settings."""
    roles = roles_of(args.roles)
    with asked(args.engine, args.store, SETTING_ROWS, roles) as told:
        counts = told.counts("settings_asked")
        if roles:
            say_roles(counts["with_role"], counts["asked"], args)
        return settings.made(told.ask("settings"), counts)


def counted(args):
    """The document of the findings."""
    with asked(args.engine, args.store, FINDING_ROWS) as told:
        return findings.made(told.ask("findings"), told.counts("findings_asked"))


def engine_failed(word, store, error):
    return Failure(f"{word} cannot answer from {store}: {' '.join(str(error).split())[:300]}\n  try: ramline-fleet report {store} --engine duckdb")


def declared(file):
    """The layout of free that a comment of the file names: `# layout: old`."""
    try:
        found = re.search(r"^#\s*layout:\s*(old|new)\s*$", Path(file).read_text(errors="replace"), re.M)
    except OSError as error:
        raise Failure(f"cannot read {file}: {error.strerror}\n  try: ls -l {file}") from error
    return found and found[1]


def made(args):
    """The document of the report."""
    if Path(args.store).is_dir():
        with asked(args.engine, args.store) as told:
            return report.study(told)
    args.layout = args.layout or declared(args.store)
    if args.layout is None:
        raise Failure(f"{args.store} is a file, and a number does not say of which layout of free it is\n  try: --layout new (procps 3.3.10 or later) or --layout old")
    with tempfile.TemporaryDirectory(prefix="ramline-fleet-") as store:
        read, taken, lot = ingest(store, args.store, args.layout, args.day)
        say(read, taken, lot)
        if not taken:
            raise Failure(f"no line of {args.store} is a host\n  try: ramline-fleet report --layout {'old' if args.layout == 'new' else 'new'}")
        with asked(args.engine, store) as told:
            found = report.study(told)
        return {**found, "lines": {"read": read, "taken": taken, "refused": len(lot.rejected)}}


def roles_of(file):
    """The role of each host of a file."""
    try:
        lines = Path(file).read_text().splitlines() if file else []
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"cannot read {file}: {error}\n  try: a line a host, HOST<tab>ROLE") from error
    found = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            host, tab, role = line.partition("\t")
            if not (tab and host.strip() and role.strip().isprintable() and role.strip()):
                raise Failure(f"line {number} of {file} has no host and role\n  try: a line a host, HOST<tab>ROLE")
            found[host.strip()] = role.strip()
    return found


def say_roles(there, hosts, args):
    if not there:
        raise Failure(f"{args.roles} names no host of {args.store}\n  try: the names that ramline-fleet query rollout {args.store} has")
    print(f"{there} of {hosts} hosts have a role in {args.roles}", file=sys.stderr)


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
        if verb == "report":
            one.add_argument("--engine", default="duckdb", help="duckdb, local-cluster or spark://HOST:PORT (default %(default)s)")
        one.add_argument("--day", default=day, type=a_day)
    one = verbs.add_parser("collect")
    one.add_argument("store")
    source = one.add_mutually_exclusive_group(required=True)
    source.add_argument("--ssh", metavar="HOSTS", help="a file with [user@]host[:port] in each line")
    source.add_argument("--prometheus", metavar="URL", help="a server that scrapes node_exporter")
    source.add_argument("--snapshots", metavar="FILE", nargs="+", help="documents of ramline snapshot")
    source.add_argument("--reports", metavar="FILE", nargs="+", help="documents of ramline checkup --json")
    source.add_argument("--sadf", metavar="FILE", nargs="+", help="what sadf -j FILE -- -r ALL -S printed of a day of sysstat")
    source.add_argument("--metrics", metavar="FILE", nargs="+", help="texts of node_exporter")
    one.add_argument("--ssh-command", type=words_of, default=["ssh"], help="with options of your own (default ssh)")
    one.add_argument("--timeout", type=whole(1, 3600), default=20, metavar="SECONDS", help="for each host (default %(default)s)")
    one.add_argument("--at-once", type=whole(1, 1000), default=32, metavar="N", help="hosts (default %(default)s)")
    one.add_argument("--day", default=day, type=a_day)
    verbs.add_parser("textfile")
    one = verbs.add_parser("query")
    one.add_argument("name", choices=(*sql.QUERIES, "rollout", *sql.OTHERS, "all"))
    one.add_argument("store")
    one.add_argument("--parquet", metavar="FILE", help="as Parquet instead, of one query")
    one.add_argument("--roles", metavar="FILE", help="of settings: HOST<tab>ROLE in each line")
    one.add_argument("--engine", default="duckdb")
    for verb in ("settings", "findings"):
        one = verbs.add_parser(verb)
        one.add_argument("store")
        if verb == "settings":
            one.add_argument("--roles", metavar="FILE", help="HOST<tab>ROLE in each line; without it all hosts are one role")
        one.add_argument("--json", action="store_true", help="as a document")
        one.add_argument("--engine", default="duckdb")
    one = verbs.add_parser("summarize")
    one.add_argument("store")
    one = verbs.add_parser("rollout")
    one.add_argument("store")
    one.add_argument("--bounds", type=bounds, default=[0.01, 0.001], help="a wave for each: so small a share of hosts can break where it is clean (default 1%%,0.1%%)")
    one.add_argument("--roles", metavar="FILE", help="HOST<tab>ROLE in each line: each role is in each wave")
    one.add_argument("--engine", default="duckdb")
    one = verbs.add_parser("synth")
    one.add_argument("file")
    one.add_argument("--hosts", type=whole(1, 10_000_000))
    one.add_argument("--days", type=whole(1, 3660), default=1)
    one.add_argument("--day", default=day, type=a_day, help="the first")
    args = parser.parse_args(words)
    try:
        if args.verb == "synth" and args.hosts:
            fleet(args.file, args.hosts, args.days, args.day, Progress())
            peaks.renew(args.file, engine.DuckDb, Progress())
        elif args.verb == "synth":
            Path(args.file).write_text(published())
        elif args.verb == "ingest":
            say(*ingest(args.store, args.file, args.layout, args.day))
            peaks.renew(args.store, engine.DuckDb, Progress())
        elif args.verb == "collect":
            source = next((name for name in SOURCES if getattr(args, name)), None)
            status = take(args.store, source, getattr(args, source)) if source else asked_over_ssh(args) if args.ssh else scraped(args)
            peaks.renew(args.store, engine.DuckDb, Progress())
            return status
        elif args.verb == "textfile":
            sys.stdout.write(prometheus.TEXTFILE)
        elif args.verb == "summarize":
            refuse_unless_store(args.store)
            try:
                peaks.make(args.store, peaks.Peaks(args.store), engine.DuckDb, Progress())
            except OSError:
                raise
            except Exception as error:  # an engine has errors of its own kind
                raise engine_failed("duckdb", args.store, error) from error
        elif args.verb == "rollout":
            roles = roles_of(args.roles)
            with asked(args.engine, args.store) as told:
                rows = told.ask("rollout")[1]
            if roles:
                say_roles(sum(row[0] in roles for row in rows), len(rows), args)
            sys.stdout.write(rollout.text(rollout.plan(rows, args.bounds, roles)))
        elif args.verb in ("settings", "findings"):
            found = differing(args) if args.verb == "settings" else counted(args)
            sys.stdout.write(json.dumps(found, indent=1) + "\n" if args.json else (settings if args.verb == "settings" else findings).text(found))
        elif args.verb == "query":
            if args.parquet and args.name == "all":
                raise Failure("--parquet takes the rows of one query, and all are asked for\n  try: ramline-fleet query models STORE --parquet FILE")
            table = sql.OTHERS.get(args.name, ROWS)
            if args.roles and table != SETTING_ROWS:
                raise Failure(f"--roles goes with the settings, not with {args.name}\n  try: ramline-fleet query settings {args.store} --roles {args.roles}")
            with asked(args.engine, args.store, table, roles_of(args.roles)) as told:
                if args.parquet:
                    engine.as_parquet(args.parquet, *told.ask(args.name))
                    return 0
                for name in sql.QUERIES if args.name == "all" else [args.name]:
                    sys.stdout.write((f"# {name}\n" if args.name == "all" else "") + engine.table(*told.ask(name)))
        else:
            print(json.dumps(made(args), indent=1))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Who read it has seen enough; nothing more is written when this process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Failure as failure:
        print(f"ramline-fleet: {failure}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"ramline-fleet: cannot use {error.filename or args.verb}: {error.strerror}; nothing of it was kept\n  try: df -h {error.filename or '.'}", file=sys.stderr)
        return 1
    return 0
