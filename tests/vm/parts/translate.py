"""`show translate` against the tools of Debian 13: on a made-up /proc/meminfo to the last digit, and on a container.

Example: agrees(machine)
"""

import importlib
import re
import sys

from harness import TOP, check, note

TRANSLATE = TOP / "tests/translate"
# What the image has besides for it; busybox makes the container's image.
PACKAGES = "podman,crun,busybox-static,htop,btop,sysstat"
# What systemctl prints for people: one decimal of a binary unit.
UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def agrees(machine):
    """htop 3.4, btop 1.3, sysstat 12.7, procps 4.0, systemd 257, podman 5.4; the rows follow from the versions they print."""
    if str(TRANSLATE) not in sys.path:
        sys.path.insert(0, str(TRANSLATE))
    tools, screen = importlib.import_module("tools"), importlib.import_module("screen")
    meminfo = (TRANSLATE / "meminfo").read_text()
    seen = machine.debian("translate", "--with", PACKAGES, MEMINFO=meminfo.rstrip(), HTOPRC=tools.HTOPRC, BTOPRC=tools.BTOPRC)
    version = lambda tool: tools.of_version(seen.text(f"version-{tool}.out"))
    made_up(seen, tools, screen, version)
    container(seen, tools, version)


def made_up(seen, tools, screen, version):
    """Every number a tool prints, against the row of its version."""
    ours = seen.json("ours.out")
    if not check("show translate reads the made-up counters", ours is not None, seen.said("ours")):
        return
    rows = {row["id"]: row for row in ours["system"]["rows"]}
    procps = "procps-4.0.1" if version("free") >= (4, 0, 1) else "procps-3.3.10"
    sysstat = "sar-12.7.8" if version("sar") >= (12, 7, 8) else "sar-11.7.4"
    read = {
        "free": lambda text: tools.free(text, procps),
        "top": lambda text: tools.top(text, procps),
        "vmstat": lambda text: tools.vmstat(text, procps),
        "sar": lambda text: tools.sar(text, sysstat),
        "htop": lambda text: tools.htop(screen.lines(text), version("htop")),
        "btop": lambda text: tools.btop(screen.lines(text)),
        "root-row": lambda text: [("systemd-root", "used", int(tools.search(r"^/ .*?(\d{6,})", text)[1]), 1)],
    }
    for tool, parse in read.items():
        try:
            numbers = parse(seen.text(f"{tool}.out"))
        except tools.Unreadable as error:
            check(f"{tool} can be read", False, error)
            continue
        for row, formula, value, unit in numbers:
            said = rows[row][formula]["bytes"]
            check(f"{tool}: {formula} is that of {row}", abs(said - value) <= unit, f"{tool} shows {value}, we {said}, unit {unit}")
        note(f"{tool}: {len(numbers)} numbers agree with {' and '.join(sorted({row for row, *_ in numbers}))}")


def container(seen, tools, version):
    """podman stats, systemd-cgtop and systemctl between our reading before and the one after."""
    tables = [seen.json(f"{name}.out") for name in ("before", "after")]
    if not check("show translate knows the container's group", all(tables), seen.said("before")):
        return
    path = seen.text("group").strip()
    rows = [{row["id"]: row["used"]["bytes"] for group in table["groups"] if group["path"] == path for row in group["rows"]} for table in tables]

    def within(what, row, value, unit):
        low, high = sorted(each[row] for each in rows)
        check(f"{what} is that of {row}", low - unit <= value <= high + unit, f"{what} shows {value}, we {low} to {high}, unit {unit}")
        note(f"{what}: {value / 1048576:.1f} MiB, {row} {low / 1048576:.1f} to {high / 1048576:.1f} MiB")

    found = re.search(r"([\d.]+)([kMG]?B) /", seen.text("stats.out"))
    value, unit = tools.measure(found[1], tools.DECIMAL[found[2]]) if found else (-1, 0)
    within("podman stats", "podman-5.6" if version("podman") >= (5, 6) else "podman-anon", value, unit)
    row = re.search(rf"^{re.escape(path.strip('/'))} +\S+ +\S+ +(\d+)", seen.text("cgtop.out"), re.M)
    within("systemd-cgtop", "systemd-unit", int(row[1]) if row else -1, 1)
    unit = re.search(r"MemoryCurrent=(\d+)", seen.text("unit.out"))
    within("systemctl show", "systemd-unit", int(unit[1]) if unit else -1, 1)
    status = re.search(r"Memory: ([\d.]+)([KMG])", seen.text("status.out"))
    within("systemctl status", "systemd-unit", *(tools.measure(status[1], UNITS[status[2]]) if status else (-1, 0)))
    least, most = rows[0]["podman-anon"], rows[0]["systemd-unit"]
    # 24 MiB of process memory; 20 MiB of file and 8 MiB of shared memory are the difference, besides the kernel's own.
    check("the container's process memory is what it holds", abs(least - (24 << 20)) < (24 << 20) / 10, least)
    check("its file and its shared memory lie between the rows", most - least >= 28 << 20, most - least)
    check("docker's row takes off the file, not the shared memory", least + (8 << 20) <= rows[0]["docker"] <= most - (18 << 20), rows[0])
