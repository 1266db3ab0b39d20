"""Memory settings that differ between hosts of one role: what most have, and which hosts have something else. Each host counts by its latest snapshot.

>>> columns = ("role", "setting", "value", "hosts", "first_host", "last_host")
>>> rows = [("web", "vm.swappiness", "60", 17, "a", "w"), ("web", "vm.swappiness", "10", 3, "b", "x"), ("web", "vm.swappiness", "100", 1, "v", "v")]
>>> found = made((columns, rows), {"hosts": 23, "asked": 21, "with_role": 21, "settings": 41})
>>> print(text(found), end="")
1 of 41 settings differs inside a role (21 hosts); of 2 hosts no settings are known.
role  setting        most have      others
web   vm.swappiness  60 (17 hosts)  10 (3 hosts: b, x and 1 more); 100 (v)
"""

from typing import Any

from .words import columns_of, hosts

VERSION = 1
# Of values besides the one that most have.
SHOWN = 3


def made(found: Any, counts: dict[str, Any]) -> dict[str, Any]:
    """The document, of the rows of the queries `settings` and `settings_asked`."""
    columns, rows = found
    out: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        one = dict(zip(columns, row))
        out.setdefault((one.pop("role"), one.pop("setting")), []).append(one)
    differing = len({setting for _, setting in out})
    return {"schema_version": VERSION, "report": "settings", **counts, "differing": differing, "rows": [{"role": role, "setting": setting, "values": values} for (role, setting), values in out.items()]}


def text(found: dict[str, Any]) -> str:
    """The answer, then a table."""
    count, whole, asked, unknown = found["differing"], found["settings"], found["asked"], found["hosts"] - found["asked"]
    one_role = not found["with_role"]
    head = f"{count} of {whole} settings differ{'s' if count == 1 else ''} " + ("between hosts" if one_role else "inside a role") + f" ({hosts(asked)})"
    head += f"; of {hosts(unknown)} no settings are known.\n" if unknown else ".\n"
    table = [["role", "setting", "most have", "others"]]
    for row in found["rows"]:
        most, *rest = row["values"]
        table.append([row["role"] or "no role", row["setting"], f"{most['value']} ({hosts(most['hosts'])})", others(rest)])
    return head + (columns_of([row[one_role:] for row in table]) if found["rows"] else "")


def others(values: list[dict[str, Any]]) -> str:
    """Each value with its hosts, the first few of them."""
    told = [f"{one['value']} ({names(one)})" for one in values[:SHOWN]]
    left = values[SHOWN:]
    return "; ".join(told) + (f"; and {len(left)} more ({hosts(sum(one['hosts'] for one in left))})" if left else "")


def names(one: dict[str, Any]) -> str:
    """A host or two by name; the query settings_hosts has them all."""
    count, first, last = one["hosts"], one["first_host"], one["last_host"]
    if count <= 2:
        return first if count == 1 else f"{first}, {last}"
    return f"{count} hosts: {first}, {last} and {count - 2} more"
