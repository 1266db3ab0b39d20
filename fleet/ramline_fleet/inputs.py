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
from pathlib import Path

# A document, list or text is never larger: a snapshot of 10,000 processes has about 10 MiB.
MOST = 64 << 20
# So many seconds a pipe may send nothing; one that the shell has made for `<(command)` has its writer, which may take its time.
SILENCE, PATIENCE = 4, 600
KINDS = ((stat.S_ISDIR, "a directory"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


class Unread(OSError):
    """Why a file was not read; what it is called is the caller's."""

    def __str__(self) -> str:
        return str(self.args[0])


def pieces(path: str | Path, most: int = MOST) -> bytes:
    """The bytes of a file, or of a pipe that a user has named."""
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
        return read(found, most, None if stat.S_ISREG(seen.st_mode) else PATIENCE if without_a_name else SILENCE)
    except OSError as error:
        raise error if isinstance(error, Unread) else Unread(error.strerror) from error
    finally:
        os.close(found)


def read(found: int, most: int, silence: int | None) -> bytes:
    """All there is of it, a pipe to its end."""
    out = bytearray()
    poll = select.poll()
    poll.register(found, select.POLLIN)
    while True:
        if silence is not None and not poll.poll(silence * 1000):
            raise Unread(f"it is a pipe into which nothing is written (for {silence} s)")
        try:
            # It may grow meanwhile.
            piece = os.read(found, min(1 << 20, most + 1 - len(out)))
        except BlockingIOError:
            continue
        if not piece:
            return bytes(out)
        out += piece
        if len(out) > most:
            raise too_large(len(out), most)


def text(path: str | Path, most: int = MOST, errors: str = "strict") -> str:
    """The same as text."""
    try:
        return pieces(path, most).decode(errors=errors)
    except UnicodeDecodeError:
        raise Unread("it is no text (UTF-8)") from None


def too_large(length: int, most: int) -> Unread:
    return Unread(f"it is larger than any such file ({length} bytes or more, at most {most})")
