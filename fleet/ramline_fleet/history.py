"""All that is known of one host, day by day."""

from typing import Any

from .words import columns_of, gib, hosts, plain, share

SHOWN = 31


def text(name: str, days: list[dict[str, Any]], settings: list[tuple[Any, ...]], findings: list[tuple[Any, ...]]) -> str:
    latest = days[-1]
    head = f"{plain(name)}: {gib(latest['ram_kib'])} of RAM, {gib(latest['available_kib'])} available on {latest['dt']} ({len(days)} day{'' if len(days) == 1 else 's'} known{', ' + latest['role'] if latest['role'] else ''}).\n"
    table = [["day", "source", "available", "swap in use", "/tmp", "waited", "kills", "zram"]]
    for day in days[-SHOWN:]:
        waited = day["waited_us"] / day["uptime_s"] / 1_000_000 if day["waited_us"] is not None and day["uptime_s"] else None
        table.append([day["dt"], day["source"], gib(day["available_kib"]), gib(day["swap_used_kib"]), gib(day["tmp_kib"]), share(waited), "unknown" if day["kills"] is None else str(day["kills"]), gib(day["zram_stored_kib"])])
    out = head + columns_of(table)
    if settings:
        out += f"\nSettings unlike most of its role\n{columns_of([['setting', 'has', 'most have'], *([row[1], row[3], row[4]] for row in settings)])}"
    if findings:
        out += f"\nFindings of checkup\n{columns_of([['finding', 'level'], *([row[0], row[1]] for row in findings)])}"
    return out


def nearest(name: str, known: list[str]) -> str:
    """What could have been meant."""
    import difflib

    found = difflib.get_close_matches(name, known, 3)
    return f"it has {', '.join(map(plain, found))}" if found else f"it has {hosts(len(known))}"
