"""The RPM package, by rpmbuild from the tree of files. The name of the builder's machine and the time are not in it."""

import os
import shutil
import textwrap
import time

from .cargo import licences
from .release import DESCRIPTION, LICENCE, SERVICES, SUMMARY, compress, files, put, tool, users_of

DEFINES = {
    "_buildhost": "reproducible", "use_source_date_epoch_as_buildtime": "1", "source_date_epoch_from_changelog": "0",
    "clamp_mtime_to_source_date_epoch": "1", "_build_id_links": "none", "debug_package": "%{nil}", "__os_install_post": "%{nil}",
    }


def rpm(release, out):
    """ramline-VERSION-REVISION.ARCH.rpm."""
    root = release.tree("rpm")
    docs = root / "usr/share/doc/ramline"
    licence = root / "usr/share/licenses/ramline"
    licence.mkdir(parents=True)
    for path in docs.glob("LICENSE-*"):
        path.rename(licence / path.name)
    (licence / "THIRD-PARTY-LICENSES").write_text(licences(release))
    put(release.top / "CHANGELOG.md", docs / "CHANGELOG.md")
    compress(docs / "CHANGELOG.md")
    release.dated(root)
    units = sorted(path.name for path in (root / "usr/lib/systemd/system").glob("*"))
    listed = []
    for path in files(root):
        name = f"/{path.relative_to(root)}"
        kind = "%doc " if "/share/doc/" in name else "%license " if "/share/licenses/" in name else "%config(noreplace) " if name.startswith("/etc/") else ""
        listed.append(kind + name)
    owned = [path for path in sorted(root.rglob("*")) if path.is_dir() and "ramline" in path.relative_to(root).parts]
    listed += [f"%dir /{path.relative_to(root)}" for path in owned]
    replaced = {
        "VERSION": release.version, "REVISION": release.revision, "SUMMARY": SUMMARY, "LICENCE": f"({LICENCE}) AND LGPL-2.1-or-later",
        "DESCRIPTION": textwrap.fill(DESCRIPTION, 78), "TREE": str(root), "FILES": "\n".join(listed), "UNITS": " ".join(units), "USERS": " ".join(users_of(root)),
        "SERVICES": " ".join(unit for unit in SERVICES if unit in units),
        "DATE": time.strftime("%a %b %d %Y", time.gmtime(release.date)),
    }
    text = (release.top / "packaging/rpm/ramline.spec").read_text()
    for name, value in replaced.items():
        text = text.replace(f"@{name}@", value)
    spec = release.folder / "ramline.spec"
    spec.write_text(text)
    work = release.folder / "rpmbuild"
    options = [word for name, value in (DEFINES | {"_binary_payload": f"w{release.level}.xzdio"}).items() for word in ("--define", f"{name} {value}")]
    tool("rpmbuild", "-bb", "--target", f"{release.machine}-linux", "--define", f"_topdir {work}", *options, spec, package="rpm",
         env={**os.environ, "SOURCE_DATE_EPOCH": str(release.date), "LC_ALL": "C", "TZ": "UTC"})
    [made] = (work / "RPMS").rglob("*.rpm")
    path = out / made.name
    shutil.copyfile(made, path)
    return path
