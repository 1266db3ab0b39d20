"""What a share of hosts says of the hosts it was drawn from: the exact interval of Clopper and Pearson (Biometrika 26, 1934).

>>> low, high = exact(4, 502)
>>> f"{low:.4%} {high:.4%}"
'0.2175% 2.0275%'
>>> exact(0, 450)[1] < 0.0082
True
"""

from collections.abc import Callable
from math import exp, lgamma, log, log1p, sqrt

# Below it a step of the fraction changes no digit.
NEGLIGIBLE = 1e-15
TINY = 1e-300


def at_most(count: int, of: int, share: float) -> float:
    """Probability of so many or fewer of so many, each with that probability: the incomplete beta function (DLMF 8.17.5).

    >>> from math import comb
    >>> summed = lambda count, of, share: sum(comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(count + 1))
    >>> all(abs(at_most(c, n, p) - summed(c, n, p)) < 1e-12 for c, n, p in ((0, 9, 0.1), (4, 502, 0.008), (251, 502, 0.48), (300, 502, 0.61), (501, 502, 0.999)))
    True
    """
    if share <= 0 or count >= of:
        return 1.0
    if share >= 1:
        return 0.0
    a, b, x = of - count, count + 1, 1 - share
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log1p(-share) + b * log(share))
    if x < (a + 1) / (a + b + 2):
        return front * fraction(a, b, x) / a
    return 1 - front * fraction(b, a, 1 - x) / b


def fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of DLMF 8.17.22, walked from its front (8.17.23); some hundred steps for a million hosts."""
    c, d = 1.0, 1 / unlike_zero(1 - (a + b) * x / (a + 1))
    value, m, step = d, 1, 0.0
    while abs(step - 1) > NEGLIGIBLE and m < 100_000:
        step = 1.0
        for numerator in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / unlike_zero(1 + numerator * d)
            c = unlike_zero(1 + numerator / c)
            value, step = value * c * d, c * d
        m += 1
    return value


def unlike_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY


def exact(count: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper end of the share."""
    tail, share = (1 - confidence) / 2, count / of
    # No end is so far away: the normal deviate of 12, and room for shares near 0 and 1.
    far = 12 * sqrt(share * (1 - share) / of) + 40 / of
    low = 0.0 if count == 0 else bisect(lambda share: 1 - at_most(count - 1, of, share) < tail, max(0.0, share - far), share)
    high = 1.0 if count == of else bisect(lambda share: at_most(count, of, share) > tail, share, min(1.0, share + far))
    return low, high


def bisect(is_below: Callable[[float], bool], low: float, high: float) -> float:
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def clean_hosts_for(bound: float, confidence: float = 0.95) -> int:
    """So many hosts without one that breaks show that fewer than this share do.

    >>> clean_hosts_for(0.001)
    2995
    """
    return int(-(-log(1 - confidence) // log1p(-bound)))
