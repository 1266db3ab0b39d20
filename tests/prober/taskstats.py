"""What a task has waited for, from the kernel's own accounting (taskstats, over generic netlink). Layouts are in linux/taskstats.h.

    with accounting():                    # kernel.task_delayacct, put back afterwards
        ...                               # only tasks started in here have delays
        Taskstats().delays(pid)           # {"freepages": (times, ns), ...}
"""

import socket
import struct
from pathlib import Path

from harness.machine import written

KNOB = Path("/proc/sys/kernel/task_delayacct")
# linux/netlink.h and linux/genetlink.h
NETLINK_GENERIC = 16
CTRL, CTRL_GETFAMILY, CTRL_FAMILY_ID, CTRL_FAMILY_NAME = 16, 3, 1, 2
GET, ATTR_PID, TYPE_PID, TYPE_STATS, TYPE_AGGR_PID = 1, 1, 1, 3, 4
ERROR, REQUEST = 2, 1
# Offsets in struct taskstats of a count, with the nanoseconds behind it; version 9 and later.
FIELDS = {"cpu": 16, "blkio": 32, "swapin": 48, "freepages": 312, "thrashing": 328}
# Some kernels (6.14, 6.15) put fields in between; there the pid is elsewhere too.
PID, VERSION = 128, 9


def accounting():
    return written(KNOB, "1")


def attribute(kind, data):
    length = 4 + len(data)
    return struct.pack("=HH", length, kind) + data + b"\0" * (-length % 4)


def attributes(data):
    """Kind and contents of each attribute."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[4:length]
        data = data[length + (-length % 4):]
    return found


class Taskstats:
    """One socket to the kernel."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.sequence = 0
        name = attribute(CTRL_FAMILY_NAME, b"TASKSTATS\0")
        self.family = struct.unpack_from("=H", self.ask(CTRL, CTRL_GETFAMILY, name)[CTRL_FAMILY_ID])[0]

    def ask(self, family, command, attrs):
        """The attributes of the answer; OSError with the kernel's reason."""
        self.sequence += 1
        body = struct.pack("=BBH", command, 1, 0) + attrs
        self.socket.send(struct.pack("=IHHII", 16 + len(body), family, REQUEST, self.sequence, 0) + body)
        while True:
            answer = self.socket.recv(65536)
            length, kind, _, sequence, _ = struct.unpack_from("=IHHII", answer)
            if sequence != self.sequence:
                continue
            if kind == ERROR:
                code = struct.unpack_from("=i", answer, 16)[0]
                raise OSError(-code, f"taskstats: {command} refused")
            return attributes(answer[20:length])

    def delays(self, pid):
        """Of one task, since it began: what it waited for, how often and how long (ns). OSError when it is gone."""
        answer = self.ask(self.family, GET, attribute(ATTR_PID, struct.pack("=I", pid)))
        stats = attributes(answer[TYPE_AGGR_PID])[TYPE_STATS]
        version = struct.unpack_from("=H", stats)[0]
        if version < VERSION or struct.unpack_from("=I", stats, PID)[0] != pid:
            raise OSError(0, f"taskstats version {version} has another layout")
        return {name: struct.unpack_from("=QQ", stats, offset) for name, offset in FIELDS.items()}
