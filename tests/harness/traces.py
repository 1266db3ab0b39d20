"""Everything a run of ramline could leave on the machine, compared before and after, where other programs may be at work too.

    before = look(scratch, state)
    ...                                     # a run with --dir SCRATCH and RAMLINE_STATE_DIR=STATE
    problems = left(before, scratch, state)

What names another owner (a swap file elsewhere, a loop device over another's file, the group of another ramline that lives) is not
counted. What names none (a zram device, a loop device without a file, a setting) is ours, unless it goes away with the others:
while others of ramline are at work, `left` waits for them.
"""

import glob
import os
import re
import time
from pathlib import Path

# Files that are no settings.
TRIGGERS = ("stat_refresh", "compact_memory", "drop_caches")
# A test of this project, or one of its Rust tests.
TESTS = re.compile(r"(^|/)tests/([a-z-]+/run|attack/machine)$|/target/[\w./-]*deps/")
# How long others are waited for; and what is clean-up of theirs that no process of ramline does.
OTHERS_LIMIT, SETTLE = 300, 2
# Values that settings had before runs of ours: what others have changed and put back since.
USUAL = {}


def text(path):
    try:
        return Path(path).read_text(errors="replace")
    except OSError as error:
        return type(error).__name__


def words(pid):
    return text(f"/proc/{pid}/cmdline").split("\0")


def is_ours(pid, state):
    """Started by a ramline with this state directory, or that ramline itself."""
    try:
        return f"RAMLINE_STATE_DIR={state}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def processes():
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def started_by(state):
    """Pids, with the first words of each."""
    return {pid: words(pid)[:3] for pid in processes() if is_ours(pid, state) and alive(pid)}


def alive(pid):
    return text(f"/proc/{pid}/stat").rpartition(")")[2][1:2] not in ("Z", "X", "")


def ancestors():
    pid, found = os.getpid(), set()
    while pid > 1:
        found.add(pid)
        pid = int(text(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])
    return found


def others(state):
    """Who else makes and removes what we look at: other runs of ramline, and tests of it."""
    mine = ancestors()
    found = []
    for pid in processes():
        line = words(pid)
        ramline = os.path.basename(line[0]) == "ramline"
        if (ramline or any(TESTS.search(word) for word in line[:3])) and pid not in mine and not is_ours(pid, state):
            found.append(pid)
    return found


def look(scratch, state):
    """What there is now: by kind, by name, the value that must be the same; without what is others'."""
    def below(path):
        return path.startswith(f"{scratch}/")

    swaps = {}
    for line in text("/proc/swaps").splitlines()[1:]:
        path, kind, size, _, priority = line.split()
        if path.startswith("/dev/") or below(path):
            swaps[path] = (kind, size, priority)
    loops, queues = {}, {}
    for device in glob.glob("/sys/block/loop*"):
        file = text(f"{device}/loop/backing_file").strip()
        loops[device] = file if below(file) else "not attached by us"
        # Not attached, it has no such file. What others have attached has their read-ahead.
        if file == "FileNotFoundError" or below(file):
            queues[device] = text(f"{device}/queue/read_ahead_kb")
    groups = {}
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory"):
        for top, names, _ in os.walk(root) if os.path.isdir(root) else ():
            for name in names:
                owner = re.fullmatch(r"ramline-(\d+)-.*", name)
                lives = owner and os.path.exists(f"/proc/{owner[1]}") and not is_ours(owner[1], state)
                if "ramline" in name and not lives:
                    groups[os.path.join(top, name)] = ""
    mounts = {line: "" for line in text("/proc/mounts").splitlines() if below(line.split()[1]) or below(line.split()[0])}
    settings = {path: text(path) for path in glob.glob("/proc/sys/vm/*") if os.path.basename(path) not in TRIGGERS}
    settings |= {path: text(path) for path in [*glob.glob("/sys/module/zswap/parameters/*"), "/sys/kernel/mm/lru_gen/enabled"]}
    settings |= {path: text(path) for path in glob.glob("/sys/block/*/queue/read_ahead_kb") if not re.search(r"/(zram|loop)", path)}
    return {
        "swaps": swaps,
        "zram": {path: text(f"{path}/disksize") for path in glob.glob("/sys/block/zram*")},
        "loops": loops,
        "read-ahead": queues,
        "groups": groups,
        "mounts": mounts,
        "settings": settings,
        "files": {str(path): "" for path in Path(scratch).rglob("*")},
        "processes": started_by(state),
        "others": others(state),
    }


def differences(before, after):
    """In sentences. What has gone is forgiven where others were or are at work, whose it may have been or be."""
    found, forgiven = [], before["others"] or after["others"]
    for kind in before:
        if kind == "others":
            continue
        old, new = before[kind], after[kind]
        if kind == "read-ahead":
            old, new = ({name: one[name] for name in old.keys() & new.keys()} for one in (old, new))
        found += [f"{kind}: {name} {new[name]} is left" for name in new if name not in old]
        found += [f"{kind}: {name} is gone" for name in old if name not in new and not forgiven]
        for name in new.keys() & old.keys():
            put_back = forgiven and new[name] in USUAL.get(name, ())
            if old[name] != new[name] and not put_back:
                found.append(f"{kind}: {name} was {old[name]!r}, is {new[name]!r}")
    return found


def left(before, scratch, state):
    """What a run has left or changed, once nobody else can be the reason."""
    for kind in ("settings", "read-ahead"):
        for name, value in before[kind].items():
            USUAL.setdefault(name, set()).add(value)
    begin = time.monotonic()
    while True:
        now = look(scratch, state)
        found = differences(before, now)
        waited = time.monotonic() - begin
        if not found or waited > OTHERS_LIMIT or (waited > SETTLE and not now["others"]) or not (now["others"] or before["others"]):
            return found
        time.sleep(0.1)
