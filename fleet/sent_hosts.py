"""Parts of fleet/test: hosts that have sent snapshots and reports, made of one real document each by an edit; what differs, what was found, and what is refused."""

import json
import re
import shutil
import subprocess

from asking import TOP, fleet, python
from harness import RAMLINE, check, equal
from trees import directory

OTHERS = ("settings", "settings_hosts", "settings_asked", "findings", "findings_hosts", "findings_asked", "memory_hosts", "memory_asked", "trend", "host_days")
# 19 January and the day after, as a snapshot and a report have it.
DAYS = [1_453_161_600 * 10**9 + number * 86_400 * 10**9 for number in range(2)]


def sent(folder, name, document, host, day=0, **edits):
    """A copy of a document as another host has sent it on that day; an edit is of a section's data."""
    copy = json.loads(json.dumps(document))
    # Another host is another boot.
    copy["machine"] |= {"host": host, "taken_unix_ns": DAYS[day], "boot_id": f"boot of {host}"}
    for section, values in edits.items():
        copy[section]["data"] = values if isinstance(values, list) else copy[section]["data"] | values
    file = folder / name
    file.write_text(json.dumps(copy))
    return file


def of_settings(folder):
    """Settings that differ inside a role, of 20 hosts made of one real snapshot: exact counts, each host by its latest day."""
    folder.mkdir()
    store, roles = folder / "store", folder / "roles.tsv"
    base = json.loads(subprocess.run([RAMLINE, "--root", directory("healthy/debian-13"), "snapshot"], capture_output=True, text=True, check=True).stdout)
    names = [f"h{number:02}" for number in range(20)]
    edits = {"h03": {"settings": {"swappiness": 10}}, "h05": {"settings": {"swappiness": 10}}, "h07": {"settings": {"swappiness": 10}}, "h01": {"settings": {"swappiness": 100}},
             "h04": {"thp": {"enabled": "never"}}, "h15": {"swaps": []}, "h18": {"lru_gen": {"enabled": 0}}}
    files = [sent(folder, f"{name}.json", base, name, **edits.get(name, {})) for name in names]
    # An older day of one, and a newer day of another: the newest counts.
    files += [sent(folder, "h00-newer.json", base, "h00", 1, settings={"swappiness": 10}), sent(folder, "h05-newer.json", base, "h05", 1)]
    done = fleet("collect", store, "--snapshots", *files)
    check("all are taken, each on its day", done.returncode == 0 and "2016-01-19: 20 of 20 hosts taken, settings of 20" in done.stderr and "2016-01-20: 2 of 2 hosts taken, settings of 2" in done.stderr, done.stderr)
    roles.write_text("".join(f"{name}\t{'web' if name < 'h12' else 'db'}\n" for name in names[:19]))
    done = fleet("settings", store, "--roles", roles)
    equal("the answer, then what differs in which role", done.stdout, """4 of 32 settings differ inside a role (20 hosts).
role  setting                       most have                                           others
db    lru_gen/enabled               0x0007 (6 hosts)                                    0x0000 (h18)
db    swap                          zram priority 100, partition priority -2 (6 hosts)  none (h15)
web   transparent_hugepage/enabled  always (11 hosts)                                   never (h04)
web   vm.swappiness                 60 (8 hosts)                                        10 (3 hosts: h00, h07 and 1 more); 100 (h01)
""")
    check("it says which hosts have a role", "19 of 20 hosts have a role" in done.stderr, done.stderr)
    wanted = """role,setting,value,hosts,first_host,last_host
db,lru_gen/enabled,0x0007,6,h12,h17
db,lru_gen/enabled,0x0000,1,h18,h18
db,swap,"zram priority 100, partition priority -2",6,h12,h18
db,swap,none,1,h15,h15
web,transparent_hugepage/enabled,always,11,h00,h11
web,transparent_hugepage/enabled,never,1,h04,h04
web,vm.swappiness,60,8,h02,h11
web,vm.swappiness,10,3,h00,h07
web,vm.swappiness,100,1,h01,h01
"""
    rows = fleet("query", "settings", store, "--roles", roles).stdout
    equal("the rows of the query", rows, wanted)
    others = fleet("query", "settings_hosts", store, "--roles", roles).stdout
    equal("every host that has something else", [line.split(",")[2] for line in others.splitlines()[1:]], ["h18", "h15", "h04", "h00", "h01", "h03", "h07"])
    pair = folder / "pair.tsv"
    pair.write_text("h01\tpair\nh02\tpair\n")
    equal("of two values that as many have the first in the alphabet is the usual one", [line for line in fleet("query", "settings_hosts", store, "--roles", pair).stdout.splitlines() if "pair" in line], ["pair,vm.swappiness,h02,60,100"])
    found = json.loads(fleet("settings", store, "--json").stdout)
    equal("without a file all hosts are one role", [(row["role"], row["setting"], [one["hosts"] for one in row["values"]]) for row in found["rows"]],
          [("", "lru_gen/enabled", [19, 1]), ("", "swap", [19, 1]), ("", "transparent_hugepage/enabled", [19, 1]), ("", "vm.swappiness", [16, 3, 1])])
    half_written(store, lambda: fleet("query", "settings", store, "--roles", roles).stdout, rows)
    (folder / "other.tsv").write_text("other\tweb\n")
    check("a file of roles for other hosts is refused", "names no host" in fleet("settings", store, "--roles", folder / "other.tsv").stderr)
    bad = {"not.json": ("{", "no snapshot"), "version.json": (json.dumps({**base, "schema_version": 7}), "schema_version is 7, and 1 is"), "list.json": (json.dumps({**base, "machine": []}), "no snapshot"), "escape.json": (json.dumps({**base, "schema_version": "\x1b[2J"}), r"'\x1b[2J'"),
           "key.json": (json.dumps({**base, "machine": {**base["machine"], "host": "key"}, "settings": {"state": "seen", "data": {"\x1b[2J": [1]}}}), r"'vm.\x1b[2J' is no setting"),
           "blank.json": (json.dumps({**base, "machine": {**base["machine"], "host": " "}}), "no name"), "number.json": (json.dumps({**base, "machine": {**base["machine"], "host": [1]}}), "no name"),
           "text.json": (json.dumps({**base, "machine": {**base["machine"], "host": "text"}, "zswap": {"state": "seen", "data": {"compressor": "lzo\x1b[2J"}}}), "cannot be shown")}
    refused_by_name(folder, "--snapshots", bad, [files[0]])


def of_findings(folder):
    """Findings counted over hosts, of copies of one real report: who was asked, who was not, and of whom it is not known."""
    folder.mkdir()
    store, report = folder / "store", folder / "report.json"
    tree = directory("findings/swap-outranked/fires")
    subprocess.run([RAMLINE, "--root", tree, "checkup", "--quick", "--json", report], capture_output=True, check=True)
    snapshot = json.loads(subprocess.run([RAMLINE, "--root", tree, "snapshot"], capture_output=True, text=True, check=True).stdout)
    # As a running machine has them.
    base = {**json.loads(report.read_text()), "window": 1, "measured": {}, "skipped": []}
    one = base["findings"][0]
    equal("the report is of one finding", [one["id"], one["weight"]], ["swap-outranked", "warning"])
    fine = {**base, "findings": [{**one, "id": "nothing-to-change", "weight": "note"}]}
    hosts = [f"h{number:02}" for number in range(20)]
    done = fleet("collect", store, "--snapshots", *(sent(folder, f"{host}.snapshot", snapshot, host) for host in hosts))
    check("20 hosts are known", "20 of 20 hosts taken" in done.stderr, done.stderr)
    none = fleet("findings", store)
    check("without a report there is no answer", none.returncode == 2 and "--reports" in none.stderr and not none.stdout, none.stderr)
    worse = {**base, "findings": [one, {**one, "weight": "critical"}, {**one, "id": "other-evictor", "weight": "note"}]}
    blind = {**fine, "findings": [], "skipped": [{"what": "rules dirty-limits-in-seconds, other-evictor", "why": "x", "fix": None}]}
    documents = dict.fromkeys(hosts[:18], fine) | {"h01": base, "h02": base, "h03": worse, "h04": blind, "h05": {**fine, "measured": None}}
    files = [sent(folder, f"{host}.json", document, host) for host, document in documents.items()]
    # It had the finding the day before; then it was changed.
    files += [sent(folder, "h02-newer.json", fine, "h02", 1)]
    done = fleet("collect", store, "--reports", *files)
    check("all are taken, each on its day", done.returncode == 0 and "2016-01-19: 18 of 18 reports taken" in done.stderr and "2016-01-20: 1 of 1 reports taken" in done.stderr, done.stderr)
    wanted = """2 of 18 hosts have something to change; 2 were not asked (no report).
finding            level     hosts     share   95 %
swap-outranked     critical  1 of 18   5.6 %   0.1 to 27.3 %
swap-outranked     warning   1 of 18   5.6 %   0.1 to 27.3 %
other-evictor      note      1 of 17   5.9 %   0.1 to 28.7 %
nothing-to-change  note      15 of 18  83.3 %  58.6 to 96.4 %
Not judged, since what the rule needs was not measured there: dirty-limits-in-seconds (2 hosts), other-evictor (1 host), swap-slower-than-reload (1 host), swappiness-against-costs (1 host).
"""
    equal("the answer, then what was found on how many", fleet("findings", store).stdout, wanted)
    rows = fleet("query", "findings", store).stdout
    check("who could not judge it is not asked for it", "dirty-limits-in-seconds,not judged,2,16\n" in rows and "swap-outranked,warning,1,18\n" in rows, rows)
    equal("which hosts have it", [line for line in fleet("query", "findings_hosts", store).stdout.splitlines() if "outranked" in line], ["swap-outranked,critical,h03", "swap-outranked,warning,h01"])
    found = json.loads(fleet("findings", store, "--json").stdout)
    equal("a host without a finding was asked", (found["hosts"], found["asked"], found["to_change"]), (20, 18, 2))
    file = folder / "findings.parquet"
    equal("rows come as Parquet", fleet("query", "findings", store, "--parquet", file).returncode, 0)
    half_written(store, lambda: fleet("query", "findings", store).stdout, rows)
    names = json.loads(python("import json; from ramline_fleet import checkup; print(json.dumps(sorted({name for of in checkup.NEED.values() for name in of})))"))
    lists = re.findall(r"rules: &\[(.*?)\]", (TOP / "crates/advice/src/findings/needs.rs").read_text(), re.S)
    equal("rules that need a look or a measurement are those that ramline has as such", names, sorted({name for one in lists for name in re.findall(r'"([^"]+)"', one)}))
    machine = lambda **more: json.dumps({**base, "machine": {**base["machine"], **more}})
    bad = {"not.json": ("{", "no report"), "version.json": (json.dumps({**base, "schema_version": 1}), "schema_version is 1, and 2 is"), "late.json": (machine(taken_unix_ns=4 * 10**18), "future"),
           "blank.json": (machine(host=" "), "no name"), "level.json": (json.dumps({**base, "findings": [{**one, "weight": "bad"}]}), "'bad' is no level"), "snapshot.json": (json.dumps(snapshot), "schema_version"),
           "empty.json": (json.dumps({**base, "findings": None}), "no report")}
    refused_by_name(folder, "--reports", bad, [files[0]])


def refused_by_name(folder, option, bad, good):
    """Each is named with its reason, what is there twice too; the good ones are taken."""
    store = folder / "refused"
    for name, (text, _) in bad.items():
        (folder / name).write_text(text)
    done = fleet("collect", store, option, *(folder / name for name in bad), *good, *good)
    equal(f"{option}: done but for a part", done.returncode, 7)
    for name, why in [*((name, why) for name, (_, why) in bad.items()), (good[0].name, "there already")]:
        check(f"{option}: {name} is named with the reason", any(f"{name}:" in line and why in line for line in done.stderr.splitlines()), done.stderr)
    check(f"{option}: nothing that a terminal would act on is shown", all(line.isprintable() for line in done.stderr.splitlines()), repr(done.stderr))
    check(f"{option}: what is good is taken", any(line.startswith("2016-01-19: 1 of 2") for line in done.stderr.splitlines()), done.stderr)


def half_written(store, answer, wanted):
    """What lies aside is not read, and of two tables that are written together none is kept where one cannot be."""
    table = next(path for path in sorted(store.iterdir()) if path.name in ("host_finding", "host_setting"))
    lot = next(table.glob("ingest=*"))
    shutil.copytree(lot, store / "aside" / "half")
    equal("a half-written lot is not read", answer(), wanted)
    shutil.rmtree(store / "aside" / "half")
    code = """if True:
        import sys
        from ramline_fleet import schema, store
        lots = [store.Ingest(sys.argv[1], "2016-02-01"), store.Ingest(sys.argv[1], "2016-02-01", "host_setting")]
        lots[0].add(1, "", schema.row("new", "snapshot", False, {"ram_kib": 1}))
        lots[1].add(1, "", {"host": "new", "day": "2016-02-01", "name": "vm.swappiness", "value": 10})
        try:
            store.commit(*lots)
        except Exception:
            print(len([part for part in store.parts_of(sys.argv[1], "host_day") if part.first == "2016-02-01"]), [file.name for file in lots[0].store.glob("aside/*")])
    """
    equal("both tables or none", python(code, store), "0 []")


def same_texts(folder):
    """DuckDB and Spark are asked with the same texts, those of the files: what each is given is written down instead."""
    code = """if True:
        import sys
        from pathlib import Path
        from unittest.mock import MagicMock
        from ramline_fleet import engine, sql, window
        def told(one, said, table, head):
            if table == "host_memory":
                engine.daily(one, {"a": "web"}, ["a"], lambda text: None)
            else:
                engine.latest(one, table, {"a": "web"}, lambda text: None)
            for name in (name for name, of in sql.OTHERS.items() if of == table):
                one.ask(name)
            first = [sql.DAILY, sql.MEMORY] if table == "host_memory" else [sql.KNOWN, sql.LATEST[table]]
            return [text.removeprefix(head.format(name)) for name, text in zip([*first, *[""] * 9], said())]
        for store, table in zip([*sys.argv[1:], sys.argv[1]], ("host_setting", "host_finding", "host_memory")):
            duck, spark = engine.DuckDb(store), engine.Spark.__new__(engine.Spark)
            duck.connection = MagicMock()
            spark.session, spark.store, spark.days = MagicMock(), Path(store), window.Window(None, "2016-12-31")
            duck.days = spark.days
            ours = told(duck, lambda: [call.args[0] for call in duck.connection.execute.call_args_list if not call.args[0].startswith("CREATE TEMP VIEW")], table, "CREATE OR REPLACE TEMP TABLE {} AS ")
            theirs = told(spark, lambda: [call.args[0] for call in spark.session.sql.call_args_list], table, "")
            made = [sql.DAILY, sql.MEMORY] if table == "host_memory" else [sql.LATEST[table]]
            files = [sql.query(name) for name in (*made, *(name for name, of in sql.OTHERS.items() if of == table))]
            assert ours == theirs and ours[-len(files):] == files, (ours, theirs)
        print(sorted(sql.OTHERS))
    """
    equal("both engines are asked with the texts of the files", python(code, folder.parent / "settings/store", folder.parent / "findings/store"), str(sorted(OTHERS)))
