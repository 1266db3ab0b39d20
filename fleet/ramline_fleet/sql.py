"""The texts of the queries, which are the only source of a figure."""

from importlib import resources

# What the others ask, made first: a row a host.
PEAK, MERGE = "host_peak", "host_merge"
# And the days that only one of them asks for.
LACK = "host_lack"
QUERIES = ("hosts", "histogram", "shares", "models", "upgrade", "rule", "breaks")


def query(name):
    """The text of queries/NAME.sql."""
    return resources.files(__package__).joinpath(f"queries/{name}.sql").read_text()


def lacks(kept, days):
    """As `peaks`, of days on which there was too little."""
    texts = [f"SELECT * FROM {kept}"] if kept else []
    return " UNION ALL ".join(texts + ([query(LACK).replace("FROM host_day", f"FROM {days}")] if days else []))


def peaks(kept, days):
    """Peaks of what is kept and of days that are not in it: each is what stands behind FROM, or None."""
    texts = [f"SELECT * FROM {kept}"] if kept else []
    texts += [query(PEAK).replace("FROM host_day", f"FROM {days}")] if days else []
    return texts[0] if len(texts) == 1 else query(MERGE).replace("FROM host_lots", f"FROM ({' UNION ALL '.join(texts)}) AS host_lots")
