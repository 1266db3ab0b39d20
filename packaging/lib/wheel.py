"""The part for many hosts (fleet/), as a wheel that pipx and pip install: the build tool of Python, with this build's time in the archive."""

import os
import shutil
import sys

from .release import put, tool


def wheel(release, out):
    """ramline_fleet-VERSION-py3-none-any.whl."""
    # setuptools writes beside the sources it builds.
    sources, made = release.folder / "fleet", release.folder / "wheel"
    for path in [release.top / "fleet/pyproject.toml", *sorted((release.top / "fleet/ramline_fleet").rglob("*"))]:
        if path.is_file() and "__pycache__" not in path.parts:
            put(path, sources / path.relative_to(release.top / "fleet"))
    release.dated(sources)
    tool(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", made, sources, package="python3-pip",
         env={**os.environ, "SOURCE_DATE_EPOCH": str(release.date)})
    [found] = made.glob("*.whl")
    path = out / found.name
    shutil.copyfile(found, path)
    return path
