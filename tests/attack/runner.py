"""Starts one command, waits for it at most so long, and says what is wrong with how it ended and with what it wrote."""

import json
import os
import re
import resource
import select
import signal
import time
from dataclasses import dataclass, field

MIB = 1 << 20
MEMORY = 256 * MIB
# Nothing may take the machine with it before its time is up.
CAGE = 4 << 30
KNOWN = {0, 1, 2, 3, 4, 5, 6, 7, 10}
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
PANIC = re.compile(rb"panicked at ([^\n]*?):?\n([^\n]*)")
VALUE = re.compile(r'"[^"]*"')
SCRIPT = re.compile(rb"<script.*?</script>", re.S)


@dataclass
class Case:
    """One run: the words after `ramline`, what they read, and what is to be looked at afterwards."""

    words: list
    what: str
    inputs: list = field(default_factory=list)
    limit: float = 5.0
    memory: int = MEMORY
    html: str = ""
    env: dict = field(default_factory=dict)


@dataclass
class Ended:
    """How a run ended."""

    code: int
    signal: int
    late: bool
    took: float
    memory: int
    out: bytes
    err: bytes


class Runner:
    """Runs commands one after the other; what they write goes into two files in memory that are used again and again."""

    def __init__(self, binary, env):
        self.binary = binary
        # In bytes throughout: one name must not stand there twice, as text and as bytes.
        self.env = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        self.files = [os.memfd_create(name, os.MFD_CLOEXEC) for name in ("out", "err")]
        self.running = 0
        self.peak = os.open("/proc/self/clear_refs", os.O_WRONLY)

    def run(self, case):
        # A new process begins with the highest memory of the one that starts it: forget what this one once had.
        os.pwrite(self.peak, b"5", 0)
        for number in self.files:
            os.ftruncate(number, 0)
            os.lseek(number, 0, os.SEEK_SET)
        actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)] + [(os.POSIX_SPAWN_DUP2, number, at + 1) for at, number in enumerate(self.files)]
        begin = time.monotonic()
        pid = os.posix_spawn(self.binary, [self.binary, *case.words], {**self.env, **case.env}, file_actions=actions, setsid=True)
        self.running = pid
        try:
            resource.prlimit(pid, resource.RLIMIT_AS, (CAGE, CAGE))
        except ProcessLookupError:
            pass
        handle = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        late = not poll.poll(case.limit * 1000)
        took = time.monotonic() - begin
        os.close(handle)
        # Not waited for yet, so its number is not used again: the group is its own.
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        _, status, used = os.wait4(pid, 0)
        self.running = 0
        out, err = (os.pread(number, 32 * MIB, 0) for number in self.files)
        died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return Ended(os.WEXITSTATUS(status) if not died else -1, died, late, took, used.ru_maxrss * 1024, out, err)

    def stop(self):
        if self.running:
            try:
                os.killpg(self.running, signal.SIGKILL)
            except ProcessLookupError:
                pass


def plain(data):
    """A text in which numbers and names do not make two of one failure."""
    text = data.decode("utf-8", "backslashreplace")
    text = re.sub(r"[^\x20-\x7e]+", "?", text)
    text = re.sub(r"(/[\w.\-]+)*/ramline-test-attack-[\w/.\-]*", "PATH", text)
    text = re.sub(r"(.)\1{9,}", r"\1..", text)
    return re.sub(r"\d+", "N", text)


def no_number(text):
    raise ValueError(f"{text} is no JSON")


def verb(words):
    """The command without its values."""
    out = []
    for word in words:
        word = os.fsdecode(word)
        if not re.fullmatch(r"[a-z][a-z-]{2,19}|--[a-z][a-z-]{1,19}", word) or len(out) == 4:
            break
        if not word.startswith("--") or not out:
            out.append(word)
    return " ".join(out)


def judge(case, ended):
    """What is wrong with it: pairs of what makes it one kind of failure and a line about this one."""
    wrong = []
    command = verb(case.words)
    panics = PANIC.findall(ended.err)
    for where, message in panics[:3]:
        place = re.sub(r"/rustc/\w+/", "", where.decode(errors="backslashreplace"))
        wrong.append((f"panic at {place}: {VALUE.sub('..', plain(message))[:100]}", ""))
    if not panics and (ended.code == 101 or b"panicked" in ended.err or b"RUST_BACKTRACE" in ended.err):
        wrong.append((f"exit 101 or a panic without its place: {command}", plain(ended.err[-200:])))
    if not panics and b"overflow" in ended.err:
        wrong.append((f"'overflow' on stderr: {plain(ended.err)[:120]}", ""))
    if ended.late:
        wrong.append((f"still running after {case.limit:.0f} s: {command} ({case.what})", f"{ended.memory / MIB:.0f} MiB"))
    elif ended.signal:
        wrong.append((f"killed by signal {ended.signal}: {command}: {plain(ended.err[:100])}", ""))
    elif ended.code not in KNOWN and ended.code != 101:
        wrong.append((f"exit code {ended.code}: {command}", ""))
    if ended.memory > case.memory:
        wrong.append((f"over {case.memory // MIB} MiB: {command} ({case.what})", f"{ended.memory / MIB:.0f} MiB"))
    for name, data in (("stdout", ended.out), ("stderr", ended.err)):
        if found := CONTROL.search(data):
            line = data[max(data.rfind(b"\n", 0, found.start()) + 1, found.start() - 60) : found.start()]
            wrong.append((f"raw control character on {name}: {'an argument' if line.startswith(b'error: ') else command}: after '{plain(line)[-24:]}'", f"byte {found.group().hex()} after '{plain(line)}'"))
    try:
        text = ended.out.decode()
    except UnicodeDecodeError:
        text = None
        if not ended.late and not ended.signal:
            wrong.append((f"stdout is not UTF-8: {command}", ""))
    json_asked = "--json" in case.words and (case.words[0] != "checkup" or "-" in case.words)
    if json_asked and text and not ended.late and not ended.signal and ended.code in (0, 7, 10) and "--help" not in case.words:
        try:
            json.loads(text, parse_constant=no_number)
        except (ValueError, RecursionError) as error:
            wrong.append((f"stdout of --json is no JSON: {command}: {plain(str(error).encode())[:60]}", ""))
    if case.html and os.path.isfile(case.html):
        with open(case.html, "rb") as file:
            page = file.read(32 * MIB)
        if b"</script><plant" in page or b"<plant" in SCRIPT.sub(b"", page):
            wrong.append((f"a tag from the input stands in the HTML: {command}", ""))
        if found := CONTROL.search(page.replace(b"\r", b"")):
            wrong.append((f"raw {found.group().hex()} in the HTML: {command}", plain(page[max(0, found.start() - 60) : found.start()])))
    return wrong
