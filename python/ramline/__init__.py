"""Memory of a Linux machine as data frames: what the program `ramline` prints as documents, as pandas tables.

    import ramline

    ramline.snapshot()                            # this machine: one row, a column a figure
    ramline.snapshot(part="processes")            # a row a process
    ramline.history(start="00:30")                # a row a moment of what `ramline record` wrote
    ramline.curve("load.trace")                   # a row a size of memory: misses with LRU, and at least
    ramline.predict("load.trace", limits=["8MiB"])  # a row a setting and limit

Sizes are bytes, durations seconds, absent figures missing values (never 0). `ramline.arrow` has the same functions and returns Arrow tables.
"""

from ._program import RamlineError, version
from ._tables import curve, history, predict, snapshot

__all__ = ["RamlineError", "curve", "history", "predict", "snapshot", "version"]
