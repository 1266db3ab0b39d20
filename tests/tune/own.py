"""A mount name space in which changes can be applied for real and touch nothing of the machine's: /etc in RAM, a smaller /proc/meminfo, /tmp on the disk.

    own_mounts()                  # harness.machine; what follows is gone with the process
    etc_in_ram(folder)
    less_memory(folder, 1 << 20)
    ramline = tmp_on_disk(folder)
"""

import functools
import re
import shutil
from pathlib import Path

from harness import RAMLINE, ramline
from harness.machine import must


def etc_in_ram(folder):
    """What is written to /etc from here on is written to RAM."""
    top = Path(folder) / "etc"
    top.mkdir()
    must("mount", "-t", "tmpfs", "-o", "size=16M", "ramline-test", top)
    (top / "new").mkdir()
    (top / "work").mkdir()
    must("mount", "-t", "overlay", "-o", f"lowerdir=/etc,upperdir={top}/new,workdir={top}/work", "overlay", "/etc")


def less_memory(folder, kib):
    """MemTotal and MemAvailable are so large, and no swap area is on: what is planned is of that size."""
    text = Path("/proc/meminfo").read_text()
    for name, value in (("MemTotal", kib), ("MemFree", kib * 3 // 4), ("MemAvailable", kib * 3 // 4)):
        text = re.sub(rf"^{name}:\s+\d+", f"{name}: {value}", text, flags=re.M)
    path = Path(folder) / "meminfo"
    path.write_text(text)
    must("mount", "--bind", path, "/proc/meminfo")
    # Areas of other tests are no part of the plan.
    areas = Path(folder) / "swaps"
    areas.write_text(Path("/proc/swaps").read_text().splitlines(keepends=True)[0])
    must("mount", "--bind", areas, "/proc/swaps")


def tmp_on_disk(folder):
    """An empty /tmp on the disk. What lies in the old one is hidden, so the binary is copied first: what runs ramline from here on."""
    binary = shutil.copy(RAMLINE, Path(folder) / "ramline")
    empty = Path(folder) / "tmp"
    empty.mkdir()
    empty.chmod(0o1777)
    must("mount", "--bind", empty, "/tmp")
    return functools.partial(ramline, binary=binary, cwd="/")
