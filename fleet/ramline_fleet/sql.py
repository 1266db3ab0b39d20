"""The texts of the queries, which are the only source of a figure."""

from collections.abc import Iterable
from importlib import resources

from . import buckets
from .schema import FINDING_ROWS, MEMORY_ROWS, ROWS, SETTING_ROWS

# What the others ask, made first: a row a host, and by what it is judged.
PEAK, MERGE, JUDGED = "host_peak", "host_merge", "host_judged"
# Hosts of days before those that count.
BEFORE = "host_before"
QUERIES = ("hosts", "before", "histogram", "shares", "models", "judged", "upgrade", "rule", "breaks", "sources", "roles")
# Of the other tables: what is made first of each, rows of a host's latest day, and the queries that ask it.
LATEST = {SETTING_ROWS: "setting_now", FINDING_ROWS: "finding_now"}
# Of rows a host and day, with a role beside them.
DAILY, MEMORY = "day_now", "memory_now"
OTHERS = {"settings": SETTING_ROWS, "settings_hosts": SETTING_ROWS, "settings_asked": SETTING_ROWS,
          "findings": FINDING_ROWS, "findings_hosts": FINDING_ROWS, "findings_asked": FINDING_ROWS,
          "memory_hosts": MEMORY_ROWS, "memory_asked": MEMORY_ROWS, "trend": MEMORY_ROWS, "host_days": MEMORY_ROWS}
# Made first too: the role of each host, from a file, and every host there is, also those of which only sizes are known.
ROLE, KNOWN = "host_role", "host_known"
__all__ = ["ROWS", "SETTING_ROWS"]


def query(name: str) -> str:
    """The text of queries/NAME.sql."""
    return resources.files(__package__).joinpath(f"queries/{name}.sql").read_text().replace("{bucket of size}", buckets.sql("size"))


def peaks(kept: str | None, days: str | None, several: bool = False) -> str:
    """Peaks of what is kept and of days that are not in it: each is what stands behind FROM, or None. What is kept may be of several months."""
    texts = [f"SELECT * FROM {kept}"] if kept else []
    texts += [query(PEAK).replace("FROM host_day", f"FROM {days}")] if days else []
    return texts[0] if len(texts) == 1 and not (kept and several) else query(MERGE).replace("FROM host_lots", f"FROM ({' UNION ALL '.join(texts)}) AS host_lots")


def known(sources: Iterable[str]) -> str:
    """Every host of some tables, once or more."""
    return " UNION ALL ".join(f"SELECT host FROM {source}" for source in sources)
