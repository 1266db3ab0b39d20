"""What the tests of the lab share: counting checks, runs of ramline, and the screens that pages of docs/experiments show.

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from labtest import check, finish

What a run could leave on the machine is compared by tests/crash/traces.py, which this hands on as `traces`.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
RAMLINE = os.environ.get("RAMLINE_BIN") or str(TOP / "target/debug/ramline")

sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tests/crash"))
import traces  # noqa: E402, F401  (handed on)


class Tally:
    passed = failed = skipped = 0


def check(what, ok, details=""):
    Tally.passed, Tally.failed = Tally.passed + bool(ok), Tally.failed + (not ok)
    if not ok:
        print(f"FAILED: {what}\n  {str(details)[-2000:]}", flush=True)
    return bool(ok)


def skip(reason):
    Tally.skipped += 1
    print(f"SKIP: {reason}", flush=True)


def finish():
    """The closing line that tests/run reads; the exit status."""
    print(f"{Tally.passed} passed, {Tally.failed} failed, {Tally.skipped} skipped")
    return 1 if Tally.failed else 0


def ramline(args, state, timeout=200, env=None, **more):
    """One run with its own state directory, on a terminal of 100 columns that nobody watches."""
    env = {**os.environ, "RAMLINE_STATE_DIR": str(state), "COLUMNS": "100", **(env or {})}
    return subprocess.run([RAMLINE, *map(str, args)], env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=timeout,
                          cwd=TOP, **more)


# Heads of tables, by their first column.
HEADS = ("setting", "limit", "stage", "column", "kind", "figure")
# Columns that are there or not, or have another name, depending on how many runs there are and what they say.
VARYING = ("range", "95 % interval", "from, to", "of first", "than the first", "x fastest", "user", "system", "CPU time")


def transcripts(page):
    """Of each run that a page of docs/experiments shows: the words after `ramline`, and what it printed."""
    text = (TOP / f"docs/experiments/{page}.md").read_text()
    found = re.findall(r"```text\n\$ (?:sudo )?ramline (lab run [^\n]*)\n(.*?)```", text, re.S)
    return [(shlex.split(command), screen) for command, screen in found]


def with_options(words, **options):
    """The same command with these options, `runs="1"` as `--runs 1`; `True` is a switch. What comes after `--` stays."""
    cut = words.index("--") if "--" in words else len(words)
    own = list(words[:cut])
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        while option in own:
            at = own.index(option)
            bare = at + 1 == len(own) or own[at + 1].startswith("--")
            del own[at:at + (1 if bare else 2)]
        own += [option] if value is True else [option, str(value)]
    return own + list(words[cut:])


def tables(screen):
    """All tables of a screen: the columns, and the first cell of each row, once, with numbers left out."""
    found, columns, rows, indented = [], None, [], False
    for line in [*screen.splitlines(), ""]:
        # Columns stand two spaces apart. A row that is indented when its head is not has an empty first cell.
        cells = re.split(r"\s{2,}", line.strip())
        if cells[0] in HEADS and len(cells) > 1:
            if columns:
                found.append((columns, rows))
            columns, rows, indented = tuple(cell for cell in cells if cell not in VARYING), [], line.startswith(" ")
        elif len(cells) > 1 and columns and (indented or not line.startswith(" ")):
            row = re.sub(r"(?<!\S)[\d.,]+( [KMGT]?i?B)?", "N", cells[0])
            rows += [row] if row not in rows else []
        elif not line.strip() and columns:
            found.append((columns, rows))
            columns, rows = None, []
    return found


def replay(page, words, shown, state, only_first=False, **options):
    """Runs a command of a page at small scale: the tables must be those the page shows, no numbers compared."""
    args = with_options(words, **options)
    done = ramline(args, state)
    name = f"{page}: {' '.join(words)}"
    check(f"{name}: it runs", done.returncode == 0, done.stderr)
    expected, real = tables(shown), tables(done.stdout)
    if only_first:
        expected, real = expected[:1], real[:1]
    check(f"{name}: the page shows the tables and rows it prints", expected and expected == real,
          "\n".join(f"{kind} {table}" for kind, side, other in (("page only", expected, real), ("run only", real, expected))
                    for table in side if table not in other) + "\n" + done.stderr[-400:])
    return done
