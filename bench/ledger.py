"""The ledger of bench/accuracy as a page: pure functions of its record.

A cell is a setting of a series. A figure counts where the kernel had at least 50 of it in a round; below, an error in percent says nothing. Its error is that of the middle
predicted against the middle measured; it is held where that lies in the interval predicted. Beside the simulator stand a list of pages that are touched longest ago, two
lists, and "nothing changes": what was measured with swap:60 on the same kernel, taken for every other setting. Of guests no time is looked at. A time counts where it is under
three times the fastest of its series; those of the settings which gave the paces of the disk count for nothing. Two settings have a rank where their runs tell them apart: the 95 %
bootstrap interval of the ratio of their medians does not hold 1.
"""

import math
import random
import re
import statistics

from causes import CAUSES
from cells import GUEST_SERIES, SERIES

FIGURES = {"major": "major faults", "swap_in": "swap-ins", "refault_file": "file pages re-read"}
RIVALS = {"one_list": "one list", "two_lists": "two lists", "unchanged": "nothing changes"}
LEAST = 50
SLOWDOWN = 3
WIDE = 2
RESAMPLES = 2000
NEAR = 0.1
PACE = re.compile(r"(?:by what|by|part of) a round of (.+?)(?: took;|, whose)|by rounds of (.+?) and (.+?), whose")
ENDS = {"completed": "fine", "thrashing": "thrashing", "killed": "killed"}


def unpredicted(runs):
    """Settings as `predict` gives them, of runs that it has no prediction for."""
    out = []
    for name in dict.fromkeys(run["setting"] for run in runs):
        known = [run for run in runs if run["setting"] == name and end_of(run) in ENDS and run["swap_in"] is not None and run["refault_file"] is not None]
        ends = [ENDS[end_of(run)] for run in known]
        figures = {"verdict": max(ends, key=ends.count, default=None)}
        for figure, count in (("round", lambda run: run["seconds"]), ("major", lambda run: run["major"]), ("swap_in", lambda run: run["swap_in"] + (run["swap_in_zero"] or 0)),
                              ("refault_file", lambda run: run["refault_file"])):
            values = [count(run) / run["rounds"] for run in known if run["rounds"] > 0]
            figures[figure] = {"median": statistics.median(values), "low": min(values), "high": max(values)} if values else None
        out.append({"name": name, "foretold": None, "measured": figures if known else None, "runs": len(known)})
    return out


def end_of(run):
    verdict = run["verdict"]
    return verdict if isinstance(verdict, str) else next(iter(verdict))


def place_of(entry):
    machine = entry["machine"]
    return f"{machine['kernel']}, {machine.get('lru') or 'classic'}, cgroup v{machine['cgroup_version']}" + (", guest" if "guest" in entry else "")


def seen_of(entry):
    """Settings that were looked at before, by bench/cells.py."""
    name = entry["name"]
    known = GUEST_SERIES.get(name.rsplit(", ", 1)[0]) if "guest" in entry else SERIES.get(name)
    seen = (known or {}).get("seen", "")
    return (seen.get(entry["guest"], "") if isinstance(seen, dict) else seen).split(",")


def paced_of(entry):
    """Settings by whose rounds paces were found, as a note of the prediction has them."""
    for note in entry["predicted"]["notes"]:
        found = PACE.search(note)
        if found:
            return found.groups()
        if "no prediction" in note:
            raise ValueError(f"{entry['name']}: a note of paces that is not known: {note}")
    return ()


def cells(series):
    """Each setting with what was predicted and measured, and what others say."""
    for entry in series:
        seen, settings = seen_of(entry), entry["predicted"]["settings"]
        base = next((setting for setting in settings if setting["name"].startswith("swap:60")), settings[0] if settings else None)
        paced = paced_of(entry)
        for setting in settings:
            name, simpler = setting["name"], setting.get("simpler") or {}
            seconds = [run["seconds"] / run["rounds"] for run in entry["runs"] if run["setting"] == name and run["rounds"] > 0]
            counts = {figure: [run[figure] / run["rounds"] for run in entry["runs"] if run["setting"] == name and run["rounds"] > 0 and run[figure] is not None] for figure in FIGURES}
            yield {"series": entry["name"], "place": place_of(entry), "guest": "guest" in entry, "setting": name, "seen": name.split(" ")[0] in seen, "predicted": setting["foretold"],
                   "seconds": seconds, "counts": counts, "paced": name in paced, "measured": setting["measured"], "runs": setting["runs"], "one_list": simpler.get("one_list"), "two_lists": simpler.get("two_lists"),
                   "unchanged": {figure: ((base["measured"] or {}).get(figure) or {}).get("median") for figure in FIGURES} if setting is not base else None}


def measured(cell, figure):
    """The middle, or None where there is too little of it."""
    found = (cell["measured"] or {}).get(figure)
    return found and found["median"] >= LEAST and found["median"] or None


def pair(cell, figure):
    """Predicted and measured, or None where there is too little of it."""
    predicted = (cell["predicted"] or {}).get(figure)
    return (predicted, cell["measured"][figure]) if predicted and measured(cell, figure) else None


def error(cell, figure):
    both = pair(cell, figure)
    return both and both[0]["median"] / both[1]["median"] - 1


def error_of(cell, rival, figure):
    said, truth = (cell[rival] or {}).get(figure), measured(cell, figure)
    return None if said is None or truth is None else said / truth - 1


def held(cell, figure):
    both = pair(cell, figure)
    return both and both[0]["low"] <= both[1]["median"] <= both[0]["high"]


def ninetieth(values):
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.9))]


def times(cells_of):
    """Seconds of a round, predicted and in each run, of settings whose time is a prediction and not the one that the disk's pace was found by; none in a guest."""
    known = [cell for cell in cells_of if not cell["guest"] and not cell["paced"] and cell["seconds"] and cell["predicted"] and cell["predicted"].get("round")]
    return [(cell["predicted"]["round"]["median"], cell["seconds"]) for cell in known]


def time_errors(cells_of, all_of):
    """Errors of a round's time, where it is under `SLOWDOWN` times that of the fastest setting measured."""
    fastest = min((statistics.median(cell["seconds"]) for cell in all_of if cell["seconds"]), default=0)
    both = [(said, statistics.median(seconds)) for said, seconds in times(cells_of)]
    return [said / middle - 1 for said, middle in both if middle < SLOWDOWN * fastest]


def apart(one, other):
    """Whether runs tell two settings apart. They are no pairs: a setting may have more runs than another."""
    draw = random.Random(1)
    middle = lambda seconds: statistics.median(draw.choices(seconds, k=len(seconds)))
    ratios = sorted(middle(one) / middle(other) for _ in range(RESAMPLES))
    return ratios[int(0.975 * RESAMPLES)] < 1 or ratios[int(0.025 * RESAMPLES)] > 1


def ranked(cells_of):
    """Each pair of settings of a series: whether they are told apart, and 1 where their order is as predicted, -1 where it is not, 0 where one of the two has none."""
    both = times(cells_of)
    sign = lambda x: (x > 0) - (x < 0)
    for at, (said, seconds) in enumerate(both):
        for other, others in both[at + 1:]:
            yield apart(seconds, others), sign(said - other) * sign(statistics.median(seconds) - statistics.median(others))


def middle_of(values):
    """The 95 % interval of the median, by order statistics: each value is above it with probability one half. None of fewer than six."""
    n, below = len(values), 0.0
    for at in range(n // 2):
        below += math.comb(n, at) / 2**n
        if below > 0.025:
            return None if at == 0 else (sorted(values)[at - 1], sorted(values)[n - at])
    return None


def far(counted, figure):
    """Cells that are more than a tenth off, in words."""
    for cell in counted:
        both = pair(cell, figure)
        if both and abs(error(cell, figure)) > NEAR:
            sure = middle_of(cell["counts"][figure])
            interval = f", 95 % interval of the median of {len(cell['counts'][figure])} runs {count(sure[0])} to {count(sure[1])}" if sure else ""
            yield f"{cell['series']}, {cell['setting']}: predicted {count(both[0]['median'])}, measured {count(both[1]['median'])}{interval}"


def lines_of(counted):
    """One line a figure: how many cells, errors, and how many were held."""
    for figure, name in FIGURES.items():
        errors = [abs(error(cell, figure)) for cell in counted if error(cell, figure) is not None]
        if errors:
            kept = sum(bool(held(cell, figure)) for cell in counted if pair(cell, figure))
            yield name, len(errors), statistics.median(errors), ninetieth(errors), kept


def widths(counted):
    """How many times as wide as the runs differ the interval of each figure is."""
    both = [found for cell in counted for figure in FIGURES if (found := pair(cell, figure))]
    width = lambda range_of: range_of["high"] - range_of["low"]
    return [width(said) / width(seen) if width(seen) else math.inf for said, seen in both]


def counting(series):
    """What counts: predicted and measured, and not seen before."""
    return [cell for cell in cells(series) if not cell["seen"] and cell["measured"] and cell["predicted"]]


def left_out(series):
    """Measured and not predicted, each place with its settings."""
    out = {}
    for cell in cells(series):
        if cell["measured"] and not cell["predicted"]:
            out.setdefault(cell["place"], []).append(cell)
    return out


def summary(series):
    counted = counting(series)
    right = sum(cell["predicted"]["verdict"] == cell["measured"]["verdict"] for cell in counted)
    out = [f"{right} of {len(counted)} cells end as predicted"]
    out += [f"{name}: {n} cells, median error {middle:.1%}, 90th percentile {high:.1%}, {kept} inside the range" for name, n, middle, high, kept in lines_of(counted)]
    off = list(far(counted, "refault_file"))
    if off:
        out.append(f"file pages re-read more than 10 % off: {len(off)} cell{'s' * (len(off) > 1)} ({'; '.join(off)})")
    for place, of in (("on this machine", [cell for cell in counted if not cell["guest"]]), ("in guests", [cell for cell in counted if cell["guest"]])):
        found = widths(of)
        if found:
            narrow = sum(width <= WIDE for width in found)
            out.append(f"width of the range {place}: for {narrow} of {len(found)} figures at most {WIDE} times the spread of the runs, {statistics.median(found):.2f} times in the median")
    names = dict.fromkeys(cell["series"] for cell in counted if not cell["guest"])
    everything = list(cells(series))
    of = lambda which, name: [cell for cell in which if cell["series"] == name and not cell["guest"]]
    errors = [abs(value) for name in names for value in time_errors(of(counted, name), of(everything, name))]
    if errors:
        out.append(f"time of a round: {len(errors)} cells (those below {SLOWDOWN} times the fastest), median error {statistics.median(errors):.1%}, 90th percentile {ninetieth(errors):.1%}")
    pairs = [pair for name in names for pair in ranked(of(counted, name))]
    clear = [sign for is_clear, sign in pairs if is_clear]
    if clear:
        out.append(f"order of settings by time: Kendall's tau {statistics.mean(clear):.2f} over the {len(clear)} pairs whose runs differ, "
                   f"{statistics.mean(sign for _, sign in pairs):.2f} over all {len(pairs)}, in {len(names)} series")
    unsettled = [f"{cell['series']}, {cell['setting']}" for cell in counted if cell["predicted"].get("unsettled")]
    if unsettled:
        out.append(f"median uncertain by more than 10 %, because chance decides: {len(unsettled)} cells ({'; '.join(unsettled)})")
    missing = left_out(series)
    if missing:
        out.append(f"not predicted: {sum(map(len, missing.values()))} cells that were measured ({'; '.join(f'{place}: {len(all_of)}' for place, all_of in missing.items())})")
    return "\n".join(out)


def count(number):
    return "-" if number is None else f"{number:,.0f}"


def range_of(value):
    return "-" if value is None else f"{count(value['median'])} ({count(value['low'])} to {count(value['high'])})"


def percent(value):
    return "" if value is None else f"{value:+.0%}"


def worst(counted, most=5):
    all_of = [(abs(error(cell, figure)), cell, name) for cell in counted for figure, name in FIGURES.items() if error(cell, figure) is not None]
    return sorted(all_of, key=lambda row: -row[0])[:most]


def against_rivals(counted):
    """Median errors of the simulator and of simpler models, over the figures for which all of them say something."""
    yield from ("| figure | cells | `predict` | " + " | ".join(RIVALS.values()) + " |", "|---|---" + "|---" * (1 + len(RIVALS)) + "|")
    for figure, name in FIGURES.items():
        rows = [[error(cell, figure), *(error_of(cell, rival, figure) for rival in RIVALS)] for cell in counted]
        rows = [[abs(value) for value in row] for row in rows if None not in row]
        if rows:
            yield f"| {name} | {len(rows)} | " + " | ".join(f"{statistics.median(column):.1%}" for column in zip(*rows)) + " |"


# Measured on 29 November 2026 by others, before ranges of a virtual machine's plain forecasts were widened; of raw runs that are not kept here, so it stands as it was found.
INDEPENDENT = ("On settings in no ledger, on a busy virtual machine, major faults were 4.9 % off in the median and 75 % at most, ranges (narrower then) held 18 of 37 counts, and times "
               "were 1.7 to 17 times too short")


def plain(series):
    """Of forecasts without a series: the same cells, with nothing of their runs."""
    known = [{**entry, "predicted": entry["plain"]} for entry in series if "plain" in entry]
    return counting(known), list(cells(known))


def plain_short(series):
    """What is said of them first; the independent part stands word for word on the screen (crates/view/src/predict.rs)."""
    counted, _ = plain(series)
    if not counted:
        return INDEPENDENT
    errors = [abs(error(cell, "major")) for cell in counted if error(cell, "major") is not None]
    kept, all_of = sum(line[4] for line in lines_of(counted)), sum(line[1] for line in lines_of(counted))
    right = sum(cell["predicted"]["verdict"] == cell["measured"]["verdict"] for cell in counted)
    here = (f"Of {len(counted)} settings of this ledger major faults are {statistics.median(errors):.1%} off in the median and {max(errors):.0%} at most, ranges hold {kept} of {all_of} counts, "
            f"and {right} end as predicted").replace("%", " %")
    return f"{INDEPENDENT}. {here}"


def plain_section(series):
    """How plain forecasts are."""
    counted, _ = plain(series)
    yield from ("## Plain forecasts", "", "`ramline predict` without `--against` or `--verify`. Speeds of disk and processor, and the program's own memory, are assumed: this is what a user gets", "who has measured nothing.", "",
                f"{plain_short(series)}.", "",
                "The settings in no ledger were 14 of code-plus-data, servers, phases, scans and zipf:", "",
                "- plain: file pages 9.5 % off in the median (64 % at most), swap-ins 0.4 % (51 %). 10 of 14 ended as predicted; four that thrashed on the slow disk were predicted to end well.",
                "- calibrated on the same runs: 0.6, 0.65 and 0.3 % off, 32 of 37 counts inside the range, 14 of 14 ended as predicted.",
                "- in guests on 6.1, 6.12 and 7.3, whose processor is emulated, plain ranges held 34 of 34 counts.", "",
                "Plain forecasts now assume that a virtual disk may be up to ten times slower or faster.", "")
    if not counted:
        yield from others()
        return
    yield from ("| figure | cells | median error | 90th percentile | worst | inside the range |", "|---|---|---|---|---|---|")
    for figure, (name, n, middle, high, kept) in zip([figure for figure in FIGURES if any(pair(cell, figure) for cell in counted)], lines_of(counted)):
        worst_of = max(abs(error(cell, figure)) for cell in counted if error(cell, figure) is not None)
        yield f"| {name} | {n} | {middle:.1%} | {high:.1%} | {worst_of:.0%} | {kept} of {n} |"
    both = [(cell["predicted"]["round"]["median"], statistics.median(cell["seconds"])) for cell in counted if cell["seconds"] and cell["predicted"].get("round")]
    if both:
        ratios = sorted(seen / said for said, seen in both)
        inside = sum(cell["predicted"]["round"]["low"] <= statistics.median(cell["seconds"]) <= cell["predicted"]["round"]["high"] for cell in counted if cell["seconds"] and cell["predicted"].get("round"))
        yield from ("", f"Times of a round took {ratios[0]:.1f} to {ratios[-1]:.1f} times as long as predicted, {statistics.median(ratios):.1f} times in the median; {inside} of {len(both)} lie in the range.")
    wrong = [cell for cell in counted if cell["predicted"]["verdict"] != cell["measured"]["verdict"]]
    if wrong:
        yield from ("", "Ended otherwise than predicted: " + "; ".join(f"{cell['series']}, {cell['setting']} ({cell['measured']['verdict']}, predicted {cell['predicted']['verdict']})" for cell in wrong) + ".")
    yield from others()


def others():
    yield from ("", "**Programs that are not ramline's.** The forecast is for ramline's own worker. Another program with the same touches was measured on the same machine:", "",
                "- without swap 3.6 to 10.4 % too many major faults and 7 to 19 % too many file pages were predicted (a leaner program has some hundred KiB more of the limit);",
                "- with a swap file 17 and 54 % too many major faults, with zram of zeros 0.3 %.", "",
                "Read a plain forecast of your own program as an order of settings, not as counts.")


def by_place(series):
    """One line a kernel with its page lists."""
    yield from ("| kernel | measured | predicted | " + " | ".join(FIGURES.values()) + " |", "|---|---|---" + "|---" * len(FIGURES) + "|")
    for place in dict.fromkeys(map(place_of, series)):
        here = [entry for entry in series if place_of(entry) == place]
        counted, all_of = counting(here), [cell for cell in cells(here) if cell["measured"]]
        of = {name: f"{middle:.1%}, {high:.1%}; {kept} of {n}" for name, n, middle, high, kept in lines_of(counted)}
        yield f"| {place} | {len(all_of)} | {len(counted)} | " + " | ".join(of.get(name, "") for name in FIGURES.values()) + " |"


def section(entry):
    """The cells of a series, a line for each figure that was measured."""
    own = list(cells([entry]))
    asked = ", ".join(f"{key} {value}" for key, value in entry["series"].items() if key not in ("arms", "seen"))
    yield from ("", f"## {entry['name']}", "", f"{asked}; runs of each setting: {max((cell['runs'] for cell in own), default=0)}; {place_of(entry)}.", "")
    yield from (note + "\n" for note in entry["predicted"]["notes"] if note.startswith("not predicted"))
    yield from ("| setting | figure | measured | predicted | error | " + " | ".join(RIVALS.values()) + " |", "|---|---|---|---|---" + "|---" * len(RIVALS) + "|")
    for cell in own:
        ends = ["not predicted" if which == "predicted" and not cell[which] else (cell[which] or {}).get("verdict", "-") for which in ("measured", "predicted")]
        yield f"| {cell['setting']}{' (seen)' if cell['seen'] else ''} | ends | {' | '.join(ends)} | | | | |"
        for figure, name in FIGURES.items():
            if measured(cell, figure) or ((cell["predicted"] or {}).get(figure) or {"median": 0})["median"] >= LEAST:
                wrong = error(cell, figure)
                text = percent(wrong) + ("" if wrong is None or held(cell, figure) else ", outside")
                row = [range_of((cell["measured"] or {}).get(figure)), range_of((cell["predicted"] or {}).get(figure)), text]
                rivals = [percent(error_of(cell, rival, figure)) for rival in RIVALS]
                yield f"| | {name} | " + " | ".join([*row, *rivals]) + " |"


def calibrated_short(counted):
    lines = list(lines_of(counted))
    right = sum(cell["predicted"]["verdict"] == cell["measured"]["verdict"] for cell in counted)
    return (f"{lines[0][0].capitalize()} are {lines[0][2]:.1%} off in the median, ranges held {sum(line[4] for line in lines)} of {sum(line[1] for line in lines)} counts, "
            f"and {right} of {len(counted)} settings ended as predicted").replace("%", " %")


def page(series):
    """The summary, docs/accuracy.md."""
    counted = counting(series)
    machines = dict.fromkeys(f"Linux {entry['machine']['kernel']}, {entry['machine'].get('lru') or 'classic'} page lists, {entry['machine']['cpus']} CPUs, control groups of version "
                             f"{entry['machine']['cgroup_version']}" + (", a guest on an emulated processor" if "guest" in entry else "") for entry in series)
    out = ["# How right `ramline predict` is", "", "*Written by `bench/accuracy --table` from bench/runs/accuracy.json.*", "",
           "Each *cell* is a load under one setting, run in the lab and predicted. There are two kinds of forecasts:", "",
           f"- **Calibrated** (`--against`, `--verify`): speeds of disk and processor, and the program's own memory, are taken from the runs of the series; counts are not. {calibrated_short(counted)}.",
           f"- **Plain** (no series): all of that is assumed. {plain_short(series)}. [More](#plain-forecasts).", "",
           "All sections but [that one](#plain-forecasts) are about calibrated forecasts. A figure counts where it was at least 50 a round. \"Inside the range\" means that the simulations' range has the",
           "median of the runs in it. No cell has another program than ramline's worker, another processor than x86-64, several groups, or a whole machine short of memory.", "",
           "Every cell is in the book's chapter \"Predictions, cell by cell\"; `bench/accuracy --cells FILE` writes it.", "", "Measured on:", "",
           *[f"- {machine}" for machine in machines], "", "## In short", "", *[f"- {line}" for line in summary(series).splitlines()], "",
           "By kernel: median error, 90th percentile; figures inside the range.", "", *by_place(series), "",
           "Simpler models on the same cells, median errors. *One list* evicts the page unused for longest, *two lists* separate files from memory, *nothing changes* takes the counts of swap:60 for every setting.",
           "", *against_rivals(counted), "", "## The five worst", "", "| load | setting | figure | error |", "|---|---|---|---|"]
    out += [f"| {cell['series']} | {cell['setting']} | {name} | {error_of_cell:.0%} |" for error_of_cell, cell, name in worst(counted)]
    causes = {}
    for _, cell, name in worst(counted):
        causes.setdefault(CAUSES.get((cell["series"], cell["setting"], name), "The cause is not known."), []).append(f"{cell['series']}, {cell['setting']}, {name}")
    for cause, names in causes.items():
        out += ["", f"**{'; '.join(names)}.** {cause}"]
    return "\n".join([*out, "", *plain_section(series)]) + "\n"


def cell_page(series):
    """Every cell, a chapter of the book (packaging/book)."""
    out = ["# Predictions, cell by cell", "", "Written by `bench/accuracy --cells`. Measured: median and range of the runs; predicted: median and range of the simulations. [The summary](accuracy.md).", ""]
    for entry in series:
        out += section(entry)
    return "\n".join(out) + "\n"
