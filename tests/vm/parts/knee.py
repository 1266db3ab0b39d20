"""`lab run knee --with` on version 2: a service that is asked over a socket, beside limits that are set by hand.

Example: of_service(machine)
"""

import re

from harness import check, equal, note

# Slower than this many times is too small, there and here.
WITHIN = 1.5


def of_service(machine):
    """The least limit at which the service is nearly as fast as without one."""
    seen = machine.debian("knee")
    told = seen.text("knee.out")
    found = re.search(r"^([\d.]+) MiB is surely enough for asked.service .*?, ([\d.]+) MiB\s+surely", told, re.S)
    if not check("an answer is found", found is not None, seen.said("knee")):
        return
    enough, too_small = float(found[1]), float(found[2])
    rows = [line.split() for line in seen.text("by-hand").splitlines()]
    median = lambda row: sorted(map(int, row[1:4]))[1]
    whole = median(next(row for row in rows if row[0] == "max"))
    by_hand = {int(row[0][:-1]): median(row) / whole for row in rows if row[0] != "max"}
    note(f"knee: {enough} MiB enough, {too_small} too small; by hand: {by_hand}")
    least = min(limit for limit in by_hand if all(times <= WITHIN for at, times in by_hand.items() if at >= limit))
    check("it is that of limits set by hand, to a tenth", abs(enough - least) <= 0.1 * least, (enough, least, by_hand))
    equal("the limits are as before", seen.text("limits-after").split(), ["max", "max"])
