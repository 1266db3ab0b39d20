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

import shlex
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

from . import schema
from .study import Refused, number

# POSIX, for any shell a host may have. du fails where it may not look: then there is no sum.
SCRIPT = r"""
echo ramline-fleet 1
awk '$3 == "kB" || $3 == "" { sub(":", "", $1); print $1, $2 }' /proc/meminfo
echo identity "$(cat /etc/machine-id 2>/dev/null || cat /proc/sys/kernel/random/boot_id)"
if sum=$(du -skx /tmp 2>/dev/null); then echo tmp_kib ${sum%%[!0-9]*}; fi
if names=$(find /tmp -xdev 2>/dev/null); then echo tmp_inodes $(echo "$names" | wc -l); fi
echo end
"""
# What it prints is some kilobytes.
MOST = 64 << 10
OF_MEMINFO = {"MemTotal": "ram_kib", "MemFree": "free_kib", "Shmem": "shared_kib", "Buffers": "buffers_kib", "Cached": "cached_kib", "MemAvailable": "available_kib",
              "SwapTotal": "swap_total_kib", "SwapFree": "swap_free_kib"}
OWN = ("tmp_kib", "tmp_inodes")


def read(text):
    """Values of what the script printed, `identity` among them; what it did not print is None."""
    first, *lines = text.splitlines() or [""]
    if first != "ramline-fleet 1":
        raise Refused(f"does not answer as asked: {first[:60]!r}")
    if not lines or lines[-1] != "end":
        raise Refused("the answer is cut off")
    said = {}
    for line in lines[:-1]:
        name, _, value = line.partition(" ")
        if name in said and (name in OF_MEMINFO or name in OWN):
            raise Refused(f"says {name} twice")
        said[name] = value
    out = {column: number(said[name], name) if name in said else None for name, column in OF_MEMINFO.items()}
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
    return {**out, "identity": said.get("identity", "")}


def ask(host, ssh, seconds):
    """What the script prints there."""
    words = [*ssh, "-o", "BatchMode=yes", "-o", f"ConnectTimeout={max(1, int(seconds))}", *place(host), "sh", "-s"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        late = threading.Event()

        def end():
            late.set()
            child.kill()

        clock = threading.Timer(seconds, end)
        clock.start()
        try:
            try:
                child.stdin.write(SCRIPT.encode())
                child.stdin.close()
            except BrokenPipeError:
                pass
            answer = child.stdout.read(MOST + 1)
            if len(answer) > MOST:
                child.kill()
                raise Refused("answers without an end")
            complaint = child.stderr.read(MOST).decode(errors="replace").strip().splitlines()
            child.wait()
        finally:
            clock.cancel()
    if late.is_set():
        raise Refused(f"no answer within {seconds:g} s")
    if child.returncode:
        raise Refused(complaint[-1][:200] if complaint else f"ssh ended with {child.returncode}")
    return answer.decode(errors="replace")


def place(host):
    """`[user@]host[:port]`, as ssh takes it: what begins with a dash is no option."""
    name, colon, port = host.rpartition(":")
    if colon and port.isdigit() and not name.endswith(":"):
        return ["-p", port, "--", name.strip("[]")]
    return ["--", host.strip("[]")]


def hosts_of(text):
    """Hosts of a file, a line each, each once."""
    words = (line.partition("#")[0].strip() for line in text.splitlines())
    return list(dict.fromkeys(word for word in words if word))


def collect(hosts, lot, ssh, seconds, at_once, say):
    """A row of each host that answers; the others are in `lot.rejected`. `say(done, failed)` after each."""
    names, pool = {}, ThreadPoolExecutor(at_once)
    try:
        waiting = {pool.submit(ask, host, shlex.split(ssh), seconds): (order, host) for order, host in enumerate(hosts, 1)}
        for done, future in enumerate(as_completed(waiting), 1):
            order, host = waiting[future]
            try:
                values = read(future.result())
                identity = values.pop("identity")
                if identity and names.setdefault(identity, host) != host:
                    raise Refused(f"is {names[identity]} under another name")
                lot.add(order, host, schema.row(host, "ssh", False, values))
            except (Refused, OSError) as why:
                lot.reject(order, host, str(why))
            say(done, len(lot.rejected))
    finally:
        # Of an interrupted run those that have answered are kept.
        pool.shutdown(wait=False, cancel_futures=True)
