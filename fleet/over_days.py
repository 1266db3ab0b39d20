"""Parts of fleet/test: what hosts are judged by, which days count, and which machine is one."""

import datetime
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from asking import ENVIRONMENT, VENV, asked, fleet, python, rows_of
from harness import RAMLINE, check, equal
from harness.machine import until
from trees import directory

GB, NEW = 1_000_000, ["--layout", "new"]
DAY_NS = 86_400 * 10**9


def line(host, tmp=4, ram=64 * GB, free=GB, available=40 * GB, swap=0):
    """A line of the new layout; most of what is not free is cache."""
    cache = ram // 2
    return "\t".join(map(str, (host, tmp, ram, ram - free - cache, free, 0, cache, available, swap, 0, swap, 9)))


def taken(store, folder, day, *lines):
    file = folder / "lines.tsv"
    file.write_text("# layout: new\n" + "".join(f"{one}\n" for one in lines))
    done = fleet("ingest", store, file, "--day", day)
    check(f"{len(lines)} lines of {day} are taken", f"{len(lines)} hosts taken" in done.stderr, done.stderr)


def judged(folder):
    """Warm servers, whose memory is full of cache, fit; the study's models stay what they are; a host of which only free is known is judged by it, and counted as such."""
    folder.mkdir()
    file, store = folder / "warm.tsv", folder / "store"
    rng = random.Random(4)
    file.write_text("".join(line(f"w{n}", tmp=rng.randrange(1, 4) * GB, ram=65_800_000, free=rng.randrange(200_000, 900_000), available=38 * GB + n) + "\n" for n in range(500)))
    found = asked("report", file, *NEW)
    equal("500 warm servers fit", (found["judged"]["fits"]["hosts"], found["judged"]["fails"]["hosts"], found["judged_by_free"], found["breaks"], found["break_count"]), (500, 0, 0, [], 0))
    models = {one["name"]: one["fits"]["hosts"] for one in found["models"]}
    equal("the study's models say what they did", (models["free"], models["free_and_swap"], models["half_of_ram"]), (0, 0, 500))
    done = fleet("report", file, *NEW)
    check("and the first line says so", done.stdout.replace("\n", " ").startswith("/tmp would fit into available memory and free swap on 500 of 500 hosts"), done.stdout[:200])
    taken(store, folder, "2026-11-20", *file.read_text().splitlines(), line("full", tmp=50 * GB, available=40 * GB, swap=2 * GB), line("blind", tmp=2 * GB, free=GB, available="-"))
    rolled = fleet("rollout", store).stdout
    check("all of them are in a wave", rolled.startswith("# 500 hosts in 4 waves; 2 would break"), rolled[:200])
    found = asked("report", store)
    equal("what does not fit is named by what it is judged by", [(one["host"], one["lacks_kib"], one["available_kib"], one["day"]) for one in found["breaks"]], [("full", 8 * GB, 40 * GB, "2026-11-20"), ("blind", GB, None, "2026-11-20")])
    equal("who was judged by free memory is counted", found["judged_by_free"], 1)


def days(folder):
    """A host that was repaired and one that was retired count in the days that they are of; what is asked of which days is said; a tie is of the first day."""
    folder.mkdir()
    store = folder / "store"
    broken = line("h1", tmp=9 * GB, ram=4 * GB, free=GB // 2, available=GB)
    taken(store, folder, "2024-01-01", broken, line("retired"), line("tie", tmp=50 * GB))
    taken(store, folder, "2024-01-02", line("tie", tmp=51 * GB, available=41 * GB))
    for day in ("2026-11-01", "2026-11-15", "2026-11-29"):
        taken(store, folder, day, line("h1", tmp=10), line("h2"))
    found = asked("report", store)
    equal("the usual days: the repaired host fits, those that are gone are not counted", (found["hosts"], found["since"], found["until"], found["days"], found["last_seen_before"], found["break_count"]), (2, "2026-11-01", "2026-11-29", 3, 2, 0))
    text = fleet("report", store).stdout.replace("\n", " ")
    check("and it says so", "Days from 2026-11-01 to 2026-11-29; 2 hosts last seen before" in text, text[:500])
    check("it is in the rollout again", "# 2 hosts in 2 waves; 0 would break" in fleet("rollout", store).stdout)
    found = asked("report", store, "--last", "all")
    equal("all days: its worst day is named, and of a tie the first, with what was there on that day", [(one["host"], one["day"], one["lacks_kib"], one["tmp_kib"]) for one in found["breaks"]], [("tie", "2024-01-01", 10 * GB, 50 * GB), ("h1", "2024-01-01", 8 * GB, 9 * GB)])
    for words, hosts in ((("--since", "2026-11-10"), 2), (("--until", "2024-01-31"), 3), (("--last", "2w", "--until", "2024-01-02"), 3), (("--since", "2024-01-02", "--until", "2024-01-02"), 1)):
        equal(f"{' '.join(words)}: {hosts} hosts", asked("report", store, *words)["hosts"], hosts)
        check(f"{' '.join(words)}: a query too", f"\n{hosts}," in fleet("query", "hosts", store, *words).stdout)
    wrong = {("--last", "soon"): "30d, 12w or all", ("--last", "3d", "--since", "2026-11-01"): "both say", ("--since", "2026-12-01", "--until", "2026-11-01"): "is after", ("--since", "yesterday"): "no day", ("--since", "2025-01-01", "--until", "2025-02-01"): "no host from"}
    for words, why in wrong.items():
        done = fleet("query", "hosts", store, *words)
        check(f"{' '.join(words)}: refused", done.returncode == 2 and why in done.stderr, done.stderr)
    direct = subprocess.run([VENV / "bin/ramline-fleet", "report", store, "--day", "2026-11-29"], capture_output=True, text=True, check=False)
    check("--day is of a file, and not passed over in silence", direct.returncode == 2 and "--since" in direct.stderr, direct.stderr)


def future(folder):
    """Nothing is taken of a day that has not begun."""
    folder.mkdir()
    store, file = folder / "store", folder / "one.tsv"
    file.write_text(line("a") + "\n")
    for words in (["ingest", store, file, *NEW, "--day", "2999-01-01"], ["collect", store, "--prometheus", "http://127.0.0.1:9", "--day", "2999-01-01"], ["collect", store, "--ssh", file, "--day", "2999-01-01"]):
        done = fleet(*words)
        check(f"{words[0]} {words[2]}: a day in the future is refused", done.returncode == 2 and "in the future" in done.stderr and not store.exists(), done.stderr)
    memory = {"memfree": 500, "avail": 700, "memused": 300}
    hosts = [{"nodename": name, "file-date": day, "statistics": [{"timestamp": {}, "memory": memory}]} for name, day in (("good", "2026-01-01"), ("late", "2031-01-01"))]
    (folder / "sadf.json").write_text(json.dumps({"sysstat": {"hosts": hosts}}))
    done = fleet("collect", store, "--sadf", folder / "sadf.json")
    check("sysstat: a file-date in the future is named", done.returncode == 7 and "2031-01-01 is in the future" in done.stderr, done.stderr)
    equal("and takes nothing from the others", [row["host"] for row in rows_of(store)], ["good"])


def layouts(folder):
    """ingest takes the layout that a file declares; lines of a file that are refused can be had; an even number of hosts has a median."""
    folder.mkdir()
    store, file, rejects = folder / "store", folder / "file.tsv", folder / "rejects.tsv"
    file.write_text("# layout: new\n" + "".join(line(f"h{n}", tmp=tmp) + "\n" for n, tmp in enumerate((1, 3, 4, 9))) + "".join(f"bad {n}\n" for n in range(8)))
    check("ingest without --layout takes the declared one", "4 hosts taken, 8 lines refused" in fleet("ingest", store, file, "--day", "2026-11-01").stderr)
    undeclared = folder / "undeclared.tsv"
    undeclared.write_text(line("a") + "\n")
    done = fleet("ingest", folder / "none", undeclared)
    check("where nothing says it, it is never guessed", done.returncode == 2 and "--layout old" in done.stderr, done.stderr)
    tmp = next(one for one in asked("report", store)["variables"] if one["name"] == "tmp_kib")
    equal("the median of 1, 3, 4 and 9 is 3.5, and none is most often", (tmp["median"], tmp["mode"]), (3.5, None))
    done = fleet("report", file, "--rejects", rejects)
    check("all refused lines are kept where that is asked for", rejects.read_text().count("\n") == 8 and "bad 7" in rejects.read_text() and str(rejects) in done.stderr, done.stderr)
    done = fleet("report", file)
    check("and it says how", "--rejects" in done.stderr and "rejects.tsv" in done.stderr, done.stderr)


def marks(folder):
    """The mark with which some editors begin a file is no part of the first host's name, in any list."""
    folder.mkdir()
    store, names = folder / "store", folder / "names"
    for name, text in (("lines", line("h1") + "\n" + line("h2") + "\n"), ("table", "host,ram_kib\nh1,1000\nh2,1000\n"), ("roles", "h1\tweb\nh2\tdb\n")):
        (folder / name).write_text("\ufeff" + text)
    check("lines", "2 hosts taken, 0 lines refused" in fleet("ingest", store, folder / "lines", *NEW, "--day", "2026-11-01").stderr)
    check("a table", "2 hosts taken, 0 lines refused" in fleet("ingest", store, folder / "table", "--day", "2026-11-02").stderr)
    equal("roles", [(one["name"], one["hosts"]) for one in asked("report", store, "--roles", folder / "roles")["roles"]], [("db", 1), ("web", 1)])
    names.write_text("\ufeffh1\nh2\n")
    ssh = fake_ssh(folder, "printf 'ramline-fleet 1\\nMemTotal 1000\\nMemFree 300\\nboot %s\\nend\\n' $host\n")
    done = fleet("collect", folder / "asked", "--ssh", names, "--ssh-command", ssh, "--day", "2026-11-01")
    equal("a list of hosts", (done.returncode, sorted(row["host"] for row in rows_of(folder / "asked"))), (0, ["h1", "h2"]))
    done = fleet("compare", store, "--changed", names, "--on", "2026-11-02", "--since", "2026-11-01")
    check("hosts that were changed", done.returncode == 0 or "names no host" not in done.stderr, done.stderr)
    part_of = next(store.glob("host_day/*/*/*/*.parquet"))
    part_of.write_bytes(b"junk")
    done = fleet("report", store)
    check("a reader says nothing of what was kept", done.returncode == 1 and str(part_of) in done.stderr and "kept" not in done.stderr, done.stderr)


def fake_ssh(folder, text):
    """Answers as ssh would, by the last part of the script `text`, in which $host is the host."""
    file = folder / "fake-ssh"
    file.write_text("#!/bin/sh\nfor word; do case $word in --) ;; *) last=$word;; esac; done\nfor word; do case $word in [hcw][0-9]*|root@w*|slow) host=$word;; esac; done\n" + text)
    file.chmod(0o755)
    return file


def machines(folder):
    """One machine under several names and from several sources is one host, over a restart too; clones of an image are several; where it cannot be known that is said."""
    folder.mkdir()
    store = folder / "store"
    base = json.loads(subprocess.run([RAMLINE, "--root", directory("healthy/debian-13"), "snapshot"], capture_output=True, text=True, check=True).stdout)

    def snapshot(name, host, boot, day):
        file = folder / name
        file.write_text(json.dumps({**base, "machine": {**base["machine"], "host": host, "boot_id": boot, "taken_unix_ns": (20_000 + day) * DAY_NS}}))
        return file

    day = [(datetime.date(1970, 1, 1) + datetime.timedelta(days=20_000 + n)).isoformat() for n in range(5)]
    ssh = fake_ssh(folder, "boot=$(cat $0.$host 2>/dev/null || echo boot-of-$host)\nprintf 'Welcome!\\nramline-fleet 1\\nMemTotal 1000\\nMemFree 300\\nboot %s\\nmachine image\\nend\\n' $boot\n")
    for host, boot in (("w1", "B1"), ("root@w1", "B1"), ("c1", "C1"), ("c2", "C2")):
        (folder / f"fake-ssh.{host}").write_text(boot)
    (folder / "hosts").write_text("w1\nroot@w1\nc1\nc2\n")
    done = fleet("collect", store, "--ssh", folder / "hosts", "--ssh-command", ssh, "--day", day[0])
    equal("clones of an image are several, one under two names is one", sorted(row["host"] for row in rows_of(store)), ["c1", "c2", "w1"])
    check("and is named; what a host greets with is passed over", "root@w1: is w1 under another name" in done.stderr, done.stderr)
    (folder / "hosts").write_text("root@w1\n")
    fleet("collect", store, "--ssh", folder / "hosts", "--ssh-command", ssh, "--day", day[1])
    fleet("collect", store, "--snapshots", snapshot("a.json", "vm", "B1", 2))
    hashed = python("from ramline_fleet import names; print(names.key('B1', 'image'))").split(".")
    (folder / "node9.prom").write_text(f'node_memory_MemTotal_bytes 1e9\nramline_machine_info{{boot="{hashed[0]}",machine="{hashed[1]}"}} 1\n')
    fleet("collect", store, "--metrics", folder / "node9.prom", "--day", day[3])
    (folder / "fake-ssh.root@w1").write_text("B2")
    fleet("collect", store, "--ssh", folder / "hosts", "--ssh-command", ssh, "--day", day[4])
    equal("by another name, from a snapshot, through node_exporter, after a restart: one host of five days", sorted((row["host"], row["source"]) for row in rows_of(store) if row["host"] not in ("c1", "c2")),
          [("w1", "node_exporter"), ("w1", "snapshot"), ("w1", "ssh"), ("w1", "ssh"), ("w1", "ssh")])
    equal("its settings are of that host too", {row["host"] for row in rows_of(store, "host_setting")}, {"w1"})
    done = fleet("collect", store, "--snapshots", snapshot("b.json", "vm", "B2", 4))
    check("twice on a day it counts once", "0 of 1 hosts taken" in done.stderr and len(rows_of(store)) == 7, done.stderr)
    (folder / "alone.prom").write_text("node_memory_MemTotal_bytes 1e9\n")
    done = fleet("collect", store, "--metrics", folder / "alone.prom", "--day", day[4])
    check("where it is not known which machine it is, that is said", "not known which machine" in done.stderr, done.stderr)
    equal("and counted in the report", asked("report", store)["machine_unknown"], 1)


def terminated(folder):
    """What has come is kept when the command is ended, and so is the answer of a host that prints it and lingers."""
    folder.mkdir()
    store = folder / "store"
    ssh = fake_ssh(folder, "echo $host >>$0.asked\ncase $host in slow) exec sleep 60;; esac\nprintf 'ramline-fleet 1\\nMemTotal 1000\\nMemFree 300\\nboot %s\\nend\\n' $host\n")
    (folder / "hosts").write_text("".join(f"h{n}\n" for n in range(9)) + "slow\n")
    for number, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)):
        shutil.rmtree(store, ignore_errors=True)
        child = subprocess.Popen([VENV / "bin/ramline-fleet", "collect", store, "--ssh", folder / "hosts", "--ssh-command", ssh, "--day", "2026-11-01", "--timeout", "50"], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        # By then all but one have answered.
        until(lambda: Path(f"{ssh}.asked").exists() and Path(f"{ssh}.asked").read_text().count("\n") == 10, 30, 0.1)
        time.sleep(1)
        begin = time.monotonic()
        child.send_signal(number)
        said = child.communicate(timeout=40)[1]
        Path(f"{ssh}.asked").unlink()
        check(f"{signal.Signals(number).name}: nine answers are kept", "9 of 10 hosts taken" in said and child.returncode == status and len(rows_of(store)) == 9, f"{child.returncode} {said}")
        check(f"{signal.Signals(number).name}: and the tenth is not waited for", time.monotonic() - begin < 10, time.monotonic() - begin)


def linked(folder):
    """The script that hosts run: a folder behind a link is looked into, what vanishes meanwhile is no error, what may not be looked into is no sum."""
    folder.mkdir()
    real, link = folder / "real", folder / "link"
    real.mkdir()
    (real / "data").write_bytes(b"x" * 12_000_000)
    link.symlink_to(real)
    script = python("from ramline_fleet import collect; print(collect.SCRIPT)").replace("/tmp/.", f"{link}/.").replace("@SECONDS@", "20")

    def said(prefix=()):
        done = subprocess.run([*prefix, "sh", "-s"], input=script, capture_output=True, text=True, check=True)
        return dict(one.partition(" ")[::2] for one in done.stdout.splitlines())

    size = int(subprocess.run(["du", "-skx", real], capture_output=True, text=True, check=True).stdout.split()[0])
    equal("what lies behind a link is counted", (said()["tmp_kib"], said()["tmp_inodes"]), (str(size), "2"))
    churn = subprocess.Popen(["sh", "-c", f"while :; do mkdir -p {real}/a/b; touch {real}/a/b/c; rm -rf {real}/a; done 2>/dev/null"])
    try:
        answers = [said() for _ in range(20)]
    finally:
        churn.kill()
        churn.wait()
    known = sum("tmp_kib" in one and "tmp_inodes" in one for one in answers)
    check("where files come and go it is known all the same", known >= 18, known)
    if not os.geteuid():
        shutil.rmtree(real / "a", ignore_errors=True)
        folder.chmod(0o755)
        folder.parent.chmod(0o755)
        (real / "closed").mkdir(mode=0o700)
        as_nobody = said(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
        check("who may not look into all of it has no sum", "tmp_kib" not in as_nobody and "tmp_inodes" not in as_nobody and as_nobody["tmp_in_ram"], as_nobody)


def addresses(folder):
    """An address of another kind of storage is refused by name, by each command that takes a store, and makes nothing here."""
    folder.mkdir()
    (folder / "hosts").write_text("h\n")
    for address, copy in (("s3://bucket/store", "aws s3 sync"), ("hdfs://name:8020/store", "hdfs dfs -get"), ("gs://b/x", "gcloud storage rsync -r")):
        for words in (["report", address], ["size", address], ["compact", address], ["query", "hosts", address], ["synth", address, "--hosts", "3"], ["ingest", address, folder / "hosts", "--layout", "new"], ["collect", address, "--ssh", folder / "hosts"], ["host", "h", address]):
            done = subprocess.run([VENV / "bin/ramline-fleet", *map(str, words)], cwd=folder, capture_output=True, text=True, check=False)
            check(f"{words[0]} {address}: refused, with the way out", done.returncode == 2 and "a store is a folder" in done.stderr and f"try: {copy} {address}" in done.stderr, done.stderr)
    equal("and nothing is made", [one.name for one in folder.iterdir()], ["hosts"])


PARTS = (addresses, marks, judged, days, future, layouts, machines, terminated, linked)
