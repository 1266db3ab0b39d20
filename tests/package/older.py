"""What an older ramline has written and set is read by today's: on a Debian in a virtual machine, over an upgrade of the .deb; and a store of many hosts, here."""

import json
import os
import subprocess

from guest import booted, ended_well
from harness import RAMLINE, TOP, Skip, check, equal
from parts.guest import Machine

# The last state of 0.2.0 before the recorder and the packages: it has tune, the lab, recordings and stores of many hosts. It wrote no packages, so today's rules
# put its program into one.
COMMIT = "da55b01f"
PLACE = TOP / f"target/released/{COMMIT}"
TRIPLE = f"{os.uname().machine}-unknown-linux-gnu"
FLEET = TOP / "target/fleet/bin/python"
STEPS = ("install", "series", "known", "tiers", "pages", "make", "record", "snapshot", "set", "upgrade", "again", "compare", "shown", "purge", "undo")
READS = ("status", "list", "report", "info", "curve", "recorded", "machine", "foretold", "plan")


def program():
    """The older program, built from its commit."""
    source = PLACE / "src"
    if not (source / "Cargo.toml").exists():
        archive = subprocess.run(["git", "-C", TOP, "archive", COMMIT], capture_output=True, check=False)
        if archive.returncode:
            raise Skip(f"commit {COMMIT} is not in this checkout; try: git fetch --unshallow")
        source.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "--extract", "--directory", source], input=archive.stdout, check=True)
    if not (PLACE / "ramline").exists():
        environment = {**os.environ, "CARGO_TARGET_DIR": str(PLACE.parent / "target"), "CARGO_PROFILE_DEV_DEBUG": "none", "CARGO_PROFILE_DEV_STRIP": "symbols",
                       "CARGO_BUILD_TARGET": TRIPLE, f"CARGO_TARGET_{TRIPLE.upper().replace('-', '_')}_RUSTFLAGS": "-C target-feature=+crt-static"}
        environment.pop("RUSTC_WORKSPACE_WRAPPER", None)
        done = subprocess.run(["cargo", "build", "--locked", "--quiet", "-p", "ramline-cli"], cwd=source, env=environment, capture_output=True, text=True, check=False)
        equal(f"commit {COMMIT} builds", (done.returncode, done.stderr), (0, ""))
        os.replace(PLACE.parent / f"target/{TRIPLE}/debug/ramline", PLACE / "ramline")
    return PLACE / "ramline"


def upgraded(folder, release, build):
    """The older program installed and used, upgraded, purged."""
    old = build(folder / "old", binary=program(), words=["--only", "deb", "--revision", "0"])["deb"]
    new = build(folder / "new", words=["--only", "deb"])["deb"]
    seen = booted(Machine(old, folder, release), "package-older", "--bin", str(new), OLD=old.name, NEW=new.name)
    if not seen:
        return
    ended_well(seen, (*STEPS, *(f"{name}-{now}" for name in READS for now in ("before", "after"))))
    for name in ("swappiness", "files"):
        equal(f"{name} is as it was before the upgrade", seen.text(f"{name}-after.out"), seen.text(f"{name}-before.out"))
    before, after = seen.json("status-before.out") or {}, seen.json("status-after.out") or {}
    states = lambda found: [(one.get("number"), one.get("state")) for one in found.get("changes", [])]
    check("a change stands", states(before), before)
    equal("and does after the upgrade", states(after), states(before))
    for name in ("curve", "machine"):
        equal(f"{name}: today's reads what the older one wrote", numbers(seen.json(f"{name}-after.out")), numbers(seen.json(f"{name}-before.out")))
    listed = [seen.json(f"list-{now}.out") or {} for now in ("before", "after")]
    equal("every series is listed", [len(found.get("series", [])) for found in listed], [2, 2])
    check("times of a prediction rest on what the older one measured", "measure tiers found" in seen.text("foretold-after.out"), seen.text("foretold-after.out"))
    check("a purge says how to undo the change", "/var/lib/ramline/ramline tune undo 1" in seen.said("purge"), seen.said("purge"))
    equal("a change of the older one is undone by today's", seen.text("swappiness-undone.out").strip(), "60")


def numbers(document, path=""):
    """Every number of a document by its place: what was added since is no difference."""
    if isinstance(document, dict):
        return {key: value for name, part in document.items() if name != "schema_version" for key, value in numbers(part, f"{path}.{name}").items()}
    if isinstance(document, list):
        return {key: value for index, part in enumerate(document) for key, value in numbers(part, f"{path}.{index}").items()}
    return {path: document} if isinstance(document, (int, float)) and not isinstance(document, bool) else {}


def hosts(folder):
    """A store of many hosts that the older one wrote: today's says the same of it, and adds to it."""
    program()
    if not FLEET.exists():
        raise Skip("the part for many hosts is not installed; try: make fleet")
    folder.mkdir(parents=True)
    store = folder / "store"

    def fleet(old, *words):
        where = {"PYTHONPATH": str(PLACE / "src/fleet")} if old else {}
        environment = {**os.environ, **where, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([FLEET, "-m", "ramline_fleet", *map(str, words)], cwd=folder, capture_output=True, text=True, env=environment, check=False)
        equal(f"{'the older' if old else 'todays'} {words[0]} ends with status 0", (done.returncode, done.stderr[-400:] if done.returncode else ""), (0, ""))
        return done.stdout

    snapshots = []
    for name in ("debian-13", "linux-5.10", "linux-6.12-zram"):
        subprocess.run([TOP / "tests/trees.py", "unpack", f"healthy/{name}", folder / name], check=True)
        made = subprocess.run([PLACE / "ramline", "--root", folder / name, "snapshot"], capture_output=True, text=True, check=True)
        snapshots.append(folder / f"{name}.json")
        snapshots[-1].write_text(made.stdout)
    fleet(True, "synth", folder / "study.tsv")
    fleet(True, "ingest", store, folder / "study.tsv", "--layout", "old", "--day", "2026-01-19")
    fleet(True, "collect", store, "--snapshots", *snapshots)
    old, new = (json.loads(fleet(by_older, "report", store, "--last", "all")) for by_older in (True, False))
    check("those of the study and of snapshots are there", old["hosts"] > 502, old["hosts"])
    equal("hosts are those of the older one", new["hosts"], old["hosts"])
    shared = {key: value for key, value in numbers(old).items() if key in numbers(new)}
    check("a report has figures", len(shared) > 100, new)
    equal("and so are the figures", {key: numbers(new)[key] for key in shared}, shared)
    old, new = (fleet(by_older, "settings", store, "--last", "all") for by_older in (True, False))
    equal("settings are those of the older one", new, old)
    again = folder / "again.json"
    again.write_text(subprocess.run([RAMLINE, "--root", folder / "linux-5.10", "snapshot"], capture_output=True, text=True, check=True).stdout)
    fleet(False, "collect", store, "--snapshots", again)
