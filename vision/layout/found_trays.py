"""Steps 1 to 6 in order: tiles and the way their marks stand, to trays with a tile's number for each held place."""

from dataclasses import dataclass

import numpy as np

from vision.geometry import Points
from vision.layout.frames import Flags, Indices, frames, linked_groups
from vision.layout.groups import QUARTERS, Group, directions, tray_groups
from vision.layout.lattice import Lattice, fit_lattice
from vision.layout.level import levelled
from vision.layout.plane import FEWEST, Plane, fit_plane
from vision.layout.rows import find_rows
from vision.layout.settle import settle
from vision.layout.tray import Where, places
from vision.sight import Found, Mark, Tile

_LINKED = 3  # neighbours that lie alike: in a heap two may, by chance
_OWN = 0.5  # of a pitch and of a row pitch, within which a tile lies on a place
_UNREAD = 0.5  # weight of a sure tile that was not read
_SURE = 0.8  # likelihood from which a tile may lie askew there: false ones lie any way round
_SQUARE = np.cos(np.radians(12.0))  # ways that are the tray's, whichever end of the quad comes first


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """A tray before anybody has looked at its gaps: where its places lie, and which tile lies on which."""

    lattice: Lattice
    held: dict[Where, int]
    turns: dict[int, float]  # tile to the way its first short side runs against the tray, radians


def find_trays(found: Found, marks: tuple[Mark | None, ...], size: tuple[int, int]) -> tuple[Filled, ...]:
    """Find the trays in a picture of `size` height and width; none where tiles lie otherwise, as in a heap."""
    if len(found.tiles) < FEWEST:
        return ()
    tiles = frames(np.array([tile.quad for tile in found.tiles]))
    linked = linked_groups(tiles)
    seeds = [group for group in linked if len(group) >= _LINKED]
    plane = fit_plane(tiles, np.concatenate(seeds), size) if seeds else None
    if plane is None:
        return ()
    spots, ways = plane.flat(tiles.centres), directions(tiles, plane)
    turned = np.array([_turned(mark) for mark in marks])
    groups = tray_groups(linked, spots, ways)
    weights = np.array([_weight(tile, mark) for tile, mark in zip(found.tiles, marks, strict=True)])
    lattices = [_settle(group, plane, spots, ways, turned, weights) for group in groups]
    return _fill([lattice for lattice in lattices if lattice is not None], spots, ways, found)


def _turned(mark: Mark | None) -> float:
    """Give 1 where a mark stands upright in its quad, -1 where upside down, 0 where nothing tells."""
    return 0.0 if mark is None or mark.turned is None else -1.0 if mark.turned else 1.0


def _weight(tile: Tile, mark: Mark | None) -> float:
    """Give how much a tile counts for where the tray lies: one that was read is surely there."""
    return 1.0 if mark is not None and mark.serial is not None else _UNREAD * tile.likelihood


def _settle(group: Group, plane: Plane, spots: Points, ways: Points, turned: Points, weights: Points) -> Lattice | None:
    rows = find_rows(levelled(spots[group.members] @ QUARTERS[group.quarter]))
    upright = np.sign(np.cos(ways[group.members] - group.quarter * np.pi / 2)) * turned[group.members]
    settled = settle(rows, float(upright.sum()), weights[group.members])
    if settled is None:
        return None
    quarter = (group.quarter + 2 * settled.half_turned) % 4
    return fit_lattice(plane, quarter, spots[group.members], settled)


def _fill(lattices: list[Lattice], spots: Points, ways: Points, found: Found) -> tuple[Filled, ...]:
    """Lay each tile on the nearest place of a tray, if any; what lies askew counts only where a tile is sure."""
    left = np.ones(len(spots), dtype=bool)
    sure = np.array([tile.likelihood > _SURE for tile in found.tiles])
    filled = []
    for lattice in lattices:
        turns = ways - lattice.quarter * np.pi / 2
        held = _held(lattice, spots, found, left & (sure | (np.abs(np.cos(turns)) > _SQUARE)))
        left[list(held.values())] = False
        turns = turns - _usual_turn(turns[list(held.values())])
        filled.append(Filled(lattice, held, {tile: float(turns[tile]) for tile in held.values()}))
    return tuple(filled)


def _usual_turn(turns: Points) -> float:
    """Give by how much most tiles are off the tray's axis, radians: their corners may all be off one way."""
    return float(np.median((turns + np.pi / 2) % np.pi - np.pi / 2)) if len(turns) else 0.0


def _held(lattice: Lattice, spots: Points, found: Found, left: Flags) -> dict[Where, int]:
    """Give the tile on each place among those `left`; of two on one place the likelier one stays."""
    wheres = list(places())
    sites = lattice.spots(*np.array(wheres, dtype=float).T)
    reach = np.array([lattice.pitch, lattice.row_pitch]) * _OWN
    away = np.abs(lattice.own(spots)[:, None] - sites[None]) / reach
    nearest: Indices = away.max(axis=2).argmin(axis=1)
    held: dict[Where, int] = {}
    for tile in sorted(np.nonzero(left)[0], key=lambda tile: -found.tiles[tile].likelihood):
        where = wheres[nearest[tile]]
        if away[tile, nearest[tile]].max() < 1 and where not in held:
            held[where] = int(tile)
    return held
