"""What `promtool` says of metrics, rules, and of which alerts fire on series."""

import json
import shutil
import subprocess

from harness import Skip

INTERVAL = "15s"
# Rules are computed this often; of states that take hours less often, with samples of each minute.
OFTEN, SELDOM = "30s", "10m"


def needs_promtool():
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed; try: sudo apt-get install prometheus")


def promtool(*words, stdin=None):
    """Exit code, and what it said."""
    done = subprocess.run(["promtool", *map(str, words)], input=stdin, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def one(state, series, alerts, at):
    """A test of promtool's: at this time exactly these alerts fire."""
    named = lambda name: name.replace("{", '{instance="h",job="ramline",') if "{" in name else name + '{instance="h",job="ramline"}'
    return {
        "name": state,
        "interval": "1m" if at.endswith("h") else INTERVAL,
        "input_series": [{"series": named(name), "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": at,
                "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in alerts],
            }
        ],
    }


def fire(folder, rules, states):
    """What promtool says where other alerts fire than those that should; JSON is YAML."""
    files = []
    for is_long, every in ((False, OFTEN), (True, SELDOM)):
        tests = [one(*state) for state in states if state[3].endswith("h") == is_long]
        if tests:
            files.append(folder / f"states-{every}.yml")
            files[-1].write_text(json.dumps({"rule_files": [str(rules)], "evaluation_interval": every, "tests": tests}))
    return promtool("test", "rules", *files)
