"""Findings provoked for real on Debian: each set-up is made, the quick checkup names it and nothing else, and it is undone.

Example: cheap(machine)
"""

from harness import check, note

from .guest import judged

CHEAP = ("tmp-near-limit", "tmpfs-near-limit", "zram-and-zswap", "swap-outranked", "watermark-scale-factor-without-effect", "other-evictor",
         "huge-pages-unused", "sysctl-set-twice", "killer-cannot-trigger")
UNDER_PRESSURE = ("zram-limit-fails-writes", "zram-incompressible", "no-swap-and-refaults", "read-ahead-amplifies-faults",
                  "process-swap-hot")

# What comes along with a provocation and is true: thrashing without swap is what makes read-ahead hurt.
ALSO = {"read-ahead-amplifies-faults": {"no-swap-and-refaults"}}


def cheap(machine):
    """Set-ups that need no pressure."""
    provoke(machine, CHEAP)


def under_pressure(machine):
    """Set-ups that push memory out."""
    provoke(machine, UNDER_PRESSURE)


def provoke(machine, names):
    """One boot, one provocation after the other."""
    seen = machine.debian("findings", NAMES=" ".join(names))
    for name in names:
        check(f"{name} could be provoked", seen.status(f"provoke-{name}") == 0, seen.said(f"provoke-{name}"))
        report = seen.json(f"{name}.json")
        if not check(f"checkup --quick with {name} writes a report", report is not None, seen.said(f"look-{name}")):
            continue
        found = judged(report)
        check(f"{name} is found", name in found, f"found {found}\n{seen.said(f'provoke-{name}')}")
        check(f"{name} comes alone", found <= {name} | ALSO.get(name, set()), found)
        for finding in report["findings"]:
            if finding["id"] == name:
                note(f"{name}: {finding['title']}")
        check(f"{name} was undone", seen.status(f"undo-{name}") == 0, seen.said(f"undo-{name}"))
    calm = seen.json("calm.json")
    check("with everything undone there is nothing to change", calm is not None and not judged(calm), calm and judged(calm))
    changes = seen.changes("before", "after")
    check("the guest is as before", not changes, "\n".join(changes))
