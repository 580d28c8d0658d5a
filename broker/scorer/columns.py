"""The plays of a plan as columns of numbers, to be counted all at once."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from broker.rules.movement import Play
from broker.scoring.plays import by_seat


class Columns(NamedTuple):
    """The plays of a plan; `players` is (plays, seats), the numbers of players in the event's list."""

    deals: NDArray[np.int64]
    tables: NDArray[np.int64]
    players: NDArray[np.int64]


def columns_of(plays: Sequence[Play], players: Iterable[str]) -> Columns:
    """Give plays as columns; `players`: the event's list."""
    number = {player: at for at, player in enumerate(players)}
    seated = chain.from_iterable(by_seat(play.players) for play in plays)
    return Columns(
        np.fromiter((play.deal for play in plays), np.int64, len(plays)),
        np.fromiter((play.table for play in plays), np.int64, len(plays)),
        np.fromiter((number[str(player)] for player in seated), np.int64, 4 * len(plays)).reshape(-1, 4),
    )
