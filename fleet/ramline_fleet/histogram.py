"""Medians and modes by walking a histogram: rows of (bucket, hosts, total), so that they can be merged by adding and are the same from any engine.

A bucket stands for the mean of what is in it, which is exact where all of it is alike.

>>> walk = [(4, 6, 24), (16, 4, 64), (300, 1, 300)]
>>> quantile(walk, 0.5), mode(walk)
(4.0, 4.0)
>>> quantile(walk, 1), median(walk), median([(1, 1, 1), (3, 1, 3), (4, 1, 4), (9, 1, 9)]), mode([(1, 1, 1), (3, 1, 3)])
(300.0, 4.0, 3.5, None)
"""

Walk = list[tuple[int, int, int]]


def quantile(rows: Walk, share: float) -> float | None:
    """The smallest value of which at least that share of hosts has no more."""
    hosts = sum(count for _, count, _ in rows)
    seen = 0
    for _, count, total in sorted(rows):
        seen += count
        if seen >= share * hosts:
            return total / count
    return None


def median(rows: Walk) -> float | None:
    """The middle one, and of an even number of hosts the mean of the two in the middle."""
    hosts = sum(count for _, count, _ in rows)
    middle = [one for at in ((hosts - 1) // 2, hosts // 2) if (one := at_place(rows, at)) is not None]
    return sum(middle) / 2 if middle else None


def at_place(rows: Walk, place: int) -> float | None:
    """What the host at a place has, counted from 0, the least in front."""
    seen = 0
    for _, count, total in sorted(rows):
        seen += count
        if place < seen:
            return total / count
    return None


def mode(rows: Walk) -> float | None:
    """What most hosts have; of several the least. Where no two hosts are alike there is none."""
    if not rows:
        return None
    _, count, total = max(rows, key=lambda row: (row[1], -row[0]))
    return total / count if count > 1 or len(rows) == 1 else None
