"""The same arms in version 1 (this machine, root), in version 2 as root and in version 2 as an ordinary user: the same verdicts.

What stands for what: with swap is `as-configured` on Debian, which has a zram device and a partition (the user can have no other),
`swap:60` for root there, and `swap:60` here, where no swap may be configured; without is `no-swap` everywhere. Two sizes: `short`
leaves next to nothing for the code, so without swap it is read again at every step and the clock ends it; `full` does not hold the
data, so without swap the kernel kills.

Example: same_verdicts(machine)
"""

import json
import os
import tempfile
import time

from harness import check, note, ramline, skip

from .guest import one_line_left

# The data is 56 MiB, the code 12 MiB. A large read-ahead makes the code dear without swap, so that no clock is near the edge of a
# verdict (4 s with swap and 55 s without in the guest, 0.6 s and 22 s here); the user has it from the disk. A clock for each machine.
SHORT, FULL = "--limit 59MiB --read-ahead 512KiB", "--ballast 2 --read-ahead 512KiB"
GUEST, HERE = "--rounds 11 --timeout 20s", "--rounds 11 --timeout 5s"
KILLS = (5, 15)
EXPECTED = {"short": {"with": "completed", "without": "thrashing"}, "full": {"with": "completed", "without": "killed"}}


def verdicts(table):
    """How the runs of a series ended, with swap and without."""
    arms = (table or {}).get("arms", [])
    return {("without" if arm["name"].startswith("no-swap") else "with"): arm["outcome"] for arm in arms}


def same_verdicts(machine):
    """All of it in one guest, and the part of this machine beside it."""
    seen = machine.debian("delegated", small=GUEST, short=SHORT, full=FULL, kills=" ".join(map(str, KILLS)))
    note(f"the user's session: {seen.text('session.out').splitlines()[1:3]}")
    found = {}
    for case in EXPECTED:
        for who in ("user", "root", "file"):
            step = f"{who}-{case}"
            check(f"{step} ends with status 0", seen.status(step) == 0, seen.said(step))
            found[who, case] = verdicts(seen.json(f"{step}.out"))
            note(f"version 2, {step}: {told(seen.json(f'{step}.out'))}")
        found["here", case] = here(machine, case)
        given = {who: found[who, case] for who in ("user", "root", "file", "here") if found[who, case] is not None}
        # A swap file in version 2 is for the arm's sake alone; its no-swap is root's.
        same = all(one == EXPECTED[case] if who != "file" else one == {"with": EXPECTED[case]["with"]} for who, one in given.items())
        check(f"{case}: all give the same verdicts, {EXPECTED[case]}", same, given)
    check("his records are below XDG_STATE_HOME", seen.text("state-home").count("code-plus-data-") == 2, seen.text("state-home"))
    check("root's are not", seen.text("state-root").count("code-plus-data-") == 4, seen.text("state-root"))
    check("nothing is left by anybody", not seen.changes("before", "after"), "\n".join(seen.changes("before", "after")))
    refusals(seen)
    killed(seen)


def told(table):
    """Verdict and a few counts of each arm, for the reader of the test."""
    counts = lambda arm: {name: arm[name] and arm[name]["median"] for name in ("rounds", "refault_file", "refault_anon", "major_faults")}
    return [(arm["name"], arm["outcome"], counts(arm)) for arm in (table or {}).get("arms", [])]


def here(machine, case):
    """The same arms on this machine; None where it is not version 1 with root."""
    if os.geteuid() != 0 or not os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        skip(f"{case} in version 1: needs root and a version 1 memory controller")
        return None
    words = f"{HERE} {SHORT if case == 'short' else FULL}".split()
    with tempfile.TemporaryDirectory(prefix="ramline-state-") as state:
        # What this machine has just been through is no reason for it to refuse a swap area.
        time.sleep(15)
        words = ["--unit", "4MiB", "--runs", "1", "--allow-busy", "--json", "--prove", *words, "--arms", "swap:60,no-swap"]
        done = ramline("lab", "run", "code-plus-data", *words, binary=machine.binary, state=f"{state}/ramline")
    if not check(f"{case} in version 1 ends with status 0", done.returncode == 0, done.stderr):
        return {}
    table = json.loads(done.stdout)
    note(f"version 1, here-{case}: {told(table)}")
    return verdicts(table)


def refusals(seen):
    """What cannot be is named, with what would make it possible, before anything is made."""
    scope = "systemd-run --user --scope -p Delegate=yes ramline lab run code-plus-data"
    expected = {
        "no-group": ("was not delegated to us", scope),
        "no-area": ("arm swap:60 needs root: it makes a swap area", f"{scope} --arms as-configured,no-swap"),
        "not-alone": ("we are not alone in it (process", scope),
        "read-ahead": ("a read-ahead of 8192KiB needs root", f"{scope} --read-ahead 512KiB"),
        "no-memory": ("the memory controller was not delegated to it", "sudo systemctl edit user@.service"),
        "no-experiment": ("need root", "sudo ramline lab run eat-memory"),
    }
    for step, (reason, hint) in expected.items():
        said = seen.text(f"{step}.err")
        fits = "refused before anything was started" in said and reason in said and f"try: {hint}" in said
        check(f"{step} is refused with its reason and what would do", seen.status(step) not in (0, None) and fits, seen.said(step))
    check("both arms that need root are named", "setting zram:60 needs root" in seen.text("no-area.err"), seen.text("no-area.err"))
    for state in ("refused", "end"):
        check(f"what was refused left nothing ({state})", not seen.changes("before", state), "\n".join(seen.changes("before", state)))


def killed(seen):
    """kill -9 of the user's ramline: his systemd takes the groups away, `lab clean` the files."""
    for record in KILLS:
        check(f"the user's ramline was killed after record {record}", seen.status(f"killed-{record}") not in (0, None), seen.said(f"killed-{record}"))
        left = seen.changes("before", f"left-{record}")
        note(f"record {record} leaves: {left}")
        check("no process and no group is left after 2 s", not [line for line in left if "__workload" in line or "/sys/fs/cgroup" in line], left)
        lines = one_line_left(seen.text(f"show-{record}.out") + seen.text(f"show-{record}.err"))
        check("show names what is left in one line", len(lines) == (1 if left else 0), f"{left}\n{seen.said(f'show-{record}')}")
        check("lab clean ends with status 0", seen.status(f"clean-{record}") == 0, seen.said(f"clean-{record}"))
        changes = seen.changes("before", f"clean-{record}")
        check("lab clean removes it", not changes, "\n".join(changes))
