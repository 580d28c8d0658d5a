"""From a difference in points to IMPs, exactly (no floating point)."""

from bisect import bisect_right
from fractions import Fraction

from broker.rules.profile import Imp


def imp(difference: Fraction, scale: Imp) -> int:
    """Convert points minus datum. The scale is symmetrical: what is won above the datum is lost below it."""
    half = Fraction(1, 2) if scale.gap.value == "midpoint" else Fraction(0)
    steps = [bound - half for bound in scale.scale.value]
    size = bisect_right(steps, abs(difference))
    return size if difference > 0 else -size
