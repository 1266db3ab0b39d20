"""Part of fleet/test: thousands of hostile documents, answers of hosts and servers, texts, tables and names, each kind by the command that takes it.

Of each command: no traceback, nothing raw on the terminal, what was read is taken or named, each host of a day has one row, and the store can be asked afterwards.
"""

import json
import subprocess

from asking import VENV
from harness import RAMLINE, check, note
from trees import directory

KINDS = ("snapshots", "reports", "sadf", "metrics", "ssh", "prometheus", "csv", "parquet", "names")

FUZZ = r"""if True:
    import contextlib, io, json, random, re, shutil, sys, traceback
    from pathlib import Path
    from ramline_fleet import collect, main, prometheus, questions
    main.printed = questions.printed = lambda text: sys.stdout.write(text)
    kind, folder, count, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    base = json.loads((folder / "base.json").read_text())
    rng, BATCH = random.Random(f"{kind} {seed}"), 50
    EVIL = ["\x1b[2J", "\u202e", "a\nb", "\x00", "\ud800", "", " ", "-", "../../x", "9" * 5000, "x" * 3000, "é", "'; DROP", "<b>", "-oProxyCommand=x", "h001", "NaN", "1e999", "0x1", "1" * 16, "+1", " 7 ", "١"]
    VALUES = [None, True, False, 0, -1, 1, 1 << 53, 1 << 64, 10 ** 40, 1.5, float("nan"), float("inf"), -0.0, [], {}, [[]], {"a": []}, [None], *EVIL]
    shutil.rmtree(folder / "evil", ignore_errors=True)
    (folder / "evil").mkdir()

    def places(of, at=()):
        yield at
        for key, value in of.items() if isinstance(of, dict) else enumerate(of) if isinstance(of, list) else ():
            yield from places(value, (*at, key))

    def edited(document):
        document = json.loads(json.dumps(document))
        for _ in range(rng.choice([0, 1, 1, 1, 2, 5])):
            if len(every := list(places(document))) < 2:
                break
            *before, last = rng.choice(every[1:])
            of = document
            for key in before:
                of = of[key]
            match rng.randrange(6):
                case 0:
                    del of[last]
                case 1 if isinstance(of, dict):
                    of[rng.choice(EVIL)] = of.pop(last)
                case 2 if isinstance(of, list):
                    of.append(of[last])
                case _:
                    of[last] = rng.choice(VALUES)
        return document

    def torn(text):
        text = bytearray(text)
        for _ in range(rng.choice([0, 0, 0, 1, 1, 3])):
            at = rng.randrange(len(text) + 1)
            text[at:at + rng.choice([0, 1, 1, 7, 400])] = rng.choice([b"", b"\x00", b"\xff", b"\n", b'"', b",", b"\t", b"{", b"]", b"#", b"\x1b[2J", b"9" * 300, b"-", b" ", b"\r", b"\xed\xa0\x80"])
        return bytes(text)

    def written(document, name):
        text = json.dumps(edited(document)).encode()
        (folder / "evil" / name).write_bytes(torn(text) if rng.randrange(3) == 0 else text)
        return str(folder / "evil" / name)

    def machine(document, host):
        return {**document, "machine": {**document["machine"], "host": host, "boot_id": rng.choice([f"boot {host}", f"boot {host}", "boot same"])}}

    asked, failed, all_read, all_taken = 0, [], 0, 0

    def run(words, read):
        global all_read, all_taken
        store = folder / f"store-{kind}"
        if rng.randrange(4) == 0:
            shutil.rmtree(store, ignore_errors=True)
        said, told = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(told):
            try:
                status = main.main([str(store) if word is None else str(word) for word in words])
            except SystemExit as end:
                status = end.code
            except BaseException:
                traceback.print_exc()
                status = "raised"
        said = said.getvalue()
        wrong = []
        if status not in (0, 2, 7) and not (kind == "names" and "cannot use" in said) or "internal error" in said or "Traceback" in said:
            wrong.append(f"status {status}")
        if not all(line.isprintable() for line in said.split("\n")):
            wrong.append("raw")
        if status == 2 and "try:" not in said and not said.startswith("usage: "):
            wrong.append("no way out")
        counts = [tuple(int(number or 0) for number in one) for one in re.findall(r"(\d+) of (\d+) (?:hosts|reports) taken(?:, (\d+) were there already)?", said)]
        lines = re.search(r"(\d+) lines read: (\d+) hosts taken, (\d+) lines refused", said)
        taken = sum(one[0] for one in counts) if counts else int(lines[2]) if lines else 0
        if lines and int(lines[1]) != int(lines[2]) + int(lines[3]):
            wrong.append("taken and refused are not what was read")
        if lines and read is not None and int(lines[1]) != read:
            wrong.append(f"{read} lines were there")
        if not lines and read is not None and status != 2:
            named = sum(line.startswith("  ") and not line.startswith("  try: ") for line in said.split("\n"))
            there = sum(one[2] for one in counts)
            # A document that was there already may be named as such as well.
            if not taken + named <= read <= taken + there + named:
                wrong.append(f"{read} read, {taken} taken, {there} there, {named} named")
        rows = []
        for table, key in (("host_day", "host"), ("host_memory", "host")):
            from ramline_fleet.store import parts_of
            from pyarrow import parquet
            found = [(row["host"], part.first) for part in parts_of(store, table) if part.daily for row in parquet.ParquetFile(part.path).read(columns=["host"]).to_pylist()]
            if len(found) != len(set(found)):
                wrong.append(f"{table}: a host twice on a day")
            if not all(host.strip() and host.isprintable() for host, _ in found):
                wrong.append(f"{table}: a name that cannot be shown")
        all_read, all_taken = all_read + (read or 0), all_taken + taken
        if wrong:
            failed.append((wrong, said[-1500:]))

    def of_host(number):
        return f"h{rng.randrange(400):03}" if rng.randrange(5) else rng.choice(EVIL)

    while asked < count and len(failed) < 3:
        some = min(BATCH, count - asked)
        if kind in ("snapshots", "reports"):
            files = [written(machine(base[kind], of_host(n)), f"{n}.json") for n in range(some)]
            run(["collect", None, f"--{kind}", *files], some)
        elif kind == "sadf":
            # Each file has a host.
            files = [written({"sysstat": {"hosts": [{**base[kind], "nodename": of_host(n), "file-date": f"2026-01-{1 + n % 9:02}"}]}}, f"{n}.json") for n in range(some)]
            run(["collect", None, "--sadf", *files], None)
        elif kind == "metrics":
            files = []
            for n in range(some):
                lines = base[kind].replace("0123456789abcdef", f"{rng.randrange(400):016x}").split("\n")
                for _ in range(rng.choice([0, 0, 1, 1, 2])):
                    at = rng.randrange(len(lines))
                    lines[at] = f"{lines[at].rpartition(' ')[0]} {rng.choice(VALUES)}"
                file = folder / "evil" / f"h{rng.randrange(400):03}-{n}.prom"
                file.write_bytes(torn("\n".join(lines).encode(errors="surrogatepass")))
                files.append(file)
            run(["collect", None, "--metrics", *files, "--day", f"2026-01-{rng.randrange(1, 9):02}"], some)
            shutil.rmtree(folder / "evil")
            (folder / "evil").mkdir()
        elif kind == "ssh":
            hosts = [f"h{n:03}" for n in rng.sample(range(400), some)]
            (folder / "evil/hosts").write_text("".join(f"{host}\n" for host in hosts))

            def answer(host, *_):
                lines = base[kind].replace("HOST", rng.choice([host, host, host, "h001"])).split("\n")
                for _ in range(rng.randrange(3)):
                    at = rng.randrange(len(lines))
                    lines[at] = rng.choice([f"{lines[at].split(' ')[0]} {rng.choice(VALUES)}", rng.choice(EVIL), lines[at] + "\n" + lines[at]])
                return torn("\n".join(lines).encode(errors="surrogatepass")).decode(errors="replace")

            collect.ask = answer
            run(["collect", None, "--ssh", folder / "evil/hosts", "--ssh-command", "none", "--day", f"2026-01-{rng.randrange(1, 9):02}"], some)
        elif kind == "prometheus":
            hosts = [of_host(n) for n in range(some)]

            def served(seconds, url, request):
                import urllib.parse
                query = urllib.parse.parse_qs(request.data.decode())["query"][0]
                value = {"MemTotal": "8192000", "MemFree": "4096000", "MemAvailable": "5000000", "up": "1"}
                metric = next((name for name in re.findall(r"[A-Za-z_]+", query) if name.startswith(("node_", "ramline_", "up"))), "x")
                series = [{"metric": {"__name__": metric, "instance": host, "job": "node"}, "value": [1, next((found for name, found in value.items() if name in metric), "0")]} for host in hosts]
                document = {"status": "success", "data": {"resultType": "vector", "result": series}}
                return torn(json.dumps(edited(document)).encode()) if rng.randrange(30) == 0 else json.dumps(edited(document) if rng.randrange(3) == 0 else document).encode()

            prometheus.within = served
            run(["collect", None, "--prometheus", "http://127.0.0.1:1", "--day", f"2026-01-{rng.randrange(1, 9):02}"], None)
        elif kind in ("csv", "parquet"):
            names = ["host", "day", "ram_kib", "available_kib", "tmp_kib", "kills", "source"]
            rows = [[of_host(n), f"2026-01-{rng.randrange(1, 9):02}", 1000, 700, n, 0, "export"] for n in range(some)]
            for row in rows:
                for _ in range(rng.choice([0, 0, 1, 2])):
                    row[rng.randrange(len(row))] = rng.choice(VALUES)
            file = folder / "evil" / f"table.{kind}"
            if kind == "parquet":
                import pyarrow as pa
                from pyarrow import parquet
                table = pa.table({name: pa.array([None if row[at] is None else str(row[at]).encode(errors="replace").decode(errors="replace") for row in rows]) for at, name in enumerate(names)})
                parquet.write_table(table, file)
                text = file.read_bytes()
                if rng.randrange(3) == 0:
                    file.write_bytes(b"PAR1" + torn(text[4:]))
                run(["ingest", None, file, "--day", "2026-01-01"], None)
            else:
                text = "\n".join([",".join(names), *(",".join("" if cell is None else str(cell) for cell in row) for row in rows)]).encode(errors="surrogatepass")
                file.write_bytes(text.split(b"\n", 1)[0] + b"\n" + torn(text.split(b"\n", 1)[1]))
                run(["ingest", None, file, "--day", "2026-01-01"], None)
        else:
            # Names everywhere that a name is taken: a list of hosts, roles, those that were changed, of one host, a file and a store.
            store = folder / f"store-{kind}"
            if not store.exists():
                run(["synth", None, "--hosts", 9, "--days", 12, "--day", "2016-01-19"], None)
            evil = [rng.choice([*EVIL, "synthetic-0000003"]) for _ in range(rng.randrange(1, 9))]
            (folder / "evil/list").write_bytes("".join(f"{name}{rng.choice([chr(9), ' ', '', chr(9) * 2])}{rng.choice(EVIL)}\n" for name in evil).encode(errors="surrogatepass"))
            some, name, file = len(evil), evil[0].replace("\x00", "").encode(errors="replace").decode(), folder / "evil/list"
            shapes = [["rollout", store, "--roles", file], ["report", store, "--roles", file], ["size", store, "--roles", file], ["outliers", store, "--roles", file], ["host", "--", name, store], ["compare", store, "--changed", file, "--on", "2016-01-24"],
                      ["query", "--", name, store], ["report", "--", name], ["ingest", store, file], ["collect", store, "--ssh", file, "--ssh-command", "false", "--timeout", "1"], ["collect", store, "--reports", name or "x", file], ["ingest", store, "--", name], ["query", "roles", store, "--roles", file]]
            keep = rng.choice(shapes)
            run(keep, None)
        asked += some
    store = folder / f"store-{kind}"
    if kind not in ("reports", "names") and store.exists():
        for words in (["report", str(store), "--last", "all"], ["size", str(store), "--last", "all", "--json"], ["rollout", str(store), "--last", "all"], ["query", "all", str(store), "--last", "all"]):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
                if main.main(words) and "has no host" not in said.getvalue():
                    failed.append((words, said.getvalue()[-1500:]))
    for one in failed:
        print(one)
    print(asked, all_read, all_taken)
"""
MOMENT = {"memfree": 500, "avail": 700, "memused": 300, "memused-percent": 30.0, "buffers": 50, "cached": 100, "slab": 50, "swpfree": 10, "swpused": 2}
METRICS = """# HELP x
node_memory_MemTotal_bytes 8.192e+06
node_memory_MemFree_bytes 4.096e+06
node_memory_MemAvailable_bytes 5e+06
node_filesystem_size_bytes{mountpoint="/tmp",fstype="tmpfs"} 8192
node_filesystem_free_bytes{mountpoint="/tmp",fstype="tmpfs"} 4096
node_vmstat_oom_kill 3
node_pressure_memory_waiting_seconds_total 1.5
node_time_seconds 1.7e9
node_boot_time_seconds 1.6e9
ramline_machine_info{boot="0123456789abcdef",machine="0123456789abcdef"} 1
ramline_tmp_bytes 4096
"""
ANSWER = "ramline-fleet 1\nMemTotal 1000\nMemFree 300\nMemAvailable 600\nSwapTotal 10\nSwapFree 5\nboot HOST\nmachine image\ntmp_kib 16\ntmp_inodes 2\ntmp_in_ram 0\nend\n"
# What the package reads of a snapshot, and a part that it does not.
SECTIONS = ("schema_version", "machine", "meminfo", "vmstat", "pressure_memory", "swaps", "mounts", "dirs", "zram", "settings", "zoneinfo", "lru_gen", "zswap", "thp", "ksm")


def hostile(folder, count=100):
    """Hostile documents, answers, tables and names, by the thousand: nothing is lost or double, and nothing raw is said."""
    folder.mkdir()
    tree = directory("healthy/debian-13")
    snapshot = json.loads(subprocess.run([RAMLINE, "--root", tree, "snapshot"], capture_output=True, text=True, check=True).stdout)
    subprocess.run([RAMLINE, "--root", directory("findings/swap-outranked/fires"), "checkup", "--quick", "--json", folder / "report"], capture_output=True, check=False)
    bases = {"snapshots": {name: snapshot[name] for name in SECTIONS if name in snapshot}, "reports": json.loads((folder / "report").read_text()), "metrics": METRICS, "ssh": ANSWER,
             "sadf": {"nodename": "a", "file-date": "2026-01-01", "statistics": [{"memory": MOMENT}, {"memory": {**MOMENT, "avail": 600}}]}}
    (folder / "base.json").write_text(json.dumps(bases))
    for kind in KINDS:
        # A name is a question to the whole store.
        many = max(20, count // 10) if kind == "names" else count
        done = subprocess.run([VENV / "bin/python", "-c", FUZZ, kind, folder, str(many), "56"], capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        check(f"{many} hostile {kind}: no traceback, nothing raw, each taken or named, none twice", done.returncode == 0 and len(lines) == 1, done.stdout[-3000:] + done.stderr[-2000:])
        note(f"hostile {kind}: asked, read and taken: {lines[-1] if lines else 'none'}")


PARTS = (hostile,)
