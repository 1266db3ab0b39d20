"""Words of the command line as values, or why they are none; rows of words as a table; and the one printer of names that others have chosen."""

import argparse
import contextlib
import datetime
import shlex
import sys
from collections.abc import Callable


class Failure(Exception):
    """What cannot be done (the object and the rule), a command that would work, and the exit status."""

    def __init__(self, text: object, hint: str, status: int = 2) -> None:
        super().__init__(str(text))
        self.hint, self.status = hint, status


def plain(text: object) -> str:
    r"""A text with what a terminal would act on, turn or hide written out.

    >>> plain("no\x1b[2J"), plain("a\nb"), plain("web\u202e1"), plain("\ud800")
    ('no\\x1b[2J', 'a\\nb', 'web\\u202e1', '\\ud800')
    """
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in str(text))


def tell(text: object) -> None:
    """A line on standard error. Where it cannot be written there is nowhere to say so."""
    with contextlib.suppress(OSError, ValueError):
        print(plain(text), file=sys.stderr, flush=True)


def a_day(word: str) -> str:
    try:
        return datetime.date.fromisoformat(word).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is no day; write it as 2026-11-25") from None


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number from `least` to `most`."""
    def read(word: str) -> int:
        if not (word.isascii() and word.isdigit() and len(word) < 20 and least <= int(word) <= most):
            raise argparse.ArgumentTypeError(f"{word!r} is no whole number from {least} to {most}")
        return int(word)

    return read


def bounds(word: str) -> list[float]:
    """Shares of hosts: 1%,0.1%."""
    try:
        found = [float(part.strip().removesuffix("%")) / 100 for part in word.split(",")]
    except ValueError:
        found = [0.0]
    if not all(0 < share < 1 for share in found):
        raise argparse.ArgumentTypeError(f"{word!r} is no list of shares above 0 and below 100 %; write them as 1%,0.1%")
    return found


def words_of(word: str) -> list[str]:
    try:
        return shlex.split(word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{word!r}: {error}") from None


def columns_of(rows: list[list[str]]) -> str:
    """Rows with their columns below each other.

    >>> print(columns_of([["a", "bb"], ["aaa", "b"]]), end="")
    a    bb
    aaa  b
    """
    rows = [[plain(word) for word in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows)


def hosts(count: int) -> str:
    return f"{count} host{'' if count == 1 else 's'}"


def gib(kib: float | None) -> str:
    """A size in words.

    >>> gib(4 << 20), gib(1536), gib(None)
    ('4.0 GiB', '1.5 MiB', 'unknown')
    """
    if kib is None:
        return "unknown"
    return f"{kib / (1 << 20):.1f} GiB" if abs(kib) >= 100 << 10 or kib == 0 else f"{kib / 1024:.1f} MiB"


def share(value: float | None) -> str:
    """A share in percent, with as many digits as say something.

    >>> share(0.4213), share(0.001), share(0.000012), share(0)
    ('42.1 %', '0.10 %', '0.0012 %', '0 %')
    """
    if value is None:
        return "unknown"
    percent = value * 100
    return "0 %" if percent == 0 else f"{percent:.1f} %" if percent >= 1 else f"{percent:.2f} %" if percent >= 0.01 else f"{percent:.2g} %"
