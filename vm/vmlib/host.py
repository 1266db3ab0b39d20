"""The host's side of things: where the cache is, progress lines, running tools, no more guests than processors.

Example:
    say("unpacking the kernel")          # "vm: 3.2 s unpacking the kernel" on stderr
    run(["depmod", "-b", root, version])  # raises Failure with the tool's own words
"""

import contextlib
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

VM = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("RAMLINE_VM_CACHE") or VM / "cache")
START = time.monotonic()

# Exit statuses of vm/bare and vm/debian run that no guest script may claim (see README.md).
RESERVED_BY_SCRIPT = 120  # the script itself ended with one of the statuses below
PANIC = 121
NO_STATUS = 122
POWER_CUT = 123
TIMEOUT = 124
HOST_FAILURE = 125

# Ordinary users have no sbin on their path; depmod and mke2fs live there.
os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
# Tools' messages are matched and printed, so they come in one language.
os.environ["LC_ALL"] = "C.UTF-8"


class Failure(Exception):
    """The host could not do its part: what was tried, on what, why, and what to try."""


def say(text):
    """One progress line on stderr, with the seconds since the command began."""
    print(f"vm: {time.monotonic() - START:6.1f} s {text}", file=sys.stderr, flush=True)


def run(command, **options):
    """Runs a tool quietly and returns its stdout; its stderr becomes the error message."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    except FileNotFoundError as error:
        raise Failure(f"cannot run {command[0]}: not installed\ntry: vm/deps") from error
    if done.returncode != 0:
        tail = "\n".join((done.stderr + done.stdout).strip().splitlines()[-15:])
        raise Failure(f"{' '.join(command[:3])} failed with status {done.returncode}:\n{tail}")
    return done.stdout


def locked(name):
    """Takes cache/NAME.lock until the returned file is closed; says so when it has to wait."""
    try:
        return _lock(name, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say(f"waiting for the {name} lock held by another vm command")
        return _lock(name, fcntl.LOCK_EX)


def _lock(name, how):
    CACHE.mkdir(parents=True, exist_ok=True)
    # Only ever read: the file may be another user's (`sudo vm/debian build`), and a lock needs no more.
    handle = os.fdopen(os.open(CACHE / f"{name}.lock", os.O_RDONLY | os.O_CREAT, 0o644))
    try:
        fcntl.flock(handle, how)
    except BlockingIOError:
        handle.close()
        raise
    return handle


def place():
    """Takes one of as many places for guests as there are processors, until the returned file is closed; says so when it has to wait."""
    names, waits = [f"guest-{number}" for number in range(os.cpu_count() or 1)], False
    while True:
        for name in names:
            with contextlib.suppress(BlockingIOError):
                return _lock(name, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not waits:
            say(f"waiting for one of the {len(names)} guests that run to end")
        waits = True
        time.sleep(0.2)


def digest(*parts):
    """A short hash over strings and files; what a cached thing is named after."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part.read_bytes() if isinstance(part, Path) else str(part).encode())
        total.update(b"\0")
    return total.hexdigest()[:16]


def size(text):
    """Bytes in "512M", "512MiB", "2G": binary units, as QEMU reads them."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    plain = text.removesuffix("iB")
    try:
        return int(plain[:-1]) * units[plain[-1].upper()]
    except (KeyError, ValueError, IndexError):
        raise Failure(f'"{text}" is not a size\ntry: 512M or 1G (binary units)') from None


def guarded(main):
    """Runs a command's main; a Failure becomes a message and the documented exit status."""
    # An ordinary end, so that temporary folders go; QEMU goes by itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        status = main()
    except Failure as error:
        print(f"vm: {error}", file=sys.stderr)
        status = HOST_FAILURE
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
