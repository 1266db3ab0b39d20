"""Parts of fleet/test: any table of hosts, counts by source and role, margins, and a document that is as its schema says."""

import csv
import json
import subprocess

from asking import TOP, VENV, asked, fleet, python, rows_of
from harness import check, equal
from over_days import GB, line, taken

COLUMNS = ("host", "day", "source", "ram_kib", "available_kib", "swap_total_kib", "swap_free_kib", "tmp_kib", "tmp_in_ram", "kills", "price")


def given(folder):
    """A table of another system's columns is taken, as CSV and as Parquet alike; what cannot be is refused with the reason; taken and refused are all."""
    folder.mkdir()
    good = [[f"h{n}", f"2026-11-{1 + n % 20:02}", "datadog", 16 * GB, 8 * GB, 0, 0, n * 1000, 0, n % 3, 12.5] for n in range(100)]
    wrong = {"there already": good[1], "more is available": ["x1", "2026-11-02", "datadog", 16 * GB, 18 * GB, 0, 0, 1, 0, 0, 1], "ram_kib is no number: '1e7'": ["x2", "2026-11-02", "datadog", "1e7", 1, 0, 0, 1, 0, 0, 1],
             "in the future": ["x3", "2999-11-02", "datadog", GB, 1, 0, 0, 1, 0, 0, 1], "is no day": ["x4", "soon", "datadog", GB, 1, 0, 0, 1, 0, 0, 1], "has no day": ["x5", "", "datadog", GB, 1, 0, 0, 1, 0, 0, 1],
             "the host has no name": ["", "2026-11-02", "datadog", GB, 1, 0, 0, 1, 0, 0, 1], "that can be shown": ["x\x1b6", "2026-11-02", "datadog", GB, 1, 0, 0, 1, 0, 0, 1],
             "tmp_in_ram is 0 or 1": ["x7", "2026-11-02", "datadog", GB, 1, 0, 0, 1, 7, 0, 1], "more lies in the tmpfs": ["x8", "2026-11-02", "datadog", GB, 1, 0, 0, 9 * GB, 1, 0, 1], "without RAM": ["x9", "2026-11-02", "datadog", 0, "", "", "", "", "", "", ""]}
    wrong["no name"] = wrong["the host has no name"]
    some = ["little", "2026-11-03", "", f"{GB}.0", "", "", "", "", "", "", ""]
    file, table = folder / "table.csv", folder / "table.parquet"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([COLUMNS, *good, *wrong.values(), some])
        out.write("ragged,2026-11-02\n")
    python("import sys; import pyarrow as pa, pyarrow.csv as c, pyarrow.parquet as p; t = c.read_csv(sys.argv[1], parse_options=c.ParseOptions(invalid_row_handler=lambda row: 'skip'), convert_options=c.ConvertOptions(column_types={n: pa.string() for n in ('host', 'day', 'source', 'ram_kib')}, strings_can_be_null=False)); p.write_table(t, sys.argv[2])", file, table)
    for name, of, refused in (("csv", file, len(wrong) + 1), ("parquet", table, len(wrong))):
        store = folder / name
        done = fleet("ingest", store, of)
        check(f"{name}: what is read is taken or refused", f"{101 + refused} lines read: 101 hosts taken, {refused} lines refused" in done.stderr and "price" in done.stderr, done.stderr)
        kept = "".join(path.read_text() for path in (store / "rejects").glob("*.tsv"))
        for why in wrong:
            check(f"{name}: refused: {why}", why in kept, kept)
        row = next(row for row in rows_of(store) if row["host"] == "little")
        equal(f"{name}: an empty cell is not known, a whole decimal is a number", (row["ram_kib"], row["available_kib"], row["tmp_kib"], row["source"]), (GB, None, None, "table"))
        equal(f"{name}: counters come too", asked("kills", store)["kills"], sum(n % 3 for n in range(100)))
        check(f"{name}: once more none is taken", " 0 hosts taken" in fleet("ingest", store, of).stderr)
    equal("both ways the same rows", sorted(map(str, rows_of(folder / "csv"))), sorted(map(str, rows_of(folder / "parquet"))))
    (folder / "none.parquet").write_bytes(b"PAR1 and no more\n")
    done = fleet("ingest", folder / "none", folder / "none.parquet")
    check("a broken Parquet file is one error with a way out", done.returncode == 2 and "try:" in done.stderr and "Traceback" not in done.stderr, done.stderr)


def grouped(folder):
    """Counts by source and by role, the margin of each host, and a page that says first what to do."""
    folder.mkdir()
    store, roles, page = folder / "store", folder / "roles.tsv", folder / "page.html"
    taken(store, folder, "2026-11-20", line("db1", tmp=50 * GB), line("db2", tmp=10 * GB), line("web1", tmp=2 * GB))
    (folder / "other.csv").write_text(f"host,ram_kib,available_kib,source\nnode1,{GB},{GB // 2},export\n")
    fleet("ingest", store, folder / "other.csv", "--day", "2026-11-21")
    roles.write_text("db1\tdb\ndb2\tdb\nweb1\tweb\n")
    found = asked("report", store, "--roles", roles)
    equal("by role", [(one["name"], one["hosts"], one["fits"], one["fails"], one["unknown"]) for one in found["roles"]], [("", 1, 0, 0, 1), ("db", 2, 1, 1, 0), ("web", 1, 1, 0, 0)])
    equal("by source, with what is not known and its day", [(one["name"], one["hosts"], one["tmp_unknown"], one["last_day"]) for one in found["sources"]], [("export", 1, 1, "2026-11-21"), ("study", 3, 0, "2026-11-20")])
    lines = [row.split(",") for row in fleet("query", "margins", store).stdout.splitlines()]
    equal("the margin of each host, the least in front", [(row[0], row[3]) for row in lines[1:]], [("db1", str(-10 * GB)), ("db2", str(30 * GB)), ("web1", str(38 * GB)), ("node1", "")])
    survival = {one["threshold"]: one["hosts"] for one in found["survival"]}
    equal("the survival curve of /tmp, by powers of two", survival, {1 << 20: 3, 1 << 23: 2, 1 << 25: 1})
    done = fleet("report", store, "--roles", roles, "--html", page)
    text = page.read_text() if page.exists() else ""
    todo, fits = text.find("What to do"), text.find("Would it fit?")
    check("the page says first what to do, and on which hosts", done.returncode == 0 and 0 < todo < fits and "db1 (lacks 10" in text[todo:fits] and "By role" in text and "2026-11-21" in text, done.stderr)
    check("it has the survival curve and histograms", "survival curve" in text and "Hosts by RAM" in text and text.count("<figure") >= 4 and "<script" not in text)


def documented(folder):
    """The report is as the schema of ramline says: no name that the schema has not, and none that is missing."""
    folder.mkdir()
    taken(folder / "store", folder, "2026-11-20", line("db1", tmp=50 * GB), line("web1", tmp=2 * GB))
    done = subprocess.run([VENV / "bin/ramline-fleet", "report", folder / "store"], capture_output=True, text=True, check=True)
    schema = json.loads((TOP / "schema/ramline.schema.json").read_text())["$defs"]
    wrong = []

    def compared(at, value, kind):
        kind = next((schema[one["$ref"].rsplit("/", 1)[1]] for one in [kind, *kind.get("anyOf", [])] if "$ref" in one), kind)
        if isinstance(value, dict) and "properties" in kind:
            # Lines are of a file, and a store has none.
            wrong.extend(f"{at}.{name}" for name in value.keys() ^ kind["properties"].keys() if f"{at}.{name}" != ".lines")
            for name in value.keys() & kind["properties"].keys():
                compared(f"{at}.{name}", value[name], kind["properties"][name])
        elif isinstance(value, list) and value and "items" in kind:
            for one in value:
                compared(at, one, kind["items"])

    compared("", json.loads(done.stdout), schema["FleetReport"])
    equal("the document and its schema have the same names", sorted(set(wrong)), [])


PARTS = (given, grouped, documented)
