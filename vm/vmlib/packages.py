"""Packages of any Debian suite, fetched beside this machine's own apt: nothing is installed, no system list is changed.

The mirror is the one this machine already uses; RAMLINE_VM_MIRROR and RAMLINE_VM_SECURITY_MIRROR override it (needed
where the machine is no Debian). Signatures are checked with Debian's archive keyring.

Example: Archive("trixie", "amd64").unpack("busybox-static", Path("root"))
"""

import os
import shutil
import tempfile
from pathlib import Path

from .host import CACHE, Failure, run, say

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Released suites have a security archive of this shape since Debian 11.
SECURITY = "{suite}-security"


def mirrors():
    """The main and the security mirror's addresses; the second may be None."""
    main, security = os.environ.get("RAMLINE_VM_MIRROR"), os.environ.get("RAMLINE_VM_SECURITY_MIRROR")
    if main:
        return main, security
    for line in run(["apt-get", "indextargets", "--format", "$(CREATED_BY) $(REPO_URI) $(RELEASE)"]).splitlines():
        kind, address, release = line.split(maxsplit=2)
        # Other vendors' archives have neither kind of suite name.
        if kind != "Packages" or "debian" not in address:
            continue
        if release.endswith("-security"):
            security = security or address
        elif release in ("bullseye", "bookworm", "trixie", "forky", "sid", "stable", "testing"):
            main = main or address
    if not main:
        raise Failure("no Debian mirror in this machine's apt sources\ntry: RAMLINE_VM_MIRROR=ADDRESS vm/kernels")
    return main.rstrip("/") + "/", security


class Archive:
    """One suite for one architecture, with its own lists under cache/apt."""

    def __init__(self, suite, architecture):
        self.suite, self.architecture = suite, architecture
        self.home = CACHE / "apt" / f"{suite}-{architecture}"
        self.fresh = False

    def _apt(self, *command, cwd=None):
        lists, status = self.home / "lists", self.home / "status"
        options = {
            "Dir::State": self.home,
            "Dir::State::lists": lists,
            "Dir::State::status": status,
            "Dir::Cache": self.home / "cache",
            "Dir::Etc::sourcelist": self.home / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::Etc::preferences": "-",
            "Dir::Etc::preferencesparts": "-",
            "APT::Architecture": self.architecture,
            "APT::Architectures": self.architecture,
            # The cache may stand where apt's unprivileged user cannot write.
            "APT::Sandbox::User": "root",
            "Acquire::Retries": 3,
        }
        words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        return run([command[0], *words, *command[1:]], cwd=cwd)

    def refresh(self):
        """Fetches the suite's lists, once per object."""
        if self.fresh:
            return
        for folder in ("lists/partial", "cache/archives/partial"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        (self.home / "status").touch()
        main, security = mirrors()
        trust = f"signed-by={KEYRING} " if KEYRING.exists() else ""
        trust = f"[{trust}arch={self.architecture}]"
        wanted = f"deb {trust} {main} {self.suite} main\n"
        with_security = wanted + (f"deb {trust} {security} {SECURITY.format(suite=self.suite)} main\n" if security else "")
        for sources in (with_security, wanted):
            (self.home / "sources.list").write_text(sources)
            try:
                self._apt("apt-get", "update", "-qq")
                self.fresh = True
                return
            except Failure as error:
                problem = error
        raise Failure(f"cannot read the lists of {self.suite} for {self.architecture}: {problem}")

    def real_name(self, package):
        """The package that a meta package such as linux-image-amd64 stands for; itself when it is real."""
        self.refresh()
        for line in self._apt("apt-cache", "depends", package).splitlines():
            name = line.strip().removeprefix("Depends: ")
            if line.strip().startswith("Depends: linux-image-") and name != package:
                return name
        return package

    def parts(self, package):
        """The packages a kernel is split into since Linux 7, all of one release: the image package is then empty. Else none."""
        self.refresh()
        release = package.removeprefix("linux-image-")
        wanted = {f"linux-{part}-{release}" for part in ("binary", "modules", "base")}
        depends = (line.strip().removeprefix("Depends: ") for line in self._apt("apt-cache", "depends", package).splitlines())
        return [name for name in depends if name in wanted]

    def unpack(self, package, target):
        """Downloads a package and unpacks it into a folder; its maintainer scripts never run."""
        self.refresh()
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            say(f"downloading {package} of {self.suite} for {self.architecture}")
            self._apt("apt-get", "download", "-qq", package, cwd=folder)
            (archive,) = Path(folder).glob("*.deb")
            target.mkdir(parents=True, exist_ok=True)
            run(["dpkg-deb", "-x", archive, target])
            return archive.name


def busybox(suite, architecture):
    """The path of a static busybox for an architecture, from the cache when it is there."""
    path = CACHE / "busybox" / architecture / "busybox"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            # Backports hold only what is newer than in their suite.
            Archive(suite.removesuffix("-backports"), architecture).unpack("busybox-static", Path(folder))
            found = [p for p in (Path(folder) / "bin/busybox", Path(folder) / "usr/bin/busybox") if p.exists()]
            if not found:
                raise Failure(f"busybox-static of {suite} holds no busybox\ntry: rm -r {CACHE / 'apt'}")
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found[0], path.with_suffix(".new"))
            path.with_suffix(".new").rename(path)
    return path
