"""How near `cache trace` comes to the truth on kernels that tell less than ours: tests/cache/trace inside the guest.

Example: accuracy(machine)
"""

import base64
import json
import subprocess

from harness import TOP, check

# The test and what it imports.
FILES = ("tests/cache/trace", "tests/harness")


def accuracy(machine):
    """On 6.12, which tells of requests and faults, and on 6.1, which tells only what came and went."""
    for kernel, level in (("6.12", "no_marks"), ("6.1", "changes_only")):
        packed = subprocess.run(["tar", "-cz", "--exclude=__pycache__", "-C", TOP, *FILES], capture_output=True, check=True).stdout
        seen = machine.debian("trace", "--with", "postgresql,python3", "--kernel", kernel, TRACE=base64.b64encode(packed).decode())
        rows = [json.loads(line) for line in seen.text("figures.out").splitlines()]
        check(f"{kernel}: every plan is traced", seen.status("figures") == 0 and len(rows) == 15, seen.said("figures"))
        for row in rows:
            plan, truth, found = f"{kernel}, {row['plan']}, {row['warm']}", row["truth"], row["found"] or {}
            told = (found, truth)
            check(f"{plan}: {level}, and nothing is lost", (row["level"], row["lost"]) == (level, 0), (row["level"], row["lost"]))
            came = sum(found.get(key, 0) for key in ("read_misses", "mapped_misses", "read_ahead", "brought"))
            check(f"{plan}: what came", within(came, truth["came"]), told)
            if level == "changes_only":
                continue
            if "touched" in truth:
                check(f"{plan}: faults, and those that waited", (found.get("faults"), found.get("mapped_misses")) == (truth["faults"], truth["major"]), told)
                check(f"{plan}: first touches", within(found.get("mapped", 0), truth["touched"]), told)
            else:
                asked = truth["hits"] + truth["misses"]
                check(f"{plan}: hits and misses", within(found.get("read_hits", 0), truth["hits"], asked)
                            and within(found.get("read_misses", 0), truth["misses"], asked), told)
        changes = seen.changes("before", "after")
        check(f"{kernel}: the guest is as before", not changes, "\n".join(changes))


def within(found, truth, of=None):
    """Within one in a hundred."""
    return abs(found - truth) <= max(1, (truth if of is None else of) * 0.01)
