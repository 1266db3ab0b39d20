"""Student's t, and what is unlike the others; in plain Python, as `intervals`.

>>> f"{t_quantile(0.975, 10):.4f} {t_quantile(0.975, 1e6):.4f} {t_both(2.228139, 10):.4f}"
'2.2281 1.9600 0.0500'
>>> unlike([10, 11, 9, 10, 10, 12, 10, 50])[-1] > 3.5, max(map(abs, unlike([10, 11, 9, 10, 12, 8, 10, 11]))) > 3.5
(True, False)
>>> sorted(discoveries({"a": 0.001, "b": 0.02, "c": 0.9, "d": 0.04}))
['a', 'b']
"""

from math import exp, lgamma, log, log1p
from statistics import fmean, median

from .intervals import fraction

# Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993): a modified z-score beyond this is one.
UNLIKE = 3.5
# Hosts that a role must have before one of them is called unlike the others.
ENOUGH = 8


def beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return float(front * fraction(a, b, x) / a)
    return float(1 - front * fraction(b, a, 1 - x) / b)


def t_both(t: float, freedom: float) -> float:
    """Probability of so much or more to either side."""
    return beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def t_quantile(share: float, freedom: float) -> float:
    """For shares above one half."""
    low, high = 0.0, 1e6
    while high - low > 1e-10 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - t_both(middle, freedom) / 2 < share else (low, middle)
    return (low + high) / 2


def unlike(values: list[float]) -> list[float]:
    """The modified z-score of each: its distance from the median, in units of the usual distance. Where more than half are alike that is of the mean distance."""
    middle = median(values)
    away = [abs(value - middle) for value in values]
    unit = 1.4826 * median(away) or 1.253314 * fmean(away)
    return [(value - middle) / unit if unit else 0.0 for value in values]


def discoveries(chances: dict[str, float], level: float = 0.05) -> set[str]:
    """Of many tests those that hold, so that of these no more than such a share is chance (Benjamini and Hochberg, 1995)."""
    ranked = sorted(chances.items(), key=lambda one: one[1])
    good = max((rank for rank, (_, chance) in enumerate(ranked, 1) if chance <= level * rank / len(ranked)), default=0)
    return {name for name, _ in ranked[:good]}
