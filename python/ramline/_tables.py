"""Documents of the program as data frames."""

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ._program import RamlineError, checked, document, printed

Source = str | os.PathLike[str]
# Lists of a snapshot, and where each is below the section's data.
PARTS: Mapping[str, tuple[str, ...]] = {
    "processes": ("processes", "list"),
    "groups": ("groups", "list"),
    "swaps": ("swaps",),
    "mounts": ("mounts",),
    "disks": ("blocks",),
    "zram": ("zram", "devices"),
    "slab": ("slab", "caches"),
    "zones": ("zoneinfo", "zones"),
}
SNAPSHOT, CURVE, FORECAST = (1,), (1, 2), (2,)
# Counters of a history: they only grow, but for a boot, where they begin again.
COUNTERS = (
    *("pgpgin", "pgpgout", "pswpin", "pswpout", "pgmajfault", "refault_file", "refault_anon"),
    *("allocstall", "oom_kill", "waited_some_us", "waited_full_us"),
)
# Figures of a forecast, and their columns.
FIGURES = (
    *(("round", "round_s"), ("waiting", "waiting"), ("major", "major_faults"), ("swap_in", "swap_ins"), ("refault_file", "file_refaults")),
    *(("disk_read", "disk_read"), ("disk_written", "disk_written"), ("zram", "zram")),
)


def snapshot(*sources: Source, part: str | None = None) -> pd.DataFrame:
    """This machine, or each of `sources`: files of `ramline snapshot`, or directories of `ramline snapshot --tree`.

    Without `part`: one row a machine, a column a figure, as `meminfo.mem_available`. With it, a row an entry of that list: processes, groups, swaps, mounts,
    disks, zram, slab or zones. The column `source` says where a row is from. What a machine does not have or does not show has no column, or a missing value.
    """
    if part is not None and part not in PARTS:
        raise RamlineError(f"a snapshot has no part {part!r}\n  try: one of {', '.join(PARTS)}")
    rows: list[dict[str, Any]] = []
    for name, found in _snapshots(sources):
        if part is None:
            rows.append({"source": name, **_figures(found)})
        else:
            rows += [{"source": name, **dict(_flat(entry))} for entry in _entries(found, part)]
    return pd.DataFrame(rows, columns=None if rows else ["source"]).convert_dtypes()


def history(start: str | None = None, end: str | None = None, *, directory: Source | None = None, rates: bool = False) -> pd.DataFrame:
    """What `ramline record` wrote, a row a moment, by time (UTC): the last 24 hours, or from `start` to `end` ("00:30", "yesterday 23:00", "2026-11-30 08:00").

    With `rates`, counters are what was added a second since the moment before; the first moment of each boot has none.
    """
    words = ["history", "export", "--csv"]
    words += ["--from", start] if start is not None else []
    words += ["--to", end] if end is not None else []
    words += ["--history", os.fspath(directory)] if directory is not None else []
    table = pd.read_csv(io.StringIO(printed(words)), dtype_backend="numpy_nullable")
    table.insert(0, "moment", pd.to_datetime(table.pop("unix_ms"), unit="ms", utc=True))
    table = table.set_index("moment")
    return _per_second(table) if rates else table


def curve(trace: Source | None = None, *, cgroup: str | None = None, seconds: float | None = None, sizes: Sequence[str] = ()) -> pd.DataFrame:
    """Misses by size of memory.

    Of a file of `ramline trace`: for twelve sizes, or those of `sizes`, misses with plain LRU and the least that any choice could have.
    Of a running control group, or of the machine without `trace` and `cgroup` (root): sizes above the present one, and the share of misses that is left.
    """
    if trace is not None:
        if cgroup is not None or seconds is not None:
            raise RamlineError("a file of touches is read, and a control group is watched\n  try: curve(trace) or curve(cgroup=..., seconds=...)")
        words = ["trace", "curve", os.fspath(trace), "--json"] + (["--sizes", ",".join(sizes)] if sizes else [])
        return pd.DataFrame(document(words, CURVE)["points"]).convert_dtypes()
    words = ["curve", "--json"]
    words += ["--cgroup", cgroup] if cgroup is not None else []
    words += ["--for", f"{seconds}s"] if seconds is not None else []
    return pd.DataFrame(document(words, CURVE)["steps"]).convert_dtypes()


def predict(trace: Source, *, limits: Sequence[str] = (), settings: Sequence[str] = (), seed: int | None = None) -> pd.DataFrame:
    """What each setting would do to a recorded program under each limit: a row a setting and limit.

    `limits` as "8MiB"; `settings` as "no-swap", "swap:60", "zram:zstd:60"; both default to what `ramline predict` chooses. Of each figure: the median of the
    simulations (`round_s`), and the range that nine of ten simulations lie in (`round_s_low`, `round_s_high`).
    """
    words = ["predict", os.fspath(trace), "--json"]
    words += ["--limit", ",".join(limits)] if limits else []
    words += ["--settings", ",".join(settings)] if settings else []
    words += ["--seed", str(seed)] if seed is not None else []
    rows = []
    for setting in document(words, FORECAST)["forecast"]["settings"]:
        foretold = setting.get("foretold") or {}
        row = {"setting": setting["name"].split(" ")[0], "limit": setting["limit"], "verdict": foretold.get("verdict"), "killed": foretold.get("killed")}
        for figure, name in FIGURES:
            found = foretold.get(figure) or {}
            row |= {name: found.get("median"), f"{name}_low": found.get("low"), f"{name}_high": found.get("high")}
        rows.append(row)
    return pd.DataFrame(rows).convert_dtypes()


def _snapshots(sources: Iterable[Source]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name and the document of each source."""
    given = False
    for source in sources:
        given, path = True, Path(source)
        if path.is_dir():
            yield str(path), document(["--root", str(path), "snapshot"], SNAPSHOT)
        else:
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
            except OSError as error:
                raise RamlineError(f"{path}: {error.strerror}\n  try: ramline snapshot > {path}") from error
            yield str(path), checked(text, str(path), SNAPSHOT)
    if not given:
        yield "this machine", document(["snapshot"], SNAPSHOT)


def _data(found: Mapping[str, Any], section: str) -> Any:
    """What a section holds; `None` where the machine has it not, or it was not readable."""
    part = found.get(section)
    return part.get("data") if isinstance(part, dict) and part.get("state") == "seen" else None


def _figures(found: Mapping[str, Any]) -> dict[str, Any]:
    """Every single figure of a machine, with its section in front."""
    out: dict[str, Any] = {}
    for name, part in found.items():
        data = part if name == "machine" else _data(found, name)
        if isinstance(data, dict):
            out |= {f"{name}.{key}": value for key, value in _flat(data)}
    return out


def _entries(found: Mapping[str, Any], part: str) -> list[Any]:
    """The list of that name."""
    section, *path = PARTS[part]
    data = _data(found, section)
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data if isinstance(data, list) else []


def _flat(entry: Mapping[str, Any], front: str = "") -> Iterator[tuple[str, Any]]:
    """Single values, with the names of what holds them in front. Lists and figures that this version of ramline has no name for are left out."""
    for key, value in entry.items():
        if isinstance(value, dict):
            if key != "unknown":
                yield from _flat(value, f"{front}{key}.")
        elif value is not None and not isinstance(value, list):
            yield f"{front}{key}", value


def _per_second(table: pd.DataFrame) -> pd.DataFrame:
    """Counters as rates."""
    boots = table.groupby("boot_id", sort=False, dropna=False)
    elapsed = boots["boot_ms"].diff() / 1000
    for name in (name for name in COUNTERS if name in table):
        table[name] = boots[name].diff() / elapsed
    return table
