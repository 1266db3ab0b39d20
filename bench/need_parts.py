"""The parts of bench/need: what runs in a group, what ramline says of it, and what is measured by hand."""

import contextlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import loads
from harness import RAMLINE, scratch
from harness.groups import Group
from harness.machine import MIB, drop, image, until

STEPS = (125, 150, 200)
SETTLED, MEASURED = 8, 10


def device_of(folder):
    """The disk that holds a mounted folder."""
    number = os.stat(folder).st_dev
    return Path(os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"))


def reads(device):
    """Requests to read, and milliseconds that they took."""
    words = (device / "stat").read_text().split()
    return int(words[0]), int(words[3])


def stat(group, key):
    return int(dict(line.split() for line in (group.path / "memory.stat").read_text().splitlines()).get(key, 0))


def used(group):
    return int((group.path / "memory.usage_in_bytes").read_text())


def set_limit(group, size):
    """In small steps, and read back."""
    while used(group) > size * 1.02:
        with contextlib.suppress(OSError):
            group.limit(int(max(size, used(group) * 0.97)) // 4096 * 4096)
        time.sleep(0.05)
    until(lambda: not failed(group, size), 20, 0.1)


def failed(group, size):
    try:
        group.limit(size)
    except OSError:
        return True
    return False


def warm(group, seconds=60):
    """Waits until it does not grow any more."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = used(group)
        time.sleep(3)
        if used(group) <= before * 1.002:
            return


def ramline(*words):
    done = subprocess.run([RAMLINE, *words, "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()}


@contextlib.contextmanager
def disk(name, size=1024 * MIB):
    """A file system on a loop device of its own, whose file is not cached."""
    with scratch(name) as folder:
        with image(folder / "at", size, "mkfs.ext4", "-q") as at:
            subprocess.run(["losetup", "--direct-io=on", f"/dev/{device_of(at).name}"], check=True)
            yield at


@contextlib.contextmanager
def reader(group, name, folder):
    """A load in a group, and its counter."""
    counter = folder / "count"
    code = "import sys; sys.path.insert(0, sys.argv[1]); import loads; loads.main_of(*sys.argv[2:])"
    words = [sys.executable, "-c", code, str(Path(__file__).parent), name, str(folder), str(counter)]
    child = subprocess.Popen(words, preexec_fn=group.enter)
    time.sleep(1)
    count = Mapped(counter)
    try:
        yield count
    finally:
        child.kill()
        child.wait()


class Mapped:
    def __init__(self, path):
        self.path = path

    def read(self):
        return int.from_bytes(self.path.read_bytes(), "little")


def per_operation(device, count, seconds):
    """Requests of the disk for each operation."""
    first = (count.read(), reads(device)[0])
    time.sleep(seconds)
    last = (count.read(), reads(device)[0])
    return (last[1] - first[1]) / max(1, last[0] - first[0])


def curve(load):
    """What is said of sizes above 64 MiB, twice, and what the disk is asked for at each."""
    name, make, _, size, reads_ahead = load
    slug = "".join(letter for letter in name if letter.isalnum())
    with disk(f"need-{slug}") as at, Group(f"need-{slug}", size * MIB) as group:
        made = make(at)
        for path in [made] if isinstance(made, Path) else list(at.iterdir()):
            if path.is_file():
                drop(path)
        with reader(group, name, at) as count:
            time.sleep(4)
            warm(group)
            device, seen, base = device_of(at), [], []
            for _ in range(2):
                seen.append(ramline("need", group.path.name, "--for", "12s"))
                base.append(per_operation(device, count, MEASURED))
            base = sum(base) / 2
            sizes = []
            for at_step, step in enumerate(STEPS):
                limit = size * MIB * step // 100
                set_limit(group, limit)
                warm(group)
                time.sleep(SETTLED)
                measured = per_operation(device, count, MEASURED) / base
                said = [answer(one, at_step + 1) for one in seen]
                sizes.append({"size": limit, "measured": measured, "said": [one.get("left") for one in said], "at_most": [one.get("at_most") for one in said]})
            row = {"name": name, "reads_ahead": reads_ahead, "answers": [one.get("answer", one) for one in seen], "sizes": sizes}
            row["knee"] = [knee(group, device, count, base, one) for one in row["answers"]]
    print(json.dumps(row), flush=True)
    return row


def answer(document, step):
    steps = document.get("steps") or []
    return steps[step] if len(steps) > step else {}


def knee(group, device, count, base, said):
    """Of a size that was named: what is left of the misses with 5 % more, and with 5 % less."""
    if not (isinstance(said, dict) and "size" in said):
        return None
    out = []
    for share in (105, 95):
        set_limit(group, said["size"] * share // 100 // 4096 * 4096)
        warm(group)
        time.sleep(SETTLED)
        out.append(per_operation(device, count, MEASURED) / base)
    return out


def curves(only):
    wanted = [load for load in loads.LOADS if only in load[0]]
    # Requests are counted, not their time: two at once do not disturb each other.
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(curve, wanted))


def cost(only):
    """Operations with `need` beside them over those without, in turn: a load that misses with each, and one that never does."""
    rows = []
    for name, size in (("misses", 64), ("hits", 400)):
        if only not in name:
            continue
        with disk(f"cost-{name}") as at, Group(f"cost-{name}", size * MIB) as group:
            drop(loads.data(at, 200 * MIB))
            with reader(group, "records" if name == "misses" else "zipf", at) as count:
                time.sleep(4)
                warm(group)
                ratios = []
                for number in range(10):
                    pair = {}
                    for what in ("with", "without") if number % 2 else ("without", "with"):
                        pair[what] = rate(group, count, what == "with")
                    ratios.append(pair["with"] / pair["without"])
                    print(name, pair, flush=True)
        rows.append({"name": name, "ratios": ratios})
    return rows


def rate(group, count, beside, seconds=8):
    child = subprocess.Popen([RAMLINE, "need", group.path.name, "--for", f"{seconds + 3}s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if beside else None
    time.sleep(1.5)
    first, begun = count.read(), time.monotonic()
    time.sleep(seconds)
    done = (count.read() - first) / (time.monotonic() - begun)
    if child:
        child.wait()
    return done


def run(part, only):
    import need_services  # noqa: PLC0415

    return {"curves": curves, "cost": cost, "trials": need_services.trials, "zram": need_services.zrams, "database": need_services.database}[part](only)
