"""Where a command writes what a user has named: it ends untouched or complete. The rules are those of ramline itself (docs/security.md, crates/kernel/src/output).

| what is named | what is done |
|---|---|
| `-` | standard output |
| a device, pipe, socket or terminal | opened and written; the node stays what it is |
| a regular file | replaced in one step when the new one is complete, its mode and owner kept |
| a link to one of these | followed; one of another user in a directory that everybody can write to is refused |
| nothing yet | made in one step when it is complete |
| anything else | refused before any work is done |

A new file has no name until it is complete (O_TMPFILE). What needs one for a moment is `.NAME.ramline-K` beside it, made with O_EXCL and O_NOFOLLOW and locked: the next command that
writes NAME removes it when the lock is free and the content is ours. Files below a store are `store`'s.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     Output(f"{folder}/rows.tsv", b"a", "ramline fleet synth FILE").write(b"a\\n")
...     os.listdir(folder), open(f"{folder}/rows.tsv").read()
(['rows.tsv'], 'a\\n')
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import socket
import stat
import sys
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

from .words import Failure

# Names tried for what needs one for a moment.
SLOTS = 8
# The longest name most file systems take.
NAME_MAX = 255
# path_resolution(7): the kernel follows no more.
MOST_LINKS = 40
# So long a pipe's reader may take to come.
READER = 2.0
# As kernels and file systems without O_TMPFILE answer.
NO_TMPFILE = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS)
# What cannot be synced: pipes, terminals, some devices. A disk that could not be written says so.
NO_SYNC = (errno.EINVAL, errno.EROFS, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF)
STICKY = stat.S_ISVTX | stat.S_IWOTH


class Output:
    """A place that has been checked and can be written; `begins` is how every such document begins, `hint` a command that would work."""

    def __init__(self, path: str | os.PathLike[str], begins: bytes, hint: str, mode: int = 0o644) -> None:
        self.path, self.begins, self.hint, self.mode = os.fspath(path), begins, hint, mode
        self.name = ""
        self.stream: Any = None
        self.folder: Any = None
        self.unnamed: Any = None
        with self.failing(2):
            self.find()

    @contextlib.contextmanager
    def failing(self, status: int) -> Iterator[None]:
        """An error of the system names the place."""
        try:
            yield
        except OSError as error:
            raise Failure(f"cannot write {self.path}: {error.strerror}", self.hint, status) from error

    def refused(self, rule: str, status: int = 2) -> Failure:
        return Failure(f"cannot write {self.path}: {rule}", self.hint, status)

    def find(self) -> None:
        path = self.path
        if path == "-":
            self.stream = standard_output()
            return
        if not path:
            raise self.refused("the name is empty")
        if number := own_descriptor(path):
            self.stream = os.dup(number)
            return
        if path.endswith("/") or os.path.basename(path) in ("", ".", ".."):
            raise self.refused("it is a directory, and a file is wanted")
        try:
            found = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            if os.path.islink(path):
                raise self.refused("it is a link that leads nowhere") from None
            self.stage(path)
            return
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise self.refused("its links lead in a circle") from None
            raise
        try:
            seen = os.fstat(found)
            if stat.S_ISDIR(seen.st_mode):
                raise self.refused("it is a directory, and a file is wanted")
            real = self.behind_links()
            # The links of /proc/PID/fd may lead to a file of another mount name space, whose name is another file's here.
            if not os.path.samestat(os.stat(real), seen):
                raise self.refused("what it leads to has no name here")
            if stat.S_ISREG(seen.st_mode):
                self.stage(real)
            else:
                self.stream = self.opened(f"/proc/self/fd/{found}", seen.st_mode)
        finally:
            os.close(found)

    def behind_links(self) -> str:
        """Where the links of the name lead. One that another user has put into a directory that everybody can write to is not followed, as with `fs.protected_symlinks`, also where that is off:
        it would choose for us which file is replaced."""
        at = self.path
        for _ in range(MOST_LINKS):
            folder, name = split(at)
            above, seen = os.stat(folder), os.lstat(os.path.join(folder, name))
            if not stat.S_ISLNK(seen.st_mode):
                return at
            if above.st_mode & STICKY == STICKY and seen.st_uid not in (os.geteuid(), above.st_uid):
                raise self.refused(f"it is a link of another user (user {seen.st_uid}) in a directory everybody can write to ({folder})")
            to = os.path.join(folder, os.readlink(at))
            # The links of /proc/PID/fd lead further than their text.
            if not os.path.lexists(to):
                return at
            at = to
        raise self.refused("its links lead in a circle")

    def opened(self, node: str, mode: int) -> int:
        """A descriptor of what is no regular file, opened as what was found and without waiting."""
        how = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        if stat.S_ISSOCK(mode):
            with socket.socket(socket.AF_UNIX) as one:
                one.connect(node)
                return one.detach()
        if stat.S_ISFIFO(mode):
            found = self.with_a_reader(node, how)
        else:
            # A disk that is mounted or swapped to is in use: then the kernel says so.
            found = os.open(node, how | (os.O_EXCL if stat.S_ISBLK(mode) else 0))
        os.set_blocking(found, True)
        return found

    def with_a_reader(self, node: str, how: int) -> int:
        begin = time.monotonic()
        while True:
            try:
                return os.open(node, how)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                if time.monotonic() - begin >= READER:
                    raise self.refused(f"it is a pipe from which nothing reads (waited {READER:g} s)") from None
                time.sleep(0.02)

    def stage(self, real: str) -> None:
        """Looks at the folder and what will be replaced, and makes the file that will take its place."""
        folder, self.name = split(real)
        if len(os.fsencode(self.name)) > NAME_MAX:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        self.folder = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        if os.path.join(os.path.realpath(folder), self.name) in mounts():
            raise self.refused("something is mounted on it, so that it cannot be replaced")
        old = self.old()
        self.remove_left_over(old)
        found, named = self.made(old)
        self.like(found, old)
        if named:
            # It would be left behind by a kill while the command works: that it can be made is known now.
            os.unlink(named, dir_fd=self.folder)
            os.close(found)
        else:
            self.unnamed = found

    def old(self) -> os.stat_result | None:
        """The file that will be replaced; None when there is none."""
        try:
            seen = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(seen.st_mode):
            raise self.refused("it has become something else than a file meanwhile")
        if not os.access(self.name, os.W_OK, dir_fd=self.folder, effective_ids=True):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        above, own = os.stat(self.folder), os.geteuid()
        if above.st_mode & STICKY == STICKY and own not in (0, seen.st_uid, above.st_uid):
            raise self.refused("it is of another user, in a directory where only the owner may replace it")
        return seen

    def made(self, old: os.stat_result | None) -> tuple[int, str | None]:
        """A new file in the folder, and its name where it has one. One that replaces another gets the mode of that later."""
        mode, how = 0o600 if old else self.mode, os.O_WRONLY | os.O_CLOEXEC
        try:
            found = os.open(".", how | os.O_TMPFILE, mode, dir_fd=self.folder)
            if os.path.exists(f"/proc/self/fd/{found}"):
                return found, None
            os.close(found)
        except OSError as error:
            if error.errno not in NO_TMPFILE:
                raise
        for slot in self.slots():
            try:
                found = os.open(slot, how | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=self.folder)
            except FileExistsError:
                continue
            if locked(found):
                return found, slot
            os.close(found)
        raise self.refused("other commands are writing it")

    def slots(self) -> list[str]:
        """`.NAME.ramline-0` and so on; of a name that is too long for that, a number that goes with it."""
        name = self.name if len(os.fsencode(self.name)) + 12 <= NAME_MAX else hashlib.blake2b(os.fsencode(self.name), digest_size=8).hexdigest()
        return [f".{name}.ramline-{slot}" for slot in range(SLOTS)]

    def like(self, found: int, old: os.stat_result | None) -> None:
        """Gives a new file owner and mode of the one it replaces."""
        if old is None:
            return
        now = os.fstat(found)
        if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            try:
                os.fchown(found, old.st_uid, old.st_gid)
            except OSError:
                raise self.refused(f"the new file could not have the owner of the old one (user {old.st_uid}, group {old.st_gid})") from None
        os.fchmod(found, stat.S_IMODE(old.st_mode) & 0o777)

    def write(self, document: Any) -> None:
        """Writes a document that is complete in memory, and puts it in its place; a file is as it was before where that fails."""
        with self.failing(1):
            if self.stream is not None:
                self.sent(document)
                return
            found, named = (self.unnamed, None) if self.unnamed is not None else self.made(self.old())
            try:
                written(found, document)
                os.fsync(found)
                self.place(found, named)
                named = None
            finally:
                if named:
                    with contextlib.suppress(OSError):
                        os.unlink(named, dir_fd=self.folder)
                os.close(found)
                self.unnamed = None
            # The file is whole and in its place; a folder that cannot be synced takes nothing from that.
            with contextlib.suppress(OSError):
                synced(".", dir_fd=self.folder)

    def sent(self, document: Any) -> None:
        """Into what is no file. A reader that goes away early has what it wants."""
        try:
            written(self.stream, document)
            if not stat.S_ISSOCK(os.fstat(self.stream).st_mode):
                os.fdatasync(self.stream)
        except BrokenPipeError:
            pass
        except OSError as error:
            if error.errno not in NO_SYNC:
                raise
        finally:
            os.close(self.stream)

    def place(self, found: int, named: str | None) -> None:
        # What is there now: it may have become something else while the command worked.
        old = self.old()
        self.like(found, old)
        if named:
            os.rename(named, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            return
        if old is None:
            with contextlib.suppress(FileExistsError):
                self.linked(found, self.name)
                return
            self.like(found, self.old())
        # A link cannot take the place of a file, a rename can: so it gets a name first.
        locked(found)
        for slot in self.slots():
            with contextlib.suppress(FileExistsError):
                self.linked(found, slot)
                try:
                    os.rename(slot, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
                except OSError:
                    os.unlink(slot, dir_fd=self.folder)
                    raise
                return
        raise self.refused("other commands are writing it", 1)

    def linked(self, found: int, name: str) -> None:
        os.link(f"/proc/self/fd/{found}", name, dst_dir_fd=self.folder, follow_symlinks=True)

    def remove_left_over(self, old: os.stat_result | None) -> None:
        """Removes what killed commands left: of us, not locked, and beginning as such a document does."""
        # What root has begun to put in the place of a user's file is that user's already.
        owners = {os.geteuid()} | ({old.st_uid} if old and os.geteuid() == 0 else set())
        for slot in self.slots():
            with contextlib.suppress(OSError):
                seen = os.stat(slot, dir_fd=self.folder, follow_symlinks=False)
                if not stat.S_ISREG(seen.st_mode) or seen.st_uid not in owners or seen.st_nlink != 1:
                    continue
                found = os.open(slot, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=self.folder)
                try:
                    if os.path.samestat(os.fstat(found), seen) and locked(found) and self.begins.startswith(os.read(found, len(self.begins))):
                        os.unlink(slot, dir_fd=self.folder)
                finally:
                    os.close(found)


def own_descriptor(path: str) -> int | None:
    """The number in `/dev/stdout`, `/dev/fd/N` and the like: what the shell has opened for us, at the place it has come to.

    >>> own_descriptor("/dev/stdout"), own_descriptor("/dev/fd/63"), own_descriptor("/dev/fd/07"), own_descriptor("/dev/null")
    (1, 63, None, None)
    """
    if path in ("/dev/stdout", "/dev/stderr"):
        return 1 if path == "/dev/stdout" else 2
    found = re.fullmatch(r"(?:/dev/fd|/proc/self/fd)/([1-9][0-9]{0,8})", path)
    return int(found[1]) if found else None


def split(path: str) -> tuple[str, str]:
    """The folder of a name, and the name in it."""
    return os.path.dirname(path) or ".", os.path.basename(path)


def mounts() -> set[str]:
    """Where something is mounted."""
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            points = [line.split()[4] for line in file]
    except OSError:
        return set()
    return {os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), point)) for point in points}


def locked(found: int) -> bool:
    """Takes the lock; false where another command holds it. Where there are no locks it is free."""
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def written(found: int, document: Any) -> None:
    """All of it: a write may take a part."""
    left = memoryview(document)
    while left:
        left = left[os.write(found, left):]


# How such a file is opened.
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def new_sink(path: str | os.PathLike[str]) -> BinaryIO:
    """A file which no other may have made before, through no link."""
    return os.fdopen(os.open(path, NEW, 0o644), "wb")


def new_file(path: str | os.PathLike[str], content: Any) -> None:
    """Such a file, with this in it, on the disk."""
    with new_sink(path) as sink:
        written(sink.fileno(), content)
        os.fsync(sink.fileno())


def synced(path: str | os.PathLike[str], dir_fd: int | None = None) -> None:
    found = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        os.fsync(found)
    finally:
        os.close(found)


def standard_output() -> int:
    """Another descriptor of it; refused where it is closed, since the answer would be lost."""
    if sys.stdout is None:
        raise Failure("cannot write to standard output: it is closed, so the answer would be lost", "the command without >&-")
    sys.stdout.flush()
    return os.dup(sys.stdout.fileno())


def printed(text: str) -> None:
    """Text on standard output, all of it or an error."""
    Output("-", b"", "df -h, and ulimit -f").write(text.encode(errors="backslashreplace"))
