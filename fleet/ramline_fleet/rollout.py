"""In which order /tmp moves into memory: few hosts of every kind first, then so many that a clean wave says something, then the rest.

A kind is a role (where a file tells) and a class of RAM. Each wave takes of every kind that is left at least its share, rounded up, drawn by a hash of the
name, so that the same hosts come out anywhere. Where none of them breaks, fewer than a bound do of all hosts that are known: each kind has at least its share,
so that the chance of a clean wave is at most that of a draw from all (the logarithm of 1 - x is concave).

Hosts that have /tmp in memory already are in no wave, nor those of which a report says that they would break; those of which that is not known are in the last.

>>> hosts = [(f"h{n}", 4_000_000 if n % 4 else 64_000_000, -1 if n else 1, n == 5) for n in range(1000)]
>>> found = plan(hosts, [0.01, 0.0001])
>>> [(wave["wave"], wave["hosts"], wave["bound"]) for wave in found["waves"]], found["breaks"], found["there"], found["beyond"]
([(1, 11, None), (2, 289, 0.01), (3, 698, None)], 1, 1, [(0.0001, 29956)])
>>> [sum(host["wave"] <= 2 and host["kind"] == kind for host in found["hosts"]) for kind in ("4-8 GB", "64 GB or more")]
[225, 75]
>>> plan(hosts[:1], [0.01])["waves"], plan([("x", None, None, None)], [0.01])["waves"]
([], [{'wave': 1, 'hosts': 1, 'bound': None}])
"""

import hashlib
import math

from .intervals import clean_hosts_for
from .words import plain

# KB, as in the study.
CLASSES = (2_000_000, 4_000_000, 8_000_000, 16_000_000, 32_000_000, 64_000_000)
# The first wave says nothing in numbers: it is for surprises.
FIRST = 0.01


def kind(ram, role):
    """Of a host, in words."""
    if ram is None:
        size = "RAM not known"
    else:
        below = [least for least in CLASSES if ram >= least]
        above = [least for least in CLASSES if ram < least]
        size = f"{below[-1] // 1_000_000}-{above[0] // 1_000_000} GB" if below and above else f"under {above[0] // 1_000_000} GB" if above else f"{below[-1] // 1_000_000} GB or more"
    return f"{role}, {size}" if role else size


def drawn(host):
    return hashlib.blake2b(host.encode(), digest_size=8).digest()


def shares(sizes, count):
    """How many of each kind for at least so many in all: of each at least its share.

    >>> shares({"a": 90, "b": 9, "c": 1}, 10)
    {'a': 9, 'b': 1, 'c': 1}
    """
    whole = sum(sizes.values())
    return {kind: min(size, math.ceil(size * count / whole)) for kind, size in sizes.items()}


def plan(rows, bounds, roles=None):
    """Waves of rows (host, RAM, what it lacks, in memory already): a small one, one for each bound on the share that breaks, the smallest last, and the rest."""
    roles = roles or {}
    moving = [row for row in rows if row[3] != 1]
    unknown = [(host, kind(ram, roles.get(host))) for host, ram, lacks, _ in moving if lacks is None]
    left = {}
    for host, ram, lacks, _ in moving:
        if lacks is not None and lacks <= 0:
            left.setdefault(kind(ram, roles.get(host)), []).append(host)
    for hosts in left.values():
        hosts.sort(key=drawn)
    known = sum(map(len, left.values()))
    whole = {of: len(hosts) for of, hosts in left.items()}
    waves, hosts, beyond = [], [], []

    def wave(taken, bound):
        if taken:
            waves.append({"wave": len(waves) + 1, "hosts": len(taken), "bound": bound})
            hosts.extend({"host": host, "wave": len(waves), "kind": of} for host, of in sorted(taken))

    def up_to(count, bound):
        """As many as make it so many of all waves so far, of each kind its share of all there were."""
        reached = {of: whole[of] - len(left[of]) for of in whole}
        taken = {of: count_of - reached[of] for of, count_of in shares(whole, count).items() if count_of > reached[of]}
        wave([(host, of) for of, some in taken.items() for host in left[of][:some]], bound)
        for of, some in taken.items():
            del left[of][:some]

    if known > 1:
        up_to(known * FIRST, None)
    for bound in sorted(bounds, reverse=True):
        wanted = clean_hosts_for(bound)
        if wanted < known:
            up_to(wanted, bound)
        else:
            beyond.append((bound, wanted))
    wave([(host, of) for of, names in left.items() for host in names] + unknown, None)
    return {"waves": waves, "hosts": hosts, "known": known, "unknown": len(unknown), "there": len(rows) - len(moving), "breaks": len(moving) - known - len(unknown), "beyond": beyond}


def text(found):
    """Comments that say what there is, then a line a host."""
    lines = [f"# {len(found['hosts'])} hosts in {len(found['waves'])} waves; {found['breaks']} would break and are in none, nor are {found['there']} with /tmp in memory already; "
             f"{found['unknown']} of which it is not known are in the last"]
    reached = 0
    for wave in found["waves"]:
        reached += wave["hosts"]
        says = f"; if none of these {reached} breaks, fewer than {wave['bound'] * 100:g}% of the {found['known']} do that are known (95 %)" if wave["bound"] else ""
        lines.append(f"# wave {wave['wave']}: {wave['hosts']} hosts{says}")
    lines += [f"# no wave for {bound * 100:g}%: that takes {wanted} hosts without one that breaks, and {found['known']} are known" for bound, wanted in found["beyond"]]
    return "\n".join([*lines, "# wave\thost\tkind", *(f"{host['wave']}\t{plain(host['host'])}\t{plain(host['kind'])}" for host in found["hosts"])]) + "\n"
