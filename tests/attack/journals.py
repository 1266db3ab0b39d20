"""Journals of runs that are dead."""

import json
import os
import shutil
import time
from pathlib import Path

import hostile
from kind import DEAD, NODES, Kind, node, write
from runner import MEMORY, Case


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
