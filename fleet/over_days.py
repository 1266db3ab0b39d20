"""Parts of fleet/test: what hosts are judged by, which days count, who is one machine, what memory did over time, and a store that is kept small."""

import base64
import datetime
import http.server
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.parse
import urllib.request
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


def documents(folder, count, day_count, edit):
    """Snapshots of so many hosts on so many days up to 2026-11-29; `edit(host, day, document)` changes each."""
    base = json.loads(subprocess.run([RAMLINE, "--root", directory("healthy/debian-13"), "snapshot"], capture_output=True, text=True, check=True).stdout)
    small = {name: base[name] for name in ("schema_version", "machine", "meminfo", "vmstat", "pressure_memory", "swaps", "mounts", "zram", "settings", "zoneinfo") if name in base}
    text, last = json.dumps(small), datetime.date(2026, 11, 29).toordinal() - datetime.date(1970, 1, 1).toordinal()
    folder.mkdir()
    for n in range(count):
        for day in range(day_count):
            one = json.loads(text)
            one["machine"] |= {"host": f"h{n:02}", "boot_id": f"boot {n}", "taken_unix_ns": (last - day_count + 1 + day) * DAY_NS, "uptime": (100 + day) * DAY_NS}
            edit(n, day, one)
            (folder / f"h{n:02}-{day:03}.json").write_text(json.dumps(one))


GIB = 1 << 30


def memory(folder):
    """What memory did over 30 days: who lacks it, who has some to spare, who is unlike the others, zram, kills, pressure, a trend with its day, and a change of some hosts."""
    folder.mkdir()
    store, roles, rng = folder / "store", folder / "roles.tsv", random.Random(56)
    DAYS, ON = 30, 15

    def edit(n, day, one):
        ram, left = 16 * GIB, 10 * GIB + rng.randrange(-GIB // 8, GIB // 8)
        if n == 1:
            left -= day * GIB // 5
        if n in (4, 5, 6, 7, 8, 9) and day > ON:
            left += 2 * GIB
        if n == 3:
            left = GIB
        one["meminfo"]["data"] |= {"mem_total": ram, "mem_free": 2 * GIB, "mem_available": left, "anon_pages": 3 * GIB}
        one["vmstat"]["data"] |= {"oom_kill": 7 + (day >= 20) * 3 * (n == 2), "workingset_refault_file": 1000 * day * (n == 2), "workingset_refault_anon": 0, "pswpin": 0, "pswpout": 0}
        one["pressure_memory"] = {"state": "seen", "data": {"some": {"total_us": 864_000_000 * day * (n == 3) + 10**9}, "full": {"total_us": 10**9}}}
        one["swaps"] = {"state": "seen", "data": []}
        one["zram"] = {"state": "seen", "data": {"devices": [{"disksize": GIB, "algorithm": "lz4", "mm": {"orig_data_size": 4 * GIB, "mem_used_total": GIB if n else 4 * GIB}}] if n % 2 == 0 else []}}

    documents(folder / "sent", 20, DAYS, edit)
    done = fleet("collect", store, "--snapshots", folder / "sent")
    check("a folder of 600 snapshots is taken", done.returncode == 0 and done.stderr.count("20 of 20 hosts taken, settings of 20, memory over time of 20") == DAYS, done.stderr[-400:])
    roles.write_text("".join(f"h{n:02}\t{'web' if n < 12 else 'db'}\n" for n in range(20)))
    with_roles = ["--roles", roles]
    found = asked("size", store, *with_roles)
    # What was counted before the first day is of no day that counts.
    equal("who lacks memory, and why: 3 kills of 10, and waits of 1 %", [(one["host"], one["lacks"]) for one in found["lacking"]], [("h02", "3 kills"), ("h03", "waits 1.0 %")])
    check("who has some to spare: all that waited for nothing", len(found["spare"]) == 18 and all(one["spare_gib"] == 16 - one["need_gib"] for one in found["spare"]) and {one["risk"] for one in found["spare"]} == {0.5}, found["spare"][:2])
    text = fleet("size", store, *with_roles).stdout
    check("the first line says both", text.startswith("2 hosts lack memory; 18 hosts have "), text[:200])
    found = asked("kills", store, *with_roles)
    equal("kills, and on how many hosts", (found["kills"], [(one["host"], one["kills"]) for one in found["rows"]]), (3, [("h02", 3)]))
    check("said with the interval", fleet("kills", store).stdout.startswith("3 processes were killed for want of memory, on 1 of 20 hosts (0.1 to 24.9 %)."), fleet("kills", store).stdout)
    found = asked("zram", store)
    equal("zram: what it stores and takes", (found["roles"][0]["with_zram"], found["roles"][0]["stored_kib"], found["roles"][0]["taken_kib"]), (10, 40 << 20, 13 << 20))
    equal("and where it is worth little", [(one["host"], one["ratio"]) for one in found["poor"]], [("h00", 1.0)])
    found = asked("pressure", store, *with_roles)
    worst = next(one for one in found["roles"] if one["role"] == "web")
    equal("who waits most", (worst["most_host"], round(worst["most"], 4), worst["median"]), ("h03", 0.01, 0))
    found = asked("outliers", store, *with_roles)
    check("hosts unlike the others of their role", {"h01", "h03"} <= {one["host"] for one in found["rows"]} and "h12" not in {one["host"] for one in found["rows"]}, found["rows"])
    found = asked("trend", store)
    breaks = {one["host"]: one for one in found["breaks"]}
    equal("one host runs out of memory", list(breaks), ["h01"])
    wanted = datetime.date(2026, 11, 29) + datetime.timedelta(days=round((10 - 29 / 5) / (1 / 5)))
    check("about the day on which it would, and the interval has it", breaks["h01"]["earliest_day"] <= wanted.isoformat() <= breaks["h01"]["latest_day"] and abs(breaks["h01"]["in_days"] - 21) <= 1, (breaks, wanted))
    check("the answer is that day", fleet("trend", store).stdout.startswith("1 host of 20 will run out of memory if it goes on like that; the first about 2026-12-"), fleet("trend", store).stdout)
    done = fleet("trend", store, "--what", "tmp")
    check("with /tmp in memory, where it is already, it is the same host", done.returncode == 0 and "run out of memory with /tmp in it" in done.stdout and "\nh01 " in done.stdout, done.stdout)
    changed = folder / "changed"
    changed.write_text("".join(f"h{n:02}\n" for n in (4, 5, 6, 7, 8, 9)))
    found = asked("compare", store, "--changed", changed, "--on", "2026-11-15")
    one = next(row for row in found["rows"] if row["what"] == "available")
    check("a change of six hosts: 2 GiB more than the others (whose own one falls), in the interval", one["seen"] and one["low"] < 2 * GIB / 1024 < one["high"] and one["changed_hosts"] == 6 and one["other_hosts"] == 14, one)
    others = {row["what"]: row["seen"] for row in found["rows"]}
    check("what did not change is not seen to", not others["swap in use"] and not others["stored in zram"], others)
    changed.write_text("".join(f"h{n:02}\n" for n in range(12, 18)))
    found = asked("compare", store, "--changed", changed, "--on", "2026-11-15")
    check("hosts that were not changed differ in nothing", not any(row["seen"] for row in found["rows"] if row["what"] != "available"), found["rows"])
    done = fleet("host", "h02", store, *[])
    check("one host, day by day", done.returncode == 0 and done.stdout.startswith("h02: 16.0 GiB of RAM") and done.stdout.count("snapshot") == DAYS, done.stdout[:400] + done.stderr)
    equal("with the kills of each day", [row[-2] for line in done.stdout.splitlines() if len(row := re.split("  +", line)) == 8 and row[1] == "snapshot"], ["7", *["0"] * 19, "3", *["0"] * 9])
    done = fleet("host", "h2", store)
    check("a name that is none is named, with what could be meant", done.returncode == 2 and "h02" in done.stderr, done.stderr)
    for verb in ("size", "outliers", "zram", "kills", "pressure", "trend"):
        done = fleet(verb, store, "--last", "7d")
        check(f"{verb}: of seven days", done.returncode == 0, done.stderr)


def level(folder):
    """Of hosts without a trend none is said to have one, whose days are independent or alike; a line agrees with least squares made otherwise."""
    code = """if True:
        import random, statistics
        from ramline_fleet import trend
        rng, told = random.Random(7), 0
        for fleet in range(20):
            rows, series = [], {}
            for host in range(100):
                value, days = 0.0, []
                for n in range(30):
                    value = (0.8 if fleet % 2 else 0.0) * value + rng.gauss(0, 300_000)
                    days.append((n, round(8_000_000 + value)))
                series[str(host)] = days
                rows.append(("memory", str(host), *trend.sums(days)))
            told += len(trend.made("memory", rows, lambda hosts: {host: series[host] for host in hosts}, "2026-11-29", {"hosts": 100})["breaks"]) > 0
        days = [(n, 5_000_000 - 70_000 * n + rng.randrange(100_000)) for n in range(40)]
        one = trend.line("h", *trend.sums(days))
        other = statistics.linear_regression(*zip(*days))
        assert abs(one.slope - other.slope) < 1e-6 * abs(other.slope) and abs(one.mean - one.slope * one.mean_n - other.intercept) < 1, (one, other)
        print(told)
    """
    found = python(code)
    check("of 20 fleets of 100 level hosts at most 3 have one that seems to fall (one in 20 is chance)", found.isdigit() and int(found) <= 3, found)
    del folder


def kept_small(folder):
    """Many small files become few and the answers stay the same bytes; a kill between leaves nothing double; days that are too old go; a table of a newer version is refused."""
    folder.mkdir()
    store, begin = folder / "store", datetime.date(2026, 8, 20)
    for number in range(40):
        day = (begin + datetime.timedelta(days=number)).isoformat()
        (folder / "lines.tsv").write_text("".join(line(f"h{n}", tmp=(n + 1) * (number + 1)) + "\n" for n in range(30)))
        if number == 0:
            code = "import sys; from ramline_fleet import main, compact; compact.renew = lambda store: None; [main.main(words) for words in eval(sys.argv[1])]"
            jobs = []
        jobs.append(["ingest", str(store), str(folder / f"{day}.tsv"), "--layout", "new", "--day", day])
        shutil.copy(folder / "lines.tsv", folder / f"{day}.tsv")
    python(code, json.dumps(jobs))

    def every():
        return [fleet(*words).stdout for words in (["query", "all", store, "--last", "all"], ["query", "all", store, "--since", "2026-08-25", "--until", "2026-09-05"], ["query", "memory_hosts", store, "--since", "2026-08-25", "--until", "2026-09-05"], ["rollout", store], ["query", "hosts", store])]

    before, files = every(), len(list(store.glob("host_day/*/*/*/*.parquet")))
    check("forty days are forty times sixteen files", files > 500 and all(text.count("\n") > 3 for text in before[:4]), (files, before[2][:200]))
    kept = folder / "kept"
    shutil.copytree(store / "host_day", kept)
    done = fleet("compact", store)
    after = len(list(store.glob("host_day/*/*/*/*.parquet")))
    check("two months that have ended are sixteen files each", done.returncode == 0 and after <= 32 and f"{files} files became {after}" in done.stderr, (done.stderr, after))
    equal("the answers are the same bytes", every(), before)
    # As a kill between the rename and the removal leaves it.
    for lot in kept.iterdir():
        shutil.copytree(lot, store / "host_day" / lot.name)
    equal("lots that another one replaces are not read", every(), before)
    fleet("compact", store)
    equal("and are removed by the next command", len(list(store.glob("host_day/*/*/*/*.parquet"))), after)
    check("a day that is in a month is there already", " 0 hosts taken" in fleet("ingest", store, folder / "2026-08-20.tsv", *NEW, "--day", "2026-08-20").stderr)
    late = line("late", tmp=7)
    taken(store, folder, "2026-08-21", late)
    with_late = every()
    fleet("compact", store)
    equal("what comes late is taken in by the next", (every() == with_late, len(list(store.glob("host_day/*/*/*/*.parquet")))), (True, after))
    done = fleet("compact", store, "--keep", "20d")
    found = asked("report", store, "--last", "all")
    equal("days that are too old are gone", (found["since"], found["until"], found["days"]), ("2026-09-09", "2026-09-28", 20))
    # As an older ramline-fleet kept it: a row a host of all days, in folders that are not of months.
    old = store / "host_peak/20251129T000000000000000-00000000/hb=00"
    old.mkdir(parents=True)
    (old.parent / "lots.json").write_text(json.dumps({"version": "0", "lots": {}, "hosts": 0}))
    (old / "host_peak.parquet").write_bytes(b"PAR1")
    same = asked("report", store, "--last", "all") == found
    check("what an older version kept of each host is not used, and goes", same and fleet("summarize", store).returncode == 0 and not old.exists() and list(store.glob("host_peak/month=*/*/lots.json")))
    equal("what is kept now gives the same", asked("report", store, "--last", "all"), found)
    code = "import sys; import pyarrow.parquet as p; [p.write_table(p.read_table(f, partitioning=None).replace_schema_metadata({'ramline_fleet_schema': '9'}), f) for f in sys.argv[1:]]"
    python(code, *store.glob("host_day/*/*/*/*.parquet"))
    done = fleet("report", store)
    check("a table of a newer version is refused by name", done.returncode == 2 and "schema version 9" in done.stderr and "try:" in done.stderr, done.stderr)


SQLITE = """if True:
    import csv, io, sqlite3, sys
    import pyarrow.dataset as d
    from ramline_fleet import engine, schema, sql, window
    store, until = sys.argv[1], "2026-11-29"
    base = sqlite3.connect(":memory:")

    def table(name, columns, rows):
        base.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        base.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)

    for name in (schema.ROWS, schema.MEMORY_ROWS):
        columns = schema.TABLES[name].names
        found = d.dataset(f"{store}/{name}", partitioning=d.partitioning(flavor="hive")).to_table().to_pylist()
        table(name, [*columns, "dt"], [[row[column] for column in columns] + [row["dt"]] for row in found])
    days = list(engine.days_between("2026-10-30", until))
    table("day_number", ["dt", "n"], [(day, number) for number, day in enumerate(days)])
    table("host_role", ["host", "role"], [])
    table("host_asked", ["host"], [("h01",)])
    table("host_before", ["host"], [("older",)])
    for name in (sql.PEAK, sql.LACK, sql.JUDGED, sql.DAILY, sql.MEMORY):
        base.execute(f"CREATE TABLE {name} AS {sql.query(name)}")
    here = engine.DuckDb(store, window.Window("2026-10-30", until))
    here.prepare(lambda text: None)
    here.define("older", "SELECT 'older' AS host")
    here.connection.execute("CREATE OR REPLACE TEMP VIEW host_before AS SELECT 'older' AS host")
    there = engine.DuckDb(store, window.Window("2026-10-30", until))
    engine.daily(there, {}, ["h01"], lambda text: None)
    wrong = []
    for name in [*sql.QUERIES, "rollout", *(name for name, of in sql.OTHERS.items() if of == schema.MEMORY_ROWS)]:
        done = base.execute(sql.query(name))
        theirs = engine.table([column[0] for column in done.description], [engine.plain(row) for row in done.fetchall()])
        ours = engine.table(*(there if name in sql.OTHERS else here).ask(name))
        if ours != theirs or ours.count(chr(10)) < 2:
            wrong.append((name, ours[:300], theirs[:300]))
    print(wrong)
"""


def portable(folder):
    """The texts of the queries are SQL that another engine answers alike to the byte: here SQLite, which has no types and no decimals."""
    folder.mkdir()
    store, rng = folder / "store", random.Random(8)

    def edit(_, day, one):
        left = 10 * GIB + rng.randrange(-GIB, GIB)
        one["meminfo"]["data"] |= {"mem_total": 16 * GIB, "mem_free": 2 * GIB, "mem_available": left}
        one["mounts"] = {"state": "seen", "data": []}
        one["vmstat"]["data"] |= {"oom_kill": day // 9}
        one["dirs"] = {"state": "seen", "data": [{"path": "/tmp", "allocated": rng.randrange(20 * GIB), "inodes": 9, "complete": True, "refused": 0}]}

    documents(folder / "sent", 12, 14, edit)
    fleet("collect", store, "--snapshots", folder / "sent")
    equal("SQLite gives the same bytes for every query", python(SQLITE, store), "[]")


class Prom:
    """A server that wants to know who asks, and has two hosts and one that is down."""

    def __init__(self, wanted):
        self.asked, self.most = [], 1
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                query = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["query"][0]
                outer.asked.append((query, self.headers.get("Authorization"), self.headers.get("X-Scope-OrgID")))
                hosts = [host for host in ("a:1", "b:1") if 'instance=~"' not in query or re.escape(host) in query.replace("\\\\", "\\")]
                if self.headers.get("Authorization") != wanted:
                    self.send_error(401)
                    return
                if len(hosts) > outer.most and "instance=~" in query:
                    answer = {"status": "error", "error": "query processing would load too many samples into memory"}
                elif "up[" in query:
                    answer = {"status": "success", "data": {"result": [{"metric": {"instance": host, "job": "node"}, "value": [1, up]} for host, up in (("a:1", "1"), ("gone:1", "0"))] + [{"metric": {"instance": "x", "job": "other"}, "value": [1, "0"]}]}}
                else:
                    value = {"group": "1", "node_memory_MemTotal": "2048000", "node_memory_MemAvailable": "1024000", "oom_kill": "2.02", "waiting": "0.5"}
                    found = next((text for name, text in value.items() if name in query), None)
                    answer = {"status": "success", "data": {"result": [{"metric": {"instance": host, "job": "node"}, "value": [1, found]} for host in hosts] if found else []}}
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def authority(folder):
    """A server that wants to know who asks; one that gives half at a time; a target that is down; a day of which it knows nothing."""
    folder.mkdir()
    password, token = folder / "password", folder / "token"
    password.write_text("secret\n")
    token.write_text("abc.def\n")
    basic = "Basic " + base64.b64encode(b"me:secret").decode()
    for name, wanted, words in (("basic", basic, ["--user", "me", "--password-file", password]), ("bearer", "Bearer abc.def", ["--bearer-file", token, "--header", "X-Scope-OrgID: tenant"])):
        store = folder / name
        with Prom(wanted) as server:
            none = fleet("collect", folder / "none", "--prometheus", server.url)
            check(f"{name}: without it there is one error with a way out", none.returncode == 2 and "401" in none.stderr and "--bearer-file" in none.stderr, none.stderr)
            done = fleet("collect", store, "--prometheus", server.url, *words, "--day", "2026-11-01")
            check(f"{name}: two hosts are taken, and the one that is down is named", done.returncode == 7 and "2 of 3 hosts taken, memory over time of 2" in done.stderr and "gone:1: is down" in done.stderr and "x: is down" not in done.stderr, done.stderr)
            check(f"{name}: of the whole day, the most and the least", any("max_over_time(node_memory_MemTotal_bytes" in query and "[86399s]" in query for query, *_ in server.asked) and any("min_over_time(node_memory_MemAvailable_bytes" in query for query, *_ in server.asked))
        equal(f"{name}: more than the server gives at once is asked in halves", sorted((row["host"], row["ram_kib"], row["available_kib"]) for row in rows_of(store)), [("a:1", 2000, 1000), ("b:1", 2000, 1000)])
        equal(f"{name}: what counters grew by is kept", {(row["kills"], row["waited_us"], row["uptime_s"], row["boot"]) for row in rows_of(store, "host_memory")}, {(2, 500_000, 86_399, None)})
        if name == "bearer":
            equal("a header goes with every question", {tenant for *_, tenant in server.asked[1:]}, {"tenant"})
    with Prom(basic) as server:
        done = fleet("collect", folder / "url", "--prometheus", server.url.replace("http://", "http://me:secret@"))
        check("a password in the address is used, and not shown", "secret" not in done.stderr and "2 of 3 hosts taken" in done.stderr, done.stderr)
        done = fleet("collect", folder / "url2", "--prometheus", server.url.replace("http://", "http://me:wrong@"))
        check("nor in an error", done.returncode == 2 and "wrong" not in done.stderr and "me:" not in done.stderr, done.stderr)
    for words, why in ((["file:///etc/passwd"], "no address"), (["http://127.0.0.1:1", "--user", "me"], "--password-file"), (["http://127.0.0.1:1", "--header", "x"], "no header"), (["http://127.0.0.1:1", "--bearer-file", "/dev/zero"], "a device")):
        done = fleet("collect", folder / "none", "--prometheus", *words)
        check(f"{why}: refused", done.returncode == 2 and why in done.stderr and "try:" in done.stderr, done.stderr)
    begin = time.monotonic()
    taken(folder / "one", folder, "2026-11-01", line("a"))
    done = fleet("report", folder / "one", "--engine", "spark://127.0.0.1:1")
    check("a Spark master that is not there is one error within seconds", done.returncode == 2 and "no Spark master answers" in done.stderr and time.monotonic() - begin < 20, done.stderr)



def day_of_samples(folder, programs, port):
    """A real Prometheus that wants a password, with a day of samples of three hosts and one that is down (made by promtool): peaks equal its own max_over_time, the least its own min_over_time."""
    folder.mkdir()
    day = (datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)).isoformat()
    midnight, rng = int(datetime.datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()), random.Random(31)
    lines, hosts = [], ["a:9100", "b:9100", "c:9100"]
    for name, kind in (("node_memory_MemTotal_bytes", 8e9), ("node_memory_MemAvailable_bytes", None), ("node_memory_SwapFree_bytes", None), ("ramline_tmp_bytes", None), ("up", 1)):
        lines.append(f"# TYPE {name} gauge")
        for host in [*hosts, *(["gone:9100"] if name == "up" else [])]:
            lines += [f'{name}{{instance="{host}",job="node"}} {0 if host == "gone:9100" else kind if kind is not None else rng.randrange(1, 4_000_000) * 1024} {midnight + at}' for at in range(0, 86_400, 60)]
    (folder / "samples").write_text("\n".join([*lines, "# EOF"]) + "\n")
    subprocess.run([programs / "promtool", "tsdb", "create-blocks-from", "openmetrics", folder / "samples", folder / "data"], check=True, capture_output=True)
    hashed = subprocess.run(["python3", "-W", "ignore", "-c", "import crypt; print(crypt.crypt('secret', crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16)))"], capture_output=True, text=True, check=True).stdout.strip()
    (folder / "web.yml").write_text(f"basic_auth_users: {{me: '{hashed}'}}\n")
    (folder / "prometheus.yml").write_text("global: {}\n")
    (folder / "password").write_text("secret\n")
    words = [programs / "prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", "--storage.tsdb.retention.time=10y", f"--web.listen-address=127.0.0.1:{port}", f"--web.config.file={folder}/web.yml"]
    server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url, store = f"http://127.0.0.1:{port}", folder / "store"
        who = ["--user", "me", "--password-file", folder / "password"]
        done = fleet("collect", store, "--prometheus", url, "--day", day, *who)
        check("it is up", until(lambda: "3 of 4 hosts taken" in fleet("collect", store, "--prometheus", url, "--day", day, *who).stderr or (store / "host_day").exists(), 60, 1), done.stderr)
        done = fleet("collect", folder / "other", "--prometheus", url, "--day", day, *who)
        check("three hosts are taken, and the one that is down is named", "3 of 4 hosts taken" in done.stderr and "gone:9100: is down" in done.stderr, done.stderr)

        def own(query):
            request = urllib.request.Request(f"{url}/api/v1/query", data=urllib.parse.urlencode({"query": query, "time": midnight + 86_399}).encode(), headers={"Authorization": "Basic " + base64.b64encode(b"me:secret").decode()})
            with urllib.request.urlopen(request, timeout=20) as answer:
                return {one["metric"]["instance"]: int(float(one["value"][1])) // 1024 for one in json.load(answer)["data"]["result"]}

        rows = {row["host"]: row for row in rows_of(store)}
        for column, query in (("tmp_kib", "max_over_time(ramline_tmp_bytes[1d])"), ("available_kib", "min_over_time(node_memory_MemAvailable_bytes[1d])"), ("swap_free_kib", "min_over_time(node_memory_SwapFree_bytes[1d])")):
            equal(f"{column} is its own {query}", {host: row[column] for host, row in rows.items()}, own(query))
        done = fleet("collect", folder / "now", "--prometheus", url, "--day", day, "--peaks", "now", *who)
        check("--peaks now is another figure", done.returncode == 7 and rows_of(folder / "now")[0]["tmp_kib"] < rows["a:9100"]["tmp_kib"], done.stderr)
        done = fleet("collect", folder / "none", "--prometheus", url, "--day", "2020-01-01", *who)
        check("a day of which it knows nothing is an error", done.returncode == 2 and "knows no host of 2020-01-01" in done.stderr, done.stderr)
        done = fleet("collect", folder / "none", "--prometheus", url, "--day", day)
        check("without the password nothing is told", done.returncode == 2 and "401" in done.stderr, done.stderr)
    finally:
        server.kill()
        server.wait(20)


PARTS = (judged, days, future, layouts, machines, terminated, linked, memory, level, kept_small, portable, authority)
