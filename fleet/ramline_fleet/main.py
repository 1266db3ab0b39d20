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
import errno
import json
import shlex
import signal
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import (
    actions,
    arguments,
    columns,
    compact,
    engine,
    findings,
    lines,
    lock,
    peaks,
    prometheus,
    questions,
    report,
    rollout,
    schema,
    settings,
    sql,
    window,
)
from .asked import Progress, asked, days_asked, engine_failed, hosts_of, refuse_unless_store, roles_of, say_roles
from .hosts import asked_over_ssh, scraped
from .intake import SOURCES, take
from .outputs import Output, printed
from .schema import FINDING_ROWS, MEMORY_ROWS, ROWS, SETTING_ROWS
from .store import Ingest, newest_day
from .synth import fleet, published
from .words import Failure, tell


def say(read: int, taken: int, lot: Ingest, where: str) -> None:
    """The line that says what became of the lines; some of those that were refused, and where all of them are."""
    tell(f"{read} lines read: {taken} hosts taken, {read - taken} lines refused")
    for number, why, _ in lot.rejected[:5]:
        tell(f"  line {number}: {why}")
    if len(lot.rejected) > 5:
        tell(f"  and {len(lot.rejected) - 5} more: {where}")


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


def made(args: Any) -> dict[str, Any]:
    """The document of the report."""
    if Path(args.store).is_dir():
        for option, value in (("--day", args.day), ("--layout", args.layout), ("--rejects", args.rejects)):
            if value:
                raise Failure(f"{option} goes with a file, and {args.store} is a store", "--since DAY --until DAY")
        roles = roles_of(args.roles)
        with asked(args, roles=roles) as told:
            whole: dict[str, Any] = report.study(told, bool(roles))
        whole["actions"] = actions.of_store(args, roles)
        if roles:
            say_roles(sum(one["hosts"] for one in whole["roles"] if one["name"]), whole["hosts"], args)
        return whole
    if "last" in args or args.since or args.until:
        raise Failure(f"--since, --until and --last go with a store, and {args.store} is a file of one day", f"ramline-fleet report {shlex.quote(args.store)}")
    rejects = Output(args.rejects, b"", "ramline-fleet report FILE --rejects rejects.tsv") if args.rejects is not None else None
    text = lines.Text(args.store)
    args.layout = args.layout or text.layout()
    if args.layout is None:
        raise Failure(f"{args.store} is a file, and a number does not say of which layout of free it is", "--layout new (procps 3.3.10 or later) or --layout old")
    with tempfile.TemporaryDirectory(prefix="ramline-fleet-") as store:
        read, taken, lot = lines.ingest(store, args.store, args.layout, args.day or window.today(), text)
        say(read, taken, lot, args.rejects or f"ramline-fleet report {shlex.quote(args.store)} --layout {args.layout} --rejects rejects.tsv")
        if rejects:
            rejects.write(lot.rejects())
        if not taken:
            raise Failure(f"no line of {args.store} is a host", f"ramline-fleet report {shlex.quote(args.store)} --layout {'old' if args.layout == 'new' else 'new'}")
        args.store = store
        with asked(args, days=window.ALL) as told:
            found = report.study(told) | {"since": None, "until": None}
        return {**found, "lines": {"read": read, "taken": taken, "refused": len(lot.rejected)}}


def written(args: Any) -> int:
    """A verb that writes to a store, while no other does; the exit status."""
    status, source = 0, next((name for name in SOURCES if args.verb == "collect" and getattr(args, name)), None)
    # What was named is read before anything is made.
    hosts = hosts_of(args.ssh) if args.verb == "collect" and args.ssh else []
    text = lines.Text(args.file) if args.verb == "ingest" else None
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
        elif text:
            if text.parquet or columns.header(text.first):
                read, taken, lots = columns.ingest(store, args.file, args.day, text)
            else:
                read, taken, lot = lines.ingest(store, args.file, args.layout, args.day, text)
                lots = [lot]
            say(read, taken, lots[0], f"{store}/rejects/{lots[0].name}.tsv")
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
    if args.roles and table not in (SETTING_ROWS, MEMORY_ROWS) and args.name not in ("roles", "all"):
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
        short = actions.short_of_memory(args)
        printed(rollout.text(rollout.plan(rows, args.bounds, roles, short)))
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
        arguments.refuse_address(args)
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
        place = error.filename or getattr(args, "store", None) or getattr(args, "file", None) or "."
        tell(f"ramline-fleet: cannot use {place}: {error.strerror or error}{'; nothing of it was kept' if args.verb in arguments.WRITERS else ''}")
        tell(f"  try: {'df -h' if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, None) else 'ls -l'} {shlex.quote(str(place))}")
        return 1
    except Exception as error:  # of ours: one line, and not in the words of Python
        at = traceback.extract_tb(error.__traceback__)[-1]
        tell(f"ramline-fleet: internal error: {type(error).__name__} at {Path(at.filename).name}:{at.lineno}: {str(error)[:200]}")
        tell("  try: report it, with the command")
        return 1
