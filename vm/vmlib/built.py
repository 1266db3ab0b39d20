"""A guest kernel from Debian's source package, for what no kernel of Debian has: small, with everything built in.

Its options are in vm/NAME.config, on top of none at all. It takes ten minutes and 2 GB, which are free again afterwards, so it is built only
when it is asked for by its name.

Example: build(matrix()["quota"], Path("kept"))  # kept/vmlinuz, config, System.map, release, modules
"""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .host import CACHE, VM, Failure, locked, run, say
from .packages import Archive

TOOLS = ("gcc", "make", "flex", "bison", "bc", "perl", "depmod")
# objtool, which every x86-64 kernel is checked with, is linked against it.
HEADER = Path("/usr/include/libelf.h")
# A line of progress now and then: a compiler that is silent for ten minutes looks like one that hangs.
EVERY_SECONDS = 60


def options(name):
    """The file with the options of a kernel that is built."""
    return VM / f"{name}.config"


def build(entry, kept):
    """Builds a kernel into a folder that does not exist yet."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None] + ([] if HEADER.exists() else [str(HEADER)])
    if missing:
        raise Failure(f"the kernel {entry.name} is built from source, and this is not installed: {', '.join(missing)}\ntry: sudo vm/deps --kernel")
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        with locked("kernels"):
            Archive(entry.suite, entry.architecture).unpack(entry.package, Path(scratch))
        (archive,) = Path(scratch).glob("usr/src/linux-source-*.tar.xz")
        say("unpacking the source")
        run(["tar", "-xf", archive, "-C", scratch])
        (source,) = (path for path in Path(scratch).glob("linux-source-*") if path.is_dir())
        run(["make", "-C", source, "allnoconfig"], env={**os.environ, "KCONFIG_ALLCONFIG": str(options(entry.name))})
        _check((source / ".config").read_text().splitlines(), options(entry.name))
        say(f"compiling the kernel {entry.name}: about ten minutes on two cores")
        _make(["nice", "-n", "19", "make", "-C", source, f"-j{os.cpu_count() or 1}", "bzImage", "modules"])
        kept.mkdir()
        # No module is built; the tables say which ones are part of the kernel, so that modprobe is content.
        run(["make", "-C", source, "modules_install", f"INSTALL_MOD_PATH={kept / 'modules'}"])
        release = run(["make", "-s", "-C", source, "kernelrelease"]).strip()
        for link in ("build", "source"):
            (kept / "modules/lib/modules" / release / link).unlink(missing_ok=True)
        for here, there in (("arch/x86/boot/bzImage", "vmlinuz"), (".config", "config"), ("System.map", "System.map")):
            shutil.copy2(source / here, kept / there)
        (kept / "release").write_text(release + "\n")


def _check(made, wanted):
    """Every option asked for is on: one whose needs are off is left out without a word."""
    asked = [line for line in wanted.read_text().splitlines() if line.startswith("CONFIG_")]
    if lost := [line for line in asked if line not in made]:
        raise Failure(f"this source does not take {' '.join(lost)} of {wanted}\ntry: what they depend on, in its Kconfig files")


def _make(command):
    begin, said, steps, tail = time.monotonic(), time.monotonic(), 0, []
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        try:
            for line in process.stdout:
                steps, tail = steps + 1, [*tail[-30:], line.rstrip()]
                if time.monotonic() - said >= EVERY_SECONDS:
                    said = time.monotonic()
                    say(f"compiling: {steps} files and archives so far")
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        raise Failure("compiling the kernel failed:\n" + "\n".join(tail))
    say(f"compiled in {time.monotonic() - begin:.0f} s, {steps} files and archives")
