"""How well totals tell who is strong: pure reckoning over many events."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]


class Measured(NamedTuple):
    """What a way of ranking gives over many events of the same players."""

    variance: float
    """Of one player's place from event to event; the mean over the players."""
    correlation: float
    """Spearman's, of the places of an event with the true order; the mean over the events."""


def places(totals: Table) -> Table:
    """Give places, best first, of each row's totals; equal ones share the mean of theirs."""
    better = (totals[:, None, :] > totals[:, :, None]).sum(axis=2)
    equal = (totals[:, None, :] == totals[:, :, None]).sum(axis=2)
    shared: Table = better + (equal + 1) / 2
    return shared


def measured(totals: Table) -> Measured:
    """Measure totals, a row an event, a column a player, the strongest first."""
    found = places(totals)
    true = np.broadcast_to(np.arange(1, totals.shape[1] + 1), found.shape)
    return Measured(float(found.var(axis=0, ddof=1).mean()), float(_correlations(found, true).mean()))


def _correlations(found: Table, true: Table) -> Table:
    """Correlate row by row. A row in which all are equal tells nothing: 0."""
    one = found - found.mean(axis=1, keepdims=True)
    other = true - true.mean(axis=1, keepdims=True)
    over = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    correlations: Table = (one * other).sum(axis=1) / np.where(over, over, 1)
    return correlations


def longer(totals: Table, sessions: int) -> Table:
    """Add up each so many events that follow each other to a longer one; none is used twice, a rest is left out."""
    events = len(totals) // sessions
    summed: Table = totals[: events * sessions].reshape(events, sessions, totals.shape[1]).sum(axis=1)
    return summed


def share_of_columns(values: Table) -> float:
    """Give the share of the variance that lies between the columns, without what chance alone would show there.

    One-way analysis of variance. Plays of a deal x deals and seats: the share of the deal. Events x players: that of
    strength.
    """
    rows = len(values)
    within = values.var(axis=0, ddof=1).mean()
    between = values.mean(axis=0).var(ddof=1) - within / rows
    return float(between / (between + within)) if between + within else 0.0
