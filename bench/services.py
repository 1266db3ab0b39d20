"""Services for bench/need, each in a control group, with a client outside that asks it and notes how long each batch took."""

import contextlib
import http.client
import os
import random
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import loads

KEYS, VALUE = 250_000, 900
JVM = """
import java.util.*;
public class Heap {
    public static void main(String[] words) throws Exception {
        int count = Integer.parseInt(words[0]); double spread = Double.parseDouble(words[1]);
        byte[][] held = new byte[count][]; Random chance = new Random(51);
        for (int at = 0; at < count; at++) { held[at] = new byte[1000]; for (int i = 0; i < 500; i++) held[at][i] = (byte) chance.nextInt(); }
        System.gc();
        java.io.PrintStream out = new java.io.PrintStream(new java.io.FileOutputStream(words[2]), true);
        long sum = 0;
        for (;;) {
            long begun = System.nanoTime();
            for (int i = 0; i < 400; i++) { int at = (int) (count * (0.5 + spread * chance.nextGaussian())); if (at >= 0 && at < count) sum += held[at][(int) (sum & 511)]; }
            out.println(System.currentTimeMillis() + " " + (System.nanoTime() - begun) / 1000);
            Thread.sleep(4);
        }
    }
}
"""


class Client(threading.Thread):
    """Asks for ever; keeps when each batch ended and how many milliseconds it took."""

    def __init__(self, ask):
        super().__init__(daemon=True)
        self.ask, self.took, self.ended = ask, [], False

    def run(self):
        with contextlib.suppress(OSError):
            while not self.ended:
                begun = time.monotonic()
                self.ask()
                now = time.monotonic()
                self.took.append((now, (now - begun) * 1e3))

    def between(self, first, last):
        return [took for at, took in list(self.took) if first <= at <= last]


def gaussian(count, spread, seed):
    chance = random.Random(seed)
    while True:
        at = int(count * chance.gauss(0.5, spread))
        if 0 <= at < count:
            yield at


def connected(path):
    for _ in range(200):
        with contextlib.suppress(OSError):
            one = socket.socket(socket.AF_UNIX)
            one.connect(str(path))
            return one
        time.sleep(0.05)
    raise TimeoutError(path)


@contextlib.contextmanager
def process(group, words, **more):
    child = subprocess.Popen([str(word) for word in words], preexec_fn=group.enter, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


@contextlib.contextmanager
def asked(ask):
    client = Client(ask)
    client.start()
    try:
        yield client
    finally:
        client.ended = True
        client.join(5)


def lines_of(stream, count, ends):
    """Reads until so many lines that end an answer have come."""
    seen = 0
    while seen < count:
        line = stream.readline()
        if not line:
            raise OSError("closed")
        seen += line.startswith(ends)


def value_of(half, key):
    """Text of a service: half of it compresses."""
    return (half[key % 97:] + half[:key % 97]).hex()[:VALUE].encode()


@contextlib.contextmanager
def keyed(path, count, store, stored, get, got, seed, spread):
    """A store of `count` values behind a socket, filled, and asked for 16 at a time by a normal law around the middle; `stored` and `got` begin the line that ends an answer."""
    one, half = connected(path), os.urandom(VALUE // 2)
    stream = one.makefile("rb")
    for first in range(0, count, 1000):
        one.sendall(b"".join(store(key, value_of(half, key)) for key in range(first, first + 1000)))
        lines_of(stream, 1000, stored)
    keys = gaussian(count, spread, seed)

    def ask():
        one.sendall(b"".join(get % next(keys) for _ in range(16)))
        lines_of(stream, 16, got)
        time.sleep(0.002)
    with asked(ask) as client:
        yield client


@contextlib.contextmanager
def redis(group, at, spread=0.1):
    """Redis: 250,000 values of 900 bytes, asked for by a normal law around the middle, 16 at a time."""
    path = at / "redis"
    with process(group, ["redis-server", "--port", 0, "--unixsocket", path, "--save", "", "--dir", at, "--enable-debug-command", "yes"]):
        # The value is a line of its own, which does not begin with a dollar.
        with keyed(path, KEYS, lambda key, value: b"SET k%d %s\r\n" % (key, value), b"+OK", b"GET k%d\r\n", b"$", 1, spread) as client:
            yield client


@contextlib.contextmanager
def memcached(group, at, spread=0.1):
    """memcached: the same, of 220,000 values."""
    path = at / "memcached"
    store = lambda key, value: b"set k%d 0 0 %d\r\n%s\r\n" % (key, VALUE, value)
    with process(group, ["memcached", "-u", "root", "-s", path, "-m", 600, "-t", 1]):
        with keyed(path, 220_000, store, b"STORED", b"get k%d\r\n", b"END", 2, spread) as client:
            yield client


class Log:
    """Batches that a program notes itself: milliseconds since 1970, and microseconds that it took."""

    def __init__(self, path):
        self.path, self.zero = path, time.time() - time.monotonic()

    def between(self, first, last):
        rows = (line.split() for line in self.path.read_text().splitlines()[:-1])
        return [float(row[1]) / 1e3 for row in rows if first <= float(row[0]) / 1e3 - self.zero <= last]


@contextlib.contextmanager
def jvm(group, at, spread=0.1):
    """A JVM with a heap of 400 MB, 250 MB of objects, of which it reads some by a normal law."""
    (at / "Heap.java").write_text(JVM)
    subprocess.run(["javac", "-d", at, at / "Heap.java"], check=True)
    with process(group, ["java", "-Xms400m", "-Xmx400m", "-cp", at, "Heap", 250_000, spread, at / "log"]):
        time.sleep(15)
        yield Log(at / "log")


def as_postgres(words):
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", *[str(word) for word in words]]


PROGRAMS = Path("/usr/lib/postgresql/15/bin")


@contextlib.contextmanager
def postgres(group, at, scale, seconds=3600, script=None):
    """PostgreSQL and pgbench with two clients; the log of pgbench."""
    shutil.chown(at, "postgres", "postgres")
    os.chmod(at.parent, 0o755)
    subprocess.run(as_postgres([PROGRAMS / "initdb", "-D", at / "data", "-U", "postgres", "-N"]), check=True, stdout=subprocess.DEVNULL)
    words = as_postgres([PROGRAMS / "postgres", "-D", at / "data", "-k", at, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=32MB", "-c", "autovacuum=off"])
    with process(group, words):
        subprocess.run(["sh", "-c", f"until {PROGRAMS}/pg_isready -q -h {at}; do sleep 0.2; done"], check=True, timeout=60)
        made = as_postgres([PROGRAMS / "pgbench", "-i", "-q", "-s", scale, "-h", at, "-U", "postgres", "postgres"])
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (at / "script.sql").write_text(script or f"\\set aid random(1, 100000 * {scale})\nselect abalance from pgbench_accounts where aid = :aid;\n")
        asks = as_postgres([PROGRAMS / "pgbench", "-n", "-f", at / "script.sql", "-c", 2, "-T", seconds, "-h", at, "-U", "postgres", "-l", "--log-prefix", at / "log", "postgres"])
        child = subprocess.Popen(asks, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield PgLog(at)
        finally:
            child.terminate()
            child.wait()


class PgLog:
    """What pgbench notes of each transaction."""

    def __init__(self, folder):
        self.folder, self.zero = folder, time.time() - time.monotonic()

    def rows(self):
        for path in self.folder.glob("log.*"):
            for line in path.read_text().splitlines()[:-1]:
                yield line.split()

    def between(self, first, last):
        return [float(row[2]) / 1e3 for row in self.rows() if first <= int(row[4]) + int(row[5]) / 1e6 - self.zero <= last]


NGINX = """daemon off; worker_processes 1; user root; pid {at}/pid; error_log {at}/error;
events {{}}
http {{ access_log off; sendfile off; keepalive_requests 1000000000; server {{ listen 127.0.0.1:{port}; root {at}/files; }} }}
"""
SERVED, EACH, PORT = 3000, 64 << 10, 18951


@contextlib.contextmanager
def nginx(group, at, spread=0.1):
    """nginx: 3,000 files of 64 KiB, asked for by a normal law."""
    (at / "files").mkdir()
    for number in range(SERVED):
        path = at / "files" / f"{number}"
        path.write_bytes(os.urandom(EACH))
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    (at / "conf").write_text(NGINX.format(at=at, port=PORT))
    with process(group, ["nginx", "-c", at / "conf", "-p", at]):
        time.sleep(1)
        one, names = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10), gaussian(SERVED, spread, 3)

        def ask():
            one.request("GET", f"/{next(names)}")
            one.getresponse().read()
            time.sleep(0.001)
        with asked(ask) as client:
            yield client


__all__ = ["jvm", "loads", "memcached", "nginx", "postgres", "redis"]
