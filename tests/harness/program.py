"""The binary under test and how it is run. RAMLINE_BIN and RAMLINE_STATIC_BIN name others than those that were built last."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
RAMLINE = os.path.abspath(os.environ.get("RAMLINE_BIN") or TOP / "target/debug/ramline")
# The one that `make build` makes; it runs in any guest.
STATIC = os.path.abspath(os.environ.get("RAMLINE_STATIC_BIN") or TOP / f"target/{os.uname().machine}-unknown-linux-gnu/release/ramline")
# Words before a command, and a function between fork and exec: an ordinary user.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def as_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def environment(state=None, more=None):
    """Ours, with a state directory for ramline; a terminal of 100 columns that nobody watches."""
    own = {"RAMLINE_STATE_DIR": str(state)} if state else {}
    return {**os.environ, **own, "COLUMNS": "100", **(more or {})}


def ramline(*words, state=None, env=None, before=(), binary=RAMLINE, timeout=200, text=True, **more):
    """One run to its end."""
    text = {"text": True, "errors": "replace"} if text else {}
    more = {"stdin": subprocess.DEVNULL, "cwd": TOP, **({} if "stdout" in more or "stderr" in more else {"capture_output": True}), **text, **more}
    return subprocess.run([*map(str, before), binary, *map(str, words)], env=environment(state, env), timeout=timeout, check=False, **more)


def start(*words, state=None, env=None, before=(), binary=RAMLINE, **more):
    """A run that goes on; its output is read through pipes unless it is sent elsewhere."""
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": TOP, **more}
    return subprocess.Popen([*map(str, before), binary, *map(str, words)], env=environment(state, env), **more)


def document(*words, **more):
    """The JSON document that a run prints."""
    done = ramline(*words, **more)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(f"`ramline {' '.join(map(str, words))}` ends with {done.returncode} and no document: {done.stderr}{done.stdout[:500]}") from None


def ask(*words, **more):
    """The document of a run with --json."""
    return document(*words, "--json", **more)


def calls(*words, **more):
    """How often a run makes each system call, by strace: work that is counted, where a time would be one of this machine at this hour."""
    with tempfile.NamedTemporaryFile("r", prefix="ramline-calls-") as table:
        done = ramline(*words, before=["strace", "-f", "-qq", "-c", "-U", "calls,name", "-o", table.name], **more)
        if done.returncode:
            raise RuntimeError(f"`ramline {' '.join(map(str, words))}` under strace ends with {done.returncode}: {done.stderr[-500:]}")
        return {name: int(count) for count, name in re.findall(r"^ *(\d+) (\w+)$", table.read(), re.M) if name != "total"}
