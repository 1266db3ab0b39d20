"""Runs the program `ramline` and reads what it prints."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

# Names the program where PATH has none, or another one.
VARIABLE = "RAMLINE_BIN"


class RamlineError(Exception):
    """The program's own error, with what it proposes to try."""


def program() -> str:
    """Path of the program."""
    found = os.environ.get(VARIABLE) or shutil.which("ramline")
    if found is None:
        raise RamlineError(f"ramline is not in PATH\n  try: install the package of ramline, or set {VARIABLE}=/path/to/ramline")
    return found


def printed(words: Sequence[str]) -> str:
    """Standard output of `ramline WORDS`."""
    try:
        done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as error:
        raise RamlineError(f"{program()} does not run: {error.strerror}\n  try: {VARIABLE}=/path/to/ramline") from error
    # 7: done but for a part, as a file that is cut off.
    if done.returncode not in (0, 7):
        raise RamlineError(done.stderr.strip().removeprefix("ramline: ") or f"ramline {words[0]} ended with status {done.returncode}")
    return done.stdout


def document(words: Sequence[str], versions: Sequence[int]) -> dict[str, Any]:
    """The JSON document that `ramline WORDS` prints; its `schema_version` must be one of `versions`."""
    return checked(printed(words), f"ramline {words[0]}", versions)


def checked(text: str, origin: str, versions: Sequence[int]) -> dict[str, Any]:
    """A document of a version that this package reads."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise RamlineError(f"{origin}: not a JSON document: {error}\n  try: ramline snapshot > FILE") from error
    number = found.get("schema_version") if isinstance(found, dict) else None
    if not isinstance(found, dict) or number not in versions:
        wanted = " or ".join(map(str, versions))
        raise RamlineError(f"{origin}: a document of version {number}, and this package reads version {wanted}\n  try: pip install --upgrade ramline")
    return found


def version() -> str:
    """Version of the program."""
    return printed(["--version"]).strip().removeprefix("ramline ")
