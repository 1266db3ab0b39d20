"""How places that are no file are made: standard output, pipes, devices, terminals, FIFOs and sockets."""

import contextlib
import fcntl
import os
import pty
import socket
import stat
import subprocess
import threading
import time
import tty

from harness import Skip

# Standard output, and what links to it.


def everything(done):
    return done.stdout


def dash(case):
    case.path = "-"
    case.arrived = everything


def pipe_of(case):
    """A pipe that its user may open again, with room for a document; what is in it, and its writing end."""
    reading, writing = os.pipe()
    case.undo.callback(os.close, reading)
    case.undo.callback(os.close, writing)
    case.own(writing)
    os.set_blocking(reading, False)
    fcntl.fcntl(reading, 1031, 1 << 20)

    def arrived(done):
        with contextlib.suppress(BlockingIOError):
            return os.read(reading, 1 << 20)
        return b""

    case.arrived = arrived
    return writing


def dev_stdout(case):
    """Only where /dev is our own: a product that is wrong would replace it."""
    if os.geteuid() == 0 and not case.option.mounts:
        raise Skip("/dev/stdout: no mount name space of our own")
    if not os.path.islink("/dev/stdout"):
        raise Skip("/dev/stdout is no link here")
    case.path, case.stdout = "/dev/stdout", pipe_of(case)
    nodes = sorted(os.listdir("/dev"))

    def watch():
        if not os.path.islink("/dev/stdout"):
            yield "/dev/stdout is no link any more"
            os.unlink("/dev/stdout")
            os.symlink("/proc/self/fd/1", "/dev/stdout")
        if sorted(os.listdir("/dev")) != nodes:
            yield f"other names in /dev: {sorted(set(os.listdir('/dev')) ^ set(nodes))}"

    case.watch = watch


def link_to_stdout(case):
    case.path, case.stdout = str(case.link("link", "/proc/self/fd/1")), pipe_of(case)


def stdout_is_file(case):
    """`> file` and a link to standard output: the document is in the file."""
    path = case.target = case.file("out", b"")
    case.stdout = open(path, "wb")
    case.undo.callback(case.stdout.close)
    case.path = "/proc/self/fd/1"
    case.arrived = lambda done: path.read_bytes()


def substitution(form):
    """As `>(command)` of a shell: a pipe that has a number and no name."""

    def make(case):
        writing = pipe_of(case)
        case.pass_fds = (writing,)
        case.path = form.format(writing)

    return make


# Nodes.


def node(case, name, minor, major=1, kind=stat.S_IFCHR):
    path = case.box / name
    try:
        os.mknod(path, kind | 0o666, os.makedev(major, minor))
        path.chmod(0o666)
        case.own(path)
        os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        raise Skip(f"mknod of a device in {case.box.parent.parent}: {error.strerror}") from None
    case.path = str(path)
    return path


def link_to_null(case):
    node(case, "null", 3)
    case.path = str(case.link("link", "null"))


def char(name, minor):
    def make(case):
        node(case, name, minor)

    return make


def block(case):
    """A loop device over a file of 4 MiB. It goes by itself when nobody has it open, even if the test is killed."""
    backing = case.folder / "backing"
    backing.write_bytes(bytes(4 << 20))
    done = subprocess.run(["losetup", "--find", "--show", backing], capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"losetup: {done.stderr.strip()}")
    name = done.stdout.strip()
    at = os.stat(name)
    try:
        path = node(case, "block", os.minor(at.st_rdev), os.major(at.st_rdev), stat.S_IFBLK)
        fd = os.open(path, os.O_RDONLY)
        case.undo.callback(os.close, fd)
    finally:
        subprocess.run(["losetup", "-d", name], capture_output=True)

    def arrived(done):
        os.fsync(fd)
        return backing.read_bytes()

    case.arrived = arrived


def terminal(case):
    try:
        master, slave = pty.openpty()
        name = os.ttyname(slave)
        os.stat(name)
    except OSError as error:
        raise Skip(f"no terminal can be opened: {error}") from None
    case.undo.callback(os.close, master)
    case.undo.callback(os.close, slave)
    tty.setraw(slave)
    case.own(name)
    case.path = name
    collected, stop = bytearray(), threading.Event()
    os.set_blocking(master, False)

    def loop():
        while True:
            last = stop.is_set()
            try:
                collected.extend(os.read(master, 1 << 16))
                continue
            except BlockingIOError:
                if last:
                    return
                time.sleep(0.005)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    case.undo.callback(lambda: (stop.set(), thread.join()))
    before = os.lstat(name)

    def arrived(done):
        time.sleep(0.02)
        stop.set()
        thread.join()
        return bytes(collected)

    def watch():
        now = os.lstat(name)
        if (now.st_mode, now.st_rdev, now.st_ino) != (before.st_mode, before.st_rdev, before.st_ino):
            yield "the terminal's node is not what it was"

    case.arrived, case.watch = arrived, watch


def fifo_of(case, name="fifo"):
    path = case.box / name
    os.mkfifo(path)
    path.chmod(0o600)
    case.own(path)
    case.path = str(path)
    return path


def fifo(case):
    """Somebody reads as `cat` does: to the first end."""
    reader(case, fifo_of(case))


def link_to_fifo(case):
    path = fifo_of(case)
    reader(case, path)
    case.path = str(case.link("link", path.name))


def reader(case, path):
    collected = bytearray()

    def read():
        with open(path, "rb", buffering=0) as source:
            while data := source.read(1 << 16):
                collected.extend(data)

    # The FIFO itself, whatever has its name by then.
    fd = os.open(path, os.O_PATH)
    case.undo.callback(os.close, fd)
    thread = threading.Thread(target=read, daemon=True)
    thread.start()

    def arrived(done):
        release(fd, thread)
        return bytes(collected)

    case.arrived = arrived
    case.undo.callback(release, fd, thread)


def release(fd, thread):
    """A reader that nobody has written to waits for ever."""
    while thread.is_alive():
        # Not before the reader had its chance to see what was written.
        thread.join(0.05)
        with contextlib.suppress(OSError):
            os.close(os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK))


def unread_fifo(case):
    fifo_of(case)
    case.within = 5


def impatient_fifo(case):
    """The reader takes a byte of a pipe that holds less than the document, and goes."""
    path = fifo_of(case)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(fd, 1031, 4096)
    gone = threading.Event()

    def read():
        while not gone.is_set():
            with contextlib.suppress(BlockingIOError):
                if os.read(fd, 1):
                    break
            time.sleep(0.001)
        os.close(fd)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    case.undo.callback(thread.join)
    case.undo.callback(gone.set)


def bound(case):
    """A name of a socket has room for 107 bytes: it is made by a short way."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    case.undo.callback(server.close)
    path = case.box / "socket"
    fd = os.open(case.box, os.O_PATH)
    try:
        server.bind(f"/proc/self/fd/{fd}/socket")
    finally:
        os.close(fd)
    path.chmod(0o666)
    case.own(path)
    case.path = str(path)
    return server


def listening(case):
    server = bound(case)
    server.listen(4)
    server.settimeout(0.02)
    collected, over = bytearray(), threading.Event()

    def serve():
        # Only who comes first: a try-out that is closed again would be the document.
        while True:
            last = over.is_set()
            try:
                client, _ = server.accept()
                break
            except TimeoutError:
                if last:
                    return
        with client:
            client.settimeout(10)
            with contextlib.suppress(OSError):
                while data := client.recv(1 << 16):
                    collected.extend(data)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()

    def arrived(done):
        over.set()
        thread.join()
        return bytes(collected)

    case.arrived = arrived
    case.undo.callback(lambda: (over.set(), thread.join()))


def not_listening(case):
    bound(case)
