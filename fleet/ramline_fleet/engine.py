"""Engines: each answers the same text of a query with the same rows.

What it is not: a place for arithmetic. What an engine calls a median or a mode differs from one to the next; that is walked from counts (`histogram`).
"""

from importlib import resources

import duckdb

from .store import files


def query(name):
    """The text of queries/NAME.sql."""
    return resources.files(__package__).joinpath(f"queries/{name}.sql").read_text()


class DuckDb:
    """In this process."""

    def __init__(self, store):
        self.connection = duckdb.connect()
        # A path is text of the machine.
        path = files(store).replace("'", "''")
        self.connection.execute(f"CREATE VIEW host_day AS SELECT * FROM read_parquet('{path}', hive_partitioning = true)")

    def run(self, name):
        return self.connection.execute(query(name))

    def columns(self, name):
        """What its columns are called."""
        return [column[0] for column in self.run(name).description]

    def ask(self, name):
        """The rows of a query, whole numbers and texts."""
        rows = self.run(name).fetchall()
        return [tuple(int(cell) if cell is not None and not isinstance(cell, str) else cell for cell in row) for row in rows]
