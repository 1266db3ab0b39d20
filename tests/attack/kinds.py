"""What is attacked: each kind makes one mutated input and one command that reads it, and cleans up after it.

All inputs lie below the worker's own folder. Names in them point below it too, or nowhere: never at nodes of /dev or at processes that exist.
"""

import json
import os
import re
import shutil
import socket
import stat
import time
from pathlib import Path

import frames
import hostile
from runner import MEMORY, Case

SCREENS = [["show"]] + [["show", name] for name in ("memory", "tiers", "processes", "cgroups", "tmpfs", "zram", "swap", "pressure", "translate", "maps")]
# No process has such a number: the kernel's highest is 4194304.
DEAD = 4_999_999


def node(path, kind):
    """Something at `path` that is no ordinary file."""
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "socket":
            there = os.open(os.path.dirname(path), os.O_PATH)
            # The names of sockets may not be long.
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(f"/proc/self/fd/{there}/{os.path.basename(path)}")
            listener.close()
            os.close(there)
        case "folder":
            os.mkdir(path)
        case "zero" | "null" | "full":
            if os.geteuid() == 0:
                os.mknod(path, 0o644 | stat.S_IFCHR, os.makedev(1, {"null": 3, "zero": 5, "full": 7}[kind]))
            else:
                os.mkfifo(path)
        case "disk":
            # A block device no driver answers for.
            if os.geteuid() == 0:
                os.mknod(path, 0o644 | stat.S_IFBLK, os.makedev(241, 7))
        case "holes":
            with open(path, "wb") as file:
                file.truncate(8 << 30)
        case "loop":
            os.symlink(os.path.basename(path), path)
        case "dangling":
            os.symlink("nothing", path)
        case "link-to-zero":
            node(path + ".zero", "zero")
            os.symlink(path + ".zero", path)
        case "up":
            os.symlink("..", path)
        case "closed":
            with open(path, "wb") as file:
                file.write(b"1\n")
            os.chmod(path, 0)
        case "huge":
            with open(path, "wb") as file:
                file.write(b"1234567 " * (3 << 17))


NODES = ["pipe", "socket", "folder", "zero", "holes", "loop", "dangling", "link-to-zero", "up", "closed", "null", "full", "disk", "huge"]
# What waits or has no end costs whole seconds where it is not refused: each once, and then seldom.
SLOW = ["pipe", "zero", "full", "holes", "link-to-zero"]
QUICK = [kind for kind in NODES if kind not in SLOW]


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


class Place:
    """A worker's own folder."""

    def __init__(self, base):
        self.base = str(base)
        self.run = f"{self.base}/run"
        self.state = f"{self.base}/state"
        for path in (self.run, self.state):
            os.makedirs(path, mode=0o700, exist_ok=True)

    def sweep(self):
        """Removes what the last run was given and what it left."""
        with os.scandir(self.run) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)


class Kind:
    """One kind; `seldom` are the names of inputs that cost time, made once each at first and rarely after that."""

    seldom: list = []

    def __init__(self, place, bases):
        self.place, self.bases = place, bases
        self.prepare()

    def prepare(self):
        pass

    def choose(self, rng, ordinal):
        if ordinal < len(self.seldom):
            return self.seldom[ordinal]
        return rng.choice(self.seldom) if self.seldom and rng.random() < 0.001 else None

    def damage(self):
        """What the run has damaged that was none of its business."""
        return []

    def after(self):
        """Puts everything back."""

    def source(self, rng, option, path):
        """A command that reads a snapshot or a tree."""
        run = self.place.run
        out = f"{run}/out.html"
        option = [option, path]
        js = ["--json"] if rng.random() < 0.5 else []
        match rng.randrange(20):
            case 0 | 1 | 2:
                return ["explain", rng.choice(self.bases["topics"]), *option, *js], ""
            case 3 | 4 | 5 | 6:
                return ["checkup", "--quick", *option, *(["--json", "-"] if js else [])], ""
            case 7 | 8:
                return ["checkup", "--quick", *option, "--html", out], out
            case 9:
                return ["snapshot", *option, *rng.choice([[], ["--redact"]])], ""
            case 10:
                return [*rng.choice([["show", "processes", "--tree"], ["show", "processes", "--by", "user"], ["show", "tmpfs", "--files"],
                                     ["show", "maps", "--all"], ["checkup", "--quick", "--exit-code"], ["explain", "ledger.leftover"]]), *option], ""
            case _:
                return [*rng.choice(SCREENS), *option, *js], ""


class HotSet(Kind):
    """Hot sets: mostly well-formed frames with senseless records, some damaged bytes, a few bombs."""

    seldom = ["bomb-records", "bomb-line", "bomb-zeros", "bomb-short", "window", "many-files"] + [f"node-{kind}" for kind in NODES]
    # Not 8 GiB of holes: a restore would do as it is told and read them.
    nodes = ["pipe", "socket", "zero", "null", "disk", "loop", "dangling", "folder"]
    below = "field"

    def prepare(self):
        self.field = f"{self.place.base}/{self.below}"
        os.mkdir(self.field)
        for number, size in enumerate([0, 1, 5, 4096, 4097, 20000, 100000, 1 << 20, 16 << 20]):
            write(f"{self.field}/file-{number}", b"x" * size)
        for name in (b"\x1b[31mred", b"a\nb", b"\xff\xfe", b"x" * 255, b" "):
            write(os.fsencode(self.field) + b"/" + name, b"some text\n")
        os.mkdir(f"{self.field}/dir")
        os.symlink("file-5", f"{self.field}/link")
        os.symlink("dir", f"{self.field}/dirlink")
        write(f"{self.field}/dir/inner", b"y" * 9000)
        for kind in self.nodes:
            node(f"{self.field}/{kind}", kind)
        self.files = []
        for root, _, names in os.walk(os.fsencode(self.field)):
            for name in names:
                self.files.append((root + b"/" + name, os.lstat(root + b"/" + name)))
        self.plain = [pair for pair in self.files if stat.S_ISREG(pair[1].st_mode) and pair[1].st_size < 1 << 30]
        self.boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    def record(self, path, of):
        try:
            name, extra = {"path": path.decode()}, {}
        except UnicodeDecodeError:
            name, extra = {"path": path.decode(errors="replace")}, {"path_bytes": list(path)}
        return {**name, **extra, "length": of.st_size, "mtime_ns": of.st_mtime_ns, "inode": of.st_ino, "device": of.st_dev}

    def name(self, rng):
        """A name that makes no sense; never one outside of the field."""
        field = os.fsencode(self.field)
        return rng.choice([field + b"/" + b"a" * 256, field + b"/" + b"deep/" * 1000 + b"x", field + b"/" + rng.choice(hostile.NAMES).replace(b"/", b"_"),
                           b"relative", b"", b"file-3", field + b"/\0x", field + b"/dir/../file-3", field + b"//file-4", field + b"/file-4/", field,
                           field + b"/./file-3", field + b"/file-5/x", field + b"/x" * 40000, field + b"/dirlink/inner"])

    def parts(self, rng, length):
        pages = max(1, length // 4096)
        big = rng.choice([2**64 - 1, 2**63, 2**62, 2**52, 2**51, 2**40])
        return rng.choice([[], [0], [0, 1], [1, 1], [0, 0], [0, pages], [pages, 1], [0, big], [big, 1], [big, big], [0, 1, 0, 1], [0, 1, big, 1],
                           [1, 1] * rng.choice([2, 100, 5000]), [0, pages, 1, 1], [2**64 - 1, 1], [2**64 - 2, 1], [0, 2**64 - 1], [0, 2**52 + 1],
                           [-1, 1], [0, 1.5], [0, "1"], [None, 1], [0, 1, 2], [0, 10**30]])

    def make(self, rng, ordinal):
        path = f"{self.place.run}/hot"
        what = self.choose(rng, ordinal)
        if what:
            self.special(rng, what, path)
        elif rng.random() < 0.12:
            what = "bytes"
            write(path, hostile.flip(rng, self.bases["hotset"]))
        else:
            what = self.records(rng, path)
        words = rng.choice([["restore", path], ["restore", "--dry-run", path], ["restore", "--dry-run", "--json", path], ["restore", "--json", path],
                            ["restore", "--other-machine", path], ["restore", "--other-machine", "--dry-run", path],
                            ["restore", "--rate", "1GiB", "--depth", "2", "--other-machine", path],
                            ["save", "--dry-run", path, self.field], ["save", "--dry-run", "--json", path, f"{self.field}/dir"]])
        return Case(["cache", *words], what, [path])

    def records(self, rng, path):
        chosen = [self.record(*rng.choice(self.plain if rng.random() < 0.8 else self.files)) for _ in range(rng.choice([0, 1, 1, 2, 5, 30]))]
        header = {"saved_ms": int(time.time() * 1000) - 5000, "machine": None, "boot": self.boot, "up_s": 100, "page": 4096}
        done = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            one = rng.choice(chosen) if chosen else {}
            way = rng.choice(["length", "parts", "parts", "page", "name", "name", "saved", "machine", "again", "type", "field", "inode", "mtime", "none"])
            done.append(way)
            match way:
                case "length" if one:
                    one["length"] = rng.choice(hostile.NUMBERS)
                case "parts" if one:
                    one["parts"] = self.parts(rng, one.get("length", 1) if isinstance(one.get("length"), int) else 1)
                case "page":
                    header["page"] = rng.choice([0, 1, 2, 3, 512, 4095, 8192, 65536, 2**20, 2**40, 2**62, 2**63, 2**64 - 1, -1, "4096", None, 4096.0])
                case "name" if one:
                    name = self.name(rng)
                    one["path"] = name.decode(errors="replace")
                    one.pop("path_bytes", None)
                    if rng.random() < 0.4:
                        one["path_bytes"] = list(name) if rng.random() < 0.9 else [300, -1]
                case "saved":
                    header["saved_ms"] = rng.choice([0, 2**64 - 1, 2**63, int(time.time() * 1000) + 10**9, 10**16, -1, 1.5])
                    header["up_s"] = rng.choice(hostile.NUMBERS)
                case "machine":
                    header[rng.choice(["machine", "machine", "boot"])] = rng.choice(hostile.STRINGS)
                case "again" if one:
                    chosen += [one] * rng.choice([1, 10, 200])
                case "type" if one:
                    one[rng.choice(list(one))] = rng.choice([None, True, [], {}, "x", 1.5, -1])
                case "field" if one:
                    one.pop(rng.choice(list(one)))
                case "inode" if one:
                    one["inode"] = rng.choice(hostile.NUMBERS)
                    one["device"] = rng.choice(hostile.NUMBERS)
                case "mtime" if one:
                    one["mtime_ns"] = rng.choice(hostile.NUMBERS)
        if rng.random() < 0.3:
            rng.shuffle(chosen)
        write(path, self.text(rng, header, chosen, done))
        return "+".join(sorted(set(done)))

    def hot(self, header, chosen):
        """The count the reader will come to, so that it believes the set."""
        page = header.get("page")
        page = page if isinstance(page, int) else 4096
        total = 0
        for one in chosen:
            parts, length = one.get("parts"), one.get("length")
            if isinstance(parts, list) and parts and all(isinstance(number, int) for number in parts):
                pages = min(sum(parts[1::2]), 2**64 - 1)
            else:
                pages = -(-length // max(page, 1)) if isinstance(length, int) else 0
            total = min(total + min(max(pages, 0) * max(page, 0), 2**64 - 1), 2**64 - 1)
        return total

    def text(self, rng, header, chosen, done):
        header["files"], header["hot"] = len(chosen), self.hot(header, chosen)
        end = {"files": len(chosen), "hot": header["hot"]}
        if rng.random() < 0.15:
            done.append("counts")
            rng.choice([header, end])[rng.choice(["files", "hot"])] = rng.choice(hostile.NUMBERS)
        ascii_only = rng.random() < 0.5
        lines = [json.dumps(line, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") for line in
                 [{"hot_set": header}, *({"file": one} for one in chosen), {"end": end}]]
        if rng.random() < 0.25:
            done.append("json")
            at = rng.randrange(len(lines))
            lines[at] = hostile.mutate_json(rng, lines[at].decode(errors="replace"), self.strings(), rounds=rng.choice([1, 2]))[0]
        if rng.random() < 0.08:
            done.append("lines")
            at = rng.randrange(len(lines))
            match rng.randrange(5):
                case 0:
                    del lines[at]
                case 1:
                    lines[at:at] = [lines[at]] * 3
                case 2:
                    rng.shuffle(lines)
                case 3:
                    lines.append(b"more")
                case _:
                    lines[at] = rng.choice([b"", b"[" * 100000, b'{"file":' * 1000, b"{}", b"null", b'{"other":{}}', b" " * 3_000_000 + lines[at]])
        text = b"\n".join(lines) + b"\n"
        first = b"ramline hot set 1\n"
        if rng.random() < 0.05:
            done.append("version")
            first = b"ramline hot set " + rng.choice([b"+1\n", b"01\n", b"1 \n", b" 1\n", b"1\r\n", b"1", b"2\n", b"-1\n", b"4294967296\n", b"4294967295\n",
                                                       b"1" * 60 + b"\n", b"\x1b[31m\n", b"\n", "\u0661\n".encode()])
        # A checksum over much takes long here; without one a frame is as good.
        check = text if len(text) < 4000 and rng.random() < 0.5 else None
        return first + frames.frame(frames.raw(text), check)

    def strings(self):
        return [text for text in hostile.STRINGS if not text.startswith("/")]

    def special(self, rng, what, path):
        one = json.dumps({"file": self.record(*self.plain[3])}).encode() + b"\n"
        header = {"saved_ms": 1, "machine": None, "boot": self.boot, "up_s": 1, "page": 4096, "files": 1, "hot": 4096}
        head = b'{"hot_set":' + json.dumps(header).encode() + b"}\n"
        first = b"ramline hot set 1\n"
        match what:
            case "bomb-records":
                small = b'{"file":{"path":"/","length":1,"mtime_ns":0,"inode":0,"device":0}}\n'
                blocks, count = frames.again(small, 15_000_000)
                end = json.dumps({"end": {"files": count, "hot": count * 4096}}).encode() + b"\n"
                write(path, first + frames.frame(frames.raw(head) + blocks + frames.raw(end)))
            case "many-files":
                # The same file 5,000 times.
                blocks, count = frames.again(one, 5000)
                lines = one * 5000
                length = json.loads(one)["file"]["length"]
                end = json.dumps({"end": {"files": 5000, "hot": 5000 * -(-length // 4096) * 4096}}).encode() + b"\n"
                write(path, first + frames.frame(frames.raw(head + lines + end)))
            case "bomb-line":
                write(path, first + frames.frame(frames.raw(head + b'{"file":{"path":"/') + frames.same(97, 240 << 20) + frames.raw(b'"}}\n')))
            case "bomb-zeros":
                write(path, first + frames.frame(frames.same(0, 2 << 30)))
            case "bomb-short":
                blocks, _ = frames.again(b"\n", 100 << 20)
                write(path, first + frames.frame(frames.raw(head) + blocks))
            case "window":
                write(path, first + frames.frame(frames.raw(head + one), window=rng.choice([0x88, 0x90, 0xA8, 0xF8, 0x00])))
            case _:
                node(path, what.removeprefix("node-"))


class Snapshots(Kind):
    """Files of `ramline snapshot`."""

    seldom = [f"node-{kind}" for kind in NODES] + ["deep", "long", "wrong"]

    def make(self, rng, ordinal):
        path = f"{self.place.run}/snapshot.json"
        what = self.choose(rng, ordinal)
        text = rng.choice(self.bases["snapshots"])
        match what:
            case None if rng.random() < 0.05:
                what = "bytes"
                write(path, hostile.flip(rng, text.encode()))
            case None:
                data, what = hostile.mutate_json(rng, text)
                write(path, data)
            case "deep":
                write(path, rng.choice([b"[", b'{"a":']) * 1_000_000)
            case "long":
                write(path, b'{"schema_version":"' + b"a" * (40 << 20) + b'"}')
            case "wrong":
                write(path, rng.choice([b"", b"null", b"[]", b"{}", b"\0", b"\xff", b"1", b'"x"', b"{} {}"]))
            case _:
                node(path, what.removeprefix("node-"))
        words, html = self.source(rng, "--snapshot", path)
        return Case(words, what, [path], html=html)


class Trees(Kind):
    """Captured trees: the kernel's texts, names of groups, devices and processes, and meta.json. Changed in place and put back."""

    seldom = [f"node-{kind}@{where}" for kind in NODES for where in ("meta.json", "any")] + ["deep-groups", "many-entries", "loop-of-folders"]

    def prepare(self):
        self.trees = []
        self.stash = f"{self.place.base}/stash"
        os.mkdir(self.stash)
        self.undo = []
        for number, base in enumerate(self.bases["trees"]):
            to = f"{self.place.base}/trees/{number}"
            shutil.copytree(base, to, symlinks=True)
            files, folders, names = [], [], {}
            for root, dirs, found in os.walk(to):
                for name in found:
                    files.append(f"{root}/{name}")
                    names.setdefault(name, []).append(f"{root}/{name}")
                folders += [f"{root}/{name}" for name in dirs if root.count("/") > to.count("/") + 1]
            self.trees.append((to, files, folders, [name for name in names.values() if len(name) > 2], os.path.basename(base)))

    def away(self, path):
        """Takes what is at `path` away until after the run."""
        kept = None
        if os.path.lexists(path):
            kept = f"{self.stash}/{len(self.undo)}"
            os.rename(path, kept)
        self.undo.append((path, kept))

    def after(self):
        for path, kept in reversed(self.undo):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            elif os.path.lexists(path):
                os.unlink(path)
            if kept:
                os.rename(kept, path)
        self.undo = []

    def change(self, rng, path):
        if os.path.islink(path) or not os.path.isfile(path):
            return
        with open(path, "rb") as file:
            data = file.read()
        self.away(path)
        try:
            data = hostile.mutate_json(rng, data.decode())[0] if path.endswith("meta.json") and rng.random() < 0.9 else hostile.mutate_text(rng, data)
        except (ValueError, RecursionError):
            # Changed before, so that it is no JSON any more.
            data = hostile.mutate_text(rng, data)
        write(path, data)

    def make(self, rng, ordinal):
        top, files, folders, same, name = rng.choice(self.trees)
        what = self.choose(rng, ordinal)
        done = []
        if what:
            self.special(rng, what, top, files)
            done = [what]
        else:
            for _ in range(rng.choice([1, 1, 2, 3, 6])):
                way = rng.randrange(100)
                path = rng.choice(files)
                if any(path == gone or path.startswith(gone + "/") for gone, _ in self.undo):
                    continue
                if way < 65:
                    self.change(rng, path)
                    done.append("text")
                elif way < 70:
                    self.change(rng, f"{top}/meta.json")
                    done.append("meta")
                elif way < 80 and same:
                    extreme = str(rng.choice(hostile.EXTREMES)).encode() + b"\n"
                    for path in rng.choice(same):
                        if os.path.isfile(path) and not any(path == gone for gone, _ in self.undo):
                            with open(path, "rb") as file:
                                data = file.read()
                            self.away(path)
                            write(path, extreme if data.strip().isdigit() else re.sub(rb"\b\d+\b", extreme.strip(), data))
                    done.append("all")
                elif way < 86 and folders:
                    path = rng.choice(folders)
                    to = os.path.dirname(os.fsencode(path)) + b"/" + rng.choice(hostile.NAMES).replace(b"/", b"_")
                    if os.path.isdir(path) and not os.path.lexists(to) and not any(gone.startswith(path) for gone, _ in self.undo):
                        self.away(path)
                        # A copy under the new name: what is put back stays the same.
                        shutil.copytree(os.fsencode(self.undo[-1][1]), to, symlinks=True)
                        self.undo.append((os.fsdecode(to), None))
                    done.append("name")
                elif way < 91:
                    self.away(path)
                    done.append("gone")
                elif way < 95:
                    kind = rng.choice(QUICK)
                    self.away(path)
                    node(path, kind)
                    if kind == "link-to-zero":
                        self.undo.append((path + ".zero", None))
                    done.append(kind)
                else:
                    other = rng.choice(rng.choice(self.trees)[1])
                    # It may be of this very tree, and gone or a pipe by now.
                    if os.path.isfile(other):
                        with open(other, "rb") as file:
                            data = file.read(1 << 20)
                        self.away(path)
                        write(path, data)
                        done.append("other")
        words, html = self.source(rng, "--root", top)
        return Case(words, f"{'+'.join(sorted(set(done)))}", [top], html=html)

    def special(self, rng, what, top, files):
        if what.startswith("node-"):
            kind, where = what.removeprefix("node-").split("@")
            path = f"{top}/meta.json" if where == "meta.json" else rng.choice(files)
            self.away(path)
            if kind == "link-to-zero":
                self.undo.append((path + ".zero", None))
            node(path, kind)
            return
        groups = f"{top}/sys/fs/cgroup"
        if not os.path.isdir(groups):
            groups = f"{top}/sys" if os.path.isdir(f"{top}/sys") else top
        match what:
            case "deep-groups":
                path = f"{groups}/deep"
                self.undo.append((path, None))
                for _ in range(600):
                    os.mkdir(path)
                    write(f"{path}/memory.current", b"18446744073709551615\n")
                    path += "/d"
            case "many-entries":
                for below in (f"{top}/sys/block", groups, f"{top}/proc"):
                    if os.path.isdir(below):
                        for number in range(1500):
                            path = f"{below}/{number + 70000}"
                            self.undo.append((path, None))
                            os.mkdir(path)
            case "loop-of-folders":
                for below in (f"{top}/sys/block", groups, f"{top}/proc"):
                    if os.path.isdir(below):
                        self.undo.append((f"{below}/again", None))
                        os.symlink("..", f"{below}/again")


class Journals(Kind):
    """Forged journals of dead runs and what else lies in the state directory; beside it a canary that must stay as it is."""

    seldom = [f"node-{kind}@{where}" for kind in NODES for where in ("journal", "lock", "tiers.json")] + [
        "linked-journal", "many-journals", "long-journal", "long-line", "checkup"]
    CANARY = {"note": b"60\n", "data.bin": bytes(range(256)), "inner/deep": b"keep me\n"}

    def prepare(self):
        self.top = f"{self.place.base}/j"
        os.mkdir(self.top)
        self.state = f"{self.top}/state"
        self.boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self.plant()

    def plant(self):
        shutil.rmtree(f"{self.top}/canary", ignore_errors=True)
        os.makedirs(f"{self.top}/canary/inner")
        for name, data in self.CANARY.items():
            write(f"{self.top}/canary/{name}", data)

    def damage(self):
        seen, top = {}, f"{self.top}/canary"
        for root, _, names in os.walk(top):
            for path in (Path(root) / name for name in names):
                seen[os.path.relpath(path, top)] = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        if seen == self.CANARY:
            return []
        changed = sorted(name for name in seen.keys() | self.CANARY.keys() if seen.get(name) != self.CANARY.get(name))
        kinds = "set_knob" if "set_knob" in self.kinds else self.kinds
        return [(f"a file outside the state directory was changed or removed: {kinds}", f"{', '.join(changed)} by {self.kinds}")]

    def after(self):
        if self.damage():
            self.plant()
        for name in os.listdir(self.top):
            path = f"{self.top}/{name}"
            if os.path.isdir(path) and not os.path.islink(path):
                if name != "canary":
                    shutil.rmtree(path)
            else:
                os.unlink(path)

    def paths(self, rng):
        top = self.top
        return rng.choice([f"{top}/canary", f"{top}/canary/note", f"{top}/canary/note", f"{top}/canary/inner/deep", f"{top}/ramline-own",
                           f"{top}/ramline-own/file", f"{top}/ramline-link", f"{top}/ramline-link/note", f"{top}/ramline-filelink", f"{top}/nothing",
                           f"{top}/ramline-own/../canary/note", f"{top}/ramline-\x1b[31m", f"{top}/a\nb", f"{top}/" + "x" * 5000, f"{top}/\u202ex",
                           f"{top}/pipe", f"{top}/null", "relative", "", f"{top}/state/journal", f"{top}/instances/ramline-1-0", f"{top}/\0"])

    def step(self, rng):
        path = self.paths(rng)
        own = rng.choice([None, None, self.identity(path), {"device": 1, "inode": 2}])
        number = rng.choice([None, None, 70_000_000, 70_000_000, 2**32 - 1, 2**32, 1.5])
        text = rng.choice(["60", "60\n", "100", "", "\x1b[31m", "9" * 100])
        return rng.choice([
            {"kind": "make_dir", "path": path, "id": own}, {"kind": "make_tree", "path": path, "id": own}, {"kind": "make_file", "path": path, "id": own},
            {"kind": "make_tree", "path": path, "id": own}, {"kind": "make_file", "path": path, "id": own},
            {"kind": "attach_loop", "file": path, "number": number, "existing": [0, 1, 2]}, {"kind": "attach_loop", "file": path, "number": None},
            {"kind": "mount", "what": rng.choice(["none", "tmpfs", path]), "at": self.paths(rng), "fs": rng.choice(["tmpfs", "ext4", "\x1b[2J"])},
            {"kind": "enable_memory", "path": path}, {"kind": "make_cgroup", "path": path}, {"kind": "make_trace", "path": path},
            {"kind": "move_process", "pid": DEAD, "start": rng.choice([0, 1, 2**64 - 1]), "from": path, "to": self.paths(rng)},
            {"kind": "spawn_into", "group": rng.choice([None, path]), "pid": rng.choice([None, DEAD, 2**31 - 1]), "start": rng.choice([None, 1, 2**64 - 1])},
            {"kind": "hot_add_zram", "id": 70_000_000, "identity": None, "existing": list(range(100))},
            {"kind": "swap_on", "path": path, "priority": rng.choice([None, -1, 32767, 2**31]), "uuid": rng.choice(["x", "\x1b[31m", ""])},
            {"kind": "set_knob", "path": path, "before": text, "after": rng.choice(["60", "60", "100", text])},
            {"kind": "set_knob", "path": path, "before": "1000", "after": "60"},
            {"kind": "set_knob", "path": path, "before": "1000", "after": "keep me"},
            {"kind": rng.choice(["other", "", "\x1b[31m", "make_file"]), "path": path}])

    def identity(self, path):
        try:
            of = os.lstat(path)
        except (OSError, ValueError):
            return None
        return {"device": of.st_dev, "inode": of.st_ino}

    def lines(self, rng, count):
        owner = {"pid": DEAD, "start": rng.choice([1, 118951, 2**64 - 1]), "boot_id": rng.choice([self.boot, self.boot, self.boot, "other", "\x1b[31m"])}
        run = rng.choice([f"1795454528311-{DEAD}", "\x1b[31mrun", "", "x" * 3000, "\u202e", "../../x"])
        out = []
        for seq in range(count):
            step = self.step(rng)
            number = rng.choice([seq, seq, 0, 2**64 - 1])
            base = {"run": run, "owner": owner, "seq": rng.choice([seq, seq, 2**64 - 1]), "number": number,
                    "time_ms": rng.choice([1795454528311, 0, 2**64 - 1]), "phase": "intend", "step": step}
            out.append(base)
            if rng.random() < 0.5:
                out.append({**base, "seq": seq + 1, "phase": rng.choice(["done"] * 8 + ["undone", "kept", "ended", "other"])})
            if rng.random() < 0.2:
                out[-1]["note"] = rng.choice(hostile.STRINGS)
        return out

    def safe(self, line):
        """Whether a line names nothing but what lies in our own folder: it is carried out by root."""
        text = line.decode(errors="replace")
        pairs = []

        def hook(found):
            pairs.extend(found)
            return dict(found)

        try:
            json.loads(text, object_pairs_hook=hook)
        except json.JSONDecodeError:
            # Refused as a whole by any reader.
            return True
        except (ValueError, RecursionError):
            return False
        now = time.time() * 1000
        for key, value in pairs:
            # pid, start, id: of processes and devices that exist, none.
            if key == "pid" and not (value is None or isinstance(value, (str, list, dict)) or (type(value) is int and DEAD <= value < 2**31)):
                return False
            if key == "id" and type(value) in (int, float) and value < 1_000_000:
                return False
            if "zram" in text and key == "time_ms" and type(value) is int and abs(value - now) < 3_600_000:
                return False
            if "zram" in text and key == "id" and value is None:
                return False
        # A record of zram without its number goes by what is new on the machine.
        if "hot_add_zram" in text and "id" not in [key for key, value in pairs if type(value) is int]:
            return False
        strings = [value for pair in pairs for value in pair if isinstance(value, str)]
        strings += [word for _, value in pairs if isinstance(value, list) for word in value if isinstance(word, str)]
        return all(self.ours(word) for word in strings)

    def ours(self, word):
        if "/" not in word and word not in (".", ".."):
            return True
        parts, depth = os.path.join(self.place.run, word).split("/"), []
        least = self.top.split("/")[1:]
        for part in parts:
            if part == "..":
                depth = depth[:-1]
                if depth[: len(least)] != least:
                    return False
            elif part not in ("", "."):
                depth.append(part)
        return len(depth) > len(least) and depth[: len(least)] == least

    def make(self, rng, ordinal):
        os.makedirs(f"{self.state}/journal", mode=0o700)
        os.mkdir(f"{self.top}/ramline-own")
        write(f"{self.top}/ramline-own/file", b"60\n")
        os.symlink("canary", f"{self.top}/ramline-link")
        os.symlink("canary/note", f"{self.top}/ramline-filelink")
        if os.geteuid() == 0:
            node(f"{self.top}/null", "null")
        what = self.choose(rng, ordinal)
        path = f"{self.state}/journal/1795454528311-{DEAD}.jsonl"
        records = self.lines(rng, rng.choice([1, 1, 2, 3, 6]))
        self.kinds = "+".join(sorted({str(record["step"].get("kind")) for record in records if record["step"].get("kind", "").isprintable()}))
        lines = [json.dumps(record, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass") for record in records]
        if rng.random() < 0.35:
            at = rng.randrange(len(lines))
            strings = [text for text in hostile.STRINGS if "/" not in text]
            lines[at] = hostile.mutate_json(rng, json.dumps(records[at]), strings, rounds=rng.choice([1, 2]))[0]
        data = b"\n".join(lines) + b"\n"
        if rng.random() < 0.1:
            data = hostile.flip(rng, data)
        if rng.random() < 0.1:
            data += rng.choice([b"garbage\n", b"\0" * 4096 + b"\n", b"\0" * 100, b'{"run":', b"\x1b[31m\n", b"\xff\xfe\n", b"[" * 50000 + b"\n"])
        data = b"\n".join(filter(self.safe, data.split(b"\n")))
        write(path, data)
        limit, memory = 5.0, MEMORY
        words = rng.choice([["show"], ["show", "--json"], ["lab", "clean"], ["lab", "clean"], ["lab", "clean"], ["lab", "clean", "--json"], ["lab", "list"],
                            ["lab", "list", "--json"], ["lab", "report"], ["show", "tiers"], ["show", "tiers", "--json"]])
        if rng.random() < 0.15:
            which = rng.choice(["lock", "tiers.json", "tiers.json"])
            text = self.bases["tiers"] if which == "tiers.json" else json.dumps({"pid": DEAD, "start": 1, "boot_id": self.boot})
            write(f"{self.state}/{which}", hostile.mutate_json(rng, text, [text for text in hostile.STRINGS if "/" not in text])[0])
            if which == "tiers.json":
                words = rng.choice([["show", "tiers"], ["show", "tiers", "--json"], ["explain", "no-swap"], ["explain", "zram-vs-zswap"]])
        if what:
            if what.startswith("node-"):
                kind, where = what.removeprefix("node-").split("@")
                path = {"journal": path, "lock": f"{self.state}/lock", "tiers.json": f"{self.state}/tiers.json"}[where]
                if os.path.lexists(path):
                    os.unlink(path)
                node(path, kind)
                words = {"journal": rng.choice([["show"], ["lab", "clean"]]), "lock": ["lab", "clean"], "tiers.json": ["show", "tiers"]}[where]
            elif what == "linked-journal":
                os.rename(f"{self.state}/journal", f"{self.top}/elsewhere")
                os.symlink("../elsewhere", f"{self.state}/journal")
            elif what == "many-journals":
                for number in range(400):
                    write(f"{self.state}/journal/{number:013}-{DEAD}.jsonl", data)
            elif what == "long-journal":
                write(path, data * max(1, (8 << 20) // max(1, len(data))))
                words = ["show"]
            elif what == "long-line":
                write(path, b'{"run":"' + b"a" * (20 << 20) + b'"}\n')
            else:
                # It watches for some seconds, and measures with half a GiB.
                words, limit, memory = ["checkup", "--quick"], 20.0, 1 << 30
        return Case(words, f"{what or 'records'}", [self.top], limit=limit, memory=memory, env={b"RAMLINE_STATE_DIR": self.state})


class Series(Kind):
    """Folders of the raw records of a series."""

    seldom = [f"node-{kind}@{where}" for kind in NODES for where in ("series.json", "0001.json", "folder")] + ["many-records", "long-record"]

    def make(self, rng, ordinal):
        run = self.place.run
        what = self.choose(rng, ordinal)
        base = rng.choice(self.bases["series"])
        other = rng.choice(self.bases["series"]) if rng.random() < 0.3 else base
        done = []
        for name, files in (("a", base), ("b", other)):
            os.mkdir(f"{run}/{name}")
            for file, text in files.items():
                write(f"{run}/{name}/{file}", text.encode())
        records = [file for file in base if file != "series.json"]
        if what is None:
            group = rng.random() < 0.3
            state = rng.getrandbits(32)
            for file in rng.sample(records, min(len(records), 30)) if group else [rng.choice(list(base)) for _ in range(rng.choice([1, 1, 2, 4]))]:
                if group:
                    # The same change in all records, so that what sums them up meets it.
                    rng.seed(state)
                data, how = hostile.mutate_json(rng, base[file])
                if rng.random() < 0.05:
                    data, how = hostile.flip(rng, data), "bytes"
                write(f"{run}/a/{file}", data)
                done.append(how)
            if rng.random() < 0.08:
                name = rng.choice([b"\x1b[31m.json", b"9999.json", b"00001.json", b"18446744073709551616.json", b"-1.json", b"0001.json.json", b"\xff.json", b".json"])
                write(os.fsencode(run) + b"/a/" + name, rng.choice(list(base.values())).encode())
                done.append("name")
            if rng.random() < 0.05:
                os.unlink(f"{run}/a/{rng.choice(list(base))}") if os.listdir(f"{run}/a") else None
                done.append("gone")
            what = "+".join(sorted(set(done)))[:60]
        elif what == "many-records":
            for number in range(3000):
                write(f"{run}/a/{number:04}.json", base[records[0]].encode())
        elif what == "long-record":
            write(f"{run}/a/{records[0]}", b'{"format":1,"experiment":"' + b"a" * (20 << 20) + b'"}')
        else:
            kind, where = what.removeprefix("node-").split("@")
            path = f"{run}/a" if where == "folder" else f"{run}/a/{where}"
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.lexists(path):
                os.unlink(path)
            node(path, kind)
        out = f"{run}/out.html"
        folder = f"{run}/a"
        words, html = rng.choice([(["report", folder], ""), (["report", folder, "--json"], ""), (["report", folder, "--csv"], ""),
                                  (["report", folder, "--html", out], out), (["compare", folder, f"{run}/b"], ""), (["compare", f"{run}/b", folder], ""),
                                  (["compare", folder, f"{run}/b", "--json"], ""), (["compare", folder, folder, "--html", out], out),
                                  (["compare", f"{run}/b", folder, "--html", out], out), (["resume", folder, "--help"], "")])
        return Case(["lab", *words], what, [folder, f"{run}/b"], html=html)


class Reports(Kind):
    """Old reports for `checkup --compare`."""

    seldom = [f"node-{kind}" for kind in NODES]

    def prepare(self):
        self.now = f"{self.place.base}/now.json"
        write(self.now, self.bases["snapshots"][0].encode())

    def make(self, rng, ordinal):
        path = f"{self.place.run}/old.json"
        what = self.choose(rng, ordinal)
        text = rng.choice(self.bases["reports"])
        if what:
            node(path, what.removeprefix("node-"))
        elif rng.random() < 0.05:
            what = "bytes"
            write(path, hostile.flip(rng, text.encode()))
        else:
            data, what = hostile.mutate_json(rng, text)
            write(path, data)
        out = f"{self.place.run}/out.html"
        more, html = rng.choice([([], ""), ([], ""), (["--json", "-"], ""), (["--html", out], out), (["--exit-code"], "")])
        return Case(["checkup", "--quick", "--snapshot", self.now, "--compare", path, *more], what, [path, self.now], html=html)


class Lists(HotSet):
    """Lists of files for `cache stat|evict|warm --from`."""

    seldom = [f"node-{kind}" for kind in NODES] + ["many-lines", "long-line"]
    nodes = HotSet.nodes + ["holes"]
    below = "listed"

    def tame(self, line):
        """No name leads out of our folder."""
        line = line.replace(b"..", b".x")
        if line.strip().startswith(b"/") and not line.startswith(os.fsencode(self.field)):
            line = os.fsencode(self.field) + b"/" + line.strip().lstrip(b"/")
        return line

    def make(self, rng, ordinal):
        path = f"{self.place.run}/list"
        what = self.choose(rng, ordinal)
        if what == "many-lines":
            write(path, (os.fsencode(self.field) + b"/file-3\n") * 100_000)
        elif what == "long-line":
            write(path, os.fsencode(self.field) + b"/" + b"a" * (5 << 20))
        elif what:
            node(path, what.removeprefix("node-"))
        else:
            what = "lines"
            lines = [rng.choice(self.files)[0] if rng.random() < 0.5 else rng.choice([self.name(rng), rng.choice(hostile.TOKENS), rng.choice(hostile.NAMES),
                     rng.randbytes(30), b"dir", os.fsencode(self.field), b"#", b"\xef\xbb\xbf" + self.files[0][0]]) for _ in range(rng.choice([0, 1, 3, 10, 100]))]
            between = rng.choice([b"\n", b"\n", b"\0", b"\r\n", b"\n\n"])
            data = between.join(lines) + rng.choice([b"", between])
            if rng.random() < 0.2:
                data = hostile.flip(rng, data)
            write(path, b"".join(self.tame(part) if part not in (b"\n", b"\0") else part for part in re.split(rb"([\n\0])", data)))
        words = rng.choice([["stat"], ["stat"], ["stat", "--json"], ["stat", "--ndjson"], ["stat", "--du"], ["stat", "--map"], ["evict", "--dry-run"],
                            ["evict", "--dry-run", "--json"], ["warm", "--dry-run"], ["warm", "--dry-run", "--json"], ["stat", "-L"]])
        return Case(["cache", *words, "--from", path], what, [path])


class Arguments(Kind):
    """Words on the command line: every option of the real commands with senseless values; only commands that change nothing."""

    # What stands first keeps a command from doing anything; `--help` ends it before the rest is read.
    ROOTED = ("show", "explain", "snapshot", "checkup")
    BANNED = {"--install", "--uninstall", "--prove", "--full", "--tree", "--for", "--remote", "--service", "--dir", "--help", "--version", "--follow"}

    def prepare(self):
        self.field = f"{self.place.base}/arguments"
        self.fill()

    def sign(self):
        of = [os.lstat(f"{self.field}/{name}") for name in self.given if os.path.lexists(f"{self.field}/{name}")]
        return [(one.st_ino, one.st_size, one.st_mtime_ns) for one in of]

    def after(self):
        # Options that write (--html) may have been given one of ours.
        if self.sign() != self.signed:
            shutil.rmtree(self.field)
            self.fill()

    def fill(self):
        os.mkdir(self.field)
        write(f"{self.field}/file", b"x" * 9000)
        write(f"{self.field}/snapshot.json", self.bases["snapshots"][0].encode())
        write(f"{self.field}/report.json", self.bases["reports"][0].encode())
        for name, text in self.bases["series"][0].items():
            os.makedirs(f"{self.field}/series", exist_ok=True)
            write(f"{self.field}/series/{name}", text.encode())
        shutil.copytree(self.bases["trees"][0], f"{self.field}/tree", symlinks=True)
        self.given = [".", "file", "snapshot.json", "report.json", "series", "tree", *(f"series/{name}" for name in self.bases["series"][0])]
        self.signed = self.sign()

    def value(self, rng):
        """Never a name outside of our folder: some options write to what they are given."""
        way = rng.random()
        if way < 0.3:
            word = rng.choice(hostile.STRINGS).encode("utf-8", "surrogateescape")
        elif way < 0.5:
            word = str(rng.choice(hostile.NUMBERS)).encode() + rng.choice([b"", b"", b"MiB", b"KiB", b"TiB", b"EiB", b"B", b"%", b":1", b"x"])
        elif way < 0.65:
            word = rng.choice(hostile.TOKENS)
        elif way < 0.7:
            word = b"w" * 100_000
        else:
            word = rng.choice([f"{self.field}/file", f"{self.field}/snapshot.json", f"{self.field}/tree", f"{self.field}/series", f"{self.field}/report.json",
                               self.field, "1", "2", "0", "1MiB", "100ms", "user", "size", "*", "[", "**", "{a", "swap:60", "zram:60,swap:1000", "a,b,c", "-",
                               "0:0", "1:18446744073709551615", "18446744073709551615:1", "-1:-1", ":", "no-swap", "self-check", "zeros"]).encode()
        word = word.replace(b"\0", b"0").replace(b"..", b".x")
        if word.startswith(b"/") and not word.startswith(os.fsencode(self.field)):
            word = word.lstrip(b"/")
        return word[:120_000]

    def make(self, rng, ordinal):
        command, options = rng.choice(self.bases["commands"])
        words, help_only = list(command), False
        if command[0] in self.ROOTED:
            words += ["--quick"] if command[0] == "checkup" else []
            words += rng.choice([["--snapshot", f"{self.field}/snapshot.json"], ["--root", f"{self.field}/tree"]])
        elif command in (["cache", "stat"], ["lab", "list"], ["lab", "describe"], ["lab", "report"], ["lab", "compare"], ["measure"], ["lab"], ["cache"]):
            words += [f"{self.field}/file"] if command == ["cache", "stat"] else []
            words += [f"{self.field}/series"] * {"report": 1, "compare": 2}.get(command[-1], 0) if rng.random() < 0.5 else []
        elif "--dry-run" in options and command != ["cache", "pin"] and command[:2] != ["lab", "resume"]:
            words += ["--dry-run"]
            if command[0] == "cache":
                words += {"save": ["hot", self.field], "restore": []}.get(command[1], [self.field])
        else:
            words += ["--help"]
            help_only = True
        usable = [option for option in options if option not in self.BANNED]
        for _ in range(rng.choice([0, 1, 1, 2, 3, 6])):
            way = rng.random()
            if way < 0.55 and usable:
                option = rng.choice(usable).encode()
                words += rng.choice([[option], [option, self.value(rng)], [option + b"=" + self.value(rng)]])
            elif way < 0.9:
                word = self.value(rng)
                # Behind a bare `--` stands a command that would be run.
                words.append(word if word != b"--" else b"---")
            else:
                words.append(rng.choice([b"-x", b"-q", b"-L", b"-hh", b"--no-such", b"-\x1b[31m", b"--\xff", b"-", b"--json=\x1b[2J", b"--=", b"-\xc2\x9b"]))
        if rng.random() < 0.05 and not help_only:
            words[0:0] = [self.value(rng)]
        env = {}
        if rng.random() < 0.15:
            env = {rng.choice([b"COLUMNS", b"NO_COLOR", b"LANG", b"TERM", b"TZ", b"RUST_LOG", b"HOME"]): rng.choice(
                [b"0", b"1", b"-1", b"18446744073709551616", b"\x1b[31m", b"", b"99999", b"dumb", b"\xff"])}
        return Case(words, " ".join(command), [self.field], env=env)


KINDS = {"hotset": (HotSet, 4), "snapshot": (Snapshots, 3), "tree": (Trees, 6), "journal": (Journals, 2), "series": (Series, 3), "arguments": (Arguments, 3),
         "lists": (Lists, 1), "reports": (Reports, 2)}
