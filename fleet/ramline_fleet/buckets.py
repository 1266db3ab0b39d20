"""Buckets of sizes: exact below 256, then 256 for each doubling, so that a bucket is at most 0.4 % wide and counts of buckets can be added up.

>>> bucket(4), bucket(255), bucket(256), bucket(10_200_000)
(4, 255, 256, 4151)
>>> least(4151) <= 10_200_000 < least(4152)
True
"""

EXACT_BITS = 8
EXACT = 1 << EXACT_BITS
# 2^53 is the largest size there is (`study.MOST`).
LARGEST = 53


def bucket(value: int) -> int:
    """The number of the bucket that holds a whole number of 0 or more."""
    above = value.bit_length() - 1 - EXACT_BITS
    return value if above < 0 else (above << EXACT_BITS) + (value >> above)


def sql(column: str) -> str:
    """The same in SQL that any engine reads: whole numbers alone, without shifts and logarithms, which differ between engines.

    >>> import sqlite3
    >>> values = [0, 4, 255, 256, 511, 512, 513, 10_200_000, 2**52 + 1, 2**53]
    >>> rows = sqlite3.connect(":memory:").execute(f"SELECT {sql('v')} FROM (SELECT value AS v FROM json_each('{values}'))").fetchall()
    >>> [row[0] for row in rows] == [bucket(value) for value in values]
    True
    """
    steps = [f"WHEN {column} < {EXACT << above + 1} THEN {above * EXACT} + ({column} - {column} % {1 << above}) / {1 << above}" for above in range(1, LARGEST - EXACT_BITS)]
    last = f"{(LARGEST - EXACT_BITS) * EXACT} + ({column} - {column} % {1 << LARGEST - EXACT_BITS}) / {1 << LARGEST - EXACT_BITS}"
    return f"CAST(CASE WHEN {column} < {2 * EXACT} THEN {column} {' '.join(steps)} ELSE {last} END AS BIGINT)"


def least(number: int) -> int:
    """The smallest value of a bucket."""
    above = max(0, (number >> EXACT_BITS) - 1)
    return number if number < EXACT else (number - (above << EXACT_BITS)) << above
