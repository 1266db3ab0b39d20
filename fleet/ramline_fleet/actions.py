"""What to do, and on which hosts: a sentence each, the most urgent in front, with the command that says more. What to do about /tmp is the reader's side, which has the figures for it.

>>> host = {"spare_gib": None, "risk": 0.5}
>>> size = {"lacking": [host | {"host": "db1", "lacks": "3 kills"}], "spare": [host | {"host": "web1", "spare_gib": 8}, host | {"host": "web2", "spare_gib": 4}]}
>>> ends = {"breaks": [{"host": "web3", "day": "2026-12-24"}]}
>>> differing = {"differing": 1, "rows": [{"role": "web", "setting": "vm.swappiness", "values": [{"value": "60", "hosts": 9, "first_host": "a", "last_host": "z"}, {"value": "10", "hosts": 1, "first_host": "web4", "last_host": "web4"}]}]}
>>> findings = {"to_change": 2, "asked": 36, "findings": [{"finding": "swap-outranked", "level": "warning", "hosts": 2}, {"finding": "nothing-to-change", "level": "note", "hosts": 34}]}
>>> print("\\n".join(sentences(size, ends, differing, findings)))
Add memory to 1 host, or move load away, and leave /tmp on disk there: db1 (3 kills). All: ramline fleet size STORE
Find what grows on 1 host before memory runs out: web3 (about 2026-12-24). All: ramline fleet trend STORE
Change what checkup found on 2 of 36 hosts: swap-outranked (2 hosts). Which hosts: ramline fleet query findings_hosts STORE
Make 1 setting alike inside its role: vm.swappiness (10 on web4, 60 on 9 hosts). All: ramline fleet settings STORE
Plan less memory for 2 hosts, which never needed 12 GiB: web1 (8 GiB), web2 (4 GiB). The risk that one needs more within 30 days is 50.0 %. All: ramline fleet size STORE
"""

from collections.abc import Iterable
from typing import Any

from pyarrow import parquet

from . import findings, questions, settings
from .asked import asked, days_asked
from .schema import FINDING_ROWS, MEMORY_ROWS, ROWS, SETTING_ROWS
from .sizing import AHEAD
from .store import has_parts, parts_of
from .words import hosts, share

# Hosts in a sentence.
NAMED = 5
# Host-days of which the report asks this: some seconds. Of more the commands themselves are asked.
MOST = 2_000_000
# A setting that more than one host in so many has otherwise was set so on purpose.
FEW = 4
Document = dict[str, Any]


def of_store(args: Any, roles: dict[str, str]) -> list[str]:
    """All that there is to do in the days of the report."""
    differing, found = None, None
    size, ends = over_time(args, roles)
    if roles and has_parts(args.store, SETTING_ROWS, days_asked(args, SETTING_ROWS)):
        with asked(args, SETTING_ROWS, roles) as told:
            differing = settings.made(told.ask("settings"), told.counts("settings_asked"))
    if has_parts(args.store, FINDING_ROWS, days_asked(args, FINDING_ROWS)):
        with asked(args, FINDING_ROWS) as told:
            found = findings.made(told.ask("findings"), told.counts("findings_asked"))
    return sentences(size, ends, differing, found)


def over_time(args: Any, roles: dict[str, str]) -> tuple[Document | None, Document | None]:
    """The documents of `size` and of `trend`; none where there are too many host-days."""
    days = days_asked(args, MEMORY_ROWS)
    if not few(args.store, days):
        return None, None
    with asked(args, MEMORY_ROWS, roles, days=days) as told:
        counts = told.counts("memory_asked")
        return questions.sized(told, days, counts), questions.ending(told, "memory", days, counts)


def short_of_memory(args: Any) -> dict[str, str]:
    """Hosts that lack memory or run out of it, each with the reason."""
    size, ends = over_time(args, {})
    out = {one["host"]: f"runs out about {one['day']}" for one in (ends or {"breaks": []})["breaks"]}
    return out | {one["host"]: one["lacks"] for one in (size or {"lacking": []})["lacking"]}


def few(store: Any, days: Any) -> bool:
    """Whether there are few enough host-days."""
    left = MOST
    for part in parts_of(store, ROWS, days):
        left -= parquet.read_metadata(part.path).num_rows
        if left < 0:
            return False
    return True


def sentences(size: Document | None, ends: Document | None, differing: Document | None, found: Document | None) -> list[str]:
    out = []
    if size and (lacking := size["lacking"]):
        out.append(f"Add memory to {hosts(len(lacking))}, or move load away, and leave /tmp on disk there: {named((one['host'], one['lacks']) for one in lacking)}. All: ramline fleet size STORE")
    if ends and (breaks := ends["breaks"]):
        out.append(f"Find what grows on {hosts(len(breaks))} before memory runs out: {named((one['host'], 'about ' + one['day']) for one in breaks)}. All: ramline fleet trend STORE")
    worse = [one for one in found["findings"] if one["finding"] != "nothing-to-change" and one["level"] != "note"] if found else []
    if found and worse:
        out.append(f"Change what checkup found on {found['to_change']} of {hosts(found['asked'])}: {named((one['finding'], hosts(one['hosts'])) for one in worse)}. Which hosts: ramline fleet query findings_hosts STORE")
    if rows := [row for row in (differing or {"rows": []})["rows"] if FEW * sum(one["hosts"] for one in row["values"][1:]) <= row["values"][0]["hosts"]]:
        count = len({row["setting"] for row in rows})
        out.append(f"Make {count} setting{'' if count == 1 else 's'} alike inside {'its role' if count == 1 else 'their roles'}: {named((row['setting'], unlike(row['values'])) for row in rows)}. All: ramline fleet settings STORE")
    if size and (spare := size["spare"]):
        risks = [one["risk"] for one in spare if one["risk"] is not None]
        risk = f" The risk that one needs more within {AHEAD} days is {share(max(risks))}." if risks else ""
        gib = sum(one["spare_gib"] for one in spare)
        out.append(f"Plan less memory for {hosts(len(spare))}, which never needed {gib} GiB: {named((one['host'], str(one['spare_gib']) + ' GiB') for one in spare)}.{risk} All: ramline fleet size STORE")
    return out


def unlike(values: list[Document]) -> str:
    """What few have, and what most do."""
    most, *rest = values
    few_have = ", ".join(f"{one['value']} on {one['first_host'] if one['hosts'] == 1 else hosts(one['hosts'])}" for one in rest[:2])
    return f"{few_have}, {most['value']} on {hosts(most['hosts'])}"


def named(pairs: Iterable[tuple[str, str]]) -> str:
    """The first of them, and how many more there are."""
    every = [f"{name} ({what})" for name, what in pairs]
    more = len(every) - NAMED
    return ", ".join(every[:NAMED]) + (f" and {more} more" if more > 0 else "")
