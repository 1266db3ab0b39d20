"""What node_exporter says of a host, from its text or from a Prometheus server that has scraped it.

It knows no /tmp that lies on the root disk: a row has its size where /tmp is a tmpfs, or where the host's textfile collector has what `TEXTFILE` makes.

>>> text = 'node_memory_MemTotal_bytes 1.024e+06\\nnode_filesystem_size_bytes{mountpoint="/tmp",fstype="tmpfs"} 8192\\n'
>>> text += 'node_filesystem_free_bytes{mountpoint="/tmp",fstype="tmpfs"} 4096\\n'
>>> row = values(samples(text))
>>> row["ram_kib"], row["tmp_kib"], row["swap_used_kib"]
(1000, 4, None)
"""

import json
import queue
import re
import threading
import urllib.parse
import urllib.request

from .study import Refused

MEMORY = {"MemTotal": "ram_kib", "MemFree": "free_kib", "Shmem": "shared_kib", "Buffers": "buffers_kib", "Cached": "cached_kib", "MemAvailable": "available_kib",
          "SwapTotal": "swap_total_kib", "SwapFree": "swap_free_kib"}
OF_TMP = ("node_filesystem_size_bytes", "node_filesystem_free_bytes", "node_filesystem_files", "node_filesystem_files_free")
OWN = ("ramline_tmp_bytes", "ramline_tmp_inodes")
# Of a server; a text has nothing else that is asked for.
SELECTORS = (f'{{__name__=~"node_memory_({"|".join(MEMORY)})_bytes"}}', f'{{__name__=~"{"|".join(OF_TMP)}",mountpoint="/tmp"}}', f'{{__name__=~"{"|".join(OWN)}"}}')
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
    sum=$(du -skx /tmp)
    echo "ramline_tmp_bytes $((${sum%%[!0-9]*} * 1024))"
    echo '# HELP ramline_tmp_inodes Inodes of /tmp in use.'
    echo '# TYPE ramline_tmp_inodes gauge'
    ones=$(find /tmp -xdev -exec printf '%.0s1' {} +)
    echo "ramline_tmp_inodes ${#ones}"
} >"$new"
chmod 644 "$new"
mv "$new" "$out"
"""


def samples(text):
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


def whole(value, name):
    """A sample as a whole number of 0 or more."""
    try:
        number = float(value)
    except ValueError:
        raise Refused(f"{name} is no number: {value[:40]!r}") from None
    if not 0 <= number < 2.0**63:
        raise Refused(f"{name} is not a size: {value}")
    return int(number)


def kib(value, name):
    """Bytes of a sample as whole KiB."""
    return whole(value, name) // 1024


def once(said, name, value):
    """Two hosts of one name would be mixed up."""
    if said.setdefault(name, value) != value:
        raise Refused(f"says {name} twice: two hosts of this name?")


def used(total, free, name, unit):
    """Of a total what is not free; None where there is no total, which statfs gives as 0 where there is no limit."""
    if total is None or free is None or whole(total, name) == 0:
        return None
    if whole(free, name) > whole(total, name):
        raise Refused(f"more of the {name} is free than there is")
    return (whole(total, name) - whole(free, name)) // unit


def values(of):
    """The columns of a host that these samples tell."""
    said = {}
    for name, labels, value in of:
        if name in OF_TMP and labels.get("mountpoint") == "/tmp" and labels.get("fstype") == "tmpfs":
            once(said, name, value)
        elif name in OWN or name.startswith("node_memory_"):
            once(said, name, value)
    out = {column: kib(said[key], key) if (key := f"node_memory_{name}_bytes") in said else None for name, column in MEMORY.items()}
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
    return out


def hosts(url, at, seconds):
    """Samples of every `instance` that a Prometheus server knew at a moment (seconds since 1970); where one of them is no sample, why. Each of three answers comes as a whole within so many seconds."""
    found = {}
    for order, selector in enumerate(SELECTORS, 1):
        query = urllib.parse.urlencode({"query": selector, "time": at})
        document = parsed(url, within(seconds, url, f"{url.rstrip('/')}/api/v1/query?{query}"))
        try:
            if document["status"] != "success":
                raise Refused(f"{url} says: {str(document.get('error', 'nothing'))[:300]}")
            series = list(document["data"]["result"])
        except (KeyError, TypeError, AttributeError):
            raise Refused(f"{url} does not answer as Prometheus does") from None
        for number, one in enumerate(series, 1):
            labels = one.get("metric") if isinstance(one, dict) else None
            name, host = (labels.get("__name__"), labels.get("instance", "")) if isinstance(labels, dict) else (None, None)
            value = one.get("value") if isinstance(one, dict) else None
            if not isinstance(host, str):
                found[f"series {number} of answer {order}"] = Refused("it has no instance that is a name")
            elif not (isinstance(name, str) and isinstance(value, list) and len(value) == 2 and isinstance(value[1], str)):
                found[host] = Refused(f"its sample of {str(name)[:60]} is none")
            elif not isinstance(found.setdefault(host, []), Refused):
                found[host].append((name, labels, value[1]))
    return found


def parsed(url, answer):
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


def within(seconds, url, address):
    """What a server answers, all of it within so many seconds: a limit for each read would never end one that sends a byte now and then."""
    answers = queue.SimpleQueue()

    def ask():
        try:
            with urllib.request.urlopen(address, timeout=2 * seconds) as answer:
                answers.put(answer.read(MOST + 1))
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
    return found
