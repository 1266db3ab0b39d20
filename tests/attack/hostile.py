"""Hostile values, and ways to put them into JSON, into the kernel's texts and into bytes. Nothing here knows ramline."""

import json
import re

PLANT = "</script><plant x=1>"

NUMBERS = [0, 1, -1, 2, 3, 7, 10**6, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**51, 2**52, 2**53, 2**53 + 1, 2**54 - 1, 2**54, 2**55, 2**60,
           2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1, 2**64, -(2**31), -(2**63), -(2**63) - 1, 10**19, 10**30]
EXTREMES = [2**52, 2**54 - 1, 2**54, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 1, 2**64 - 1, 0]
# As text in JSON, where Python would not write it.
RAW = ["1e999", "-1e999", "1e308", "-0.0", "0.1", "1.7976931348623157e308", "5e-324", "00", "+1", "1.", "NaN", "Infinity", "1" * 400, "-", "tru",
       "9" * 5000, "{", "]", '"\\ud800"', '"\\ud800\\udc00"', '"\\u0000"', "[" * 100 + "]" * 100, "[" * 200 + "]" * 200, "[" * 100000,
       '{"a":' * 120 + "1" + "}" * 120, '{"a":' * 20000]
STRINGS = ["", " ", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b[2J\x1b[H", "\x9b31m", "a\rb", "a\nb", "a\tb", "\x00", "\x07", "\x08\x08\x08", "\x7f",
           "\u202egnp.exe", "\u2066x\u2069", "\u202a", "\u200b", "\ufeff", "\u2028", "e\u0301" * 30, "\U0001f468\u200d\U0001f469\u200d\U0001f467",
           "\u4e2d\u6587" * 40, PLANT, "<img src=x onerror=alert(1)>", "\"'`&<>", "{{x}}", "%s%n%x", "a" * 5000, "b" * 100_000, "-", "--json", "/",
           "\\", "0x10", "1e9", "18446744073709551615", "-1", "max", "none", "null", "true", "[always]", "\udcff", "\udc80\udcfe", "kB", "\x85",
           "a b", "a,b", "a\u00a0b", "\x1bP1$r\x1b\\", "\x1b[6n", "\x0e", "\x0c", "\x0b", "x" * 255, "x" * 256, "x/" * 2100, "\u0600", "\ud7ff"]
# In the kernel's files; mount points are written with octal numbers.
TOKENS = [text.encode("utf-8", "surrogateescape") for text in STRINGS[:20]] + [
    b"\\033[31m", b"\\012", b"\\000", b"\\377", b"\\", b"\\1", b"\\999", b"\xff\xfe", b"\xc2\x9b31m", b"\xed\xa0\x80", b"\xe2\x80\xae", b"", b"0", b"-",
    b"18446744073709551615", b"9223372036854775808", b"-1", b"99999999999999999999", b"0x7fffffffffffffff", b"1.5", b"nan", b"inf", b"1e400", b"max",
    b"</script><plant", b"kB", b":", b"(deleted)", b"a" * 300, b"=" * 9, b"avg10=1e308", b"total=18446744073709551615", b"--", b"#", b"[zstd]", b"[]"]
NAMES = [b"\x1b[31m", b"a\nb", b"\xff\xfe", b"\xc2\x9bm", b"\xe2\x80\xae", b" ", b"-", b"a" * 255, b"\t", b"</a><plant x=1>", b"..x", b"\\x2d", b"0", b"-1",
         b"18446744073709551616", b"zram99999999999", b"node4294967296", b"docker-\x1b[2J.scope", b"%", b"x.slice", b"\x7f", b"\r"]


def flip(rng, data):
    """Bytes changed, cut out, put in, doubled."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(7):
            case 0 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 1 if data:
                data[at % len(data)] = rng.choice([0, 0x0A, 0x1B, 0x22, 0x5C, 0x7F, 0x80, 0xFF, rng.randrange(256)])
            case 2:
                del data[at : at + rng.choice([1, 2, 8, 100])]
            case 3:
                data[at:at] = rng.randbytes(rng.choice([1, 2, 8, 100]))
            case 4:
                data[at:at] = data[at : at + rng.choice([1, 8, 100, 1000])] * rng.choice([1, 2, 20])
            case 5:
                del data[at:]
            case _:
                data[at:at] = rng.choice(TOKENS)
    return bytes(data)


def _slots(node, out):
    stack = [node]
    while stack:
        node = stack.pop()
        for key in node if isinstance(node, dict) else range(len(node)):
            out.append((node, key))
            if isinstance(node[key], (dict, list)):
                stack.append(node[key])


def mutate_json(rng, text, strings=STRINGS, rounds=None):
    """A JSON text with values, names and structure changed; now and then it is none any more. Returns bytes and what was done."""
    holder = [json.loads(text)]
    raws, doubled, done = [], [], []

    def put(text):
        raws.append(text)
        return f"\ue000{len(raws) - 1}\ue001"

    slots = []
    _slots(holder, slots)
    for _ in range(rounds or rng.choice([1, 1, 2, 3, 8])):
        node, key = rng.choice(slots)
        try:
            value = node[key]
        except (KeyError, IndexError):
            continue
        way = rng.randrange(20)
        if way < 6:
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                node[key] = rng.choice(NUMBERS) if rng.random() < 0.85 else put(rng.choice(RAW))
            elif isinstance(value, str):
                node[key] = rng.choice(strings)
            elif isinstance(value, list):
                node[key] = rng.choice([[], value * 2, value * rng.choice([3, 50]), value[1:], value[::-1]]) if len(str(value)) < 20000 else value[1:]
            elif isinstance(value, dict):
                node[key] = {} if rng.random() < 0.3 else {name: value[name] for name in rng.sample(list(value), len(value) // 2)}
            else:
                node[key] = rng.choice(NUMBERS + strings[:10])
            done.append("value")
        elif way < 10:
            # All of one name, or all numbers: what is summed up.
            extreme = rng.choice(EXTREMES)
            for other, name in slots:
                if (name == key or way == 9) and name in other if isinstance(other, dict) else False:
                    if isinstance(other[name], (int, float)) and not isinstance(other[name], bool):
                        other[name] = extreme
            done.append("all")
        elif way < 12:
            node[key] = rng.choice([None, True, [], {}, "", 0, -1, 0.5, [[]], {"": None}, [None] * 100])
            done.append("type")
        elif way < 13:
            node[key] = put(rng.choice(RAW))
            done.append("raw")
        elif way < 15 and isinstance(node, dict):
            del node[key]
            done.append("gone")
        elif way < 16 and isinstance(node, dict):
            node[rng.choice(strings + ["unknown", "path", "kind", "size"])] = node.pop(key)
            done.append("renamed")
        elif way < 17 and isinstance(node, dict):
            doubled.append(key)
            done.append("doubled")
        elif way < 18:
            other, name = rng.choice(slots)
            if (name in other if isinstance(other, dict) else name < len(other)) and not isinstance(value, (dict, list)):
                other[name] = value
            done.append("moved")
        elif isinstance(node, list):
            node[key:key] = [value] * rng.choice([1, 2, 30, 500]) if len(str(value)) < 2000 else [value]
            done.append("again")
        else:
            node[key] = rng.choice(strings)
            done.append("string")
    out = json.dumps(holder[0], ensure_ascii=rng.random() < 0.5, separators=(",", ":"))
    for number, raw in enumerate(raws):
        for mark in (json.dumps(f"\ue000{number}\ue001"), f'"\ue000{number}\ue001"'):
            out = out.replace(mark, raw)
    for key in doubled:
        name = json.dumps(key) + ":"
        out = out.replace(name, f"{name}{rng.choice(['0', 'null', '[]'])},{name}", 1)
    # A lone half of a pair is no character: in a file it is bytes that are no UTF-8.
    return out.encode("utf-8", "surrogatepass"), "+".join(sorted(set(done)))


def mutate_text(rng, data):
    """One of the kernel's texts with numbers, words, lines or bytes changed."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        match rng.randrange(16):
            case 0 | 1 | 2 | 3:
                spots = list(re.finditer(rb"\d+", data))
                for spot in sorted(rng.sample(spots, min(len(spots), rng.choice([1, 1, 2, 5]))), key=lambda spot: -spot.start()):
                    data = data[: spot.start()] + str(rng.choice(NUMBERS)).encode() + data[spot.end() :]
            case 4 | 5:
                extreme = str(rng.choice(EXTREMES)).encode()
                data = re.sub(rb"(?<=[\s=:])\d+(?=\s|$)" if rng.random() < 0.7 else rb"\d+", extreme, data)
                if data.strip().isdigit():
                    data = extreme + b"\n"
            case 6 | 7 | 8:
                spots = list(re.finditer(rb"[^\s:=]+", data))
                if spots:
                    spot = rng.choice(spots)
                    data = data[: spot.start()] + rng.choice(TOKENS) + data[spot.end() :]
            case 9:
                del lines[at]
                data = b"\n".join(lines)
            case 10:
                lines[at:at] = [lines[at]] * rng.choice([1, 3, 100, 2000])
                data = b"\n".join(lines)
            case 11:
                lines[at] = rng.choice([b"", b" ", b"\0" * 50, b"garbage", b"x" * rng.choice([300, 70000]), rng.randbytes(40), b": :", b"\t" * 9] + TOKENS)
                data = b"\n".join(lines)
            case 12:
                data = data[: rng.randrange(len(data) + 1)]
            case 13:
                data = rng.choice([b"", b"\n", b"\0" * 4096, b"garbage\n", b"-1\n", b"18446744073709551615\n", b"9223372036854775808\n", b"max\n",
                                   b"\xff" * 100, data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data, data.rstrip(b"\n"), data.replace(b" ", b""),
                                   data.replace(b":", b""), data * 3, b"1" * (1 << 20), b"a " * (1 << 17)])
            case 14:
                rng.shuffle(lines)
                data = b"\n".join(lines)
            case _:
                data = flip(rng, data)
    return data
