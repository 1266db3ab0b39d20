"""Hosts to be asked over ssh, made on this machine: each has a mount name space with a /tmp, a home and a machine-id of its own, and an ssh server on a
loopback address. Some are dead, slow or lie.

Example: with Hosts(folder, 20) as hosts: hosts.file  # a line a host
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
from harness import Skip  # noqa: E402
from harness.machine import until  # noqa: E402

PAGE = 4096
# What they do instead of answering, and how that is told.
BAD = {
    "refuses": ("", "refused"),
    "silent": ("", "no answer within"),
    "slow": ("exec sleep 60", "no answer within"),
    "lies": ("printf 'ramline-fleet 1\\nMemTotal 1000\\nMemFree 9000\\nend\\n'", "more is free than there is"),
    "endless": ("exec yes MemTotal", "without an end"),
}
# In a mount name space of its own: what the host is, and its server instead of the shell.
INSIDE = r"""
set -e
mount -t tmpfs -o size=4m,mode=1777 tmpfs /tmp
head -c "$2" /dev/zero >/tmp/data
mount --bind "$1/machine-id" /etc/machine-id
mount --bind "$1/home" /root
exec dropbear -F -E -s -g -m -p "$3" -r "$4/host-key" -P "$1/pid"
"""


def die_with_parent():
    # PR_SET_PDEATHSIG; it stays over exec.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Hosts:
    """So many, `BAD` among them."""

    def __init__(self, folder, count):
        for program in ("dropbear", "dropbearkey", "ssh", "ssh-keygen"):
            if not shutil.which(program):
                raise Skip(f"hosts over ssh: needs {program}; try: tests/deps")
        if os.geteuid() or not os.path.exists("/etc/machine-id"):
            raise Skip("hosts over ssh: needs root and /etc/machine-id")
        self.folder, self.count, self.children = Path(folder), count, []
        self.file, self.config, self.sizes, self.bad = self.folder / "hosts.txt", self.folder / "config", {}, {}

    def __enter__(self):
        try:
            return self.made()
        except BaseException:
            self.__exit__()
            raise

    def made(self):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
        subprocess.run(["dropbearkey", "-t", "ed25519", "-f", self.folder / "host-key"], **quiet)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / "key"], **quiet)
        self.config.write_text(f"StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\nIdentityFile {self.folder}/key\nUser root\n")
        public = (self.folder / "key.pub").read_text()
        kinds = list(BAD) + [None] * (self.count - len(BAD))
        for number, kind in enumerate(kinds):
            self.add(number, kind, public)
        self.file.write_text("# made for a test\n" + "\n".join([*self.sizes, *self.bad]) + "\n")
        servers = [*self.sizes, *(name for name, kind in self.bad.items() if kind != "refuses")]
        if not until(lambda: all(map(self.listens, servers)), 60, 0.2):
            raise RuntimeError(f"no server on {[name for name in servers if not self.listens(name)][:3]}")
        return self

    def add(self, number, kind, public):
        address, port = f"127.0.{1 + number // 250}.{1 + number % 250}", 2222
        name = f"{address}:{port}"
        if kind:
            self.bad[name] = kind
        if kind == "refuses":
            return
        if kind == "silent":
            server = socket.socket()
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((address, port))
            server.listen()
            self.children.append(server)
            return
        own = self.folder / f"host{number}"
        (own / "home/.ssh").mkdir(parents=True, mode=0o700)
        (own / "home").chmod(0o700)
        command = BAD[kind][0] if kind else ""
        forced = f'command="{command}" ' if command else ""
        (own / "home/.ssh/authorized_keys").write_text(forced + public)
        (own / "home/.ssh/authorized_keys").chmod(0o600)
        (own / "machine-id").write_text(f"{number:032x}\n")
        size = (number % 200 + 1) * PAGE
        if not kind:
            self.sizes[name] = size
        words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", INSIDE, "sh", own, str(size), name, self.folder]
        with (own / "log").open("wb") as log:
            self.children.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent))

    @staticmethod
    def listens(name):
        address, _, port = name.partition(":")
        with socket.socket() as one:
            return one.connect_ex((address, int(port))) == 0

    def __exit__(self, *_):
        for child in self.children:
            if isinstance(child, socket.socket):
                child.close()
            else:
                child.kill()
                child.wait(20)
