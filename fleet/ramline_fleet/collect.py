"""Hosts asked over ssh, many at once: one shell script on each, which reads /proc/meminfo and looks how much lies in /tmp.

A host that does not answer, is too slow, or says what cannot be is named with the reason and has no row. What a host cannot tell (who may not look into all
of /tmp has no sum of it) is unknown.

>>> read("ramline-fleet 1\\nMemTotal 1000\\nMemFree 300\\nSwapTotal 0\\nSwapFree 0\\ntmp_kib 16\\nend\\n")["free_kib"]
300
>>> read("ramline-fleet 1\\nMemTotal 1000\\nMemFree 3000\\nend\\n")
Traceback (most recent call last):
...
ramline_fleet.study.Refused: more is free than there is
"""

import contextlib
import os
import re
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from . import names, schema
from .store import Ingest
from .study import Refused, number

# POSIX, for any shell a host may have. /tmp/. is what /tmp leads to, where it is a link. What vanishes while it is looked at is no error; where it may not look there is no sum. What takes too long is
# ended there too, where there is a `timeout`.
SCRIPT = r"""
LC_ALL=C; export LC_ALL
echo ramline-fleet 1
awk '$3 == "kB" || $3 == "" { sub(":", "", $1); print $1, $2 }' /proc/meminfo
echo boot "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
echo machine "$(cat /etc/machine-id 2>/dev/null)"
limit=$(command -v timeout >/dev/null 2>&1 && timeout 1 true 2>/dev/null && echo "timeout @SECONDS@")
$limit du -skx /tmp/. 2>&1 | awk '/fts_read/ { bad = 1 } /^[0-9]+[ \t]/ { sum = $1; next } !/No such file or directory$/ { bad = 1 } END { if (!bad && sum != "") print "tmp_kib", sum }'
$limit find /tmp/. -xdev -exec printf '1\n%.0s' {} + 2>&1 | awk '/^1$/ { sum++; next } !/No such file or directory$/ { bad = 1 } END { if (!bad && sum) print "tmp_inodes", sum }'
case $(df -P -T /tmp/. 2>/dev/null | awk 'NR == 2 { print $2 }') in tmpfs) echo tmp_in_ram 1 ;; ?*) echo tmp_in_ram 0 ;; esac
echo end
"""
# What it prints is some kilobytes.
MOST = 64 << 10
# Whether it has ended is looked at after so many seconds without a word.
LOOK = 0.1
OF_MEMINFO = {"MemTotal": "ram_kib", "MemFree": "free_kib", "Shmem": "shared_kib", "Buffers": "buffers_kib", "Cached": "cached_kib", "MemAvailable": "available_kib",
              "SwapTotal": "swap_total_kib", "SwapFree": "swap_free_kib"}
OWN = ("tmp_kib", "tmp_inodes", "tmp_in_ram")


def read(text: str) -> dict[str, Any]:
    """Values of what the script printed, `machine` among them, the key of `names`; what it did not print is None. What a host greets with stands before it."""
    lines = text.splitlines() or [""]
    if "ramline-fleet 1" not in lines:
        raise Refused(f"does not answer as asked: {lines[0][:60]!r}")
    lines = lines[lines.index("ramline-fleet 1") + 1 :]
    if not lines or lines[-1] != "end":
        raise Refused("the answer is cut off")
    said: dict[str, str] = {}
    for line in lines[:-1]:
        name, _, value = line.partition(" ")
        if name in said and (name in OF_MEMINFO or name in OWN):
            raise Refused(f"says {name} twice")
        said[name] = value
    out: dict[str, Any] = {column: number(said[name], name) if name in said else None for name, column in OF_MEMINFO.items()}
    out |= {name: number(said[name], name) if name in said else None for name in OWN}
    total, free, swap, swap_free = (out[name] for name in ("ram_kib", "free_kib", "swap_total_kib", "swap_free_kib"))
    if not total:
        raise Refused("a host without RAM")
    if free is None or free > total or (out["available_kib"] or 0) > total:
        raise Refused("more is free than there is")
    if swap is not None and swap_free is not None:
        if swap_free > swap:
            raise Refused("more swap is free than there is")
        out["swap_used_kib"] = swap - swap_free
    schema.possible(out)
    return {**out, "machine": names.key(said.get("boot", ""), said.get("machine"))}


def ask(host: str, ssh: list[str], seconds: int, stop: threading.Event) -> str:
    """What the script prints there."""
    words = [*ssh, "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o", f"ConnectTimeout={int(seconds) + 1}", *place(host), "sh", "-s"]
    # Whatever ssh has started holds a pipe open; a file is read as far as it is written.
    with tempfile.TemporaryFile() as complaints, subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, start_new_session=True) as child:
        try:
            assert child.stdin
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(SCRIPT.replace("@SECONDS@", str(seconds)).encode())
                child.stdin.close()
            answer = heard(child, time.monotonic() + seconds, stop)
            late = child.poll() is None
        finally:
            if child.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
        complaints.seek(0)
        complaint = complaints.read(MOST).decode(errors="replace").strip().splitlines()
    if stop.is_set() and not answer.endswith(b"\nend\n"):
        raise Refused("was not waited for")
    # Of one that does not end a whole answer is an answer.
    if late and not answer.endswith(b"\nend\n"):
        raise Refused(f"no answer within {seconds:g} s")
    if child.returncode and not late:
        raise Refused(complaint[-1][:200] if complaint else f"ssh ended with {child.returncode}")
    return answer.decode(errors="replace")


def heard(child: Any, deadline: float, stop: threading.Event) -> bytes:
    """What it prints until it ends or is late. The end of the pipe is not waited for: a process that has left the session (as a ProxyCommand may) can hold it open."""
    pipe, out, poll = child.stdout.fileno(), bytearray(), select.poll()
    os.set_blocking(pipe, False)
    poll.register(pipe, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0 and not stop.is_set():
        ended = child.poll() is not None
        if not ended:
            poll.poll(min(left, LOOK) * 1000)
        try:
            while piece := os.read(pipe, MOST):
                out += piece
                if len(out) > MOST:
                    raise Refused("answers without an end")
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, deadline - time.monotonic()))
            break
        except BlockingIOError:
            if ended:
                break
    return bytes(out)


def place(host: str) -> list[str]:
    """`[user@]host[:port]` as ssh takes it: what begins with a dash is no option. An address with colons has a port only behind brackets.

    >>> place("root@web1:2222"), place("2001:db8::1"), place("root@[2001:db8::1]:22")
    (['-p', '2222', '--', 'root@web1'], ['--', '2001:db8::1'], ['-p', '22', '--', 'root@2001:db8::1'])
    """
    user, at, rest = host.rpartition("@")
    found = re.fullmatch(r"\[([^]]*)\](?::(\d+))?", rest) or re.fullmatch(r"([^:]*)(?::(\d+))?", rest)
    name, port = found.groups() if found else (rest, None)
    return [*(["-p", port] if port else []), "--", f"{user}{at}{name}"]


def hosts_of(text: str) -> list[str]:
    """Hosts of a file, a line each, each once."""
    words = (line.partition("#")[0].strip() for line in text.splitlines())
    return list(dict.fromkeys(word for word in words if word))


def collect(hosts: list[str], lot: Ingest, ssh: list[str], seconds: int, at_once: int, say: Callable[[int, int], None]) -> None:
    """A row of each host that answers; the others are in `lot.rejected`. `say(done, failed)` after each."""
    pool, answers, stop = ThreadPoolExecutor(at_once), list[tuple[int, str, dict[str, Any]]](), threading.Event()
    try:
        waiting = {pool.submit(ask, host, ssh, seconds, stop): (order, host) for order, host in enumerate(hosts, 1)}
        for done, future in enumerate(as_completed(waiting), 1):
            order, host = waiting[future]
            try:
                answers.append((order, host, read(future.result())))
            except (Refused, OSError, ValueError) as why:
                lot.reject(order, host, str(why))
            say(done, len(lot.rejected))
    finally:
        # Of an interrupted run those that have answered are kept.
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        take(answers, lot)


def take(answers: list[tuple[int, str, dict[str, Any]]], lot: Ingest) -> None:
    """Their rows. A machine under two names has the one that stands first in the list, whichever answered first, or the one that the store knows (`names`).

    >>> from .store import Ingest
    >>> lot = Ingest("nowhere", "2026-11-25", names=names.Names(None))
    >>> take([(2, "root@web1", {"machine": "1.a"}), (1, "web1", {"machine": "1.a"}), (3, "clone", {"machine": "2.a"})], lot)
    >>> sorted(lot.taken), lot.other_names
    (['clone', 'web1'], [(2, 'root@web1', 'web1')])
    """
    for order, host, values in sorted(answers, key=lambda answer: answer[0]):
        key = values.pop("machine")
        try:
            lot.add(order, host, schema.row(host, "ssh", False, values, key), key=key)
        except (Refused, ValueError) as why:
            lot.reject(order, host, str(why))
