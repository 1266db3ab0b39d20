"""What the program is built of, as cargo resolves it for the target: crates, their licences and the texts of these."""

import functools
import json
import re
from pathlib import Path

from .release import Failure, tool

# Part of a static program besides crates. Their copyright notices are in the C library's and the Rust toolchain's own packages.
TOOLCHAIN = "The program also holds parts of the GNU C library (LGPL-2.1-or-later) and of Rust's standard library (MIT OR Apache-2.0).\n"
NAMES = re.compile(r"^(licen[sc]e|copying|notice|unlicense)", re.IGNORECASE)


@functools.cache
def _metadata(top, machine):
    words = ("cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", top / "crates/cli/Cargo.toml", "--filter-platform", f"{machine}-unknown-linux-gnu")
    return json.loads(tool(*words, package="cargo", cwd=top))


@functools.cache
def _linked(top, machine):
    """Name and version of each crate of the program: with the features that it is built with, which are fewer than those of the whole workspace that
    `cargo metadata` resolves; without macros and build scripts, which leave nothing of themselves in it."""
    words = ("cargo", "tree", "--locked", "--package", "ramline-cli", "--edges", "normal,no-proc-macro", "--target", f"{machine}-unknown-linux-gnu", "--prefix", "none")
    lines = tool(*words, package="cargo", cwd=top).splitlines()
    return {(line.split()[0], line.split()[1].removeprefix("v")) for line in lines if line}


def crates(release):
    """(crates, identifiers each of them needs) of the program."""
    metadata, linked = _metadata(release.top, release.machine), _linked(release.top, release.machine)
    packages = {package["id"]: package for package in metadata["packages"] if (package["name"], package["version"]) in linked}
    needs = {node["id"]: sorted(dep["pkg"] for dep in node["deps"] if dep["pkg"] in packages) for node in metadata["resolve"]["nodes"] if node["id"] in packages}
    return sorted(packages.values(), key=lambda package: (package["name"], package["version"])), needs


def licences(release):
    """The texts that the licences of all crates ask to be handed on, each once, with the crates that have it."""
    texts = {}
    for package in crates(release)[0]:
        if package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        found = sorted(path for path in folder.iterdir() if path.is_file() and NAMES.match(path.name))
        if not package["license"] and not found:
            raise Failure(f"{package['name']} {package['version']} names no licence", f"cargo info {package['name']}")
        words = [path.read_text(errors="replace").strip() for path in found] or [f"(no text in the crate; licence: {package['license']})"]
        for text in words:
            texts.setdefault(text, []).append(f"{package['name']} {package['version']} ({package['license']})")
    parts = [f"{'=' * 78}\n{chr(10).join(names)}\n{'-' * 78}\n{text}\n" for text, names in sorted(texts.items(), key=lambda row: row[1])]
    return TOOLCHAIN + "\n" + "\n".join(parts)
