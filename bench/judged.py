"""Settings of the lab judged against each other: pure functions of the runs that bench/plan-against-lab keeps.

A run is {"round", "setting", "seconds", "verdict", "figures"}; `seconds` is None where it was killed or given up: then it took longer than any.
"""

import math
import random
import statistics

# Nobody feels less.
NEAR = 1.05
DRAWS = 4000


def times(runs):
    """Seconds by setting and round; a run that was killed or given up by its command took longer than any."""
    out = {}
    for run in runs:
        out.setdefault(run["setting"], {})[run["round"]] = math.inf if run["seconds"] is None else run["seconds"]
    return out


def ratio_of(pairs):
    """The median of the ratios by round; where neither came to an end, no ratio."""
    ratios = [ours / best if math.isfinite(best) else 0.0 for ours, best in pairs if math.isfinite(ours) or math.isfinite(best)]
    return statistics.median(ratios) if ratios else math.nan


def judge(runs, ours):
    by = times(runs)
    middle = {name: statistics.median(of.values()) for name, of in by.items()}
    best = min(middle, key=middle.get)
    if best == ours:
        return {"setting": ours, "seconds": middle[ours], "best": best, "best_seconds": middle[best], "ratio": 1.0, "low": 1.0, "high": 1.0, "verdict": "best"}
    return judge_pair(runs, ours, best)


def judge_pair(runs, ours, best):
    """Against one rival that was chosen beforehand."""
    by = times(runs)
    middle = {name: statistics.median(of.values()) for name, of in by.items()}
    out = {"setting": ours, "seconds": middle[ours], "best": best, "best_seconds": middle[best]}
    pairs = [(by[ours][number], by[best][number]) for number in sorted(by[ours]) if number in by[best]]
    rng = random.Random(1)
    draws = sorted(value for value in (ratio_of(rng.choices(pairs, k=len(pairs))) for _ in range(DRAWS)) if not math.isnan(value))
    low, high = draws[int(len(draws) * 0.025)], draws[int(len(draws) * 0.975)]
    verdict = "within 5 %" if high <= NEAR else "worse" if low > NEAR else "not told apart"
    return {**out, "ratio": ratio_of(pairs), "low": low, "high": high, "verdict": verdict}


def number(value, unit=""):
    return f"{value:.2f}{unit}" if math.isfinite(value) else "did not end"


def row(name, judged):
    between = "" if judged["verdict"] == "best" else f" ({number(judged['low'])} to {number(judged['high'])})"
    return (f"| {name} | {judged['setting']} | {number(judged['seconds'], ' s')} | {judged['best']}, {number(judged['best_seconds'], ' s')} "
            f"| {number(judged['ratio'])}{between} | {judged['verdict']} |")


def tables(record):
    """Markdown: the verdicts, and all settings."""
    out = ["| load | setting of the plan | median | best of all, median | plan / best (95 %) | verdict |", "|---|---|---|---|---|---|"]
    for name, load in record["loads"].items():
        found = load["plan"]
        out.append(row(name, judge(load["runs"], found["setting"])))
        if found["setting_in_use"] != found["setting"]:
            out.append(row(f"{name}, planned again in use", judge(load["runs"], found["setting_in_use"])))
        if "setting_by_load" in found:
            ours = found["setting_by_load"]
            out.append(row(f"{name}, planned by the load", judge(load["runs"], ours)))
            if load.get("again"):
                out.append(row(f"{name}, the two again", judge_pair(load["again"], ours, judge(load["runs"], ours)["best"])))
    for name, load in record["loads"].items():
        by = times(load["runs"])
        out += ["", f"| {name}: setting | completed | seconds, median (least to most) | major faults | swapped in |", "|---|---|---|---|---|"]
        for arm in sorted(by, key=lambda arm, by=by: statistics.median(by[arm].values())):
            of = [run for run in load["runs"] if run["setting"] == arm]
            all_of = by[arm].values()
            middle = lambda key, of=of: f"{statistics.median(run['figures'].get(key) or 0 for run in of):,.0f}"
            completed = sum(run["verdict"] == "completed" for run in of)
            out.append(f"| {arm} | {completed} of {len(of)} | {number(statistics.median(all_of))} ({number(min(all_of))} to {number(max(all_of))}) | {middle('major faults')} | {middle('swapped in')} |")
    return "\n".join(out)
