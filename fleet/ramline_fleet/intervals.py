"""What a share of hosts says of the hosts it was drawn from: the exact interval of Clopper and Pearson (Biometrika 26, 1934).

>>> low, high = exact(4, 502)
>>> f"{low:.4%} {high:.4%}"
'0.2175% 2.0275%'
>>> exact(0, 450)[1] < 0.0082
True
"""

from math import exp, lgamma, log, log1p


def at_most(count, of, share):
    """Probability of so many or fewer of so many, each with that probability."""
    if share <= 0:
        return 1.0
    if share >= 1:
        return 1.0 if count >= of else 0.0
    # From the likeliest term on in both directions, so that nothing is lost among many hosts.
    peak = min(count, int((of + 1) * share))
    term = exp(lgamma(of + 1) - lgamma(peak + 1) - lgamma(of - peak + 1) + peak * log(share) + (of - peak) * log1p(-share))
    odds, total, value, k = share / (1 - share), term, term, peak
    while k < count and value > total * 1e-18:
        value *= (of - k) / (k + 1) * odds
        total, k = total + value, k + 1
    value, k = term, peak
    while k > 0 and value > total * 1e-18:
        value *= k / (of - k + 1) / odds
        total, k = total + value, k - 1
    return min(1.0, total)


def exact(count, of, confidence=0.95):
    """Lower and upper end of the share."""
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else bisect(lambda share: 1 - at_most(count - 1, of, share) < tail)
    high = 1.0 if count == of else bisect(lambda share: at_most(count, of, share) > tail)
    return low, high


def bisect(is_below):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def clean_hosts_for(bound, confidence=0.95):
    """So many hosts without one that breaks show that fewer than this share do.

    >>> clean_hosts_for(0.001)
    2995
    """
    return int(-(-log(1 - confidence) // log1p(-bound)))
