"""Reads a file of touches as far as a recorder writes it: regions, epochs, changes (docs/traces.md). Apart from ramline's own reader, so that both are held against the format."""

import struct
from dataclasses import dataclass, field

KINDS = {0: "file", 1: "anonymous", 2: "shared"}


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length : self.at].decode()


@dataclass
class Epoch:
    time: int
    cpu: int
    resident: int
    flags: int
    # Of each region the pages that were touched through a mapping.
    pages: dict = field(default_factory=dict)
    # What was read and written with read(2) and write(2), in order: region, what, first page, count.
    calls: list = field(default_factory=list)


@dataclass
class Recording:
    version: int
    name: str
    regions: list
    epochs: list
    # (epochs before it, what, region, numbers)
    changes: list


def read(path):
    data = path.read_bytes()
    assert data[:16] == b"ramline touches\n", data[:16]
    version, length, _ = struct.unpack_from("<III", data, 16)
    header = Numbers(data[28 : 28 + length])
    header.number(), header.byte()
    out = Recording(version, header.text(), [], [], [])
    at = 28 + length
    while True:
        kind, length, records = struct.unpack_from("<4sII", data, at)
        contents = Numbers(data[at + 24 : at + 24 + length])
        at += 24 + length
        if kind == b"INDX":
            return out
        for _ in range(records):
            (region if kind == b"RGNS" else record)(contents, out)


def region(numbers, out):
    flags = numbers.byte()
    one = {"memory": KINDS[flags & 3], "executable": bool(flags & 8), "bytes": numbers.number(), "name": None}
    if flags & 3 == 0:
        one["device"], one["inode"] = numbers.number(), numbers.number()
        if flags & 4:
            one["name"] = numbers.text()
    assert not flags & 0xF0
    out.regions.append(one)


def record(numbers, out):
    tag = numbers.byte()
    if tag == 0x85:
        out.epochs.append(Epoch(numbers.number(), numbers.number(), numbers.number(), numbers.byte()))
    elif tag in (0x81, 0x86, 0x87, 0x88):
        time, region, runs = numbers.number(), numbers.number(), numbers.number()
        assert out.epochs[-1].time == time
        if tag != 0x81:
            behind = 0
            for _ in range(runs):
                first = behind + numbers.number()
                count = numbers.number() + 1
                out.epochs[-1].calls.append((region, {0x86: "read", 0x87: "write", 0x88: "read"}[tag], first, count))
                behind = first + count + 1
            return
        pages, behind = out.epochs[-1].pages.setdefault(region, set()), 0
        for _ in range(runs):
            first = behind + numbers.number()
            count = numbers.number() + 1
            pages.update(range(first, first + count))
            behind = first + count + 1
    elif tag in (0x82, 0x83):
        what = {0x82: "map", 0x83: "unmap"}[tag]
        out.changes.append((len(out.epochs), what, numbers.number(), (numbers.number(), numbers.number())))
    else:
        assert tag == 0x84, hex(tag)
        out.changes.append((len(out.epochs), "grow", numbers.number(), (numbers.number(),)))
