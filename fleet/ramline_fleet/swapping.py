"""What zram is worth, who was killed, and who waits for memory, over hosts and by role.

>>> host = dict(host="a", role="db", days=2, zram_days=2, sum_zram_stored_kib=8 << 20, sum_zram_taken_kib=2 << 20, kills=1, uptime_s=864000, waited_us=864_000_000, stalled_us=0, refault_file_kib=0,
...     refault_anon_kib=0, swap_in_kib=864000, swap_out_kib=0, swap_total_kib=8 << 20, most_swap_used_kib=5 << 20)
>>> print(zram_text(zram([host], {"hosts": 1})), end="")
zram saves 3.0 GiB of RAM on 1 host: 4.0 GiB stored in 1.0 GiB, 4.0 to 1.
role  hosts with zram  stored   takes    saves    ratio
db    1 of 1           4.0 GiB  1.0 GiB  3.0 GiB  4.0
>>> print(kills_text(kills([host], {"hosts": 1})), end="")
1 process was killed for want of memory, on 1 of 1 host (2.5 to 100.0 %).
role  hosts   with kills  kills  a host and 30 days
db    1       1           1      3.0
<BLANKLINE>
host  role  kills
a     db    1
>>> print(pressure_text(pressure([host], {"hosts": 1})), end="")
Hosts wait for memory 0.10 % of the time in the median, a 0.10 % at most (1 host).
role  hosts  waits, median  9 of 10 hosts  most        refaults, median  swap in, median  swap out, median
db    1      0.10 %         0.10 %         0.10 % (a)  0.0 KiB/s         1.0 KiB/s        0.0 KiB/s
"""

from statistics import median

from .intervals import exact
from .sizing import SHOWN, Host, part, waits
from .words import columns_of, gib, hosts, share

VERSION = 1
# Less than this and most of what is stored could as well stay uncompressed.
POOR = 1.5


def by_role(rows: list[Host]) -> list[tuple[str, list[Host]]]:
    return [(role, [row for row in rows if row["role"] == role]) for role in sorted({row["role"] for row in rows})]


def stored(rows: list[Host]) -> tuple[int, int]:
    """What zram holds on these hosts on an average day, and what it takes, in KiB."""
    each = [(row["sum_zram_stored_kib"] // row["zram_days"], row["sum_zram_taken_kib"] // row["zram_days"]) for row in rows]
    return sum(one[0] for one in each), sum(one[1] for one in each)


def zram(rows: list[Host], counts: Host) -> Host:
    """The document. A host with an empty zram has none to speak of."""
    known = [row for row in rows if row["zram_days"]]
    out = []
    for role, of in by_role(rows):
        using = [row for row in of if row["zram_days"] and row["sum_zram_stored_kib"]]
        holds, takes = stored(using)
        out.append({"role": role, "hosts": len(of), "with_zram": len(using), "known": sum(bool(row["zram_days"]) for row in of), "stored_kib": holds, "taken_kib": takes})
    using = [row for row in known if row["sum_zram_stored_kib"]]
    poor = [{"host": row["host"], "role": row["role"], "ratio": row["sum_zram_stored_kib"] / row["sum_zram_taken_kib"]} for row in using if row["sum_zram_taken_kib"] and row["sum_zram_stored_kib"] < POOR * row["sum_zram_taken_kib"]]
    disk = [{"host": row["host"], "role": row["role"], "swap_used_kib": row["most_swap_used_kib"]} for row in known if not row["sum_zram_stored_kib"] and row["most_swap_used_kib"]]
    return {"schema_version": VERSION, "report": "zram", **counts, "known": len(known), "roles": out, "poor": sorted(poor, key=lambda one: one["ratio"]),
            "swap_elsewhere": sorted(disk, key=lambda one: (-one["swap_used_kib"], one["host"]))}


def zram_text(found: Host) -> str:
    holds, takes = (sum(one[name] for one in found["roles"]) for name in ("stored_kib", "taken_kib"))
    using = sum(one["with_zram"] for one in found["roles"])
    if not using:
        head = f"No host of {found['known']} has anything in zram.\n" if found["known"] else "Of no host it is known what zram holds: ramline snapshot tells.\n"
    else:
        head = f"zram saves {gib(holds - takes)} of RAM on {hosts(using)}: {gib(holds)} stored in {gib(takes)}, {ratio(holds, takes)} to 1.\n"
    out = head + columns_of([["role", "hosts with zram", "stored", "takes", "saves", "ratio"], *([one["role"] or "no role", f"{one['with_zram']} of {one['known']}", gib(one["stored_kib"]), gib(one["taken_kib"]),
                             gib(one["stored_kib"] - one["taken_kib"]), ratio(one["stored_kib"], one["taken_kib"])] for one in found["roles"])])
    if found["poor"]:
        out += f"\nHosts whose data hardly compresses (under {POOR} to 1)\n" + columns_of([["host", "role", "ratio"], *([one["host"], one["role"], f"{one['ratio']:.2f}"] for one in found["poor"][:SHOWN])])
    if found["swap_elsewhere"]:
        out += "\nHosts that swap, and not to zram\n" + columns_of([["host", "role", "swap in use"], *([one["host"], one["role"], gib(one["swap_used_kib"])] for one in found["swap_elsewhere"][:SHOWN])])
    return out


def ratio(holds: int, takes: int) -> str:
    return f"{holds / takes:.1f}" if takes else "-"


def kills(rows: list[Host], counts: Host) -> Host:
    """The document; the cause (the whole machine, or a group at its limit) is not in the counter."""
    known = [row for row in rows if row["kills"] is not None]
    low, high = exact(sum(row["kills"] > 0 for row in known), len(known)) if known else (None, None)
    return {"schema_version": VERSION, "report": "kills", **counts, "known": len(known), "kills": sum(row["kills"] for row in known), "low": low, "high": high,
            "roles": [{"role": role, "hosts": len(of), "with_kills": sum(row["kills"] > 0 for row in of), "kills": sum(row["kills"] for row in of),
                       "per_host_30_days": part(sum(row["kills"] for row in of) * 30 * 86_400, sum(row["uptime_s"] or 0 for row in of))} for role, of in by_role(known)],
            "rows": [{"host": row["host"], "role": row["role"], "kills": row["kills"]} for row in sorted(known, key=lambda row: (-row["kills"], row["host"])) if row["kills"]]}


def kills_text(found: Host) -> str:
    if not found["known"]:
        return "Of no host it is known whether processes were killed: ramline snapshot and node_exporter tell.\n"
    count, with_kills = found["kills"], len(found["rows"])
    head = f"{count} process{' was' if count == 1 else 'es were'} killed for want of memory, on {with_kills} of {hosts(found['known'])} ({found['low'] * 100:.1f} to {found['high'] * 100:.1f} %).\n"
    out = head + columns_of([["role", "hosts ", "with kills", "kills", "a host and 30 days"], *([one["role"] or "no role", str(one["hosts"]), str(one["with_kills"]), str(one["kills"]),
                             "unknown" if one["per_host_30_days"] is None else f"{one['per_host_30_days']:.1f}"] for one in found["roles"])])
    if found["rows"]:
        out += "\n" + columns_of([["host", "role", "kills"], *([one["host"], one["role"], str(one["kills"])] for one in found["rows"][:SHOWN])])
    return out


RATES = {"refault_file_kib": "refaults", "swap_in_kib": "swap in", "swap_out_kib": "swap out"}


def pressure(rows: list[Host], counts: Host) -> Host:
    """The document: by role, the median host, that of which 9 in 10 wait no more, and the one that waits most."""
    known = [row for row in rows if waits(row) is not None]
    out = []
    for role, of in by_role(known):
        ranked = sorted((waits(row) or 0.0, row["host"]) for row in of)
        out.append({"role": role, "hosts": len(of), "median": median(value for value, _ in ranked), "nine_in_ten": ranked[-(-9 * len(ranked) // 10) - 1][0], "most": ranked[-1][0], "most_host": ranked[-1][1],
                    **{name: median_of([part(row[name], row["uptime_s"]) for row in of]) for name in RATES}})
    return {"schema_version": VERSION, "report": "pressure", **counts, "known": len(known), "roles": out}


def median_of(values: list[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return median(found) if found else None


def pressure_text(found: Host) -> str:
    if not found["known"]:
        return "Of no host it is known how long it waited for memory: ramline snapshot and node_exporter tell.\n"
    worst = max(found["roles"], key=lambda one: one["most"])
    middle = median(one["median"] for one in found["roles"] for _ in range(one["hosts"]))
    head = f"Hosts wait for memory {share(middle)} of the time in the median, {worst['most_host']} {share(worst['most'])} at most ({hosts(found['known'])}).\n"
    return head + columns_of([["role", "hosts", "waits, median", "9 of 10 hosts", "most", *(f"{name}, median" for name in RATES.values())],
                              *([one["role"] or "no role", str(one["hosts"]), share(one["median"]), share(one["nine_in_ten"]), f"{share(one['most'])} ({one['most_host']})",
                                 *("unknown" if one[name] is None else f"{one[name]:.1f} KiB/s" for name in RATES)] for one in found["roles"])])


