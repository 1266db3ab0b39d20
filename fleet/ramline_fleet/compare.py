"""Before and after a change of some hosts, against the others: how much more those changed than these (difference in differences), with its 95 % interval.

Each host is one number: what it has after the day of the change, less what it had before. So what differs between hosts, and what came to all of them, is in neither. The interval is Welch's, of these
numbers over hosts; what is within it of 0 is no change that can be seen.

>>> host = lambda name, available: dict(host=name, sum_available_kib=available, available_days=1, sum_swap_used_kib=0, swap_days=1, waited_us=None, uptime_s=None, refault_file_kib=None, swap_in_kib=None, kills=None, sum_zram_stored_kib=None, zram_days=0)
>>> before = {name: host(name, 1000) for name in "abcdef"}
>>> after = {name: host(name, 1000 + 10 * n + (500 if name in "abc" else 0)) for n, name in enumerate("abcdef")}
>>> one = made(before, after, set("abc"), {"on": "2026-11-15"})["rows"][0]
>>> one["what"], one["difference"], one["low"] < 470 < one["high"], one["seen"]
('available', 470.0, True, True)
"""

from math import sqrt
from statistics import fmean, variance
from typing import Any

from .sizing import Host, part, waits
from .stats import t_quantile
from .words import columns_of, gib, hosts, share

VERSION = 1
KIB = gib
MEASURES: tuple[tuple[str, Any, Any], ...] = (
    ("available", lambda row: part(row["sum_available_kib"], row["available_days"] or None), KIB),
    ("swap in use", lambda row: part(row["sum_swap_used_kib"], row["swap_days"] or None), KIB),
    ("stored in zram", lambda row: part(row["sum_zram_stored_kib"], row["zram_days"] or None), KIB),
    ("waits for memory", waits, share),
    ("file data read again", lambda row: part(row["refault_file_kib"], row["uptime_s"] or None), lambda value: f"{value:.1f} KiB/s"),
    ("swap in", lambda row: part(row["swap_in_kib"], row["uptime_s"] or None), lambda value: f"{value:.1f} KiB/s"),
    ("kills a day", lambda row: None if row["kills"] is None or not row["uptime_s"] else row["kills"] * 86_400 / row["uptime_s"], lambda value: f"{value:.2f}"),
)
# Of each group, or there is no spread to judge by.
LEAST = 3


def made(before: dict[str, Host], after: dict[str, Host], changed: set[str], counts: Host) -> Host:
    """The document."""
    there = before.keys() & after.keys()
    rows = []
    for what, value, _ in MEASURES:
        groups: tuple[list[float], list[float]] = ([], [])
        for host in sorted(there):
            one, other = value(before[host]), value(after[host])
            if one is not None and other is not None:
                groups[host not in changed].append(other - one)
        if min(map(len, groups)) >= LEAST:
            rows.append({"what": what, **difference(*groups)})
    return {"schema_version": VERSION, "report": "compare", **counts, "changed": len(there & changed), "others": len(there - changed), "only_once": len((before.keys() | after.keys()) - there), "rows": rows}


def difference(changed: list[float], others: list[float]) -> Host:
    """Of the means, with Welch's interval."""
    parts = [variance(group) / len(group) for group in (changed, others)]
    off, value = sqrt(sum(parts)), fmean(changed) - fmean(others)
    reach = 0.0
    if off:
        freedom = sum(parts) ** 2 / sum(one**2 / (len(group) - 1) for one, group in zip(parts, (changed, others), strict=True))
        reach = t_quantile(0.975, freedom) * off
    return {"changed": fmean(changed), "others": fmean(others), "changed_hosts": len(changed), "other_hosts": len(others), "difference": value, "low": value - reach, "high": value + reach, "seen": abs(value) > reach}


def text(found: Host) -> str:
    seen = [row for row in found["rows"] if row["seen"]]
    shown = {what: how for what, _, how in MEASURES}
    if not found["rows"]:
        return (f"Nothing can be compared: {hosts(found['changed'])} changed and {found['others']} others have days before and after {found['on']}, and {LEAST} of each are needed.\n")
    head = f"Since {found['on']} the {hosts(found['changed'])} that were changed differ from the {found['others']} others in {', '.join(row['what'] for row in seen)}.\n" if seen else (
        f"Since {found['on']} no difference can be seen between the {hosts(found['changed'])} that were changed and the {found['others']} others.\n")
    table = [["what", "changed hosts", "other hosts", "difference", "95 %", ""]]
    table += [[row["what"], *(sign(shown[row["what"]], row[name]) for name in ("changed", "others", "difference")), f"{sign(shown[row['what']], row['low'])} to {sign(shown[row['what']], row['high'])}", "" if row["seen"] else "no difference seen"]
              for row in found["rows"]]
    return head + columns_of(table)


def sign(how: Any, value: float) -> str:
    return ("-" if value < 0 else "+") + str(how(abs(value)))
