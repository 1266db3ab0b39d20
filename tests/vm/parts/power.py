"""Power cuts of a Debian guest in the middle of a lab run, and the boot after.

Example: cuts(machine, tally)
"""

from .guest import one_line_left

# Records of the journal after which the plug is pulled: with the scratch file there, with a swap file on, with a zram device on.
RECORDS = (6, 16, 30)
POWER_CUT = 123


def cuts(machine, tally):
    """The same disk through every cut: what one leaves must not hinder the next."""
    disk = machine.folder / "power-cut.qcow2"
    for records in RECORDS:
        seen = machine.debian("before-cut", "--persist", str(disk), "--power-cut", "^journal: [0-9]+ records", cut=True, RECORDS=records)
        cut = tally.check(f"the power is cut after {records} records", seen.code == POWER_CUT, f"status {seen.code}\n{seen.stdout}\n{seen.stderr}")
        if cut:
            after(tally, machine.debian("after-cut", "--persist", str(disk)), records)
    disk.unlink(missing_ok=True)


def after(tally, seen, records):
    """The boot after a cut: named in one line, removed, and the next run works."""
    text = seen.text("show.out") + seen.text("show.err")
    lines = one_line_left(text)
    tally.note(f"after {records} records: {lines[0] if lines else 'nothing named'}")
    tally.check("show ends with status 0", seen.status("show") == 0, seen.said("show"))
    tally.check("show names what is left in one line", len(lines) == 1, text)
    tally.check("lab clean ends with status 0", seen.status("clean") == 0, seen.said("clean"))
    tally.note(" ".join(seen.text("clean.out").split()))
    traces = [line for line in seen.text("cleaned.state").splitlines() if "ramline" in line and "/var/lib/ramline" not in line]
    tally.check("no file, mount, group, loop device or swap area of it is left", not traces, "\n".join(traces))
    again = one_line_left(seen.text("show-again.out") + seen.text("show-again.err"))
    tally.check("show names nothing any more", not again, again)
    tally.check("the next lab run works", seen.status("again") == 0, seen.said("again"))
    changes = seen.changes("cleaned", "after")
    tally.check("and leaves nothing either", not changes, "\n".join(changes))
