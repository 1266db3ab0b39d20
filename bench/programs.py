"""Real programs of bench/programs: what each needs beside it, and its command; all take some seconds, at most 600 MiB, and have no terminal."""

import os
import random
import shutil
import subprocess
from pathlib import Path

ARRAYS = """
import array, random, sys
random.seed(int(sys.argv[1]))
count = 6_000_000
values = array.array("d", (random.random() for _ in range(count)))
index, total = array.array("l", range(count)), 0.0
for _ in range(count):
    total += values[int(random.random() ** 3 * count)]
ordered = sorted(values[: count // 4])
for _ in range(6):
    total += sum(values) + sum(index)
print(round(total, 3), ordered[0])
"""

SQL = """pragma journal_mode=off; pragma synchronous=off; pragma cache_size=-150000; pragma temp_store=memory;
create table t(id integer primary key, a integer, b text);
with recursive n(i) as (select 1 union all select i+1 from n where i < 1500000) insert into t select i, abs(random()) % 1000000, hex(randomblob(16)) from n;
create index ta on t(a); create index tb on t(b); select count(*), sum(length(b)) from t where a between 1000 and 400000;"""

REDIS = """cd "$1"; rm -f dump.rdb
redis-server --port 0 --unixsocket "$1/socket" --save '' --dir "$1" --daemonize no --loglevel warning &
server=$!
until redis-cli -s "$1/socket" ping > /dev/null 2>&1; do sleep 0.05; done
redis-benchmark -s "$1/socket" -q -P 32 -c 8 -n 500000 -r 200000 -d 400 -t set > /dev/null
redis-cli -s "$1/socket" bgsave > /dev/null
redis-benchmark -s "$1/socket" -q -P 32 -c 8 -n 2500000 -r 200000 -d 400 -t get > /dev/null
redis-cli -s "$1/socket" shutdown nosave
wait $server
"""

PGBENCH = """PATH=/usr/lib/postgresql/15/bin:$PATH; export PATH
cd "$1"
rm -f data/postmaster.pid .s.PGSQL.*
setpriv --reuid postgres --regid postgres --clear-groups postgres -D "$1/data" -k "$1" -c listen_addresses= -c shared_buffers=128MB -c fsync=off -c autovacuum=off &
server=$!
until pg_isready -q -h "$1"; do kill -0 $server || exit 1; sleep 0.05; done
setpriv --reuid postgres --regid postgres --clear-groups pgbench -n -S -c 2 -t 60000 -h "$1" -U postgres --random-seed=53 postgres > /dev/null
kill -INT $server
wait $server
"""


def arrays(dir):
    (dir / "arrays.py").write_text(ARRAYS)
    return [shutil.which("python3", path="/usr/bin:" + os.environ["PATH"]), str(dir / "arrays.py"), "53"]


def sqlite(dir):
    (dir / "table.sql").write_text(SQL)
    return ["sh", "-c", 'rm -f "$1/table.db"; exec sqlite3 "$1/table.db" < "$1/table.sql"', "sh", str(dir)]


def sort(dir):
    lines = random.Random(53)
    with open(dir / "lines", "w", encoding="ascii") as out:
        for _ in range(3_200_000):
            out.write(f"{lines.getrandbits(64):016x} {lines.getrandbits(200):050x}\n")
    return ["env", "LC_ALL=C", "sort", "--parallel=1", "-S", "350M", "-k2", "-o", str(dir / "sorted"), str(dir / "lines")]


def rustc(dir):
    crates = sorted(Path.home().glob(".cargo/registry/src/*/regex-automata-0.4.*"))
    syntax = sorted(Path.home().glob(".cargo/registry/src/*/regex-syntax-0.8.*"))
    if not syntax or not crates:
        return None
    compiler = subprocess.run(["rustup", "which", "rustc"], capture_output=True, text=True, check=False).stdout.strip() or shutil.which("rustc")
    features = [word for name in ("std", "unicode", "unicode-age", "unicode-bool", "unicode-case", "unicode-gencat", "unicode-perl", "unicode-script", "unicode-segment") for word in ("--cfg", f'feature="{name}"')]
    return [compiler, "--edition", "2021", "--crate-type", "lib", "--crate-name", "regex_syntax", "-C", "opt-level=2", "-C", "codegen-units=4", "--cap-lints", "allow", *features,
            "-o", str(dir / "libregex_syntax.rlib"), str(syntax[-1] / "src/lib.rs")]


def ld(dir):
    libraries = sorted(Path(os.environ.get("OBJECTS", ".")).glob("libramline_*.rlib"), key=lambda path: path.stat().st_size, reverse=True)[3:8]
    if not libraries:
        return None
    return ["ld", "-r", "--whole-archive", "-o", str(dir / "linked.o"), *map(str, libraries)]


def git(dir):
    top = Path(__file__).resolve().parent.parent
    subprocess.run(["git", "clone", "-q", "--bare", "--no-hardlinks", str(top), str(dir / "repository")], check=True)
    return ["git", "-C", str(dir / "repository"), "-c", "pack.threads=1", "repack", "-adfq", "--window=15", "--depth=30"]


def redis(dir):
    (dir / "redis.sh").write_text(REDIS)
    return ["sh", str(dir / "redis.sh"), str(dir)] if shutil.which("redis-server") else None


def pgbench(dir):
    programs = Path("/usr/lib/postgresql/15/bin")
    if not programs.is_dir():
        return None
    (dir / "pgbench.sh").write_text(PGBENCH)
    shutil.chown(dir, "postgres", "postgres")
    as_postgres = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
    subprocess.run([*as_postgres, programs / "initdb", "-D", dir / "data", "-U", "postgres", "-N"], check=True, stdout=subprocess.DEVNULL)
    server = subprocess.Popen([*as_postgres, programs / "postgres", "-D", dir / "data", "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off"], stderr=subprocess.DEVNULL)
    try:
        ready = ["sh", "-c", f"until {programs}/pg_isready -q -h {dir}; do sleep 0.1; done"]
        subprocess.run(ready, check=True, timeout=30)
        subprocess.run([*as_postgres, programs / "pgbench", "-i", "-q", "-s", "14", "-h", dir, "-U", "postgres", "postgres"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        server.send_signal(2)
        server.wait()
    return ["sh", str(dir / "pgbench.sh"), str(dir)]


# Name, what it does in words, how it is made.
PROGRAMS = {
    "python": ("Python with arrays: fills, reads by a skewed choice, sorts", arrays),
    "sort": ("sort of 220 MB of lines", sort),
    "rustc": ("a compiler: rustc of regex-syntax, optimised", rustc),
    "sqlite": ("sqlite3: a table of 1.5 million rows and two indexes, on a disk", sqlite),
    "redis": ("Redis with BGSAVE and reads by chance", redis),
    "git": ("git repack of this repository", git),
    "ld": ("a linker: ld -r of five libraries", ld),
    "pgbench": ("PostgreSQL, pgbench -S with two clients", pgbench),
}
