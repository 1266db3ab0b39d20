"""Findings of `ramline checkup`, counted over hosts. Each host counts by its latest report; one without a report is not asked, and never one without a finding.

>>> rows = [("swap-outranked", "warning", 7, 200), ("swappiness-against-costs", "note", 1, 150), ("nothing-to-change", "note", 192, 200), ("swappiness-against-costs", "not judged", 50, 150)]
>>> print(text(made((("finding", "level", "hosts", "asked"), rows), {"hosts": 205, "asked": 200, "to_change": 8})), end="")
8 of 200 hosts have something to change; 5 were not asked (no report).
finding                   level    hosts       share   95 %
swap-outranked            warning  7 of 200    3.5 %   1.4 to 7.1 %
swappiness-against-costs  note     1 of 150    0.7 %   0.0 to 3.7 %
nothing-to-change         note     192 of 200  96.0 %  92.3 to 98.3 %
Not judged, since what the rule needs was not measured there: swappiness-against-costs (50 hosts).
"""

from typing import Any

from .checkup import NOT_JUDGED
from .report import share
from .words import columns_of, hosts

VERSION = 1


def made(found: Any, counts: dict[str, Any]) -> dict[str, Any]:
    """The document, of the rows of the queries `findings` and `findings_asked`."""
    names, rows = found
    rows = [dict(zip(names, row)) for row in rows]
    # That nothing is to be changed is no finding among others.
    rows.sort(key=lambda row: row["finding"] == "nothing-to-change")
    judged, blind = ([row for row in rows if (row["level"] == NOT_JUDGED) is of] for of in (False, True))
    return {"schema_version": VERSION, "report": "findings", **counts, "findings": [{"finding": row["finding"], "level": row["level"], **share(row["hosts"], row["asked"])} for row in judged],
            "not_judged": [{"finding": row["finding"], "hosts": row["hosts"]} for row in blind]}


def text(found: dict[str, Any]) -> str:
    """The answer, then a table."""
    missing = found["hosts"] - found["asked"]
    head = f"{found['to_change']} of {hosts(found['asked'])} {'has' if found['to_change'] == 1 else 'have'} something to change"
    head += f"; {missing} {'was' if missing == 1 else 'were'} not asked (no report).\n" if missing else ".\n"
    rows = [[one["finding"], one["level"], f"{one['hosts']} of {one['of']}", f"{one['share'] * 100:.1f} %", f"{one['low'] * 100:.1f} to {one['high'] * 100:.1f} %"] for one in found["findings"]]
    blind = ", ".join(f"{one['finding']} ({hosts(one['hosts'])})" for one in found["not_judged"])
    return head + (columns_of([["finding", "level", "hosts", "share", "95 %"], *rows]) if rows else "") + (f"Not judged, since what the rule needs was not measured there: {blind}.\n" if blind else "")
