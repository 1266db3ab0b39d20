"""A day's file of history, made of a shorter one: its frames again and again at later times, from whole frame to whole frame.

Example: size, first_s, last_s = day_of(path.read_bytes(), folder)
"""

import time

DAY_MS = 24 * 3600 * 1000
MARK = b"\xb5\x52"
TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    TABLE.append(number)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 128:
            return value, at


def put(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def frames(data, at):
    """Kind, times, place and content of each frame of texts, in order; notes are left out."""
    while at < len(data) and data[at:at + 2] == MARK:
        kind = data[at + 2]
        length, body = varint(data, at + 3)
        body += 4
        at = body + length
        if at > len(data):
            return
        wall, place_at = varint(data, body)
        boot, place_at = varint(data, place_at)
        place, rest = varint(data, place_at)
        if kind & 63 == 1:
            yield kind, wall, boot, place, data[rest + 2:at]


def written(kind, wall, boot, place, crc, content):
    body = put(wall) + put(boot) + put(place) + (crc & 0xFFFF if place else 0).to_bytes(2, "little") + content
    crc = crc32c(bytes([kind]) + len(body).to_bytes(8, "little") + body)
    return MARK + bytes([kind]) + put(len(body)) + crc.to_bytes(4, "little") + body, crc


def day_of(data, folder):
    """Writes yesterday's file; its size, and the times of its first and last frame in seconds."""
    _, at = varint(data, 16)
    length, at = varint(data, at)
    head, found = data[:at + 4 + length], list(frames(data, at + 4 + length))
    whole = [index for index, frame in enumerate(found) if frame[3] == 0]
    # From the first whole frame to the last one, where there are two.
    found = found[whole[0]:whole[-1] if len(whole) > 1 else None]
    step = found[1][1] - found[0][1]
    length = found[-1][1] - found[0][1] + step
    begin = int(time.time() * 1000) // DAY_MS * DAY_MS - DAY_MS
    out, crc, last, again = [head], 0, begin, 0
    while (again + 1) * length <= DAY_MS:
        for kind, wall, boot, place, content in found:
            last = begin + again * length + wall - found[0][1]
            frame, crc = written(kind, last, boot + again * length, place, crc, content)
            out.append(frame)
        again += 1
    day = b"".join(out)
    path = folder / time.strftime("%Y-%m-%d.ramline", time.gmtime(begin / 1000))
    path.touch(mode=0o600)
    path.write_bytes(day)
    return len(day), begin / 1000, last / 1000
