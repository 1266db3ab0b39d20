"""How a store is asked: an engine on one of its tables, the days that count, the roles of a file, and progress on standard error."""

import contextlib
import shlex
import time
from collections.abc import Iterator, Sequence
from typing import Any

from . import collect, engine, inputs, sql, window
from .schema import FINDING_ROWS, MEMORY_ROWS, ROWS, SETTING_ROWS
from .store import has_parts, newest_day
from .words import Failure, tell


def text_of(file: Any, hint: str | None = None, errors: str = "strict") -> str:
    """A file that was named, without the mark with which some editors begin one."""
    try:
        return inputs.text(file, errors=errors).removeprefix("\ufeff")
    except OSError as error:
        raise Failure(f"cannot read {file}: {error}", hint or f"ls -l {shlex.quote(file)}") from error


def hosts_of(file: str) -> list[str]:
    """The hosts that are asked over ssh."""
    hint = "a line a host, [user@]host[:port]"
    hosts: list[str] = collect.hosts_of(text_of(file, hint))
    if not hosts:
        raise Failure(f"{file} names no host", hint)
    return hosts


def roles_of(file: str | None) -> dict[str, str]:
    """The role of each host of a file."""
    hint, found = "a line a host, HOST<tab>ROLE", dict[str, str]()
    for number, line in enumerate(text_of(file, hint).splitlines() if file else [], 1):
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


class Progress:
    """Says on standard error how far something is, at most once a second."""

    def __init__(self) -> None:
        self.start, self.said = time.monotonic(), 0.0

    def __call__(self, text: str) -> None:
        passed = time.monotonic() - self.start
        if passed - self.said >= 1:
            self.said = passed
            tell(f"{passed:.0f} s: {text}")


class Told:
    """An engine that says how far it is."""

    def __init__(self, one: Any, table: str, roles: dict[str, str], hosts: Sequence[str] = ()) -> None:
        self.of, self.say, self.asked = one, Progress(), 0
        if table == ROWS:
            self.of.listed(sql.ROLE, ("host", "role"), sorted(roles.items()))
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
    if not has_parts(store, ROWS if table == MEMORY_ROWS else table):
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
    if not has_parts(store, ROWS if table == MEMORY_ROWS else table, days):
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


def engine_failed(word: str, store: Any, error: Exception) -> Failure:
    hint = f"ls -l {shlex.quote(str(store))}" if word == "duckdb" else "the same with --engine duckdb"
    return Failure(f"{word} cannot answer from {store}: {' '.join(str(error).split())[:300]}", hint)
