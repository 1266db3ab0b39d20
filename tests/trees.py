#!/usr/bin/env python3
"""Captured machines: a fixture is one text file, fixtures/NAME.tree, and this makes directories of such files and such files of
directories. fixtures/README.md says how the file is written; crates/testkit/src/tree.rs reads it for the tests in Rust.

    tests/trees.py list                              every tree: its base, its size, what it is
    tests/trees.py unpack NAME DIR                   for `ramline --root DIR`
    tests/trees.py unpack --all DIR                  every tree, each as DIR/NAME
    tests/trees.py pack DIR NAME [--base B] [--story TEXT]   writes fixtures/NAME.tree; without --base the tree with the least to add
"""

import argparse
import difflib
import hashlib
import os
import re
import shutil
import signal
import sys
from collections import defaultdict
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
FIXTURES = TOP / "fixtures"
WORDS = {"edit", "empty", "escaped", "gone", "no-newline"}
ESCAPE = re.compile(rb"\\(?:(\\)|x([0-9A-Fa-f]{2})|)")


class TreeError(Exception):
    """What is wrong in which line of which file."""


def names(below="", fixtures=FIXTURES):
    """Every tree, or those of one folder: `healthy/debian-13`."""
    return sorted(str(path.relative_to(fixtures))[:-5] for path in (fixtures / below).rglob("*.tree"))


def header(name, fixtures=FIXTURES):
    """The base (or None), the comment lines, and all lines of the file with the number of the first section."""
    path = fixtures / f"{name}.tree"
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise TreeError(f"{path}: there is no such tree; try: tests/trees.py list") from None
    base, story = None, []
    if lines.pop():
        raise TreeError(f"{path}:{len(lines) + 1}: the last line has no end")
    for at, line in enumerate(lines):
        if line.startswith(b"-- "):
            return base, story, lines, at
        if line.startswith(b"base: ") and not base:
            base = line[6:].decode()
        elif line.startswith(b"#"):
            story.append(line.decode())
        elif line:
            raise TreeError(f"{path}:{at + 1}: neither 'base: NAME' (once), a comment nor '-- PATH --'")
    return base, story, lines, len(lines)


def files(name, fixtures=FIXTURES, over=()):
    """What the tree holds: the bytes of each file by its path, None for an empty directory (its path ends in a slash)."""
    base, _, lines, at = header(name, fixtures)
    if name in over:
        raise TreeError(f"{fixtures / name}.tree:1: it is its own base: {' over '.join((*over, name))}")
    held = files(base, fixtures, (*over, name)) if base else {}
    waiting = []
    while at < len(lines):
        where = f"{fixtures / name}.tree:{at + 1}"
        path, _, words = lines[at].decode()[3:].rpartition(" --")
        before, *words = words.split(" ")
        if before or not set(words) <= WORDS or any(part in ("", ".", "..") for part in path.removesuffix("/").split("/")):
            raise TreeError(f"{where}: this is no '-- PATH -- [WORDS]'")
        end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith(b"-- ")), len(lines))
        body, at = lines[at + 1 : end], end
        alone = "gone" in words or "empty" in words or path.endswith("/")
        if waiting and (alone or set(waiting[0][2]) != set(words)) or alone and body or not (alone or body) and end == len(lines):
            raise TreeError(f"{where}: lines where none belong, or none where some do")
        waiting.append((where, path, words))
        if not alone and not body:
            continue
        for place, each, _ in waiting:
            try:
                change(held, each, words, body)
            except ValueError as error:
                raise TreeError(f"{place}: {error}") from None
        waiting = []
    return held


def change(held, path, words, body):
    """Does what one section says."""
    if "gone" in words:
        left = {there for there in held if there == path or path.endswith("/") and there.startswith(path)}
        if not left:
            raise ValueError("nothing of that name to take away")
        for there in left:
            del held[there]
        return
    parts = path.removesuffix("/").split("/")
    if any("/".join(parts[:n]) in held for n in range(1, len(parts) + path.endswith("/"))) or any(there.startswith(f"{path}/") for there in held):
        raise ValueError("a file where a directory is, or a directory where a file is")
    if path.endswith("/"):
        held[path] = None
        return
    if "escaped" in words:
        body = [ESCAPE.sub(unescaped, line) for line in body]
    if "edit" in words:
        if held.get(path) is None:
            raise ValueError("no file of that name to edit")
        held[path] = edited(held[path], body)
    else:
        held[path] = b"\n".join(body) + (b"" if "no-newline" in words or "empty" in words else b"\n")


def unescaped(found):
    if not found[1] and not found[2]:
        raise ValueError("a backslash that is neither \\\\ nor \\xNN")
    return bytes([int(found[2], 16)]) if found[2] else b"\\"


def edited(content, body):
    """Each line that is kept (' ') or taken away ('-') is the next one of these words; what is added ('+') stands behind it."""
    old, out, at = content.split(b"\n"), [], 0
    for line in body:
        sign, text = line[:1], line[1:]
        if sign == b"+":
            out.append(text)
        elif sign in (b"", b" ", b"-"):
            if text not in old[at:]:
                raise ValueError(f"the file has no further line {text.decode(errors='replace')!r}")
            found = old.index(text, at)
            out += old[at : found + (sign != b"-")]
            at = found + 1
        else:
            raise ValueError("a line of an edit begins with '-', '+' or a blank")
    return b"\n".join(out + old[at:])


def write(held, into):
    """Lays the files down in a directory that is not there yet, or empty."""
    into = Path(into)
    into.mkdir(parents=True, exist_ok=True)
    if any(into.iterdir()):
        raise TreeError(f"{into} is not empty; try: rm -r {into}")
    for path, content in held.items():
        target = into / path
        if content is None:
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def directory(name):
    """A directory with the tree, made once for each content: for those who only read it."""
    held = files(name)
    mark = hashlib.sha256(repr(sorted(held.items())).encode()).hexdigest()[:16]
    made = TOP / f"target/fixtures/{name}.{mark}"
    if not made.is_dir():
        aside = made.with_name(f".{made.name}.{os.getpid()}")
        write(held, aside)
        try:
            aside.rename(made)
        except OSError:
            # Another was first.
            shutil.rmtree(aside)
            if not made.is_dir():
                raise
    return made


def read(folder):
    """What a directory holds, as `files` says it."""
    held = {}
    for at, folders, inside in os.walk(folder):
        below = "" if Path(at) == Path(folder) else f"{Path(at).relative_to(folder)}/"
        if below and not folders and not inside:
            held[below] = None
        for name in inside:
            path = Path(at) / name
            if path.is_symlink() or not path.is_file() or not f"{below}{name}".isprintable():
                raise TreeError(f"{path}: only plain files with plain names can be packed")
            held[below + name] = path.read_bytes()
    return held


def shown(lines):
    """The lines as they can be read in a review, and whether they are escaped for that."""
    def plain(line):
        try:
            return all(char.isprintable() or char == "\t" for char in line.decode()) and not line.startswith(b"-- ")
        except UnicodeDecodeError:
            return False

    def escaped(line):
        dashes = line.startswith(b"-- ")
        line = line.decode(errors="surrogateescape").replace("\\", "\\\\")
        text = "".join(c if c.isprintable() or c == "\t" else "".join(f"\\x{b:02x}" for b in c.encode(errors="surrogateescape")) for c in line)
        return ("\\x2d" + text[1:] if dashes else text).encode()

    return (lines, []) if all(map(plain, lines)) else ([escaped(line) for line in lines], ["escaped"])


def difference(old, new):
    """The lines of an edit that makes the one content of the other."""
    old, new = old.split(b"\n"), new.split(b"\n")
    out, at = [], 0

    def reach(place):
        """Kept lines, so that the next line of the words of `place` is it."""
        while (first := old.index(old[place], at)) != place:
            last = max(n for n in range(first, place) if old[n] == old[place])
            # One line that is itself the next of its words, as near as can be, and behind the last one like the wanted.
            near = [n for n in range(place - 1, last - 1, -1) if old.index(old[n], at) == n]
            keep(near[0] if near else first)

    def keep(place):
        nonlocal at
        out.append(b" " + old[place] if old[place] else b"")
        at = place + 1

    for kind, begin, end, new_begin, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if begin == end and begin > at:
            reach(begin - 1)
            keep(begin - 1)
        for place in range(begin, end):
            reach(place)
            out.append(b"-" + old[place])
            at = place + 1
        out += [b"+" + line for line in new[new_begin:new_end]]
    return out


def overlay(held, below):
    """The sections that make of the files `below` the files `held`."""
    sections, alike = [], defaultdict(list)
    left = set(below) - set(held)
    dropped = set()
    for path in sorted(left):
        parts = path.removesuffix("/").split("/")
        folders = ["/".join(parts[:n]) + "/" for n in range(1, len(parts))]
        whole = (f for f in folders if not any(there.startswith(f) for there in held if there in below))
        dropped.add(next(whole, path))
    sections += [f"-- {path} -- gone".encode() for path in sorted(dropped)]
    for path, content in sorted(held.items()):
        if path in below and below[path] == content:
            continue
        if not content:
            sections.append(f"-- {path} --".encode() if content is None else f"-- {path} -- empty".encode())
            continue
        ends = content.endswith(b"\n")
        body, words = shown(content.split(b"\n")[: -1 if ends else None])
        words = words + ([] if ends else ["no-newline"])
        if below.get(path):
            lines = difference(below[path], content)
            if len(lines) < len(body) and edited(below[path], lines) == content:
                body, words = shown(lines)
                words = ["edit", *words]
        alike[path.rsplit("/", 1)[-1], tuple(words), tuple(body)].append(path)
    for (_, words, body), paths in alike.items():
        sections += [" ".join([f"-- {path} --", *words]).encode() for path in paths]
        sections += body
    return sections


def pack(folder, name, base=None, story=None, fixtures=FIXTURES):
    """Writes fixtures/NAME.tree, over the base that was named, the one it has, or the one that leaves least to say."""
    held = read(folder)
    there = (fixtures / f"{name}.tree").exists()
    if there:
        old_base, old_story, _, _ = header(name, fixtures)
        base, story = base or old_base or "none", story or "\n".join(old_story)
    if base is None:
        sizes = {other: sum(map(len, overlay(held, files(other, fixtures)))) for other in names(fixtures=fixtures)}
        base = min(["none", *sizes], key=lambda other: sizes.get(other, sum(map(len, overlay(held, {})))))
    below = {} if base == "none" else files(base, fixtures, (name,))
    lines = [line if line.startswith("#") else f"# {line}".rstrip() for line in (story or "What machine is this?").split("\n")]
    text = "\n".join(lines + ([] if base == "none" else [f"base: {base}"])).encode()
    target = fixtures / f"{name}.tree"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"\n".join([text, b"", *overlay(held, below)]) + b"\n")
    assert files(name, fixtures) == held, f"{target} is not what was packed"
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--fixtures", type=Path, default=FIXTURES, help="another folder of trees")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list")
    one = verbs.add_parser("unpack")
    one.add_argument("name", nargs="?")
    one.add_argument("dir", type=Path)
    one.add_argument("--all", action="store_true")
    one = verbs.add_parser("pack")
    one.add_argument("dir", type=Path)
    one.add_argument("name")
    one.add_argument("--base", help="the tree it is over, or 'none'")
    one.add_argument("--story", help="what machine this is")
    asked = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if asked.verb == "list":
        for name in names(fixtures=asked.fixtures):
            base, story, lines, _ = header(name, asked.fixtures)
            print(f"{name}{f' over {base}' if base else ''}, {len(lines)} lines", *(line[2:] for line in story), sep="\n    ")
    elif asked.verb == "pack":
        print(pack(asked.dir, asked.name, asked.base, asked.story, asked.fixtures))
    elif asked.all == bool(asked.name):
        parser.error("a NAME or --all")
    else:
        for name in names(fixtures=asked.fixtures) if asked.all else [asked.name]:
            write(files(name, asked.fixtures), asked.dir / name if asked.all else asked.dir)


if __name__ == "__main__":
    try:
        main()
    except (TreeError, UnicodeDecodeError) as error:
        sys.exit(f"trees.py: {error}")
