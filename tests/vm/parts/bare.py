"""Bare guests: every screen, the quick checkup, and a captured tree that reads the same for everyone.

Example: look(machine, "6.12")
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import check, note, skip

from .guest import NOTHING, judged

TOPICS = ("show", "show-zram", "show-swap", "show-tmpfs", "show-pressure", "show-json", "checkup", "snapshot")
NOBODY = 65534

# |leftover| as a share of a guest with 512 MiB: what drivers take is the same few MiB as on a large machine.
MOST_LEFTOVER = 0.01
# Besides, what newer kernels take at boot and count nowhere: the block layer's reserve for integrity data, a mempool of two pages of
# 2 MiB (bio_integrity_initfn; seen on 7.3.4 with trace_event=kmem:mm_page_alloc and stack traces). The check stays as tight as before.
RESERVED = {"7.2": 4 * 2**20, "7.3": 4 * 2**20}


def look(machine, kernel):
    """One boot, and the tree it delivers read on the host."""
    seen = machine.bare(kernel)
    for step in TOPICS:
        check(f"{step} ends with status 0", seen.status(step) == 0, seen.said(step))
    check("show zram names the swap in use", "zram0" in seen.text("show-zram.out"), seen.text("show-zram.out"))
    check("show swap names it too", "/dev/zram0" in seen.text("show-swap.out"), seen.text("show-swap.out"))
    check("looking changes nothing", not seen.changes("before", "after"), "\n".join(seen.changes("before", "after")))
    check("show --json is JSON", (seen.json("show-json.out") or {}).get("schema_version"), seen.text("show-json.out")[:500])
    html = seen.text("report.html")
    check("the page is whole", html.startswith("<!") and html.rstrip().endswith("</html>"), html[-200:])
    report = seen.json("report.json")
    if check("report.json is a report", report is not None and report.get("ledger"), seen.text("report.json")[:500]):
        ledger = report["ledger"]
        share = abs(ledger["leftover"] - RESERVED.get(kernel, 0)) / ledger["total"]
        note(f"leftover {ledger['leftover'] / 2**20:.1f} MiB of {ledger['total'] / 2**20:.0f} MiB, {share:.2%} beyond what is known")
        check(f"|leftover| is at most {MOST_LEFTOVER:.0%}", share <= MOST_LEFTOVER, f"{share:.3%}")
        check("the zram ladder says active", report["zram"]["rung"] == "active", report["zram"]["rung"])
        check("there is nothing to change", not judged(report), judged(report))
    closed(seen)
    check("a value that the kernel takes in part is refused", seen.status("huge") == 6 and "the kernel kept" in seen.text("huge.err"), seen.said("huge"))
    check("and taken back, that part too", seen.text("huge-after.out").strip() == "0", seen.said("huge-after"))
    tree(machine.binary, seen.folder / "tree")


def closed(seen):
    """Slots in use are stored pages, pages of zeros and a bounded rest; no zeros were read back, so the kernel's events are the truth."""
    areas = ((seen.json("show-slots.out") or {}).get("swap") or {}).get("areas") or []
    slots = next((area["slots"] for area in areas if area.get("slots")), None)
    if not check("show swap says what the slots of zram are", slots, seen.said("show-slots")):
        return
    check("stored and the rest are what is in use", slots["stored"] + slots["besides"] == slots["used"], slots)
    events = dict(line.split() for line in seen.text("zeros").splitlines())
    if "swpout_zero" not in events:
        check("a kernel that stores zeros has none besides", slots["zero_at_most"] is None, slots)
        return
    zeros = int(events["swpout_zero"]) * 4096
    note(f"{zeros / 2**20:.1f} MiB of zeros, said to be {slots['zero_at_least'] / 2**20:.1f} to {slots['zero_at_most'] / 2**20:.1f}")
    check("there are pages of zeros", zeros > 8 * 2**20, events)
    check("the pages of zeros are within their bounds", slots["zero_at_least"] <= zeros <= slots["zero_at_most"], slots)
    check("the bounds are no wider than 2 MiB", slots["zero_at_most"] - slots["zero_at_least"] <= 2 * 2**20, slots)


def tree(binary, tree):
    """The captured tree, read on the host as root and as a user without any right."""
    with tempfile.TemporaryDirectory(prefix="ramline-tree-") as folder:
        here = Path(folder)
        here.chmod(0o755)
        shutil.copytree(tree, here / "tree")
        shutil.copy(binary, here / "ramline")
        subprocess.run(["chmod", "-R", "a+rX", str(here)], check=True)
        for topic in ("memory", "zram", "swap", "tmpfs", "pressure"):
            command = [here / "ramline", "show", topic, "--root", here / "tree"]
            mine = subprocess.run(command, capture_output=True, check=False)
            check(f"show {topic} --root ends with status 0", mine.returncode == 0, mine.stderr.decode(errors="replace"))
            if os.geteuid() == 0:
                theirs = subprocess.run(command, capture_output=True, check=False, user=NOBODY, group=NOBODY, extra_groups=[])
                same = (mine.stdout, mine.returncode) == (theirs.stdout, theirs.returncode)
                check(f"show {topic} --root is the same, byte for byte, as nobody", same, theirs.stdout.decode(errors="replace"))
        if os.geteuid() != 0:
            skip("captured tree as nobody: changing the user needs root")
        only_nothing(here / "ramline", here / "tree")


def only_nothing(binary, tree):
    """A healthy tree yields one finding: nothing to change."""
    done = subprocess.run([binary, "checkup", "--quick", "--root", tree, "--json", "-"], capture_output=True, text=True, check=False)
    try:
        found = [finding["id"] for finding in json.loads(done.stdout)["findings"]]
    except ValueError:
        found = [done.stdout[:300] + done.stderr[:300]]
    check(f"{tree.name} yields only {NOTHING}", found == [NOTHING], found)
