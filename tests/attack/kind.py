"""What every kind has: a folder of its own, nodes that are no ordinary files, and a choice of what to damage."""

import os
import shutil
import socket
import stat

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


class WorkFolder:
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
