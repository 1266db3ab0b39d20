"""Which hosts run out of memory, and when: a line through the days of each host, and the day on which it reaches nothing, with its interval. Where there is no trend nothing is said.

Of each day the RAM that was available and the free swap (`memory`), or what /tmp in memory would leave of these (`tmp`). Days that are next to each other are alike: the error of the slope is widened by
the correlation of neighbours, as (1 + r) / (1 - r). Of thousands of hosts some fall by chance: those are kept of which at most one in 20 does (Benjamini and Hochberg). The day is that of
Fieller's interval (J. R. Stat. Soc. B 16, 1954), and one further away than four times the days that were seen is not given.

>>> days = [(n, 10_000_000 - 100_000 * n + (n * 7919 % 13) * 5000) for n in range(30)]
>>> one = line("h", *sums(days))
>>> found = breaking(one, days)
>>> found["falls_kib_a_day"], found["in_days"], found["earliest"] < found["in_days"] < found["latest"]
(99920, 71, True)
>>> level = [(n, 10_000_000 + (n * 7919 % 13) * 50_000) for n in range(30)]
>>> chance(line("h", *sums(level))) > 0.05
True
"""

import datetime
from collections.abc import Iterable
from math import sqrt
from typing import Any, NamedTuple

from .stats import discoveries, t_both, t_quantile
from .words import columns_of, gib, hosts

VERSION = 1
# A day further away than this multiple of the days seen is not given.
FAR = 4
SHOWN = 50


class Line(NamedTuple):
    host: str
    days: int
    mean_n: float
    mean: float
    slope: float
    # Sum of squares of the days around their mean, and of what the line leaves.
    spread: float
    left: float


def sums(days: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """As the query `trend` has them."""
    found = list(days)
    return (len(found), sum(n for n, _ in found), sum(n * n for n, _ in found), sum(y for _, y in found), sum(n * y for n, y in found), sum(y * y for _, y in found))


def line(host: str, count: int, n: int, nn: int, y: int, ny: int, yy: int) -> Line | None:
    """Least squares; None where all days are one."""
    # Whole numbers as long as there are: of large ones that are subtracted little is left.
    across, along, up = count * nn - n * n, count * ny - n * y, count * yy - y * y
    if across <= 0 or count < 3:
        return None
    return Line(host, count, n / count, y / count, along / across, across / count, max(0.0, (up * across - along * along) / (across * count)))


def error(one: Line, wider: float = 1.0) -> float:
    """Of the slope."""
    return sqrt(one.left / (one.days - 2) / one.spread * wider)


def chance(one: Line | None, wider: float = 1.0) -> float:
    """That a host without a trend shows one like that, to one of both sides."""
    if one is None or one.slope >= 0:
        return 1.0
    off = error(one, wider)
    return t_both(one.slope / off, one.days - 2) if off else 0.0


def alike(one: Line, days: list[tuple[int, int]]) -> float:
    """By how much the square of the error grows since neighbours are alike."""
    off = {n: y - one.mean - one.slope * (n - one.mean_n) for n, y in days}
    pairs = [(off[n], off[n + 1]) for n in off if n + 1 in off]
    whole = sum(value * value for value in off.values())
    if not pairs or not whole:
        return 1.0
    r = min(0.95, max(0.0, sum(a * b for a, b in pairs) / len(pairs) / (whole / len(off))))
    return (1 + r) / (1 - r)


def breaking(one: Line, days: list[tuple[int, int]]) -> dict[str, Any] | None:
    """When nothing is left, in days after the last one; None where the interval has no end or it is too far away."""
    wider, last = alike(one, days), max(n for n, _ in days)
    t = t_quantile(0.975, one.days - 2)
    of_mean, of_slope = (one.left / (one.days - 2) / share * wider for share in (one.days, one.spread))
    a, b, c = one.slope**2 - t * t * of_slope, one.mean * one.slope, one.mean**2 - t * t * of_mean
    inside = b * b - a * c
    if a <= 0 or inside < 0 or one.slope >= 0:
        return None
    ends = sorted((-b + side * sqrt(inside)) / a for side in (-1, 1))
    at = -one.mean / one.slope
    early, middle, late = (one.mean_n + value - last for value in (ends[0], at, ends[1]))
    if middle > FAR * (last - min(n for n, _ in days) + 1):
        return None
    return {"host": one.host, "days": one.days, "falls_kib_a_day": round(-one.slope), "left_kib": round(one.mean + one.slope * (last - one.mean_n)), "in_days": round(middle), "earliest": round(early), "latest": round(late)}


def made(what: str, rows: list[tuple[Any, ...]], series: Any, until: str, counts: dict[str, Any]) -> dict[str, Any]:
    """The document, of rows of the query `trend`; `series` gives the days of some hosts."""
    lines = {one.host: one for row in rows if row[0] == what and (one := line(row[1], *row[2:])) is not None}
    # As good as they look at first: the others cannot become better.
    falling = discoveries({host: chance(one) for host, one in lines.items()})
    days = series(sorted(falling)) if falling else {}
    tested = {host: chance(one) for host, one in lines.items()} | {host: chance(lines[host], alike(lines[host], days[host])) for host in falling}
    kept = discoveries(tested)
    breaks = [ends for host in sorted(kept & falling) if (ends := breaking(lines[host], days[host]))]
    last = datetime.date.fromisoformat(until)
    for found in breaks:
        found |= {name: (last + datetime.timedelta(days=found[of])).isoformat() for name, of in (("day", "in_days"), ("earliest_day", "earliest"), ("latest_day", "latest"))}
    breaks.sort(key=lambda found: (found["in_days"], found["host"]))
    return {"schema_version": VERSION, "report": "trend", "what": what, **counts, "until": until, "tested": len(lines), "falling": len(kept), "breaks": breaks}


def text(found: dict[str, Any]) -> str:
    what = "run out of memory" if found["what"] == "memory" else "run out of memory with /tmp in it"
    breaks, tested = found["breaks"], found["tested"]
    if not tested:
        return f"Of {hosts(found['hosts'])} none has ten days with what is available: no trend can be seen. Try: --last 90d, or collect on more days.\n"
    if not breaks:
        rest = f" {hosts(found['falling'])} {'has' if found['falling'] == 1 else 'have'} less than before, with no end in sight." if found["falling"] else ""
        return f"No host of {tested} is about to {what}.{rest}\n"
    head = f"{hosts(len(breaks))} of {tested} will {what} if it goes on like that; the first about {breaks[0]['day']}.\n"
    table = [["host", "left now", "falls by", "nothing left", "95 %", "days seen"]]
    table += [[one["host"], gib(one["left_kib"]), f"{gib(one['falls_kib_a_day'])} a day", one["day"], f"{one['earliest_day']} to {one['latest_day']}", str(one["days"])] for one in breaks[:SHOWN]]
    return head + columns_of(table) + (f"and {len(breaks) - SHOWN} more: --json has them all\n" if len(breaks) > SHOWN else "")
