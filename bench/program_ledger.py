"""The ledger of bench/real-programs as a part of docs/accuracy.md: pure functions of its record.

A cell is a program under a limit and a setting. A figure counts where runs that ended well had at least 500 of it in the median; its error is that of the median predicted against the median measured, and it is held
where that lies in the interval predicted. Where the forecast says that counts are not known, what it would have said is beside them and counts for itself. Two settings have a rank where all runs of one took longer than
all of the other; a run that was killed, or was not done in time, took longer than one that was.
"""

import statistics

FIGURES = {"major": "major faults", "swap_in": "swap-ins", "refault_file": "file pages re-read"}
LEAST = 500
# Programs with which a rule was found, and which; their cells of the settings named do not count.
SEEN = {
    "python": {"zram:lz4:60": "that the pool is part of the limit"},
    "pgbench": dict.fromkeys(("no-swap", "swap:60", "zram:lz4:60"), "that a read(2) of several pages is one request"),
    "redis": dict.fromkeys(("no-swap", "swap:60", "zram:lz4:60"), "that memory shared since fork(2) is one page"),
}
ENDS = {"completed": "fine", "thrashing": "thrashing", "killed": "killed"}
BEGIN, END = "<!-- bench/real-programs: from here -->\n", "<!-- bench/real-programs: to here -->\n"


def end_of(verdict):
    return verdict if isinstance(verdict, str) else next(iter(verdict))


def has_hung(run):
    """It took all its time and hardly read anything: a server that was killed in the run before did not start anew."""
    return run["verdict"] == "thrashing" and run["major"] < 100 and (run["refault_file"] or 0) < 100


def cells(record):
    """Each cell that was measured."""
    for name, entry in record.items():
        for part, measured in entry.get("runs", {}).items():
            for setting in dict.fromkeys(run["setting"] for run in measured["runs"]):
                runs = [run for run in measured["runs"] if run["setting"] == setting and run["verdict"] in ENDS and not has_hung(run)]
                forecast = entry["forecast"].get(f"{part} {setting}")
                if runs and forecast:
                    yield {"program": name, "part": int(part), "setting": setting, "limit": entry["limits"][part], "forecast": forecast, "lru": entry.get("lru", {}).get(part), "runs": runs, "seen": setting in SEEN.get(name, {})}


def ends(runs):
    """How runs ended, those that most did first; of as many each the worse."""
    all = [ENDS[run["verdict"]] for run in runs]
    kinds = sorted(set(all), key=lambda kind: (all.count(kind), ("fine", "thrashing", "killed").index(kind)), reverse=True)
    return kinds[0], ", ".join(kind if len(kinds) == 1 else f"{kind} {all.count(kind)}" for kind in kinds)


def figures(cell):
    """What counts of a cell: figure, median predicted and range, median measured and range."""
    well = [run for run in cell["runs"] if run["verdict"] == "completed"]
    for figure in FIGURES:
        values, forecast = [run[figure] for run in well if run[figure] is not None], cell["forecast"].get(figure)
        if values and forecast and statistics.median(values) >= LEAST and cell["forecast"]["verdict"] == "fine":
            yield figure, forecast, statistics.median(values), (min(values), max(values))


def read_again(cell):
    """Pages that were read again in the median of the runs that ended well: measured, predicted, and by plain LRU of the same recording."""
    sums = [run["swap_in"] + run["refault_file"] for run in cell["runs"] if run["verdict"] == "completed" and None not in (run["swap_in"], run["refault_file"])]
    forecast, lru = cell["forecast"], cell["lru"]
    predicted = [forecast[figure]["median"] for figure in ("swap_in", "refault_file") if forecast.get(figure)]
    if sums and lru is not None and len(predicted) == 2 and statistics.median(sums) >= LEAST and forecast["verdict"] == "fine":
        return statistics.median(sums), sum(predicted), lru
    return None


def error(forecast, measured):
    return abs(forecast["median"] / measured - 1)


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def number(value):
    return f"{value:,.0f}"


def share(value):
    return f"{value * 100:.0f} %"


def took(cell):
    """What each run took, in multiples; without bound where it did not come to its end."""
    return [run["slower"] if run["verdict"] == "completed" and run["slower"] else float("inf") for run in cell["runs"]]


def pairs(all):
    """Of each two settings of a program and limit that the runs tell apart, whether the forecast has the same order."""
    for cell in all:
        for other in all:
            if (cell["program"], cell["part"]) != (other["program"], other["part"]) or cell["setting"] >= other["setting"]:
                continue
            a, b = took(cell), took(other)
            if not (max(a) < min(b) or max(b) < min(a)):
                continue
            of = lambda one: float("inf") if one["forecast"]["verdict"] != "fine" or not one["forecast"]["slower"] else one["forecast"]["slower"]["median"]
            if of(cell) != of(other):
                yield (max(a) < min(b)) == (of(cell) < of(other))
            else:
                yield False


def summary(all):
    counted = [cell for cell in all if not cell["seen"]]
    right = sum(cell["forecast"]["verdict"] == ends(cell["runs"])[0] for cell in counted)
    yield f"- {len(all)} cells, {len(all) - len(counted)} of them with which a rule was found and which do not count; of the others {right} of {len(counted)} end as predicted"
    for known in (True, False):
        which = [cell for cell in counted if bool(cell["forecast"]["unknown_counts"]) != known]
        for figure, words in FIGURES.items():
            found = [(forecast, measured) for cell in which for name, forecast, measured, _ in figures(cell) if name == figure]
            what = "that are predicted" if known else "where the forecast says \"not known\", by what simulations had"
            if not found:
                yield f"- {words} {what}: none of {LEAST} or more"
                continue
            errors = [error(*one) for one in found]
            held = sum(forecast["low"] <= measured <= forecast["high"] for forecast, measured in found)
            yield f"- {words} {what}: {len(found)} figures, median error {share(statistics.median(errors))}, 90th of 100 {share(quantile(errors, 0.9))}, {held} held"
    again = [sums for cell in counted if (sums := read_again(cell))]
    if again:
        median = lambda which: share(statistics.median([abs(one[which] / one[0] - 1) for one in again]))
        yield f"- swap-ins and file pages together: {len(again)} cells, median error {median(1)}; of a plain LRU list of the same recordings {median(2)}"
    times = [(cell["forecast"]["slower"], statistics.median(took(cell))) for cell in counted if cell["forecast"]["slower"] and cell["forecast"]["verdict"] == "fine" and ends(cell["runs"])[0] == "fine"]
    if times:
        held = sum(forecast["low"] <= measured <= forecast["high"] for forecast, measured in times)
        yield f"- times as long as without a limit: {len(times)} cells, median error {share(statistics.median([error(*one) for one in times]))}, {held} held; the time without a limit is of one run"
    ranked = list(pairs(counted))
    if ranked:
        yield f"- which of two settings is faster: right for {sum(ranked)} of {len(ranked)} pairs that the runs tell apart"


def table(all, record):
    yield "| program | limit | setting | predicted | measured | times as long | major faults | swap-ins | file pages |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for cell in sorted(all, key=lambda cell: (list(record).index(cell["program"]), -cell["part"], cell["setting"])):
        forecast, mark = cell["forecast"], " *" if cell["seen"] else ""
        known = {figure: (median, bounds) for figure, _, median, bounds in figures(cell)}
        row = [cell["program"] + mark, f"{cell['limit'] / 1024:.0f} MiB, {cell['part']} %", cell["setting"], forecast["verdict"], ends(cell["runs"])[1]]
        well = sorted(value for value in took(cell) if value != float("inf"))
        slower = forecast["slower"] if forecast["verdict"] == "fine" else None
        row.append(f"{slower['median']:.1f} / {statistics.median(well):.1f}" if slower and well else "")
        for figure in FIGURES:
            if figure not in known:
                row.append("")
                continue
            median, _ = known[figure]
            held = "" if forecast[figure]["low"] <= median <= forecast[figure]["high"] else ", outside"
            text = f"{number(forecast[figure]['median'])} / {number(median)}{held}"
            row.append(f"({text})" if forecast["unknown_counts"] else text)
        yield "| " + " | ".join(row) + " |"


def page(record):
    all = list(cells(record))
    kernels = sorted({measured["kernel"] for entry in record.values() for measured in entry.get("runs", {}).values()})
    load = sorted(measured["load_before"] for entry in record.values() for measured in entry.get("runs", {}).values())
    out = ["## Real programs", ""]
    out.append("Made by `bench/real-programs --table` from bench/runs/programs.json. Each program was recorded once without a limit and predicted from that (plain forecasts, `--overhead 10%`), and then run in the lab ([swap-command](experiments/swap-command.md)), "
               f"{max(len(cell['runs']) for cell in all)} times under each setting (a server that was killed in one run may be missing in the next), each time with none of its files in the page cache. Limits are parts of what a first recording said that it needs; no count of a limited run was used.")
    out.append("")
    if load:
        out.append(f"- Linux {', '.join(kernels)}, classic page lists, 2 CPUs, control groups of version 1; a load average of {load[0]:.1f} to {load[-1]:.1f} before each series (compilers of the lowest priority beside some of them), a scheme of DAMON that evicts pages")
    out += summary(all)
    out.append("")
    out.append("Predicted / measured, medians; in parentheses where the forecast says that counts are not known. Counts under 500 and those of runs that did not end well are left out. `*`: " + "; ".join(f"{name}: {rule}" for name, rules in SEEN.items() for rule in dict.fromkeys(rules.values())) + ". Found with these cells, which do not count.")
    out.append("")
    out += table(all, record)
    out.append("")
    hung = [name for name, entry in record.items() for measured in entry.get("runs", {}).values() for run in measured["runs"] if has_hung(run)]
    if hung:
        out.append(f"- {len(hung)} runs of {', '.join(sorted(set(hung)))} are left out: they waited until their time was over and read nothing, since the server that the run before had lost to the out-of-memory killer did not start")
    for name, entry in record.items():
        if "refused" in entry:
            out.append(f"- {name} ({entry['what']}): no forecast: {' '.join(entry['refused'])}")
            continue
        peaks = {run["peak"] for measured in entry.get("runs", {}).values() for run in measured["runs"] if run.get("peak")}
        wrong = [f"{part} %: {measured['wrong'][0].strip(' -')}" for part, measured in entry.get("runs", {}).items() if measured["wrong"]]
        recorded = entry["recorded"]
        peak = f"; its group had {' to '.join(sorted(peaks)[:: max(1, len(peaks) - 1)])} at most" if peaks else ""
        out.append(f"- {name} ({entry['what']}): needs {recorded['need'] / 2**20:.0f} MiB by its recording{peak}; {recorded['epochs']} epochs, {recorded['typical_epoch'] / 2**20:.0f} MiB in a typical one" + ("; not measured at " + "; ".join(wrong) if wrong else ""))
    return "\n".join(out) + "\n\n"


def into(text, record):
    """The page with this part in its place: before what is of the laboratory."""
    part = BEGIN + page(record) + END
    if BEGIN in text:
        return text[: text.index(BEGIN)] + part + text[text.index(END) + len(END):]
    at = text.index("## In short")
    return text[:at] + part + "\n" + text[at:]
