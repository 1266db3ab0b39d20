"""Which machine a host is: one under two names, or through two sources, is one host; clones of one image are several.

A machine is known by its boot: boot_id(4 of random) is drawn anew by each kernel that starts, so that no two machines have the same. Its machine-id, which clones of an image share, tells
containers of one kernel apart where both sides have one, and tells whether a name that was another's has become a machine of its own. Of both only a hash is kept: machine-id(5) asks not to
publish it. ssh tells both, a snapshot its boot, node_exporter what `ramline-fleet textfile` writes; sysstat and the study's file neither: there a name is all there is.

host_name/ has a row for each name, boot and machine-id that was seen together, and the name under which the store has the rows: the one that came first.

>>> a, b = key("boot 1", "image"), key("boot 2", "image")
>>> names = Names(None)
>>> [names.one("web1", a), names.one("root@web1", a), names.one("clone", b), names.one("root@web1", None)]
['web1', 'web1', 'clone', 'web1']
>>> names.one("from-snapshot", key("boot 1", "")), names.one("root@web1", key("boot 3", "new disk"))
('web1', 'root@web1')
>>> key("", "image"), key(" ", None)
(None, None)
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet

from . import schema
from .outputs import new_file, synced
from .store import as_parquet, fresh_name, regular

TABLE = "host_name"
NAMES = pa.schema([("host", pa.string()), ("name", pa.string()), ("boot", pa.string()), ("machine", pa.string())], metadata=schema.ARROW.metadata)


class Seen(NamedTuple):
    host: str
    name: str
    boot: str | None
    machine: str | None


def key(boot: str, machine: str | None) -> str | None:
    """As the column `machine` of a row has it: the hash of a boot, and after a dot that of a machine-id; None where the boot is not known."""
    if not boot.strip():
        return None
    return hashed(boot.strip()) + (f".{hashed(machine.strip())}" if machine and machine.strip() else "")


def hashed(identity: str) -> str:
    """As the shell has it in `prometheus.TEXTFILE`: 16 digits of sha256sum."""
    return hashlib.sha256(f"ramline-fleet {identity}".encode()).hexdigest()[:16]


class Names:
    """Of a store; None is one that has nothing yet and is not kept."""

    def __init__(self, store: str | Path | None) -> None:
        self.store = Path(store) if store else None
        self.boots: dict[str, list[Seen]] = {}
        self.latest: dict[str, Seen] = {}
        self.new: list[Seen] = []
        for file in regular((self.store / TABLE).glob("*.parquet")) if self.store else []:
            for row in parquet.ParquetFile(file).read(columns=list(Seen._fields)).to_pylist():
                self.learn(Seen(**row))

    def learn(self, seen: Seen) -> None:
        self.latest[seen.name] = seen
        if seen.boot:
            self.boots.setdefault(seen.boot, []).append(seen)

    def one(self, name: str, machine: str | None) -> str:
        """The name under which the store has the machine that is called so here; it is learnt."""
        host, seen = self.find(name, machine)
        # Without a boot there is nothing to learn but a name, which is known by its rows.
        if seen.boot and seen not in self.boots.get(seen.boot, []):
            self.learn(seen)
            self.new.append(seen)
        return host

    def find(self, name: str, machine: str | None) -> tuple[str, Seen]:
        """The same, and what there would be to learn."""
        boot, _, identity = (machine or "").partition(".")
        found = next((one for one in self.boots.get(boot, []) if not identity or one.machine in (None, identity)), None) if boot else None
        known = self.latest.get(name)
        if found:
            host = found.host
        elif known and not (identity and known.machine and identity != known.machine):
            host = known.host
        else:
            host = name
        return host, Seen(host, name, boot or None, identity or (known.machine if known and known.host == host else None))

    def keep(self) -> None:
        """What was learnt, as a file of its own."""
        if self.new and self.store:
            folder = self.store / TABLE
            folder.mkdir(exist_ok=True)
            new_file(folder / f"{fresh_name()}.parquet", as_parquet(pa.Table.from_pylist([one._asdict() for one in self.new], schema=NAMES)))
            synced(folder)
            self.new = []

    def compact(self) -> None:
        """One file of many, under lock; a reader finds the old ones or all of it twice, which is the same."""
        if not self.store or len(old := regular((self.store / TABLE).glob("*.parquet"))) < 2:
            return
        # What is read last is what a name stands for now.
        latest = dict.fromkeys(self.latest.values())
        self.new = [*dict.fromkeys(seen for of in self.boots.values() for seen in of if seen not in latest), *latest]
        self.keep()
        for file in old:
            file.unlink()
