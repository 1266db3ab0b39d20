"""The Debian guest's disks: an image built by mmdebstrap and mke2fs, a swap partition, and an initial RAM disk per kernel.

The image is named after a hash of its recipe (this file, the guest's files, the kernels, packages asked for besides), so a
change of recipe rebuilds it, and an overlay made on an older image says so instead of reading another one's blocks. No loop
device is used and nothing stays mounted: mmdebstrap runs in its own mount and process namespace.

Example: image().root  # cache/debian-<hash>.img, with a partition table and ext4 on partition 1
         image(release="12")  # cache/debian12-<hash>.img
"""

import os
import shutil
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .host import CACHE, VM, Failure, digest, locked, run, say
from .initramfs import around_busybox
from .kernels import kernel
from .packages import KEYRING, busybox, mirrors

# Release: its suite, its own kernel, and how its images are called. What other kernels need of their modules comes with their initial RAM disk.
RELEASES = {"13": ("trixie", "6.12", "debian"), "12": ("bookworm", "6.1", "debian12")}
DEFAULT = "13"
PACKAGES = (
    "systemd,systemd-sysv,udev,kmod,dbus,dbus-user-session,libpam-systemd,systemd-zram-generator,procps,e2fsprogs,util-linux"
)
ROOT_BYTES = 4 << 30  # sparse
SWAP_BYTES = 512 << 20
PARTITION_START = 1 << 20  # where every partitioning tool starts
# Fixed identifiers: two builds of one recipe differ only where the packages do.
ROOT_UUID = "7a11f0c4-0f5b-4a8e-9d7e-6d656d6f7279"
SWAP_UUID = "5a5a0001-0f5b-4a8e-9d7e-6d656d6f7279"
LINUX, LINUX_SWAP = 0x83, 0x82  # partition types

FILES = {
    "etc/fstab": f"UUID={ROOT_UUID} / ext4 defaults,errors=remount-ro 0 0\nUUID={SWAP_UUID} none swap sw 0 0\n",
    "etc/hostname": "target\n",
    "etc/hosts": "127.0.0.1 localhost target\n",
    "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    # The example of zram-generator(5)'s manual page, with a named compressor.
    "etc/systemd/zram-generator.conf": "[zram0]\nzram-size = ram / 2\ncompression-algorithm = zstd\n",
    # The ports and the share of the runner.
    "etc/modules-load.d/target.conf": "virtio_console\n9pnet_virtio\n9p\n",
    # Rules for hundreds of devices without a driver here take a third of a boot under emulation.
    "etc/systemd/system/systemd-udev-trigger.service.d/few.conf": "[Service]\nExecStart=\nExecStart=-udevadm trigger --action=add "
    "--subsystem-match=block --subsystem-match=virtio-ports --subsystem-match=mem --subsystem-match=misc --subsystem-match=tty\n",
}
GUEST_FILES = {
    "usr/local/lib/target/runner": ("debian-runner", 0o755),
    "usr/local/lib/target/streams": ("streams", 0o644),
    "etc/systemd/system/target-run.service": ("target-run.service", 0o644),
}
# Timers that would run at moments of their own, services whose start takes seconds under emulation and does nothing here, and documentation nobody reads here.
MASKED = ("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer",
          "e2scrub_reap.service", "netavark-dhcp-proxy.service", "sysstat.service")
# The same of what runs at every start and every reload of systemd, half a dozen times in one change of zram; those that stay are fstab's, zram's and the kernel command line's.
GENERATORS_KEPT = ("systemd-fstab-generator", "systemd-debug-generator", "zram-generator")
UNREAD = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/i18n", "var/cache/apt", "var/lib/apt/lists")


@dataclass(frozen=True)
class Image:
    """The files of one built recipe."""

    root: Path
    swap: Path


def recipe(release):
    """The hash that names an image."""
    guest = [VM / "guest" / name for name, _ in GUEST_FILES.values()]
    return digest(Path(__file__), *guest, kernel(RELEASES[release][1]).folder / "recipe")


def image(more="", release=DEFAULT):
    """The image of a Debian release, built when the cache does not have it (root needed for that); `more` packages make another one."""
    kind = RELEASES[release][2]
    name = f"{kind}-{recipe(release)}"
    # A comma would end the file's name for QEMU.
    variant = f"{name}-{more.replace(',', '+')}" if more else name
    found = Image(CACHE / f"{variant}.img", CACHE / f"{variant}.swap.img")
    with locked("image"):
        if not (found.root.exists() and found.swap.exists()):
            _build(found, more, release)
            for old in CACHE.glob(f"{kind}-*.img"):
                if not old.name.startswith(name):
                    old.unlink()
    return found


def initrd(chosen, path):
    """The initial RAM disk that finds the root partition with a kernel."""
    busy = busybox(chosen.entry.suite, chosen.entry.architecture)
    around_busybox(busy, chosen, VM / "guest/debian-initrd-init").save(path)


def _build(target, more, release):
    suite, own, _ = RELEASES[release]
    if os.geteuid() != 0:
        raise Failure("building the Debian image needs root (mmdebstrap)\ntry: sudo vm/debian build")
    with tempfile.TemporaryDirectory(prefix="debian-", dir=CACHE) as scratch:
        root = Path(scratch) / "root"
        _bootstrap(root, more, suite)
        _configure(root, own)
        say("writing the Debian image")
        new = Path(scratch) / "root.img"
        _disk(new, ROOT_BYTES, LINUX)
        blocks = (ROOT_BYTES - PARTITION_START) // 4096
        options = f"offset={PARTITION_START},root_owner=0:0,hash_seed={ROOT_UUID}"
        words = ["mke2fs", "-q", "-t", "ext4", "-F", "-d", root, "-U", ROOT_UUID, "-L", "root", "-E", options, "-b", "4096"]
        run([*words, new, blocks])
        swap = Path(scratch) / "swap.img"
        _swap(swap, Path(scratch) / "area")
        swap.rename(target.swap)
        new.rename(target.root)
    say("Debian image ready")


def _bootstrap(root, more, suite):
    say(f"mmdebstrap {suite}")
    # The namespaces end with the command: no mount and no process outlives it.
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    packages = f"{PACKAGES},{more}" if more else PACKAGES
    words = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--include={packages}"]
    trust = [f"--keyring={KEYRING}"] if KEYRING.exists() else []
    run([*namespaces, *words, *trust, suite, root, mirrors()[0]], env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def _configure(root, own):
    say("configuring Debian")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for path, (name, mode) in GUEST_FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(VM / "guest" / name, root / path)
        (root / path).chmod(mode)
    shutil.copytree(kernel(own).modules_root / "lib/modules", root / "usr/lib/modules", dirs_exist_ok=True)
    run(["chroot", root, "useradd", "--create-home", "--uid", "1000", "--shell", "/bin/bash", "user"])
    run(["chroot", root, "passwd", "--delete", "root"])
    run(["chroot", root, "systemctl", "mask", *MASKED])
    masks = root / "etc/systemd/system-generators"
    masks.mkdir(parents=True, exist_ok=True)
    for path in (root / "usr/lib/systemd/system-generators").iterdir():
        if path.name not in GENERATORS_KEPT:
            (masks / path.name).symlink_to("/dev/null")
    for path in UNREAD:
        shutil.rmtree(root / path, ignore_errors=True)
    # systemd-update-done.service(8): nothing under /usr changes any more, so no boot has caches to rebuild.
    for path in ("etc/.updated", "var/.updated"):
        (root / path).touch()


def _disk(path, size, kind):
    """A sparse disk with a DOS partition table of one partition that fills it."""
    entry = struct.pack("<B3sB3sII", 0, b"\xfe\xff\xff", kind, b"\xfe\xff\xff", PARTITION_START // 512, (size - PARTITION_START) // 512)
    with path.open("wb") as disk:
        disk.truncate(size)
        disk.seek(440)
        disk.write(struct.pack("<IH", size & 0xFFFFFFFF | kind, 0) + entry + bytes(48) + b"\x55\xaa")


def _swap(path, area):
    """A disk whose only partition is a swap area."""
    _disk(path, SWAP_BYTES, LINUX_SWAP)
    with area.open("wb") as handle:
        handle.truncate(SWAP_BYTES - PARTITION_START)
    area.chmod(0o600)
    run(["mkswap", "-q", "-U", SWAP_UUID, "-L", "swap", area])
    # All of a swap area's metadata is in its first page.
    with path.open("r+b") as disk:
        disk.seek(PARTITION_START)
        disk.write(area.read_bytes()[:4096])
