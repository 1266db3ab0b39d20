"""ramline-fleet: many hosts.

    ramline-fleet ingest STORE FILE --layout new --day 2016-01-19       lines of the study's file into a store
    ramline-fleet collect STORE --ssh HOSTS                             asks every host of a file, a line each, over ssh
    ramline-fleet collect STORE --prometheus URL                        the worst of a day that a server knows of each host
    ramline-fleet collect STORE --metrics FILE...                       what node_exporter printed; the host is the name of the file
    ramline-fleet collect STORE --snapshots FILE...                     what `ramline snapshot` wrote, each on its own day, memory settings too
    ramline-fleet collect STORE --reports FILE...                       the findings that `ramline checkup --json FILE` wrote
    ramline-fleet collect STORE --sadf FILE...                          what `sadf -j FILE -- -r ALL -S` printed, each day and host by itself
    ramline-fleet textfile                                              a script that tells node_exporter's textfile collector how much lies in /tmp
    ramline-fleet report STORE|FILE [--layout old|new]                  the report of the study as a document; `ramline fleet report` shows it
    ramline-fleet settings STORE [--roles FILE]                         memory settings that differ between hosts of one role
    ramline-fleet findings STORE                                        findings of checkup, counted over hosts
    ramline-fleet query NAME|all STORE                                  rows of one query, or of each of the report's, comma-separated
    ramline-fleet size STORE [--roles FILE]                             RAM that each host needs, what it wastes and what it lacks
    ramline-fleet outliers STORE [--roles FILE]                         hosts that use memory unlike the others of their role
    ramline-fleet zram STORE [--roles FILE]                             what zram is worth over all hosts
    ramline-fleet kills STORE [--roles FILE]                            processes that were killed for want of memory
    ramline-fleet pressure STORE [--roles FILE]                         who waits for memory, refaults and swaps, by role
    ramline-fleet trend STORE [--what memory|tmp]                       hosts that run out of memory, and when
    ramline-fleet compare STORE --changed FILE --on DAY                 before and after a change of some hosts, against the others
    ramline-fleet host NAME STORE                                       all that is known of one host
    ramline-fleet compact STORE [--keep 400d]                           many small files become few; older days are removed
    ramline-fleet summarize STORE                                       makes anew what is kept of each host, as an ingest of many rows does by itself
    ramline-fleet rollout STORE [--roles FILE]                          in which order /tmp moves into memory: waves of hosts of every kind, and what a clean one says
    ramline-fleet synth FILE                                            a made-up file of 502 hosts with the points that the study published
    ramline-fleet synth STORE --hosts N [--days N]                      a made-up store of as many hosts like these

Which days count: --since DAY, --until DAY, --last 30d, 12w or all; without a word the 31 days up to the newest day of the store.
"""

import contextlib
import json
import re
import shlex
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import (
    arguments,
    collect,
    compact,
    engine,
    findings,
    inputs,
    lock,
    peaks,
    prometheus,
    questions,
    report,
    rollout,
    schema,
    settings,
    sql,
    study,
    trust,
    window,
)
from .intake import SOURCES, closed, take
from .names import Names
from .outputs import Output, printed
from .schema import FINDING_ROWS, MEMORY_ROWS, ROWS, SETTING_ROWS
from .store import Ingest, commit, newest_day, parts_of
from .synth import fleet, published
from .words import Failure, tell


def text_of(file: Any, hint: str | None = None, errors: str = "strict") -> str:
    """A file that was named."""
    try:
        return inputs.text(file, errors=errors)
    except OSError as error:
        raise Failure(f"cannot read {file}: {error}", hint or f"ls -l {shlex.quote(file)}") from error


def ingest(store: Any, file: Any, layout: str | None, day: str, text: str | None = None) -> tuple[int, int, Ingest]:
    """Lines of a file into a store: how many were read, taken and refused."""
    text = text_of(file, errors="replace") if text is None else text
    layout = layout or declared(text)
    if layout is None:
        raise Failure(f"{file} does not say of which layout of free its numbers are, and a number does not show it", "--layout new (procps 3.3.10 or later) or --layout old")
    lot, read, synthetic = Ingest(store, day, names=Names(store)), 0, False
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
        try:
            lot.add(number, words, schema.row(host, "study", synthetic, values))
        except study.Refused as why:
            lot.reject(number, words, str(why))
    commit(lot)
    return read, lot.count, lot


def hosts_of(file: str) -> list[str]:
    """The hosts that are asked over ssh."""
    hint = "a line a host, [user@]host[:port]"
    hosts: list[str] = collect.hosts_of(text_of(file, hint))
    if not hosts:
        raise Failure(f"{file} names no host", hint)
    return hosts


def asked_over_ssh(args: Any, hosts: list[str]) -> int:
    """Every host of a list that has no row for the day yet; the exit status."""
    lot, say = Ingest(args.store, args.day, names=Names(args.store)), Progress()
    missing = [host for host in hosts if lot.known(host) not in lot.hosts]
    # One that was named is the user's.
    ssh = args.ssh_command or [trust.program("ssh")]
    try:
        collect.collect(missing, lot, ssh, args.timeout or arguments.SSH, args.at_once, lambda done, failed: say(f"{done} of {len(missing)} hosts asked, {failed} failed"))
    finally:
        status = closed([lot], len(hosts), len(hosts) - len(missing))
    return status


def told(args: Any) -> Iterator[tuple[dict[str, Any], list[tuple[str, str]]]]:
    """Of some hosts at a time what gives their values; targets that were down, each with the reason."""
    if args.metrics:
        files = [Path(file).stem for file in args.metrics]
        if twice := sorted({name for name in files if files.count(name) > 1}):
            raise Failure(f"two files are named {twice[0]}, and the name is the host's", "one file a host, HOST.prom")
        yield {Path(file).stem: lambda file=file: prometheus.values(prometheus.samples(inputs.text(file))) for file in args.metrics}, []
        return
    try:
        server, none = prometheus.Server(args.prometheus, args.timeout or arguments.SERVER, prometheus.authority(args)), True
        for known, down in prometheus.hosts(server, args.day, args.peaks == "day", Progress()):
            none = none and not known and not down
            yield {host: lambda samples=samples: prometheus.values(samples) for host, samples in known.items()}, down
    except study.Refused as why:
        raise Failure(why, "--prometheus http://HOST:9090") from why
    if none:
        raise Failure(f"{args.prometheus} knows no host of {args.day} that node_exporter has told of", "--day DAY, within what the server keeps")


def scraped(args: Any) -> int:
    """Every host that node_exporter has told of, in texts or through a server; the exit status. Those that have come are kept where the others do not."""
    names = Names(args.store)
    lot, memory = Ingest(args.store, args.day, names=names), Ingest(args.store, args.day, MEMORY_ROWS, names)
    order = there = status = 0
    try:
        for found, down in told(args):
            for host, values in sorted(found.items()):
                order += 1
                if lot.known(host) in lot.hosts and host not in lot.taken:
                    there += 1
                    continue
                try:
                    said = values()
                    key, grown, boot = (said.pop(name) for name in ("machine", "over_time", "boot"))
                    if lot.add(order, host, schema.row(host, "node_exporter", False, said, key), key=key) and grown:
                        memory.add(order, host, schema.memory_row(host, args.day, "node_exporter", boot, grown), key=key)
                except (study.Refused, OSError) as why:
                    lot.reject(order, host, str(why))
            for host, text in sorted(down):
                order += 1
                lot.reject(order, host, text)
    finally:
        if order:
            status = closed([lot, memory], order, there, ("hosts", "memory over time"))
    return status


class Progress:
    """Says on standard error how far something is, at most once a second."""

    def __init__(self) -> None:
        self.start, self.said = time.monotonic(), 0.0

    def __call__(self, text: str) -> None:
        passed = time.monotonic() - self.start
        if passed - self.said >= 1:
            self.said = passed
            tell(f"{passed:.0f} s: {text}")


def say(read: int, taken: int, lot: Ingest, where: str) -> None:
    """The line that says what became of the lines; some of those that were refused, and where all of them are."""
    tell(f"{read} lines read: {taken} hosts taken, {len(lot.rejected)} lines refused")
    for number, why, _ in lot.rejected[:5]:
        tell(f"  line {number}: {why}")
    if len(lot.rejected) > 5:
        tell(f"  and {len(lot.rejected) - 5} more: {where}")


class Told:
    """An engine that says how far it is."""

    def __init__(self, one: Any, table: str, roles: dict[str, str], hosts: Sequence[str] = ()) -> None:
        self.of, self.say, self.asked = one, Progress(), 0
        if table == ROWS:
            self.of.prepare(self.say)
        elif table == MEMORY_ROWS:
            engine.daily(one, roles, hosts, self.say)
        else:
            engine.latest(one, table, roles, self.say)

    def ask(self, name: str) -> engine.Rows:
        self.asked += 1
        found: engine.Rows = self.of.ask(name)
        self.say(f"query {self.asked}, {name}")
        return found

    def counts(self, name: str) -> dict[str, Any]:
        """Of a query with one row."""
        names, (row,) = self.ask(name)
        return dict(zip(names, row))

    def rows(self, name: str) -> list[dict[str, Any]]:
        names, rows = self.ask(name)
        return [dict(zip(names, row)) for row in rows]


# What a store has none of, and how it comes to some.
NONE = {ROWS: ("hosts in it: it has no rows in host_day", "ramline-fleet ingest {} FILE --layout new"), SETTING_ROWS: ("settings in it", "ramline-fleet collect {} --snapshots FILE..."),
        FINDING_ROWS: ("findings in it", "ramline-fleet collect {} --reports FILE..."), MEMORY_ROWS: ("hosts in it: it has no rows in host_day", "ramline-fleet collect {} --snapshots FILE...")}


def refuse_unless_store(store: Any, table: str = ROWS) -> None:
    if not parts_of(store, ROWS if table == MEMORY_ROWS else table):
        what, hint = NONE[table]
        raise Failure(f"{store} is no store with {what}", hint.format(shlex.quote(str(store))))


def days_asked(args: Any, table: str) -> window.Window:
    """The days that count. Those of findings and settings are of their own tables."""
    newest = newest_day(args.store, [ROWS if table == MEMORY_ROWS else table]) or window.today()
    return window.chosen(newest, args.since, args.until, getattr(args, "last", window.USUAL))


@contextlib.contextmanager
def asked(args: Any, table: str = ROWS, roles: dict[str, str] | None = None, hosts: Sequence[str] = (), days: window.Window | None = None) -> Iterator[Told]:
    """An engine on a table of a store."""
    store = args.store
    refuse_unless_store(store, table)
    days = days or days_asked(args, table)
    if not parts_of(store, ROWS if table == MEMORY_ROWS else table, days):
        raise engine.no_rows(days)
    try:
        one = engine.from_word(args.engine, store, days)
    except Failure:
        raise
    except Exception as error:  # an engine has errors of its own kind
        raise engine_failed(args.engine, store, error) from error
    try:
        yield Told(one, table, roles or {}, hosts)
    except (Failure, OSError):
        raise
    except Exception as error:
        raise engine_failed(args.engine, store, error) from error
    finally:
        one.close()


def differing(args: Any) -> dict[str, Any]:
    """The document of the settings."""
    roles = roles_of(args.roles)
    with asked(args, SETTING_ROWS, roles) as told:
        counts = told.counts("settings_asked")
        if roles:
            say_roles(counts["with_role"], counts["asked"], args)
        found: dict[str, Any] = settings.made(told.ask("settings"), counts)
        return found


def counted(args: Any) -> dict[str, Any]:
    """The document of the findings."""
    with asked(args, FINDING_ROWS) as told:
        found: dict[str, Any] = findings.made(told.ask("findings"), told.counts("findings_asked"))
        return found


def engine_failed(word: str, store: Any, error: Exception) -> Failure:
    hint = f"ls -l {shlex.quote(str(store))}" if word == "duckdb" else "the same with --engine duckdb"
    return Failure(f"{word} cannot answer from {store}: {' '.join(str(error).split())[:300]}", hint)


def declared(text: str) -> str | None:
    """The layout of free that a comment of a file names: `# layout: old`."""
    found = re.search(r"^#\s*layout:\s*(old|new)\s*$", text, re.MULTILINE)
    return found[1] if found else None


def made(args: Any) -> dict[str, Any]:
    """The document of the report."""
    if Path(args.store).is_dir():
        for option, value in (("--day", args.day), ("--layout", args.layout), ("--rejects", args.rejects)):
            if value:
                raise Failure(f"{option} goes with a file, and {args.store} is a store", "--since DAY --until DAY")
        with asked(args) as told:
            whole: dict[str, Any] = report.study(told)
            return whole
    if "last" in args or args.since or args.until:
        raise Failure(f"--since, --until and --last go with a store, and {args.store} is a file of one day", f"ramline-fleet report {shlex.quote(args.store)}")
    rejects = Output(args.rejects, b"", "ramline-fleet report FILE --rejects rejects.tsv") if args.rejects is not None else None
    text = text_of(args.store, errors="replace")
    args.layout = args.layout or declared(text)
    if args.layout is None:
        raise Failure(f"{args.store} is a file, and a number does not say of which layout of free it is", "--layout new (procps 3.3.10 or later) or --layout old")
    with tempfile.TemporaryDirectory(prefix="ramline-fleet-") as store:
        read, taken, lot = ingest(store, args.store, args.layout, args.day or window.today(), text)
        say(read, taken, lot, args.rejects or f"ramline-fleet report {shlex.quote(args.store)} --layout {args.layout} --rejects rejects.tsv")
        if rejects:
            rejects.write(lot.rejects())
        if not taken:
            raise Failure(f"no line of {args.store} is a host", f"ramline-fleet report {shlex.quote(args.store)} --layout {'old' if args.layout == 'new' else 'new'}")
        args.store = store
        with asked(args, days=window.ALL) as told:
            found = report.study(told) | {"since": None, "until": None}
        return {**found, "lines": {"read": read, "taken": taken, "refused": len(lot.rejected)}}


def roles_of(file: str | None) -> dict[str, str]:
    """The role of each host of a file."""
    hint, found = "a line a host, HOST<tab>ROLE", dict[str, str]()
    lines = text_of(file, hint).splitlines() if file else []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            host, tab, role = line.partition("\t")
            if not (tab and host.strip() and role.strip().isprintable() and role.strip()):
                raise Failure(f"line {number} of {file} has no host and role", hint)
            found[host.strip()] = role.strip()
    return found


def say_roles(there: int, hosts: int, args: Any) -> None:
    if not there:
        raise Failure(f"{args.roles} names no host of {args.store}", f"the names that ramline-fleet query rollout {shlex.quote(args.store)} has")
    tell(f"{there} of {hosts} hosts have a role in {args.roles}")


def written(args: Any) -> int:
    """A verb that writes to a store, while no other does; the exit status."""
    status, source = 0, next((name for name in SOURCES if args.verb == "collect" and getattr(args, name)), None)
    # What was named is read before anything is made.
    hosts = hosts_of(args.ssh) if args.verb == "collect" and args.ssh else []
    text = text_of(args.file, errors="replace") if args.verb == "ingest" else None
    store = args.file if args.verb == "synth" else args.store
    if args.verb in ("summarize", "compact"):
        refuse_unless_store(store)
    with lock.writing(store, args.wait):
        if args.verb == "summarize":
            try:
                peaks.make_all(store, engine.DuckDb, Progress())
            except OSError:
                raise
            except Exception as error:  # an engine has errors of its own kind
                raise engine_failed("duckdb", store, error) from error
            return status
        if args.verb == "compact":
            if args.keep:
                first = window.before(newest_day(store, schema.TABLES) or window.today(), args.keep)
                tell(f"days before {first} are removed: {compact.forget(store, first)} files")
            before, after = compact.run(store)
            tell(f"{before} files became {after}" if before else "nothing to merge: each month that has ended is in one lot")
            return status
        if args.verb == "synth":
            fleet(store, args.hosts, args.days, args.day, Progress())
        elif args.verb == "ingest":
            read, taken, lot = ingest(store, args.file, args.layout, args.day, text)
            say(read, taken, lot, f"{store}/rejects/{lot.name}.tsv")
        else:
            status = take(store, source, getattr(args, source)) if source else asked_over_ssh(args, hosts) if args.ssh else scraped(args)
        if args.verb != "synth":
            compact.renew(store)
        peaks.renew(store, engine.DuckDb, Progress())
    return status


def queried(args: Any) -> None:
    """Rows of a query, or of all."""
    if args.parquet and args.name == "all":
        raise Failure("--parquet takes the rows of one query, and all are asked for", "ramline-fleet query models STORE --parquet FILE")
    table = sql.OTHERS.get(args.name, ROWS)
    if args.roles and table not in (SETTING_ROWS, MEMORY_ROWS):
        raise Failure(f"--roles goes with settings and memory, not with {args.name}", f"ramline-fleet query settings {shlex.quote(args.store)} --roles {shlex.quote(args.roles)}")
    # Before any work.
    file = Output(args.parquet, b"PAR1", f"ramline-fleet query {args.name} STORE --parquet rows.parquet") if args.parquet is not None else None
    with asked(args, table, roles_of(args.roles)) as told:
        if file:
            file.write(engine.as_parquet(*told.ask(args.name)))
            return
        for name in sql.QUERIES if args.name == "all" else [args.name]:
            printed((f"# {name}\n" if args.name == "all" else "") + engine.table(*told.ask(name)))


def answered(args: Any) -> int:
    """A verb that reads; the exit status."""
    if args.verb == "textfile":
        printed(prometheus.TEXTFILE)
    elif args.verb == "rollout":
        roles = roles_of(args.roles)
        with asked(args) as told:
            rows = told.ask("rollout")[1]
        if roles:
            say_roles(sum(row[0] in roles for row in rows), len(rows), args)
        printed(rollout.text(rollout.plan(rows, args.bounds, roles)))
    elif args.verb in ("settings", "findings"):
        found = differing(args) if args.verb == "settings" else counted(args)
        printed(json.dumps(found, indent=1) + "\n" if args.json else (settings if args.verb == "settings" else findings).text(found))
    elif args.verb in arguments.OVER_TIME:
        questions.answer(args, asked, roles_of, days_asked(args, MEMORY_ROWS))
    elif args.verb == "host":
        questions.of_host(args, asked)
    elif args.verb == "query":
        queried(args)
    elif args.verb == "synth":
        Output(args.file, b"# synthetic", "ramline-fleet synth study.tsv").write(published().encode())
    else:
        printed(json.dumps(made(args), indent=1) + "\n")
    return 0


class Ended(KeyboardInterrupt):
    """SIGTERM and SIGHUP end as SIGINT does: what has come is kept."""


def on_signal(number: int, _: Any) -> None:
    # Once is enough: the second time it ends as always.
    signal.signal(number, signal.SIG_DFL)
    raise Ended(number)


def main(words: Sequence[str] | None = None) -> int:
    args = arguments.parsed(words, __doc__)
    try:
        with contextlib.suppress(ValueError):
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) == signal.SIG_DFL:
                    signal.signal(number, on_signal)
        return written(args) if args.verb in arguments.WRITERS and not (args.verb == "synth" and not args.hosts) else answered(args)
    except Ended as ended:
        return 128 + int(ended.args[0])
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
