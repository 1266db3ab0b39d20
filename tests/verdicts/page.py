"""The page docs/verdicts.md: the confusion matrix, and a row for each state."""

import os

from harness import TOP
from harness.machine import meminfo
from readings import STATUSES

PAGE = TOP / "docs/verdicts.md"
HEAD = """# How far the first line is right

*Written by `tests/verdicts/run --write`; `make test` repeats a part of it, `make test-long` all.*

Each reading is one first line of `show`, `show --for 2s` or `checkup --quick`, on a healthy load or on a machine in a known sick state.

- A **false alarm** is *warning* or *critical* on a healthy load.
- A sick state is **missed** where the line says *ok*.
- Its **cause is named** where the deciding finding or state is the one that was made, and the sentence names it.

States that only a rate shows (a group at its limit, a leak, writers that wait) are read over 2 s or by the checkup; a leak that is killed and starts again over 25 s. What exhausts memory is made in a group, or in a guest under software emulation (1 GiB, Debian 13, kernel 6.12). A
quota on /tmp is read from a captured tree, because Debian's kernels are built without it. The readings and their conditions are in tests/verdicts/recorded.
"""


def table(matrix):
    """The two by two of all readings, as text."""
    (healthy, alarms, _), (sick, misses, named) = matrix.counts(False), matrix.counts(True)
    rows = [("", "line is quiet", "line warns", "names the cause"), ("healthy", healthy - alarms, alarms, ""), ("sick", misses, sick - misses, named)]
    return "\n".join(f"{str(a):<10}{str(b):>14}{str(c):>12}{str(d):>17}" for a, b, c, d in rows)


def confusion(matrix):
    out = ["| | readings | false alarms | missed | cause named |", "|---|---:|---:|---:|---:|"]
    for title, sick, second in (("healthy, first list", False, False), ("healthy, second list", False, True), ("sick, first list", True, False), ("sick, second list", True, True)):
        count, wrong, named = matrix.counts(sick, second)
        if count:
            share = f"{named} ({100 * named / count:.1f} %)" if sick else ""
            out.append(f"| {title} | {count} | {'' if sick else wrong} | {wrong if sick else ''} | {share} |")
    return out


def states(matrix, sick, second):
    tail = (" right cause |", "---:|") if sick else ("", "")
    out = [f"| state | how it is made | {' | '.join(STATUSES)} |{tail[0]} the usual first line |", f"|---|---|{'---:|' * len(STATUSES)}{tail[1]}---|"]
    for state, count, counts, named, example in matrix.rows(sick, second):
        cause = f" {named} of {count} |" if sick else ""
        out.append(f"| {state.name} | {state.how} | {' | '.join(str(n) if n else '' for n in counts)} |{cause} {example} |")
    return out if len(out) > 2 else []


def write(matrix, files=()):
    """The page; `files` are those that its readings were kept in."""
    machine = f"Taken on Linux {os.uname().release}, {os.cpu_count()} processors, {meminfo('MemTotal') / 2**30:.1f} GiB."
    if files:
        machine += " Readings: " + ", ".join(path.name for path in files) + "."
    parts = [HEAD + "\n" + machine + "\n", "## All readings\n", *confusion(matrix)]
    wrong = [f"- {reading.state}, {reading.shape}: {why}: *{reading.text}*" for reading, why in matrix.bad()]
    if wrong:
        parts += ["\n## Readings that were wrong\n", *wrong]
    for title, sick, second in (("Healthy loads", False, False), ("Sick states", True, False), ("Healthy loads of the second list", False, True),
                                ("Sick states of the second list", True, True)):
        rows = states(matrix, sick, second)
        if rows:
            note = "\nThe rules were made with the first list; these states were tried on them afterwards.\n" if second else ""
            parts += [f"\n## {title}\n{note}", *rows]
    PAGE.write_text("\n".join(parts) + "\n")
