"""The file of the study of 502 servers: a line a host, twelve columns with tabs between them.

Number of the host, files in /tmp (du, KB), six columns of `free` for memory and three for swap (KB), inodes of /tmp. Two more may follow: seconds since the start of the host, and `physical` or
`virtual`. `free` has had two layouts, and a
number does not say of which it is: it is declared. A line of the other one shows where its sums do not come out.

>>> line("1\\t16\\t1000\\t700\\t300\\t0\\t50\\t350\\t0\\t0\\t0\\t9", "old")["free_kib"]
300
>>> line("1\\t16\\t1000\\t300\\t300\\t0\\t400\\t650\\t0\\t0\\t0\\t9", "old")
Traceback (most recent call last):
...
ramline_fleet.study.Refused: used and free are not the total: not the old layout of free
"""

from typing import Any

MEMORY = {
    "old": ("ram_kib", "used_kib", "free_kib", "shared_kib", "buffers_kib", "cached_kib"),
    "new": ("ram_kib", "used_kib", "free_kib", "shared_kib", "cached_kib", "available_kib"),
}
# What the last two columns may say.
KINDS = {"physical": 0, "virtual": 1, "-": None}
SWAP = ("swap_total_kib", "swap_used_kib", "swap_free_kib")
# Beyond this nobody has memory or a disk: 2^53 KiB.
MOST = 1 << 53
# Sums of what was read one after the other are off by so much.
LOOSE = 0.01


class Refused(ValueError):
    """Why a line is no row."""


def number(text: str, name: str) -> int | None:
    """A whole number of 0 or more; `-` is not known."""
    if text == "-":
        return None
    if not (text.isascii() and text.isdigit()):
        raise Refused(f"{name} is no number: {text[:40]!r}")
    # Looked at before it is read: of some thousand digits Python reads none.
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(MOST)) or int(digits) > MOST:
        raise Refused(f"{name} is more than there can be")
    return int(digits)


def line(text: str, layout: str) -> dict[str, Any]:
    """The values of a line, `host` among them."""
    words = text.split("\t")
    names = ("tmp_kib", *MEMORY[layout], *SWAP, "tmp_inodes")
    if len(words) not in (len(names) + 1, len(names) + 3):
        raise Refused(f"{len(words)} columns, not {len(names) + 1}, or {len(names) + 3} with uptime and kind")
    if not words[0].strip():
        raise Refused("the host has no name")
    values = {name: number(word.strip(), name) for name, word in zip(names, words[1:])}
    if len(words) > len(names) + 1:
        values["up_s"] = number(words[-2].strip(), "up_s")
        if words[-1].strip() not in KINDS:
            raise Refused(f"the kind of machine is physical, virtual or -, not {words[-1].strip()[:40]!r}")
        values["virtual_machine"] = KINDS[words[-1].strip()]
    adds_up(values, layout)
    return {"host": words[0].strip(), **values}


def adds_up(values: dict[str, Any], layout: str) -> None:
    """Refuses what cannot be of that layout of free, or of any."""
    def of(name: str) -> Any:
        return values.get(name)

    total, used, free, cached = of("ram_kib"), of("used_kib"), of("free_kib"), of("cached_kib")

    def near(sum_: int, whole: int) -> bool:
        return abs(sum_ - whole) <= LOOSE * whole

    if total == 0:
        raise Refused("a host without RAM")
    if None not in (total, used, free, cached):
        plain = near(used + free, total)
        if layout == "old" and not plain:
            raise Refused("used and free are not the total: not the old layout of free")
        if layout == "new" and plain and cached > LOOSE * total:
            raise Refused("used and free are the total without the cache: not the new layout of free")
    if None not in (total, of("available_kib")) and of("available_kib") > total:
        raise Refused("more is available than there is")
    parts = [of(name) for name in SWAP]
    if None not in parts and not near(parts[1] + parts[2], parts[0]):
        raise Refused("swap used and free are not the swap there is")
