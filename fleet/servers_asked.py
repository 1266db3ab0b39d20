"""Parts of fleet/test: servers that want to know who asks, and a real Prometheus with a day of samples."""

import base64
import datetime
import http.server
import json
import random
import re
import subprocess
import threading
import time
import urllib.parse
import urllib.request

from asking import fleet, rows_of
from harness import check, equal
from harness.machine import until
from over_days import line, taken


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


PARTS = (authority,)
