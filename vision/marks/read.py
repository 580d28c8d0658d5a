"""Read the marks of all tiles in a picture, labels or numbers, and decide which of them count.

Marks that are unsure, ambiguous or repeated get no serial. Faces and detections that are not tiles have no mark. Some
numbers are serials both ways up (060 and 090, 001 and 100). A bar under the number decides which one it is, or the spot
of the mark on the tile, or the way the other tiles of its tray stand; otherwise it stays undecided.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.finder import DetectedTile, Detections
from vision.geometry import Picture, Points, Quad
from vision.layout import TableLayout
from vision.marks import TileMark
from vision.marks.digits import (
    BEYOND_DOUBT,
    BLANK,
    FACE,
    LABEL,
    NOTHING,
    NUMBER,
    DigitLook,
    cut_backs,
    cut_level,
    digit_places,
    look_at_crops,
    look_at_crops_closely,
    near_serials,
    sides_with_edges,
)
from vision.marks.label import is_labelled, is_labelled_closely, read_labels
from vision.marks.shapes import is_number, like_others, unlike_others
from vision.reading import HALF_TURN
from vision.trays import orientation_votes

_SIZE = (58, 84)  # pixels, width and height, of the window around the digits
_REACH = (1.45, 2.1)  # how far it reaches from the middle digit, in steps from digit to digit
_ROWS = (np.arange(_SIZE[1]) - (_SIZE[1] - 1) / 2) * 2 * _REACH[1] / _SIZE[1]  # offset of each row, in steps
# In steps: low digits end at 0.6, tall ones with their bar at 1.9.
_EDGE, _SHORT, _TALL, _FAR = 0.6, 0.75, 0.9, 1.9
_DIGITS = np.abs(_ROWS) < _SHORT
_PLAIN = (np.abs(_ROWS) > _TALL) & (np.abs(_ROWS) < _FAR)  # mostly bare plastic
_UNDER, _OVER = ((sign * _ROWS > _EDGE) & (sign * _ROWS < _FAR) for sign in (1, -1))
_LEANS = (-0.06, -0.03, 0.0, 0.03, 0.06)  # slopes of a bar against the digits' line
_ENDS = 5  # pixels at the left and right of the window that a bar need not cover
_BARE = 15  # percent of a bar's length that may be worn off
_INSIDE = (8.0, 72.0, 10.0, 102.0)  # pixels of a crop: left, right, top, bottom; beyond, the edge looks like a bar
_NO_BAR, _BAR = 0.25, 0.65  # difference in ink between below and above: up to this no evidence, from this the most
_MOST_BAR_ODDS = np.log(250)  # log-odds of the largest difference, which one tile in 300 without a bar shows
_LEAST_STEP = 4.0  # pixels from digit to digit

Inks = NDArray[np.float64]


def bar_odds(crop: Picture, places: Points) -> float:
    """Return the log-odds, from a bar below it, that a number is upright in its crop; negative for a bar above it.

    `crop`, shape (112, 80, 3), is a back from `cut_backs`; `places`, shape (3, 2), is where its digits are, pixels.
    """
    step = (places[2] - places[0]) / 2
    if np.hypot(*step) < _LEAST_STEP:
        return 0.0
    window = cut_level(crop, places.mean(axis=0), step, _REACH, _SIZE, (0, 0)).astype(np.float64)
    under, over = _inkiest(_inks(window), _is_inside(places, step))
    strength = (abs(under - over) - _NO_BAR) / (_BAR - _NO_BAR)
    return float(np.sign(under - over) * _MOST_BAR_ODDS * np.clip(strength, 0, 1))


def _inks(window: Inks) -> Inks:
    """Return how much each pixel of a window looks like ink, shape (height, width): 0 for bare plastic, 1 for ink."""
    away = window - np.median(window[_PLAIN].reshape(-1, 3), axis=0)
    band = away[_DIGITS].reshape(-1, 3)
    ink = away @ np.linalg.svd(band[::2], full_matrices=False)[2][0]
    low, high = np.percentile(ink[_DIGITS], [8, 92])
    return np.asarray(-ink / max(-low, 1e-3) if -low > high else ink / max(high, 1e-3))


def _is_inside(places: Points, step: Points) -> NDArray[np.bool_]:
    """Return for each row of the window whether a bar there would lie well on the tile."""
    down = np.array([-step[1], step[0]])
    ends = places.mean(axis=0) + _ROWS[:, None, None] * down + np.array([-1.1, 1.1])[:, None] * step
    left, right, top, bottom = _INSIDE
    x, y = ends[..., 0], ends[..., 1]
    return np.asarray(((x > left) & (x < right) & (y > top) & (y < bottom)).all(axis=1))


def _inkiest(inks: Inks, inside: NDArray[np.bool_]) -> tuple[float, float]:
    """Return how much ink the inkiest line below the digits has along its length, and the one above them.

    Pixels darker than ink count less again, as they are something else.
    """
    best = np.zeros(2)
    for lean in _LEANS:
        shear = np.array([[1, 0, 0], [lean, 1, -lean * _SIZE[0] / 2]])
        level = cv2.blur(cv2.warpAffine(inks, shear, _SIZE, borderMode=cv2.BORDER_REPLICATE), (5, 1))
        line = np.percentile(level[:, _ENDS:-_ENDS], _BARE, axis=1)
        line = np.minimum(line, 2 - line)
        best = np.maximum(best, [line[side & inside].max(initial=0.0) for side in (_UNDER, _OVER)])
    return float(best[0]), float(best[1])


_FEWEST_SPOTS = 4  # other marks needed to know the usual spot
_SPOT_SCALE = 0.012
_FREEDOM = 4.0
_UPSIDE_DOWN = 1 / 40


def spot_odds(tile: int, marks: tuple[TileMark | None, ...]) -> float:
    """Return the log-odds that a mark is upright, from its spot on the tile compared with the picture's other marks."""
    mark = marks[tile]
    others = [one.spot for number, one in enumerate(marks) if number != tile and one is not None and _knows_spot(one)]
    if mark is None or not _knows_spot(mark) or len(others) < _FEWEST_SPOTS:
        return 0.0
    spots = np.array(others)
    usual = np.median(spots, axis=0)
    deviation = 1.4826 * np.median(np.abs(spots - usual), axis=0)  # sigma from the median
    scale = np.maximum(deviation, _SPOT_SCALE)
    return _log_likelihood(mark.spot, usual, scale) - _log_likelihood(-mark.spot, usual, scale)


def neighbour_odds(tile: int, layout: TableLayout, marks: tuple[TileMark | None, ...]) -> float:
    """Return the log-odds, from the way up of the other tiles in its tray, that a tile stands as its position says.

    The position follows the mark if that shows which way up it is, otherwise the tray. 0.0 for a tile outside trays.
    """
    if layout.positions[tile].sideways or marks[tile] is None:
        return 0.0
    votes = orientation_votes(*_alike_and_against(tile, layout, marks))
    same = 1 / (1 + (_UPSIDE_DOWN / (1 - _UPSIDE_DOWN)) ** votes)  # the tray stands as this tile does
    upright = same * (1 - _UPSIDE_DOWN) + (1 - same) * _UPSIDE_DOWN
    return float(np.log(upright / (1 - upright)))


def _alike_and_against(tile: int, layout: TableLayout, marks: tuple[TileMark | None, ...]) -> tuple[int, int]:
    """Return how many other marks in a tile's tray stand the same way up as the tile, and how many the other way."""
    position = layout.positions[tile]
    turns = [
        other.turn
        for number, (other, mark) in enumerate(zip(layout.positions, marks, strict=True))
        if number != tile
        and None not in {other.row, position.row}
        and other.seat == position.seat
        and mark
        and _shows_way_up(mark)
    ]
    return turns.count(position.turn), turns.count((position.turn + HALF_TURN) % 360)


def _knows_spot(mark: TileMark) -> bool:
    """Return whether a mark counts and its spot is known in its own orientation."""
    return _shows_way_up(mark) and bool(np.isfinite(mark.spot).all())


def _shows_way_up(mark: TileMark) -> bool:
    """Return whether a mark shows which way up its tile is, which only a mark with a serial does.

    A maker's sign may make a whole set seem upside down, but then hardly any of its numbers is a serial.
    """
    return mark.serial is not None and mark.turned is not None


def _log_likelihood(spot: Points, usual: Points, scale: Points) -> float:
    """Return the log-likelihood of a spot, up to a constant."""
    return float((-(_FREEDOM + 1) / 2 * np.log1p(((spot - usual) / scale) ** 2 / _FREEDOM)).sum())


_ENOUGH_ODDS = np.log(100)
_MOST_CONTRADICTING = 4  # if more than one mark in this many stands against its tray, no mark's own way up counts
_BARRED = {60, 90}  # the only pair whose numbers have a bar
_READ_ODDS = np.log(1000)  # log-odds of a serial that its own mark shows; some are misread


@dataclass(frozen=True, slots=True, eq=False)
class _UprightClaim:
    """The serial of one tile if it stands as its position says, and the log-odds that it does."""

    serial: int
    odds: float
    odd_colour: bool  # whether the tile is of another set


TileMarks = tuple[TileMark | None, ...]  # one for each tile found; None for faces


def decide_ambiguous(picture: Picture, found: Detections, marks: TileMarks, layout: TableLayout) -> TileMarks:
    """Decide marks that are serials both ways up, where the odds for one of the two are at least 100 to 1."""
    decided, bars = list(marks), _bars(picture, found, marks)
    claims = {
        number: _claim(
            number, mark, marks, layout, turned=layout.positions[number].is_turned(tile), bar=bars.get(number, 0.0)
        )
        for number, (tile, mark) in enumerate(zip(found.tiles, marks, strict=True))
        if mark is not None and mark.possible_serials
    }
    for number, mark in enumerate(marks):
        if mark is None or mark.either is None:
            continue
        odds = claims[number].odds + _odds_of_others(number, mark.either, claims)
        if abs(odds) > _ENOUGH_ODDS:
            is_turned = layout.positions[number].is_turned(found.tiles[number])
            decided[number] = stand_mark_up(mark, turned=is_turned if odds > 0 else not is_turned)
    return tuple(decided)


def _bars(picture: Picture, found: Detections, marks: TileMarks) -> dict[int, float]:
    """Return the log-odds, from a bar, that each 060 or 090 is upright in its outline, by tile number."""
    numbers = [number for number, mark in enumerate(marks) if mark is not None and mark.possible_serials == _BARRED]
    crops = cut_backs(picture, [found.tiles[number].quad for number in numbers])
    places = (digit_places(mark) for mark in marks if mark is not None and mark.possible_serials == _BARRED)
    return {number: bar_odds(crop, its) for number, crop, its in zip(numbers, crops, places, strict=True)}


def _claim(
    number: int, mark: TileMark, marks: TileMarks, layout: TableLayout, *, turned: bool, bar: float
) -> _UprightClaim:
    odd = layout.positions[number].odd_colour
    if mark.either is None:
        return _UprightClaim(mark.serial or 0, _READ_ODDS, odd)
    trial = stand_mark_up(mark, turned=turned)
    spots = spot_odds(number, (*marks[:number], trial, *marks[number + 1 :]))
    alike = _alike_and_against(number, layout, marks)
    shown = bar + (mark.upright_odds if _MOST_CONTRADICTING * min(alike) <= sum(alike) else 0.0)
    odds = neighbour_odds(number, layout, marks) + spots + (-shown if turned else shown)
    return _UprightClaim(trial.serial or 0, odds, odd)


def _odds_of_others(number: int, pair: tuple[int, int], claims: dict[int, _UprightClaim]) -> float:
    """Return the log-odds that other tiles with a serial of the same pair add: two tiles cannot have one serial."""
    mine = claims[number]
    others = [claim for owner, claim in claims.items() if owner != number and claim.odd_colour == mine.odd_colour]
    return sum(other.odds if other.serial != mine.serial else -other.odds for other in others if other.serial in pair)


SURE = 0.95  # confidence from which a serial counts; docs/vision-measured.md says how it was chosen
_FEWEST_BACKS, _FEWEST_READ = 10, 0.2  # backs needed to judge a picture; share of them that must be read
_FEW_READ, _SUREST = 1 / 3, 0.995  # if fewer are read, the confidence needed: mirrored numbers may read as others
_LEGIBLE, _SURER = 0.5, 0.975  # if fewer than half of the marks with confidence 0.5 are sure, the confidence needed
_LIKELY = 0.8  # confidence from which a number counts if it looks like the others
_MANY_REPEATED = 5  # repeated serials that show that all is print: at most 1 in 550 pictures of tiles; 29 on a cloth
_ALL_SIDES = 4  # sides with an edge; 695 of 699 loose tiles show all four, but only 1 of 79 numbers on printed pages
_DUPLICATE_OVERLAP = 0.6  # tile widths between the middles of two detections of one tile


def is_sure(mark: TileMark | None) -> bool:
    """Return whether a mark has a serial, or one of two, with enough confidence."""
    return mark is not None and mark.confidence >= SURE and bool(mark.possible_serials)


def withhold_unsure(marks: TileMarks) -> TileMarks:
    """Withhold the serial of every mark that is not sure enough."""
    return _withheld(marks, lambda _, mark: mark.confidence < SURE)


def withhold_strays(marks: TileMarks, strays: frozenset[int]) -> TileMarks:
    """Withhold the serials of detections that are not tiles, so that a card cannot clash with a tile."""
    return _withheld(marks, lambda number, _: number in strays)


def drop_duplicate_tiles(found: Detections, marks: TileMarks) -> tuple[Detections, TileMarks]:
    """Keep only the surest of overlapping tiles with the same serial: the finder detected one tile twice."""
    left: list[int] = []
    surer: dict[int, list[int]] = defaultdict(list)  # by serial
    for number in sorted(range(len(marks)), key=lambda tile: -_confidence(marks[tile])):
        mark = marks[number]
        if mark is not None and mark.serial is not None:
            if any(_lie_on_one_another(found.tiles[number], found.tiles[other]) for other in surer[mark.serial]):
                continue
            surer[mark.serial].append(number)
        left.append(number)
    left.sort()
    return replace(found, tiles=tuple(found.tiles[tile] for tile in left)), tuple(marks[tile] for tile in left)


def _confidence(mark: TileMark | None) -> float:
    return mark.confidence if mark is not None else 0.0


def _lie_on_one_another(tile: DetectedTile, surer: DetectedTile) -> bool:
    apart = np.linalg.norm(surer.quad.mean(axis=0) - tile.quad.mean(axis=0))
    return bool(apart < _DUPLICATE_OVERLAP * np.linalg.norm(surer.quad[1] - surer.quad[0]))


def withhold_repeated_serials(marks: TileMarks, odd_colours: Sequence[bool]) -> TileMarks:
    """Withhold a serial that several tiles of one set have, because a set has only one tile of each serial.

    `odd_colours` is whether each tile's back has the colour of another set, for marks that name no set.
    """
    named = [
        (mark.set_text, mark.set_text is None and other, mark.serial) if mark is not None and mark.serial else None
        for mark, other in zip(marks, odd_colours, strict=True)
    ]
    times = Counter(named)
    return tuple(
        replace(mark, serial=None, clash=mark.serial) if mark is not None and name and times[name] > 1 else mark
        for mark, name in zip(marks, named, strict=True)
    )


def withhold_prints(marks: TileMarks) -> TileMarks:
    """Withhold all serials if many are repeated: they are printed on something else, such as a cloth."""
    if len({mark.clash for mark in marks if mark is not None and mark.clash is not None}) < _MANY_REPEATED:
        return marks
    return _withheld(marks, lambda *_: True)


def withhold_print_on_paper(picture: Picture, found: Detections, marks: TileMarks, loose: frozenset[int]) -> TileMarks:
    """Withhold numbers on `loose` tiles without an edge on all sides, if at least half of the loose numbers are such.

    Of real tiles a few have edges hidden by others beside them. On a printed page no number has edges of its own.
    """
    checked = [number for number in loose if (mark := marks[number]) is not None and is_number(mark)]
    sides = sides_with_edges(cut_backs(picture, [found.tiles[number].quad for number in checked]))
    printed = {number for number, edges in zip(checked, sides, strict=True) if edges < _ALL_SIDES}
    if 2 * len(printed) < len(checked):
        return marks
    return _withheld(marks, lambda number, _: number in printed)


def withhold_if_few_read(marks: TileMarks) -> TileMarks:
    """Withhold printed numbers that are not sure enough for a picture in which few backs count, or many are doubted.

    How often a sure number is wrong was measured on pictures in which most are read. Other prints differ: in worn or
    handwritten numbers, or in a mirror, a number that seems sure has often come to look like another. The surest
    numbers still count, unless hardly anything in the picture is read.
    """
    backs = [mark for mark in marks if mark is not None]
    legible = sum(mark.confidence >= _LEGIBLE for mark in backs)
    least = SURE if sum(bool(mark.possible_serials) for mark in backs) >= _LEGIBLE * legible else _SURER
    read = sum(bool(mark.possible_serials) and (mark.confidence >= least or np.isnan(mark.pitch)) for mark in backs)
    if len(backs) < _FEWEST_BACKS:
        return marks
    if read < _FEW_READ * len(backs):
        least = _SUREST if read >= _FEWEST_READ * len(backs) else np.inf
    return _withheld(marks, lambda _, mark: isfinite(mark.pitch) and mark.confidence < least)


def withhold_upside_down(marks: TileMarks, against: frozenset[int]) -> TileMarks:
    """Withhold printed numbers in doubt that are upside down in their tray: a worn 4 may look like a 7 that way up."""
    return _withheld(
        marks, lambda number, mark: number in against and isfinite(mark.pitch) and mark.confidence < BEYOND_DOUBT
    )


def withhold_unlike(picture: Picture, found: Detections, marks: TileMarks, loose: frozenset[int]) -> TileMarks:
    """Withhold numbers in doubt if a digit resembles a rival's digit on the picture's other tiles too much.

    Also withhold numbers on `loose` detections, which may not be tiles, if their print differs from the other numbers'.
    """
    unlike = unlike_others(picture, found.tiles, marks, loose)
    return _withheld(marks, lambda number, _: number in unlike)


def restore_alike(
    picture: Picture, found: Detections, unfiltered: TileMarks, marks: TileMarks, strays: frozenset[int]
) -> TileMarks:
    """Restore the serials of doubted numbers if their digits look like the same digits on the other tiles.

    `unfiltered` is the marks before anything was withheld. Tiles in `strays`, and serials that another tile has, stay
    withheld.
    """
    taken = {serial for mark in marks if mark is not None for serial in (mark.clash, *mark.possible_serials)}
    doubted = {
        number: mark
        for number, (mark, now) in enumerate(zip(unfiltered, marks, strict=True))
        if mark is not None and now is not None and is_number(mark) and mark.confidence >= _LIKELY
        if number not in strays and not now.possible_serials and mark.serial not in taken
    }
    alike = like_others(picture, found.tiles, marks, doubted)
    times = Counter(doubted[number].serial for number in alike)
    restored = {number: doubted[number] for number in alike if times[doubted[number].serial] == 1}
    return tuple(
        replace(restored[number], confidence=max(SURE, restored[number].confidence)) if number in restored else mark
        for number, mark in enumerate(marks)
    )


def stand_mark_up(mark: TileMark, *, turned: bool) -> TileMark:
    """Return a mark with the one of its two serials that it has if it is upright in its quad, or `turned`."""
    if mark.either is None:
        return mark
    serial = mark.either[turned]
    rivals = tuple(rival for rival in mark.rivals if rival in near_serials(serial))
    spot = -mark.spot if turned else mark.spot
    return replace(mark, serial=serial, turned=turned, spot=spot, either=None, rivals=rivals)


def _withheld(marks: TileMarks, doubted: Callable[[int, TileMark], bool]) -> TileMarks:
    """Return the marks without the serials of those for which `doubted(number, mark)` is true."""
    return tuple(
        replace(mark, serial=None, either=None) if mark is not None and doubted(number, mark) else mark
        for number, mark in enumerate(marks)
    )


_FEW = 0.2  # share of tiles with sure numbers below which the tiles may have labels that are hard to see
_SIDEWAYS = 6  # tiles of a picture to try on their side
_FACE_ALONE = 0.9  # likelihood of a face that is accepted without other evidence
_TILE_SURE = 0.95  # likelihood of a tile from which its outline is more likely wrong than the tile not there
_BLANK = 0.3  # confidence below which nothing was recognised at all
_NOT_A_LABEL = 0.8  # likelihood that it is not a label (a face, a number or nothing) from which none is searched
_SURELY_MARKED = 0.5  # likelihood from which the network's kind (a face, nothing, ...) is accepted
_MARKED_TWICE = 0.3  # the same for a face if the finder saw one, too


CheckMarks = Callable[[Picture, Sequence[Quad], Sequence[TileMark]], list[TileMark]]
"""Checks marks against the pictures of an enrolled set; its arguments are a picture, the marks' outlines, the marks."""


def read_marks(picture: Picture, found: Detections, check: CheckMarks | None = None) -> tuple[Detections, TileMarks]:
    """Read all tiles; return those that really are tiles, and the mark of each, None for tiles that lie face up."""
    quads = [tile.quad for tile in found.tiles]
    marks, looks = _read(picture, quads)
    if len(looks) == len(quads):
        _try_on_their_side(picture, quads, marks, looks)
    marks = check(picture, quads, marks) if check else marks
    doubted = [number for number, mark in enumerate(marks) if not is_sure(mark)]
    looks |= _looks(picture, quads, [number for number in doubted if number not in looks])
    _accept_faces_on_their_side(picture, found, quads, doubted, looks)
    tiles = {
        number: DetectedTile(quad, face_up=False, likelihood=found.tiles[number].likelihood)
        for number, quad in enumerate(quads)
    }
    alone = len(doubted) == len(tiles)
    for number in doubted:
        tiles[number] = replace(tiles[number], face_up=_is_face(found.tiles[number], looks[number]))
        if _is_nothing(found.tiles[number], looks[number], alone=alone):
            del tiles[number]
    final = tuple(None if tile.face_up else marks[number] for number, tile in tiles.items())
    return replace(found, tiles=tuple(tiles.values())), final


@dataclass(frozen=True, slots=True, eq=False)
class FirstLooks:
    """Tiles cut out along outlines, with the first reader's result of one look at each."""

    quads: Sequence[Quad]
    crops: Picture  # shape (n, 112, 80, 3)
    looks: Sequence[DigitLook]

    @property
    def shares_of_marks(self) -> list[float]:
        """The likelihood of a number or a label in each outline, upright or upside down."""
        return [float(look.kind[[NUMBER, LABEL]].sum()) for look in self.looks]

    def select(self, numbers: Sequence[int]) -> "FirstLooks":
        """Return the entries with these indices."""
        return FirstLooks([self.quads[at] for at in numbers], self.crops[numbers], [self.looks[at] for at in numbers])


def first_looks(picture: Picture, quads: Sequence[Quad]) -> FirstLooks:
    """Cut tiles out along some outlines, and look at each once."""
    crops = cut_backs(picture, quads)
    return FirstLooks(quads, crops, look_at_crops(crops))


def read_again(
    picture: Picture, first: FirstLooks, marks: TileMarks, check: CheckMarks | None = None
) -> list[TileMark | None]:
    """Read some tiles along better outlines, as labels if `marks` has any, else as numbers; None for a face."""
    quads = first.quads
    labels = [mark for mark in marks if mark is not None and (mark.set_text or "").isdigit()]
    looks = look_at_crops_closely(first.crops, first.looks)
    again = read_labels(picture, quads, known_labels=labels) if labels else [look.mark for look in looks]
    again = check(picture, quads, again) if check else again
    return [
        mark if is_sure(mark) or look.kind[FACE] < _SURELY_MARKED else None
        for mark, look in zip(again, looks, strict=True)
    ]


def _read(picture: Picture, quads: Sequence[Quad]) -> tuple[list[TileMark], dict[int, DigitLook]]:
    """Read labels or numbers; also return the first reader's looks at the tiles for which it was run."""
    looks: dict[int, DigitLook] = {}

    def dismiss(numbers: list[int]) -> set[int]:
        looks.update(_looks(picture, quads, [number for number in numbers if number not in looks]))
        return {number for number in numbers if looks[number].kind[[FACE, NOTHING, NUMBER]].sum() > _NOT_A_LABEL}

    if is_labelled(picture, quads):
        return read_labels(picture, quads, dismiss), looks
    looks.update(_looks(picture, quads, list(range(len(quads)))))
    numbers = [look.mark for look in looks.values()]
    if _sure(numbers) < _FEW * len(quads):
        likely = [quad for quad, look in zip(quads, looks.values(), strict=True) if look.kind[LABEL] > _SURELY_MARKED]
        # Labels stuck on as diamonds look blank from afar.
        blank = sum(look.kind[BLANK] > _SURELY_MARKED for look in looks.values())
        if is_labelled_closely(picture, likely or quads, askew=2 * blank > len(quads)):
            numbers = max(numbers, read_labels(picture, quads, dismiss), key=_sure)
    return numbers, looks


def _looks(picture: Picture, quads: Sequence[Quad], numbers: list[int]) -> dict[int, DigitLook]:
    cuts = cut_backs(picture, [quads[number] for number in numbers])
    return dict(zip(numbers, look_at_crops_closely(cuts), strict=True))


def _try_on_their_side(picture: Picture, quads: list[Quad], marks: list[TileMark], looks: dict[int, DigitLook]) -> None:
    """Read unread tiles again with long and short sides exchanged, as the finder may have confused them."""
    unread = [number for number, mark in enumerate(marks) if mark.confidence < _BLANK]
    left = [number for number in unread if looks[number].kind[NOTHING] < _SURELY_MARKED][:_SIDEWAYS]
    turned = [np.roll(quads[number], 1, axis=0) for number in left]
    for number, quad, look in zip(left, turned, look_at_crops_closely(cut_backs(picture, turned)), strict=True):
        if is_sure(look.mark):
            quads[number], marks[number], looks[number] = quad, look.mark, look


def _accept_faces_on_their_side(
    picture: Picture, found: Detections, quads: list[Quad], doubted: list[int], looks: dict[int, DigitLook]
) -> None:
    """Accept a face that shows with long and short sides exchanged, if the finder is sure that there is a tile."""
    likely = [number for number in doubted if found.tiles[number].likelihood > _TILE_SURE]
    left = [number for number in likely if looks[number].kind[NOTHING] > _SURELY_MARKED][:_SIDEWAYS]
    turned = [np.roll(quads[number], 1, axis=0) for number in left]
    for number, quad, look in zip(left, turned, look_at_crops(cut_backs(picture, turned)), strict=True):
        if look.kind[FACE] > _FACE_ALONE:
            quads[number], looks[number] = quad, look


def _sure(marks: list[TileMark]) -> int:
    return sum(mark.serial is not None and mark.confidence >= SURE for mark in marks)


def _is_face(tile: DetectedTile, look: DigitLook) -> bool:
    return bool(look.kind[FACE] > (_MARKED_TWICE if tile.face_up else _SURELY_MARKED))


def _is_nothing(tile: DetectedTile, look: DigitLook, *, alone: bool) -> bool:
    """Return whether there is no tile after all; if nothing in the picture was read (`alone`), blank ones are none."""
    if alone:
        return bool(look.kind[[NUMBER, LABEL]].sum() < _SURELY_MARKED and look.kind[FACE] < _FACE_ALONE)
    return bool(look.kind[NOTHING] > _SURELY_MARKED and not tile.face_up)
