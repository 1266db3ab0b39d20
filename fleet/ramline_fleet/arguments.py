"""The command line of ramline-fleet."""

import argparse
import datetime
import sys

from . import lock, sql
from .words import a_day, bounds, plain, whole, words_of

# Verbs that write to a store.
WRITERS = ("ingest", "collect", "summarize", "synth")
# Seconds for a host, and for an answer of a server, which may be of thousands of hosts.
SSH, SERVER = 20, 120


class Parser(argparse.ArgumentParser):
    """What it says of a word that it does not take goes through the printer of names."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {plain(message)}\n")


def parsed(words, doc):
    parser = Parser(prog="ramline-fleet", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    for verb in ("ingest", "report"):
        one = verbs.add_parser(verb)
        one.add_argument("store")
        if verb == "ingest":
            one.add_argument("file")
        one.add_argument("--layout", choices=("old", "new"), required=verb == "ingest", help="of free: new has a column 'available', old has 'buffers' and 'cached'")
        if verb == "report":
            one.add_argument("--engine", default="duckdb", help="duckdb, local-cluster or spark://HOST:PORT (default %(default)s)")
        one.add_argument("--day", default=day, type=a_day)
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
    one.add_argument("--day", default=day, type=a_day)
    verbs.add_parser("textfile")
    one = verbs.add_parser("query")
    one.add_argument("name", choices=(*sql.QUERIES, "rollout", *sql.OTHERS, "all"))
    one.add_argument("store")
    one.add_argument("--parquet", metavar="FILE", help="as Parquet instead, of one query")
    one.add_argument("--roles", metavar="FILE", help="of settings: HOST<tab>ROLE in each line")
    one.add_argument("--engine", default="duckdb")
    for verb in ("settings", "findings"):
        one = verbs.add_parser(verb)
        one.add_argument("store")
        if verb == "settings":
            one.add_argument("--roles", metavar="FILE", help="HOST<tab>ROLE in each line; without it all hosts are one role")
        one.add_argument("--json", action="store_true", help="as a document")
        one.add_argument("--engine", default="duckdb")
    one = verbs.add_parser("summarize")
    one.add_argument("store")
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
    return parser.parse_args(words)
