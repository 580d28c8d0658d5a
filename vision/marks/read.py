"""The marks of all tiles of a picture, whichever kind they are, and which of them count.

What is unsure, ambiguous or there twice is not read; faces and things that are no tiles have no mark. Some numbers
read as a serial both ways up (060 and 090, 001 and 100): a bar under a number decides, or the spot of the mark on the
tile, or the way the other tiles of its tray stand; otherwise they are left open.
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
from vision.marks.shapes import like_others, says_number, unlike_others
from vision.reading import HALF_TURN
from vision.trays import way_votes

_SIZE = (58, 84)  # pixels, width and height, of the window about the digits
_REACH = (1.45, 2.1)  # how far it reaches from the middle digit, in steps from digit to digit
_ROWS = (np.arange(_SIZE[1]) - (_SIZE[1] - 1) / 2) * 2 * _REACH[1] / _SIZE[1]  # where each row is, in such steps
# In such steps: low digits end at 0.6, tall ones with their bar at 1.9.
_EDGE, _SHORT, _TALL, _FAR = 0.6, 0.75, 0.9, 1.9
_DIGITS = np.abs(_ROWS) < _SHORT
_PLAIN = (np.abs(_ROWS) > _TALL) & (np.abs(_ROWS) < _FAR)  # mostly bare plastic
_UNDER, _OVER = ((sign * _ROWS > _EDGE) & (sign * _ROWS < _FAR) for sign in (1, -1))
_LEANS = (-0.06, -0.03, 0.0, 0.03, 0.06)  # slopes of a bar against the digits' line
_ENDS = 5  # pixels of the window left and right that a bar may leave bare
_BARE = 15  # percent of a bar's length that may be worn off
_INSIDE = (8.0, 72.0, 10.0, 102.0)  # of a crop: left, right, top, bottom; the tile's edge beyond looks like a bar
_NO_BAR, _BAR = 0.25, 0.65  # difference in ink between under and over that tells nothing, and that tells most
_MOST_BAR_ODDS = np.log(250)  # log-odds of the latter: one tile in 300 without a bar shows as much
_LEAST_STEP = 4.0  # pixels from digit to digit

Inks = NDArray[np.float64]


def bar_odds(crop: Picture, places: Points) -> float:
    """Return the log-odds that a number stands as its crop does, by a bar under it; below 0 where the bar is over it.

    `crop`, shape (112, 80, 3), is a back as `cut_backs` gives it, `places`, shape (3, 2), where its digits are, pixels.
    """
    step = (places[2] - places[0]) / 2
    if np.hypot(*step) < _LEAST_STEP:
        return 0.0
    window = cut_level(crop, places.mean(axis=0), step, _REACH, _SIZE, (0, 0)).astype(np.float64)
    under, over = _inkiest(_inks(window), _is_inside(places, step))
    strength = (abs(under - over) - _NO_BAR) / (_BAR - _NO_BAR)
    return float(np.sign(under - over) * _MOST_BAR_ODDS * np.clip(strength, 0, 1))


def _inks(window: Inks) -> Inks:
    """Return how much like the digits' ink each pixel is: 0 bare plastic, 1 ink; shape as the window's first two."""
    away = window - np.median(window[_PLAIN].reshape(-1, 3), axis=0)
    band = away[_DIGITS].reshape(-1, 3)
    ink = away @ np.linalg.svd(band[::2], full_matrices=False)[2][0]
    low, high = np.percentile(ink[_DIGITS], [8, 92])
    return np.asarray(-ink / max(-low, 1e-3) if -low > high else ink / max(high, 1e-3))


def _is_inside(places: Points, step: Points) -> NDArray[np.bool_]:
    """Tell for each row of the window whether a bar there would lie well on the tile."""
    down = np.array([-step[1], step[0]])
    ends = places.mean(axis=0) + _ROWS[:, None, None] * down + np.array([-1.1, 1.1])[:, None] * step
    left, right, top, bottom = _INSIDE
    x, y = ends[..., 0], ends[..., 1]
    return np.asarray(((x > left) & (x < right) & (y > top) & (y < bottom)).all(axis=1))


def _inkiest(inks: Inks, inside: NDArray[np.bool_]) -> tuple[float, float]:
    """Return how inky the inkiest line under and over the digits is from end to end; what is inkier is no ink."""
    best = np.zeros(2)
    for lean in _LEANS:
        shear = np.array([[1, 0, 0], [lean, 1, -lean * _SIZE[0] / 2]])
        level = cv2.blur(cv2.warpAffine(inks, shear, _SIZE, borderMode=cv2.BORDER_REPLICATE), (5, 1))
        line = np.percentile(level[:, _ENDS:-_ENDS], _BARE, axis=1)
        line = np.minimum(line, 2 - line)
        best = np.maximum(best, [line[side & inside].max(initial=0.0) for side in (_UNDER, _OVER)])
    return float(best[0]), float(best[1])


_FEWEST_SPOTS = 4  # other marks that make a usual spot
_SPOT_SCALE = 0.012
_FREEDOM = 4.0
_UPSIDE_DOWN = 1 / 40


def spot_odds(tile: int, marks: tuple[TileMark | None, ...]) -> float:
    """Return the log-odds by where the mark sits on the tile, against the other marks of the picture."""
    mark = marks[tile]
    others = [one.spot for number, one in enumerate(marks) if number != tile and one is not None and _knows_spot(one)]
    if mark is None or not _knows_spot(mark) or len(others) < _FEWEST_SPOTS:
        return 0.0
    spots = np.array(others)
    usual = np.median(spots, axis=0)
    deviation = 1.4826 * np.median(np.abs(spots - usual), axis=0)  # sigma from the median
    scale = np.maximum(deviation, _SPOT_SCALE)
    return _fit(mark.spot, usual, scale) - _fit(-mark.spot, usual, scale)


def neighbour_odds(tile: int, layout: TableLayout, marks: tuple[TileMark | None, ...]) -> float:
    """Return the log-odds, by how the other tiles of its tray stand, that a tile stands as its position says.

    That is how its mark was read; where the mark did not tell, how the tray stands. 0.0 for a tile in no tray.
    """
    if layout.positions[tile].sideways or marks[tile] is None:
        return 0.0
    votes = way_votes(*_alike_and_against(tile, layout, marks))
    same = 1 / (1 + (_UPSIDE_DOWN / (1 - _UPSIDE_DOWN)) ** votes)  # the tray stands as this tile does
    stands = same * (1 - _UPSIDE_DOWN) + (1 - same) * _UPSIDE_DOWN
    return float(np.log(stands / (1 - stands)))


def _alike_and_against(tile: int, layout: TableLayout, marks: tuple[TileMark | None, ...]) -> tuple[int, int]:
    """Return how many marks of a tile's tray stand as it lies, and how many the other way; none for one in no tray."""
    position = layout.positions[tile]
    turns = [
        other.turn
        for number, (other, mark) in enumerate(zip(layout.positions, marks, strict=True))
        if number != tile
        and None not in {other.row, position.row}
        and other.seat == position.seat
        and mark
        and _stands(mark)
    ]
    return turns.count(position.turn), turns.count((position.turn + HALF_TURN) % 360)


def _knows_spot(mark: TileMark) -> bool:
    """Return whether a mark that counts tells where marks sit as they stand themselves."""
    return _stands(mark) and bool(np.isfinite(mark.spot).all())


def _stands(mark: TileMark) -> bool:
    """Return whether a mark tells how tiles stand: only one whose serial counts.

    A maker's sign may turn a whole set upside down, but then hardly a number of it is a serial.
    """
    return mark.serial is not None and mark.turned is not None


def _fit(spot: Points, usual: Points, scale: Points) -> float:
    """Return the log-likelihood of a spot, up to a constant."""
    return float((-(_FREEDOM + 1) / 2 * np.log1p(((spot - usual) / scale) ** 2 / _FREEDOM)).sum())


_ENOUGH_ODDS = np.log(100)
_CONTRADICTORY = 4  # where more than one mark in so many of a tray stands against the rest, none tells its own way up
_BARRED = {60, 90}  # the only pair whose numbers have a bar
_READ_ODDS = np.log(1000)  # log-odds of a serial that its own mark tells: some are misread


@dataclass(frozen=True, slots=True, eq=False)
class _UprightClaim:
    """What one tile says if it stands as it seems to lie, and the log-odds that it does."""

    serial: int
    odds: float
    strange: bool  # of another set


TileMarks = tuple[TileMark | None, ...]  # one for each tile found; None for faces


def decide_ambiguous(picture: Picture, found: Detections, marks: TileMarks, layout: TableLayout) -> TileMarks:
    """Return marks in which those that read both ways up have one serial, where the odds for it are 100 to 1."""
    settled, bars = list(marks), _bars(picture, found, marks)
    claims = {
        number: _claim(
            number, mark, marks, layout, turned=layout.positions[number].is_turned(tile), bar=bars.get(number, 0.0)
        )
        for number, (tile, mark) in enumerate(zip(found.tiles, marks, strict=True))
        if mark is not None and mark.said
    }
    for number, mark in enumerate(marks):
        if mark is None or mark.either is None:
            continue
        odds = claims[number].odds + _odds_of_others(number, mark.either, claims)
        if abs(odds) > _ENOUGH_ODDS:
            is_turned = layout.positions[number].is_turned(found.tiles[number])
            settled[number] = stand_mark_up(mark, turned=is_turned if odds > 0 else not is_turned)
    return tuple(settled)


def _bars(picture: Picture, found: Detections, marks: TileMarks) -> dict[int, float]:
    """Return the log-odds of each 060 or 090 standing as its outline begins, by a bar."""
    numbers = [number for number, mark in enumerate(marks) if mark is not None and mark.said == _BARRED]
    crops = cut_backs(picture, [found.tiles[number].quad for number in numbers])
    places = (digit_places(mark) for mark in marks if mark is not None and mark.said == _BARRED)
    return {number: bar_odds(crop, its) for number, crop, its in zip(numbers, crops, places, strict=True)}


def _claim(
    number: int, mark: TileMark, marks: TileMarks, layout: TableLayout, *, turned: bool, bar: float
) -> _UprightClaim:
    strange = layout.positions[number].strange
    if mark.either is None:
        return _UprightClaim(mark.serial or 0, _READ_ODDS, strange)
    trial = stand_mark_up(mark, turned=turned)
    spots = spot_odds(number, (*marks[:number], trial, *marks[number + 1 :]))
    alike = _alike_and_against(number, layout, marks)
    shown = bar + (mark.way_odds if _CONTRADICTORY * min(alike) <= sum(alike) else 0.0)
    odds = neighbour_odds(number, layout, marks) + spots + (-shown if turned else shown)
    return _UprightClaim(trial.serial or 0, odds, strange)


def _odds_of_others(number: int, pair: tuple[int, int], claims: dict[int, _UprightClaim]) -> float:
    """Return what other tiles that say one of the same pair add to a claim: it cannot be the same one."""
    mine = claims[number]
    others = [one for at, one in claims.items() if at != number and one.serial in pair and one.strange == mine.strange]
    return sum(one.odds if one.serial != mine.serial else -one.odds for one in others)


SURE = 0.95  # confidence from which a serial counts: how it was chosen is told in docs/vision-measured.md
_FEWEST_BACKS, _FEWEST_READ = 10, 0.2  # backs of a picture, and the share of them, from which numbers count at all
_FEW_READ, _SUREST = 1 / 3, 0.995  # share below which this is needed: some numbers are others in a mirror
_MADE_OUT, _SURER = 0.5, 0.975  # half of what is made out, by half, has to be sure; else this confidence is needed
_LIKELY = 0.8  # confidence from which a number counts that looks like the others
_MANY_REPEATED = 5  # serials there twice: of tiles at most one was, in 550 pictures; of the prints of one cloth 29
_ALL_SIDES = 4  # of 699 loose tiles 695 show an edge on all sides, of 79 numbers on printed pages one
_DUPLICATE_OVERLAP = 0.6  # of a tile's width


def is_sure(mark: TileMark | None) -> bool:
    """Return whether a mark says a serial, or one of two, surely enough."""
    return mark is not None and mark.confidence >= SURE and bool(mark.said)


def withhold_unsure(marks: TileMarks) -> TileMarks:
    """Take the serial from every mark that is not sure enough."""
    return _withheld(marks, lambda _, mark: mark.confidence < SURE)


def without_strays(marks: TileMarks, strays: frozenset[int]) -> TileMarks:
    """Take the serial from what is no tile: no other tile may be doubted because a card says the same."""
    return _withheld(marks, lambda number, _: number in strays)


def drop_duplicate_tiles(found: Detections, marks: TileMarks) -> tuple[Detections, TileMarks]:
    """Of tiles that say the same and lie on one another keep the surest: the finder saw one tile twice."""
    kept: list[int] = []
    surer: dict[int, list[int]] = defaultdict(list)  # by what they say
    for number in sorted(range(len(marks)), key=lambda one: -_confidence(marks[one])):
        mark = marks[number]
        if mark is not None and mark.serial is not None:
            if any(_lie_on_one_another(found.tiles[number], found.tiles[other]) for other in surer[mark.serial]):
                continue
            surer[mark.serial].append(number)
        kept.append(number)
    kept.sort()
    return replace(found, tiles=tuple(found.tiles[one] for one in kept)), tuple(marks[one] for one in kept)


def _confidence(mark: TileMark | None) -> float:
    return mark.confidence if mark is not None else 0.0


def _lie_on_one_another(tile: DetectedTile, surer: DetectedTile) -> bool:
    apart = np.linalg.norm(surer.quad.mean(axis=0) - tile.quad.mean(axis=0))
    return bool(apart < _DUPLICATE_OVERLAP * np.linalg.norm(surer.quad[1] - surer.quad[0]))


def withhold_repeated_serials(marks: TileMarks, strange: Sequence[bool]) -> TileMarks:
    """Take the serial from marks that name one tile of one set more than once: there is one of each.

    `strange` tells of each tile whether its back's colour is that of another set, for marks that name none.
    """
    named = [
        (mark.set_text, mark.set_text is None and other, mark.serial) if mark is not None and mark.serial else None
        for mark, other in zip(marks, strange, strict=True)
    ]
    times = Counter(named)
    return tuple(
        replace(mark, serial=None, clash=mark.serial) if mark is not None and name and times[name] > 1 else mark
        for mark, name in zip(marks, named, strict=True)
    )


def withhold_prints(marks: TileMarks) -> TileMarks:
    """Take all serials where many were there twice: they are printed on something else, such as a cloth."""
    if len({mark.clash for mark in marks if mark is not None and mark.clash is not None}) < _MANY_REPEATED:
        return marks
    return _withheld(marks, lambda *_: True)


def withhold_print_on_paper(picture: Picture, found: Detections, marks: TileMarks, loose: frozenset[int]) -> TileMarks:
    """Take the serial from numbers on what is `loose` and lacks an edge on some side, unless most of these have all.

    What lies beside others hides edges of a few; a page is one thing, on which no number has any of its own.
    """
    asked = [number for number in loose if (mark := marks[number]) is not None and says_number(mark)]
    sides = sides_with_edges(cut_backs(picture, [found.tiles[number].quad for number in asked]))
    printed = {number for number, edges in zip(asked, sides, strict=True) if edges < _ALL_SIDES}
    if 2 * len(printed) < len(asked):
        return marks
    return _withheld(marks, lambda number, _: number in printed)


def withhold_few(marks: TileMarks) -> TileMarks:
    """Take the serial from printed numbers where few of a picture's backs are read; where most are doubted, too.

    How often a sure number is wrong was measured where most are read. A print of which many are doubted, worn away or
    written by hand, is not of that kind, nor is a picture in a mirror: what seems sure of it is mostly what has become
    like another. The surest still count, but for pictures of which hardly anything is read.
    """
    backs = [mark for mark in marks if mark is not None]
    made_out = sum(mark.confidence >= _MADE_OUT for mark in backs)
    least = SURE if sum(bool(mark.said) for mark in backs) >= _MADE_OUT * made_out else _SURER
    read = sum(bool(mark.said) and (mark.confidence >= least or np.isnan(mark.pitch)) for mark in backs)
    if len(backs) < _FEWEST_BACKS:
        return marks
    if read < _FEW_READ * len(backs):
        least = _SUREST if read >= _FEWEST_READ * len(backs) else np.inf
    return _withheld(marks, lambda _, mark: isfinite(mark.pitch) and mark.confidence < least)


def withhold_upside_down(marks: TileMarks, against: frozenset[int]) -> TileMarks:
    """Take the serial from printed numbers in doubt that stand the other way up than their tray: a worn 4 is a 7 so."""
    return _withheld(
        marks, lambda number, mark: number in against and isfinite(mark.pitch) and mark.confidence < BEYOND_DOUBT
    )


def withhold_unlike(picture: Picture, found: Detections, marks: TileMarks, loose: frozenset[int]) -> TileMarks:
    """Take the serial from numbers that are in doubt and of which a digit looks more like the picture's other ones.

    And from numbers of another print on what is `loose`: it may be no tile.
    """
    unlike = unlike_others(picture, found.tiles, marks, loose)
    return _withheld(marks, lambda number, _: number in unlike)


def count_alike(
    picture: Picture, found: Detections, said: TileMarks, settled: TileMarks, strays: frozenset[int]
) -> TileMarks:
    """Return marks in which a doubted number has its serial where its digits look like those of the other tiles.

    `said` are the marks before anything was withheld. What is no tile, and a serial that another tile says, stays out.
    """
    there = {serial for mark in settled if mark is not None for serial in (mark.clash, *mark.said)}
    doubted = {
        number: mark
        for number, (mark, now) in enumerate(zip(said, settled, strict=True))
        if mark is not None and now is not None and says_number(mark) and mark.confidence >= _LIKELY
        if number not in strays and not now.said and mark.serial not in there
    }
    alike = like_others(picture, found.tiles, settled, doubted)
    times = Counter(doubted[number].serial for number in alike)
    counted = {number: doubted[number] for number in alike if times[doubted[number].serial] == 1}
    return tuple(
        replace(counted[number], confidence=max(SURE, counted[number].confidence)) if number in counted else mark
        for number, mark in enumerate(settled)
    )


def stand_mark_up(mark: TileMark, *, turned: bool) -> TileMark:
    """Return a mark that reads as a serial both ways up the one that it has when it stands so."""
    if mark.either is None:
        return mark
    serial = mark.either[turned]
    rivals = tuple(rival for rival in mark.rivals if rival in near_serials(serial))
    spot = -mark.spot if turned else mark.spot
    return replace(mark, serial=serial, turned=turned, spot=spot, either=None, rivals=rivals)


def _withheld(marks: TileMarks, doubted: Callable[[int, TileMark], bool]) -> TileMarks:
    """Return marks in which those that are doubted, by their numbers and what they say, have no serial."""
    return tuple(
        replace(mark, serial=None, either=None) if mark is not None and doubted(number, mark) else mark
        for number, mark in enumerate(marks)
    )


_FEW = 0.2  # share of the tiles: fewer numbers than these, and what is there may be labels that are hard to see
_SIDEWAYS = 6  # tiles of a picture that are tried on their side
_FACE_ALONE = 0.9  # share of a face from which one is believed where nothing else is made out
_TILE_SURE = 0.95  # likelihood of a tile from which its outline is rather wrong than that there is none
_BLANK = 0.3  # confidence below which nothing is made out at all
_TOLD_FROM_LABEL = 0.8  # share of a face, of a number or of nothing from which no label is looked for
_SURELY_MARKED = 0.5  # share from which a face is a face and nothing nothing
_MARKED_TWICE = 0.3  # the same where the finder agrees


CheckMarks = Callable[[Picture, Sequence[Quad], Sequence[TileMark]], list[TileMark]]
"""What compares marks with the pictures of an enrolled set's tiles, by the outlines along which they were read."""


def read_marks(picture: Picture, found: Detections, check: CheckMarks | None = None) -> tuple[Detections, TileMarks]:
    """Read all tiles; gives those that are there, and the mark of each, None for those face up."""
    quads = [tile.quad for tile in found.tiles]
    marks, looks = _read(picture, quads)
    if len(looks) == len(quads):
        _try_on_their_side(picture, quads, marks, looks)
    marks = check(picture, quads, marks) if check else marks
    doubted = [number for number, mark in enumerate(marks) if not is_sure(mark)]
    looks |= _looks(picture, quads, [number for number in doubted if number not in looks])
    _see_faces_on_their_side(picture, found, quads, doubted, looks)
    tiles = {
        number: DetectedTile(quad, face_up=False, likelihood=found.tiles[number].likelihood)
        for number, quad in enumerate(quads)
    }
    alone = len(doubted) == len(tiles)
    for number in doubted:
        tiles[number] = replace(tiles[number], face_up=_is_face(found.tiles[number], looks[number]))
        if _is_nothing(found.tiles[number], looks[number], alone=alone):
            del tiles[number]
    there = tuple(None if tile.face_up else marks[number] for number, tile in tiles.items())
    return replace(found, tiles=tuple(tiles.values())), there


@dataclass(frozen=True, slots=True, eq=False)
class FirstLooks:
    """Tiles cut out along outlines, and what a quick look says of each."""

    quads: Sequence[Quad]
    crops: Picture  # shape (n, 112, 80, 3)
    looks: Sequence[DigitLook]

    @property
    def shares_of_marks(self) -> list[float]:
        """How likely a number or a label stands in each outline, upright or upside down."""
        return [float(look.kind[[NUMBER, LABEL]].sum()) for look in self.looks]

    def chosen(self, numbers: Sequence[int]) -> "FirstLooks":
        """Return some of them."""
        return FirstLooks([self.quads[at] for at in numbers], self.crops[numbers], [self.looks[at] for at in numbers])


def first_looks(picture: Picture, quads: Sequence[Quad]) -> FirstLooks:
    """Look at some outlines, once."""
    crops = cut_backs(picture, quads)
    return FirstLooks(quads, crops, look_at_crops(crops))


def read_again(
    picture: Picture, first: FirstLooks, marks: TileMarks, check: CheckMarks | None = None
) -> list[TileMark | None]:
    """Read some tiles along better outlines, as labels or as numbers, as the picture's `marks` are; None for a face."""
    quads = first.quads
    labels = [mark for mark in marks if mark is not None and (mark.set_text or "").isdigit()]
    looks = look_at_crops_closely(first.crops, first.looks)
    again = read_labels(picture, quads, before=labels) if labels else [look.mark for look in looks]
    again = check(picture, quads, again) if check else again
    return [
        mark if is_sure(mark) or look.kind[FACE] < _SURELY_MARKED else None
        for mark, look in zip(again, looks, strict=True)
    ]


def _read(picture: Picture, quads: Sequence[Quad]) -> tuple[list[TileMark], dict[int, DigitLook]]:
    """Read labels or numbers; also what the network saw, where it was asked."""
    looks: dict[int, DigitLook] = {}

    def dismiss(numbers: list[int]) -> set[int]:
        looks.update(_looks(picture, quads, [number for number in numbers if number not in looks]))
        return {number for number in numbers if looks[number].kind[[FACE, NOTHING, NUMBER]].sum() > _TOLD_FROM_LABEL}

    if is_labelled(picture, quads):
        return read_labels(picture, quads, dismiss), looks
    looks.update(_looks(picture, quads, list(range(len(quads)))))
    numbers = [look.mark for look in looks.values()]
    if _sure(numbers) < _FEW * len(quads):
        likely = [quad for quad, look in zip(quads, looks.values(), strict=True) if look.kind[LABEL] > _SURELY_MARKED]
        # As are labels on a corner, from afar.
        blank = sum(look.kind[BLANK] > _SURELY_MARKED for look in looks.values())
        if is_labelled_closely(picture, likely or quads, askew=2 * blank > len(quads)):
            numbers = max(numbers, read_labels(picture, quads, dismiss), key=_sure)
    return numbers, looks


def _looks(picture: Picture, quads: Sequence[Quad], numbers: list[int]) -> dict[int, DigitLook]:
    cuts = cut_backs(picture, [quads[number] for number in numbers])
    return dict(zip(numbers, look_at_crops_closely(cuts), strict=True))


def _try_on_their_side(picture: Picture, quads: list[Quad], marks: list[TileMark], looks: dict[int, DigitLook]) -> None:
    """Read unread tiles with long and short ends exchanged, as the finder may have them, where a tile seems to be."""
    unread = [number for number, mark in enumerate(marks) if mark.confidence < _BLANK]
    left = [number for number in unread if looks[number].kind[NOTHING] < _SURELY_MARKED][:_SIDEWAYS]
    turned = [np.roll(quads[number], 1, axis=0) for number in left]
    for number, quad, look in zip(left, turned, look_at_crops_closely(cut_backs(picture, turned)), strict=True):
        if is_sure(look.mark):
            quads[number], marks[number], looks[number] = quad, look.mark, look


def _see_faces_on_their_side(
    picture: Picture, found: Detections, quads: list[Quad], doubted: list[int], looks: dict[int, DigitLook]
) -> None:
    """Take for a face what shows one with long and short ends exchanged, where the finder is sure of a tile."""
    there = [number for number in doubted if found.tiles[number].likelihood > _TILE_SURE]
    left = [number for number in there if looks[number].kind[NOTHING] > _SURELY_MARKED][:_SIDEWAYS]
    turned = [np.roll(quads[number], 1, axis=0) for number in left]
    for number, quad, look in zip(left, turned, look_at_crops(cut_backs(picture, turned)), strict=True):
        if look.kind[FACE] > _FACE_ALONE:
            quads[number], looks[number] = quad, look


def _sure(marks: list[TileMark]) -> int:
    return sum(mark.serial is not None and mark.confidence >= SURE for mark in marks)


def _is_face(tile: DetectedTile, look: DigitLook) -> bool:
    return bool(look.kind[FACE] > (_MARKED_TWICE if tile.face_up else _SURELY_MARKED))


def _is_nothing(tile: DetectedTile, look: DigitLook, *, alone: bool) -> bool:
    """Whether no tile is there after all; where nothing at all was read, a blank thing is more likely no back."""
    if alone:
        return bool(look.kind[[NUMBER, LABEL]].sum() < _SURELY_MARKED and look.kind[FACE] < _FACE_ALONE)
    return bool(look.kind[NOTHING] > _SURELY_MARKED and not tile.face_up)
