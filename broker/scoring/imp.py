"""From a difference in points to IMPs, exactly (no floating point)."""

from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from broker.rules.profile import Imp

Whole = NDArray[np.int64]


@cache
def steps(scale: Imp) -> Whole:
    """Give the doubled difference at which each step begins: 2 x bound, or one less with `midpoint`."""
    return 2 * np.array(scale.scale.value, dtype=np.int64) - (scale.gap.value == "midpoint")


def imp(difference: Fraction, scale: Imp) -> int:
    """Convert points minus datum. The scale is symmetrical: what is won above the datum is lost below it."""
    begins = steps(scale)
    size = sum(2 * abs(difference.numerator) >= difference.denominator * int(step) for step in begins)
    return size if difference > 0 else -size


def imps(numerators: Whole, denominator: int, scale: Imp) -> Whole:
    """Convert many differences `numerators / denominator` at once; the result has the shape of `numerators`.

    Exact while 2 x numerator fits in 63 bits.
    """
    sizes = np.searchsorted(denominator * steps(scale), 2 * np.abs(numerators), side="right")
    return np.sign(numerators) * sizes


def cross(points: Whole, scale: Imp) -> Whole:
    """Give for each play the sum of the IMPs of its points (n,) against those of every other play.

    Differences of whole points need no rule for gaps. Who is how far behind or ahead is counted step by step in
    sorted order, so that n plays take n log n comparisons for each step of the scale.
    """
    ordered = np.sort(points)
    bounds = np.array(scale.scale.value, dtype=np.int64)
    behind = np.searchsorted(ordered, points[:, None] - bounds, side="right")
    ahead = len(points) - np.searchsorted(ordered, points[:, None] + bounds, side="left")
    return np.asarray((behind - ahead).sum(axis=1), dtype=np.int64)
