"""Find the trays of a picture: steps 1 to 6 of the layout in order, and which seat's tray is which."""

from dataclasses import dataclass

import numpy as np

from vision.detections import DetectedTile, Detections, TileMark
from vision.geometry import Points
from vision.plane import (
    FEWEST_FOR_PLANE,
    HEIGHT,
    Flags,
    Indices,
    TablePlane,
    TileFrames,
    fit_plane,
    linked_groups,
    tile_frames,
)
from vision.reading import ROW_LENGTHS, SEATS, RowCol, tray_places
from vision.tray_grid import QUARTER_TURNS, Lattice, align_rows, find_rows, fit_lattice, level_group

LONGEST_PITCH, LONGEST_ROW_PITCH = 1.17, 1.32 * HEIGHT  # tile widths: room between tiles and between rows

_SEED = 4  # tiles next to one another that a tray begins with
_EXTENT = np.array([(ROW_LENGTHS[0] - 1) * LONGEST_PITCH + 0.3, 2 * LONGEST_ROW_PITCH + 0.2])
_AXIS = np.radians(12.0)


@dataclass(frozen=True, slots=True, eq=False)
class TrayGroup:
    """Tiles that one tray may hold: their `members` numbers, and `quarter` 0 or 1, rows along the plane's x or y."""

    members: Indices
    quarter: int


def directions(tiles: TileFrames, plane: TablePlane) -> Points:
    """Return the way each tile's short side runs in the plane, radians, shape (n,)."""
    flat = plane.flat(tiles.quads.reshape(-1, 2)).reshape(-1, 4, 2)
    across = flat[:, 1] - flat[:, 0] + flat[:, 2] - flat[:, 3]
    return np.asarray(np.arctan2(across[:, 1], across[:, 0]))


def tray_groups(linked: list[Indices], spots: Points, ways: Points) -> list[TrayGroup]:
    """Join what was linked into what one tray may hold.

    `linked` are groups of neighbours, largest first; `spots`, shape (n, 2), and `ways`, shape (n,), are all tiles'
    middles and directions in the plane.
    """
    quarters = np.round(ways / (np.pi / 2))
    square = np.abs(ways - quarters * np.pi / 2) < _AXIS
    pieces = [(group[square[group]], int(np.median(quarters[group] % 2))) for group in linked]
    groups: list[TrayGroup] = []
    for quarter in (0, 1):
        turned = spots @ QUARTER_TURNS[quarter]
        left = [piece for piece, way in pieces if way == quarter and len(piece)]
        while left and len(left[0]) >= _SEED:
            members, left = _grow(left, turned)
            groups.append(TrayGroup(members, quarter))
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


_ASIDE = 40.0  # degrees by which East may stand off the picture's bottom


def name_seats(rotations: list[float], held: list[int]) -> dict[str, int] | None:
    """Return the number of each seat's tray, by the trays' rotations in degrees and how many tiles each holds.

    Of two trays that lie alike the fuller one has the seat. None when the picture does not tell.
    """
    aside = np.degrees(np.angle(np.exp(4j * np.radians(rotations)).mean())) / 4  # four-fold: the same for all seats
    if abs(aside) > _ASIDE:
        return None
    seats: dict[str, int] = {}
    for tray in sorted(range(len(held)), key=lambda tray: -held[tray]):
        seats.setdefault(SEATS[round((aside - rotations[tray]) / 90) % 4], tray)
    return {seat: seats[seat] for seat in SEATS if seat in seats}


_LINKED = 3  # neighbours that lie alike: in a heap two may, by chance
_OWN_MARK = 0.5  # of a pitch and of a row pitch, within which a tile lies on a place
_UNREAD = 0.5  # weight of a sure tile that was not read
_SURE = 0.8  # likelihood from which a tile may lie askew there: false ones lie any way round
_SQUARE = np.cos(np.radians(12.0))  # ways that are the tray's, whichever end of the quad comes first


@dataclass(frozen=True, slots=True, eq=False)
class FilledTray:
    """A tray before anybody has looked at its gaps: where its places lie, and which tile lies on which."""

    lattice: Lattice
    held: dict[RowCol, int]
    turns: dict[int, float]  # tile to the way its first short side runs against the tray, radians


def find_trays(found: Detections, marks: tuple[TileMark | None, ...], size: tuple[int, int]) -> tuple[FilledTray, ...]:
    """Find the trays in a picture of `size` height and width; none where tiles lie otherwise, as in a heap."""
    if len(found.tiles) < FEWEST_FOR_PLANE:
        return ()
    tiles = tile_frames(np.array([tile.quad for tile in found.tiles]))
    linked = linked_groups(tiles)
    seeds = [group for group in linked if len(group) >= _LINKED]
    plane = fit_plane(tiles, np.concatenate(seeds), size) if seeds else None
    if plane is None:
        return ()
    spots, ways = plane.flat(tiles.centres), directions(tiles, plane)
    turned = np.array([_turned(mark) for mark in marks])
    groups = tray_groups(linked, spots, ways)
    weights = np.array([_weight(tile, mark) for tile, mark in zip(found.tiles, marks, strict=True)])
    lattices = [_align(group, plane, spots, ways, turned, weights) for group in groups]
    return _fill([lattice for lattice in lattices if lattice is not None], spots, ways, found)


def _turned(mark: TileMark | None) -> float:
    """Return 1 where a mark stands upright in its quad, -1 where upside down, 0 where nothing tells."""
    return 0.0 if mark is None or mark.turned is None else -1.0 if mark.turned else 1.0


def way_votes(upright: int, over: int) -> float:
    """Return how many marks more stand upright than upside down: next to none where they contradict one another."""
    return (upright - over) * abs(upright - over) / max(upright + over, 1)


def _weight(tile: DetectedTile, mark: TileMark | None) -> float:
    """Return how much a tile counts for where the tray lies: one that was read is surely there."""
    return 1.0 if mark is not None and (mark.serial or mark.either) else _UNREAD * tile.likelihood


def _align(
    group: TrayGroup, plane: TablePlane, spots: Points, ways: Points, turned: Points, weights: Points
) -> Lattice | None:
    rows = find_rows(level_group(spots[group.members] @ QUARTER_TURNS[group.quarter]))
    upright = np.sign(np.cos(ways[group.members] - group.quarter * np.pi / 2)) * turned[group.members]
    votes = way_votes(int((upright > 0).sum()), int((upright < 0).sum()))
    settled = align_rows(rows, votes, weights[group.members])
    if settled is None:
        return None
    quarter = (group.quarter + 2 * settled.half_turned) % 4
    return fit_lattice(plane, quarter, spots[group.members], settled)


def _fill(lattices: list[Lattice], spots: Points, ways: Points, found: Detections) -> tuple[FilledTray, ...]:
    """Lay each tile on the nearest place of a tray, if any; what lies askew counts only where a tile is sure."""
    left = np.ones(len(spots), dtype=bool)
    sure = np.array([tile.likelihood > _SURE for tile in found.tiles])
    filled = []
    for lattice in lattices:
        turns = ways - lattice.quarter * np.pi / 2
        held = _held(lattice, spots, found, left & (sure | (np.abs(np.cos(turns)) > _SQUARE)))
        left[list(held.values())] = False
        turns = turns - _usual_turn(turns[list(held.values())])
        filled.append(FilledTray(lattice, held, {tile: float(turns[tile]) for tile in held.values()}))
    return tuple(filled)


def _usual_turn(turns: Points) -> float:
    """Return by how much most tiles are off the tray's axis, radians: their corners may all be off one way."""
    return float(np.median((turns + np.pi / 2) % np.pi - np.pi / 2)) if len(turns) else 0.0


def _held(lattice: Lattice, spots: Points, found: Detections, left: Flags) -> dict[RowCol, int]:
    """Return the tile on each place among those `left`; of two on one place the likelier one stays."""
    wheres = list(tray_places())
    sites = lattice.spots(*np.array(wheres, dtype=float).T)
    reach = np.array([lattice.pitch, lattice.row_pitch]) * _OWN_MARK
    away = np.abs(lattice.own(spots)[:, None] - sites[None]) / reach
    nearest: Indices = away.max(axis=2).argmin(axis=1)
    held: dict[RowCol, int] = {}
    for tile in sorted(np.nonzero(left)[0], key=lambda tile: -found.tiles[tile].likelihood):
        where = wheres[nearest[tile]]
        if away[tile, nearest[tile]].max() < 1 and where not in held:
            held[where] = int(tile)
    return held
