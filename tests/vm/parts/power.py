"""Power cuts of a Debian guest in the middle of a lab run or of a trial of `need`, and the boot after.

Example: cuts(machine)
"""

from harness import check, note

from .guest import one_line_left

# When the plug is pulled, the arm that runs, and the record of its journal that must have been written.
CUTS = (
    ("the scratch image is mounted", "no-swap", '"phase":"done".*"kind":"mount"'),
    ("a swap file is on and the workload runs", "swap:60", '"phase":"done".*"kind":"spawn_into"'),
    ("a zram device is on and the workload runs", "zram:60", '"phase":"done".*"kind":"spawn_into"'),
)
POWER_CUT = 123
# Trials of a service's size, and the seconds after which the plug is pulled: in the first look, on the way up, on the way down, in the climb, in the proof.
TRIALS = [(how, after) for after in (2, 5, 8, 12, 17) for how in ("--try", "--try --verify", "--verify", "down")]
LIMIT = 32 << 20


def cuts(machine):
    """The same disk through every cut: what one leaves must not hinder the next."""
    disk = machine.folder / "power-cut.qcow2"
    disk.unlink(missing_ok=True)
    for when, arm, record in CUTS:
        options = ("--persist", str(disk), "--power-cut", "^journal: cut")
        seen = machine.debian("before-cut", *options, cut=True, ARM=arm, RECORD=record)
        if check(f"the power is cut while {when}", seen.code == POWER_CUT, f"status {seen.code}\n{seen.stdout}\n{seen.stderr}"):
            after(machine.debian("after-cut", "--persist", str(disk)), when)
    disk.unlink(missing_ok=True)


def trials(machine):
    """The same disk through twenty trials of a service's size: the limit at each boot is that of its unit."""
    disk = machine.folder / "need-cut.qcow2"
    disk.unlink(missing_ok=True)
    running, found = 0, []
    for how, seconds in [*TRIALS, ("--try", 1)]:
        options = ("--persist", str(disk), "--power-cut", "^need: cut")
        seen = machine.debian("need-cut", *options, cut=True, HOW=how, AFTER=str(seconds))
        if not check(f"the power is cut {seconds} s into need {how}", seen.code == POWER_CUT, f"status {seen.code}\n{seen.stdout}\n{seen.stderr}"):
            continue
        lines = dict(line.split(": ", 1) for line in seen.stdout.splitlines() if ": " in line)
        note(f"{how}, {seconds} s: {lines.get('running', 'over')}; at the boot: {lines.get('limit')}, {lines.get('left')}")
        running += "running" in lines
        found.append((lines.get("limit"), lines.get("left")))
    check("a trial was on its way at most of the cuts", running >= 12, running)
    # The first boot is before any cut.
    check("the limit at each boot after is that of the unit, and nothing is left", len(found) == 21 and all(one == (f"{LIMIT} {LIMIT}", "0 0") for one in found), found)
    disk.unlink(missing_ok=True)


def after(seen, when):
    """The boot after a cut: named in one line, removed, and the next run works."""
    lines = one_line_left(seen.text("show.out") + seen.text("show.err"))
    note(f"cut while {when}: {lines[0] if lines else 'nothing named'}")
    check("show ends with status 0", seen.status("show") == 0, seen.said("show"))
    check("show names what is left in one line", len(lines) == 1, seen.said("show"))
    check("lab clean ends with status 0", seen.status("clean") == 0, seen.said("clean"))
    note(" ".join(seen.text("clean.out").split()))
    traces = [line for line in seen.text("cleaned.state").splitlines() if "ramline" in line and "/var/lib/ramline" not in line]
    check("no file, mount, group, loop device or swap area of it is left", not traces, "\n".join(traces))
    swaps = [line.split()[0] for line in seen.text("cleaned.state").split("== zram")[0].splitlines()[1:]]
    check("swap is as at every boot", sorted(swaps) == ["/dev/vdb1", "/dev/zram0"], swaps)
    again = one_line_left(seen.text("show-again.out") + seen.text("show-again.err"))
    check("show names nothing any more", not again, again)
    check("the next lab run works", seen.status("again") == 0, seen.said("again"))
    changes = seen.changes("cleaned", "after")
    check("and leaves nothing either", not changes, "\n".join(changes))
