"""The same functions as `ramline`, as Arrow tables: `pip install 'ramline[arrow]'`."""

from typing import Any

import pyarrow as pa

from . import _tables


def snapshot(*sources: _tables.Source, part: str | None = None) -> pa.Table:
    """As `ramline.snapshot`."""
    return pa.Table.from_pandas(_tables.snapshot(*sources, part=part), preserve_index=False)


def history(start: str | None = None, end: str | None = None, **more: Any) -> pa.Table:
    """As `ramline.history`; the time is the column `moment`."""
    return pa.Table.from_pandas(_tables.history(start, end, **more).reset_index(), preserve_index=False)


def curve(trace: _tables.Source | None = None, **more: Any) -> pa.Table:
    """As `ramline.curve`."""
    return pa.Table.from_pandas(_tables.curve(trace, **more), preserve_index=False)


def predict(trace: _tables.Source, **more: Any) -> pa.Table:
    """As `ramline.predict`."""
    return pa.Table.from_pandas(_tables.predict(trace, **more), preserve_index=False)
