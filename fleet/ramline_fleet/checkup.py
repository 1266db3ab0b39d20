"""What `ramline checkup --json FILE` has written of a machine: its findings, and of which rules it is not known whether they would find something.

A host without a finding was asked all the same: it has a row that says so. A rule that could not look (what it needs was not measured) found nothing and is not
counted as such: the host is not asked for that finding.

>>> document = {"findings": [{"id": "a", "weight": "note"}, {"id": "a", "weight": "warning"}], "skipped": [{"what": "rules b, c"}], "window": 2, "measured": {}}
>>> findings(document)
{None: None, 'a': 'warning', 'b': 'not judged', 'c': 'not judged'}
"""

from typing import Any

from .study import Refused

VERSION = 2
# From the least to the worst.
LEVELS = ("note", "warning", "critical")
NOT_JUDGED = "not judged"
# A report names rules that could not look, but not where the whole look or the whole measurement was left out (needs.rs of ramline).
NEED = {"window": ("no-swap-and-refaults", "read-ahead-amplifies-faults", "kernel-memory-growing", "group-at-limit-loses-cache", "process-swap-hot", "page-cluster-against-hits"),
        "measured": ("dirty-limits-in-seconds", "swappiness-against-costs", "swap-slower-than-reload")}


def findings(document: dict[str, Any]) -> dict[str | None, str]:
    """The level of each finding, the worst where there are several; of None, that the host was asked."""
    out: dict[Any, Any] = {None: None}
    for one in document["findings"]:
        name, level = one["id"], one["weight"]
        if level not in LEVELS or not (isinstance(name, str) and name):
            raise Refused(f"{str(level)[:40]!r} is no level of a finding")
        out[name] = max(out.get(name, LEVELS[0]), level, key=LEVELS.index)
    blind = [name for need, names in NEED.items() if document.get(need) is None for name in names]
    for one in document["skipped"]:
        kind, _, names = one["what"].partition(" ")
        blind += names.split(", ") if kind == "rules" else []
    return out | dict.fromkeys(sorted(set(blind) - out.keys()), NOT_JUDGED)
