"""Guest kernels: fetched as Debian packages, unpacked, never installed; with the few modules a guest here can need. One is built from
source (built.py).

A kernel in the cache is a folder cache/kernels/NAME holding `vmlinuz`, `config`, `release` and `modules/lib/modules/RELEASE`
with uncompressed modules and depmod's tables, so that busybox's and kmod's modprobe both work on it. Where the kernel can be
entered without its boot code (CONFIG_PVH), `vmlinux` is the same one unpacked: to unpack it under emulation takes two seconds.

Example: kernel("6.12").modules_root
"""

import lzma
import re
import shutil
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import built
from .host import CACHE, VM, Failure, digest, locked, run, say
from .packages import Archive

# What guests load or may ask for. Built-in ones and those a kernel does not have are left out silently.
MODULES = """
    virtio_pci virtio_mmio virtio_blk virtio_console virtio_rng virtio_balloon 9p 9pnet_virtio
    ext4 crc32c_generic crc32c_intel libcrc32c xfs squashfs overlay fuse autofs4 loop null_blk dm_mod
    quota_v2 quota_tree zram zsmalloc z3fold zbud lz4 lz4hc zstd lzo lzo_rle deflate 842 algif_hash
""".split()

# What a kernel's folder looks like; with another one it is fetched anew.
FORM = "vmlinux unpacked, modules unsigned"


@dataclass(frozen=True)
class Entry:
    """One line of the matrix."""

    name: str
    suite: str
    architecture: str
    package: str
    always: bool

    @property
    def built(self):
        """From source, and so only when it is asked for by its name."""
        return self.package.startswith("linux-source-")


@dataclass(frozen=True)
class Kernel:
    """A kernel in the cache."""

    entry: Entry
    folder: Path

    @property
    def image(self):
        unpacked = self.folder / "vmlinux"
        return unpacked if unpacked.exists() else self.folder / "vmlinuz"

    @property
    def release(self):
        return (self.folder / "release").read_text().strip()

    @property
    def modules_root(self):
        return self.folder / "modules"


def matrix():
    """The lines of vm/matrix, by kernel name."""
    entries = {}
    for line in (VM / "matrix").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, suite, architecture, package, fetched, *_ = line.split()
            entries[name] = Entry(name, suite, architecture, package, fetched == "always")
    return entries


def kernel(name):
    """A kernel of the matrix, fetched or built when the cache does not have it."""
    entry = matrix().get(name)
    if entry is None:
        raise Failure(f"no kernel {name} in vm/matrix\ntry: one of {', '.join(matrix())}")
    folder = CACHE / "kernels" / name
    recipe = digest(entry, built.options(name), Path(built.__file__)) if entry.built else digest(entry, FORM, *MODULES)
    stamp = folder / "recipe"
    # What takes minutes to compile keeps nobody from fetching another one.
    with locked(f"kernel-{name}" if entry.built else "kernels"):
        if not stamp.exists() or stamp.read_text() != recipe:
            with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
                kept = Path(scratch) / "kept"
                (built.build if entry.built else _fetch)(entry, kept)
                shutil.rmtree(folder, ignore_errors=True)
                folder.parent.mkdir(parents=True, exist_ok=True)
                kept.rename(folder)
            say(f"kernel {name} ready")
            stamp.write_text(recipe)
    return Kernel(entry, folder)


def _fetch(entry, kept):
    archive = Archive(entry.suite, entry.architecture)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        root = Path(scratch) / "unpacked"
        package = archive.real_name(entry.package)
        for part in (package, *archive.parts(package)):
            archive.unpack(part, root)
        image, release = _image(root, package)
        if entry.name[0].isdigit() and not release.startswith(entry.name.split("-")[0] + "."):
            raise Failure(f"{entry.package} of {entry.suite} is {release} by now\ntry: another suite in the line {entry.name} of vm/matrix")
        say(f"kernel {entry.name} is {release}: picking modules")
        # Merged-/usr packages put modules under usr/lib.
        base = root if (root / "lib/modules").is_dir() else root / "usr"
        kept.mkdir()
        shutil.move(image, kept / "vmlinuz")
        for name in ("config", "System.map"):
            places = (root / f"boot/{name}-{release}", base / f"lib/modules/{release}/{name}")
            for found in [place for place in places if place.exists()][:1]:
                shutil.move(found, kept / name)
        (kept / "release").write_text(release + "\n")
        _unpack(kept)
        _pick_modules(base, kept / "modules", release)


def _unpack(kept):
    """Writes vmlinux, the ELF file inside a bzImage (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length)."""
    packed = (kept / "vmlinuz").read_bytes()
    if "CONFIG_PVH=y" not in (kept / "config").read_text() or packed[0x202:0x206] != b"HdrS":
        return
    offset, length = struct.unpack_from("<II", packed, 0x248)
    start = ((packed[0x1F1] or 4) + 1) * 512 + offset
    # The last four bytes are the length unpacked.
    payload = packed[start : start + length - 4]
    if payload.startswith(b"\xfd7zXZ\0"):
        plain = lzma.decompress(payload)
    elif payload.startswith(b"\x28\xb5\x2f\xfd"):
        plain = subprocess.run(["zstd", "-dqc"], input=payload, stdout=subprocess.PIPE, check=True).stdout
    else:
        return
    (kept / "vmlinux").write_bytes(plain)


def _image(root, package):
    """The kernel's image and its release: boot/vmlinuz-RELEASE, or, since Linux 7, usr/lib/modules/RELEASE/vmlinuz."""
    found = [(path, path.name.split("-", 1)[1]) for path in root.glob("boot/vmlinu*-*")]
    found += [(path, path.parent.name) for path in root.glob("usr/lib/modules/*/vmlinu*")]
    if len(found) != 1:
        raise Failure(f"{package} holds {len(found)} kernel images, expected one")
    return found[0]


def _pick_modules(base, target, release):
    source, picked = base / "lib/modules" / release, target / "lib/modules" / release
    picked.mkdir(parents=True)
    for table in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        shutil.copy2(source / table, picked / table)
    paths = {path.name.split(".")[0].replace("-", "_"): path for path in source.rglob("*.ko*")}
    wanted, taken = list(MODULES), set()
    # depmod would unpack all 4,000 of a package to tell what these need; they say it themselves.
    while wanted:
        name = wanted.pop().replace("-", "_")
        path = paths.get(name)
        if path is None or name in taken:
            continue
        taken.add(name)
        plain = picked / path.relative_to(source).with_name(path.name.removesuffix(".xz").removesuffix(".zst"))
        plain.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".xz":
            plain.write_bytes(lzma.decompress(path.read_bytes()))
        elif path.suffix == ".zst":
            run(["zstd", "-dqf", path, "-o", plain])
        else:
            shutil.copy2(path, plain)
        _unsign(plain)
        needs = re.search(rb"\0depends=([^\0]*)\0", plain.read_bytes())
        wanted += needs[1].decode().split(",") if needs and needs[1] else []
    run(["depmod", "-b", target, release])


SIGNED = b"~Module signature appended~\n"


def _unsign(module):
    """Takes a module's signature off (kernel/module/signing.c): nobody asks for it, and checking it is a good part of loading under emulation."""
    data = module.read_bytes()
    if not data.endswith(SIGNED):
        return
    # struct module_signature ends with the length of what is before it, big endian.
    (length,) = struct.unpack(">I", data[-len(SIGNED) - 4 : -len(SIGNED)])
    module.write_bytes(data[: -len(SIGNED) - 12 - length])
