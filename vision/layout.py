"""Determine where each detected tile lies, what each place of a tray holds, and what beside a tray is not a tile.

Colours are sampled at a few points of each tile or place. A place where no tile was found is empty or covered, or holds
a back that was overlooked. A back whose colour differs from its neighbours' belongs to a foreign set.

Cards, counters, telephones and numbers on a printed cloth may lie beside a tray. The tiles in the tray show the size,
colour and print of the set, and a number beside the tray counts as a serial only if it matches them. Our own labels are
never on cards, so they count wherever they lie. Without a tray there is nothing to compare with.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.finder import DetectedTile, Detections
from vision.geometry import HEIGHT, Flags, Indices, Picture, Points, Quad, quad_sides
from vision.marks import TileMark
from vision.marks.digits import digits_of
from vision.marks.shapes import expected_pitch
from vision.picture import BACK, CORE, CORE_SIDE, RIM, Colours, colours_at, colours_on, points_on
from vision.reading import HALF_TURN, LEFT, PlaceState, RowCol, tray_places
from vision.trays import FilledTray, Lattice, find_trays, name_seats


@dataclass(frozen=True, slots=True, eq=False)
class TilePosition:
    """Where and how one tile lies."""

    quad: Quad  # shape (4, 2), pixels, from the tile's own top-left, if its mark or its tray shows which way up it is
    rotation: float  # direction of the tile's own left-to-right, degrees 0..360, clockwise on the screen
    seat: str | None = None  # None also in a tray that stands alone
    row: int | None = None  # row and column are None outside trays
    col: int | None = None
    turn: int = 0  # rotation relative to its tray: 0, 90, 180 or 270
    sideways: bool = False  # askew by 15 degrees or more
    covered: float = 0.0  # share covered by hands, 0..1
    odd_colour: bool = False  # whether its colour differs clearly from the other backs

    def is_turned(self, tile: DetectedTile) -> bool:
        """Return whether the tile is upside down in the finder's outline."""
        return bool((self.quad[0] != tile.quad[0]).any())

    def turned_over(self) -> "TilePosition":
        """Return the position of the same tile standing the other way up."""
        turn = self.turn if self.row is None else (self.turn + HALF_TURN) % 360
        quad, rotation = np.roll(self.quad, 2, axis=0), (self.rotation + HALF_TURN) % 360
        return replace(self, quad=quad, rotation=rotation, turn=turn)


@dataclass(frozen=True, slots=True, eq=False)
class LaidOutPlace:
    """A place of a tray: what it holds, the index of its tile in `Detections.tiles`, and its outline, shape (4, 2)."""

    row: int
    col: int
    state: PlaceState
    tile: int | None
    quad: Quad


@dataclass(frozen=True, slots=True, eq=False)
class LaidOutTray:
    """One tray: its seat (None if it stands alone), its 34 places, and the direction of its rows, degrees 0..360."""

    seat: str | None
    places: tuple[LaidOutPlace, ...]
    rotation: float


@dataclass(frozen=True, slots=True, eq=False)
class TableLayout:
    """The layout of a picture. Tiles are given as indices into `Detections.tiles`."""

    positions: tuple[TilePosition, ...]  # one for each tile
    trays: tuple[LaidOutTray, ...]  # in the order E S W N
    false_detections: frozenset[int] = frozenset()  # not tiles: empty places, the floor of a tray, cards
    unlike: frozenset[int] = frozenset()
    """Tiles beside a tray that were read but do not look like its tiles; in clutter, all tiles."""


def inside_share(picture: Picture, quads: Quad) -> Points:
    """Return the share, 0..1, of each quad, shape (n, 4, 2), that lies inside the picture."""
    points = points_on(quads, BACK)
    inside = ((points >= 0) & (points <= [picture.shape[1], picture.shape[0]])).all(axis=2)
    return np.asarray(inside.mean(axis=1), dtype=np.float64)


def covered_share(hands: Picture, cell: float, quads: Quad) -> Points:
    """Return the share, 0..1, of each quad, shape (n, 4, 2), that hands cover. `hands` and `cell`: see `Detections`."""
    if hands.size == 0 or not len(quads):
        return np.zeros(len(quads))
    return np.asarray(colours_at(hands, points_on(quads, BACK) / cell).mean(axis=1) / 255)


def hand_near(hands: Picture, cell: float, quads: Quad) -> Points:
    """Return how much of a cell a hand covers at most, 0..1, on each quad, shape (n, 4, 2), and half a tile around."""
    if hands.size == 0 or not len(quads):
        return np.zeros(len(quads))
    middles = quads.mean(axis=1, keepdims=True)
    return np.asarray(colours_at(hands, points_on(middles + 2 * (quads - middles), BACK) / cell).max(axis=1) / 255)


_NEIGHBOURS = 6
_OTHER_HUE = 15.0  # L*a*b* units from the line from grey through the usual colour
_OTHER_TINT, _OTHER_LIGHTER = 20.0, 22.0  # L*a*b* units in tint and lightness: a pale back among coloured ones
_OTHER_DARKER = -45.0
_GLARE_WHITE = 97.0  # lightness from which glare has washed out the colour
_FINGER_HUE, _FINGER_LIGHT = 6.0, 15.0  # L*a*b* units
_NEAREST = 0.25  # quantile over the rim's points: only those most like the neighbours are compared


def oddly_coloured_backs(rims: Colours, centres: Points, backs: Flags, blank: Flags) -> Flags:
    """Return which backs clearly differ in colour from their neighbours; `rims` has shape (n, m, 3), L*a*b*.

    `blank` backs, which may not be tiles at all, do not count as neighbours.
    """
    odd_colour = np.zeros(len(rims), dtype=bool)
    if (backs & ~blank).sum() <= _NEIGHBOURS:
        return odd_colour
    usual = _neighbours_colour(rims, centres, backs & ~blank)
    hue = _ranked(_off_hue(rims[..., 1:].astype(float), usual[:, None, 1:]), _NEAREST)
    tint = _ranked(np.hypot(*(rims[..., 1:] - usual[:, None, 1:]).transpose(2, 0, 1)), _NEAREST)
    lighter = rims[..., 0] - usual[:, None, 0]
    pale = (tint > _OTHER_TINT) & (_ranked(lighter, 0.1) > _OTHER_LIGHTER)
    dark = _ranked(lighter, 0.9) < _OTHER_DARKER
    glaring = np.median(rims[..., 0], axis=1) > _GLARE_WHITE
    return np.asarray(backs & ((hue > _OTHER_HUE) | (pale & ~glaring) | dark))


def finger_shares(rims: Colours, centres: Points, backs: Flags) -> Points:
    """Return the share, 0..1, of each back's rim that differs from its neighbours in both hue and lightness.

    Uneven light never changes both. Worn edges and inaccurate outlines can look like fingers too, so callers use this
    only for backs that were not read or that have a hand near them.
    """
    if backs.sum() <= _NEIGHBOURS:
        return np.zeros(len(rims))
    usual = _neighbours_colour(rims, centres, backs)
    hue = _off_hue(rims[..., 1:].astype(float), usual[:, None, 1:])
    light = np.abs(rims[..., 0] - usual[:, None, 0])
    return np.asarray(backs * ((hue > _FINGER_HUE) & (light > _FINGER_LIGHT)).mean(axis=1))


def _ranked(values: Points, share: float) -> Points:
    """Return the `share` quantile of each row, shape (n,)."""
    place = round(share * (values.shape[1] - 1))
    return np.asarray(np.partition(values, place, axis=1)[:, place])


def _neighbours_colour(rims: Colours, centres: Points, backs: Flags) -> Points:
    """Return the median colour of the nearest backs, shape (n, 3), which one strange neighbour does not change."""
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    apart[:, ~backs] = np.inf
    near = np.argsort(apart, axis=1)[:, :_NEIGHBOURS]
    return np.asarray(np.median(np.median(rims, axis=1)[near], axis=1), dtype=np.float64)


def _off_hue(tints: Points, usual: Points) -> Points:
    """Return the distance of tints (a*, b*) from the line that runs from grey to a quarter beyond the usual tint."""
    strength = np.linalg.norm(usual, axis=-1, keepdims=True)
    direction = usual / np.maximum(strength, 1e-6)
    along = np.clip((tints * direction).sum(axis=-1, keepdims=True), 0, 1.25 * strength + 4)
    return np.asarray(np.linalg.norm(tints - along * direction, axis=-1))


COVERED = 0.12  # share under a hand from which a place counts as covered
_EMPTY, _BACK = 0.3, 0.6  # share of rim points closer to the backs' colour: up to it a place is empty; from it a back
_NEITHER = 20.0  # L*a*b* units: a rim this far from both backs and floor is something else
_BARE, _PRINTED = 0.4, 0.65  # share of the backs' usual detail: less is no back; more is one if colours are unclear
_LIGHTER, _WHITE = 25.0, 97.0  # lightness: above the floor's, and below that of glare
_FAINT = 0.1  # lightness: lower bound for the usual detail, as there is always some noise
_NEAR = 5  # nearest backs to compare with
_WHERES = np.array(list(tray_places()))
_IN_PICTURE = 0.75  # share of a place that must be in the picture for it to be judged


@dataclass(frozen=True, slots=True, eq=False)
class GapEvidence:
    """The evidence for judging gaps: the 34 places in reading order, and the tray's floor beside the short rows."""

    inside: Points  # share of each place that is in the picture, shape (34,)
    rims: Colours  # colours of each place's rim, shape (34, m, 3)
    details: Points  # detail in the middle of each place, shape (34,); see `_detail`
    floor: Colours  # colours of the floor, shape (n, 3)


def gather_evidence(picture: Picture, quads: Quad, lattice: Lattice) -> GapEvidence:
    """Sample all places of a tray along `quads`, shape (34, 4, 2): the tile's own outline where one was found."""
    left = ((1, 11), (1, 12), (2, 10), (2, 11), (2, 12))
    open_spots = left if lattice.indents == LEFT else ((1, -1), (1, 11), (2, -1), (2, 10))
    floor = colours_on(picture, lattice.quads(lattice.spots(*np.array(open_spots, dtype=float).T)), RIM)
    details = _detail(colours_on(picture, quads, CORE))
    return GapEvidence(inside_share(picture, quads), colours_on(picture, quads, RIM), details, floor.reshape(-1, 3))


def judge_gap(evidence: GapEvidence, gap: int, backs: Indices, *, found: bool = False) -> PlaceState:
    """Return whether place number `gap` is empty, covered or holds a back.

    `backs` are the numbers of places that certainly hold one. A place that resembles neither backs nor floor, or lies
    outside the picture, is called a back, which claims the least. Where the finder `found` a tile, missing print does
    not prove the place empty, because glare can hide the print.
    """
    if not len(backs) or evidence.inside[gap] < _IN_PICTURE:
        return PlaceState.BACK
    near = backs[np.argsort(np.abs(_WHERES[backs] - _WHERES[gap]) @ [1.4, 1.0], kind="stable")[:_NEAR]]
    printed = float(evidence.details[gap] / max(np.median(evidence.details[near]), _FAINT))
    rim = evidence.rims[gap]
    to_back, to_floor = _nearest(rim, evidence.rims[near].reshape(-1, 3)), _nearest(rim, evidence.floor)
    if np.median(to_floor) > _NEITHER and _is_over_it(rim, evidence.rims[near], evidence.floor):
        return PlaceState.OCCLUDED
    if printed < _BARE and not found:
        return PlaceState.EMPTY
    share = float((np.sign(to_floor - to_back) + 1).mean() / 2)
    if share >= _BACK or min(np.median(to_back), np.median(to_floor)) > _NEITHER:
        return PlaceState.BACK
    return PlaceState.BACK if share > _EMPTY and printed > _PRINTED else PlaceState.EMPTY


def _is_over_it(rim: Colours, backs: Colours, floor: Colours) -> bool:
    """Return whether something lies over a place: its rim is unlike most backs nearby and much lighter than the floor.

    That rules out shadows, and rims below white rule out glare. Most backs, as some of them may be half covered too.
    """
    usual, light = np.median(rim, axis=0), float(np.median(rim[:, 0]))
    apart = np.linalg.norm(np.median(backs, axis=1) - usual, axis=1)
    return bool(np.median(apart) > _NEITHER and float(np.median(floor[:, 0])) + _LIGHTER < light < _WHITE)


def _nearest(rim: Colours, others: Colours) -> Points:
    """Return the distance of each point of a rim from the nearest of the other colours, shape (m,)."""
    away = rim[:, None] - others[None]
    return np.asarray(np.sqrt((away**2).sum(axis=2).min(axis=1)), dtype=np.float64)


def _detail(cores: Colours) -> Points:
    """Return how much detail each core shows, shape (n,): the mean step in lightness between neighbouring points."""
    light = cores[..., 0].reshape(len(cores), CORE_SIDE, CORE_SIDE)
    down, right = np.abs(np.diff(light, axis=1)), np.abs(np.diff(light, axis=2))
    return np.asarray(down.mean(axis=(1, 2)) + right.mean(axis=(1, 2)), dtype=np.float64)


_FEWEST = 6  # tiles read in trays, without which nothing is compared
_SIZE = 0.12  # share by which a tile's sides may differ from the usual: corners are off by up to 6 %
_PITCH = 0.11  # share by which the distance between digits may differ
_SPOT = 0.08  # offset of a number from its usual spot, in tile sides
_TINT, _LIGHT = 8.0, 9.0  # L*a*b* units by which a back may differ from the nearest in a tray; light falls unevenly
_OF_ONE_COLOUR = 11.0  # L*a*b* units, lightness counted half
_WEIGHTS = np.array([0.5, 1.0, 1.0])  # lightness says less than tint, as light falls unevenly
_MANY, _MOST = 4, 1 / 3  # number and share of unlike things beside a tray from which all things beside it are doubted
_CLUTTER = 20  # unlike things from which nothing in the picture is trusted, not even the tray


def unlike_tiles(
    flat: Quad, colours: Points, marks: Sequence[TileMark | None], in_trays: Sequence[int], loose: Sequence[int]
) -> frozenset[int]:
    """Return which of the `loose` tiles were read but are unlike the tiles held by trays; in clutter, all tiles.

    `flat`, shape (n, 4, 2), is all tiles' outlines in the plane of the backs, in tile widths; `colours`, shape (n, 3),
    is the colours of their backs, CIE L*a*b*.
    """
    sure = [number for number in in_trays if _is_read(marks[number])]
    read = [number for number in loose if _is_read(marks[number]) and _is_printed(marks[number])]
    if len(sure) < _FEWEST or not read:
        return frozenset()
    usual = np.median([quad_sides(flat[number]) for number in sure], axis=0)
    printed = [marks[number] for number in sure]
    unlike = frozenset(
        number
        for number in read
        if not (
            is_of_size(quad_sides(flat[number]), usual)
            and is_of_colour(colours[number], _nearby(flat, colours, number, sure))
            and is_printed_alike(marks[number], printed)
        )
    )
    if is_clutter(len(unlike)):
        return frozenset((*in_trays, *read))
    # If many numbers beside a tray are printed on something else, those that happen to match the tiles are too.
    return frozenset(read) if len(unlike) >= _MANY and len(unlike) >= _MOST * len(read) else unlike


def is_clutter(unlike: int) -> bool:
    """Return whether there is so much print around the tray that the tray itself may be made of print."""
    return unlike >= _CLUTTER


def _is_printed(mark: TileMark | None) -> bool:
    return mark is not None and bool(np.isfinite(mark.pitch))


def is_of_size(sides: Points, usual: Points) -> bool:
    """Return whether a tile's short and long sides match the usual ones in trays, and the proportions of a tile."""
    return bool((np.abs(sides / usual - 1) <= _SIZE).all() and abs(sides[1] / sides[0] / HEIGHT - 1) <= _SIZE)


def _nearby(flat: Quad, colours: Points, number: int, sure: Sequence[int]) -> Points:
    """Return the median colour of the nearest tiles in trays."""
    middles = flat[list(sure)].mean(axis=1)
    near = np.argsort(np.linalg.norm(middles - flat[number].mean(axis=0), axis=1))[:_NEIGHBOURS]
    return np.asarray(np.median(colours[list(sure)][near], axis=0))


def is_of_colour(colour: Points, usual: Points) -> bool:
    """Return whether a back's colour, L*a*b*, is the usual one, allowing for more or less light."""
    return bool(np.hypot(*(colour - usual)[1:]) <= _TINT and abs(colour[0] - usual[0]) <= _LIGHT)


def is_printed_alike(mark: TileMark | None, others: Sequence[TileMark | None]) -> bool:
    """Return whether a number is printed like most of the others, with the same spacing and at the same spot.

    Return False if most of the others are not numbers.
    """
    numbers = [other for other in others if other is not None and _is_printed(other)]
    if mark is None or 2 * len(numbers) <= len(others):
        return False
    digits = np.array([digits_of(other.serial or (other.either or (0,))[0]) for other in (mark, *numbers)])
    usual = expected_pitch(digits[0], digits[1:], np.array([other.pitch for other in numbers]))
    spot = np.median([other.spot for other in numbers], axis=0)
    off = float(np.abs(mark.spot - spot).max())
    if mark.turned is None:  # the tile may be upside down, and its spot with it
        off = min(off, float(np.abs(mark.spot + spot).max()))
    return abs(mark.pitch - usual) <= _PITCH * usual and off <= _SPOT


def colour_groups(colours: Points, fewest: int) -> list[list[int]]:
    """Return groups of at least `fewest` backs of one colour, largest first, but never a group of all backs.

    `colours` has shape (n, 3), L*a*b*.
    """
    left = list(range(len(colours)))
    groups = []
    while len(left) >= fewest:
        apart = np.linalg.norm((colours[left][:, None] - colours[left][None]) * _WEIGHTS, axis=2) <= _OF_ONE_COLOUR
        middle = int(apart.sum(axis=1).argmax())
        members = [number for number, near in zip(left, apart[middle], strict=True) if near]
        if fewest <= len(members) < len(colours):
            groups.append(members)
        left = [number for number in left if number not in set(members)]
    return sorted(groups, key=len, reverse=True)


_FINGER, _FINGERS = 0.12, 0.2  # share of a rim that a finger covers: with a hand near; for unread backs without one
_HAND, _SURE_HAND = 0.1, 0.4  # how much of a hand must be near: an unread tile; a tile that was read
_TILE_SEEN = 0.3  # confidence from which there is some mark on a back, legible or not
_FEWEST_OF_COLOUR = 20  # backs of one colour needed to look for a tray among them alone
_ASKEW = 15.0  # degrees; with corners found to 3 percent, tiles lie within 6 degrees of their tray, but some are worse


def lay_out_table(picture: Picture, found: Detections, marks: tuple[TileMark | None, ...]) -> TableLayout:
    """Return where each of `found.tiles` lies and what each place of each tray holds.

    `picture` is BGR, shape (height, width, 3); `marks` has an entry for each tile, None for tiles without a mark. The
    expected deal is not used. Stateless and thread-safe.
    """
    seen = _tile_evidence(picture, found, marks)
    trays: list[LaidOutTray] = []
    placed: dict[int, _TileOnPlace] = {}
    ghosts: set[int] = set()
    filled = _with_seats(_find_trays(found, marks, (picture.shape[0], picture.shape[1]), seen.colours))
    for seat, tray in filled:
        places = _tray_places(picture, found, tray, seen)
        trays.append(LaidOutTray(seat, places, tray.lattice.rotation))
        placed |= {
            place.tile: _TileOnPlace(seat, (place.row, place.col), tray.turns[place.tile])
            for place in places
            if place.tile is not None
        }
        ghosts |= set(tray.tiles_by_place.values()) - placed.keys()
    if trays:  # unread detections beside a tray are mostly its floor, or a card
        ghosts |= {number for number, mark in enumerate(marks) if number not in placed and not _is_read(mark)}
    unlike = _unlike(seen, marks, list(placed), filled)
    positions = tuple(_tile_position(seen, number, mark, placed.get(number)) for number, mark in enumerate(marks))
    return TableLayout(positions, tuple(trays), frozenset(ghosts | unlike - placed.keys()), unlike)


def _find_trays(
    found: Detections, marks: tuple[TileMark | None, ...], size: tuple[int, int], colours: Points
) -> tuple[FilledTray, ...]:
    """Find trays. If there are none, because print on a cloth or on cards hides them, search by colour of the backs."""
    filled = find_trays(found, marks, size)
    for members in () if filled else colour_groups(colours, _FEWEST_OF_COLOUR):
        few = replace(found, tiles=tuple(found.tiles[number] for number in members))
        among = find_trays(few, tuple(marks[number] for number in members), size)
        if sum(len(tray.tiles_by_place) for tray in among) >= _FEWEST_OF_COLOUR:
            return tuple(
                replace(
                    tray,
                    tiles_by_place={where: members[tile] for where, tile in tray.tiles_by_place.items()},
                    turns={members[tile]: angle for tile, angle in tray.turns.items()},
                )
                for tray in among
            )
    return filled


def _unlike(
    seen: "_TileEvidence",
    marks: tuple[TileMark | None, ...],
    in_trays: list[int],
    filled: list[tuple[str | None, FilledTray]],
) -> frozenset[int]:
    """Return which tiles beside the trays were read but do not look like the tiles in them."""
    loose = [number for number in range(len(marks)) if number not in set(in_trays)]
    if not filled or not loose:
        return frozenset()
    flat = filled[0][1].lattice.plane.flat(seen.quads.reshape(-1, 2)).reshape(-1, 4, 2)  # all trays lie in one plane
    return unlike_tiles(flat, seen.colours, marks, in_trays, loose)


def _is_read(mark: TileMark | None) -> bool:
    return mark is not None and (mark.serial is not None or mark.either is not None)


@dataclass(frozen=True, slots=True, eq=False)
class _TileEvidence:
    """Observations of each tile, before trays are considered; every field has one entry per tile."""

    quads: Quad  # shape (n, 4, 2), as found
    rotations: list[float]
    covered: list[float]
    odd_colour: list[bool]
    states: list[PlaceState]
    blank: list[bool]  # backs without a visible mark, which may not be tiles at all
    colours: Points  # median colours of their rims, shape (n, 3), L*a*b*


@dataclass(frozen=True, slots=True)
class _TileOnPlace:
    """A tile's place, and the angle of its quad's first short side relative to the tray, radians."""

    seat: str | None
    place: RowCol
    angle: float


def _tile_evidence(picture: Picture, found: Detections, marks: tuple[TileMark | None, ...]) -> _TileEvidence:
    quads: Quad = np.array([tile.quad for tile in found.tiles]).reshape(-1, 4, 2)
    right = quads[:, 1] + quads[:, 2] - quads[:, 0] - quads[:, 3]
    covered = covered_share(found.hands, found.cell, quads)
    states = [_state(tile.face_up, hidden) for tile, hidden in zip(found.tiles, covered, strict=True)]
    backs = np.array([state is PlaceState.BACK for state in states], dtype=bool)
    rims, middles = colours_on(picture, quads, RIM), quads.mean(axis=1)
    unread = np.array([not _is_read(mark) for mark in marks], dtype=bool)
    near = hand_near(found.hands, found.cell, quads)
    fingers = finger_shares(rims, middles, backs)
    fingered = (fingers > _FINGER) & (near > np.where(unread, _HAND, _SURE_HAND)) | (fingers > _FINGERS) & unread
    states = [PlaceState.OCCLUDED if under else state for state, under in zip(states, fingered, strict=True)]
    blank = unread & np.array([mark is not None and mark.confidence < _TILE_SEEN for mark in marks], dtype=bool)
    odd = oddly_coloured_backs(rims, middles, backs & ~fingered, blank)
    rotations = np.degrees(np.arctan2(right[:, 1], right[:, 0]))
    colours = np.asarray(np.median(rims, axis=1), dtype=np.float64)
    return _TileEvidence(quads, rotations.tolist(), covered.tolist(), odd.tolist(), states, blank.tolist(), colours)


def _state(face_up: bool, hidden: float) -> PlaceState:  # noqa: FBT001 -- passed on from a tile's field
    if hidden > COVERED:
        return PlaceState.OCCLUDED
    return PlaceState.FACE_UP if face_up else PlaceState.BACK


def _with_seats(filled: tuple[FilledTray, ...]) -> list[tuple[str | None, FilledTray]]:
    """Pair each tray with its seat. A single tray has the seat None; trays whose seats are unknown are left out."""
    if len(filled) < 2:  # noqa: PLR2004 -- a carrier is more than one
        return [(None, tray) for tray in filled]
    seats = name_seats([tray.lattice.rotation for tray in filled], [len(tray.tiles_by_place) for tray in filled])
    return [(seat, filled[number]) for seat, number in (seats or {}).items()]


def _tray_places(
    picture: Picture, found: Detections, tray: FilledTray, seen: _TileEvidence
) -> tuple[LaidOutPlace, ...]:
    """Return what each place of a tray holds, in reading order."""
    places = list(tray_places())
    quads = tray.lattice.quads(tray.lattice.spots(*np.array(places, dtype=float).T))
    covered = covered_share(found.hands, found.cell, quads)
    tiles = [tray.tiles_by_place.get(place) for place in places]
    known = [
        PlaceState.OCCLUDED if tile is None and hidden > COVERED else None if tile is None else seen.states[tile]
        for tile, hidden in zip(tiles, covered, strict=True)
    ]
    doubted = [tile is not None and seen.blank[tile] and seen.states[tile] is not PlaceState.FACE_UP for tile in tiles]
    real = np.array([quad if tile is None else found.tiles[tile].quad for tile, quad in zip(tiles, quads, strict=True)])
    unsure = [number for number, state in enumerate(known) if state is None or doubted[number]]
    judged = _judge_gaps(known, unsure, gather_evidence(picture, real, tray.lattice)) if unsure else {}
    for number, state in judged.items():
        if state is PlaceState.EMPTY:  # a false detection: the place is empty
            tiles[number] = None
        known[number] = state if tiles[number] is None else known[number]
    return tuple(
        LaidOutPlace(*place, state or PlaceState.BACK, tile, quad)
        for place, state, tile, quad in zip(places, known, tiles, quads, strict=True)
    )


def stand_tiles_up(found: Detections, marks: tuple[TileMark | None, ...], layout: TableLayout) -> TableLayout:
    """Return the layout with tiles turned over where their marks, decided after it was made, say so."""
    positions = tuple(
        position.turned_over() if mark is not None and mark.turned is (not position.is_turned(tile)) else position
        for tile, position, mark in zip(found.tiles, layout.positions, marks, strict=True)
    )
    return replace(layout, positions=positions)


def _judge_gaps(known: list[PlaceState | None], unsure: list[int], evidence: GapEvidence) -> dict[int, PlaceState]:
    """Return what each of the `unsure` places holds, judged by the places that are known to hold backs."""
    backs = [number for number, state in enumerate(known) if state is PlaceState.BACK and number not in unsure]
    near = np.array(backs, dtype=int)
    return {number: judge_gap(evidence, number, near, found=known[number] is not None) for number in unsure}


def _tile_position(seen: _TileEvidence, number: int, mark: TileMark | None, place: _TileOnPlace | None) -> TilePosition:
    """Return how a tile lies; if its mark does not show which way up it is, it is assumed to stand as its tray does."""
    turned = mark.turned if mark is not None else None
    upside_down = bool(turned if turned is not None else place is not None and np.cos(place.angle) < 0)
    quad = seen.quads[number][[2, 3, 0, 1]] if upside_down else seen.quads[number]
    rotation = (seen.rotations[number] + (HALF_TURN if upside_down else 0)) % 360
    covered, odd = seen.covered[number], seen.odd_colour[number]
    if place is None:
        return TilePosition(quad, rotation, covered=covered, odd_colour=odd)
    turn = float(np.degrees(place.angle)) + (HALF_TURN if upside_down else 0)
    askew = abs((turn + 90) % HALF_TURN - 90) > _ASKEW
    return TilePosition(quad, rotation, place.seat, *place.place, round(turn / 90) % 4 * 90, askew, covered, odd)
