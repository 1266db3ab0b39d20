"""What an owner of many hosts asks of their memory over time: each question is one query, and one module that says what its rows mean."""

import contextlib
import json
import shlex
from collections.abc import Callable
from typing import Any

from . import compare, history, outliers, sizing, swapping, trend
from .asked import hosts_of
from .outputs import printed
from .schema import FINDING_ROWS, MEMORY_ROWS, SETTING_ROWS
from .window import Window, before
from .words import Failure, plain, tell

# The document of rows a host, and its text.
OF_HOSTS = {"size": (sizing.made, sizing.text), "outliers": (outliers.made, outliers.text), "zram": (swapping.zram, swapping.zram_text), "kills": (swapping.kills, swapping.kills_text),
            "pressure": (swapping.pressure, swapping.pressure_text)}


def answer(args: Any, asked: Callable[..., Any], roles_of: Callable[[str | None], dict[str, str]], days: Window) -> None:
    """Prints it."""
    if args.verb == "compare":
        found, text = compared(args, asked, days), compare.text
    elif args.verb == "trend":
        found, text = falling(args, asked, days), trend.text
    else:
        roles = roles_of(args.roles)
        make, text = OF_HOSTS[args.verb]
        with asked(args, MEMORY_ROWS, roles, days=days) as told:
            counts = told.counts("memory_asked")
            if roles:
                if not counts["with_role"]:
                    raise Failure(f"{args.roles} names no host of {args.store}", f"the names that ramline-fleet query rollout {shlex.quote(args.store)} has")
                tell(f"{counts['with_role']} of {counts['hosts']} hosts have a role in {args.roles}")
            counts |= {"since": days.since, "until": days.until}
            found = sized(told, days, counts) if args.verb == "size" else make(told.rows("memory_hosts"), counts)
    printed(json.dumps(found, indent=1) + "\n" if args.json else text(found))


def sized(told: Any, days: Window, counts: dict[str, Any]) -> dict[str, Any]:
    """What each host needs; one that is about to run out has nothing to spare."""
    ends = ending(told, "memory", days, counts)["breaks"]
    return sizing.made(told.rows("memory_hosts"), counts, {one["host"]: one["day"] for one in ends})


def falling(args: Any, asked: Callable[..., Any], days: Window) -> dict[str, Any]:
    with asked(args, MEMORY_ROWS, days=days) as told:
        return ending(told, args.what, days, told.counts("memory_asked"))


def ending(told: Any, what: str, days: Window, counts: dict[str, Any]) -> dict[str, Any]:
    """The document of the trend."""
    column = "left_kib" if what == "memory" else "left_after_tmp_kib"

    def series(hosts: list[str]) -> dict[str, list[tuple[int, int]]]:
        told.of.listed("host_asked", ("host",), [(host,) for host in hosts])
        out: dict[str, list[tuple[int, int]]] = {host: [] for host in hosts}
        for row in told.rows("host_days"):
            if row[column] is not None:
                out[row["host"]].append((row["n"], row[column]))
        return out

    return trend.made(what, told.ask("trend")[1], series, days.until or "", counts)


def compared(args: Any, asked: Callable[..., Any], days: Window) -> dict[str, Any]:
    changed = set(hosts_of(args.changed))
    sides = Window(days.since if days.since and days.since < args.on else None, before(args.on, 2)), Window(before(args.on, 0), days.until)
    found = []
    for side in sides:
        with asked(args, MEMORY_ROWS, days=side) as told:
            found.append({row["host"]: row for row in told.rows("memory_hosts")})
    if not changed & (found[0].keys() | found[1].keys()):
        raise Failure(f"{args.changed} names no host of {args.store}", f"the names that ramline-fleet query rollout {shlex.quote(args.store)} has")
    return compare.made(found[0], found[1], changed, {"on": args.on, "since": sides[0].since, "until": sides[1].until})


def of_host(args: Any, asked: Callable[..., Any]) -> None:
    """One host: its days, settings unlike the others', findings."""
    with asked(args, MEMORY_ROWS, hosts=[args.name]) as told:
        days = told.rows("host_days")
        if not days:
            known = [row["host"] for row in told.rows("memory_hosts")]
            raise Failure(f"{args.store} has no host {plain(args.name)} in these days; {history.nearest(args.name, known)}", "--last all, or a name that ramline-fleet query rollout STORE has")
    settings, findings = others(args, asked, SETTING_ROWS, "settings_hosts", "host"), others(args, asked, FINDING_ROWS, "findings_hosts", "host")
    printed(history.text(args.name, days, settings, findings))


def others(args: Any, asked: Callable[..., Any], table: str, query: str, column: str) -> list[tuple[Any, ...]]:
    """Rows of this host; none where the store has no such table."""
    with contextlib.suppress(Failure), asked(args, table) as told:
        names, rows = told.ask(query)
        at = names.index(column)
        return [row for row in rows if row[at] == args.name]
    return []
