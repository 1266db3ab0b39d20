"""RAM that a host needs, what it wastes and what it lacks, by evidence: what was never used, what was waited for.

| word | what it is |
|---|---|
| lacks memory | processes were killed for want of it, or tasks waited for it in more than 1 in 1,000 of the time (the pressure at which Meta's Senpai still takes memory away: beyond it work is slowed; ASPLOS 2022) |
| needs | the most that was in use on any day (RAM less what was available), and the reserve below which the kernel begins to reclaim |
| never used | free memory at its least: no program and no cache has ever had it |
| spare | RAM less what is needed, in whole GiB; the cache that goes with it was not missed where little was read again |
| risk | that a day of the next 30 takes more than any of those that were seen: of D days as good as alike the largest of D + 30 is a new one with a chance of 30 in D + 30 |

A host of which no waits are known is not said to waste anything: that nothing was waited for is part of the evidence.

>>> host = dict(host="a", role="", days=30, ram_kib=64 << 20, least_free_kib=20 << 20, most_used_kib=10 << 20, floor_kib=1 << 20, uptime_s=86400, waited_us=0, refault_file_kib=0, kills=0, available_days=30)
>>> found = judged(host)
>>> found["need_gib"], found["spare_gib"], found["lacks"], found["risk"]
(11, 53, None, 0.5)
>>> judged({**host, "kills": 2})["lacks"], judged({**host, "waited_us": None})["spare_gib"]
('2 kills', None)
>>> judged(host, "2026-12-24")["spare_gib"] is None
True
"""

from collections.abc import Iterable
from math import ceil
from typing import Any

from .intervals import exact
from .words import columns_of, gib, hosts, share

VERSION = 1
WAITS = 0.001
AHEAD = 30
# Of hosts in a table.
SHOWN = 20
Host = dict[str, Any]


def part(count: int | None, of: int | None, unit: int = 1) -> float | None:
    """A share, or a rate; None where it is not known."""
    return count / of / unit if count is not None and of else None


def waits(host: Host) -> float | None:
    """Share of the time in which a task waited for memory."""
    return part(host["waited_us"], host["uptime_s"], 1_000_000)


def judged(host: Host, ends: str | None = None) -> Host:
    """What is said of a host; `ends` is the day on which its memory runs out."""
    waited, kills = waits(host), host["kills"]
    lacks = f"{kills} kill{'s' if kills > 1 else ''}" if kills else f"waits {share(waited)}" if waited is not None and waited > WAITS else None
    known = host["most_used_kib"] is not None and host["ram_kib"]
    # Where the kernel's reserve is not known, what it takes by itself at most: half of what is available counts as such there, so nothing is added.
    need = ceil((host["most_used_kib"] + (host["floor_kib"] or 0)) / (1 << 20)) if known else None
    spare = None
    if need is not None and waited is not None and kills is not None and not lacks and not ends:
        spare = max(0, host["ram_kib"] // (1 << 20) - need)
    return {"host": host["host"], "role": host["role"], "days": host["available_days"], "ram_kib": host["ram_kib"], "need_gib": need, "spare_gib": spare, "never_used_kib": host["least_free_kib"],
            "read_again_kib_s": part(host["refault_file_kib"], host["uptime_s"]), "waits": waited, "kills": kills, "lacks": lacks, "runs_out": ends, "risk": AHEAD / (host["available_days"] + AHEAD) if host["available_days"] else None}


def made(rows: Iterable[Host], counts: Host, ends: dict[str, str] | None = None) -> Host:
    """The document. Days are alike where there is no trend: a host whose memory runs out (`trend`) has nothing to spare."""
    found = [judged(row, (ends or {}).get(row["host"])) for row in rows]
    roles = []
    for role in sorted({one["role"] for one in found}):
        of = [one for one in found if one["role"] == role]
        known, asked = [one for one in of if one["need_gib"] is not None], [one for one in of if one["waits"] is not None or one["kills"] is not None]
        spare, lacking = [one for one in of if one["spare_gib"]], sum(bool(one["lacks"]) for one in asked)
        low, high = exact(lacking, len(asked)) if asked else (None, None)
        roles.append({"role": role, "hosts": len(of), "ram_kib": sum(one["ram_kib"] or 0 for one in of), "need_gib": max((one["need_gib"] for one in known), default=None), "known": len(known),
                      # None of the known hosts takes more, which bounds the share of others like them that do, with 95 % confidence.
                      "more_at_most": 1 - 0.05 ** (1 / len(known)) if known else None, "spare_gib": sum(one["spare_gib"] for one in spare), "lack": lacking, "asked": len(asked), "lack_low": low, "lack_high": high})
    return {"schema_version": VERSION, "report": "size", **counts, "roles": roles,
            "spare": sorted((one for one in found if one["spare_gib"]), key=lambda one: (-one["spare_gib"], one["host"])), "lacking": sorted((one for one in found if one["lacks"]), key=lambda one: (-(one["kills"] or 0), -(one["waits"] or 0), one["host"])),
            "running_out": sum(one["runs_out"] is not None for one in found), "unknown": sum(one["waits"] is None and one["kills"] is None for one in found)}


def text(found: Host) -> str:
    spare, lacking = found["spare"], found["lacking"]
    total = sum(one["spare_gib"] for one in spare)
    head = f"{hosts(len(lacking))} lack{'s' if len(lacking) == 1 else ''} memory; {hosts(len(spare))} ha{'s' if len(spare) == 1 else 've'} {total} GiB to spare, of {hosts(found['hosts'])}.\n"
    if found["unknown"]:
        head += f"Of {hosts(found['unknown'])} it is not known what was waited for: no snapshot, and no pressure from node_exporter.\n"
    if found["running_out"]:
        head += f"{hosts(found['running_out'])} will run out of memory, and ha{'s' if found['running_out'] == 1 else 've'} nothing to spare: ramline fleet trend STORE\n"
    table = [["role", "hosts", "RAM", "the most needed", "other hosts need more", "to spare", "lack memory"]]
    table += [[one["role"] or "no role", str(one["hosts"]), gib(one["ram_kib"]), "unknown" if one["need_gib"] is None else f"{one['need_gib']} GiB",
               "unknown" if one["more_at_most"] is None else f"at most {share(one['more_at_most'])}", f"{one['spare_gib']} GiB",
               f"{one['lack']} of {one['asked']} ({share(one['lack_low'])} to {share(one['lack_high'])})" if one["asked"] else "unknown"] for one in found["roles"]]
    out = head + columns_of(table)
    if lacking:
        out += "\nHosts that lack memory\n" + columns_of([["host", "RAM", "needs", "why"], *([one["host"], gib(one["ram_kib"]), f"{one['need_gib']} GiB" if one["need_gib"] is not None else "unknown", one["lacks"]] for one in lacking[:SHOWN])])
    if spare:
        out += "\nHosts with memory to spare, and the risk that a day of the next 30 takes more than they need now\n"
        out += columns_of([["host", "RAM", "needs", "to spare", "never used", "read again", "days", "risk"], *([one["host"], gib(one["ram_kib"]), f"{one['need_gib']} GiB", f"{one['spare_gib']} GiB", gib(one["never_used_kib"]),
                           f"{one['read_again_kib_s']:.1f} KiB/s" if one["read_again_kib_s"] is not None else "unknown", str(one["days"]), share(one["risk"])] for one in spare[:SHOWN])])
    left = max(0, len(lacking) - SHOWN) + max(0, len(spare) - SHOWN)
    return out + (f"and {left} more: --json has them all\n" if left else "")
