"""Parts of fleet/test: what memory did over time, a store that is kept small, and queries that any engine answers alike."""

import datetime
import json
import random
import re
import shutil
import subprocess

from asking import VENV, asked, fleet, python
from harness import RAMLINE, check, equal
from over_days import DAY_NS, NEW, line, taken
from sent_hosts import sent
from trees import directory


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
    check("who has some to spare: all that waited for nothing and do not run out", len(found["spare"]) == 17 and found["running_out"] == 1 and "h01" not in {one["host"] for one in found["spare"]} and all(one["spare_gib"] == 16 - one["need_gib"] for one in found["spare"]) and {one["risk"] for one in found["spare"]} == {0.5}, found["spare"][:2])
    text = fleet("size", store, *with_roles).stdout
    check("the first line says both", text.startswith("2 hosts lack memory; 17 hosts have ") and "1 host will run out of memory" in text, text[:200])
    done = subprocess.run([VENV / "bin/ramline-fleet", "report", store, *map(str, with_roles)], capture_output=True, text=True, check=True)
    heads = ("Add memory to 2 hosts, or move load away, and leave /tmp on disk there: h02 (3 kills), h03 (waits 1.0 %).", "Find what grows on 1 host before memory runs out: h01 (about 2026-12-", "Plan less memory for 17 hosts, which never needed ")
    todo = json.loads(done.stdout)["actions"]
    check("the report says first what to do, the most urgent in front, with the hosts and the command", len(todo) == 3 and all(line.startswith(head) and "ramline fleet" in line for line, head in zip(todo, heads)), todo)
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


def late(folder):
    """What comes late for a month that is one file already, of every table: those that are there are refused, the others taken."""
    folder.mkdir()
    store, base = folder / "store", json.loads(subprocess.run([RAMLINE, "--root", directory("healthy/debian-13"), "snapshot"], capture_output=True, text=True, check=True).stdout)
    (folder / "table.csv").write_text("host,day,ram_kib,kills\n" + "".join(f"h{n},2016-01-{day:02},1000,1\n" for n in range(4) for day in range(1, 12)))
    (folder / "more.csv").write_text("host,day,ram_kib,kills\nh0,2016-01-05,1000,1\nnew,2016-01-05,1000,1\n")
    report = json.loads((folder / "report").read_text()) if not subprocess.run([RAMLINE, "--root", directory("healthy/debian-13"), "checkup", "--quick", "--json", folder / "report"], capture_output=True, check=False).returncode else {}
    files = {source: [sent(folder, f"{host}{source}.json", document, host) for host in ("s0", "s1")] for source, document in (("--snapshots", base), ("--reports", report))}
    fleet("ingest", store, folder / "table.csv")
    for source, (first, _) in files.items():
        for day in range(2):
            fleet("collect", store, source, sent(folder, "other.json", json.loads(first.read_text()), "s0" if day == 0 else "other", day))
    fleet("compact", store)
    check("the month is one lot of each table", all(list(store.glob(f"{table}/*/month=2016-01")) and not list(store.glob(f"{table}/*/dt=*")) for table in ("host_day", "host_memory", "host_setting", "host_finding")), [str(one) for one in store.glob("*/*/*")])
    done = fleet("ingest", store, folder / "more.csv")
    check("a table: the one that is there is refused, the other taken", done.returncode == 0 and "2 lines read: 1 hosts taken, 1 lines refused" in done.stderr and "there already for 2016-01-05" in done.stderr, done.stderr)
    for source, of in files.items():
        done = fleet("collect", store, source, *of)
        check(f"{source}: the one that is there is passed over, the other taken", done.returncode == 0 and "1 of 2" in done.stderr and "1 were there already" in done.stderr, done.stderr)
    equal("kills are of each host once", asked("kills", store, "--last", "all")["kills"], 4 * 11 + 1)


def short(folder):
    """A host that lacks memory as it is, or runs out of it, is in no wave of the rollout, however little lies in its /tmp."""
    folder.mkdir()
    store = folder / "store"
    rows = [f"h{n:02},2026-11-{day:02},16000000,{9_000_000 + n * day - (n == 5) * day * 400_000},0,0,{n * 1000},0,{int(n == 3 and day == 9)},0" for n in range(12) for day in range(1, 15)]
    (folder / "table.csv").write_text("host,day,ram_kib,available_kib,swap_total_kib,swap_free_kib,tmp_kib,tmp_in_ram,kills,waited_us\n" + "\n".join(rows) + "\n")
    check("168 rows are taken", "168 hosts taken" in fleet("ingest", store, folder / "table.csv").stderr)
    done = fleet("rollout", store)
    lines = done.stdout.splitlines()
    check("they are named with the reason", "# 10 hosts in 2 waves; 0 would break" in lines[0] and "# 2 hosts lack memory or run out of it, and are in no wave: h03 (1 kill), h05 (runs out about 2026-11-" in lines[1], done.stdout + done.stderr)
    equal("and all others are in a wave", sorted(line.split("\t")[1] for line in lines if not line.startswith("#")), [f"h{n:02}" for n in range(12) if n not in (3, 5)])


SQLITE = """if True:
    import csv, io, pathlib, sqlite3, sys
    import pyarrow.dataset as d
    from ramline_fleet import engine, schema, sql, window
    store, until = sys.argv[1], "2026-11-29"
    base = sqlite3.connect(":memory:")

    def table(name, columns, rows):
        base.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        base.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)

    for name in (schema.ROWS, schema.MEMORY_ROWS):
        columns = schema.TABLES[name].names
        # Of a month that has ended the day is in the rows, and no longer in the path.
        files = [str(file) for file in pathlib.Path(store, name).rglob("*.parquet")]
        found = d.dataset(files, partitioning=d.partitioning(flavor="hive")).to_table().to_pylist()
        table(name, [*columns, "dt"], [[row[column] for column in columns] + [row["dt"] if "dt" in row else row["day"]] for row in found])
    days = list(engine.days_between("2026-10-30", until))
    table("day_number", ["dt", "n"], [(day, number) for number, day in enumerate(days)])
    table("host_role", ["host", "role"], [])
    table("host_asked", ["host"], [("h01",)])
    table("host_before", ["host"], [("older",)])
    for name in (sql.PEAK, sql.JUDGED, sql.DAILY, sql.MEMORY):
        base.execute(f"CREATE TABLE {name} AS {sql.query(name)}")
    here = engine.DuckDb(store, window.Window("2026-10-30", until))
    here.listed("host_role", ("host", "role"), [])
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


PARTS = (memory, level, kept_small, late, short, portable)
