"""Changes that are undone by themselves: by the timer of --revert-after, and by the guard when they hurt.

Example: timer(machine)
"""

from changes import Disk, change, same, state, went
from harness import check, equal, note

# Of the RAM of 1 GiB so many KiB are kept free: the load, which fitted, no longer does.
LEAST_FREE = 600000
# All tasks waiting for this share of a second hurts; the guard's own share, of two seconds.
HURTS, SECONDS = 0.4, 10.0
# The load hurts on one processor of the guest while the guard looks on another, as on any machine of today.
TWO = ("--cpus", "2")


def timer(machine):
    """The session is killed, and the timer undoes; a change that is kept stays; a reboot does not end the time of one that is not."""
    disk = Disk(machine, "timer")
    seen = disk.boot("before revert revert_over_boot")
    note(" ".join(seen.text("revert.out").split()))
    equal("it is in force", seen.text("revert-before.out").strip(), "150")
    equal("the timer undoes it, whatever has become of the session", seen.text("revert-after.out").strip(), "60")
    state(seen, "revert-status", 1, "undone")
    note(str((change(seen, "revert-status", 1) or {}).get("undone_why")))
    went(seen, "kept-apply", "kept-timer", "kept-keep")
    equal("of a kept change no timer is left", seen.text("kept-gone.out").strip(), "")
    equal("what is kept stays", seen.text("kept-after.out").strip(), "150")
    state(seen, "kept-status", 2, "in_force")
    went(seen, "kept-undo")
    went(seen, "boot-apply")
    state(seen, "boot-status", 3, "in_force", False)
    equal("it is in force before the reboot", seen.text("boot-before.out").strip(), "150")
    check("systemd-analyze verify takes the units of the timer", seen.status("boot-verify") == 0 and "ramline" not in seen.text("boot-verify.err"), seen.said("boot-verify"))
    second = disk.boot("reverted after")
    note(f"undone {second.text('boot-waited').strip()} after the script of the next boot began")
    state(second, "boot-found", 3, "in_force", True)
    equal("its timer is on after the reboot", second.text("boot-timer.out").split(), ["active"])
    equal("the timer undoes it after the reboot", second.text("boot-after.out").strip(), "60")
    state(second, "after-status", 3, "undone", True)
    equal("since it was not kept", (change(second, "after-status", 3) or {}).get("undone_why"), "it was not kept in time")
    check("no unit has failed", not second.text("boot-failed.out").strip(), second.text("boot-failed.out"))
    same("all is as before", second.text("before.listing"), second.text("after.listing"))
    disk.gone()


def guard(machine):
    """A load that fits, and a change under which it does not get on."""
    seen = machine.debian("tune", *TWO, DO="without_zram hurt", LEAST_FREE=LEAST_FREE)
    note(seen.text("hurt.meminfo").replace("\n", "; "))
    note(seen.text("hurt-apply.err").strip()[-400:])
    check("the apply ends as rolled back", seen.status("hurt-apply") not in (0, None), seen.said("hurt-apply"))
    equal("the knob is as before", seen.text("hurt-after.out"), seen.text("hurt-before.out"))
    state(seen, "hurt-status", 1, "undone")
    held = change(seen, "hurt-status", 1) or {}
    note(f"{(held.get('changed_ms', 0) - held.get('applied_ms', 0)) / 1e3:.1f} s from its record to the end of its undo: {held.get('undone_why')}")
    samples = [tuple(float(word) for word in line.split()) for line in seen.text("hurt.samples").splitlines() if len(line.split()) == 3]
    bad = [sample for sample in samples if sample[2] == LEAST_FREE]
    if not check("the change was in force while it was looked at", bad, f"{samples[-5:]} {seen.text('hurt.sampler')}"):
        return
    note(f"kills: {len(seen.text('hurt.kills').splitlines())}")
    if not undone_in_time(samples, bad):
        check("it hurts: a process was killed, or all tasks waited", seen.text("hurt.kills").strip(), bad[-1])


def undone_in_time(samples, bad):
    """Whether it hurt while it was in force (`bad`), and if so it has to be undone in time."""
    hurts = next((at for at, waited, _ in bad for at2, waited2, _ in bad if at2 - at >= 1 and (waited2 - waited) / 1e6 / (at2 - at) > HURTS), None)
    back = next((at for at, _, _ in samples if at > bad[-1][0]), bad[-1][0])
    note(f"in force for {back - bad[0][0]:.1f} s; all tasks waited {(bad[-1][1] - bad[0][1]) / 1e6:.1f} s of it")
    if hurts is None:
        return False
    note(f"undone {back - hurts:.1f} s after it begins to hurt")
    check("it is undone within 10 s after it begins to hurt", back - hurts <= SECONDS, (hurts, back))
    return True


def seconds_held(seen, step):
    """From the end of the apply, as its record has it, to the end of the undo."""
    held = change(seen, step, 1) or {}
    note(f"{(held.get('changed_ms', 0) - held.get('applied_ms', 0)) / 1e3:.1f} s from its record to the end of its undo: {held.get('undone_why')}")
    return held


def swappiness(machine):
    """Memory in use that a change of swappiness sends to a disk."""
    seen = machine.debian("tune", *TWO, DO="without_zram hurt_swappiness")
    note(seen.text("worse.vmstat").replace("\n", "; "))
    check("the apply ends as rolled back", seen.status("worse-apply") not in (0, None), seen.said("worse-apply"))
    equal("the knob is as before", seen.text("worse-after.out").strip(), "1")
    state(seen, "worse-status", 1, "undone")
    seconds_held(seen, "worse-status")
    samples = [tuple(float(word) for word in line.split()) for line in seen.text("worse.samples").splitlines() if len(line.split()) == 3]
    bad = [sample for sample in samples if sample[2] == 200]
    if check("the change was in force while it was looked at", bad, samples[-5:]):
        check("it hurts", undone_in_time(samples, bad), bad[-1])
