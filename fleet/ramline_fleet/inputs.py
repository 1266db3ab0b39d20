"""What comes from outside: files that were named. Looked at before they are opened, read up to a bound, never waited for without one (docs/security.md, crates/kernel/src/input.rs).

>>> import tempfile
>>> with tempfile.NamedTemporaryFile() as file:
...     _ = file.write(b"{}")
...     file.flush()
...     text(file.name), pieces(file.name, 1)
Traceback (most recent call last):
...
ramline_fleet.inputs.Unread: it is larger than any such file (2 bytes or more, at most 1)
>>> text("/dev/zero")
Traceback (most recent call last):
...
ramline_fleet.inputs.Unread: it is a device, and a file is wanted
"""

import os
import select
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

# A document, list or text is never larger: a snapshot of 10,000 processes has about 10 MiB. What is read piece by piece may be: 40 million hosts, a line each.
MOST, MOST_OF_LINES = 64 << 20, 4 << 30
# And no line of it.
LONGEST = 4 << 20
# So many seconds a pipe may send nothing; one that the shell has made for `<(command)` has its writer, which may take its time.
SILENCE, PATIENCE = 4, 600
KINDS = ((stat.S_ISDIR, "a directory"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


class Unread(OSError):
    """Why a file was not read; what it is called is the caller's."""

    def __str__(self) -> str:
        return str(self.args[0])


def pieces(path: str | Path, most: int = MOST) -> bytes:
    """The bytes of a file, or of a pipe that a user has named."""
    return b"".join(blocks(path, most))


def lines(pieces_of: Iterable[bytes]) -> Iterator[str]:
    """Whole lines of a file, about a MiB of them at a time; what is no UTF-8 is replaced."""
    rest = b""
    for piece in pieces_of:
        whole, newline, rest_of = piece.rpartition(b"\n")
        if newline:
            yield (rest + whole).decode(errors="replace")
            rest = rest_of
        else:
            rest += piece
            if len(rest) > LONGEST:
                raise Unread(f"a line of it is longer than {LONGEST} bytes")
    if rest:
        yield rest.decode(errors="replace")


def regular(path: str | Path) -> int:
    """A file that is read at any place, opened; no pipe."""
    looked = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(looked).st_mode):
            raise Unread("it is no regular file")
        return os.open(f"/proc/self/fd/{looked}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(looked)


def blocks(path: str | Path, most: int) -> Iterator[bytes]:
    """The same piece by piece. It is looked at and opened when the first one is asked for."""
    try:
        looked = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        raise Unread(error.strerror) from error
    try:
        seen = os.fstat(looked)
        if not (stat.S_ISREG(seen.st_mode) or stat.S_ISFIFO(seen.st_mode)):
            raise Unread(f"it is {next((what for is_one, what in KINDS if is_one(seen.st_mode)), 'something else')}, and a file is wanted")
        if seen.st_size > most:
            raise too_large(seen.st_size, most)
        without_a_name = os.readlink(f"/proc/self/fd/{looked}").startswith("pipe:")
        # What is opened is what was looked at, and nothing at its other end is waited for.
        found = os.open(f"/proc/self/fd/{looked}", os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise error if isinstance(error, Unread) else Unread(error.strerror) from error
    finally:
        os.close(looked)
    try:
        yield from read(found, most, None if stat.S_ISREG(seen.st_mode) else PATIENCE if without_a_name else SILENCE)
    except OSError as error:
        raise error if isinstance(error, Unread) else Unread(error.strerror) from error
    finally:
        os.close(found)


def read(found: int, most: int, silence: int | None) -> Iterator[bytes]:
    """All there is of it, a pipe to its end."""
    length = 0
    poll = select.poll()
    poll.register(found, select.POLLIN)
    while True:
        if silence is not None and not poll.poll(silence * 1000):
            raise Unread(f"it is a pipe into which nothing is written (for {silence} s)")
        try:
            # It may grow meanwhile.
            piece = os.read(found, min(1 << 20, most + 1 - length))
        except BlockingIOError:
            continue
        if not piece:
            return
        length += len(piece)
        if length > most:
            raise too_large(length, most)
        yield piece


def text(path: str | Path, most: int = MOST, errors: str = "strict") -> str:
    """The same as text."""
    try:
        return pieces(path, most).decode(errors=errors)
    except UnicodeDecodeError:
        raise Unread("it is no text (UTF-8)") from None


def too_large(length: int, most: int) -> Unread:
    return Unread(f"it is larger than any such file ({length} bytes or more, at most {most})")
