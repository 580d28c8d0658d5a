"""Step 3, plane to groups: which tiles may lie in one tray, and along which axis of the plane its rows run."""

from dataclasses import dataclass

import numpy as np

from vision.geometry import Points
from vision.layout.frames import Frames, Indices
from vision.layout.plane import HEIGHT, Plane
from vision.layout.tray import ROW_LENGTHS

LONGEST_PITCH, LONGEST_ROW_PITCH = 1.17, 1.32 * HEIGHT  # tile widths: room between tiles and between rows
QUARTERS = np.array([[[1, 0], [0, 1]], [[0, -1], [1, 0]], [[-1, 0], [0, -1]], [[0, 1], [-1, 0]]], dtype=float)
_SEED = 4  # tiles next to one another that a tray begins with
_EXTENT = np.array([(ROW_LENGTHS[0] - 1) * LONGEST_PITCH + 0.3, 2 * LONGEST_ROW_PITCH + 0.2])
_AXIS = np.radians(12.0)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Tiles that one tray may hold: their `members` numbers, and `quarter` 0 or 1, rows along the plane's x or y."""

    members: Indices
    quarter: int


def directions(tiles: Frames, plane: Plane) -> Points:
    """Give the way each tile's short side runs in the plane, radians, shape (n,)."""
    flat = plane.flat(tiles.quads.reshape(-1, 2)).reshape(-1, 4, 2)
    across = flat[:, 1] - flat[:, 0] + flat[:, 2] - flat[:, 3]
    return np.asarray(np.arctan2(across[:, 1], across[:, 0]))


def tray_groups(linked: list[Indices], spots: Points, ways: Points) -> list[Group]:
    """Join what was linked into what one tray may hold.

    `linked` are groups of neighbours, largest first; `spots`, shape (n, 2), and `ways`, shape (n,), are all tiles'
    middles and directions in the plane.
    """
    quarters = np.round(ways / (np.pi / 2))
    square = np.abs(ways - quarters * np.pi / 2) < _AXIS
    pieces = [(group[square[group]], int(np.median(quarters[group] % 2))) for group in linked]
    groups: list[Group] = []
    for quarter in (0, 1):
        turned = spots @ QUARTERS[quarter]
        left = [piece for piece, way in pieces if way == quarter and len(piece)]
        while left and len(left[0]) >= _SEED:
            members, left = _grow(left, turned)
            groups.append(Group(members, quarter))
    return groups


def _grow(pieces: list[Indices], spots: Points) -> tuple[Indices, list[Indices]]:
    """Join to the first piece all others that a tray about it could hold; the larger and then the nearer first."""
    members, rest = _within(pieces[0], spots), pieces[1:]
    centre = spots[members].mean(axis=0)
    away = {id(piece): float(np.abs(spots[piece].mean(axis=0) - centre).max()) for piece in rest}
    left: list[Indices] = []
    for piece in sorted(rest, key=lambda piece: (-len(piece), away[id(piece)])):
        joined = np.concatenate([members, piece])
        if (np.ptp(spots[joined], axis=0) <= _EXTENT).all():
            members = joined
        else:
            left.append(piece)
    return members, left


def _within(piece: Indices, spots: Points) -> Indices:
    """Keep the most that one tray could hold: a false tile may by chance be a neighbour of true ones."""
    for axis, extent in enumerate(_EXTENT):
        along = spots[piece, axis]
        inside = (along >= along[:, None]) & (along <= along[:, None] + extent)  # shape (beginnings, tiles)
        piece = piece[inside[int(inside.sum(axis=1).argmax())]]
    return piece
