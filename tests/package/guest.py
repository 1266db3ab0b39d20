"""The .deb on a Debian in a virtual machine: installed, used, upgraded with a change in force, purged; what is left is compared with what was there."""

import re

from harness import STATIC, check, equal
from parts.guest import HostTrouble, Machine


# What the kernel says where a unit may not do what it needs.
DENIED = ("ermission denied", "not permitted", "Read-only file system")


def booted(machine, name, *options, **variables):
    """What a boot of the guest printed and left; `None` where it did not run, which is a failure."""
    try:
        return machine.debian(name, *options, after="package-listing", **variables)
    except HostTrouble as error:
        check("the guest ran", False, error)
        return None


def ended_well(seen, steps, when=""):
    """Every one of these steps."""
    for step in steps:
        check(f"{when}{step} ends with status 0", seen.status(step) == 0, seen.said(step))


def as_before(first, last):
    """Files, directories and units after a purge are those from before the installation; how many there are."""
    before, after = first.text("before.listing").splitlines(), last.text("after.listing").splitlines()
    differ = [f"- {line}" for line in before if line not in set(after)] + [f"+ {line}" for line in after if line not in set(before)]
    equal("after a purge all is as before", differ[:40], [])
    return len(before)


def trial(folder, release, build):
    """One boot of one release."""
    old = build(folder / "old", words=["--only", "deb"])["deb"]
    new = build(folder / "new", words=["--only", "deb", "--revision", "2"])["deb"]
    seen = booted(Machine(old, folder, release), "package", "--bin", str(new), OLD=old.name, NEW=new.name)
    if seen:
        judge(seen)


def reboot(folder, release, build):
    """Recorder and exporter enabled, a boot, the past of the boot before, and a purge: two boots of one disk."""
    package = build(folder / "one", words=["--only", "deb"])["deb"]
    machine, disk = Machine(package, folder, release), folder / "disk.qcow2"
    options = ["--persist", str(disk), "--with", "curl"]
    first = booted(machine, "package-enable", *options, NAME=package.name)
    second = first and booted(machine, "package-rebooted", *options, "--last", MOMENT=first.text("moment").strip())
    if not second:
        return
    ended_well(first, ("install", "answer", "enable", "now"))
    ended_well(second, ("active", "at", "list", "scrape", "purge"), "after a boot ")
    check("the past of the boot before is shown", "available" in second.text("at.out"), second.said("at"))
    total = lambda text: re.findall(r"of ([\d.]+ [KMG]iB)", text)[:1]
    equal("of the machine that it was", total(second.text("at.out")), total(first.text("now.out")))
    check("metrics are served", "ramline_memory_available_bytes" in second.text("scrape.out"), second.said("scrape"))
    as_before(first, second)


def judge(seen):
    """What the steps printed and left."""
    ended_well(seen, ("install", "answer", "quick", "man", "set", "upgrade", "purge-in-force", "undo", "again", "remove", "purge"))
    check("one command answers", seen.text("answer.out").startswith("Memory"), seen.said("answer"))
    states = {line.split()[0]: line.split()[1] for line in seen.text("installed-units.out").splitlines()}
    check("units are off until they are enabled", "enabled" not in states.values(), states)
    equal("nothing of the package runs", seen.text("installed-active.out"), "")
    for unit in states:
        check(f"systemd finds no fault in {unit}", seen.status(f"verify-{unit}") == 0, seen.said(f"verify-{unit}"))
        check(f"{unit} starts", seen.status(f"run-{unit}") in (0, None), seen.said(f"run-{unit}") + seen.text(f"journal-{unit}.out"))
    # What ramline itself says of a failure stands in the journal even where the unit ignores it.
    for unit in states:
        journal = seen.text(f"journal-{unit}.out")
        check(f"{unit} is denied nothing it needs", not any(word in journal for word in DENIED), journal)
    equal("the unit that checks changes at boot ends well", seen.text("check-result.out").split(), ["Result=success", "ExecMainStatus=0"])
    check("and is denied nothing it needs", not any(word in seen.text("check-journal.out") for word in DENIED), seen.text("check-journal.out"))
    changes = (seen.json("status-before.out") or {}).get("changes") or [{}]
    check("it found the change in force", changes[0].get("boots") or changes[0].get("state") == "in_force", changes)
    equal("a change of settings is as it was after an upgrade", seen.json("status-after.out"), seen.json("status-before.out"))
    equal("and in force", seen.text("swappiness.out").strip(), "120")
    check("a purge says that a change stays", "stay in force" in seen.said("purge-in-force"), seen.said("purge-in-force"))
    check("and how to undo it", "/var/lib/ramline/ramline tune undo 1" in seen.said("purge-in-force"), seen.said("purge-in-force"))
    equal("it stays in force", seen.text("swappiness-in-force.out").strip(), "120")
    equal("until it is undone that way", seen.text("swappiness-undone.out").strip(), "60")
    compared = as_before(seen, seen)
    check("a listing is long", compared > 3000, compared)
    equal("and nothing of ramline is left", [line for line in seen.text("gone.out").splitlines() if line.startswith("/")], [])
    print(f"one boot with {STATIC}: {compared} files, directories and units compared")
