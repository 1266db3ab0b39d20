"""The report of the study: what hosts have, who would fit, and how sure that is. A document of numbers; words are the reader's side.
"""

from typing import Any

from . import buckets, schema
from .histogram import median, mode
from .intervals import clean_hosts_for, exact

VERSION = 1
MODELS = {
    "half_of_ram": "/tmp is at most half of RAM, which is what a tmpfs may take without options",
    "half_of_free": "/tmp is at most half of what is free",
    "free": "/tmp is at most what is free",
    "free_and_swap": "/tmp is at most what is free, in RAM and in swap",
    "half_of_ram_above_3_gb": "of hosts with more than 3 GB of RAM: /tmp is at most half of it",
}
# systemd's tmp.mount (256 and later): size=50%, nr_inodes=1m; a user may have 80 % of it (257 and later).
UPGRADE = {
    "size": "more than half of RAM: writes fail, no space is left",
    "quota": "more than 80 % of that: where it is all of one user, that user's quota is exceeded",
    "inodes": "more than 1,048,576 files: no file can be made",
    "swap": "more than the RAM that is available: something is swapped out, or does not fit",
    "kill": "more than the RAM that is available and free swap: processes are killed",
}
JUDGED = {"available_and_swap": "/tmp is at most the RAM that is available and free swap; what is free counts where it is not known what is available"}
CAVEATS = [
    "one moment of each day: what /tmp was at its largest, and whether memory was short then, may not be in it",
    "hosts that sent nothing are not in it; if they differ from the others, so does the answer",
    "what free calls free leaves out the page cache, most of which would make room: the models with \"free\" are those of the study of 2016, and no host is judged by them of which more is known",
    "part of what lies in /tmp on a disk is in the page cache already, so it takes less RAM than it seems",
]


def share(count: int, of: int) -> dict[str, Any]:
    low, high = exact(count, of) if of else (None, None)
    return {"hosts": count, "of": of, "share": count / of if of else None, "low": low, "high": high}


def doublings(walk: list[Any]) -> list[dict[str, int]]:
    """How many hosts have from so much up to just below twice that.

    >>> doublings([(0, 2), (5, 1), (7, 1), (256, 3)])
    [{'from': 0, 'to': 0, 'hosts': 2}, {'from': 4, 'to': 7, 'hosts': 2}, {'from': 256, 'to': 511, 'hosts': 3}]
    """
    out: dict[int, int] = {}
    for bucket, hosts, *_ in sorted(walk):
        least = buckets.least(bucket)
        first = 1 << least.bit_length() - 1 if least else 0
        out[first] = out.get(first, 0) + hosts
    return [{"from": first, "to": max(0, 2 * first - 1), "hosts": hosts} for first, hosts in out.items()]


def survival(bins: list[dict[str, int]]) -> list[dict[str, Any]]:
    """What share of hosts has at least so much in /tmp.

    >>> [(one["threshold"], one["hosts"]) for one in survival(doublings([(0, 2), (5, 1), (256, 3)]))]
    [(4, 4), (256, 3)]
    """
    of = sum(one["hosts"] for one in bins)
    return [{"variable": "tmp_kib", "side": "at least", "threshold": one["from"], **share(sum(other["hosts"] for other in bins[at:]), of)} for at, one in enumerate(bins) if one["from"]]


def variables(engine: Any, known: dict[str, Any]) -> list[dict[str, Any]]:
    rows: dict[str, list[Any]] = {}
    for name, bucket, hosts, total, least, most in engine.ask("histogram")[1]:
        rows.setdefault(name, []).append((bucket, hosts, total, least, most))
    out = []
    for name in schema.COUNTED:
        of = rows.get(name, [])
        if name == "up_s" and not of:
            continue
        walk, hosts = [row[:3] for row in of], sum(row[1] for row in of)
        unknown = known["hosts"] - known.get(name, 0)
        out.append({"name": name, "what": schema.MEASURED[name], "hosts": hosts, "unknown": unknown,
                    "min": min((row[3] for row in of), default=None), "max": max((row[4] for row in of), default=None),
                    "mean": sum(row[2] for row in of) / hosts if hosts else None, "median": median(walk), "mode": mode(walk), "bins": doublings(of)})
    return out


def shares(engine: Any, known: dict[str, Any]) -> list[dict[str, Any]]:
    out = []
    names, (counts,) = engine.ask("shares")
    for column, count in zip(names, counts):
        variable, side, threshold = column.split("__")
        out.append({"variable": variable, "side": side.replace("_", " "), "threshold": int(threshold), **share(count or 0, known[variable])})
    return out


def models(engine: Any, query: str = "models", names: dict[str, str] = MODELS) -> list[dict[str, Any]]:
    columns, (counts,) = engine.ask(query)
    of = {name: count or 0 for name, count in zip(columns, counts)}
    out = []
    for name, what in names.items():
        fits, fails = of[f"{name}__fits"], of[f"{name}__fails"]
        asked = of["large"] if name == "half_of_ram_above_3_gb" else of["hosts"]
        out.append({"name": name, "what": what, "fits": share(fits, fits + fails), "fails": share(fails, fits + fails), "unknown": asked - fits - fails})
    return out


def rules(engine: Any) -> list[dict[str, Any]]:
    """Where /tmp in RAM by default would be switched on, and where it would be too much for half of RAM."""
    columns, (counts,) = engine.ask("rule")
    of = {name: count or 0 for name, count in zip(columns, counts)}
    out = []
    for name in (name for name in columns if name.startswith("on__")):
        more = int(name.removeprefix("on__"))
        out.append({"more_than_kib": more, "on": share(of[name], of["hosts"]), "fails": share(of[f"fails__{more}"], of[name])})
    return out


def breaks(engine: Any) -> list[dict[str, Any]]:
    names, rows = engine.ask("breaks")
    return [dict(zip(names, row)) for row in rows]


def groups(engine: Any, query: str) -> list[dict[str, Any]]:
    names, rows = engine.ask(query)
    return [dict(zip(names, row)) for row in rows]


def study(engine: Any, by_role: bool = False) -> dict[str, Any]:
    """The whole of it."""
    names, (counts,) = engine.ask("hosts")
    known = {name: count or 0 for name, count in zip(names, counts)}
    sizes = variables(engine, known)
    judged, of = models(engine, "judged", JUDGED)[0], engine.counts("judged")
    return {"schema_version": VERSION, "report": "study", "synthetic": known["synthetic"] > 0, "hosts": known["hosts"], "days": known["days"],
            "since": known["first_day"] or None, "until": known["last_day"] or None, "last_seen_before": engine.counts("before")["hosts"], "machine_unknown": of["machine_unknown"] or 0,
            "without_swap": known["without_swap"], "virtual_machines": share(known["virtual"], known["kind_known"]), "in_ram": known["in_ram"], "variables": sizes, "survival": survival(next(one["bins"] for one in sizes if one["name"] == "tmp_kib")), "sources": groups(engine, "sources"), "roles": groups(engine, "roles") if by_role else [], "shares": shares(engine, known), "models": models(engine),
            "judged": judged, "judged_by_free": of["by_free"] or 0, "upgrade": models(engine, "upgrade", UPGRADE),
            "rules": rules(engine), "breaks": breaks(engine), "break_count": judged["fails"]["hosts"],
            "clean_hosts_for_one_in_a_thousand": clean_hosts_for(0.001), "actions": [], "caveats": CAVEATS}
