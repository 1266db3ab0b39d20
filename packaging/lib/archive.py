"""The static tarball: one directory with the program, its pages and units, for a machine of any distribution."""

from .cargo import licences
from .release import entries_of, gzipped, put, tar


def tarball(release, out):
    """ramline-VERSION-ARCH-linux.tar.gz."""
    root = release.tree("tar")
    (root / "usr/share/doc/ramline/THIRD-PARTY-LICENSES").write_text(licences(release))
    put(release.top / "CHANGELOG.md", root / "usr/share/doc/ramline/CHANGELOG.md")
    put(release.top / "packaging/tar/INSTALL", root / "INSTALL")
    name = f"ramline-{release.version}-{release.machine}-linux"
    path = out / f"{name}.tar.gz"
    path.write_bytes(gzipped(tar(entries_of(root, name), release.date), release.level))
    return path
