"""What node_exporter says of a host, from its text or from a Prometheus server that has scraped it: of a server the worst of a day, by its own max_over_time and min_over_time, some hundred hosts at a time.

It knows no /tmp that lies on the root disk: a row has its size where /tmp is a tmpfs, or where the host's textfile collector has what `TEXTFILE` makes.

>>> text = 'node_memory_MemTotal_bytes 1.024e+06\\nnode_filesystem_size_bytes{mountpoint="/tmp",fstype="tmpfs"} 8192\\n'
>>> text += 'node_filesystem_free_bytes{mountpoint="/tmp",fstype="tmpfs"} 4096\\n'
>>> row = values(samples(text))
>>> row["ram_kib"], row["tmp_kib"], row["swap_used_kib"]
(1000, 4, None)
"""

import base64
import datetime
import json
import math
import queue
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import inputs, schema
from .study import Refused
from .words import Failure

MEMORY = {"MemTotal": "ram_kib", "MemFree": "free_kib", "Shmem": "shared_kib", "Buffers": "buffers_kib", "Cached": "cached_kib", "MemAvailable": "available_kib",
          "SwapTotal": "swap_total_kib", "SwapFree": "swap_free_kib"}
OF_TMP = ("node_filesystem_size_bytes", "node_filesystem_free_bytes", "node_filesystem_files", "node_filesystem_files_free")
OWN = ("ramline_tmp_bytes", "ramline_tmp_inodes")
INFO = "ramline_machine_info"
# Counters, the column of each, and how many of its unit a sample has.
GROWS = {"node_vmstat_oom_kill": ("kills", 1), "node_pressure_memory_waiting_seconds_total": ("waited_us", 1_000_000), "node_pressure_memory_stalled_seconds_total": ("stalled_us", 1_000_000)}
CLOCKS = ("node_time_seconds", "node_boot_time_seconds")
# Not of node_exporter: the seconds in which counters have grown.
SPAN = "ramline:span"
TMP = 'mountpoint="/tmp"'
# What a server is asked of a day: the function, the metric and a label it must have. The least of what is free, the most of the rest.
LEAST = ("MemFree", "MemAvailable", "SwapFree")
ASKED = [("min_over_time" if name in LEAST else "max_over_time", f"node_memory_{name}_bytes", "") for name in MEMORY]
ASKED += [("min_over_time" if "free" in name else "max_over_time", name, TMP) for name in OF_TMP] + [("max_over_time", name, "") for name in OWN]
ASKED += [("last_over_time", INFO, ""), *(("increase", name, "") for name in GROWS)]
# Hosts at a time: of some thousand samples of each of them a server has room for (its --query.max-samples is 50 million).
AT_ONCE = 200
TOO_MANY = re.compile(r"too many samples|larger than|exceed|limit", re.IGNORECASE)
SAMPLE = re.compile(r"^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$")
LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"')
MOST = 256 << 20
# Run by a timer on each host: its output, renamed into place, is a file of the textfile collector.
TEXTFILE = r"""#!/bin/sh
# How much lies in /tmp, for node_exporter's textfile collector: run it as root, every some minutes, with --collector.textfile.directory as its argument.
set -eu
out=$1/ramline_tmp.prom
# A file that no other may have made, with a name that the collector passes over.
new=$(mktemp "$1/.ramline_tmp.XXXXXXXX")
trap 'rm -f "$new"' EXIT
{
    echo '# HELP ramline_tmp_bytes Files in /tmp as du counts them, in bytes.'
    echo '# TYPE ramline_tmp_bytes gauge'
    sum=$(du -skx /tmp/. | tail -n 1)
    echo "ramline_tmp_bytes $((${sum%%[!0-9]*} * 1024))"
    hash() { printf 'ramline-fleet %s' "$1" | sha256sum | cut -c1-16; }
    boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || true)
    machine=$(cat /etc/machine-id 2>/dev/null || true)
    echo '# HELP ramline_machine_info Which machine this is: hashes of its boot and of its machine-id.'
    echo '# TYPE ramline_machine_info gauge'
    echo "ramline_machine_info{boot=\"${boot:+$(hash "$boot")}\",machine=\"${machine:+$(hash "$machine")}\"} 1"
    echo '# HELP ramline_tmp_inodes Inodes of /tmp in use.'
    echo '# TYPE ramline_tmp_inodes gauge'
    ones=$(find /tmp/. -xdev -exec printf '%.0s1' {} +)
    echo "ramline_tmp_inodes ${#ones}"
} >"$new"
chmod 644 "$new"
mv "$new" "$out"
"""


def samples(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Name, labels and value of each line; comments are passed over, what is no number is refused."""
    out = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        found = SAMPLE.match(line.strip())
        if not found:
            raise Refused(f"no line of metrics: {line[:60]!r}")
        out.append((found[1], dict(LABEL.findall(found[2] or "")), found[3]))
    return out


def whole(value: str, name: str) -> int:
    """A sample as a whole number of 0 or more."""
    try:
        number = float(value)
    except ValueError:
        raise Refused(f"{name} is no number: {value[:40]!r}") from None
    if not 0 <= number < 2.0**63:
        raise Refused(f"{name} is not a size: {value}")
    return int(number)


def kib(value: str, name: str) -> int:
    """Bytes of a sample as whole KiB."""
    return whole(value, name) // 1024


def once(said: dict[str, str], name: str, value: str) -> None:
    """Two hosts of one name would be mixed up."""
    if said.setdefault(name, value) != value:
        raise Refused(f"says {name} twice: two hosts of this name?")


def used(total: str | None, free: str | None, name: str, unit: int) -> int | None:
    """Of a total what is not free; None where there is no total, which statfs gives as 0 where there is no limit."""
    if total is None or free is None or whole(total, name) == 0:
        return None
    if whole(free, name) > whole(total, name):
        raise Refused(f"more of the {name} is free than there is")
    return (whole(total, name) - whole(free, name)) // unit


def values(of: Any) -> dict[str, Any]:
    """The columns of a host that these samples tell; `machine`, the key of `names`; `over_time`, what its memory did, and `boot`, of which boot that is."""
    if isinstance(of, Refused):
        raise of
    said: dict[str, str] = {}
    key = None
    for name, labels, value in of:
        if name in OF_TMP and labels.get("mountpoint") == "/tmp" and labels.get("fstype") == "tmpfs":
            once(said, name, value)
        elif name == INFO:
            found = [labels.get(part, "") for part in ("boot", "machine")]
            if re.fullmatch("[0-9a-f]{16}", found[0]) and re.fullmatch("([0-9a-f]{16})?", found[1]):
                key = ".".join(filter(None, found))
        elif name in OWN or name in GROWS or name in CLOCKS or name == SPAN or name.startswith("node_memory_"):
            once(said, name, value)
    out: dict[str, Any] = {column: kib(said[metric], metric) if (metric := f"node_memory_{name}_bytes") in said else None for name, column in MEMORY.items()}
    if not out["ram_kib"]:
        raise Refused("says nothing of its RAM")
    if out["free_kib"] is not None and out["free_kib"] > out["ram_kib"]:
        raise Refused("more is free than there is")
    size, free, files, files_free = (said.get(name) for name in OF_TMP)
    own, inodes = (said.get(name) for name in OWN)
    out["tmp_kib"] = kib(own, OWN[0]) if own else used(size, free, "size of /tmp", 1024)
    out["tmp_inodes"] = whole(inodes, OWN[1]) if inodes else used(files, files_free, "inodes of /tmp", 1)
    # Where the exporter knows a tmpfs there; that it knows none may be because it was told to pass it over.
    out["tmp_in_ram"] = 1 if size else None
    total, left = out["swap_total_kib"], out["swap_free_kib"]
    out["swap_used_kib"] = None if None in (total, left) else total - left
    if None not in (total, left) and left > total:
        raise Refused("more swap is free than there is")
    schema.possible(out)
    return out | {"machine": key} | over_time(said, key)


def over_time(said: dict[str, str], key: str | None) -> dict[str, Any]:
    """What counters have grown by: of a server on a day, of a text since a boot that is known."""
    grown = {column: math.ceil(float(said[name]) * unit - 0.5) for name, (column, unit) in GROWS.items() if name in said and whole(said[name], name) >= 0}
    if SPAN in said:
        return {"boot": None, "over_time": grown | {"uptime_s": whole(said[SPAN], SPAN)} if grown else {}}
    clocks = [float(said[name]) for name in CLOCKS if name in said and whole(said[name], name) >= 0]
    if not key or len(clocks) < 2 or clocks[0] <= clocks[1]:
        return {"boot": None, "over_time": {}}
    return {"boot": key, "over_time": grown | {"uptime_s": int(clocks[0] - clocks[1])} if grown else {}}


def authority(args: Any) -> dict[str, str]:
    """The headers that say who asks. Secrets are in files: a command line is there for all to read."""
    out: dict[str, str] = {}
    for header in args.header:
        name, colon, value = header.partition(":")
        if not (colon and re.fullmatch(r"[A-Za-z0-9-]+", name.strip()) and value.strip().isprintable()):
            raise Failure(f"{header!r} is no header", "--header 'X-Scope-OrgID: tenant'")
        out[name.strip()] = value.strip()
    if bool(args.user) != bool(args.password_file) or args.user and args.bearer_file:
        raise Failure("a server takes a user with a password, or a token", "--user NAME --password-file FILE, or --bearer-file FILE")
    if args.user:
        out["Authorization"] = basic(args.user, secret(args.password_file))
    if args.bearer_file:
        out["Authorization"] = f"Bearer {secret(args.bearer_file)}"
    return out


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def secret(file: str) -> str:
    """The first line of a file."""
    try:
        found = inputs.text(file, 1 << 16).split("\n")[0].removesuffix("\r")
    except OSError as error:
        raise Failure(f"cannot read {file}: {error}", f"ls -l {file}") from error
    if not (found.isascii() and found.isprintable() and found):
        raise Failure(f"the first line of {file} is no password and no token", "a file with it alone")
    return found


class Server:
    """A Prometheus server, or what answers like one. Each answer comes as a whole within `seconds`."""

    def __init__(self, url: str, seconds: float, headers: dict[str, str]) -> None:
        try:
            found = urllib.parse.urlsplit(url)
            place = f"{found.hostname or ''}:{found.port}" if found.port else found.hostname or ""
        except ValueError as error:
            raise Refused(f"{url} is no address: {error}") from None
        if found.scheme not in ("http", "https") or not place:
            raise Refused(f"{found.scheme or 'nothing'}:// is no address of a server")
        if ":" in (found.hostname or ""):
            place = f"[{found.hostname}]" + (f":{found.port}" if found.port else "")
        # A password in the address is not shown.
        self.url, self.seconds, self.headers = f"{found.scheme}://{place}{found.path.rstrip('/')}", seconds, dict(headers)
        if found.username:
            self.headers.setdefault("Authorization", basic(urllib.parse.unquote(found.username), urllib.parse.unquote(found.password or "")))

    def ask(self, query: str, at: float) -> list[Any]:
        """The series of an answer."""
        request = urllib.request.Request(f"{self.url}/api/v1/query", data=urllib.parse.urlencode({"query": query, "time": at}).encode())
        # Not for another server that this one names instead of answering.
        for name, value in self.headers.items():
            request.add_unredirected_header(name, value)
        document = parsed(self.url, within(self.seconds, self.url, request))
        try:
            if document["status"] != "success":
                raise Refused(f"{self.url} says: {str(document.get('error', 'nothing'))[:300]}")
            return list(document["data"]["result"])
        except (KeyError, TypeError, AttributeError):
            raise Refused(f"{self.url} does not answer as Prometheus does") from None


def labels_of(one: Any) -> dict[str, Any]:
    found = one.get("metric") if isinstance(one, dict) else None
    return found if isinstance(found, dict) else {}


def hosts(server: Server, day: str, peaks: bool, say: Callable[[str], None]) -> Iterator[tuple[dict[str, Any], list[tuple[str, str]]]]:
    """Samples of every `instance` that the server knew on a day (UTC), some hundred at a time, or, without `peaks`, at the end of it; where one of them is no sample, why. Beside the last of them targets
    that no scrape of that day reached."""
    midnight = datetime.datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
    end = min(midnight + 86_399, time.time())
    span = max(1, int(end - midnight))
    names, broken, jobs = dict[str, None](), dict[str, Any](), set()
    for number, one in enumerate(server.ask(f"group by (instance, job) (last_over_time(node_memory_MemTotal_bytes[{span}s]))", end), 1):
        labels = labels_of(one)
        host = labels.get("instance", "" if labels else None)
        if isinstance(host, str) and not host.isprintable():
            broken[host] = Refused("the host has no name that can be shown")
        elif isinstance(host, str):
            names[host] = None
            jobs.add(labels.get("job"))
        else:
            broken[f"series {number}"] = Refused("it has no instance that is a name")
    if broken:
        yield broken, []
    every = list(names)
    for start in range(0, len(every), AT_ONCE):
        some = every[start : start + AT_ONCE]
        found: dict[str, Any] = {host: [(SPAN, {}, str(span))] if peaks else [] for host in some}
        for function, metric, label in ASKED:
            if not peaks and function == "increase":
                continue
            for series in batched(server, function if peaks else "last_over_time", metric, label, some, span if peaks else min(span, 300), end):
                add(found, metric, series)
        yield found, []
        say(f"{start + len(some)} of {len(every)} hosts asked")
    if every:
        yield {}, down(server, span, end, jobs, names)


def batched(server: Server, function: str, metric: str, label: str, hosts: list[str], span: int, end: float) -> list[Any]:
    """What a function of a metric is for these hosts; in halves where that is more than the server gives at once."""
    matcher = ",".join(filter(None, [label, "instance=~" + json.dumps("|".join(map(re.escape, hosts)), ensure_ascii=False)]))
    try:
        return server.ask(f"{function}({metric}{{{matcher}}}[{span}s])", end)
    except Refused as why:
        if len(hosts) < 2 or not TOO_MANY.search(str(why)):
            raise
        middle = len(hosts) // 2
        return [one for half in (hosts[:middle], hosts[middle:]) for one in batched(server, function, metric, label, half, span, end)]


def add(found: dict[str, Any], metric: str, one: Any) -> None:
    """A series to its host."""
    labels = labels_of(one)
    host, name = labels.get("instance", ""), labels.get("__name__", metric)
    value = one.get("value") if isinstance(one, dict) else None
    if not isinstance(host, str) or host not in found or isinstance(found[host], Refused):
        return
    if name != metric or not (isinstance(value, list) and len(value) == 2 and isinstance(value[1], str)):
        found[host] = Refused(f"its sample of {str(name)[:60]} is none")
    else:
        found[host].append((metric, labels, value[1]))


def down(server: Server, span: int, end: float, jobs: set[Any], found: Iterable[str]) -> list[tuple[str, str]]:
    """Targets of the jobs that have hosts that were up at no moment of that time."""
    out = []
    for one in server.ask(f"max_over_time(up[{span}s])", end):
        labels, value = labels_of(one), one.get("value") if isinstance(one, dict) else None
        host = labels.get("instance")
        if isinstance(host, str) and host not in found and labels.get("job") in jobs and isinstance(value, list) and value[-1:] == ["0"]:
            out.append((host, "is down: no scrape of that day reached it (up is 0)"))
    return out


def parsed(url: str, answer: bytes) -> Any:
    """A document of a server."""
    if len(answer) > MOST:
        raise Refused(f"{url} answers more than {MOST >> 20} MiB")
    try:
        # A number of some thousand digits is no size, and takes nothing from the others.
        return json.loads(answer.decode(errors="replace"), parse_int=lambda digits: int(digits) if len(digits) < 40 else float("inf"))
    except RecursionError:
        raise Refused(f"{url} does not answer as Prometheus does: its document is nested without an end") from None
    except ValueError as error:
        raise Refused(f"{url} cannot be asked: {error}") from None


def within(seconds: float, url: str, address: urllib.request.Request) -> bytes:
    """What a server answers, all of it within so many seconds: a limit for each read would never end one that sends a byte now and then."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def ask() -> None:
        try:
            with urllib.request.urlopen(address, timeout=2 * seconds) as answer:
                answers.put(answer.read(MOST + 1))
        except urllib.error.HTTPError as error:
            said = error.read(1 << 16)
            # Prometheus says what is wrong in a document of its own.
            answers.put(said if said.startswith(b'{"status"') else Refused(f"{url} cannot be asked: {error}" + (" (it wants to know who asks: --user or --bearer-file)" if error.code in (401, 403) else "")))
        except Exception as error:  # whatever a server makes of it
            answers.put(Refused(f"{url} cannot be asked: {error}"))

    # Left to itself when it is late: it ends with this process.
    threading.Thread(target=ask, daemon=True).start()
    try:
        found = answers.get(timeout=seconds)
    except queue.Empty:
        raise Refused(f"{url}: no whole answer within {seconds:g} s") from None
    if isinstance(found, Refused):
        raise found
    return bytes(found)
