"""The Debian package, by dpkg-deb: files and scripts are few enough to be written down, and dpkg is on every Debian."""

import hashlib
import os
import shutil
import textwrap
import time

from .cargo import licences
from .release import DESCRIPTION, MAINTAINER, SERVICES, SUMMARY, Failure, compress, files, gzipped, put, tool, users_of

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "i686": "i386", "ppc64le": "ppc64el", "s390x": "s390x", "riscv64": "riscv64"}
SCRIPTS = ("postinst", "prerm", "postrm")


def deb(release, out):
    """ramline_VERSION-REVISION_ARCH.deb."""
    root = release.tree("deb")
    share, packaging = root / "usr/share", release.top / "packaging/deb"
    version, architecture = f"{release.version}-{release.revision}", ARCHITECTURES[release.machine]
    (share / "zsh/site-functions").rename(share / "zsh/vendor-completions")
    docs = share / "doc/ramline"
    for path in docs.glob("LICENSE-*"):
        path.unlink()
    put(packaging / "copyright", docs / "copyright")
    put(release.top / "CHANGELOG.md", docs / "changelog")
    compress(docs / "changelog")
    (docs / "changelog.Debian.gz").write_bytes(gzipped(changelog(release, version).encode()))
    (docs / "THIRD-PARTY-LICENSES.gz").write_bytes(gzipped(licences(release).encode()))
    put(packaging / "lintian-overrides", share / "lintian/overrides/ramline")
    release.dated(root)

    control = root / "DEBIAN"
    control.mkdir()
    units = sorted(path.name for path in (root / "usr/lib/systemd/system").glob("*"))
    for name in SCRIPTS:
        text = (packaging / name).read_text()
        words = {"UNITS": units, "USERS": users_of(root), "SERVICES": [unit for unit in SERVICES if unit in units]}
        for word, values in words.items():
            text = text.replace(f"@{word}@", " ".join(values))
        (control / name).write_text(text)
        (control / name).chmod(0o755)
    listed = [path for path in files(root) if control not in path.parents]
    (control / "md5sums").write_text("".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in listed))
    conffiles = [f"/{path.relative_to(root)}\n" for path in files(root / "etc")]
    if conffiles:
        (control / "conffiles").write_text("".join(conffiles))
    # As dpkg-gencontrol counts: KiB of each file rounded up, and one for whatever is no file.
    size = sum(-(-path.lstat().st_size // 1024) if path.is_file() and not path.is_symlink() else 1 for path in root.rglob("*") if control not in (path, *path.parents))
    (control / "control").write_text(fields(version, architecture, size))
    release.dated(control)
    path = out / f"ramline_{version}_{architecture}.deb"
    if shutil.which("dpkg-deb") is None:
        raise Failure("dpkg-deb is not installed", "sudo dnf install dpkg")
    tool("dpkg-deb", "--root-owner-group", "-Zxz", f"-z{release.level}", "--build", root, path, package="dpkg", env={**os.environ, "SOURCE_DATE_EPOCH": str(release.date)})
    return path


def fields(version, architecture, size):
    """The control file."""
    text = textwrap.fill(DESCRIPTION, 78, initial_indent=" ", subsequent_indent=" ")
    return (
        f"Package: ramline\nVersion: {version}\nSection: admin\nPriority: optional\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n"
        f"Installed-Size: {size}\nDescription: {SUMMARY}\n{text}\n"
    )


def changelog(release, version):
    """Debian's own: what the package is of. What changed in the program is in changelog.gz."""
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(release.date))
    return f"ramline ({version}) unstable; urgency=medium\n\n  * ramline {release.version}; changelog.gz says what changed.\n\n -- {MAINTAINER}  {date}\n"
