"""What all packages of one build share: version, time, the tree of files to install, and tools to run."""

import gzip
import io
import os
import shutil
import subprocess
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

SUMMARY = "Explain, measure and tune memory, swap and the page cache"
DESCRIPTION = (
    "ramline shows where the memory of a Linux machine is, measures what RAM, zram, swap and the page cache cost on it, tries other settings in a "
    "sandbox, and changes settings with a way back. One static program; it sends nothing anywhere. Its services are off until they are enabled."
)
# Who builds a package for others gives an address of theirs.
MAINTAINER = f"{os.environ.get('DEBFULLNAME', 'ramline maintainers')} <{os.environ.get('DEBEMAIL', 'maintainers@ramline.invalid')}>"
LICENCE = "MIT OR Apache-2.0"
# Services that are restarted by an upgrade when they run.
SERVICES = ("ramline-record.service", "ramline-export.service")
# Pages for who changes ramline, or that only tests read.
NOT_SHIPPED = ("explain-transcripts.md",)


class Failure(Exception):
    """What is wrong, and one command to try."""

    def __init__(self, text, attempt):
        super().__init__(f"{text}\n  try: {attempt}")


def version_of(top):
    """The version of the workspace."""
    with open(top / "Cargo.toml", "rb") as file:
        return tomllib.load(file)["workspace"]["package"]["version"]


def tool(*words, package, **more):
    """Runs a program; `package` is Debian's that has it."""
    if shutil.which(words[0]) is None:
        raise Failure(f"{words[0]} is not installed", f"sudo apt-get install {package}")
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **more).stdout


@dataclass(frozen=True)
class Release:
    """One build; `folder` is scratch space."""

    top: Path
    binary: Path
    version: str
    revision: str
    date: int
    level: int
    folder: Path

    @property
    def machine(self):
        """The architecture as the kernel calls it, from the binary's header."""
        names = {62: "x86_64", 183: "aarch64", 3: "i686", 21: "ppc64le", 22: "s390x", 243: "riscv64"}
        with open(self.binary, "rb") as file:
            header = file.read(20)
        if header[:4] != b"\x7fELF":
            raise Failure(f"{self.binary} is no program", "make dist")
        return names[int.from_bytes(header[18:20], "little" if header[5] == 1 else "big")]

    def tree(self, name):
        """The files that every package installs, below a new directory; paths that differ between distributions are moved by who asked."""
        root = self.folder / name
        share, units = root / "usr/share", root / "usr/lib/systemd/system"
        put(self.binary, root / "usr/bin/ramline", 0o755)
        subprocess.run([self.binary, "generate", "man", share / "man/man1"], check=True)
        subprocess.run([self.binary, "generate", "completions", share], check=True)
        for page in sorted((share / "man/man1").iterdir()):
            compress(page)
        for unit in sorted([*self.top.glob("packaging/systemd/*.service"), *self.top.glob("packaging/systemd/*.timer")]):
            put(unit, units / unit.name)
        for users in sorted(self.top.glob("packaging/systemd/*.sysusers.conf")):
            put(users, root / "usr/lib/sysusers.d" / users.name.replace(".sysusers", ""))
        for kind in ("prometheus", "grafana"):
            for path in files(self.top / "packaging" / kind):
                put(path, share / "ramline" / kind / path.relative_to(self.top / "packaging" / kind))
        docs = share / "doc/ramline"
        for path in [self.top / "README.md", self.top / "SECURITY.md", *files(self.top / "docs")]:
            if path.suffix in (".md", ".png") and path.name not in NOT_SHIPPED:
                put(path, docs / path.relative_to(self.top))
        for path in sorted(self.top.glob("LICENSE-*")):
            put(path, docs / path.name)
        return root

    def dated(self, root):
        """Every file of a tree with this build's time and a mode that depends on no umask."""
        for path in [*root.rglob("*"), root]:
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
            os.utime(path, (self.date, self.date), follow_symlinks=False)


def users_of(root):
    """Names of the system users that a package's services run as: second words of lines of type u."""
    lines = [line.split() for path in files(root / "usr/lib/sysusers.d") for line in path.read_text().splitlines()]
    return [words[1] for words in lines if words[:1] == ["u"]]


def files(folder):
    """Every file below a folder, in order; none where it is not there."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def put(source, target, mode=0o644):
    """Copies one file, making the directories above it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def gzipped(content, level=9):
    """Without name and time in its header."""
    return gzip.compress(content, level, mtime=0)


def compress(path):
    """A file in place, as FILE.gz."""
    path.with_name(path.name + ".gz").write_bytes(gzipped(path.read_bytes()))
    path.unlink()


def tar(entries, date):
    """An uncompressed archive of (name, content or None for a directory, mode), owned by root."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, mode in entries:
            entry = tarfile.TarInfo(name)
            entry.mode, entry.mtime, entry.uname, entry.gname = mode, date, "root", "root"
            if content is None:
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def entries_of(root, below):
    """A tree as entries of [`tar`], each directory before what is in it."""
    yield below, None, 0o755
    for path in sorted(root.rglob("*")):
        name = f"{below}/{path.relative_to(root)}"
        yield (name, None, 0o755) if path.is_dir() else (name, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
