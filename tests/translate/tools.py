"""The tools `show translate` speaks for: how each is run, and what its output says, as (row, formula, bytes, unit) tuples.

The unit is what the tool rounds to: its number may be off by as much. A row is named by its id in the JSON of `show translate`.

Example: free("Mem: ...")  # [("procps-4.0.1", "used", 552263680, 1024), ...]
"""

import os
import re
import subprocess
from pathlib import Path

from screen import run

KIB = 1024
UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
DECIMAL = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
NUMBER = r"(\d+(?:\.\d+)?)"


class Unreadable(Exception):
    """A tool's output is not what its version prints; holds the output."""


def measure(number, unit):
    """(bytes, bytes of one unit in the last digit) of a number as it is printed."""
    digits = len(number.partition(".")[2])
    return round(float(number) * unit), max(1, round(unit / 10**digits))


def search(pattern, text):
    found = re.search(pattern, text, re.M)
    if not found:
        raise Unreadable(f"{pattern!r} is not in\n{text}")
    return found


def version(*argv):
    """The version a tool prints, as a tuple of numbers."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return of_version(done.stdout + done.stderr)


def of_version(text):
    return tuple(int(part) for part in search(r"(\d+(?:\.\d+)+)", text)[1].split("."))


def free(text, row):
    """`free -k -w`."""
    mem = [int(word) for word in search(r"^Mem: +(.*)$", text)[1].split()]
    swap = [int(word) for word in search(r"^Swap: +(.*)$", text)[1].split()]
    _, used, _, _, buffers, cache, available = mem
    return [(row, "used", used * KIB, KIB), (row, "cache", (buffers + cache) * KIB, KIB), (row, "available", available * KIB, KIB),
            (row, "swap_used", swap[1] * KIB, KIB)]


def top(text, row):
    """`top -b -n 1 -E k`."""
    mem = search(r"^KiB Mem : *(\d+) total, *(\d+) free, *(\d+) used, *(\d+) buff/cache", text)
    swap = search(r"^KiB Swap: *(\d+) total, *(\d+) free, *(\d+) used\. *(\d+) avail", text)
    kib = lambda found, at: int(found[at]) * KIB
    return [(row, "used", kib(mem, 3), KIB), (row, "cache", kib(mem, 4), KIB), (row, "swap_used", kib(swap, 3), KIB),
            (row, "available", kib(swap, 4), KIB)]


def vmstat(text, row):
    """`vmstat -s`."""
    return [(row, "used", int(search(r"(\d+) K used memory", text)[1]) * KIB, KIB),
            (row, "swap_used", int(search(r"(\d+) K used swap", text)[1]) * KIB, KIB)]


def sar(text, row):
    """`sar -r -S 1 1`, in English: each head with the numbers below it."""
    heads, values = None, {}
    for line in text.splitlines():
        words = line.split()
        if any(word.startswith("kb") for word in words):
            heads = [word for word in words if word.startswith(("kb", "%"))]
        elif heads and line.startswith("Average:"):
            values.update(zip(heads, words[1:]))
    if not {"kbmemused", "kbcached", "kbavail", "kbswpused"} <= values.keys():
        raise Unreadable(text)
    kib = lambda name: int(values[name]) * KIB
    return [(row, "used", kib("kbmemused"), KIB), (row, "cache", kib("kbcached"), KIB), (row, "available", kib("kbavail"), KIB),
            (row, "swap_used", kib("kbswpused"), KIB)]


def htop(screen, release):
    """Text meters of memory and swap on the left, a bar of memory on the right."""
    text = "\n".join(screen)
    size = lambda pattern: (lambda found: measure(found[1], UNITS[found[2]]))(search(pattern.replace("#", NUMBER + "([KMGT])"), text))
    newer = release >= (3, 3)
    row = "htop-3.3-text" if newer else "htop-3.1"
    bar = "htop-3.3-bar" if newer else "htop-3.1"
    return [(row, "used", *size(r"Mem:.*? used:#")), (row, "cache", *size(r"Mem:.*? cache:#")), (row, "available", *size(r"Mem:.*? available:#")),
            (row, "swap_used", *size(r"Swp:.*? used:#")), (bar, "used", *size(r"Mem\[[^\]]*?#/"))]


def btop(screen, row="btop-1.3"):
    """The memory box."""
    text = "\n".join(screen)
    size = lambda label: (lambda found: measure(found[1], UNITS[found[2]]))(search(label + ": *" + NUMBER + " ([KMGT])iB", text))
    return [(row, "used", *size("Used")), (row, "cache", *size("Cached")), (row, "available", *size("Available"))]


def glances(text, row="glances"):
    """`glances --stdout mem.used,mem.available,...`: bytes."""
    value = lambda name: int(float(search(rf"^mem\.{name}: (\d+)", text)[1]))
    return [(row, "used", value("used"), 1), (row, "available", value("available"), 1)]


HTOPRC = """htop_version=3.2.2
config_reader_min_version=3
fields=0 48 17 18 38 39 40 2 46 47 49 1
header_layout=two_50_50
column_meters_0=Memory Swap
column_meter_modes_0=2 2
column_meters_1=Memory
column_meter_modes_1=1
"""
BTOPRC = """shown_boxes = "mem"
mem_graphs = False
show_disks = False
update_ms = 1000
truecolor = False
base_10_sizes = False
"""


def configure(folder):
    """Settings of the full-screen tools below this folder, which becomes XDG_CONFIG_HOME: units and meters are then known."""
    for name, text in {"htop/htoprc": HTOPRC, "btop/btop.conf": BTOPRC}.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def plain(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C", "TZ": "UTC"}, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Unreadable(f"{argv} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def on_screen(argv, environment, parse):
    """A full-screen program's numbers, as soon as all of them are on the screen; a busy machine gets half a minute."""
    def ready(screen):
        try:
            return bool(parse(screen))
        except Unreadable:
            return False

    return parse(run(argv, environment, 30.0, ready))


def readers(folder):
    """Each installed tool's name, and a function that runs it once."""
    environment = {"XDG_CONFIG_HOME": str(folder), "HOME": str(folder), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    procps = lambda: "procps-4.0.1" if version("free", "--version") >= (4, 0, 1) else "procps-3.3.10"
    sysstat = lambda: "sar-12.7.8" if version("sar", "-V") >= (12, 7, 8) else "sar-11.7.4"
    return {
        "free": lambda: free(plain("free", "-k", "-w"), procps()),
        "top": lambda: top(plain("top", "-b", "-n", "1", "-E", "k"), procps()),
        "vmstat": lambda: vmstat(plain("vmstat", "-s"), procps()),
        "sar": lambda: sar(plain("sar", "-r", "-S", "1", "1"), sysstat()),
        "htop": lambda: (lambda release: on_screen(["htop"], environment, lambda screen: htop(screen, release)))(version("htop", "--version")),
        "btop": lambda: on_screen(["btop", "--utf-force"], environment, btop),
        "glances": lambda: glances(plain("timeout", "20", "glances", "--stdout", "mem.used,mem.available", "--stop-after", "1")),
    }
