"""Buckets of sizes: exact below 256, then 256 for each doubling, so that a bucket is at most 0.4 % wide and counts of buckets can be added up.

>>> bucket(4), bucket(255), bucket(256), bucket(10_200_000)
(4, 255, 256, 4151)
>>> least(4151) <= 10_200_000 < least(4152)
True
"""

EXACT_BITS = 8
EXACT = 1 << EXACT_BITS


def bucket(value: int) -> int:
    """The number of the bucket that holds a whole number of 0 or more."""
    above = value.bit_length() - 1 - EXACT_BITS
    return value if above < 0 else (above << EXACT_BITS) + (value >> above)


def least(number: int) -> int:
    """The smallest value of a bucket."""
    above = max(0, (number >> EXACT_BITS) - 1)
    return number if number < EXACT else (number - (above << EXACT_BITS)) << above
