"""Part of fleet/attack: the module that writes, at every kind of place that tests/attack/places.py has; then each command that writes, at those that were attacked."""

import contextlib
import importlib.machinery
import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from asking import ENVIRONMENT, TOP, VENV, fleet
from harness import check, equal

sys.path.append(str(TOP / "tests/attack"))
NOBODY = 65534
PROGRAM, PYTHON = VENV / "bin/ramline-fleet", VENV / "bin/python"
# Only the module that writes: a case is some tens of milliseconds.
WRITE = """if True:
    import sys
    from ramline_fleet.outputs import Output
    from ramline_fleet.words import Failure, tell
    try:
        Output(sys.argv[1], b'{"schema_version"', "-").write(open(sys.argv[2], "rb").read())
    except Failure as failure:
        tell(f"ramline: {failure}")
        tell(f"  try: {failure.hint}")
        sys.exit(failure.status)
"""


def attack_outputs():
    """tests/attack/outputs as a module."""
    loader = importlib.machinery.SourceFileLoader("attack_outputs", str(TOP / "tests/attack/outputs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("attack_outputs", loader))
    sys.modules["attack_outputs"] = module
    loader.exec_module(module)
    return module


def limited(words, what, most):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env=ENVIRONMENT, preexec_fn=lambda: resource.setrlimit(what, (most, most)))


def outputs(folder):
    """The module that writes, at every kind of place; then each command that uses it at some."""
    module = attack_outputs()
    import holding
    import places

    mounts = module.own_dev(folder)
    document = b'{"schema_version": 1, "x": "' + b"new " * 5000 + b'"}\n'
    (folder / "document").write_bytes(document)
    (folder / "document").chmod(0o644)
    option = module.Option("the fleet's outputs", lambda path, _: ["-c", WRITE, path, folder / "document"], "json", old=json.dumps({"old": "x" * 9000}).encode(), largest=len(document), mounts=mounts)
    module.RAMLINE, checks = PYTHON, module.Checks(folder, "")
    # Python alone takes longer to begin than all of ramline.
    for case_class in (holding.Case,):
        case_class.within = 4
    users = [0, holding.NOBODY] if readable_by_all(PYTHON.resolve()) and readable_by_all(VENV) else [0]
    with ThreadPoolExecutor(4) as pool:
        for job in [pool.submit(module.one_case, checks, folder, option, place, uid) for place in places.PLACES for uid in users]:
            job.result()
    module.killed(checks, folder, option, 0, 6)
    commands(folder)


def readable_by_all(path):
    return all(at.stat().st_mode & 0o001 for at in [*Path(path).parents])


def commands(folder):
    """What was attacked: each command that writes a file, at a device, a pipe, a link of another user, a planted name and a full disk."""
    store, box = folder / "store", folder / "box"
    box.mkdir(mode=0o1777)
    box.chmod(0o1777)
    equal("a store is made", fleet("synth", store, "--hosts", 30, "--day", "2016-01-19").returncode, 0)
    writers = {"query": ["query", "hosts", store, "--parquet"], "synth": ["synth"]}
    for name, words in writers.items():
        null, pipe, victim, link, old = (box / f"{name}-{kind}" for kind in ("null", "pipe", "victim", "link", "old"))
        os.mknod(null, 0o020666, os.makedev(1, 3))
        done = fleet(*words, null)
        check(f"{name}: a device stays a device", done.returncode == 0 and null.is_char_device(), done.stderr)
        os.mkfifo(pipe)
        with open(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0) as reader:
            got = []
            thread = threading.Thread(target=lambda: got.append(fleet(*words, pipe)))
            thread.start()
            data = b""
            while thread.is_alive() or len(data) == 0:
                with contextlib.suppress(TypeError):
                    data += reader.read(1 << 16) or b""
                time.sleep(0.01)
            thread.join()
        check(f"{name}: a pipe stays a pipe, and is written into", pipe.is_fifo() and got[0].returncode == 0 and data.startswith((b"PAR1", b"# synthetic")), got[0].stderr)
        victim.write_text("precious")
        os.symlink(victim, link)
        os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
        done = fleet(*words, link)
        check(f"{name}: a link of another user is refused", done.returncode == 2 and "link of another user" in done.stderr and "try:" in done.stderr and victim.read_text() == "precious", done.stderr)
        for planted in (f"{name}-old.ramline-new", *(f".{name}-old.ramline-{slot}" for slot in range(3))):
            os.symlink(victim, box / planted)
            os.chown(box / planted, NOBODY, NOBODY, follow_symlinks=False)
        done = fleet(*words, old)
        check(f"{name}: planted names are not written through", done.returncode == 0 and victim.read_text() == "precious" and old.stat().st_size > 100 and not old.is_symlink(), done.stderr)
        old.write_bytes(b"old")
        done = limited([PROGRAM, *map(str, words), old], resource.RLIMIT_FSIZE, 100)
        check(f"{name}: what cannot be written as a whole leaves the old file", done.returncode == 1 and old.read_bytes() == b"old" and "File too large" in done.stderr, done.stderr)
        equal(f"{name}: and nothing beside it", [one.name for one in box.glob(f"*{name}-old*") if not one.is_symlink()], [old.name])
    for verb in ("query", "settings", "findings", "textfile", "rollout", "report"):
        words = {"query": ["query", "hosts", store], "textfile": ["textfile"]}.get(verb, [verb, store])
        if verb in ("settings", "findings"):
            continue
        with open("/dev/full", "wb") as out:
            done = subprocess.run([PROGRAM, *map(str, words)], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
        check(f"{verb}: an answer that cannot be printed is an error", done.returncode == 1 and "No space" in done.stderr, done.stderr)
    script = folder / "textfile.sh"
    script.write_text(fleet("textfile").stdout)
    os.symlink(box / "query-victim", box / "ramline_tmp.prom")
    # What vanishes from /tmp while du looks is an error of du.
    for _ in range(20):
        done = subprocess.run(["sh", script, box], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    check("the script for the textfile collector replaces its file and follows no link", done.returncode == 0 and (box / "query-victim").read_text() == "precious" and (box / "ramline_tmp.prom").is_file(), done.stderr)
    sources()


def sources():
    """One module opens what was named to read it, one to write it, and files of a store are made by one function."""
    own = {"inputs.py", "outputs.py"}
    calls = re.compile(r"\bopen\(|read_text\(|read_bytes\(|write_text\(|write_bytes\(|os\.replace|write_table\((?!.*\bout\b)|NamedTemporaryFile|COPY ")
    allowed = {"sql.py": ['read_text()'], "store.py": ["self.writers[bucket].write_table("], "lock.py": ["os.open(at, os.O_RDWR | how", "os.open(at, os.O_RDONLY | how"],
               "trust.py": ["/proc/self/uid_map"], "engine.py": ["quoted(at /"], "synth.py": ["TO '{target}'"], "prometheus.py": ["urllib.request.urlopen("]}
    for file in sorted((TOP / "fleet/ramline_fleet").glob("*.py")):
        lines = [line.strip() for line in file.read_text().splitlines() if calls.search(line) and not line.strip().startswith((">>>", "...", "#"))]
        wrong = [line for line in lines if file.name not in own and not any(text in line for text in allowed.get(file.name, []))]
        check(f"{file.name} opens nothing by itself", not wrong, wrong)
        check(f"{file.name} prints nothing by itself", file.name in ("words.py", "arguments.py") or not re.search(r"^\s*(print\(|sys\.std(out|err)\.write)", file.read_text(), re.M))
