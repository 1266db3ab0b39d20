"""A zram device that another program makes: changed and undone in one boot and over two, idle and in use.

Example: generator(machine)
"""

from changes import Disk, in_force, same, state, went
from harness import check, equal, note

CAPACITY = "zram,--goal,capacity"
DISK = ("/dev/vdb1", None)


def generator(machine):
    """zram-generator's device is made larger and undone in one boot; again, over a reboot: its own units make it each time."""
    disk = Disk(machine, "device")
    first = disk.boot("small_zram before apply now undo undone again", APPLY=CAPACITY)
    went(first, "apply-1", "undo", "again")
    state(first, "now-status", 1, "in_force", False)
    in_force(first, "now", [("/dev/zram0", 50), DISK])
    equal("its units are active", first.text("now-generated.out").split(), ["active", "active"])
    same("undone in the same boot, all is as before", first.text("before.listing"), first.text("undone.listing"))
    second = disk.boot("now undo_last undone", last=True)
    state(second, "now-status", 2, "in_force", True)
    in_force(second, "now", [("/dev/zram0", 50), DISK])
    went(second, "undo-last")
    same("undone after a reboot, all is as before", second.text("before.listing"), second.text("undone.listing"))
    disk.gone()


def owner(machine, name, prepare, apply, areas, held=False, more=(), sized=True):
    """Applied, looked at, rebooted, looked at, undone, rebooted: all as before. `held` puts pages of a process into the device first."""
    disk = Disk(machine, name, more)
    first = disk.boot(f"{prepare} {'held_pages' if held else ''} before apply now {'held_still' if held else ''}", APPLY=apply)
    went(first, "apply-1")
    state(first, "now-status", 1, "in_force", False)
    in_force(first, "now", areas, sized)
    if held:
        used = sum(int(line.split()[3]) for line in first.text("held-before.out").splitlines() if line.startswith("/dev/"))
        note(f"{used} KiB were in it; behind the apply: {first.text('held-after.out').split()}")
        check("there was something in it", used >= 4096, first.said("held-before"))
        equal("the process it belongs to lives", first.status("held-alive"), 0)
    second = disk.boot("now undo_last undone")
    state(second, "now-status", 1, "in_force", True)
    in_force(second, "now", areas, sized)
    went(second, "undo-last")
    same("undone, before the reboot", first.text("before.listing") or second.text("before.listing"), second.text("undone.listing"))
    third = disk.boot("after", last=True)
    same("undone and booted, all is as before", third.text("before.listing"), third.text("after.listing"))
    disk.gone()


def generator_in_use(machine):
    owner(machine, "device-in-use", "small_zram", CAPACITY, [("/dev/zram0", 50), DISK], held=True)


def generator_behind_a_disk(machine):
    """Only its priority is changed."""
    owner(machine, "behind", "small_zram zram_behind", "zram", [("/dev/zram0", 100), DISK], sized=False)


def passing(machine, name, prepare, held=False, reboot=True):
    """What makes the device is no file that a plan edits: blocked by name; for this boot alone it is done, and undone; and looked at after a reboot."""
    disk = Disk(machine, name)
    seen = disk.boot(f"{prepare} {'held_pages' if held else ''} before blocked apply now undo undone", APPLY=f"{CAPACITY},--runtime-only", last=not reboot)
    said = seen.text("blocked.out") + seen.text("blocked.err")
    check("what stays is blocked, with the file that makes it", seen.status("blocked") == 5 and "blocked" in said and "set by /etc/" in said, seen.said("blocked"))
    went(seen, "apply-1", "undo")
    state(seen, "now-status", 1, "in_force", False)
    in_force(seen, "now", [("/dev/zram1", 78), DISK])
    same("undone, all is as before", seen.text("before.listing"), seen.text("undone.listing"))
    if reboot:
        after = disk.boot("after", last=True)
        same("and after a reboot", after.text("before.listing"), after.text("after.listing"))
    disk.gone()


def generator_for_this_boot(machine):
    """The device of zram-generator is drained into a second one; undone, its units make it again."""
    disk = Disk(machine, "this-boot")
    seen = disk.boot("small_zram before apply now undo undone", APPLY=f"{CAPACITY},--runtime-only", last=True)
    went(seen, "apply-1", "undo")
    in_force(seen, "now", [("/dev/zram1", 51), DISK])
    same("undone, all is as before", seen.text("before.listing"), seen.text("undone.listing"))
    disk.gone()


def rule_and_fstab(machine):
    passing(machine, "rule", "zram_by_rule")


def rule_in_use(machine):
    passing(machine, "rule-in-use", "zram_by_rule", held=True)


def own_unit(machine):
    """A unit of the reader's own makes device and swap."""
    passing(machine, "unit", "zram_by_unit", reboot=False)


def own_unit_in_use(machine):
    passing(machine, "unit-in-use", "zram_by_unit", held=True)


def fstab_alone(machine):
    """A disk area of fstab's, in use: zram is set up before it, and it stays as it is."""
    owner(machine, "fstab", "without_generator", "zram,--goal,capacity", [("/dev/zram0", 100), DISK], held=True)


ALL = [generator, generator_in_use, generator_behind_a_disk, generator_for_this_boot, rule_and_fstab, rule_in_use, own_unit, own_unit_in_use, fstab_alone]
