"""The datum: the mean of a seat's points over the comparison group (OEDMC, MIL)."""

from typing import Final, NamedTuple

import numpy as np

from broker.rules.profile import Datum
from broker.scoring.imp import Whole

PARTS: Final = {"tenth": 10, "whole": 1}
"""What a rounded datum is a whole number of."""


class Mean(NamedTuple):
    """Means, exactly: `sums / over`."""

    sums: Whole
    over: int


class Difference(NamedTuple):
    """Points minus datum, exactly: `numerators / denominator`, of the shape (plays, seats)."""

    numerators: Whole
    denominator: int


def differences(points: Whole, datum: Datum) -> Difference:
    """Compare points (plays, seats) with their datum. Needs two plays where the own score is excluded."""
    means = reference(points, datum)
    return Difference(means.over * points - means.sums, means.over)


def reference(points: Whole, datum: Datum) -> Mean:
    """Give what points (plays, seats) are compared with: a datum a seat, or one a play without own scores."""
    sums = points.sum(axis=0, keepdims=True)
    if datum.own_score.value == "excluded":
        return mean(sums - points, len(points) - 1, datum)
    return mean(sums, len(points), datum)


def mean(sums: Whole, count: int, datum: Datum) -> Mean:
    """Divide sums of so many scores, rounded as the profile says."""
    if datum.rounding.value == "none":
        return Mean(sums, count)
    parts = PARTS[datum.rounding.value]
    return Mean(half_away(parts * sums, count), parts)


def half_away(numerators: Whole, denominator: int) -> Whole:
    """Round to whole numbers, halves away from zero."""
    rounded: Whole = np.sign(numerators) * ((2 * np.abs(numerators) + denominator) // (2 * denominator))
    return rounded
