"""Writeback in a guest whose kernel has it: a bare Debian kernel, a virtio disk behind zram, known pages in a group of their own.

Example: writeback(folder)
"""

from harness import STATIC, check, equal, near, note
from parts.guest import Machine

MIB = 1 << 20
KERNEL = "6.12"


def device(seen, step):
    """The device of a pass, or an empty one."""
    document = seen.json(f"{step}.out") or {}
    check(f"{step} is one line of JSON with one device", len(document.get("devices", [])) == 1, seen.said(step))
    return document, (document.get("devices") or [{}])[0]


def counters(seen, name):
    """bd_writes in bytes, the pool, and the switch of the limit, as the kernel says."""
    words = seen.text(f"{name}.counters").split()
    return [int(word) for word in words] if len(words) == 3 else [-1, -1, -1]


def writeback(folder):
    """Real pages to a real block device, within the budget; they come back as they were."""
    seen = Machine(STATIC, folder).bare_with(KERNEL, "maintain", "--disk", "96M")
    note(seen.text("fill.out") + seen.text("holes.out"))
    at = {name: counters(seen, name) for name in ("filled", "young", "first", "second", "third", "killed", "after")}
    note(str(at))
    for step in ("dry", "young", "first", "second", "third", "after"):
        check(f"{step} ends with status 0", seen.status(step) == 0, seen.said(step))

    document, entry = device(seen, "dry")
    check("a dry run names the limit before the pages", [line.split("/")[-1].split(":")[0] for line in entry.get("would_write", [])] == ["idle", "writeback_limit", "writeback_limit_enable", "writeback", "writeback", "compact"], entry)
    check("it says that this kernel cannot compress again", any("no recompression: this kernel" in why for why in entry.get("skipped", [])), entry)

    document, entry = device(seen, "young")
    equal("pages of seconds are not idle for an hour", (entry.get("marked"), entry.get("written_back")), ("by_age", 0))
    equal("and the kernel has written none", at["young"][0], at["filled"][0])
    check("a pool with holes gets smaller by compaction", (entry.get("compacted") or 0) >= 64 << 10, entry)

    document, entry = device(seen, "first")
    equal("the first pass writes its budget and no page more", entry.get("written_back"), 8 * MIB)
    equal("by the kernel's count too", at["first"][0] - at["young"][0], 8 * MIB)
    equal("none of the budget is left", document["budget"]["left"], 0)
    equal("the switch of the limit is as before", at["first"][2], 0)
    check("the pool is smaller", at["first"][1] < at["young"][1] and entry.get("freed", 0) > 0, (at, entry))
    near("incompressible pages went first: what was written was freed", entry.get("freed", 0), 8 * MIB, 0.05)

    document, entry = device(seen, "second")
    equal("a pass of the same day writes nothing", (entry.get("written_back"), at["second"][0]), (0, at["first"][0]))
    check("and says why", any("budget of 24 hours is used up" in why for why in entry.get("skipped", [])), entry)

    document, entry = device(seen, "third")
    equal("with more budget the rest is written", entry.get("written_back"), at["third"][0] - at["second"][0])
    check("which is most of what was swapped", at["third"][0] > 30 * MIB, at)
    equal("its budget counts the first pass too", document["budget"]["written"], at["third"][0])

    equal("a pass killed behind the switch ends so", seen.status("killed"), 137)
    equal("the switch is on then", at["killed"][2], 1)
    equal("the next pass puts it back", at["after"][2], 0)
    equal("what was swapped out reads as before", seen.text("sums-before").split(), seen.text("sums-after").split())
    check("sums were taken", len(seen.text("sums-before").split()) == 4, seen.text("sums-before"))
    check("zram had no error", seen.text("failed-io").split()[:2] == ["0", "0"], seen.text("failed-io"))


def boot(machine, disk, do):
    return machine.debian("verify", "--persist", str(disk), DO=do)


def status(seen):
    """Change 1 of `tune status --json`."""
    document = seen.json("status.out") or {}
    return next((change for change in document.get("changes", []) if change["number"] == 1), {})


def boots(folder):
    """Three boots: applied, overruled by a file of sysctl.d, in force again; undone, and nothing of the unit is left."""
    machine, disk = Machine(STATIC, folder), folder / "boots.qcow2"
    first = boot(machine, disk, "apply overrule look")
    check("it is applied", first.status("apply") == 0, first.said("apply"))
    check("systemd takes the unit", first.status("verified") == 0 and "ramline" not in first.text("verified.err"), first.said("verified"))
    equal("no boot was looked at yet", status(first).get("boots"), [])
    second = boot(machine, disk, "look give_way")
    note(" ".join(second.text("words.out").split()))
    note(" ".join(second.text("result.out").split()))
    equal("overruled at boot", second.text("swappiness").strip(), "20")
    found = status(second).get("boots") or [{}]
    equal("which the boot has recorded", (len(found), found[-1].get("boot"), found[-1].get("state")), (1, 2, "drifted"))
    equal("with who did it", found[-1].get("astray"), ["vm.swappiness was 20, set by /etc/sysctl.d/zz.conf:1"])
    check("no unit has failed", not second.text("failed.out").strip(), second.text("failed.out"))
    check("the boot did not wait for it", "ramline-tune-verify" not in second.text("slow.out"), second.text("slow.out"))
    third = boot(machine, disk, "look undo timer")
    words = " ".join(third.text("words.out").split())
    note(words)
    check("in force since, and what was before", "Found in force since boot 3; on boot 2 (" in words and "vm.swappiness was 20, set by /etc/sysctl.d/zz.conf:1." in words, words)
    check("history counts the boots", "1 of 2" in third.text("history.out"), third.text("history.out"))
    equal("after the undo no file of the unit is left", (third.status("undo"), third.text("left")), (0, ""))
    note(third.text("plan.out").strip())
    check("the timer is applied", third.status("timer-apply") == 0, third.said("timer-apply"))
    check("systemd takes service and timer", third.status("timer-verified") == 0 and "ramline" not in third.text("timer-verified.err"), third.said("timer-verified"))
    equal("the timer runs", third.text("timer-active.out").strip(), "active")
    check("its service makes a pass, which is a line of the journal", '"device":"zram0"' in third.text("timer-said.out"), third.text("timer-said.out"))
    check("planned again it is kept", third.text("timer-again.out").startswith("Nothing to change"), third.text("timer-again.out"))
    equal("undone it is gone", (third.status("timer-undo"), third.text("timer-gone.out").strip(), third.text("timer-left")), (0, "inactive", ""))
    disk.unlink(missing_ok=True)
