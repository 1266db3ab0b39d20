"""Writes initramfs archives (cpio, "newc" format: Documentation/driver-api/early-userspace/buffer-format.rst of the kernel).

It needs neither root nor the cpio program: owners are root by fiat and device nodes are entries, not files.

Example:
    archive = Initramfs()
    archive.file("init", b"#!/bin/sh\n", 0o755)
    archive.save(Path("initrd"))
"""

import re
import stat
from pathlib import Path

from .host import Failure, run


class Initramfs:
    """Entries collected in order; parent folders come by themselves."""

    def __init__(self):
        self._parts, self._seen = [], set()

    def _entry(self, name, mode, data=b"", device=(0, 0)):
        if name in self._seen:
            return
        self._seen.add(name)
        parent = str(Path(name).parent)
        if parent != "." and name != "TRAILER!!!":
            self._entry(parent, stat.S_IFDIR | 0o755)
        raw = name.encode() + b"\0"
        # Magic, then 13 fields of 8 hex digits: ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check.
        fields = (len(self._seen), mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(raw), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + raw
        self._parts += [header, b"\0" * (-len(header) % 4), data, b"\0" * (-len(data) % 4)]

    def folder(self, name, mode=0o755):
        self._entry(name, stat.S_IFDIR | mode)

    def file(self, name, data, mode=0o644):
        self._entry(name, stat.S_IFREG | mode, data)

    def link(self, name, to):
        self._entry(name, stat.S_IFLNK | 0o777, to.encode())

    def tree(self, source, under=""):
        """Every regular file below a folder, by its path there."""
        for path in sorted(source.rglob("*")):
            if path.is_file():
                name = str(Path(under) / path.relative_to(source))
                self.file(name, path.read_bytes(), path.stat().st_mode & 0o777)

    def program(self, path, name):
        """A program of this machine, which must be of the guest's architecture, under another name; with the libraries it is linked against."""
        self.file(name, path.read_bytes(), 0o755)
        if b"ld-linux" not in path.read_bytes():
            return
        for line in run(["ldd", path]).splitlines():
            if found := re.search(r"(/\S+) \(0x", line):
                self.file(found[1].lstrip("/"), Path(found[1]).read_bytes(), 0o755)
            elif "not found" in line:
                raise Failure(f"{path} lacks a library: {line.strip()}\ntry: ldd {path}")

    def save(self, path):
        # The kernel opens this one as init's standard streams before devtmpfs is mounted.
        self._entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
        self._entry("TRAILER!!!", 0)
        path.write_bytes(b"".join(self._parts))


def around_busybox(busybox, kernel, init):
    """The common base: busybox as every command, the kernel's modules, and a guest script as /init."""
    archive = Initramfs()
    for name in ("proc", "sys", "dev", "run", "mnt", "etc", "root", "var", "usr/bin", "usr/sbin"):
        archive.folder(name)
    archive.folder("tmp", 0o1777)
    archive.file("bin/busybox", busybox.read_bytes(), 0o755)
    archive.link("bin/sh", "busybox")
    # The kernel itself calls this one to load a compressor or a file system.
    archive.link("sbin/modprobe", "../bin/busybox")
    archive.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n")
    archive.file("etc/group", b"root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n")
    archive.tree(kernel.modules_root)
    archive.file("init", init.read_bytes(), 0o755)
    return archive
