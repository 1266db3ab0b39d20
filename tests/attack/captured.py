"""Trees captured from a machine."""

import os
import re
import shutil

import hostile
from kind import NODES, QUICK, Kind, node, write
from runner import Case


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
