"""The datum: the mean of a seat's points over the comparison group (OEDMC, MIL)."""

from typing import NamedTuple

import numpy as np

from broker.rules.profile import Datum
from broker.scoring.imp import Whole

PARTS = {"tenth": 10, "whole": 1}
"""What a rounded datum is a whole number of."""


class Difference(NamedTuple):
    """Points minus datum, exactly: `numerators / denominator`, of the shape (plays, seats)."""

    numerators: Whole
    denominator: int


def differences(points: Whole, datum: Datum) -> Difference:
    """Compare points (plays, seats) with their datum. Needs two plays where the own score is excluded."""
    sums, count = _reference(points, datum)
    if datum.rounding.value == "none":
        return Difference(count * points - sums, count)
    parts = PARTS[datum.rounding.value]
    return Difference(parts * points - half_away(parts * sums, count), parts)


def _reference(points: Whole, datum: Datum) -> tuple[Whole, int]:
    """Give the sum that makes the mean, and of how many scores."""
    sums = points.sum(axis=0, keepdims=True)
    if datum.own_score.value == "excluded":
        return sums - points, len(points) - 1
    return sums, len(points)


def half_away(numerators: Whole, denominator: int) -> Whole:
    """Round to whole numbers, halves away from zero."""
    rounded: Whole = np.sign(numerators) * ((2 * np.abs(numerators) + denominator) // (2 * denominator))
    return rounded
