"""`tune apply need:SERVICE` on version 2: the limit of a service of systemd is raised to what it needs, stays, and is taken back.

Example: raised(machine)
"""

from harness import check, equal, near

MIB = 1 << 20


def raised(machine):
    """A reader of 40 MiB at a limit of 28 MiB."""
    seen = machine.debian("limit")
    plan = seen.json("plan.out")
    if not check("it is planned", plan is not None, seen.said("plan")):
        return
    line = plan["plan"]["lines"][0]
    check("as a change of its limit", line["decision"] == "change" and line["target"] == "memory limit of /system.slice/reader.service", line)
    equal("applied", seen.status("apply"), 0)
    at = lambda name: [int(word) for word in seen.text(name).split()]
    limit, refaults = at("in-force")
    # Its file, and what Perl and the kernel take beside it.
    near("the limit in force is what it needs", limit, 43 * MIB, share=0.07)
    later = at("in-force-later")[1]
    check("hardly anything is read again", later - refaults < 2000, (refaults, later, seen.text("before")))
    check("by a file beside the unit", "[Service]\nMemoryMax=" in seen.text("file"), seen.text("file"))
    refused = seen.text("undo-refused.err")
    check("an old limit that would kill is not put back", seen.status("undo-refused") != 0 and "must fit" in refused and "try:" in refused, seen.said("undo-refused"))
    equal("and the new one stays", at("refused")[0], limit)
    equal("undone", seen.status("undo"), 0)
    equal("as before", at("after")[0], 28 * MIB)
    equal("and nothing is left beside the unit", seen.text("after.files"), seen.text("before.files"))
    equal("what is no service is refused", seen.status("by-hand"), 5)
    check("with its own command", "memory.max" in seen.text("by-hand.out") + seen.text("by-hand.err"), seen.said("by-hand"))
