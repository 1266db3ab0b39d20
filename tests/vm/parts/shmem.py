"""Shared memory by kind on Debian: cgroup v2, swap on zram and disk. Each kind under its name, to the page, in RAM and in swap.

Example: kinds(machine)
"""

import base64

from harness import TOP, check, note

PAGE = 4096
HOLDER = TOP / "tests/shmem/holder.pl"
# The guest holds nothing else of that size; which object is meant is told by its inode where it has one.
KINDS = {"deleted": "deleted", "mapped": "deleted", "memfd": "memfd"}


def kinds(machine):
    """One boot: everything in RAM, then in swap."""
    seen = machine.debian("shmem", HOLDER=base64.b64encode(HOLDER.read_bytes()).decode())
    made = seen.json("made.json")
    if not check("the holder made one of each kind", made is not None, seen.text("made.err")):
        return
    out = {"ram": 0, "swap": 0}
    for when in ("ram", "swap"):
        look = seen.json(f"{when}.json")
        if not check(f"show tmpfs answers ({when})", seen.status(when) == 0 and look is not None, seen.said(when)):
            continue
        memory = look["shared_memory"]
        for name, amount in found(memory, made).items():
            pages = amount and [amount[key] // PAGE for key in ("resident", "swapped", "either")]
            check(f"{name} is told to the page ({when})", pages and pages[0] + pages[1] == made[name]["pages"] and pages[2] == 0,
                        f"{pages} of {made[name]['pages']}")
            out[when] += pages[1] if pages else 0
        segment = next((s for s in memory["segments"] if s["id"] == made["segment"]["id"]), None)
        row = next((line.split() for line in seen.text(f"{when}.segments").splitlines()[1:] if int(line.split()[1]) == made["segment"]["id"]), None)
        check(f"the segment is as the kernel's own table has it ({when})",
                    segment and row and [segment["resident"], segment["swapped"]] == [int(row[-2]), int(row[-1])], f"{segment} {row}")
        fs = next(f for f in memory["filesystems"] if f["at"] == "/run/shmem-test")
        parts = sum(fs[a][b] for a in ("found", "deleted") for b in ("resident", "swapped"))
        check(f"the file system's own count is the sum of its files ({when})", fs["used"] == parts, fs)
        shared = look["shared"]
        check(f"the rest is within its bounds around what was seen ({when})",
                    shared["rest_at_least"] <= shared["rest"] <= shared["rest_at_most"], shared["rest"])
        note(f"{when}: Shmem {shared['total']}, in swap {shared['swapped']}, rest {shared['rest']} (counter off by {shared['counter_off']}), "
                   f"complete {shared['complete']}, took {memory['walk']['cost'] / 1e6:.0f} ms")
    # The group's own count of swap also has private memory of the holder: it is no less.
    stat = seen.text("group.stat").splitlines()
    check("most of it was swapped, and no more than the group's own count",
                300 <= out["swap"] <= int(stat[-1]) // PAGE, f"{out}, group {stat}")
    check("the screens print", seen.status("text") == 0 and "in swap, by kind" in seen.text("text.out"), seen.said("text"))
    user = seen.json("user.json")
    check("an ordinary user gets an upper bound", user is not None and user["shared"]["complete"] is False
                and user["shared"]["rest_at_most"] > 0, seen.said("user"))
    changes = seen.changes("before", "after")
    check("the guest is as before", not changes, "\n".join(changes))


def found(memory, made):
    """The amount of each thing that was made, by its identity."""
    named = {file["path"]: file["amount"] for file in memory["files"]}
    objects = {(o["kind"], o["ino"]): o["amount"] for o in memory["objects"] if any(h["pid"] == made["pid"] for h in o["holders"])}
    out = {key: named.get(made[key]["path"]) for key in ("file", "alone")}
    out |= {key: objects.get((kind, made[key]["ino"])) for key, kind in KINDS.items()}
    out["anonymous"] = next((amount for (kind, _), amount in objects.items() if kind == "shared_anonymous"), None)
    return out
