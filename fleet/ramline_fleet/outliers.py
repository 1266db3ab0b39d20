"""Hosts that use memory unlike the others of their role: by the modified z-score (`stats.unlike`), in roles of eight hosts or more.

>>> rows = [dict(host=f"h{n}", role="web", ram_kib=1000, most_used_kib=300 + n, most_swap_used_kib=0, swap_total_kib=100, waited_us=None, uptime_s=None, refault_file_kib=None, swap_in_kib=None, kills=None) for n in range(9)]
>>> rows[3]["most_used_kib"] = 950
>>> print(text(made(rows, {"hosts": 9, "asked": 9})), end="")
1 of 9 hosts uses memory unlike the others of its role.
role  host  what           has     others have  z
web   h3    memory in use  95.0 %  30.5 %       145.0
"""

from statistics import median
from typing import Any

from .sizing import SHOWN, Host, part, waits
from .stats import ENOUGH, UNLIKE, unlike
from .swapping import by_role
from .words import columns_of, hosts, share

VERSION = 1
# What is compared, how it is had from a host, how it is shown, and what of it is too little to be anybody's concern.
MEASURES: tuple[tuple[str, Any, Any, float], ...] = (
    ("memory in use", lambda row: part(row["most_used_kib"], row["ram_kib"]), share, 0.01),
    ("swap in use", lambda row: part(row["most_swap_used_kib"], row["swap_total_kib"] or None), share, 0.01),
    ("waits for memory", waits, share, 0.001),
    ("file data read again", lambda row: part(row["refault_file_kib"], row["uptime_s"] or None), lambda value: f"{value:.0f} KiB/s", 100),
    ("swap in", lambda row: part(row["swap_in_kib"], row["uptime_s"] or None), lambda value: f"{value:.0f} KiB/s", 100),
    ("kills", lambda row: row["kills"], lambda value: f"{value:g}", 1),
)


def made(rows: list[Host], counts: Host) -> Host:
    """The document. A difference that is too small to matter is none, however alike the others are."""
    out, small = [], 0
    for role, of in by_role(rows):
        if len(of) < ENOUGH:
            small += len(of)
            continue
        for what, value, _, least in MEASURES:
            known = [(row["host"], found) for row in of if (found := value(row)) is not None]
            if len(known) < ENOUGH:
                continue
            middle = median(found for _, found in known)
            out += [{"role": role, "host": host, "what": what, "value": found, "median": middle, "z": z} for (host, found), z in zip(known, unlike([found for _, found in known]), strict=True)
                    if abs(z) > UNLIKE and abs(found - middle) >= least]
    out.sort(key=lambda one: (-abs(one["z"]), one["host"], one["what"]))
    return {"schema_version": VERSION, "report": "outliers", **counts, "in_small_roles": small, "rows": out}


def text(found: Host) -> str:
    rows, names = found["rows"], {row["host"] for row in found["rows"]}
    head = f"{len(names)} of {hosts(found['hosts'])} {'uses' if len(names) == 1 else 'use'} memory unlike the others of {'its' if len(names) == 1 else 'their'} role"
    head += f"; {hosts(found['in_small_roles'])} in roles of fewer than {ENOUGH} were not compared.\n" if found["in_small_roles"] else ".\n"
    shown = {what: how for what, _, how, _ in MEASURES}
    table = [["role", "host", "what", "has", "others have", "z"]]
    table += [[row["role"] or "no role", row["host"], row["what"], shown[row["what"]](row["value"]), shown[row["what"]](row["median"]), f"{row['z']:.1f}"] for row in rows[: 2 * SHOWN]]
    return head + (columns_of(table) if rows else "") + (f"and {len(rows) - 2 * SHOWN} more: --json has them all\n" if len(rows) > 2 * SHOWN else "")
