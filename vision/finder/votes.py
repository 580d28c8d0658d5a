"""From cells to tiles: each cell of a tile's middle votes for where its tile's centre is and how it lies."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.finder.frames import OFFSET_UNIT, Frames, sizes
from vision.finder.network import CELL, Maps

_LEAST_VOTE = 0.3  # a cell that is less sure has no vote
_TOGETHER = 0.5  # half sizes: votes nearer to each other are for one tile
_LEAST_SUPPORT = 1.2  # votes


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Votes, or what was made of them, one a row: `frames` with centres in pixels of the picture looked at."""

    frames: Frames  # shape (n, 9)
    back: NDArray[np.float64]  # shape (n,), 0..1
    face: NDArray[np.float64]

    @property
    def likelihood(self) -> NDArray[np.float64]:
        """How sure it is that a tile is there, of either kind."""
        return np.minimum(1.0, self.back + self.face)


def cast(maps: Maps) -> Votes:
    """Collect the votes of all cells that have one."""
    rows, columns = np.nonzero(maps.back + maps.face > _LEAST_VOTE)
    frames = maps.frames[:, rows, columns].T.astype(np.float64)
    frames[:, 2:5] = np.clip(frames[:, 2:5], -3, 3)  # what is out of all range would overflow
    frames[:, 0] = CELL * (columns + 0.5) + OFFSET_UNIT * frames[:, 0]
    frames[:, 1] = CELL * (rows + 0.5) + OFFSET_UNIT * frames[:, 1]
    return Votes(frames, maps.back[rows, columns].astype(float), maps.face[rows, columns].astype(float))


def count(votes: Votes) -> Votes:
    """Gather votes for one tile each: the surest first, with all that lie near it. Their mean is the tile."""
    group = np.full(len(votes.back), -1)
    centres = votes.frames[:, :2].astype(np.float32)
    reach = ((_TOGETHER * sizes(votes.frames)) ** 2).astype(np.float32)
    left = np.argsort(-votes.likelihood, kind="stable")
    number = 0
    while len(left):
        away = ((centres[left] - centres[left[0]]) ** 2).sum(axis=1)
        near = away <= reach[left[0]]
        group[left[near]] = number
        left = left[~near]
        number += 1
    return _without_doubles(_means(votes, group, number))


def _means(votes: Votes, group: NDArray[np.intp], count: int) -> Votes:
    weight = votes.likelihood
    support = np.bincount(group, weight, count)

    def mean(column: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(group, weight * column, count) / support

    frames = np.column_stack([mean(column) for column in votes.frames.T]).reshape(-1, 9)
    return chosen(Votes(frames, mean(votes.back), mean(votes.face)), support >= _LEAST_SUPPORT)


def _without_doubles(tiles: Votes) -> Votes:
    """Drop what has its centre in the middle of a surer tile: stray votes of that tile."""
    size, rank = sizes(tiles.frames), np.argsort(-tiles.likelihood, kind="stable")
    kept: list[int] = []
    for one in rank.tolist():
        away = np.hypot(*(tiles.frames[kept, :2] - tiles.frames[one, :2]).T)
        if not (away < 0.9 * np.minimum(size[kept], size[one])).any():
            kept.append(one)
    return chosen(tiles, np.array(kept, dtype=np.intp))


def chosen(votes: Votes, index: NDArray[np.intp] | NDArray[np.bool_]) -> Votes:
    """Give some of the votes."""
    return Votes(votes.frames[index], votes.back[index], votes.face[index])
