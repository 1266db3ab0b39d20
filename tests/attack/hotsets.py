"""Hot sets, and lists of files."""

import json
import os
import re
import stat
import time
from pathlib import Path

import frames
import hostile
from kind import NODES, Kind, node, write
from runner import Case


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
