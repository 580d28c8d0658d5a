"""IMPs as they are written: whole numbers, and exact fractions as `"7/3"` where a profile takes means of IMPs."""

from fractions import Fraction

from broker.scoring.compare import Exact


def written(imp: Exact) -> int | str:
    """Give IMPs for JSON."""
    if isinstance(imp, int):
        return imp
    exact = Fraction(imp)
    return exact.numerator if exact.denominator == 1 else str(exact)
