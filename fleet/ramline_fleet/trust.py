"""What other users could change: the programs that are started (ssh), and the store that root writes to. The rule is that of ramline (crates/kernel/src/program.rs, docs/security.md).

A program that a user has named (`--ssh-command`) is the user's.
"""

import os
import stat
from pathlib import Path

from .words import Failure

# Where the system has its programs, also for a user whose PATH leaves them out.
SYSTEM = ("/usr/bin", "/bin")
# The user whose number stands for all that a user name space does not know (/proc/sys/kernel/overflowuid).
UNKNOWN = 65534


def program(name: str) -> str:
    """The first of that name that no other user could have put there; parts of PATH that are no full path are passed over."""
    why = None
    for folder in [*filter(os.path.isabs, os.environ.get("PATH", "").split(":")), *SYSTEM]:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            found = changeable(path)
            if not found:
                return path
            why = why or found
    if why:
        raise Failure(f"{name} is not run: {why}", "a PATH with the folder of the system's own in front", 5)
    raise Failure(f"{name} is not installed", f"--ssh-command /path/to/{name}")


def changeable(path: str | Path) -> str | None:
    """Which part of a path another user could put something else in the place of, and why; None where none could."""
    real, own, all_known = os.path.realpath(path), os.geteuid(), knows_all_users()
    # A user's own group is often the user's alone; root's is not.
    others = 0o022 if own == 0 and all_known else 0o002
    while True:
        seen = os.lstat(real)
        # In a user name space of its own root is any user, to whom the real root looks like an unknown one.
        if seen.st_uid not in (0, own) and (all_known or seen.st_uid != UNKNOWN):
            return f"{real} belongs to user {seen.st_uid}, who could put another file in its place"
        if seen.st_mode & others and not seen.st_mode & stat.S_ISVTX:
            return f"{real} is writable by others, who could put another file in its place"
        if real == "/":
            return None
        real = os.path.dirname(real)


def knows_all_users() -> bool:
    """False in a user name space that knows some users only."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            return file.read().split() == ["0", "0", "4294967295"]
    except OSError:
        return False
