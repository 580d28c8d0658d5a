"""Put the tiles of hands, melds and rivers that lie face down on the table in order, as serials.

A hand is read like a page: rows from top to bottom, each from left to right, as the picture shows them. A group ends at
a gap of half a tile's width, or at the end of its row. The orientation of the tiles is ignored: players lay them as
they like, and claimed tiles crosswise.

A river's tiles were turned over one by one, each where it lay. It has rows of six, the first one farthest from its
player; a claimed tile may have left a gap. Its tiles stand upright, so the direction of most long sides tells how the
rows run, however the camera is turned. Only the rows tell which end comes first, because the last row is shorter. Marks
do not tell, as their direction depends on how each tile was turned over. If the last row is full, or lacks only one
tile, either end may be the first, and the deal must decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, pairwise
from typing import Final

import numpy as np

from vision.errors import RiverUnclearError
from vision.geometry import Flags, Picture, Points, Quad, rectangle, rotation_by
from vision.picture import RIM, colours_on
from vision.reading import Corners, TileRead

GAP: Final = 0.5
"""Share of a tile's width: a gap this wide separates two groups. Between tiles of a group there is hardly any gap."""

ROW: Final = 0.6
"""Share of a tile's height: tiles whose middles are farther apart than this lie in different rows."""

_QUARTER: Final = np.pi / 2

HandGroups = tuple[tuple[TileRead, ...], ...]


def hand_groups(reads: Sequence[TileRead]) -> HandGroups:
    """Return the groups of tiles in reading order, including tiles that were not read."""
    return tuple(chain.from_iterable(hand_rows(reads)))


def hand_rows(reads: Sequence[TileRead]) -> tuple[HandGroups, ...]:
    """Return rows from top to bottom, each with its groups from left to right."""
    if not reads:
        return ()
    quads = np.array([read.quad for read in reads], dtype=np.float64)
    level = quads @ rotation_by(-_slope(quads)).T
    width, height = tile_sides(quads)
    found: list[HandGroups] = []
    for row in rows_by_height(level.mean(axis=1)[:, 1], ROW * height):
        left_to_right = sorted(row, key=lambda at: float(level[at, :, 0].mean()))
        groups = _split_at_gaps(level, left_to_right, GAP * width)
        found.append(tuple(tuple(reads[at] for at in group) for group in groups))
    return tuple(found)


def _slope(quads: Quad) -> float:
    """Return the angle of the rows, radians within an eighth of a turn: that of most tiles, whichever way they lie."""
    right = quads[:, 1] + quads[:, 2] - quads[:, 0] - quads[:, 3]
    angles = np.arctan2(right[:, 1], right[:, 0])
    usual = np.angle(np.exp(4j * angles).sum()) / 4
    away = (angles - usual + _QUARTER / 2) % _QUARTER - _QUARTER / 2
    return float(usual + np.median(away))


def tile_sides(quads: Quad) -> tuple[float, float]:
    """Return the usual width and height of a tile, pixels."""
    sides = np.linalg.norm(np.roll(quads, -1, axis=1) - quads, axis=2)
    return float(np.median(sides.min(axis=1))), float(np.median(sides.max(axis=1)))


def rows_by_height(heights: Points, apart: float) -> list[list[int]]:
    """Split tiles into rows from the top; a new row begins where the next tile lies more than `apart` lower."""
    order = np.argsort(heights)
    cuts = np.nonzero(np.diff(heights[order]) > apart)[0] + 1
    return [row.tolist() for row in np.split(order, cuts)]


def _split_at_gaps(level: Quad, row: list[int], gap: float) -> list[list[int]]:
    """Split a row, sorted from the left, where the gap to the next tile is wider than `gap`."""
    groups = [[row[0]]]
    for before, at in pairwise(row):
        if level[at, :, 0].min() - level[before, :, 0].max() > gap:
            groups.append([])
        groups[-1].append(at)
    return groups


IN_ROW: Final = 6

CALLED: Final = 0
"""In a river's serials: the gap left by a claimed tile."""

_BESIDE: Final = (0.9, 1.5)
"""Range, in tile widths, of the distance between the middles of neighbours in a row."""

_USUAL: Final = 1.05
_NEITHER: Final = 20.0
"""L*a*b* units: a colour this far from both backs and cloth is something else."""

_ALIKE: Final = 12.0
"""L*a*b* units: least difference between backs and cloth; shadows and lamps can change one colour by this much."""

_APART: Final = 0.8
"""Share of a tile's width: an outline whose middle is nearer than this to a tile's is not another tile beside it."""

_SHORTER: Final = 2
"""Difference in bare places between the two ends that shows which end is the last; one alone may be a claimed tile."""

_MELDS: Final = (3, 4)


@dataclass(frozen=True, slots=True)
class RiverRead:
    """A river's serials, with None for a tile that was not read and CALLED for a gap."""

    serials: tuple[int | None, ...]
    gaps: bool
    """Whether the first column is certain, because some row has its first and its sixth tile. Otherwise gaps in the
    first column may have been missed."""
    either_end: bool = False
    """Whether either end may be the first. The serials then start at the end that is the upper one in the picture, and
    include the bare places after the last tile, so that reversing them gives the river from the other end."""


class _NoRowError(RiverUnclearError):
    """Read from this end, the tiles do not lie in rows of six, whatever the places beside them hold."""


@dataclass(frozen=True, slots=True)
class HandRead:
    """A player's concealed tiles, melds, and winning tile if it lies apart; None for a tile that was not read."""

    hand: tuple[int | None, ...]
    melds: tuple[tuple[int | None, ...], ...]
    winning: int | None = None


def read_river(picture: Picture, reads: Sequence[TileRead]) -> RiverRead:
    """Return the river in a picture, given the tiles that were read in it.

    A place without a read tile holds an unread one if it has the colour of the backs, and is a gap if it has that of
    the cloth. Raises RiverUnclearError if it has neither, if no tile was read, or if the tiles do not lie in rows of
    six.
    """
    tiles, back, cloth = _tiles_and_colours(picture, reads)
    quads = np.array([tile.quad for tile in tiles], dtype=np.float64)
    angle = np.pi / 2 - _long_axis(quads)
    found, problems = list[RiverRead](), list[RiverUnclearError]()
    for half_turn in (0.0, np.pi):
        try:
            found.append(_in_order(picture, tiles, quads, (back, cloth), angle + half_turn))
        except RiverUnclearError as error:
            problems.append(error)
    if not found:
        raise problems[0]  # the error for the picture as it stands
    gaps = [_leading_gaps(river) for river in found]
    clear = isinstance(problems[0], _NoRowError) if problems else abs(gaps[0] - gaps[1]) >= _SHORTER
    if clear:
        return _trimmed(found[gaps.index(min(gaps))])
    upper = found[0] if found[0].gaps else _trimmed(found[0])
    return replace(upper, either_end=len(upper.serials) > 1)


def _leading_gaps(river: RiverRead) -> int:
    """Return the number of bare places before the first tile."""
    return next(at for at, serial in enumerate(river.serials) if serial != CALLED)


def _trimmed(river: RiverRead) -> RiverRead:
    """Return a river without the bare places after its last tile."""
    trailing_gaps = _leading_gaps(replace(river, serials=river.serials[::-1]))
    return replace(river, serials=river.serials[: len(river.serials) - trailing_gaps])


def _tiles_and_colours(picture: Picture, reads: Sequence[TileRead]) -> tuple[list[TileRead], Points, Points]:
    """Return the tiles, read or not, and the usual colours of their backs and of the cloth, L*a*b*, shape (3,).

    Unread detections are left out if they are bare table, such as a gap, or the seam between two tiles. Raises
    RiverUnclearError if no tile was read, if no bare table is seen beside a tile that was read, or if an unread
    detection has the colour of neither backs nor cloth.
    """
    read = [tile for tile in reads if tile.serial is not None]
    if not read:
        raise RiverUnclearError("no tile of this picture was read")
    quads, all_quads = np.array([tile.quad for tile in read]), np.array([tile.quad for tile in reads])
    back = np.median(_colours(picture, quads), axis=0)
    across, down = quads[:, 1] - quads[:, 0], quads[:, 3] - quads[:, 0]
    beside = np.concatenate([quads + step[:, None] for step in (across, -across, down, -down)])
    bare = beside[_are_apart(beside, all_quads)]
    if not len(bare):
        raise RiverUnclearError("no bare table is seen beside a tile that was read")
    cloth = np.median(_colours(picture, bare), axis=0)
    unread = [tile for tile in reads if tile.serial is None]
    unread = list(compress(unread, _are_apart(np.array([tile.quad for tile in unread]), quads)))
    colours = _colours(picture, [tile.quad for tile in unread])
    backs = [_is_back(colour, back, cloth, "beside a tile") for colour in colours]
    return [*read, *compress(unread, backs)], back, cloth


def _are_apart(quads: Quad, others: Quad) -> Flags:
    """Return which outlines, shape (n, 4, 2), are neither those of other tiles nor of the seam between two."""
    away = np.linalg.norm(quads.reshape(-1, 4, 2).mean(axis=1)[:, None] - others.mean(axis=1)[None], axis=2)
    return np.asarray(away.min(axis=1) > _APART * tile_sides(others)[0])


def _is_back(colour: Points, back: Points, cloth: Points, where: str) -> bool:
    """Return whether a colour is that of the backs rather than the cloth's.

    Raises RiverUnclearError if it is neither, if it is not at least twice as close to one as to the other, or if backs
    and cloth are too much alike.
    """
    to_back, to_cloth = (float(np.linalg.norm(colour - usual)) for usual in (back, cloth))
    near, far = sorted((to_back, to_cloth))
    if near > min(_NEITHER, far / 2) or np.linalg.norm(back - cloth) < _ALIKE:
        raise RiverUnclearError(f"{where}: neither a tile of this set nor the bare table")
    return to_back < to_cloth


def _colours(picture: Picture, quads: Sequence[Corners] | Quad) -> Points:
    """Return the median colour of each outline's rim, L*a*b*, shape (n, 3)."""
    return np.asarray(np.median(colours_on(picture, np.array(quads).reshape(-1, 4, 2), RIM), axis=1), dtype=np.float64)


def _long_axis(quads: Quad) -> float:
    """Return the angle of most tiles' long sides, radians, 0 to pi; about pi / 2 if the tiles stand upright."""
    sides = np.roll(quads, -1, axis=1)[:, :2] - quads[:, :2]
    longer = np.linalg.norm(sides, axis=2).argmax(axis=1)
    along = sides[np.arange(len(quads)), longer]
    doubled = np.exp(2j * np.arctan2(along[:, 1], along[:, 0])).sum()
    return float((np.angle(doubled) / 2) % np.pi)


def _in_order(
    picture: Picture, tiles: Sequence[TileRead], quads: Quad, colours: tuple[Points, Points], angle: float
) -> RiverRead:
    """Read all places of a river's rows from the upper left, after turning it by `angle`, radians."""
    level = quads @ rotation_by(angle).T
    middles = level.mean(axis=1)
    width, height = tile_sides(level)
    rows = [sorted(row, key=lambda at: float(middles[at, 0])) for row in rows_by_height(middles[:, 1], ROW * height)]
    pitch, left = _pitch(middles, rows, width), float(middles[:, 0].min())
    heights = [float(np.median(middles[row, 1])) for row in rows]
    box = rectangle(np.zeros(2), width, height)

    def colours_of(places: Sequence[tuple[int, float]]) -> Points:
        spots = np.array([(left + place * pitch, y) for place, y in places]).reshape(-1, 1, 2)
        return _colours(picture, (spots + box) @ rotation_by(-angle).T)

    serials: list[int | None] = []
    first_column_sure = False
    for number, (row, y) in enumerate(zip(rows, heights, strict=True), 1):
        row_serials = {round((float(middles[at, 0]) - left) / pitch): tiles[at].serial for at in row}
        end = max(IN_ROW, max(row_serials) + 1)
        if len(row_serials) < len(row) or (end > IN_ROW and number < len(rows)):
            raise _NoRowError(f"row {number} of the river is no row of {IN_ROW} tiles")
        empty = [place for place in range(end) if place not in row_serials]
        for place, colour in zip(empty, colours_of([(place, y) for place in empty]), strict=True):
            where = f"row {number} of the river, place {place + 1}"
            row_serials[place] = None if _is_back(colour, *colours, where) else CALLED
        first_column_sure = first_column_sure or CALLED not in (row_serials[0], row_serials[IN_ROW - 1])
        serials += [row_serials[place] for place in range(end)]
    return RiverRead(tuple(serials), first_column_sure)


def _pitch(middles: Points, rows: list[list[int]], width: float) -> float:
    """Return the usual distance between the middles of neighbours in a row, pixels."""
    steps = [middles[at, 0] - middles[before, 0] for row in rows for before, at in pairwise(row)]
    beside = [step for step in steps if _BESIDE[0] < step / width < _BESIDE[1]]
    return float(np.median(beside)) if beside else _USUAL * width


def read_hand(picture: Picture, reads: Sequence[TileRead]) -> HandRead:
    """Return the hand and melds in a picture: the concealed tiles first, then each meld apart, then a winning tile.

    Raises RiverUnclearError if a group after the first is not a meld, and for the reasons in `_tiles_and_colours`.
    """
    groups = [tuple(read.serial for read in group) for group in hand_groups(_tiles_and_colours(picture, reads)[0])]
    winning = groups.pop()[0] if len(groups) > 1 and len(groups[-1]) == 1 else None
    hand, *melds = groups
    for number, meld in enumerate(melds, 2):
        if len(meld) not in _MELDS:
            raise RiverUnclearError(f"group {number} has {len(meld)} tiles and is no meld: lay melds apart")
    return HandRead(hand, tuple(melds), winning)
