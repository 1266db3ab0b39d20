"""The command line of ramline-fleet."""

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from . import lock, sql, window
from .words import Failure, a_day, bounds, plain, whole, words_of

# Verbs that write to a store.
WRITERS = ("ingest", "collect", "summarize", "compact", "synth")
# Verbs that answer from what hosts did with their memory: what each says, and whether a file of roles goes with it.
OVER_TIME = {"size": True, "outliers": True, "zram": True, "kills": True, "pressure": True, "trend": False, "compare": False}
# Verbs to which it matters which days count.
WINDOWED = ("report", "query", "settings", "findings", "rollout", "host", *OVER_TIME)
# Seconds for a host, and for an answer of a server, which may be of thousands of hosts.
SSH, SERVER = 20, 120


class Parser(argparse.ArgumentParser):
    """What it says of a word that it does not take goes through the printer of names."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {plain(message)}\n")


def parsed(words: Sequence[str] | None, doc: str | None) -> argparse.Namespace:
    parser = Parser(prog="ramline-fleet", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    day = window.today()
    for verb in ("ingest", "report"):
        one = verbs.add_parser(verb)
        one.add_argument("store")
        if verb == "ingest":
            one.add_argument("file")
        one.add_argument("--layout", choices=("old", "new"), help="of free: new has a column 'available', old has 'buffers' and 'cached'; a line `# layout: old` in the file says it too")
        if verb == "report":
            one.add_argument("--roles", metavar="FILE", help="HOST<tab>ROLE in each line: counts for each role")
            one.add_argument("--rejects", metavar="FILE", help="lines of a file that were refused, with number and reason")
            one.add_argument("--engine", default="duckdb", help="duckdb, local-cluster or spark://HOST:PORT (default %(default)s)")
        one.add_argument("--day", default=day if verb == "ingest" else None, type=past_day, help="of a file (default today)")
    one = verbs.add_parser("collect")
    one.add_argument("store")
    source = one.add_mutually_exclusive_group(required=True)
    source.add_argument("--ssh", metavar="HOSTS", help="a file with [user@]host[:port] in each line")
    source.add_argument("--prometheus", metavar="URL", help="a server that scrapes node_exporter")
    source.add_argument("--snapshots", metavar="FILE", nargs="+", help="documents of ramline snapshot")
    source.add_argument("--reports", metavar="FILE", nargs="+", help="documents of ramline checkup --json")
    source.add_argument("--sadf", metavar="FILE", nargs="+", help="what sadf -j FILE -- -r ALL -S printed of a day of sysstat")
    source.add_argument("--metrics", metavar="FILE", nargs="+", help="texts of node_exporter")
    one.add_argument("--ssh-command", type=words_of, help="with options of your own (default ssh)")
    one.add_argument("--timeout", type=whole(1, 3600), metavar="SECONDS", help=f"for each host (default {SSH}), or for each answer of a Prometheus server (default {SERVER})")
    one.add_argument("--at-once", type=whole(1, 1000), default=32, metavar="N", help="hosts (default %(default)s)")
    one.add_argument("--day", default=day, type=past_day, help="of ssh, metrics and Prometheus, in UTC (default today); a snapshot, a report and sysstat have their own")
    one.add_argument("--user", metavar="NAME", help="for a Prometheus server, with --password-file")
    one.add_argument("--password-file", metavar="FILE", help="its first line is the password")
    one.add_argument("--bearer-file", metavar="FILE", help="its first line is sent as a bearer token to a Prometheus server")
    one.add_argument("--header", metavar="'NAME: VALUE'", action="append", default=[], help="for a Prometheus server, as X-Scope-OrgID of several tenants; more than once")
    one.add_argument("--peaks", choices=("day", "now"), default="day", help="of Prometheus: the worst of the day (default), or what it was at the end of it")
    verbs.add_parser("textfile")
    one = verbs.add_parser("query")
    one.add_argument("name", choices=(*sql.QUERIES, "rollout", "margins", *sql.OTHERS, "all"))
    one.add_argument("store")
    one.add_argument("--parquet", metavar="FILE", help="as Parquet instead, of one query")
    one.add_argument("--roles", metavar="FILE", help="of roles, settings and memory: HOST<tab>ROLE in each line")
    one.add_argument("--engine", default="duckdb")
    for verb in ("settings", "findings"):
        one = verbs.add_parser(verb)
        one.add_argument("store")
        if verb == "settings":
            one.add_argument("--roles", metavar="FILE", help="HOST<tab>ROLE in each line; without it all hosts are one role")
        one.add_argument("--json", action="store_true", help="as a document")
        one.add_argument("--engine", default="duckdb")
    for verb, roles in OVER_TIME.items():
        one = verbs.add_parser(verb)
        one.add_argument("store")
        if roles:
            one.add_argument("--roles", metavar="FILE", help="HOST<tab>ROLE in each line; without it all hosts are one role")
        if verb == "trend":
            one.add_argument("--what", choices=("memory", "tmp"), default="memory", help="of RAM and swap what is left, or what /tmp in memory would leave (default %(default)s)")
        if verb == "compare":
            one.add_argument("--changed", metavar="FILE", required=True, help="the hosts that were changed, one a line")
            one.add_argument("--on", metavar="DAY", type=past_day, required=True, help="the day of the change, which is in neither side")
        one.add_argument("--json", action="store_true", help="as a document")
        one.add_argument("--engine", default="duckdb")
    one = verbs.add_parser("host")
    one.add_argument("name")
    one.add_argument("store")
    one.add_argument("--engine", default="duckdb")
    one = verbs.add_parser("summarize")
    one.add_argument("store")
    one = verbs.add_parser("compact")
    one.add_argument("store")
    one.add_argument("--keep", metavar="400d", type=window.last, help="removes days that are older, for good")
    one = verbs.add_parser("rollout")
    one.add_argument("store")
    one.add_argument("--bounds", type=bounds, default=[0.01, 0.001], help="a wave for each: so small a share of hosts can break where it is clean (default 1%%,0.1%%)")
    one.add_argument("--roles", metavar="FILE", help="HOST<tab>ROLE in each line: each role is in each wave")
    one.add_argument("--engine", default="duckdb")
    one = verbs.add_parser("synth")
    one.add_argument("file")
    one.add_argument("--hosts", type=whole(1, 10_000_000))
    one.add_argument("--days", type=whole(1, 3660), default=1)
    one.add_argument("--day", default=day, type=a_day, help="the first")
    for verb in WRITERS:
        verbs.choices[verb].add_argument("--wait", type=whole(0, 86_400), default=lock.WAIT, metavar="SECONDS", help="for another command that writes to the store (default %(default)s)")
    for verb in WINDOWED:
        one = verbs.choices[verb]
        one.add_argument("--since", type=a_day, metavar="DAY", help="the first day that counts")
        one.add_argument("--until", type=a_day, metavar="DAY", help="the last one (default the newest of the store)")
        one.add_argument("--last", type=window.last, metavar="30d", default=argparse.SUPPRESS, help=f"a number of days up to that, as 90d or 12w, or all (default {window.USUAL}d)")
    found = parser.parse_args(words)
    if "last" in found and getattr(found, "since", None):
        parser.error("--last and --since both say which day is the first")
    if getattr(found, "since", None) and found.until and found.since > found.until:
        parser.error(f"--since {found.since} is after --until {found.until}")
    return found


def past_day(word: str) -> str:
    """A day that has begun somewhere on earth."""
    found = a_day(word)
    if window.is_future(found):
        raise argparse.ArgumentTypeError(f"{found} is in the future: nothing was measured then")
    return found


def refuse_address(args: argparse.Namespace) -> None:
    """A store is a folder: `s3://b/store` would be one named s3: here. A copy of a store is a store, since a file of it is never changed."""
    for name in ("store", "file"):
        word = str(getattr(args, name, None) or "")
        if found := re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", word):
            copy = {"s3": "aws s3 sync", "gs": "gcloud storage rsync -r", "hdfs": "hdfs dfs -get"}.get(found[1].lower(), "rclone copy")
            raise Failure(f"{word} is an address, and a store is a folder: mount it there, or copy it", f"{copy} {shlex.quote(word)} store")
