"""All that is known of one host, day by day. Counters of a boot are shown as what they grew by since the day before; on the first day of a boot that is known, since it began.

>>> days = [dict(boot="a", uptime_s=1000, waited_us=10**6, kills=1), dict(boot="a", uptime_s=2000, waited_us=3 * 10**6, kills=4), dict(boot="b", uptime_s=500, waited_us=None, kills=0)]
>>> [(one["kills"], one["waits"]) for one in grown(days)]
[(1, 0.001), (3, 0.002), (0, None)]
"""

from typing import Any

from .words import columns_of, gib, hosts, plain, share

SHOWN = 31


def text(name: str, days: list[dict[str, Any]], settings: list[tuple[Any, ...]], findings: list[tuple[Any, ...]]) -> str:
    latest = days[-1]
    head = f"{plain(name)}: {gib(latest['ram_kib'])} of RAM, {gib(latest['available_kib'])} available on {latest['dt']} ({len(days)} day{'' if len(days) == 1 else 's'} known{', ' + latest['role'] if latest['role'] else ''}).\n"
    table = [["day", "source", "available", "swap in use", "/tmp", "waited", "kills", "zram"]]
    for day, grew in zip(days[-SHOWN:], grown(days)[-SHOWN:]):
        table.append([day["dt"], day["source"], gib(day["available_kib"]), gib(day["swap_used_kib"]), gib(day["tmp_kib"]), share(grew["waits"]), "unknown" if grew["kills"] is None else str(grew["kills"]), gib(day["zram_stored_kib"])])
    out = head + columns_of(table)
    if settings:
        out += f"\nSettings unlike most of its role\n{columns_of([['setting', 'has', 'most have'], *([row[1], row[3], row[4]] for row in settings)])}"
    if findings:
        out += f"\nFindings of checkup\n{columns_of([['finding', 'level'], *([row[0], row[1]] for row in findings)])}"
    return out


def grown(days: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each day its kills, and the share of the time in which a task waited for memory."""
    out, before = [], dict[str, Any]()
    for day in days:
        same = before.get("boot") == day["boot"]
        spans, waited, kills = (since(before.get(name) if same else None, day[name]) for name in ("uptime_s", "waited_us", "kills"))
        out.append({"kills": kills, "waits": waited / spans / 1_000_000 if waited is not None and spans else None})
        before = day
    return out


def since(before: int | None, now: int | None) -> int | None:
    """How much a counter grew; None where it is not known or has gone back, which it cannot within a boot."""
    if now is None:
        return None
    return now if before is None else now - before if now >= before else None


def nearest(name: str, known: list[str]) -> str:
    """What could have been meant."""
    import difflib

    found = difflib.get_close_matches(name, known, 3)
    return f"it has {', '.join(map(plain, found))}" if found else f"it has {hosts(len(known))}"
