"""Links of the book's pages: files and headings that are not there."""

import os
import re
from pathlib import Path


def dead(top):
    """(page, link) of each link that leads nowhere."""
    pages = {path: path.read_text() for path in top.rglob("*.html") if path.name not in ("print.html", "toc.html", "404.html")}
    named = {path: set(re.findall(r'id="([^"]+)"', text)) for path, text in pages.items()}
    found = []
    for page, text in pages.items():
        for link in re.findall(r'href="([^"]+)"', text):
            if "://" in link or link.startswith(("#", "mailto:", "data:")):
                continue
            name, _, heading = link.partition("#")
            target = Path(os.path.normpath(page.parent / name))
            if not target.exists() or (heading and target in named and heading not in named[target]):
                found.append((str(page.relative_to(top)), link))
    return sorted(set(found))
