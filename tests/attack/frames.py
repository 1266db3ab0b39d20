"""Writes zstd frames without a zstd library: raw blocks, blocks of one repeated byte, and blocks that repeat what stands before them.

That is enough for hot sets: text as it is, and bombs, small files that become very large when they are read.
"""

import struct

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MOST = 128 << 10


def _left(value, bits):
    return ((value << bits) | (value >> (64 - bits))) & MASK


def _round(lane, word):
    return _left((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """The checksum zstd puts behind a frame (of it the lower four bytes)."""
    at, size = 0, len(data)
    if size >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        for words in struct.iter_unpack("<4Q", data[: size // 32 * 32]):
            lanes = [_round(lane, word) for lane, word in zip(lanes, words)]
        at = size // 32 * 32
        total = (_left(lanes[0], 1) + _left(lanes[1], 7) + _left(lanes[2], 12) + _left(lanes[3], 18)) & MASK
        for lane in lanes:
            total = ((total ^ _round(0, lane)) * P1 + P4) & MASK
    else:
        total = P5
    total = (total + size) & MASK
    while at + 8 <= size:
        total = (_left(total ^ _round(0, int.from_bytes(data[at : at + 8], "little")), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= size:
        total = (_left(total ^ (int.from_bytes(data[at : at + 4], "little") * P1 & MASK), 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        total = _left(total ^ (byte * P5 & MASK), 11) * P1 & MASK
    total = (total ^ (total >> 33)) * P2 & MASK
    total = (total ^ (total >> 29)) * P3 & MASK
    return total ^ (total >> 32)


def _block(kind, size, body):
    return (kind << 1 | size << 3).to_bytes(3, "little") + body


def raw(data):
    """Blocks that hold these bytes as they are."""
    return b"".join(_block(0, len(part), part) for part in (data[at : at + MOST] for at in range(0, len(data), MOST)))


def same(byte, times):
    """Blocks of one byte again and again: four bytes for every 128 KiB."""
    whole, rest = divmod(times, MOST)
    one = bytes([byte])
    return _block(1, MOST, one) * whole + (_block(1, rest, one) if rest else b"")


def again(line, times):
    """Blocks of one line again and again: the line once, then a few bytes for every 128 KiB."""
    blocks = len(line) * (times - 1) // MOST
    value = len(line) + 3
    code = value.bit_length() - 1
    bits = 1 << (code + 16) | (value - (1 << code)) << 16 | (MOST - 65539)
    body = bytes([0, 1, 0x54, 0, code, 52]) + bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    got = len(line) + blocks * MOST
    rest = (line * 2)[got % len(line) :][: len(line) - got % len(line)] if got % len(line) else b""
    got += len(rest)
    return raw(line) + _block(2, len(body), body) * blocks + raw(rest), got // len(line)


def frame(blocks, check=None, window=0x40, magic=b"\x28\xb5\x2f\xfd"):
    """A frame of such blocks; `check` is the text for the checksum, and `window` what the reader is told to hold in memory."""
    head = magic + bytes([4 if check is not None else 0, window])
    tail = (xxh64(check) & 0xFFFFFFFF).to_bytes(4, "little") if check is not None else b""
    return head + blocks + bytes([1, 0, 0]) + tail
