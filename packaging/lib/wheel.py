"""The parts in Python, as wheels that pipx and pip install: the build tool of Python, with this build's time in the archive."""

import os
import shutil
import sys

from .release import put, tool


def fleet(release, out):
    """ramline_fleet-VERSION-py3-none-any.whl, for many hosts."""
    return wheel(release, out, "fleet", "ramline_fleet")


def notebooks(release, out):
    """ramline-VERSION-py3-none-any.whl, for notebooks."""
    return wheel(release, out, "python", "ramline")


def wheel(release, out, folder, package):
    # setuptools writes beside the sources it builds.
    sources, made, top = release.folder / folder, release.folder / f"{folder}.wheel", release.top / folder
    for path in [top / "pyproject.toml", top / "README.md", *sorted((top / package).rglob("*"))]:
        if path.is_file() and "__pycache__" not in path.parts:
            put(path, sources / path.relative_to(top))
    release.dated(sources)
    tool(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", made, sources, package="python3-pip",
         env={**os.environ, "SOURCE_DATE_EPOCH": str(release.date)})
    [found] = made.glob("*.whl")
    path = out / found.name
    shutil.copyfile(found, path)
    return path
