"""A reading of ramline, what a state expects of it, and the table of all of them.

A reading is the first line of one of three looks: an instant (`show --json`), two seconds (`show --for 2s --json`) and the quick checkup.
"""

import collections
import json
import re
import subprocess
from dataclasses import dataclass, field

INSTANT, WINDOW, CHECKUP = "instant", "window", "checkup"
COMMANDS = {
    INSTANT: ["show", "--json"],
    WINDOW: ["show", "--for", "2s", "--json"],
    CHECKUP: ["checkup", "--quick", "--json", "-"],
}
ALL, RATES = (INSTANT, WINDOW, CHECKUP), (WINDOW, CHECKUP)
STATUSES = ("ok", "note", "warning", "critical")


@dataclass(frozen=True)
class State:
    """One row: how it is made, and what the first line of a sick one must name."""

    name: str
    how: str  # a sentence for the page
    make: object = None  # a context manager; None is made in the guest, under `guest`
    sick: bool = False
    causes: tuple = ()  # findings or states of the verdict that may decide
    words: str = ""  # that the sentence must contain, as a pattern
    shapes: tuple = ALL
    args: tuple = ()  # words after the command
    guest: str = ""
    quick: bool = False  # in the part that `make test` runs
    fresh: bool = False  # made anew for each reading
    still: bool = False  # nothing moves in it, so no rate has to settle, and none has to fade behind it
    second: bool = False  # of the list that the judgement was not made with


@dataclass
class Reading:
    state: str
    shape: str
    status: str
    text: str
    cause: str
    findings: list = field(default_factory=list)
    available: int = 0

    @staticmethod
    def of(state, shape, text):
        """From what was printed; a reading that failed is none of the four statuses."""
        try:
            document = json.loads(text)
            verdict = document["verdict"]
        except (ValueError, KeyError, TypeError):
            return Reading(state, shape, "failed", text[-300:], "")
        deciding = verdict.get("deciding") or {}
        cause = deciding.get("finding") or verdict["state"]
        found = [f"{one['id']} ({one['weight']})" for one in document.get("findings", [])]
        return Reading(state, shape, verdict["status"], verdict["text"], cause, found, verdict["available"])


def take(binary, state, shape, prefix=(), env=None):
    done = subprocess.run([*prefix, binary, *COMMANDS[shape], *state.args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, env=env,
                          check=False)
    return Reading.of(state.name, shape, done.stdout or done.stderr)


def alarms(reading):
    return reading.status in ("warning", "critical")


def missed(reading):
    """Not told at all."""
    return reading.status not in ("note", "warning", "critical")


def right(state, reading):
    """The first line names the cause, by what decided it and in words."""
    return not missed(reading) and reading.cause in state.causes and re.search(state.words, reading.text, re.I) is not None


class Matrix:
    """All readings by state."""

    def __init__(self, states):
        self.states = {state.name: state for state in states}
        self.readings = []

    def of(self, name):
        return [reading for reading in self.readings if reading.state == name]

    def bad(self):
        """Readings that break a target, with the reason."""
        for reading in self.readings:
            state = self.states[reading.state]
            if reading.status not in STATUSES:
                yield reading, "the reading failed"
            elif not state.sick and alarms(reading):
                yield reading, "false alarm"
            elif state.sick and missed(reading):
                yield reading, "missed"
            elif state.sick and not right(state, reading):
                yield reading, "another cause"

    def counts(self, sick, second=None):
        """Readings, wrong ones (alarms or misses), and those with the right cause."""
        chosen = [r for r in self.readings if self.states[r.state].sick == sick and second in (None, self.states[r.state].second)]
        wrong = sum(missed(r) if sick else alarms(r) or r.status not in STATUSES for r in chosen)
        return len(chosen), wrong, sum(right(self.states[r.state], r) for r in chosen)

    def rows(self, sick, second):
        """Of each state: its name, how often each status came, how often the cause was right, and the line that came most often."""
        for state in self.states.values():
            seen = self.of(state.name)
            if (state.sick, state.second) != (sick, second) or not seen:
                continue
            statuses = collections.Counter(reading.status for reading in seen)
            kinds = collections.Counter(re.sub(r"[\d,.]+", "#", reading.text) for reading in seen)
            usual = kinds.most_common(1)[0][0]
            example = next(reading.text for reading in seen if re.sub(r"[\d,.]+", "#", reading.text) == usual)
            yield state, len(seen), [statuses[status] for status in STATUSES], sum(right(state, r) for r in seen), example
