"""The ledger of bench/accuracy as a page: pure functions of its record.

A cell is a setting of a series. A figure counts where the kernel had at least 50 of it in a round; below, an error in percent says nothing. Its error is that of the middle
predicted against the middle measured; it is held where that lies in the interval predicted.
"""

import statistics

FIGURES = {"major": "major faults", "swap_in": "swap-ins", "refault_file": "file pages back"}
LEAST = 50


def cells(series):
    """Each setting with what was predicted and measured."""
    for entry in series:
        seen = entry["series"].get("seen", "").split(",")
        for setting in entry["predicted"]["settings"]:
            name = setting["name"]
            yield {"series": entry["name"], "setting": name, "seen": name.split(" ")[0] in seen, "predicted": setting["foretold"], "measured": setting["measured"], "runs": setting["runs"]}


def pair(cell, figure):
    """Predicted and measured, or None where there is too little of it."""
    both = [(cell[which] or {}).get(figure) for which in ("predicted", "measured")]
    if None in both or both[1]["median"] < LEAST:
        return None
    return both


def error(cell, figure):
    both = pair(cell, figure)
    return both and both[0]["median"] / both[1]["median"] - 1


def held(cell, figure):
    both = pair(cell, figure)
    return both and both[0]["low"] <= both[1]["median"] <= both[0]["high"]


def ninetieth(values):
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.9))]


def tau(cells_of):
    """Kendall's rank correlation of the times of rounds, over settings that came to an end; None of fewer than three."""
    both = [(cell["predicted"]["round"]["median"], cell["measured"]["round"]["median"]) for cell in cells_of
            if cell["predicted"] and cell["measured"] and cell["predicted"].get("round") and cell["measured"].get("round")]
    if len(both) < 3:
        return None
    pairs = [(a, b) for at, a in enumerate(both) for b in both[at + 1:]]
    sign = lambda x: (x > 0) - (x < 0)
    return sum(sign(a[0] - b[0]) * sign(a[1] - b[1]) for a, b in pairs) / len(pairs)


def lines_of(counted):
    """One line a figure: how many cells, errors, and how many were held."""
    for figure, name in FIGURES.items():
        errors = [abs(error(cell, figure)) for cell in counted if error(cell, figure) is not None]
        if errors:
            kept = sum(bool(held(cell, figure)) for cell in counted if pair(cell, figure))
            yield name, len(errors), statistics.median(errors), ninetieth(errors), kept


def summary(series):
    counted = [cell for cell in cells(series) if not cell["seen"] and cell["measured"] and cell["predicted"]]
    right = sum(cell["predicted"]["verdict"] == cell["measured"]["verdict"] for cell in counted)
    out = [f"{len(counted)} cells count; {right} end as predicted"]
    out += [f"{name}: {n} cells, median error {middle:.1%}, 90th of 100 {high:.1%}, {kept} held" for name, n, middle, high, kept in lines_of(counted)]
    taus = [value for value in (tau([c for c in counted if c["series"] == name]) for name in dict.fromkeys(c["series"] for c in counted)) if value is not None]
    if taus:
        out.append(f"ranking of settings by time: Kendall's tau {statistics.median(taus):.2f} in the middle, {min(taus):.2f} at least, of {len(taus)} series")
    return "\n".join(out)


def range_of(value):
    if value is None:
        return "-"
    whole = lambda number: f"{number:,.0f}"
    return f"{whole(value['median'])} ({whole(value['low'])} to {whole(value['high'])})"


def worst(counted, most=5):
    all_of = [(abs(error(cell, figure)), cell, name) for cell in counted for figure, name in FIGURES.items() if error(cell, figure) is not None]
    return sorted(all_of, key=lambda row: -row[0])[:most]


def page(series):
    counted = [cell for cell in cells(series) if not cell["seen"] and cell["measured"] and cell["predicted"]]
    machines = sorted({f"Linux {entry['machine']['kernel']}, {entry['machine']['cpus']} CPUs, control groups of version {entry['machine']['cgroup_version']}" for entry in series})
    out = ["# How right `ramline predict` is", "", "Made by `bench/accuracy` from bench/runs/accuracy.json; not written by hand. Each cell is a load under a setting, run in the lab and predicted from what the run was",
           "asked for. A figure counts where the kernel had at least 50 of it in a round. Measured: median and range of the runs; predicted: middle and interval.", "",
           *[f"- {machine}" for machine in machines], "", "## In short", "", *[f"- {line}" for line in summary(series).splitlines()], "", "## The five worst", "",
           "| load | setting | figure | error |", "|---|---|---|---|"]
    out += [f"| {cell['series']} | {cell['setting']} | {name} | {error_of:.0%} |" for error_of, cell, name in worst(counted)]
    for entry in series:
        series_of = [cell for cell in cells(series) if cell["series"] == entry["name"]]
        asked = ", ".join(f"{key} {value}" for key, value in entry["series"].items() if key not in ("arms", "seen"))
        out += ["", f"## {entry['name']}", "", f"{asked}; {max((cell['runs'] for cell in series_of), default=0)} runs of each setting.", "",
                "| setting | ends: predicted, measured | " + " | ".join(f"{name} predicted | measured | error" for name in FIGURES.values()) + " |", "|---|---" + "|---|---|---" * len(FIGURES) + "|"]
        for cell in series_of:
            ends = ", ".join((cell[which] or {}).get("verdict", "-") for which in ("predicted", "measured"))
            row = [cell["setting"] + (" (seen)" if cell["seen"] else ""), ends]
            for figure in FIGURES:
                wrong = error(cell, figure)
                text = "" if wrong is None else f"{wrong:+.0%}" + ("" if held(cell, figure) else ", outside")
                row += [range_of((cell["predicted"] or {}).get(figure)), range_of((cell["measured"] or {}).get(figure)), text]
            out.append("| " + " | ".join(row) + " |")
    return "\n".join(out) + "\n"
