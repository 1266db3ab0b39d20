"""Ways back, and the frame of a test: what it makes is undone however it ends.

    with Undo() as back:
        back.add(os.rmdir, path)                # the last first; one that fails is a failed check and does not stop the others
        area = back.enter_context(zram(64 << 20))
"""

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from .checks import TALLY, Skip, check, finish, skip

OWNER = os.getpid()
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Undo(contextlib.ExitStack):
    """Ways back of a block, or of the whole test (`undo`)."""

    def add(self, function, *words, **more):
        def step():
            try:
                function(*words, **more)
            except Exception as error:  # noqa: BLE001  (the other steps still have to run)
                check(f"undone: {getattr(function, '__qualname__', function)} {' '.join(map(str, words))}".rstrip(), False, error)

        self.callback(step)


undo = Undo()


def _end():
    if os.getpid() == OWNER:
        undo.close()


def _signalled(number, _frame):
    # A fork that has not set its own: what is undone is its parent's affair.
    if os.getpid() != OWNER:
        os._exit(128 + number)
    # An impatient second one does not stop the undoing.
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


atexit.register(_end)
# A shell without job control starts what runs in the background with SIGINT ignored, and ramline leaves it so. Tests send it.
for _number in SIGNALS:
    signal.signal(_number, _signalled)


def part(function, *words, name=""):
    """Runs a part of a test. That it comes to its end is a check; `Skip` is a skip; what `undo` got within it is undone.

    A name that is given stands before each check of it that fails."""
    kept, TALLY.within = undo.pop_all(), f"{name}: " if name else ""
    name = name or (function.__doc__ or function.__name__).splitlines()[0].rstrip(".")
    try:
        function(*words)
    except Skip as why:
        skip(f"{name}: {why}")
    except Exception:  # noqa: BLE001
        TALLY.within = ""
        check(f"{name}: it comes to its end", False, traceback.format_exc())
    else:
        check(f"{name}: it comes to its end", True)
    finally:
        TALLY.within = ""
        undo.close()
        undo.push(kept)


def run(main):
    """A whole test: runs it, undoes what it made, prints the closing line and exits."""
    try:
        main()
    except Skip as why:
        skip(f"{Path(sys.argv[0]).parent.name}/{Path(sys.argv[0]).name}: {why}")
    except Exception:  # noqa: BLE001
        check("the test comes to its end", False, traceback.format_exc())
    undo.close()
    sys.exit(finish())


def needs_root():
    if os.geteuid() != 0:
        raise Skip("needs root")


@contextlib.contextmanager
def scratch(name, on=None):
    """A folder of our own on a disk, which goes with all that is in it and is mounted there."""
    folder = Path(tempfile.mkdtemp(prefix=f"ramline-test-{name}-", dir=on or os.environ.get("RAMLINE_SCRATCH", "/var/tmp")))
    try:
        yield folder
    finally:
        mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        for at in reversed([at for at in mounts if at.startswith(f"{folder}/")]):
            subprocess.run(["umount", "-l", at], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            # What cannot be changed any more can be made changeable.
            subprocess.run(["chattr", "-R", "-i", folder], capture_output=True, check=False)
            shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            check(f"{folder} is removed", False)
