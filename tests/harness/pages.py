"""The screens that pages of docs/experiments show, against what the same command prints here.

    for words, screen in transcripts("knee"):
        replay("knee", words, screen, state, runs="1")
"""

import re
import shlex

from .checks import check
from .program import TOP, ramline

# Heads of tables, by their first column.
HEADS = ("setting", "limit", "stage", "column", "kind", "figure")
# Columns that are there or not, or have another name, depending on how many runs there are and what they say.
VARYING = ("range", "read again", "95 % interval", "from, to", "of first", "than the first", "x fastest", "user", "system", "CPU time")


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
    done = ramline(*args, state=state)
    name = f"{page}: {' '.join(words)}"
    check(f"{name}: it runs", done.returncode == 0, done.stderr)
    expected, real = tables(shown), tables(done.stdout)
    if only_first:
        expected, real = expected[:1], real[:1]
    check(f"{name}: the page shows the tables and rows it prints", expected and expected == real,
          "\n".join(f"{kind} {table}" for kind, side, other in (("page only", expected, real), ("run only", real, expected))
                    for table in side if table not in other) + "\n" + done.stderr[-400:])
    return done
