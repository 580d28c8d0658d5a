"""Find the trays in a picture: the 34 places of each, the tiles that lie on them, and the seat of each tray.

In the plane of the backs (`geometry.py`), neighbouring tiles are joined into groups that one tray may hold. Each group
is levelled, so that neighbours in a row are level and evenly spaced. Its tiles are sorted into rows, the rows are
matched with a tray's places, and the places are mapped back to pixels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vision.finder import DetectedTile, Detections
from vision.geometry import (
    FEWEST_FOR_PLANE,
    HEIGHT,
    Flags,
    Indices,
    Points,
    Quad,
    TablePlane,
    TileFrames,
    fit_plane,
    linked_groups,
    rectangle,
    tile_frames,
)
from vision.marks import TileMark
from vision.reading import CENTRED, LEFT, ROW_LENGTHS, ROWS, SEATS, Indents, RowCol, tray_places

_BESIDE = (0.7, 1.35)  # tile widths between neighbours in a row
_SLOPE = 0.4  # tile widths by which neighbours in a row may be off level; rows are 1.4 widths apart
_LEVEL_PRIOR = np.diag([0.05, 1.0, 1.0])  # weight of a prior that each term is 0, in pairs of neighbours
_LEVEL_STRAY = 0.25  # widths from the usual rise beyond which a pair is left out of the fit


def level_group(spots: Points) -> Points:
    """Level a group's middles, shape (n, 2), tile widths, so that x runs along its rows and y across them."""
    away = spots[None] - spots[:, None]
    beside = (away[..., 0] > _BESIDE[0]) & (away[..., 0] < _BESIDE[1]) & (np.abs(away[..., 1]) < _SLOPE)
    left, right = np.nonzero(beside)
    if not len(left):
        return spots
    centred = spots - spots.mean(axis=0)
    x, y = centred.T
    basis = np.column_stack([x, x * x / 6, x * y / 2])
    steps, rises = basis[right] - basis[left], y[right] - y[left]
    near = np.abs(rises - np.median(rises)) < _LEVEL_STRAY
    terms = np.linalg.solve(steps[near].T @ steps[near] + _LEVEL_PRIOR, steps[near].T @ rises[near])
    return np.column_stack([_even(x, y, left[near], right[near]) + terms[0] * y, y - basis @ terms])


def _even(x: Points, y: Points, left: Indices, right: Indices) -> Points:
    """Return x stretched so that neighbours are equally far apart in all rows and along each row."""
    steps = x[right] - x[left]
    usual = float(np.median(steps))
    basis = np.column_stack([y[left] + y[right], x[left] + x[right]]) / 2
    terms = np.linalg.solve(basis.T @ basis + np.eye(2), basis.T @ (steps - usual))
    return np.asarray(x - (terms[0] * x * y + terms[1] * x * x / 2) / usual)


_BREAK = 0.45 * HEIGHT  # tile widths up to which a tile belongs to a row; rows lie 1.04 heights apart or more
_APART = 0.75 * HEIGHT  # tile widths: least distance between rows; what lies nearer to a fuller row is a false tile
_ROW_PITCH = 1.17 * HEIGHT  # tile widths: usual distance between rows; twice as much means an empty row between
_PITCHES = np.arange(0.82, 1.25, 0.004)  # tile widths from tile to tile: the values to try


@dataclass(frozen=True, slots=True, eq=False)
class TrayRows:
    """The tiles of a group in rows; both fields have shape (n,), one entry per tile.

    `row` counts from the topmost occupied row, -1 if in none. `along` is the position along the rows, in pitches, close
    to whole or half numbers. Where a row begins, and which side is the player's, is not known yet.
    """

    row: Indices
    along: Points


def find_rows(spots: Points) -> TrayRows:
    """Sort a group's middles, shape (n, 2), tile widths, into rows that share one pitch."""
    row = _best_three(_row_numbers(spots[:, 1]))
    pitch, phase = _pitch_and_phase(spots[:, 0], row)
    return TrayRows(row, np.asarray(spots[:, 0] / pitch - phase))


def _row_numbers(heights: Points) -> Indices:
    """Return each tile's row, counted from the top, -1 between rows. Fuller rows come first, as false tiles are few."""
    near = np.abs(heights[:, None] - heights) < _BREAK
    left = np.ones(len(heights), dtype=bool)
    rows: list[tuple[float, Flags]] = []
    while left.any():
        fullest = int((left * near[:, left].sum(axis=1)).argmax())
        middle = float(np.median(heights[left & near[fullest]]))
        group = left & (np.abs(heights - middle) < _BREAK)
        left[group], left[fullest] = False, False
        if all(abs(middle - other) > _APART for other, _ in rows):
            rows.append((middle, group))
    rows.sort(key=lambda row: row[0])
    steps = np.diff([middle for middle, _ in rows]) / _ROW_PITCH
    row = np.full(len(heights), -1)
    for number, (_, group) in zip(np.append(0, np.cumsum(np.maximum(1, np.round(steps)))), rows, strict=True):
        row[group] = number
    return row


def _best_three(row: Indices) -> Indices:
    """Keep the three consecutive rows that hold most tiles; false tiles may lie beyond them."""
    counts = [int(((row >= first) & (row < first + ROWS)).sum()) for first in range(int(row.max()) + 1)]
    moved = row - int(np.argmax(counts))
    moved = np.where((moved >= 0) & (moved < ROWS), moved, -1)
    return np.asarray(np.where(moved >= 0, moved - moved[moved >= 0].min(), -1))


def _pitch_and_phase(along: Points, row: Indices) -> tuple[float, float]:
    """Return the pitch and phase that all rows share; one row may be shifted by half a pitch against the others."""
    beats = np.stack(
        [np.exp(2j * np.pi * along[None, row == number] / _PITCHES[:, None]).sum(axis=1) for number in range(ROWS)]
    )
    signs = np.array([[1, 1, 1], [1, 1, -1], [-1, 1, 1], [1, -1, 1]])
    strength = signs @ beats  # shape (4, pitches)
    best = np.unravel_index(int(np.abs(strength).argmax()), strength.shape)
    return float(_PITCHES[best[1]]), float(np.angle(strength[best]) / (2 * np.pi))


_ON_PLACE = 0.38  # pitches by which a tile may lie off its place: play in the tray, and remaining distortion
_ONE_SPOT = 0.5  # pitches below which two detections are of one tile
_FEWEST_TILES = 6  # tiles on places, without which there is no tray
_LEAST_ON_PLACES = 0.7  # share of the group that must lie on places
_CLEAR_LEAD = 0.3  # weight by which the best alignment must lead any other
_LENGTHS = np.array(ROW_LENGTHS)


@dataclass(frozen=True, slots=True, eq=False)
class TrayAlignment:
    """A way in which a tray may lie: which way up, its short rows' indents, and its tiles' rows and columns."""

    half_turned: bool
    row: Indices  # of each tile, -1 if it lies on no place
    col: Indices
    indents: Indents
    inside: float  # total weight of the tiles that lie on places


def align_rows(rows: TrayRows, votes: float, weights: Points | None = None) -> TrayAlignment | None:
    """Return the one way in which the tray can lie; None if the picture does not tell.

    `votes` counts the marks that stand upright along the rows' own y, less those that stand upside down. `weights`,
    shape (n,), 0..1, is how much each tile counts; by default all count alike.
    """
    weights = _without_duplicates(rows, np.ones(len(rows.row)) if weights is None else weights)
    found = [one for half in (False, True) for one in _alignments(rows, weights, half_turned=half)]
    if not found:
        return None
    scores = np.array([one.inside + (-votes if one.half_turned else votes) for one in found])
    best = found[int(scores.argmax())]
    rivals = [one for one, score in zip(found, scores, strict=True) if score > scores.max() - _CLEAR_LEAD]
    least = max(_FEWEST_TILES, _LEAST_ON_PLACES * (weights > 0).sum())
    if any(not _same(best, rival) for rival in rivals) or (best.row >= 0).sum() < least:
        return None
    return best


def _same(one: TrayAlignment, other: TrayAlignment) -> bool:
    return (
        one.half_turned == other.half_turned
        and np.array_equal(one.row, other.row)
        and np.array_equal(one.col, other.col)
    )


def _without_duplicates(rows: TrayRows, weights: Points) -> Points:
    """Return the weights with all but the largest at each spot set to 0, as the finder may detect one tile twice."""
    order = np.argsort(-weights, kind="stable")
    row, along = rows.row[order], rows.along[order]
    same = (row[:, None] == row) & (np.abs(along[:, None] - along) < _ONE_SPOT)
    counts = np.empty(len(order))
    counts[order] = np.where(np.tril(same, -1).any(axis=1), 0.0, weights[order])
    return counts


def _alignments(rows: TrayRows, weights: Points, *, half_turned: bool) -> Iterator[TrayAlignment]:
    there = rows.row >= 0
    last = int(rows.row.max())
    row = np.where(there, last - rows.row, -1) if half_turned else rows.row
    along = -rows.along if half_turned else rows.along
    for first in range(ROWS - last):
        moved = np.where(there, row + first, -1)
        for indents in (LEFT, CENTRED):
            yield from _alignments_by_start(moved, along, weights, indents, half_turned=half_turned)


def _alignments_by_start(
    row: Indices, along: Points, weights: Points, indents: Indents, *, half_turned: bool
) -> Iterator[TrayAlignment]:
    """Yield the best alignments over every half pitch at which row 0 may begin."""
    at = along - np.array([*indents, 0.0])[row]
    starts = np.arange(np.floor(at.min()) - ROW_LENGTHS[0], np.ceil(at.max()) + 1, 0.5)
    steps = at[None] - starts[:, None]
    col = np.round(steps).astype(int)
    inside: Flags = (row >= 0) & (np.abs(steps - col) < _ON_PLACE) & (col >= 0) & (col < _LENGTHS[row])
    weight = inside @ weights
    for number in np.nonzero(weight > weight.max() - _CLEAR_LEAD)[0]:
        placed = inside[number]
        place = np.where(placed, row, -1), np.where(placed, col[number], -1)
        yield TrayAlignment(half_turned, *place, indents, float(weight[number]))


_USUAL_TERMS = np.array([[0.0, 0.0], [1.05, 0.0], [0.0, 1.16 * HEIGHT], [0.0, 0.0], [0.0, 0.0]])
_LATTICE_PRIOR = np.array([0.0, 0.3, 1.0, 300.0, 300.0])  # weight of a prior for each term's usual value, in tiles
_TILE: Quad = rectangle(np.zeros(2), 1.0, HEIGHT)
_LATTICE_PLAY = 0.35  # widths: tiles further off than this are left out of the fit


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """A tray's places in the plane: `terms`, shape (5, 2), are coefficients of 1, x, row, x * row and x squared.

    x is in pitches; see `_basis`.
    """

    plane: TablePlane
    quarter: int  # quarter turns from the plane's x to the player's left-to-right
    terms: Points
    indents: Indents

    @property
    def pitch(self) -> float:
        """Tile widths between neighbours in a row."""
        return float(self.terms[1, 0])

    @property
    def row_pitch(self) -> float:
        """Tile widths between neighbouring rows."""
        return float(self.terms[2, 1])

    @property
    def rotation(self) -> float:
        """Direction of the tray's own left-to-right in the picture, degrees 0..360, clockwise on the screen."""
        ends = self.quads(self.spots(np.array([1.0, 1.0]), np.array([2.0, 8.0]))).mean(axis=1)
        right = ends[1] - ends[0]
        return float(np.degrees(np.arctan2(right[1], right[0])) % 360)

    def spots(self, rows: Points, cols: Points) -> Points:
        """Return the middles of places along the tray's own axes, tile widths, shape (n, 2)."""
        return np.asarray(_basis(rows, cols, self.indents) @ self.terms)

    def to_tray_axes(self, flat: Points) -> Points:
        """Rotate points of the plane, shape (n, 2), to the tray's own axes: x to the player's right."""
        return np.asarray(flat @ QUARTER_TURNS[self.quarter])

    def quads(self, spots: Points) -> Quad:
        """Return the outlines of upright tiles centred on `spots`, pixels, shape (n, 4, 2)."""
        corners = (spots[:, None] + _TILE) @ QUARTER_TURNS[self.quarter].T
        return self.plane.pixels(corners.reshape(-1, 2)).reshape(-1, 4, 2)


def fit_lattice(plane: TablePlane, quarter: int, flat: Points, alignment: TrayAlignment) -> Lattice:
    """Fit the lattice of a tray's places to the middles of its tiles, `flat`, shape (n, 2), in the plane."""
    here = alignment.row >= 0
    own = flat[here] @ QUARTER_TURNS[quarter]
    basis = _basis(alignment.row[here].astype(float), alignment.col[here].astype(float), alignment.indents)
    weight = np.ones(len(own))
    for _ in range(3):
        rows = np.vstack([basis * weight[:, None], np.diag(np.sqrt(_LATTICE_PRIOR))])
        aims = np.vstack([own * weight[:, None], np.sqrt(_LATTICE_PRIOR)[:, None] * _USUAL_TERMS])
        terms, *_ = np.linalg.lstsq(rows, aims, rcond=None)
        weight = (np.abs(basis @ terms - own).max(axis=1) < _LATTICE_PLAY).astype(float)
    return Lattice(plane, quarter, np.asarray(terms), alignment.indents)


def _basis(rows: Points, cols: Points, indents: Indents) -> Points:
    x = cols + np.array(indents)[np.asarray(rows, dtype=int)]
    return np.column_stack([np.ones(len(x)), x, rows, x * rows / 20, (x / 6 - 1) ** 2])


QUARTER_TURNS = np.array([[[1, 0], [0, 1]], [[0, -1], [1, 0]], [[-1, 0], [0, -1]], [[0, 1], [-1, 0]]], dtype=float)


LONGEST_PITCH, LONGEST_ROW_PITCH = 1.17, 1.32 * HEIGHT  # tile widths: most between neighbours, and between rows

_SEED = 4  # neighbouring tiles needed to start a tray
_EXTENT = np.array([(ROW_LENGTHS[0] - 1) * LONGEST_PITCH + 0.3, 2 * LONGEST_ROW_PITCH + 0.2])
_AXIS = np.radians(12.0)


@dataclass(frozen=True, slots=True, eq=False)
class TrayGroup:
    """Tiles that one tray may hold, by their numbers; rows run along the plane's x if `quarter` is 0, y if it is 1."""

    members: Indices
    quarter: int


def directions(tiles: TileFrames, plane: TablePlane) -> Points:
    """Return the direction of each tile's short side in the plane, radians, shape (n,)."""
    flat = plane.flat(tiles.quads.reshape(-1, 2)).reshape(-1, 4, 2)
    across = flat[:, 1] - flat[:, 0] + flat[:, 2] - flat[:, 3]
    return np.asarray(np.arctan2(across[:, 1], across[:, 0]))


def tray_groups(linked: list[Indices], spots: Points, angles: Points) -> list[TrayGroup]:
    """Join groups of neighbours into groups that one tray may hold.

    `linked` is the groups of neighbours, largest first; `spots`, shape (n, 2), and `angles`, shape (n,), are the
    middles and directions of all tiles in the plane.
    """
    quarters = np.round(angles / (np.pi / 2))
    square = np.abs(angles - quarters * np.pi / 2) < _AXIS
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
    """Join the first piece with all others that fit into one tray with it; try larger ones first, then nearer ones.

    Return the joined tiles and the pieces left over.
    """
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
    """Keep as many tiles as fit into one tray; a false detection may by chance be a neighbour of real tiles."""
    for axis, extent in enumerate(_EXTENT):
        along = spots[piece, axis]
        inside = (along >= along[:, None]) & (along <= along[:, None] + extent)  # shape (beginnings, tiles)
        piece = piece[inside[int(inside.sum(axis=1).argmax())]]
    return piece


_ASIDE = 40.0  # degrees by which East may be turned away from the picture's bottom


def name_seats(rotations: list[float], tile_counts: list[int]) -> dict[str, int] | None:
    """Return the number of each seat's tray, given the trays' rotations in degrees and how many tiles each holds.

    If two trays lie the same way, the fuller one gets the seat. Return None if the picture does not tell the seats.
    """
    aside = np.degrees(np.angle(np.exp(4j * np.radians(rotations)).mean())) / 4  # times four: equal for all seats
    if abs(aside) > _ASIDE:
        return None
    seats: dict[str, int] = {}
    for tray in sorted(range(len(tile_counts)), key=lambda tray: -tile_counts[tray]):
        seats.setdefault(SEATS[round((aside - rotations[tray]) / 90) % 4], tray)
    return {seat: seats[seat] for seat in SEATS if seat in seats}


_LINKED = 3  # neighbours with the same orientation needed to fit the plane: in a heap two may be so by chance
_PLACE_REACH = 0.5  # share of the pitch and of the row pitch within which a tile lies on a place
_UNREAD = 0.5  # weight of a sure tile that was not read
_SURE = 0.8  # likelihood from which a tile may lie askew on a place; false detections lie at any angle
_SQUARE = np.cos(np.radians(12.0))  # cosine of the largest angle to the tray's axis that is not askew


@dataclass(frozen=True, slots=True, eq=False)
class FilledTray:
    """A tray whose gaps have not been judged yet: its lattice of places, and the tiles that lie on them."""

    lattice: Lattice
    tiles_by_place: dict[RowCol, int]  # number of the tile on each occupied place
    turns: dict[int, float]  # by tile: angle of its first short side relative to the tray, radians


def find_trays(found: Detections, marks: tuple[TileMark | None, ...], size: tuple[int, int]) -> tuple[FilledTray, ...]:
    """Return the trays in a picture of `size` (height, width); none if the tiles do not lie in trays, as in a heap."""
    if len(found.tiles) < FEWEST_FOR_PLANE:
        return ()
    tiles = tile_frames(np.array([tile.quad for tile in found.tiles]))
    linked = linked_groups(tiles)
    seeds = [group for group in linked if len(group) >= _LINKED]
    plane = fit_plane(tiles, np.concatenate(seeds), size) if seeds else None
    if plane is None:
        return ()
    spots, angles = plane.flat(tiles.centres), directions(tiles, plane)
    turned = np.array([_turned(mark) for mark in marks])
    groups = tray_groups(linked, spots, angles)
    weights = np.array([_weight(tile, mark) for tile, mark in zip(found.tiles, marks, strict=True)])
    lattices = [_align(group, plane, spots, angles, turned, weights) for group in groups]
    return _fill([lattice for lattice in lattices if lattice is not None], spots, angles, found)


def _turned(mark: TileMark | None) -> float:
    """Return 1 if a mark is upright in its quad, -1 if it is upside down, 0 if it is not known."""
    return 0.0 if mark is None or mark.turned is None else -1.0 if mark.turned else 1.0


def orientation_votes(upright: int, upside_down: int) -> float:
    """Return how many more marks are upright than upside down, reduced towards 0 if they contradict one another."""
    return (upright - upside_down) * abs(upright - upside_down) / max(upright + upside_down, 1)


def _weight(tile: DetectedTile, mark: TileMark | None) -> float:
    """Return how much a tile counts when trays are aligned; a tile that was read certainly exists."""
    return 1.0 if mark is not None and (mark.serial or mark.either) else _UNREAD * tile.likelihood


def _align(
    group: TrayGroup, plane: TablePlane, spots: Points, angles: Points, turned: Points, weights: Points
) -> Lattice | None:
    rows = find_rows(level_group(spots[group.members] @ QUARTER_TURNS[group.quarter]))
    upright = np.sign(np.cos(angles[group.members] - group.quarter * np.pi / 2)) * turned[group.members]
    votes = orientation_votes(int((upright > 0).sum()), int((upright < 0).sum()))
    alignment = align_rows(rows, votes, weights[group.members])
    if alignment is None:
        return None
    quarter = (group.quarter + 2 * alignment.half_turned) % 4
    return fit_lattice(plane, quarter, spots[group.members], alignment)


def _fill(lattices: list[Lattice], spots: Points, angles: Points, found: Detections) -> tuple[FilledTray, ...]:
    """Assign each tile to the nearest place of a tray, if any; a tile that lies askew must be a sure detection."""
    left = np.ones(len(spots), dtype=bool)
    sure = np.array([tile.likelihood > _SURE for tile in found.tiles])
    filled = []
    for lattice in lattices:
        turns = angles - lattice.quarter * np.pi / 2
        placed = _assign_tiles(lattice, spots, found, left & (sure | (np.abs(np.cos(turns)) > _SQUARE)))
        left[list(placed.values())] = False
        turns = turns - _usual_turn(turns[list(placed.values())])
        filled.append(FilledTray(lattice, placed, {tile: float(turns[tile]) for tile in placed.values()}))
    return tuple(filled)


def _usual_turn(turns: Points) -> float:
    """Return the median angle of tiles to the tray's axis, radians: their corners may all be off in one direction."""
    return float(np.median((turns + np.pi / 2) % np.pi - np.pi / 2)) if len(turns) else 0.0


def _assign_tiles(lattice: Lattice, spots: Points, found: Detections, left: Flags) -> dict[RowCol, int]:
    """Return which of the tiles still `left` lies on each place; if there are two, the likelier one."""
    places = list(tray_places())
    middles = lattice.spots(*np.array(places, dtype=float).T)
    reach = np.array([lattice.pitch, lattice.row_pitch]) * _PLACE_REACH
    distances = np.abs(lattice.to_tray_axes(spots)[:, None] - middles[None]) / reach
    nearest: Indices = distances.max(axis=2).argmin(axis=1)
    tiles_by_place: dict[RowCol, int] = {}
    for tile in sorted(np.nonzero(left)[0], key=lambda tile: -found.tiles[tile].likelihood):
        place = places[nearest[tile]]
        if distances[tile, nearest[tile]].max() < 1 and place not in tiles_by_place:
            tiles_by_place[place] = int(tile)
    return tiles_by_place
