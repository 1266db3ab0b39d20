"""One writer of a store at a time: a command that writes holds STORE/lock with flock(2), so that hosts that it finds missing are still missing when it adds them.

The kernel lets go of it when the command ends, however it ends: what is in aside/ then is of a command that was killed, and is removed. Readers take no lock; a lot appears as a whole.

Root writes only to a store that no other user could put something else into.
"""

import contextlib
import errno
import fcntl
import os
import re
import shlex
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from .trust import changeable
from .words import Failure, tell

NAME = "lock"
# So many seconds one command waits for another, unless --wait says otherwise.
WAIT = 600
# As `store.fresh_name` makes them.
LOT = re.compile(r"[0-9]{8}T[0-9]{15}-[0-9a-f]{8}")
REFUSED = 5
FOLDERS = ("aside", "rejects", "host_day", "host_setting", "host_finding", "host_memory", "host_name", "host_peak")


@contextlib.contextmanager
def writing(store: str | Path, wait: int = WAIT) -> Iterator[None]:
    """The store, made if it is not there, while this command alone writes to it."""
    store = Path(store)
    made_or_private(store)
    with opened(store) as found:
        acquire(found, store, wait)
        with contextlib.suppress(OSError):
            os.ftruncate(found, 0)
            os.pwrite(found, f"process {os.getpid()} on {socket.gethostname()}, since {time.strftime('%F %T')}\n".encode(), 0)
        remove_left(store)
        yield


@contextlib.contextmanager
def opened(store: Path) -> Iterator[int]:
    at, how = store / NAME, os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        found = os.open(at, os.O_RDWR | how, 0o644)
    except OSError as error:
        if error.errno != errno.EACCES or not os.access(store, os.W_OK):
            raise failed(at, error) from error
        # Of another user of the same store.
        found = os.open(at, os.O_RDONLY | how & ~os.O_CREAT)
    try:
        if not stat.S_ISREG(os.fstat(found).st_mode):
            raise Failure(f"cannot write to the store {store}: {at} is not a file", f"rm {at}", REFUSED)
        yield found
    finally:
        os.close(found)


def failed(at: Path, error: OSError) -> Failure:
    return Failure(f"cannot write {at}: {error.strerror}", f"ls -ld {at.parent}", 1)


def acquire(found: int, store: Path, wait: int) -> None:
    """Waits for the command that has it, and says for which."""
    begin, told = time.monotonic(), False
    while True:
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        except OSError as error:
            raise Failure(f"cannot lock the store {store}: {error.strerror}", "a store on a file system with locks", 1) from error
        owner = os.pread(found, 200, 0).decode(errors="replace").strip() or "not known"
        if time.monotonic() - begin >= wait:
            raise Failure(f"another command writes to the store {store} ({owner})", "the same command once that has ended, or --wait SECONDS", REFUSED)
        if not told:
            tell(f"waiting for another command that writes to {store} ({owner}), at most {wait} s")
            told = True
        time.sleep(0.1)


def made_or_private(store: Path) -> None:
    """Makes the store; for root, refuses one that other users could write to or put another in the place of."""
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot make the store {store}: {'it is a file' if error.errno == errno.EEXIST else error.strerror}", f"ls -ld {store}", 1) from error
    if os.geteuid():
        return
    for at in [store, *(store / name for name in FOLDERS if (store / name).exists())]:
        if why := changeable(at):
            raise Failure(f"root does not write to the store {store}: {why}", f"namei -l {shlex.quote(os.path.realpath(at))}; run the command as the owner of the store", REFUSED)


def remove_left(store: Path) -> None:
    """What killed commands left aside: nobody else writes there now."""
    for left in (store / "aside").glob("*"):
        if LOT.fullmatch(left.name) and left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
