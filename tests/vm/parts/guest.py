"""Boots a guest with one of guest/*.sh and reads what it delivered.

Example:
    seen = machine.debian("checkup", who="root")
    seen.status("root")              # exit status of the step named root
    seen.json("root.json")           # parsed, or None
"""

import json
import re
import subprocess
from pathlib import Path

from harness import TOP, repeated

SCRIPTS = Path(__file__).resolve().parent.parent / "guest"

# How long a guest may take on a machine that does other things too. No check is about time.
BARE_LIMIT, DEBIAN_LIMIT = 600, 2400

# What one short look at an emulated machine says about costs is chance: these two findings judge measured medians.
FROM_EMULATED_TIMINGS = {"swap-slower-than-reload", "swappiness-against-costs"}
NOTHING = "nothing-to-change"
# With a thread for each of a guest's processors QEMU's emulation now and then runs into the breakpoint that the kernel puts where it is
# just changing its own code; one thread for all would take twice as long. It is no fault of what is tested.
EMULATOR_PANIC, PANIC = "Oops: int3", 121


class HostTrouble(Exception):
    """The guest did not end by itself; holds what vm/ said."""


class Seen:
    """What a guest delivered."""

    def __init__(self, folder, stdout, stderr, status):
        self.folder, self.stdout, self.stderr, self.code = folder, stdout, stderr, status

    def text(self, name):
        """A delivered file, or the empty string."""
        try:
            return (self.folder / name).read_text(errors="replace")
        except OSError:
            return ""

    def status(self, step):
        """Exit status of a step; None when it never ended."""
        text = self.text(f"{step}.status").strip()
        return int(text) if text else None

    def said(self, step):
        """What a step printed and how it ended, for messages."""
        return f"status {self.status(step)}\n{self.text(f'{step}.out')}\n{self.text(f'{step}.err')}"

    def json(self, name):
        """A delivered JSON document; None when it is not one."""
        try:
            return json.loads(self.text(name))
        except ValueError:
            return None

    def changes(self, before, after):
        """Lines of one `state` that the other does not have, with their sign."""
        old, new = self.text(f"{before}.state").splitlines(), self.text(f"{after}.state").splitlines()
        if not old or not new:
            return [f"no state {before if not old else after}"]
        return [f"- {line}" for line in old if line not in new] + [f"+ {line}" for line in new if line not in old]


class Machine:
    """The binary under test, the folder for what guests deliver, and the release of those that are a Debian."""

    def __init__(self, binary, folder, release="13"):
        self.binary, self.folder, self.release = binary, folder, release
        self.boots = 0

    def _run(self, command, script, variables, head=""):
        self.boots += 1
        out = self.folder / f"{self.boots:02}-{script}"
        out.mkdir(parents=True, exist_ok=True)
        words = "".join(f"{name}='{value}'\n" for name, value in variables.items())
        parts = [(SCRIPTS / f"{name}.sh").read_text() for name in ("common", script)]
        (out / "script").write_text(words + parts[0] + head + parts[1])
        command = [*command, "--bin", str(self.binary), "--script", str(out / "script"), "--out", str(out)]
        run = lambda: subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
        done = run()
        console = out / "console.log"
        # A disk that is kept is not as it was before, unless the script had not begun.
        again = "--persist" not in command or (not done.stdout.strip() and {path.name for path in out.iterdir()} <= {"script", "console.log"})
        if done.returncode == PANIC and again and EMULATOR_PANIC in (console.read_text(errors="replace") if console.exists() else ""):
            repeated(f"the guest of {script}", "the emulator ran a half-patched instruction of its kernel (int3), which panicked")
            done = run()
        return Seen(out, done.stdout, done.stderr, done.returncode)

    def bare(self, kernel):
        """A bare guest, with the zram swap in use that captures have too."""
        head = (TOP / "vm/guest/zram-in-use").read_text()
        return ended(self._run([str(TOP / "vm/bare"), kernel, "--timeout", str(BARE_LIMIT)], "bare", {}, head))

    def bare_with(self, kernel, script, *options):
        """A bare guest that sets up its own swap; `options` are those of vm/bare."""
        return ended(self._run([str(TOP / "vm/bare"), kernel, "--timeout", str(BARE_LIMIT), *options], script, {}))

    def debian(self, script, *options, cut=False, after=None, **variables):
        """A Debian guest; `cut` says that the end is a power cut; the script stands after another one."""
        command = [str(TOP / "vm/debian"), "run", "--release", self.release, "--timeout", str(DEBIAN_LIMIT), *options]
        head = (SCRIPTS / f"{after}.sh").read_text() if after else ""
        seen = self._run(command, script, variables, head)
        return seen if cut else ended(seen)


def ended(seen):
    """Raises unless the guest's script came to its end."""
    if seen.code > 120:
        raise HostTrouble(f"status {seen.code}\n{seen.stdout}\n{seen.stderr}")
    return seen


def judged(report):
    """Identifiers of the findings of a report that do not come from emulated timings."""
    return {finding["id"] for finding in report["findings"]} - FROM_EMULATED_TIMINGS - {NOTHING}


def one_line_left(text):
    """The lines that name what an earlier run left behind."""
    return [line for line in text.splitlines() if re.search(r"left over .*lab clean", line)]
