"""Debian with systemd, cgroup v2, zram and a swap partition: the checkup as root and as an ordinary user, each in a guest of its own, and every kind of arm.

Example: checkup(machine)
"""

from harness import check, note

from .guest import judged, one_line_left

# Sections of a report that every machine has something to say in; the others may be absent with a reason.
ALWAYS = ("machine", "window", "sentence", "verdict", "ledger", "drift", "tiers", "watermarks", "pressure", "swap", "zram", "tmpfs", "would_fit", "findings", "cost")
# Section, and the words of `skipped` that excuse its absence.
WITH_REASON = {"measured": "tiers", "proof": "proof"}
HEADINGS = ("What to do", "Where the memory is", "The tiers and what they cost", "Whether anything waits", "Swap and zram", "Files in RAM", "This report", "Conditions and cost")
OUTCOMES = ("completed", "thrashing", "killed")


def checkup(machine):
    """The default checkup on 6.12, as root."""
    seen = machine.debian("checkup")
    report = whole(seen, "root")
    if report:
        late = any(skip["why"] == "out of time" and "proof" in skip["what"] for skip in report["skipped"])
        sandbox(seen.json("proof.out") if late else report["proof"], {"as-configured", "no-swap"}, report["skipped"])
    check("root's checkup leaves nothing", not seen.changes("before", "after"), "\n".join(seen.changes("before", "after")))


def user_checkup(machine):
    """The same as the ordinary user."""
    seen = machine.debian("checkup-user")
    report = whole(seen, "user")
    if report:
        skips = {skip["what"]: skip for skip in report["skipped"]}
        proof = next((skip for what, skip in skips.items() if "proof" in what), None)
        check("the proof is skipped by name, with a reason and a command", proof and proof["why"] and proof["fix"], report["skipped"])
        check("the report says it was not root", report["machine"]["root"] is False, report["machine"])
    changes = seen.changes("before", "after")
    check("the user's checkup leaves nothing", not changes, "\n".join(changes))


def older_kernel(machine):
    """The same as an ordinary user in a login session of its own, on 6.1."""
    seen = machine.debian("user", "--as-user", "--kernel", "6.1")
    whole(seen, "user")


def whole(seen, who):
    """The report of one checkup: complete, and right about this machine's zram and swap."""
    check(f"checkup as {who} ends with status 0", seen.status(who) == 0, seen.said(who))
    report = seen.json(f"{who}.json")
    if not check(f"{who}'s report is JSON", report is not None, seen.text(f"{who}.json")[:500]):
        return None
    unseen = {entry["section"]: entry["reason"] for entry in report["unseen"]}
    missing = [name for name in ALWAYS if report.get(name) is None and not unseen.get(name)]
    excused = [f"{skip['what']}: {skip['why']}" for skip in report["skipped"] if skip["why"]]
    missing += [name for name, words in WITH_REASON.items() if report.get(name) is None and not any(words in text for text in excused)]
    check(f"every section of {who}'s report is there, or named with a reason", not missing, f"{missing}; {excused}; {unseen}")
    html = seen.text(f"{who}.html")
    absent = [heading for heading in HEADINGS if heading not in html]
    check(f"{who}'s page has every section", html.rstrip().endswith("</html>") and not absent, absent)
    check(f"the zram ladder says active to {who}", report["zram"]["rung"] == "active", report["zram"]["rung"])
    areas = [area["path"] for area in report["swap"]["areas"]]
    check(f"{who} sees both swap areas, the one used first in front", areas == ["/dev/zram0", "/dev/vdb1"], areas)
    check(f"there is nothing to change for {who}", not judged(report), judged(report))
    share = abs(report["ledger"]["leftover_share"])
    note(f"as {who}: leftover {share:.2%}, findings {[finding['id'] for finding in report['findings']]}")
    return report


def sandbox(proof, arms, skipped):
    """The proof ran in a version 2 group, each arm with a verdict."""
    if not check("the proof ran", proof is not None, skipped):
        return
    check("in a version 2 memory group", proof["machine"]["cgroup_version"] == 2, proof["machine"])
    seen = {arm["name"].split()[0]: arm["outcome"] for arm in proof["arms"]}
    note(f"verdicts: {seen}")
    check(f"with the arms {sorted(arms)}, each with a verdict", set(seen) == arms and set(seen.values()) <= set(OUTCOMES), seen)


def arms(machine):
    """no-swap, a swap file and zram as arms in a version 2 group, and kill -9 in the middle."""
    seen = machine.debian("lab")
    check("lab run with every kind of arm ends with status 0", seen.status("arms") == 0, seen.said("arms"))
    table = seen.json("arms.out") or {}
    outcomes = {arm["name"].split()[0]: arm["outcome"] for arm in table.get("arms", [])}
    note(f"verdicts: {outcomes}")
    check("each arm has a verdict", set(outcomes) == {"no-swap", "swap:60", "zram:60"} and set(outcomes.values()) <= set(OUTCOMES), outcomes)
    check("the run leaves nothing", not seen.changes("before", "after"), "\n".join(seen.changes("before", "after")))
    for record in (12, 30):
        check(f"killed after record {record}", seen.status(f"killed-{record}") == 137, seen.said(f"killed-{record}"))
        left = seen.changes("before", f"left-{record}")
        processes = [line for line in left if "__workload" in line]
        check("the workload is dead within 2 s", not processes, processes)
        note(f"record {record} leaves: {left}")
        lines = one_line_left(seen.text(f"show-{record}.out") + seen.text(f"show-{record}.err"))
        check("show names what is left in one line", len(lines) == (1 if left else 0), f"{left}\n{seen.said(f'show-{record}')}")
        check("lab clean ends with status 0", seen.status(f"clean-{record}") == 0, seen.said(f"clean-{record}"))
        changes = seen.changes("before", f"clean-{record}")
        check("lab clean removes it", not changes, "\n".join(changes))


def eat_and_drop(machine):
    """eat-memory and drop in a version 2 group: the same answers as in version 1."""
    seen = machine.debian("eat")
    for step in ("eat", "sweep-generations", "sweep", "drop"):
        check(f"{step} ends with status 0", seen.status(step) == 0, seen.said(step))
    for arm in (seen.json("sweep-generations.out") or {}).get("arms", []):
        swapped = [figure["measurement"]["median"] for figure in arm["figures"] if figure["name"] == "swap used at the end"]
        note(f"with the multi-generational lists, {arm['name']}: {swapped} bytes swapped")
    figures = {}
    for step in ("eat", "sweep", "drop"):
        for arm in (seen.json(f"{step}.out") or {}).get("arms", []):
            figures[arm["name"]] = {figure["name"]: figure["measurement"]["median"] for figure in arm["figures"]}
            note(f"{arm['name']}: {arm['verdicts']} {figures[arm['name']]}")
    of = lambda arm, name: figures.get(arm, {}).get(name, -1)
    check("far more than free said is obtained", of("cache+no-swap", "obtained") > 3 * of("cache+no-swap", "free said") > 0, figures)
    check("nothing is swapped where it is forbidden, also beside swap of the machine's own", of("cache+no-swap", "swap used at the end") == 0, figures)
    few, many = (of(f"idle+cache+swap:{swappiness}", "swap used at the end") for swappiness in (0, 200))
    check("with the classic lists at swappiness 200 more idle data is swapped than at 0", many > few >= 0, (few, many))
    for level in (1, 2, 3):
        kept = [of(f"level {level}", f"{kind} kept") for kind in ("clean", "dirty", "mlocked", "mapped", "tmpfs")]
        check(f"level {level} leaves the same kinds", kept == [1024 if level == 2 else 0, 1024, 1024, 1024, 1024], kept)
    check("nothing is left", not seen.changes("before", "after"), "\n".join(seen.changes("before", "after")))
