"""How near `cache trace` comes to the truth on kernels that tell less than ours: tests/cache/trace inside the guest.

Example: accuracy(machine, tally)
"""

import base64
import json

from .guest import TOP

READER = TOP / "tests/cache/trace"


def accuracy(machine, tally):
    """On 6.12 and 6.1."""
    for kernel in ("6.12", "6.1"):
        script = base64.b64encode(READER.read_bytes()).decode()
        seen = machine.debian("trace", "--with", "postgresql,python3", "--kernel", kernel, TRACE=script)
        rows = [json.loads(line) for line in seen.text("figures.out").splitlines()]
        tally.check(f"{kernel}: every plan is traced", seen.status("figures") == 0 and len(rows) == 15, seen.said("figures"))
        for row in rows:
            print(f"{kernel} {row}")
        changes = seen.changes("before", "after")
        tally.check(f"{kernel}: the guest is as before", not changes, "\n".join(changes))
