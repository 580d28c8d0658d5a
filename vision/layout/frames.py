"""Step 1, tiles to neighbours: each tile is a ruler for its surroundings, so no plane and no lens is needed yet."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Points, Quad

Indices = NDArray[np.int_]
Flags = NDArray[np.bool_]

_SAME_WAY = 0.3  # tile widths by which the short side of a neighbour may end elsewhere: about 17 degrees
_BESIDE = (0.8, 1.4)  # widths from tile to tile in a row: gaps are up to a seventh of a width, and play
_LEVEL = 0.3  # heights by which two tiles of a row may be off
_BELOW = (0.85, 1.5)  # heights from row to row: a rail between rows is up to a quarter of a height
_ASIDE = 0.8  # widths by which a tile may stand aside of the one in the next row


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Tiles as rulers, pixels: `centres`, `across` (along the short ends) and `along`, each of shape (n, 2)."""

    quads: Quad  # shape (n, 4, 2)
    centres: Points
    across: Points
    along: Points

    def measured(self) -> Points:
        """Give for each tile the map from pixels to its own widths and heights, shape (n, 2, 2)."""
        sides = np.stack([self.across, self.along], axis=-1)
        return np.asarray(np.linalg.inv(sides + 1e-9 * np.eye(2)), dtype=np.float64)


def frames(quads: Quad) -> Frames:
    """Give the rulers of tiles, `quads` of shape (n, 4, 2), corners 0-1 and 2-3 the short ends."""
    across = (quads[:, 1] - quads[:, 0] + quads[:, 2] - quads[:, 3]) / 2
    along = (quads[:, 3] - quads[:, 0] + quads[:, 2] - quads[:, 1]) / 2
    return Frames(quads, quads.mean(axis=1), across, along)


def linked_groups(tiles: Frames) -> list[Indices]:
    """Group tiles that lie side by side or one below the other, all one way; largest group first."""
    links = _links(tiles)
    return sorted(_components(links), key=len, reverse=True)


def _links(tiles: Frames) -> Flags:
    """Tell of each pair whether both, measured by either, lie next to one another the same way, shape (n, n)."""
    rulers = tiles.measured()
    own = (rulers @ tiles.centres[:, :, None])[:, :, 0]
    x, y = np.abs(rulers @ tiles.centres.T - own[:, :, None]).transpose(1, 0, 2)
    across, aslant = np.abs(rulers @ tiles.across.T).transpose(1, 0, 2)  # half a turn is not known
    same = (np.abs(across - 1) < _SAME_WAY) & (aslant < _SAME_WAY)
    beside = (x > _BESIDE[0]) & (x < _BESIDE[1]) & (y < _LEVEL)
    below = (y > _BELOW[0]) & (y < _BELOW[1]) & (x < _ASIDE)
    linked = same & (beside | below)
    return np.asarray(linked & linked.T, dtype=np.bool_)


def _components(links: Flags) -> list[Indices]:
    groups: list[Indices] = []
    left = np.ones(len(links), dtype=bool)
    for start in range(len(links)):
        if left[start]:
            member = _reached(links, start)
            left &= ~member
            groups.append(np.nonzero(member)[0])
    return groups


def _reached(links: Flags, start: int) -> Flags:
    member = np.zeros(len(links), dtype=bool)
    edge = member.copy()
    edge[start] = True
    while edge.any():
        member |= edge
        edge = np.asarray(links[edge].any(axis=0) & ~member)
    return np.asarray(member, dtype=np.bool_)
