"""Figures in a container with lxcfs of Debian's package in front of /proc: each is of the container or not known, none is the host's.

Example: live(machine)
"""

import re

from harness import check, note

MIB = 1 << 20


def live(machine):
    """A container of 256 MiB on a host of 1 GiB."""
    seen = machine.debian("lxcfs", "--with", "lxcfs")
    inner = re.search(r"MemTotal: +(\d+)", seen.text("meminfo.out"))
    outer = re.search(r"MemTotal: +(\d+)", seen.text("host"))
    if not check("lxcfs shows the container's RAM", inner and int(inner[1]) == 256 << 10, seen.said("meminfo")):
        return
    check("which is not the host's", int(outer[1]) > 900 << 10, outer[0])
    line = seen.text("line.out").splitlines()[:1]
    note(f"first line: {line}")
    check("the first line is of the container", line and "of 256.0 MiB" in line[0], seen.said("line"))
    document = seen.json("json.out")
    if check("the ledger is there", document is not None, seen.said("json")):
        ledger = document["ledger"]
        total = sum(entry["bytes"] for entry in ledger["lines"] if entry.get("bytes") and entry["bytes"] > 0)
        check("no line and no sum is more than the container has", total <= 256 * MIB * 1.002, ledger)
    check("lxcfs is named", "lxcfs" in seen.text("line.out") + seen.text("checkup.out"), seen.said("line") + seen.said("checkup"))
    shares = [float(share) for share in re.findall(r"([\d.]+) %", seen.text("line.out"))]
    check("no share is above 100 %", all(share <= 100 for share in shares), shares)
