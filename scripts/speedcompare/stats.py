"""
What can be said of two sets of numbers

Speeds of the same program are not normally distributed: a disturbance only
ever slows.  So ranks are compared (Mann-Whitney U), and since many rows are
compared at once the p-values are corrected (Holm).  With few numbers a rank
test cannot be significant whatever they are; that is worked out, so that a
verdict can say how many runs it would need.

SPDX-License-Identifier: LGPL-2.1-or-later
"""
import math
import statistics

from .model import InputError

POWER = 0.8  # with which a difference of the size seen shall be found
MOST_RUNS = 1000
# medians waver by so much more than means
MEDIAN = 1.2533


def scipy_stats():
    try:
        import scipy.stats
    except ImportError:
        raise InputError("several numbers a side need scipy (Debian: "
                         "python3-scipy)") from None
    return scipy.stats


def smallest_p(n, m):
    """Two-sided: all numbers of one side below all of the other"""
    return 2 / math.comb(n + m, n)


def rank_test(a, b):
    """p, two-sided; with ties it is an estimate, but never below the least"""
    if min(a) == max(a) == min(b) == max(b):
        return 1.0
    p = scipy_stats().mannwhitneyu(a, b, alternative="two-sided").pvalue
    return min(1.0, max(float(p), smallest_p(len(a), len(b))))


def holm(ps):
    """p-values corrected for being many, in the order given"""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    corrected, highest = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, ps[i] * (len(ps) - rank)))
        corrected[i] = highest
    return corrected


def quantile(p):
    return statistics.NormalDist().inv_cdf(p)


def spread(values):
    """Standard deviation in percent of the mean, None of one value"""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    return 100 * statistics.stdev(values) / mean if mean else 0.0


def robust_spread(values):
    """
    The same that one run gone wrong does not change

    From the median of the distances to the median, which in few numbers comes
    out low; by how much was found by drawing them.
    """
    middle, n = statistics.median(values), len(values)
    if not middle:
        return 0.0
    low = 1 - 1.25 / n if n > 2 else 0.7
    return 148.26 / low * statistics.median(abs(v - middle)
                                            for v in values) / middle


def runs_to_resolve(alpha):
    """Numbers a side with which a rank test can fall below @alpha"""
    n = 2
    while smallest_p(n, n) > alpha and n < MOST_RUNS:
        n += 1
    return n


def runs_to_see(change, spread_percent, alpha):
    """Runs a side that would show a change of @change percent, mostly"""
    if not change:
        return MOST_RUNS
    z = quantile(1 - alpha / 2) + quantile(POWER)
    n = 2 * (z * MEDIAN * spread_percent / change) ** 2
    return min(MOST_RUNS, max(2, math.ceil(n)))
