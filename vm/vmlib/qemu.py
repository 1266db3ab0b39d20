"""Boots one guest under QEMU's software emulation and waits for its end. Never KVM, never a network.

The guest has a console, two byte streams (virtio serial ports "stdout" and "stderr", copied to ours as they come) and a
shared folder (9p, tag "share") in which it leaves its exit status and its files.

QEMU dies with us whatever happens to us (PR_SET_PDEATHSIG), and no more guests run than there are
processors (locks in the cache).

Example: boot(Guest(kernel=kernel("6.12"), initrd=path, share=folder, timeout=60)).kind == "ended"
"""

import contextlib
import ctypes
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from .host import HOST_FAILURE, NO_STATUS, PANIC, POWER_CUT, RESERVED_BY_SCRIPT, TIMEOUT, Failure, place, say
from .kernels import Kernel

PR_SET_PDEATHSIG = 1  # include/uapi/linux/prctl.h
MAX_MEMORY = 1536 << 20
EMULATORS = {
    # mitigations=off: they cost time under emulation and protect nothing here. no_timer_check: on a busy host the kernel's test of its
    # timer comes out late, and it panics. cryptomgr.notests: each cipher tests itself otherwise, two seconds of a boot. norandmaps: what is
    # translated of a library is found again by its address, so each program has it anew elsewhere; a Debian boots in three quarters of the time.
    "amd64": (["qemu-system-x86_64", "-machine", "pc,accel=tcg"], "console=ttyS0 mitigations=off no_timer_check cryptomgr.notests norandmaps"),
    "i386": (["qemu-system-i386", "-machine", "pc,accel=tcg"], "console=ttyS0 mitigations=off no_timer_check cryptomgr.notests norandmaps"),
    "ppc64el": (["qemu-system-ppc64", "-machine", "pseries,accel=tcg,cap-htm=off", "-cpu", "POWER9"], "console=hvc0"),
}


@dataclass
class Guest:
    """What to boot. Sizes in bytes, times in seconds."""

    kernel: Kernel
    initrd: Path
    share: Path
    append: str = ""
    memory: int = 512 << 20
    cpus: int = 1
    drives: list = field(default_factory=list)  # values for QEMU's -drive, without interface
    timeout: float = 120
    cut: str | None = None  # kill QEMU at the first line of any stream that matches
    icount: str | None = None  # the virtual clock counts instructions, 2^icount ns each
    verbose: bool = False  # copy the console to stderr


@dataclass(frozen=True)
class Outcome:
    """How it ended: "ended", "panic", "timeout" or "cut", and after how many seconds."""

    kind: str
    seconds: float


def command(guest):
    """QEMU's command line, but for the consoles."""
    if guest.memory > MAX_MEMORY:
        raise Failure(f"guest memory is {guest.memory >> 20} MiB, at most {MAX_MEMORY >> 20} MiB are allowed\ntry: --mem 1G")
    emulator, append = EMULATORS[guest.kernel.entry.architecture]
    words = [*emulator, "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none", "-no-reboot"]
    words += ["-m", str(guest.memory >> 20), "-smp", str(guest.cpus)]
    if guest.icount is not None:
        words += ["-icount", f"shift={guest.icount}"]
    words += ["-kernel", guest.kernel.image, "-initrd", guest.initrd]
    words += ["-append", f"{append} panic=-1 {guest.append}".strip()]
    words += ["-device", "virtio-rng-pci", "-device", "virtio-serial-pci"]
    # security_model=none: files come home owned by whoever runs us, links as links.
    words += ["-virtfs", f"local,path={guest.share},mount_tag=share,security_model=none,multidevs=forbid"]
    for drive in guest.drives:
        words += ["-drive", f"if=virtio,{drive}"]
    return [str(word) for word in words]


def _die_with_parent():
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def boot(guest):
    """Runs the guest to its end; the console goes to share/console.log."""
    with place(), contextlib.ExitStack() as cleanup:
        words, ours, theirs = command(guest), {}, []
        complaints = cleanup.enter_context(tempfile.TemporaryFile("w+", errors="replace"))
        for name in ("console", "stdout", "stderr"):
            near, far = socket.socketpair()
            cleanup.callback(near.close)
            ours[name], fd = near, far.fileno()
            theirs.append(far)
            words += ["-chardev", f"socket,id={name},fd={fd}"]
            if name == "console":
                words += ["-serial", f"chardev:{name}"]
            else:
                words += ["-device", f"virtserialport,chardev={name},name={name}"]
        start = time.monotonic()
        try:
            qemu = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stderr=complaints,
                pass_fds=[far.fileno() for far in theirs],
                preexec_fn=_die_with_parent,
            )
        except FileNotFoundError as error:
            raise Failure(f"cannot start {words[0]}: not installed\ntry: vm/deps") from error
        cleanup.callback(_reap, qemu)
        for far in theirs:
            far.close()
        with open(guest.share / "console.log", "wb") as log:
            kind = _follow(guest, qemu, ours, log, start + guest.timeout)
        if kind == "ended" and qemu.wait() != 0:
            complaints.seek(0)
            raise Failure(f"{words[0]} failed with status {qemu.returncode}: {complaints.read().strip()}")
        return Outcome(kind, time.monotonic() - start)


def _reap(qemu):
    qemu.kill()
    qemu.wait()


def _follow(guest, qemu, streams, log, deadline):
    """Copies the streams until QEMU closes them all, the power is cut or time is up."""
    pattern = re.compile(guest.cut) if guest.cut else None
    sinks = {"console": [log], "stdout": [sys.stdout.buffer], "stderr": [sys.stderr.buffer]}
    if guest.verbose:
        sinks["console"].append(sys.stderr.buffer)
    tails, panicked = dict.fromkeys(streams, b""), False
    with selectors.DefaultSelector() as selector:
        for name, stream in streams.items():
            selector.register(stream, selectors.EVENT_READ, name)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                return "timeout"
            for key, _ in ready:
                try:
                    data = key.fileobj.recv(1 << 16)
                except ConnectionResetError:
                    data = b""
                if not data:
                    selector.unregister(key.fileobj)
                    continue
                for sink in sinks[key.data]:
                    sink.write(data)
                    sink.flush()
                *lines, tails[key.data] = (tails[key.data] + data).split(b"\n")
                for line in lines:
                    text = line.decode(errors="replace").rstrip("\r")
                    # The power goes before anything else is read: what the guest did after this line may not count.
                    if pattern and pattern.search(text):
                        qemu.kill()
                        return "cut"
                    panicked = panicked or (key.data == "console" and "Kernel panic - not syncing" in text)
    return "panic" if panicked else "ended"


def status_of(guest, outcome):
    """The exit status of a run, from the outcome and what the guest wrote; explained on stderr when it is not the script's."""
    if outcome.kind != "ended":
        reason, status = {
            "panic": ("the guest's kernel panicked", PANIC),
            "timeout": (f"no end after {guest.timeout:g} s", TIMEOUT),
            "cut": (f"power cut at a line matching {guest.cut!r}", POWER_CUT),
        }[outcome.kind]
    else:
        try:
            status = int((guest.share / "status").read_text())
        except (OSError, ValueError):
            reason, status = "the guest ended without a status", NO_STATUS
        else:
            say(f"guest ended after {outcome.seconds:.1f} s, script status {status}")
            return RESERVED_BY_SCRIPT if PANIC <= status <= HOST_FAILURE else status
    say(f"{reason} ({outcome.seconds:.1f} s)")
    if outcome.kind != "cut":
        for line in (guest.share / "console.log").read_text(errors="replace").splitlines()[-15:]:
            print(f"  console: {line.strip()}", file=sys.stderr)
    return status


def interactive(guest):
    """Boots the guest with its console on our terminal (Ctrl-A x ends it)."""
    with place():
        words = [*command(guest), "-chardev", "stdio,id=tty,mux=on,signal=off", "-serial", "chardev:tty", "-mon", "chardev=tty"]
        return subprocess.run(words, check=False, preexec_fn=_die_with_parent).returncode


def harvest(share, out):
    """Moves what the guest left in /out, and its console, into a folder of the host."""
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--", share / "console.log", out], check=True)
    if (delivered := share / "out.tar").exists():
        # tar rather than Python's: it keeps links, odd modes and unreadable names as they are.
        subprocess.run(["tar", "--numeric-owner", "--no-overwrite-dir", "-xpf", delivered, "-C", out], check=False)
