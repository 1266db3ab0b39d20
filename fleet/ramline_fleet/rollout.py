"""In which order /tmp moves into memory: few hosts of every kind first, then so many that a clean wave says something, then the rest.

A kind is a role (where a file tells) and a class of RAM. Each wave takes of every kind that is left at least its share, rounded up, drawn by a hash of the
name, so that the same hosts come out anywhere. Where none of them breaks, fewer than a bound do of all hosts that are known: each kind has at least its share,
so that the chance of a clean wave is at most that of a draw from all (the logarithm of 1 - x is concave). No wave has more than ten times the hosts of the one before, so that what the
first ones did not show reaches few at a time.

Hosts that have /tmp in memory already are in no wave, nor those of which a report says that they would break, nor those that lack memory or run out of it as it is; those of which that is not known are in the last.

>>> hosts = [(f"h{n}", 4_000_000 if n % 4 else 64_000_000, -1 if n else 1, n == 5) for n in range(1000)]
>>> found = plan(hosts, [0.01, 0.0001])
>>> [(wave["wave"], wave["hosts"], wave["bound"]) for wave in found["waves"]], found["breaks"], found["there"], found["beyond"]
([(1, 11, None), (2, 110, None), (3, 179, 0.01), (4, 698, None)], 1, 1, [(0.0001, 29956)])
>>> [sum(host["wave"] <= 3 and host["kind"] == kind for host in found["hosts"]) for kind in ("4-8 GB", "64 GB or more")]
[225, 75]
>>> plan(hosts[:1], [0.01])["waves"], plan([("x", None, None, None)], [0.01])["waves"]
([], [{'wave': 1, 'hosts': 1, 'bound': None, 'clean': 0}])
>>> plan(hosts, [0.01], None, {"h7": "3 kills", "h0": "1 kill"})["short"]
[('h7', '3 kills')]
>>> [wave["hosts"] for wave in plan([(str(n), 4_000_000, -1, 0) for n in range(100_000)], [0.01, 0.001])["waves"]]
[299, 2696, 26960, 70045]
"""

import hashlib
import math
from typing import Any

from .intervals import clean_hosts_for
from .words import hosts as counted
from .words import plain

# KB, as in the study.
CLASSES = (2_000_000, 4_000_000, 8_000_000, 16_000_000, 32_000_000, 64_000_000)
# The first wave is for surprises: one in a hundred, and no more than already say something.
FIRST = 0.01
GROWTH = 10
# Hosts in a sentence.
NAMED = 5


def kind(ram: int | None, role: str | None) -> str:
    """Of a host, in words."""
    if ram is None:
        size = "RAM not known"
    else:
        below = [least for least in CLASSES if ram >= least]
        above = [least for least in CLASSES if ram < least]
        size = f"{below[-1] // 1_000_000}-{above[0] // 1_000_000} GB" if below and above else f"under {above[0] // 1_000_000} GB" if above else f"{below[-1] // 1_000_000} GB or more"
    return f"{role}, {size}" if role else size


def drawn(host: str) -> bytes:
    return hashlib.blake2b(host.encode(), digest_size=8).digest()


def shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """How many of each kind for at least so many in all: of each at least its share.

    >>> shares({"a": 90, "b": 9, "c": 1}, 10)
    {'a': 9, 'b': 1, 'c': 1}
    """
    whole = sum(sizes.values())
    return {kind: min(size, math.ceil(size * count / whole)) for kind, size in sizes.items()}


def plan(rows: list[Any], bounds: list[float], roles: dict[str, str] | None = None, short: dict[str, str] | None = None) -> dict[str, Any]:
    """Waves of rows (host, RAM, what it lacks, in memory already): a small one, one for each bound on the share that breaks, the smallest last, and the rest. Hosts that are `short` of memory already are in
    none, whatever their worst day leaves for /tmp."""
    roles = roles or {}
    kept_out = [(row[0], (short or {})[row[0]]) for row in rows if row[0] in (short or {}) and row[3] != 1 and (row[2] is None or row[2] <= 0)]
    rows = [row for row in rows if row[0] not in dict(kept_out)]
    moving = [row for row in rows if row[3] != 1]
    unknown = [(host, kind(ram, roles.get(host))) for host, ram, lacks, _ in moving if lacks is None]
    left: dict[str, list[str]] = {}
    for host, ram, lacks, _ in moving:
        if lacks is not None and lacks <= 0:
            left.setdefault(kind(ram, roles.get(host)), []).append(host)
    for names in left.values():
        names.sort(key=drawn)
    known = sum(map(len, left.values()))
    whole = {of: len(hosts) for of, hosts in left.items()}
    waves: list[dict[str, Any]] = []
    hosts: list[dict[str, Any]] = []
    beyond: list[tuple[float, int]] = []

    def wave(taken: list[tuple[str, str]], bound: float | None) -> None:
        if taken:
            clean = sum(len(of) for of in left.values())
            waves.append({"wave": len(waves) + 1, "hosts": len(taken), "bound": bound, "clean": known - clean})
            hosts.extend({"host": host, "wave": len(waves), "kind": of} for host, of in sorted(taken))

    def next_up_to(count: int) -> dict[str, int]:
        """How many of each kind make it so many of all waves so far, of each its share of all there were; fewer where it were more than ten times the wave before."""
        reached = {of: whole[of] - len(left[of]) for of in whole}
        most = GROWTH * waves[-1]["hosts"] if waves else known
        while True:
            taken = {of: count_of - reached[of] for of, count_of in shares(whole, count).items() if count_of > reached[of]}
            over = sum(taken.values()) - most
            if over <= 0:
                return taken
            # Each kind is rounded up: so many fewer are enough, or the next look takes more away.
            count -= over

    def up_to(count: int, bound: float | None) -> None:
        while known - sum(map(len, left.values())) < count and any(left.values()):
            taken = next_up_to(count)
            if not taken:
                return
            some = [(host, of) for of, number in taken.items() for host in left[of][:number]]
            for of, number in taken.items():
                del left[of][:number]
            wave(some, bound if known - sum(map(len, left.values())) >= count else None)

    if known > 1:
        up_to(min(math.ceil(known * FIRST), *(clean_hosts_for(bound) for bound in bounds)), next((bound for bound in bounds if clean_hosts_for(bound) <= known * FIRST), None))
    for bound in sorted(bounds, reverse=True):
        wanted = clean_hosts_for(bound)
        if wanted < known:
            up_to(wanted, bound)
        else:
            beyond.append((bound, wanted))
    # The rest, and last those of which it is not known.
    up_to(known, None)
    if unknown and waves and len(hosts) and waves[-1]["hosts"] + len(unknown) <= GROWTH * (waves[-2]["hosts"] if len(waves) > 1 else len(unknown) + waves[-1]["hosts"]):
        waves[-1]["hosts"] += len(unknown)
        hosts.extend({"host": host, "wave": len(waves), "kind": of} for host, of in sorted(unknown))
    else:
        unknown_left = sorted(unknown, key=lambda one: drawn(one[0]))
        while unknown_left:
            most = GROWTH * waves[-1]["hosts"] if waves else max(1, math.ceil(len(unknown) * FIRST))
            some, unknown_left = unknown_left[:most], unknown_left[most:]
            wave(some, None)
    return {"waves": waves, "hosts": hosts, "known": known, "unknown": len(unknown), "there": len(rows) - len(moving), "breaks": len(moving) - known - len(unknown), "beyond": beyond, "short": sorted(kept_out)}


def text(found: dict[str, Any]) -> str:
    """Comments that say what there is, then a line a host."""
    head = f"# {len(found['hosts'])} hosts in {len(found['waves'])} waves; {found['breaks']} would break and are in none, nor are {found['there']} with /tmp in memory already; "
    lines = [head + f"{found['unknown']} of which it is not known are in the last"]
    if short := found["short"]:
        named = ", ".join(f"{plain(host)} ({why})" for host, why in short[:NAMED])
        more = f" and {len(short) - NAMED} more" if len(short) > NAMED else ""
        lines.append(f"# {counted(len(short))} lack memory or run out of it, and are in no wave: {named}{more}")
    for wave in found["waves"]:
        says = clean(wave, found["known"])
        lines.append(f"# wave {wave['wave']}: {wave['hosts']} hosts{says}")
    lines += [f"# no wave for {bound * 100:g}%: that takes {wanted} hosts without one that breaks, and {found['known']} are known" for bound, wanted in found["beyond"]]
    return "\n".join([*lines, "# wave\thost\tkind", *(f"{host['wave']}\t{plain(host['host'])}\t{plain(host['kind'])}" for host in found["hosts"])]) + "\n"


def clean(wave: dict[str, Any], known: int) -> str:
    """What it says that none of the hosts so far breaks: the bound that was asked for, or the one that so many reach."""
    count = wave["clean"]
    if not count or count >= known:
        return ""
    bound = wave["bound"] or 1 - 0.05 ** (1 / count)
    return f"; if none of these {count} breaks, fewer than {bound * 100:.3g}% of the {known} do that are known (95 %)"
