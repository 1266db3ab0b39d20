"""The hot set of a PostgreSQL data folder over a real reboot, by the units that `cache save --install` puts in place.

Example: comes_back(machine)
"""

from harness import check, note

UNITS = {"ramline-hotset-restore.service", "ramline-hotset-save.service", "ramline-hotset-save.timer", "ramline-hotset-shutdown.service"}


def resident(document):
    return document["total"]["resident"] if document else 0


def comes_back(machine):
    """Filled and read; shut down and booted; removed, and booted once more."""
    disk = machine.folder / "hotset.qcow2"
    disk.unlink(missing_ok=True)
    options = ("--with", "postgresql,python3", "--persist", str(disk))
    first = machine.debian("hotset-install", *options, SCALE=3)
    for step in ("fill", "read", "install"):
        check(f"{step} ends with status 0", first.status(step) == 0, first.said(step))
    units = {line.split()[0] for line in first.text("units.out").splitlines()}
    check("the units are there", units == UNITS, first.text("units.out"))
    check("a second installation is refused", first.status("twice") == 5, first.said("twice"))
    before = resident(first.json("before.out"))
    second = machine.debian("hotset-back", *options)
    after = resident(second.json("after.out"))
    note(f"{before / 2**20:.1f} MiB of the data folder before the reboot, {after / 2**20:.1f} MiB after it; {second.text('said.out').strip()[-300:]}")
    check("the service restored by itself", (words := second.text("restore.out").split())[:2] in (["success", "0"], ["success", "7"]) and words[2:3] != ["0"], second.said("restore") + second.text("said.out"))
    check("the data folder is back", before > 40 << 20 and after >= 0.99 * before, (before, after))
    check("the database answers", second.text("answers.out").strip() == "300000", second.said("answers"))
    check("uninstall ends with status 0", second.status("uninstall") == 0, second.said("uninstall"))
    check("and leaves no unit", not second.text("units.out").strip(), second.text("units.out"))
    check("and no file", not second.text("traces.out").strip(), second.text("traces.out"))
    third = machine.debian("hotset-gone", *options)
    without = resident(third.json("after.out"))
    note(f"without the units {without / 2**20:.1f} MiB of it are there after a boot")
    check("without the units it does not come back", 0 < without < 0.7 * before, (before, without))
    disk.unlink(missing_ok=True)
