"""`show cgroups` on version 2: groups whose contents are known, with limits, protections and swap.

Example: known(machine)
"""

from harness import check, note

MIB = 1 << 20


def parts(seen):
    """The figures of a group under our names."""
    part = {entry["id"]: entry["bytes"] for entry in seen["group"]["parts"]}
    within = seen["group"]["within"]
    return {
        "anon": part["anon"],
        "file": part["file_active"] + part["file_inactive"] + part["file_other"],
        "dirty": within["dirty"] + within["writeback"],
        "shmem": part["shmem"],
        "mapped": within["mapped"],
        "tables": part["page_tables"],
    }


def known(machine):
    """Every kind of memory, limits, protection, swap, a kill, and a service."""
    seen = machine.debian("groups")

    def one(name):
        document = seen.json(f"{name}.out")
        if document is None or not document.get("one"):
            check(f"{name} was looked at", False, seen.said(name))
            return None
        return document["one"]

    before = one("kinds-before")
    for kind, mib in [("anon", 64), ("file", 48), ("dirty", 24), ("shmem", 24), ("mapped", 48), ("tables", 8)]:
        after = one(f"kinds-{kind}")
        if not before or not after:
            return
        grown, size = parts(after)[kind] - parts(before)[kind], mib * MIB
        note(f"{kind}: made {mib} MiB, shown {grown / MIB:.2f} MiB")
        check(f"{kind} is shown within 2 % or 1 MiB", abs(grown - size) <= max(size * 0.02, MIB), grown)
        rest = after["group"]["rest"]
        check(f"the rest after {kind} is within its bound", abs(rest["bytes"]) <= rest["bound"], rest)
        before = after
    limits(one, seen)
    killed = one("killed")
    if killed:
        check("the kill is counted in its group", killed["group"]["events"]["oom_kills"] == 1, killed["group"]["events"])
    journald = one("journald")
    if journald:
        shown = next(r["bytes"] for r in journald["readings"] if r["tool"].startswith("systemd-cgtop"))
        said = int(seen.text("journald.current") or 0)
        check("a service is found by its name, with systemd's figure", abs(shown - said) <= MIB, f"{shown} {said}")
        check("and is called a service", journald["group"]["owner"] == {"kind": "service", "name": "systemd-journald"}, journald["group"]["owner"])
    tree = seen.json("tree.out") or {"shown": {"groups": []}}
    groups = tree["shown"]["groups"]
    negative = [g["path"] for g in groups if g["own"] is not None and g["own"] < -4 * MIB]
    check("no group's children have more than it has", groups and not negative, negative)
    note(f"{len(groups)} groups; memory.available {(tree.get('node') or {}).get('available')}")


def limits(one, seen):
    """Limits, what is in force of a protection, and swap."""
    limited, inner = one("limited"), one("inner")
    if not (limited and inner):
        return
    group = limited["group"]
    bound, protection = group["bound"], group["protection"]
    check("max, high and swap.max are told", (bound["effective_max"], bound["high"], bound["swap_max"]) == (96 * MIB, {"at": 80 * MIB}, {"at": 48 * MIB}), bound)
    # systemd mounts with memory_recursiveprot: to the 16 MiB set comes a share of what nobody claims of the parent's 32 MiB.
    check("a protection its parent can give is in force", protection["low"] == 16 * MIB <= protection["effective_low"] <= 32 * MIB, protection)
    check("a protection its parent does not have is not", (inner["group"]["protection"]["low"], inner["group"]["protection"]["effective_low"]) == (16 * MIB, 0), inner["group"]["protection"])
    swap = int(seen.text("limited.swap") or 0)
    note(f"limited: {swap / MIB:.1f} MiB in swap, reclaim {group['reclaim']}")
    check("what went to swap is shown", swap > 12 * MIB and abs(group["swap"] - swap) <= MIB, f"{group['swap']} {swap}")
    take = group["reclaim"]
    check("swap could take no more than swap.max leaves", take["swap_room"] <= 48 * MIB - swap + MIB, take)
    check("never below the protection", take["stays"] >= 16 * MIB, take)
    check("the four lines are the whole", take["now"] + take["after_writing"] + take["with_swap"] + take["stays"] == group["current"], take)
