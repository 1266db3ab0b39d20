"""Hosts that are asked now: over ssh, by the texts of node_exporter, or through a Prometheus server; each into the rows of one day."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import arguments, collect, inputs, prometheus, schema, study, trust
from .asked import Progress
from .intake import closed
from .names import Names
from .schema import MEMORY_ROWS
from .store import Ingest
from .words import Failure


def asked_over_ssh(args: Any, hosts: list[str]) -> int:
    """Every host of a list that has no row for the day yet; the exit status."""
    lot, say = Ingest(args.store, args.day, names=Names(args.store)), Progress()
    missing = [host for host in hosts if lot.known(host) not in lot.hosts]
    # One that was named is the user's.
    ssh = args.ssh_command or [trust.program("ssh")]
    try:
        collect.collect(missing, lot, ssh, args.timeout or arguments.SSH, args.at_once, lambda done, failed: say(f"{done} of {len(missing)} hosts asked, {failed} failed"))
    finally:
        status = closed([lot], len(hosts), len(hosts) - len(missing))
    return status


def told(args: Any) -> Iterator[tuple[dict[str, Any], list[tuple[str, str]]]]:
    """Of some hosts at a time what gives their values; targets that were down, each with the reason."""
    if args.metrics:
        files = [Path(file).stem for file in args.metrics]
        if twice := sorted({name for name in files if files.count(name) > 1}):
            raise Failure(f"two files are named {twice[0]}, and the name is the host's", "one file a host, HOST.prom")
        yield {Path(file).stem: lambda file=file: prometheus.values(prometheus.samples(inputs.text(file))) for file in args.metrics}, []
        return
    try:
        server, none = prometheus.Server(args.prometheus, args.timeout or arguments.SERVER, prometheus.authority(args)), True
        for known, down in prometheus.hosts(server, args.day, args.peaks == "day", Progress()):
            none = none and not known and not down
            yield {host: lambda samples=samples: prometheus.values(samples) for host, samples in known.items()}, down
    except study.Refused as why:
        raise Failure(why, "--prometheus http://HOST:9090") from why
    if none:
        raise Failure(f"{args.prometheus} knows no host of {args.day} that node_exporter has told of", "--day DAY, within what the server keeps")


def scraped(args: Any) -> int:
    """Every host that node_exporter has told of, in texts or through a server; the exit status. Those that have come are kept where the others do not."""
    names = Names(args.store)
    lot, memory = Ingest(args.store, args.day, names=names), Ingest(args.store, args.day, MEMORY_ROWS, names)
    order = there = status = 0
    try:
        for found, down in told(args):
            for host, values in sorted(found.items()):
                order += 1
                if lot.known(host) in lot.hosts and host not in lot.taken:
                    there += 1
                    continue
                try:
                    said = values()
                    key, grown, boot = (said.pop(name) for name in ("machine", "over_time", "boot"))
                    if lot.add(order, host, schema.row(host, "node_exporter", False, said, key), key=key) and grown:
                        memory.add(order, host, schema.memory_row(host, args.day, "node_exporter", boot, grown), key=key)
                except (study.Refused, OSError) as why:
                    lot.reject(order, host, str(why))
            for host, text in sorted(down):
                order += 1
                lot.reject(order, host, text)
    finally:
        if order:
            status = closed([lot, memory], order, there, ("hosts", "memory over time"))
    return status
