"""The program under test, how it is asked, and what a store has."""

import json
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path.append(str(TOP / "tests"))
from harness import RAMLINE, check  # noqa: E402

VENV = TOP / "target/fleet"
ENVIRONMENT = {"PATH": f"{VENV}/bin:/usr/bin:/bin", "SPARK_LOCAL_IP": "127.0.0.1"}


def fleet(*words):
    return subprocess.run([RAMLINE, "fleet", *map(str, words)], capture_output=True, text=True, check=False, env=ENVIRONMENT)


def python(code, *words):
    """What some lines with the package print, or what is wrong."""
    done = subprocess.run([VENV / "bin/python", "-c", code, *map(str, words)], capture_output=True, text=True, check=False)
    return done.stdout.strip() + done.stderr


def asked(*words):
    done = fleet(*words, "--json")
    check(f"{words[0]} {Path(str(words[1])).name} ends well", done.returncode == 0, done.stderr)
    return json.loads(done.stdout or "{}")


def rows_of(store, table="host_day"):
    """All rows of a table of a store."""
    return json.loads(python("import sys, json, pathlib; import pyarrow.dataset as d; print(json.dumps(d.dataset([str(f) for f in pathlib.Path(sys.argv[1]).rglob('*.parquet')]).to_table().to_pylist()))", store / table) or "[]")
