"""Numbers that read as a serial both ways up (060 and 090, 001 and 100): decide, or leave them open.

A bar under a number tells, the spot of the mark on the tile tells, and the way the other tiles of its tray stand.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detections import Detections, TableLayout, TileMark
from vision.geometry import Picture, Points
from vision.marks.digits import cut_backs, look_at_crops
from vision.marks.read import TileMarks, stand_mark_up
from vision.reading import HALF_TURN

_SIZE = (58, 84)  # pixels, width and height, of the window about the digits
_REACH = (1.45, 2.1)  # how far it reaches from the middle digit, in steps from digit to digit
_ROWS = (np.arange(_SIZE[1]) - (_SIZE[1] - 1) / 2) * 2 * _REACH[1] / _SIZE[1]  # where each row is, in such steps
_EDGE, _SHORT, _TALL, _FAR = (
    0.6,
    0.75,
    0.9,
    1.9,
)  # in such steps: low digits end at 0.6, tall ones with their bar at 1.9
_DIGITS = np.abs(_ROWS) < _SHORT
_PLAIN = (np.abs(_ROWS) > _TALL) & (np.abs(_ROWS) < _FAR)  # mostly bare plastic
_UNDER, _OVER = ((sign * _ROWS > _EDGE) & (sign * _ROWS < _FAR) for sign in (1, -1))
_LEANS = (-0.06, -0.03, 0.0, 0.03, 0.06)  # slopes of a bar against the digits' line
_ENDS = 5  # pixels of the window left and right that a bar may leave bare
_BARE = 15  # percent of a bar's length that may be worn off
_INSIDE = (
    8.0,
    72.0,
    10.0,
    102.0,
)  # of a crop: left, right, top, bottom; the tile's edge lies outside and looks like a bar
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
    under, over = _inkiest(_inks(_window(crop, places)), _is_inside(places, step))
    strength = (abs(under - over) - _NO_BAR) / (_BAR - _NO_BAR)
    return float(np.sign(under - over) * _MOST_BAR_ODDS * np.clip(strength, 0, 1))


def _window(crop: Picture, places: Points) -> Inks:
    """Cut out what is about the digits, their line level."""
    step = (places[2] - places[0]) / 2
    across = step * 2 * _REACH[0] / _SIZE[0]
    down = np.array([-step[1], step[0]]) * 2 * _REACH[1] / _SIZE[1]
    turn = np.column_stack([across, down])
    start = places.mean(axis=0) - turn @ ((np.array(_SIZE) - 1) / 2) - 0.5
    way = np.column_stack([turn, start])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(crop, way, _SIZE, flags=flags, borderMode=cv2.BORDER_REPLICATE), dtype=np.float64)


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


def upright_odds(tile: int, layout: TableLayout, marks: tuple[TileMark | None, ...]) -> float:
    """Return the log-odds that tile number `tile` stands as its mark was read; 0.0 where nothing tells."""
    return spot_odds(tile, marks) + neighbour_odds(tile, layout, marks)


def spot_odds(tile: int, marks: tuple[TileMark | None, ...]) -> float:
    """Return the log-odds by where the mark sits on the tile, against the other marks of the picture."""
    mark = marks[tile]
    others = [one.spot for number, one in enumerate(marks) if number != tile and one is not None and _knows_spot(one)]
    if mark is None or not _knows_spot(mark) or len(others) < _FEWEST_SPOTS:
        return 0.0
    spots = np.array(others)
    usual = np.median(spots, axis=0)
    scale = np.maximum(
        1.4826 * np.median(np.abs(spots - usual), axis=0), _SPOT_SCALE
    )  # sigma from the median deviation
    return _fit(mark.spot, usual, scale) - _fit(-mark.spot, usual, scale)


def neighbour_odds(tile: int, layout: TableLayout, marks: tuple[TileMark | None, ...]) -> float:
    """Return the log-odds, by how the other tiles of its tray stand, that a tile stands as its `Lie` says.

    That is how its mark was read; where the mark did not tell, how the tray stands. 0.0 for a tile in no tray.
    """
    lie = layout.lies[tile]
    if lie.row is None or lie.sideways or marks[tile] is None:
        return 0.0
    turns = [
        other.turn
        for number, other in enumerate(layout.lies)
        if number != tile and other.row is not None and other.seat == lie.seat and _known(marks[number])
    ]
    alike, against = turns.count(lie.turn), turns.count((lie.turn + HALF_TURN) % 360)
    same = 1 / (1 + (_UPSIDE_DOWN / (1 - _UPSIDE_DOWN)) ** (alike - against))  # the tray stands as this tile does
    stands = same * (1 - _UPSIDE_DOWN) + (1 - same) * _UPSIDE_DOWN
    return float(np.log(stands / (1 - stands)))


def _knows_spot(mark: TileMark) -> bool:
    """Return whether it is known where the mark sits as it stands itself."""
    return mark.turned is not None and bool(np.isfinite(mark.spot).all())


def _known(mark: TileMark | None) -> bool:
    return mark is not None and mark.turned is not None


def _fit(spot: Points, usual: Points, scale: Points) -> float:
    """Return the log-likelihood of a spot, up to a constant."""
    return float((-(_FREEDOM + 1) / 2 * np.log1p(((spot - usual) / scale) ** 2 / _FREEDOM)).sum())


_ENOUGH_ODDS = np.log(100)
_BARRED = {60, 90}  # the only pair whose numbers have a bar
_READ_ODDS = np.log(1000)  # log-odds of a serial that its own mark tells: some are misread


@dataclass(frozen=True, slots=True, eq=False)
class _UprightClaim:
    """What one tile says if it stands as it seems to lie, and the log-odds that it does."""

    serial: int
    odds: float
    strange: bool  # of another set


def decide_ambiguous(picture: Picture, found: Detections, marks: TileMarks, layout: TableLayout) -> TileMarks:
    """Return marks in which those that read both ways up have one serial, where the odds for it are 100 to 1."""
    settled, bars = list(marks), _bars(picture, found, marks)
    claims = {
        number: _claim(
            number, mark, marks, layout, turned=_lies_turned(number, found, layout), bar=bars.get(number, 0.0)
        )
        for number, mark in enumerate(marks)
        if mark is not None and (mark.either is not None or mark.serial is not None)
    }
    for number, mark in enumerate(marks):
        if mark is None or mark.either is None:
            continue
        odds = claims[number].odds + _odds_of_others(number, mark.either, claims)
        if abs(odds) > _ENOUGH_ODDS:
            lies_turned = _lies_turned(number, found, layout)
            settled[number] = stand_mark_up(mark, turned=lies_turned if odds > 0 else not lies_turned)
    return tuple(settled)


def _bars(picture: Picture, found: Detections, marks: TileMarks) -> dict[int, float]:
    """Return the log-odds of each 060 or 090 standing as its outline begins, by a bar."""
    numbers = [number for number, mark in enumerate(marks) if mark is not None and set(mark.either or ()) == _BARRED]
    crops = cut_backs(picture, [found.tiles[number].quad for number in numbers])
    looks = look_at_crops(crops)
    return {number: bar_odds(crop, look.places) for number, crop, look in zip(numbers, crops, looks, strict=True)}


def _claim(
    number: int, mark: TileMark, marks: TileMarks, layout: TableLayout, *, turned: bool, bar: float
) -> _UprightClaim:
    strange = layout.lies[number].strange
    if mark.either is None:
        return _UprightClaim(mark.serial or 0, _READ_ODDS, strange)
    trial = stand_mark_up(mark, turned=turned)
    spots = spot_odds(number, (*marks[:number], trial, *marks[number + 1 :]))
    odds = neighbour_odds(number, layout, marks) + spots + (-bar if turned else bar)
    return _UprightClaim(trial.serial or 0, odds, strange)


def _lies_turned(number: int, found: Detections, layout: TableLayout) -> bool:
    """Return whether a tile seems to lie upside down in the outline that the finder gave."""
    return bool((layout.lies[number].quad[0] != found.tiles[number].quad[0]).any())


def _odds_of_others(number: int, pair: tuple[int, int], claims: dict[int, _UprightClaim]) -> float:
    """Return what other tiles that say one of the same pair add to a claim: it cannot be the same one."""
    mine = claims[number]
    others = [one for at, one in claims.items() if at != number and one.serial in pair and one.strange == mine.strange]
    return sum(one.odds if one.serial != mine.serial else -one.odds for one in others)
