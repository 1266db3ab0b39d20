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

import contextlib
import datetime
import json
import re
import shlex
import sys
import tempfile
import time
import traceback
from pathlib import Path

from . import arguments, collect, engine, findings, inputs, lock, peaks, prometheus, report, rollout, schema, settings, sql, study, trust
from .intake import SOURCES, closed, take
from .outputs import Output, printed
from .schema import FINDING_ROWS, ROWS, SETTING_ROWS
from .store import Ingest, commit, files_of
from .synth import fleet, published
from .words import Failure, tell


def text_of(file, hint=None, errors="strict"):
    """A file that was named."""
    try:
        return inputs.text(file, errors=errors)
    except OSError as error:
        raise Failure(f"cannot read {file}: {error}", hint or f"ls -l {shlex.quote(file)}") from error


def ingest(store, file, layout, day, text=None):
    """Lines of a file into a store: how many were read, taken and refused."""
    lot, read, synthetic = Ingest(store, day), 0, False
    text = text_of(file, errors="replace") if text is None else text
    for number, words in enumerate(text.split("\n"), 1):
        words = words.removesuffix("\r")
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
        lot.add(number, words, schema.row(host, "study", synthetic, values))
    commit(lot)
    return read, len(lot.rows), lot


def hosts_of(file):
    """The hosts that are asked over ssh."""
    hint = "a line a host, [user@]host[:port]"
    hosts = collect.hosts_of(text_of(file, hint))
    if not hosts:
        raise Failure(f"{file} names no host", hint)
    return hosts


def asked_over_ssh(args, hosts):
    """Every host of a list that has no row for the day yet; the exit status."""
    lot, say = Ingest(args.store, args.day), Progress()
    missing = [host for host in hosts if host not in lot.hosts]
    # One that was named is the user's.
    ssh = args.ssh_command or [trust.program("ssh")]
    try:
        collect.collect(missing, lot, ssh, args.timeout or arguments.SSH, args.at_once, lambda done, failed: say(f"{done} of {len(missing)} hosts asked, {failed} failed"))
    finally:
        status = closed([lot], len(hosts), len(hosts) - len(missing))
    return status


def scraped(args):
    """Every host that node_exporter has told of, in texts or through a server; the exit status."""
    lot = Ingest(args.store, args.day)
    if args.metrics:
        names = [Path(file).stem for file in args.metrics]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise Failure(f"two files are named {twice[0]}, and the name is the host's", "one file a host, HOST.prom")
        texts = {Path(file).stem: lambda file=file: prometheus.samples(inputs.text(file)) for file in args.metrics}
    else:
        end = datetime.datetime.fromisoformat(f"{args.day}T23:59:59+00:00").timestamp()
        try:
            known = prometheus.hosts(args.prometheus, min(end, time.time()), args.timeout or arguments.SERVER)
        except study.Refused as why:
            raise Failure(why, "--prometheus http://HOST:9090") from why
        texts = {host: lambda samples=samples: samples for host, samples in known.items()}
    there = sum(host in lot.hosts for host in texts)
    for order, (host, samples) in enumerate(sorted(texts.items()), 1):
        if host not in lot.hosts:
            try:
                samples = samples()
                if isinstance(samples, study.Refused):
                    raise samples
                lot.add(order, host, schema.row(host, "node_exporter", False, prometheus.values(samples)))
            except (study.Refused, OSError) as why:
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
            tell(f"{passed:.0f} s: {text}")


def say(read, taken, lot):
    """The line that says what became of the lines; some of those that were refused."""
    tell(f"{read} lines read: {taken} hosts taken, {len(lot.rejected)} lines refused")
    for number, why, _ in lot.rejected[:5]:
        tell(f"  line {number}: {why}")
    if len(lot.rejected) > 5:
        tell(f"  and {len(lot.rejected) - 5} more: {lot.store}/rejects/{lot.name}.tsv")


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
NONE = {ROWS: ("hosts in it: it has no rows in host_day", "ramline-fleet ingest {} FILE --layout new"), SETTING_ROWS: ("settings in it", "ramline-fleet collect {} --snapshots FILE..."),
        FINDING_ROWS: ("findings in it", "ramline-fleet collect {} --reports FILE...")}


def refuse_unless_store(store, table=ROWS):
    if not files_of(store, table):
        what, hint = NONE[table]
        raise Failure(f"{store} is no store with {what}", hint.format(shlex.quote(store)))


@contextlib.contextmanager
def asked(word, store, table=ROWS, roles=None):
    """An engine on a table of a store."""
    refuse_unless_store(store, table)
    try:
        one = engine.of(word, store)
    except Failure:
        raise
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
    return Failure(f"{word} cannot answer from {store}: {' '.join(str(error).split())[:300]}", f"ramline-fleet report {shlex.quote(str(store))} --engine duckdb")


def declared(text):
    """The layout of free that a comment of a file names: `# layout: old`."""
    found = re.search(r"^#\s*layout:\s*(old|new)\s*$", text, re.M)
    return found and found[1]


def made(args):
    """The document of the report."""
    if Path(args.store).is_dir():
        with asked(args.engine, args.store) as told:
            return report.study(told)
    text = text_of(args.store, errors="replace")
    args.layout = args.layout or declared(text)
    if args.layout is None:
        raise Failure(f"{args.store} is a file, and a number does not say of which layout of free it is", "--layout new (procps 3.3.10 or later) or --layout old")
    with tempfile.TemporaryDirectory(prefix="ramline-fleet-") as store:
        read, taken, lot = ingest(store, args.store, args.layout, args.day, text)
        say(read, taken, lot)
        if not taken:
            raise Failure(f"no line of {args.store} is a host", f"ramline-fleet report {shlex.quote(args.store)} --layout {'old' if args.layout == 'new' else 'new'}")
        with asked(args.engine, store) as told:
            found = report.study(told)
        return {**found, "lines": {"read": read, "taken": taken, "refused": len(lot.rejected)}}


def roles_of(file):
    """The role of each host of a file."""
    hint, found = "a line a host, HOST<tab>ROLE", {}
    lines = text_of(file, hint).splitlines() if file else []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            host, tab, role = line.partition("\t")
            if not (tab and host.strip() and role.strip().isprintable() and role.strip()):
                raise Failure(f"line {number} of {file} has no host and role", hint)
            found[host.strip()] = role.strip()
    return found


def say_roles(there, hosts, args):
    if not there:
        raise Failure(f"{args.roles} names no host of {args.store}", f"the names that ramline-fleet query rollout {shlex.quote(args.store)} has")
    tell(f"{there} of {hosts} hosts have a role in {args.roles}")


def written(args):
    """A verb that writes to a store, while no other does; the exit status."""
    status, source = 0, next((name for name in SOURCES if args.verb == "collect" and getattr(args, name)), None)
    # What was named is read before anything is made.
    hosts = hosts_of(args.ssh) if args.verb == "collect" and args.ssh else None
    text = text_of(args.file, errors="replace") if args.verb == "ingest" else None
    store = args.file if args.verb == "synth" else args.store
    if args.verb == "summarize":
        refuse_unless_store(store)
    with lock.writing(store, args.wait):
        if args.verb == "summarize":
            try:
                peaks.make(store, peaks.Peaks(store), engine.DuckDb, Progress())
            except OSError:
                raise
            except Exception as error:  # an engine has errors of its own kind
                raise engine_failed("duckdb", store, error) from error
            return status
        if args.verb == "synth":
            fleet(store, args.hosts, args.days, args.day, Progress())
        elif args.verb == "ingest":
            say(*ingest(store, args.file, args.layout, args.day, text))
        else:
            status = take(store, source, getattr(args, source)) if source else asked_over_ssh(args, hosts) if args.ssh else scraped(args)
        peaks.renew(store, engine.DuckDb, Progress())
    return status


def queried(args):
    """Rows of a query, or of all."""
    if args.parquet and args.name == "all":
        raise Failure("--parquet takes the rows of one query, and all are asked for", "ramline-fleet query models STORE --parquet FILE")
    table = sql.OTHERS.get(args.name, ROWS)
    if args.roles and table != SETTING_ROWS:
        raise Failure(f"--roles goes with the settings, not with {args.name}", f"ramline-fleet query settings {shlex.quote(args.store)} --roles {shlex.quote(args.roles)}")
    # Before any work.
    file = Output(args.parquet, b"PAR1", f"ramline-fleet query {args.name} STORE --parquet rows.parquet") if args.parquet is not None else None
    with asked(args.engine, args.store, table, roles_of(args.roles)) as told:
        if file:
            file.write(engine.as_parquet(*told.ask(args.name)))
            return
        for name in sql.QUERIES if args.name == "all" else [args.name]:
            printed((f"# {name}\n" if args.name == "all" else "") + engine.table(*told.ask(name)))


def answered(args):
    """A verb that reads; the exit status."""
    if args.verb == "textfile":
        printed(prometheus.TEXTFILE)
    elif args.verb == "rollout":
        roles = roles_of(args.roles)
        with asked(args.engine, args.store) as told:
            rows = told.ask("rollout")[1]
        if roles:
            say_roles(sum(row[0] in roles for row in rows), len(rows), args)
        printed(rollout.text(rollout.plan(rows, args.bounds, roles)))
    elif args.verb in ("settings", "findings"):
        found = differing(args) if args.verb == "settings" else counted(args)
        printed(json.dumps(found, indent=1) + "\n" if args.json else (settings if args.verb == "settings" else findings).text(found))
    elif args.verb == "query":
        queried(args)
    elif args.verb == "synth":
        Output(args.file, b"# synthetic", "ramline-fleet synth study.tsv").write(published().encode())
    else:
        printed(json.dumps(made(args), indent=1) + "\n")
    return 0


def main(words=None):
    args = arguments.parsed(words, __doc__)
    try:
        return written(args) if args.verb in arguments.WRITERS and not (args.verb == "synth" and not args.hosts) else answered(args)
    except KeyboardInterrupt:
        return 130
    except Failure as failure:
        tell(f"ramline-fleet: {failure}")
        tell(f"  try: {failure.hint}")
        return failure.status
    except OSError as error:
        tell(f"ramline-fleet: cannot use {error.filename or args.verb}: {error.strerror}; nothing of it was kept")
        tell(f"  try: df -h {shlex.quote(str(error.filename or '.'))}")
        return 1
    except Exception as error:  # of ours: one line, and not in the words of Python
        at = traceback.extract_tb(error.__traceback__)[-1]
        tell(f"ramline-fleet: internal error: {type(error).__name__} at {Path(at.filename).name}:{at.lineno}: {str(error)[:200]}")
        tell("  try: report it, with the command")
        return 1
