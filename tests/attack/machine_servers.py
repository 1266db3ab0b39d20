"""Servers that tests/attack/machine talks the kernel's protocols with itself: a file system of FUSE, and an automounter that never answers."""

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import struct
import time
from pathlib import Path

from harness.machine import LIBC, PAGE, die_with_parent, unmount

ROOT, FILE, NAME, PAGES = 1, 2, "file", 64
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH = 1, 2, 3, 14, 15, 17, 18, 25
INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, DESTROY, BATCH_FORGET = 26, 27, 28, 29, 36, 38, 42
# Kept by the kernel for so many seconds.
VALID = 3600


class Fuse:
    """A read-only file system of one file of 64 pages, served by a child. `freeze` has it answer nothing more.

    What is asked then stays in the queue, so that whoever waits can be killed; a request that a server has taken and not answered
    cannot be given up by any program.
    """

    def __init__(self, undo, at):
        """OSError where this machine has no FUSE for us."""
        self.at = Path(at)
        self.at.mkdir()
        device = os.open("/dev/fuse", os.O_RDWR)
        try:
            options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
            if LIBC.mount(b"ramline-test", os.fsencode(self.at), b"fuse.ramline-test", 6, options):
                raise OSError("mount of FUSE: " + os.strerror(ctypes.get_errno()))
            undo.add(unmount, self.at)
            self.pid = os.fork()
            if self.pid == 0:
                self.serve(device)
        finally:
            os.close(device)
        undo.add(self.end)
        self.connection = Path(f"/sys/fs/fuse/connections/{os.minor(os.stat(self.at).st_dev)}")
        undo.add(self.abort)

    def freeze(self):
        # Names and attributes are known by then.
        os.stat(self.at / NAME)
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def abort(self):
        """All that wait for an answer get an error."""
        if not self.connection.exists():
            LIBC.mount(b"fusectl", b"/sys/fs/fuse/connections", b"fusectl", 0, None)
        with contextlib.suppress(OSError):
            (self.connection / "abort").write_text("1")

    def end(self):
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def serve(self, device):
        """Never returns. Ends with the mount, or with the test."""
        die_with_parent()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        try:
            while True:
                try:
                    message = os.read(device, 1 << 18)
                except InterruptedError:
                    continue
                _, opcode, unique, node, *_ = struct.unpack_from("<IIQQIIII", message)
                if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                    continue
                error, body = answer(opcode, node, message[40:])
                os.write(device, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)
        except OSError:
            pass
        finally:
            os._exit(0)


def attributes(node):
    mode, size = (0o40755, 0) if node == ROOT else (0o100644, PAGES * PAGE)
    now = 1_700_000_000
    return struct.pack("<6Q10I", node, size, (size + 511) // 512, now, now, now, 0, 0, 0, mode, 1, 0, 0, 0, PAGE, 0)


def answer(opcode, node, body):
    """Error and answer."""
    if opcode == INIT:
        _, _, ahead, _ = struct.unpack_from("<IIII", body)
        return 0, struct.pack("<IIIIHHIIHHI28x", 7, 31, ahead, 0, 16, 12, 1 << 17, 1, 0, 0, 0)
    if opcode == LOOKUP:
        if node != ROOT or body.rstrip(b"\0") != NAME.encode():
            return errno.ENOENT, b""
        return 0, struct.pack("<QQQQII", FILE, 0, VALID, VALID, 0, 0) + attributes(FILE)
    if opcode == GETATTR:
        return 0, struct.pack("<QII", VALID, 0, 0) + attributes(node)
    if opcode in (OPEN, OPENDIR):
        return 0, struct.pack("<QII", 1, 0, 0)
    if opcode == READ:
        _, offset, size = struct.unpack_from("<QQI", body)
        size = max(0, min(size, PAGES * PAGE - offset))
        return 0, b"f" * size
    if opcode == READDIR:
        _, offset, _ = struct.unpack_from("<QQI", body)
        names = [(ROOT, ".", 4), (ROOT, "..", 4), (FILE, NAME, 8)]
        entries = b""
        for number, (inode, name, kind) in enumerate(names):
            if number >= offset:
                entry = struct.pack("<QQII", inode, number + 1, len(name), kind) + name.encode()
                entries += entry.ljust((len(entry) + 7) // 8 * 8, b"\0")
        return 0, entries
    if opcode == STATFS:
        return 0, struct.pack("<5Q4I24x", PAGES, 0, 0, 2, 0, PAGE, 255, PAGE, 0)
    if opcode in (RELEASE, RELEASEDIR, FLUSH, DESTROY):
        return 0, b""
    return errno.ENOSYS, b""


class Automounter:
    """An autofs mount whose other end is a pipe in which nobody answers. Our own process group is the daemon's, others trigger it."""

    CATATONIC = 0x9362

    def __init__(self, undo, at, kind):
        self.at = Path(at)
        self.at.mkdir(exist_ok=True)
        self.pipe, end = os.pipe()
        try:
            options = f"fd={end},uid=0,gid=0,pgrp={os.getpgrp()},minproto=5,maxproto=5,{kind}".encode()
            if LIBC.mount(b"ramline-test", os.fsencode(self.at), b"autofs", 0, options):
                raise OSError("mount of autofs: " + os.strerror(ctypes.get_errno()))
        finally:
            os.close(end)
        os.set_blocking(self.pipe, False)
        undo.add(os.close, self.pipe)
        undo.add(unmount, self.at)
        undo.add(self.give_up)

    def asked(self):
        """Packets that have arrived since the last look, in bytes."""
        try:
            return len(os.read(self.pipe, 1 << 16))
        except BlockingIOError:
            return 0

    def give_up(self):
        """All that wait get an error."""
        descriptor = os.open(self.at, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, self.CATATONIC, 0)
        finally:
            os.close(descriptor)
        time.sleep(0.05)
