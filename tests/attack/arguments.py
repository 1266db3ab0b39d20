"""Words on the command line."""

import os
import shutil

import hostile
from kind import Kind, write
from runner import Case


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
