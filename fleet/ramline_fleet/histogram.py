"""Medians and modes by walking a histogram: rows of (bucket, hosts, total), so that they can be merged by adding and are the same from any engine.

A bucket stands for the mean of what is in it, which is exact where all of it is alike.

>>> walk = [(4, 6, 24), (16, 4, 64), (300, 1, 300)]
>>> quantile(walk, 0.5), mode(walk)
(4.0, 4.0)
>>> quantile(walk, 1)
300.0
"""


def quantile(rows, share):
    """The smallest value of which at least that share of hosts has no more."""
    hosts = sum(count for _, count, _ in rows)
    seen = 0
    for _, count, total in sorted(rows):
        seen += count
        if seen >= share * hosts:
            return total / count
    return None


def mode(rows):
    """What most hosts have; of several the least."""
    if not rows:
        return None
    _, count, total = max(rows, key=lambda row: (row[1], -row[0]))
    return total / count
