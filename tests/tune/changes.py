"""Changes that stay: applied, cut off, finished, looked at after a reboot, undone, and compared with the listing from before.

Example: cut_and_reboot(machine)
"""

import difflib
import re
import subprocess

from harness import TOP, Skip, check, equal, near, note
from parts import debian

POWER_CUT = 123
# What a shell says of a process that SIGKILL has ended.
KILLED = 137
# Of the change that every record is tried of; the sweep without reboots counts them.
APPLY_RECORDS, UNDO_RECORDS = 33, 36
ZRAM = "zram,--goal,capacity"
SWAP = "swap,--goal,capacity"
SWAPPINESS = "--set,vm.swappiness=150"
# As systemd's tmp.mount has it, on the 1 GiB of the guest.
TMP = "tmp,--goal,flash-wear"


class Disk:
    """One disk through several boots."""

    def __init__(self, machine, name, more=(), kernel=None):
        self.more = ["--with", ",".join(more)] if more else []
        self.kernel = kernel
        self.machine, self.path = machine, machine.folder / f"{name}.qcow2"
        self.path.unlink(missing_ok=True)

    def boot(self, do, cut=False, last=False, kernel=None, **variables):
        kernel = kernel or self.kernel
        options = [*self.more, "--persist", str(self.path)] + (["--power-cut", "^tune: cut now"] if cut else []) + (["--last"] if last else [])
        options += ["--kernel", kernel] if kernel else []
        seen = self.machine.debian("tune", *options, cut=cut, DO=do, **variables)
        if cut:
            note(" ".join(seen.stdout.split())[-400:])
            check(f"the power is cut in: {do}", seen.code == POWER_CUT, f"status {seen.code}\n{seen.stdout}\n{seen.stderr}")
        return seen

    def gone(self):
        self.path.unlink(missing_ok=True)


def went(seen, *steps):
    for step in steps:
        check(f"{step} ends with status 0", seen.status(step) == 0, seen.said(step))


def listed(old, new):
    """The lines in which two listings differ."""
    if not old or not new:
        return [f"no listing {'before' if not old else 'after'}"]
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def same(what, old, new):
    changes = listed(old, new)
    check(what, not changes, "\n".join(changes[:60]))


def change(seen, step, number):
    """One change of `tune status --json`."""
    document = seen.json(f"{step}.out") or {"changes": []}
    return next((entry for entry in document["changes"] if entry["number"] == number), None)


def state(seen, step, number, wanted, rebooted=None):
    found = change(seen, step, number)
    if check(f"{step}: change {number} is known", found is not None, seen.said(step)):
        astray = [entry for entry in found["steps"] if entry["stands"] not in ("after", "was_so", "stateless")]
        check(f"{step}: change {number} is {wanted}", found["state"] == wanted, f"{found['state']}: {astray}")
        if rebooted is not None:
            equal(f"{step}: change {number} was {'' if rebooted else 'not '}rebooted since", found["rebooted"], rebooted)


def in_force(seen, when, areas, sized=True):
    """What other programs say of swap, zram, units and fstab: `areas` has name and priority (None: the kernel's), the one used first in front;
    not `sized` is a change that leaves the size as it is."""
    rows = [line.split() for line in seen.text(f"{when}-swapon.out").splitlines()]
    swap = sorted(((name, int(size), int(priority)) for name, _, size, priority in rows), key=lambda row: -row[2])
    note(f"swapon --show: {swap}; zramctl: {seen.text(f'{when}-zramctl.out').split()}; swappiness {seen.text(f'{when}-swappiness.out').strip()}")
    check(f"{when}: swapon --show has the areas in this order", [name for name, _, _ in swap] == [name for name, _ in areas], swap)
    check(f"{when}: with these priorities", all(wanted is None or wanted == row[2] for row, (_, wanted) in zip(swap, areas, strict=False)), swap)
    shown = ((seen.json(f"{when}-show.out") or {}).get("swap") or {}).get("areas", [])
    check(f"{when}: show swap agrees with swapon", [area["path"] for area in shown] == [name for name, _, _ in swap], shown)
    check(f"{when}: findmnt --verify finds no error in fstab", seen.status(f"{when}-fstab") == 0 and "0 parse errors, 0 errors" in seen.said(f"{when}-fstab"), seen.said(f"{when}-fstab"))
    check(f"{when}: no unit has failed", not seen.text(f"{when}-failed.out").strip(), seen.text(f"{when}-failed.out"))
    check(f"{when}: nobody warned of zram", not seen.text(f"{when}-journal.out").strip(), seen.text(f"{when}-journal.out"))
    device = next((name for name, _ in areas if "zram" in name), None)
    if device and sized:
        # "zram0: 976.0 MiB, zstd, priority 100"
        words = change(seen, f"{when}-status", 1) or {}
        planned = re.search(rf"{device.removeprefix('/dev/')}: ([\d.]+) (MiB|GiB), (.+?), priority", words.get("what", ""))
        name, algorithm, size = (seen.text(f"{when}-zramctl.out").split() + ["", "", "0"])[:3]
        wanted = float(planned[1]) * {"MiB": 2**20, "GiB": 2**30}[planned[2]] if planned else 0
        check(f"{when}: zramctl has the planned size", name == device and abs(int(size) - wanted) < 2**24, (name, size, words.get("what")))
        check(f"{when}: zramctl has the planned algorithm", planned and planned[3] in (algorithm, "the kernel's algorithm"), (algorithm, words.get("what")))


ZRAM_FIRST = [("/dev/zram0", 100), ("/dev/vdb1", None)]
DISK_ALONE = [("/dev/vdb1", None)]


def cut_and_killed(machine):
    """zram by ramline's own unit: a power cut in the apply, finished and looked at by the quick checkup; the undo killed, then undone: all as before, within
    two boots."""
    disk = Disk(machine, "cut-and-killed")
    disk.boot("without_generator before cut_apply", cut=True, APPLY=ZRAM, CUT=14)
    # What the first boot delivers stays on its disk when the power goes, and comes home with the next.
    second = disk.boot("found finish now checked kill_undo status undo undone", last=True, CUT=9)
    state(second, "found", 1, "half_applied", True)
    went(second, "finish")
    state(second, "now-status", 1, "in_force")
    in_force(second, "now", ZRAM_FIRST)
    debian.whole(second, "root")
    check("the checkup leaves nothing", not second.changes("unchecked", "checked"), "\n".join(second.changes("unchecked", "checked")))
    check("the undo is killed", second.status("killed") == KILLED, second.said("killed"))
    state(second, "status", 1, "half_undone")
    went(second, "undo")
    same("after the undo all is as before", second.text("before.listing"), second.text("undone.listing"))
    disk.gone()


def cut_and_reboot(machine):
    """As `cut_and_killed`, with a power cut in the undo as well, a reboot behind what was finished and another behind what was undone."""
    disk = Disk(machine, "cut")
    disk.boot("without_generator before cut_apply", cut=True, APPLY=ZRAM, CUT=14)
    second = disk.boot("status finish now")
    state(second, "status", 1, "half_applied", True)
    went(second, "finish")
    state(second, "now-status", 1, "in_force")
    in_force(second, "now", ZRAM_FIRST)
    disk.boot("now keep cut_undo", cut=True, CUT=9)
    fourth = disk.boot("status undo undone")
    state(fourth, "now-status", 1, "in_force", True)
    in_force(fourth, "now", ZRAM_FIRST)
    equal("ramline's unit is active after the reboot", fourth.text("now-own.out").split(), ["active"])
    check("systemd-analyze verify takes ramline's unit", fourth.status("now-verify") == 0 and "ramline" not in fourth.text("now-verify.err"), fourth.said("now-verify"))
    state(fourth, "status", 1, "half_undone", True)
    went(fourth, "undo")
    same("after the undo all is as before", fourth.text("before.listing"), fourth.text("undone.listing"))
    fifth = disk.boot("after")
    same("and after one more reboot", fifth.text("before.listing"), fifth.text("after.listing"))
    state(fifth, "after-status", 1, "undone", True)
    disk.gone()


def rebooted(machine, name, prepare, apply, areas, more=(), behind="", last="", listing=str):
    """Applied; a reboot, looked at, undone; a reboot, all as before. Of `more` packages the image is; `behind` the apply and `last` more is done;
    `listing` gives what of a listing is compared before the last reboot."""
    disk = Disk(machine, name, more)
    first = disk.boot(f"{prepare} before apply now {behind}", APPLY=apply)
    for number in range(1, len(apply.split()) + 1):
        went(first, f"apply-{number}")
        state(first, "now-status", number, "in_force", False)
    in_force(first, "now", areas)
    second = disk.boot(f"now undo undone {last}")
    for number in range(1, len(apply.split()) + 1):
        state(second, "now-status", number, "in_force", True)
    in_force(second, "now", areas)
    went(second, "undo")
    same(f"{name}: undone, before the reboot", listing(second.text("before.listing")), listing(second.text("undone.listing")))
    third = disk.boot(f"after {last}")
    same(f"{name}: undone and booted, all is as before", third.text("before.listing"), third.text("after.listing"))
    for number in range(1, len(apply.split()) + 1):
        state(third, "after-status", number, "undone", True)
    disk.gone()
    return first, second, third


def with_generator(machine):
    """zram through zram-generator, whose file makes it on smaller machines only; a setting of the reader's own, /tmp in RAM."""
    first, seen, _ = rebooted(machine, "generator", "limited_zram tmp_on_disk", f"{ZRAM} {SWAPPINESS} {TMP}", ZRAM_FIRST)
    note(f"a tmpfs with quotas on this kernel: {'mounted' if first.status('quota') == 0 else first.text('quota.err').strip()}")
    for guest in (first, seen):
        check("zram-generator takes the file without a word", guest.status("now-generator") == 0 and not guest.text("now-generator.err").strip(), guest.said("now-generator"))
        equal("and makes its unit of it", guest.text("now-made.out").split(), ["/run/tune-oracle/dev-zram0.swap"])
        check("systemd-analyze verify takes the unit", guest.status("now-verify-swap") == 0 and "zram" not in guest.text("now-verify-swap.err"), guest.said("now-verify-swap"))
    equal("its units are active after the reboot", seen.text("now-generated.out").split(), ["active", "active"])
    equal("swappiness is in force after the reboot", seen.text("now-swappiness.out").strip(), "150")
    check("/tmp is a tmpfs after the reboot", seen.text("now-tmp.out").startswith("tmpfs"), seen.said("now-tmp"))


def tmp_with_quota(machine):
    """/tmp in RAM on a kernel with quotas on tmpfs: one user is refused what another still gets. Booted with a kernel without them as well."""
    if not kernel_with_quotas():
        raise Skip("the kernel with quotas on tmpfs cannot be built; try: sudo vm/deps --kernel, vm/kernels quota")
    disk = Disk(machine, "quota", kernel="quota")
    first = disk.boot("limited_zram tmp_on_disk before apply now", APPLY=TMP)
    went(first, "quota", "apply-1")
    state(first, "now-status", 1, "in_force", False)
    note(next((line for line in first.text("now-etc.out").splitlines() if " /tmp " in line), "no entry of /tmp"))
    second = disk.boot("now tmp_limit keep")
    state(second, "now-status", 1, "in_force", True)
    in_force(second, "now", DISK_ALONE)
    equal("its mount unit is active", second.text("limit-unit.out").split(), ["active"])
    mounted = second.text("now-tmp.out").split()
    note(f"findmnt: {' '.join(mounted)}")
    limit = re.search(r"usrquota_block_hardlimit=(\d+)", " ".join(mounted))
    options = mounted[1].split(",") if len(mounted) > 1 else []
    check("/tmp is a tmpfs with quotas by user after the reboot", mounted[:1] == ["tmpfs"] and "usrquota" in options and limit, mounted)
    allowed = int(limit[1]) if limit else 0
    # In KiB in fstab: four fifths of half the RAM, to the MiB.
    size = next((int(option[5:-1]) << 10 for option in options if option.startswith("size=")), 0)
    near("one user may have four fifths of it", allowed, size * 0.8, within=2**20)
    check("a user who wants more is refused", second.status("limit-user") != 0 and "Disk quota exceeded" in second.text("limit-user.err"), second.said("limit-user"))
    equal("at the limit, to the byte", int(second.text("limit-used.out").strip() or 0), allowed)
    equal("another one still gets some", second.status("limit-other"), 0)
    shown = second.json("limit-show.out") or {}
    quotas = next((entry["quotas"] for entry in (shown.get("tmpfs") or {}).get("mounts", []) if entry["at"] == "/tmp"), None) or {}
    uses = {use["quota"]["id"]: (use["quota"]["used"], use["quota"]["limit"]) for use in quotas.get("uses", [])}
    note(f"show tmpfs: {uses}")
    equal("show tmpfs has the user at its limit", uses.get(1000), (allowed, allowed))
    check("and says it in words", "user 1000" in second.text("limit-words.out"), second.said("limit-words"))
    other = disk.boot("elsewhere", kernel="6.12")
    check("a kernel without quotas boots, with /tmp on the disk", other.text("elsewhere-tmp.out").strip() == "ext4", other.said("elsewhere-tmp"))
    equal("and to the end", other.text("elsewhere-target.out").split(), ["active", "active"])
    equal("with that one unit failed", other.text("elsewhere-failed.out").split()[:1], ["tmp.mount"])
    state(other, "elsewhere-status", 1, "drifted", True)
    third = disk.boot("status undo undone")
    state(third, "status", 1, "in_force", True)
    went(third, "undo")
    same("undone, before the reboot", third.text("before.listing"), third.text("undone.listing"))
    last = disk.boot("after")
    same("undone and booted, all is as before", third.text("before.listing"), last.text("after.listing"))
    state(last, "after-status", 1, "undone", True)
    disk.gone()


def kernel_with_quotas():
    """Builds it where it is not there yet; what that takes, and how far it is, is said."""
    return subprocess.run([TOP / "vm/kernels", "quota"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False).returncode == 0


def swap_file(machine):
    """A swap file, zram above it by ramline's own unit, a setting of the reader's own."""
    _, seen, _ = rebooted(machine, "file", "without_generator without_disk", f"{ZRAM} {SWAP} {SWAPPINESS}", [("/dev/zram0", 100), ("/swapfile", 10)])
    equal("ramline's unit is active after the reboot", seen.text("now-own.out").split(), ["active"])
    check("systemd-analyze verify takes ramline's unit", seen.status("now-verify") == 0 and "ramline" not in seen.text("now-verify.err"), seen.said("now-verify"))


def with_tools(machine):
    """zram-tools is at work: its unit is switched off, its device drained into one of ramline's own; undone, it is at work again."""
    areas = [("/dev/zram1", 101), ("/dev/vdb1", None)]
    # Its unit computes the size anew from MemTotal, which moves by some pages while a kernel runs.
    listing = lambda text: re.sub(r"^(swap /dev/zram0 partition|/sys/block/zram0) \d+", r"\1 SIZE", text, flags=re.M)
    more = {"more": ["zram-tools"], "behind": "tools_drained", "last": "tools_again", "listing": listing}
    first, second, third = rebooted(machine, "tools", "with_tools", ZRAM, areas, **more)
    used = lambda step, device: next((int(row.split()[3]) for row in first.text(f"{step}.out").splitlines() if row.startswith(device)), 0)
    # The kernel brings pages back to RAM when it switches an area off; they go to the second device from there, when something else needs the RAM.
    note(f"{used('tools-before', '/dev/zram0')} KiB in its device, {used('tools-swaps', '/dev/zram1')} KiB in the second one behind the apply")
    check("there was something to drain", used("tools-before", "/dev/zram0") >= 4096, first.said("tools-before"))
    check("and it is drained", "/dev/zram0" not in first.text("tools-swaps.out"), first.said("tools-swaps"))
    equal("the process it belongs to lives", first.status("tools-held"), 0)
    equal("its unit is stopped", first.text("tools-unit.out").split(), ["inactive"])
    equal("and switched off", first.text("tools-enabled.out").split(), ["disabled"])
    equal("ramline's unit is active after the reboot", second.text("now-own.out").split(), ["active"])
    check("systemd-analyze verify takes ramline's unit", second.status("now-verify") == 0 and "ramline" not in second.text("now-verify.err"), second.said("now-verify"))
    for seen in (second, third):
        equal("undone, its unit is active", seen.text("tools-back.out").split(), ["active"])
        equal("and switched on", seen.text("tools-back-enabled.out").split(), ["enabled"])


def cuts_of_apply(machine):
    """The power goes behind every record of an apply. The next boot finds it, finishes it (odd ones) or not, undoes it, and the power goes again."""
    every_cut(machine, "cut_apply", APPLY_RECORDS)


def cuts_of_undo(machine):
    """The same behind every record of an undo; before each the change is applied again."""
    every_cut(machine, "again cut_undo", UNDO_RECORDS)


# Of the records one in so many (--every), for a first look: each costs a boot, or half a minute.
EVERY = 1


def every_cut(machine, change, records):
    applies = change == "cut_apply"
    disk = Disk(machine, "cuts")
    variables, do = {"APPLY": ZRAM}, "without_generator before"
    cuts = sorted({*range(1, records + 1, EVERY), records})
    # Each makes a change of its own, and their numbers have no holes.
    for number, cut in enumerate(cuts, 1):
        seen = disk.boot(f"{do} {change}", cut=True, CUT=cut, **variables)
        check(f"cut {cut}: the process died behind record {cut}", "status 137" in " ".join(seen.stdout.split()), seen.stdout)
        # The power may be cut behind the last record too: then there is nothing left to finish.
        finish = cut % 2 and applies and cut < records
        do, variables = "mend", {"APPLY": ZRAM, "NUMBER": number, "MEND": "finish" if finish else ""}
    seen = disk.boot("mend", **variables)
    before, halves = seen.text("before.listing"), ("half_applied", "in_force") if applies else ("half_undone", "undone")
    note(f"the power went behind records {cuts} of an {'apply' if applies else 'undo'}")
    for number, cut in enumerate(cuts, 1):
        whole = cut == records
        state(seen, f"c{number}-status", number, halves[whole], True)
        if seen.status(f"c{number}-finish") is not None:
            went(seen, f"c{number}-finish")
        if applies or not whole:
            went(seen, f"c{number}-undo")
        same(f"power cut behind record {cut} of an {'apply' if applies else 'undo'}: undone, all is as before", before, seen.text(f"c{number}.listing"))
    disk.gone()


def every_record(machine):
    """Killed behind every record of an apply and of an undo, in a boot each."""
    disk = Disk(machine, "sweep")
    seen = disk.boot("without_generator before sweep_apply", APPLY=ZRAM, EVERY=EVERY)
    undone = disk.boot("sweep_undo", APPLY=ZRAM, EVERY=EVERY)
    before, finished = seen.text("before.listing"), None
    applies, undos = (int(of.text(f"{verb}-records").strip() or 0) for of, verb in ((seen, "apply"), (undone, "undo")))
    note(f"an apply has at most {applies - 1} records, an undo {undos - 1}")
    # The first that is not killed is the first behind the last record.
    beyond = lambda records: (records // EVERY + 1) * EVERY
    equal("so many records has each", (applies, undos), (beyond(APPLY_RECORDS), beyond(UNDO_RECORDS)))
    for number, n in enumerate(range(EVERY, applies, EVERY), 1):
        equal(f"apply killed behind record {n}", seen.status(f"k{n}-apply"), 137)
        # Behind the last record all is done.
        last = n == APPLY_RECORDS
        state(seen, f"k{n}-status", number, "in_force" if last else "half_applied")
        if n % 2 and not last:
            went(seen, f"k{n}-finish")
            finished = finished or seen.text(f"k{n}-finished.listing")
            same(f"finished behind record {n} as behind the first", untimed(finished), untimed(seen.text(f"k{n}-finished.listing")))
        went(seen, f"k{n}-undo")
        same(f"apply killed behind record {n}, undone", before, seen.text(f"k{n}.listing"))
    # The last apply was whole, and its undo is the first that is killed.
    for number, n in enumerate(range(EVERY, undos, EVERY), applies // EVERY):
        equal(f"undo killed behind record {n}", undone.status(f"u{n}-undo"), 137)
        last = n == UNDO_RECORDS
        state(undone, f"u{n}-status", number, "undone" if last else "half_undone")
        if not last:
            went(undone, f"u{n}-again")
        same(f"undo killed behind record {n}, undone", before, undone.text(f"u{n}.listing"))
    disk.gone()


def untimed(listing):
    """Without the times of files, which a second apply writes anew."""
    return re.sub(r" \d+\.\d{10} ->", " ->", listing)
