"""Sums with their sign, as they are printed."""

from fractions import Fraction
from typing import Final

from broker.scorer.cells import decimal
from broker.scoring.compare import Exact

MINUS: Final = "–"
"""As long as a minus, and in every letter of the page's font, bold too."""


def signed(number: Exact) -> str:
    """Write a sum with its sign; a fraction to two places."""
    exact = Fraction(number)
    text = f"{exact.numerator:+}" if exact.denominator == 1 else f"{float(decimal(exact)):+.2f}"
    return "0" if exact == 0 else text.replace("-", MINUS)
