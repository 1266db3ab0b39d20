"""Which days count: from one to another, both in it. Days are texts, 2026-11-25, so that their order is that of time on any engine.

Without a word it is the last 31 days up to the newest day of the store: every monthly peak is in it, and a host that was repaired or retired before does not count by what it was.

>>> Window("2026-11-01", "2026-11-30").sql()
"dt >= '2026-11-01' AND dt <= '2026-11-30'"
>>> last("12w"), last("all")
(84, None)
>>> before("2026-03-01", 31), Window(None, "2026-11-30").has("2027-01-01")
('2026-01-30', False)
"""

import argparse
import datetime
from dataclasses import dataclass

# A job that runs once a month has run.
USUAL = 31
UNITS = {"d": 1, "w": 7}


@dataclass(frozen=True)
class Window:
    """None is open."""

    since: str | None = None
    until: str | None = None

    def has(self, day: str) -> bool:
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)

    def meets(self, first: str, last: str) -> bool:
        """Whether some of these days are in it."""
        return (self.since is None or last >= self.since) and (self.until is None or first <= self.until)

    def holds(self, first: str, last: str) -> bool:
        """Whether all of them are."""
        return self.has(first) and self.has(last)

    def sql(self) -> str:
        """Of rows with a day `dt`."""
        ends = [f"dt >= '{self.since}'"] if self.since else []
        return " AND ".join(ends + ([f"dt <= '{self.until}'"] if self.until else [])) or "1 = 1"


ALL = Window()


def last(word: str) -> int | None:
    """A number of days; None is all."""
    if word == "all":
        return None
    number, unit = word[:-1], word[-1:]
    if not (number.isascii() and number.isdigit() and len(number) < 6 and int(number) and unit in UNITS):
        raise argparse.ArgumentTypeError(f"{word!r} is no number of days; write it as 30d, 12w or all")
    return int(number) * UNITS[unit]


def before(day: str, days: int) -> str:
    """The first of a number of days that end with this one."""
    found = datetime.date.fromisoformat(day)
    return (found - datetime.timedelta(days=min(days - 1, found.toordinal() - 1))).isoformat()


def today() -> str:
    """In UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def is_future(day: str) -> bool:
    """Later than anywhere on earth (UTC+14): the clock of what says so is wrong."""
    return day > (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=14)).date().isoformat()


def chosen(newest: str, since: str | None, until: str | None, days: int | None) -> Window:
    """What is asked for, of a store whose newest day that is no future is this; `days` None is all of them.

    >>> chosen("2026-11-29", None, None, USUAL)
    Window(since='2026-10-30', until='2026-11-29')
    >>> chosen("2026-11-29", "2026-11-01", None, USUAL), chosen("2026-11-29", None, "2026-11-10", 10)
    (Window(since='2026-11-01', until='2026-11-29'), Window(since='2026-11-01', until='2026-11-10'))
    """
    until = until or newest
    return Window(since or (before(until, days) if days else None), until)
