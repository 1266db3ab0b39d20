"""Swap of our own: zram devices and files. They belong to the whole machine; what is on them comes back when they go."""

import contextlib
import os
from pathlib import Path

from .checks import Skip, check
from .machine import command, must, noise, until
from .undo import scratch

CONTROL = Path("/sys/class/zram-control")


def areas():
    """Swap areas there are: path, kind, priority."""
    lines = [line.split() for line in Path("/proc/swaps").read_text().splitlines()[1:]]
    return {line[0]: (line[1], line[4]) for line in lines}


@contextlib.contextmanager
def swap_on(path, priority=None):
    """An area on what is there already; without a priority the kernel chooses one."""
    must("mkswap", "-q", path)
    must("swapon", *(() if priority is None else ("-p", priority)), path)
    try:
        yield path
    finally:
        done = command("swapoff", path)
        if done.returncode:
            check(f"{path} is switched off", False, done.stderr)


@contextlib.contextmanager
def zram_device(size, limit=None):
    """A device of our own."""
    if not CONTROL.exists():
        raise Skip("needs /sys/class/zram-control")
    number = (CONTROL / "hot_add").read_text().strip()
    knobs = Path(f"/sys/block/zram{number}")
    try:
        (knobs / "disksize").write_text(str(size))
        if limit:
            (knobs / "mem_limit").write_text(str(limit))
        yield Path(f"/dev/zram{number}")
    finally:
        if not until(lambda: _removed(number), 5, 0.1):
            check(f"zram{number} is removed", False)


def _removed(number):
    with contextlib.suppress(OSError):
        Path(f"/sys/block/zram{number}/reset").write_text("1")
        (CONTROL / "hot_remove").write_text(number)
    return not Path(f"/sys/block/zram{number}").exists()


@contextlib.contextmanager
def zram(size, priority=100, limit=None):
    """A device of our own as swap."""
    with zram_device(size, limit) as device, swap_on(device, priority):
        yield device


@contextlib.contextmanager
def swap_file(size, priority=None, at=None):
    """A file, below a folder of its own or at this place."""
    with contextlib.ExitStack() as back:
        path = Path(at) if at else back.enter_context(scratch("swap")) / "area"
        back.callback(path.unlink, missing_ok=True)
        noise(path, size)
        os.chmod(path, 0o600)
        yield back.enter_context(swap_on(path, priority))
