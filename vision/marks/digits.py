"""Printed numbers: cut backs out of the picture, run the networks, and conclude which serial each back shows.

How the networks were trained: vision/training, vision/models.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import hypot, log, prod
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import (
    FROM_MIDDLES,
    TO_MIDDLES,
    UNIT_SQUARE,
    Homography,
    Picture,
    Points,
    Quad,
    homography_between,
)
from vision.marks import TileMark
from vision.marks.lines import Logs, classify_columns, confidence_of_both, cut_line, likelihoods_of_digits
from vision.networks import normalise_contrast, run_network
from vision.reading import LAST_SERIAL

KINDS = 5
NUMBER, LABEL, BLANK, FACE, NOTHING = range(KINDS)  # BLANK: a back without a visible mark

SEEN_SIGNS = 16
UPSIDE_DOWN = np.array([0, 10, 11, 12, 13, 14, 9, 15, 8, 6])  # the sign that digit 0..9 looks like upside down
ONES = [1, 10]  # a 1, either way up: in some fonts it is a plain stroke
TURNED_SIGNS = np.append(UPSIDE_DOWN, [1, 2, 3, 4, 5, 7])  # what each sign becomes after half a turn

# The digit that each sign means once the way up is known, shape (16, 10). The two signs of 1 2 3 4 5 7 both mean that
# digit, because a 1 that is a plain stroke shows no way up, and the network then gives half of its share to each.
DIGIT_OF_SIGN = np.zeros((SEEN_SIGNS, 10), dtype=np.float32)
for _digit in range(10):
    DIGIT_OF_SIGN[[_digit, UPSIDE_DOWN[_digit]] if _digit not in {6, 9} else [_digit], _digit] = 1

DIGIT_UPSIDE_DOWN = np.array([0, 1, 2, 3, 4, 5, 9, 7, 8, 6])  # the column to use for a number that is upside down
_MEANINGS = np.column_stack([DIGIT_OF_SIGN, DIGIT_OF_SIGN[:, DIGIT_UPSIDE_DOWN]])  # both ways up, shape (16, 20)

CROP = (80, 112)  # width and height, pixels
CROP_MARGIN = 0.06  # margin around the tile, in tile sides, as outlines are a little off
_FULL = 1 + 2 * CROP_MARGIN
_FRAME: Quad = (UNIT_SQUARE + CROP_MARGIN) / _FULL * CROP
_SHRUNK_FROM = 150.0  # pixels: width from which the picture is halved first, as a crop would skip pixels


def cut_backs(picture: Picture, quads: Sequence[Quad]) -> Picture:
    """Cut tiles out of a BGR picture along their quads, each of shape (4, 2); return shape (n, 112, 80, 3)."""
    smaller = {0: picture}
    crops = np.empty((len(quads), CROP[1], CROP[0], 3), dtype=np.uint8)
    for crop, quad in zip(crops, quads, strict=True):
        level = _level(quad)
        crop[:] = cut_back(_shrunk(smaller, level), quad / 2**level)[0]
    return crops


def _level(quad: Quad) -> int:
    width = float(np.linalg.norm(quad[1] - quad[0]))
    return max(0, int(np.log2(max(width, 1.0) / _SHRUNK_FROM)) + 1) if width >= _SHRUNK_FROM else 0


def _shrunk(smaller: dict[int, Picture], level: int) -> Picture:
    """Return the picture halved `level` times, caching each level in `smaller`."""
    if level not in smaller:
        larger = _shrunk(smaller, level - 1)
        half = (max(1, larger.shape[1] // 2), max(1, larger.shape[0] // 2))
        smaller[level] = np.asarray(cv2.resize(larger, half, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return smaller[level]


def cut_back(picture: Picture, quad: Quad) -> tuple[Picture, Homography]:
    """Cut one tile out, shape (112, 80, 3); also return the homography from the picture to the crop."""
    homography = homography_between(quad, _FRAME)
    opencv = TO_MIDDLES @ homography @ FROM_MIDDLES
    crop = cv2.warpPerspective(picture, opencv, CROP, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(crop, dtype=np.uint8), homography


_AT_ONCE = 34  # crops per run of the network; more cost memory and save no time
_INNER = (slice(16, 96), slice(12, 68))  # rows and columns of a crop where marks are
_CELL = 8  # pixels of a crop per cell of the network's map of places
_CELL_COLS, _CELL_ROWS = CROP[0] // _CELL, CROP[1] // _CELL
_CELLS = np.array(
    [[col * _CELL + _CELL / 2, row * _CELL + _CELL / 2] for row in range(_CELL_ROWS) for col in range(_CELL_COLS)]
)
_PARTS = (KINDS, 2, 27, SEEN_SIGNS, SEEN_SIGNS, SEEN_SIGNS)  # kind, way up, letter, three digits

Shares = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class DigitLook:
    """The first reader's result for one back, as probabilities."""

    kind: Shares  # shape (5,): number, label, blank back, face, nothing
    orientation: Shares  # shape (2,): upright in the crop, upside down
    letter: Shares  # shape (27,): A to Z, none
    signs: Shares  # shape (3, 16): each sign as it appears (see `DIGIT_OF_SIGN`), from the crop's left to its right
    places: Points  # shape (3, 2): where each sign is, pixels of the crop
    spot: Points  # shape (2,): the digits' middle, in shares of the tile from its centre, in the crop's orientation
    second_likelihood: float = 1.0  # likelihood by the second reader (vision.marks.lines) of exactly these digits
    turned_likelihood: float = 0.0  # likelihood by the second reader of the serial that they are upside down, if any
    rivals: tuple[int, ...] = ()  # as in `TileMark`
    resized_confidences: tuple[float, ...] = ()  # confidences in the same number when read enlarged and shrunk

    @cached_property
    def mark(self) -> TileMark:
        """The mark concluded from this look."""
        return mark_of_look(self)


def prepare_crops(crops: Picture) -> NDArray[np.float32]:
    """Return crops, shape (n, 112, 80, 3), as input for the network, with equal colour and contrast.

    Both are measured in the tile's middle, as things around the tile may be far brighter than pale ink.
    """
    return normalise_contrast(crops, _INNER)


def look_at_crops(crops: Picture) -> list[DigitLook]:
    """Run the first reader on crops, shape (n, 112, 80, 3), uint8."""
    looks: list[DigitLook] = []
    for start in range(0, len(crops), _AT_ONCE):
        scores, where = run_network("digits", prepare_crops(crops[start : start + _AT_ONCE]))
        kinds, turns, letters, *digits = (_shares(part) for part in np.split(scores, np.cumsum(_PARTS)[:-1], axis=1))
        places = np.asarray(where[:, 1:] @ _CELLS, dtype=np.float64)
        spots = places.mean(axis=1) / CROP * (1 + 2 * CROP_MARGIN) - CROP_MARGIN - 0.5
        signs = np.stack(digits, axis=1)
        looks += [DigitLook(*parts) for parts in zip(kinds, turns, letters, signs, places, spots, strict=True)]
    return looks


def _shares(scores: Shares) -> Shares:
    """Return the softmax of scores, row by row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float32)


_EDGE_ROWS, _EDGE_COLS = slice(28, 84), slice(20, 60)  # parts of a crop where long and short sides are checked
_DEEP = (12, 16)  # pixels from the crop's border within which the edge of a long side lies, and of a short one
_ACROSS = 4  # pixels over which the step at an edge is measured
_LEAST = 4.0  # levels: least step at an edge
_GAPS = 3  # one third of a side may lack the step, as noise hides it at night; print along a side has more gaps
_SIDES = 3  # least sides of a tile with an edge: one may be overexposed, or touch the next tile


def sides_with_edges(crops: Picture) -> NDArray[np.int64]:
    """Return how many sides of each crop from `cut_backs`, shape (n, 112, 80, 3), show a tile's edge."""
    levels, (wide, deep) = crops.astype(np.int16), _DEEP
    level, upright = levels[:, _EDGE_ROWS], levels[:, :, _EDGE_COLS].swapaxes(1, 2)
    sides = (level[:, :, :wide], level[:, :, -wide:], upright[:, :, :deep], upright[:, :, -deep:])
    return np.asarray(np.sum([_rise_along(side) >= _LEAST for side in sides], axis=0))


def _rise_along(side: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return the step in levels that two thirds of each side, shape (n, along, across, 3), reach at one depth."""
    rises = side[:, :, _ACROSS:] - side[:, :, :-_ACROSS]
    few = side.shape[1] // _GAPS
    ordered = np.partition(rises, (few, side.shape[1] - 1 - few), axis=1)
    return np.asarray(np.maximum(ordered[:, few], -ordered[:, -1 - few]).max(axis=(1, 2)))


def _enlarging(scale: float, degrees: float) -> NDArray[np.float64]:
    """Return the affine map, shape (2, 3), that scales and rotates a crop about its middle."""
    return np.asarray(cv2.getRotationMatrix2D(((CROP[0] - 1) / 2, (CROP[1] - 1) / 2), degrees, scale))


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SURE_AT_ONCE = 0.999  # confidence of a first look (likelihood 0.994) that needs no second one
_NO_NUMBER = 0.02  # likelihood of a number up to which there is none; a second look would not change that
_LIKELY, _CLEAR = 0.8, 0.97  # confidences between which a number is read again, enlarged and shrunk
_SIZES = (_enlarging(1.06, -1.5), _enlarging(0.94, 1.5))
_MEANS, _WORTH = (0.0, 0.9, 1.0), (0.0, 0.95, 1.0)
"""A mean of 0.9 over all looks gives the confidence of 0.95 that a serial needs."""
_DOUBTED, BEYOND_DOUBT = 0.9, 0.995  # confidences between which a number may still be a rival
_RULED_OUT = 2e-3  # likelihood up to which a reader rules a rival out
_LEGIBLE = 0.3  # confidence from which a number may show its way up, even if it is not read
_LETTER_SURE = 0.9  # least likelihood of a set's letter
_LETTER_TELLS = 0.99  # the same for a letter that may show the way up; a maker's ring was an O with 0.92
_DECIDING_ODDS = 50.0  # least odds of one way up against the other
_CLEAR_ODDS = 1000.0  # the same if the number is a serial both ways up
_MOST_WAY_ODDS = np.log(39)
"""Largest log-odds of a way up that neither signs nor a letter confirm: the bar the network saw may be a logo."""
_UNLIKELY = 0.01  # likelihood of the number upside down below which its signs show the way up
_ROTATED_DIGITS = {"0": "0", "1": "1", "6": "9", "8": "8", "9": "6"}  # digits upside down; a 1 is one in some fonts
_TINY = 1e-9  # avoids a division by zero if neither look sees a 1
Digits = tuple[int, ...]


def read_digits(picture: Picture, quads: Sequence[Quad]) -> list[TileMark]:
    """Read printed numbers on backs, `quads` each of shape (4, 2), pixels; without a number confidence is near 0."""
    return [look.mark for look in look_at_crops_closely(cut_backs(picture, quads))]


def look_at_crops_closely(crops: Picture, first: Sequence[DigitLook] | None = None) -> list[DigitLook]:
    """Read crops, shape (n, 112, 80, 3), with both readers; read numbers in doubt also enlarged and shrunk.

    A number that looks like another one by chance, through noise or a worn stroke, mostly does so in one size only.
    `first` is the first looks, if they have been made already.
    """
    looks, logs = _run_second_reader(crops, _look_both_ways(crops, first))
    doubted = [number for number in logs if _LIKELY <= looks[number].mark.confidence < _CLEAR]
    for number, marks in zip(doubted, _read_in_other_sizes(crops[doubted]), strict=True):
        serials = looks[number].mark.possible_serials  # a serial both ways up need not be seen as one in every size
        same = [mark.confidence if mark.possible_serials & serials else 0.0 for mark in marks]
        looks[number] = replace(looks[number], resized_confidences=tuple(same))
    return _with_rivals(looks, logs)


def _read_in_other_sizes(crops: Picture) -> list[list[TileMark]]:
    """Return the marks that each crop, shape (n, 112, 80, 3), gives when enlarged and when shrunk."""
    moved = [cv2.warpAffine(crop, matrix, CROP, borderMode=cv2.BORDER_REPLICATE) for crop in crops for matrix in _SIZES]
    pixels = np.array(moved, dtype=np.uint8).reshape(-1, *crops.shape[1:])
    looks, _ = _run_second_reader(pixels, _look_both_ways(pixels))
    return [[look.mark for look in looks[at : at + len(_SIZES)]] for at in range(0, len(looks), len(_SIZES))]


def _look_both_ways(crops: Picture, first: Sequence[DigitLook] | None = None) -> list[DigitLook]:
    """Run the first reader on crops, and again upside down where it sees a number but is not sure of it."""
    looks = look_at_crops(crops) if first is None else list(first)
    numbers = [number for number, look in enumerate(looks) if look.kind[NUMBER] > _NO_NUMBER]
    doubted = [number for number in numbers if looks[number].mark.confidence < SURE_AT_ONCE]
    for number, again in zip(doubted, look_at_crops(crops[doubted][:, ::-1, ::-1]), strict=True):
        looks[number] = combine_looks(looks[number], again)
    for number, sides in zip(numbers, sides_with_edges(crops[numbers]), strict=True):
        looks[number] = looks[number] if sides >= _SIDES else _as_nothing(looks[number])
    return looks


def _run_second_reader(crops: Picture, looks: list[DigitLook]) -> tuple[list[DigitLook], dict[int, Logs]]:
    """Add the second reader's likelihood of each number: the first reader sees three digits whatever there is.

    Also return the second reader's log-likelihoods, shape (26, 13), by the index of each look that it checked.
    """
    marks = [look.mark for look in looks]
    checked = [number for number, mark in enumerate(marks) if _claims_number(mark)]
    rotatable = [number for number in checked if marks[number].serial and _serial_turned(marks[number]) is not None]
    if not checked:
        return looks, {}
    queries = [(number, bool(marks[number].turned), _serial_as_it_stands(marks[number])) for number in checked]
    queries += [(number, not marks[number].turned, _serial_turned(marks[number]) or 0) for number in rotatable]
    lines = [cut_line(crops[at], looks[at].places.mean(axis=0), turned=turned)[0] for at, turned, _ in queries]
    digits = np.array([digits_of(serial) for _, _, serial in queries])
    logs = classify_columns(np.array(lines))
    likelihoods = likelihoods_of_digits(logs, digits)
    for number, likelihood in zip(checked, likelihoods, strict=False):
        looks[number] = replace(looks[number], second_likelihood=float(likelihood))
    for number, likelihood in zip(rotatable, likelihoods[len(checked) :], strict=True):
        looks[number] = replace(looks[number], turned_likelihood=float(likelihood))
    return looks, dict(zip(checked, logs, strict=False))


def _with_rivals(looks: list[DigitLook], logs: dict[int, Logs]) -> list[DigitLook]:
    """Add to numbers in doubt their rivals, the near serials that at least one reader does not rule out.

    A number that is a serial both ways up gets the rivals of both. `logs` is the second reader's log-likelihoods, shape
    (26, 13), by look.
    """
    marks = {number: looks[number].mark for number in logs}
    doubted = [number for number, mark in marks.items() if _DOUBTED <= mark.confidence < BEYOND_DOUBT]
    checked = [
        (number, serial, rival)
        for number in doubted
        for serial in marks[number].either or (marks[number].serial or 0,)
        for rival in near_serials(serial)
    ]
    if not checked:
        return looks
    lines = np.array([logs[number] for number, _, _ in checked])
    shown = [
        digits_of(rival) if serial == _serial_as_it_stands(marks[number]) else turn_digits(digits_of(rival))
        for number, serial, rival in checked
    ]
    seconds = likelihoods_of_digits(lines, np.array(shown))
    rivals: dict[int, set[int]] = {number: set() for number in doubted}
    for (number, serial, rival), second in zip(checked, seconds, strict=True):
        if max(second, _share_of_rival(looks[number], serial, rival)) > _RULED_OUT:
            rivals[number].add(rival)
    return [replace(look, rivals=tuple(sorted(rivals[n]))) if n in rivals else look for n, look in enumerate(looks)]


@cache
def near_serials(serial: int) -> tuple[int, ...]:
    """Return the serials that differ in exactly one digit."""
    digits = digits_of(serial)
    serials = range(1, LAST_SERIAL + 1)
    return tuple(other for other in serials if sum(a != b for a, b in zip(digits, digits_of(other), strict=True)) == 1)


def digits_of(serial: int) -> Digits:
    """Return a serial's three digits."""
    return serial // 100, serial // 10 % 10, serial % 10


def turn_digits(digits: Digits) -> Digits:
    """Return what three digits read upside down."""
    first, middle, last = DIGIT_UPSIDE_DOWN[list(reversed(digits))].tolist()
    return first, middle, last


def _share_of_rival(look: DigitLook, serial: int, rival: int) -> float:
    """Return the first reader's likelihood of the digit in which a rival differs, in the orientation of `serial`."""
    turned = bool(look.mark.turned) if look.mark.either is None else serial != look.mark.either[0]
    meant = (look.signs @ _MEANINGS).reshape(3, 2, 10)[:: -1 if turned else 1, int(turned)]
    own, other = digits_of(serial), digits_of(rival)
    return next(float(row[b]) for row, a, b in zip(meant, own, other, strict=True) if a != b)


def _serial_as_it_stands(mark: TileMark) -> int:
    return (mark.serial or 0) if mark.either is None else mark.either[0]


def _serial_turned(mark: TileMark) -> int | None:
    """Return the serial that a mark's digits read upside down; None if that is no serial, or the same one."""
    text = f"{_serial_as_it_stands(mark):03d}"
    if not set(text) <= _ROTATED_DIGITS.keys():
        return None
    serial = int("".join(_ROTATED_DIGITS[digit] for digit in reversed(text)))
    return serial if 1 <= serial <= LAST_SERIAL and serial != int(text) else None


def _claims_number(mark: TileMark) -> bool:
    return mark.confidence > _LEGIBLE and (mark.serial is not None or mark.either is not None)


def _as_nothing(look: DigitLook) -> DigitLook:
    """Return a look in which the number counts as nothing, because it is printed on something else than a tile."""
    kind = look.kind.copy()
    kind[NOTHING] += kind[NUMBER]
    kind[NUMBER] = 0.0
    return replace(look, kind=kind)


def combine_looks(upright: DigitLook, turned: DigitLook) -> DigitLook:
    """Combine two looks at one back, the second of which saw it upside down.

    Likelihoods are geometric means, not normalised, so that everything becomes unlikely where the two looks differ.
    """
    return DigitLook(
        np.sqrt(upright.kind * turned.kind),
        np.sqrt(upright.orientation * turned.orientation[::-1]),
        np.sqrt(upright.letter * turned.letter),
        _combine_signs(upright.signs, turned.signs[::-1, TURNED_SIGNS]),
        upright.places,
        (upright.spot - turned.spot) / 2,
    )


def _combine_signs(one: Shares, other: Shares) -> Shares:
    """Return the geometric means of two looks' signs; the looks need not agree on which way up a 1 is."""
    means = np.sqrt(one * other)
    strokes = np.sqrt(one[:, ONES].sum(axis=1) * other[:, ONES].sum(axis=1))
    means[:, ONES] *= (strokes / np.maximum(means[:, ONES].sum(axis=1), _TINY))[:, None]
    return np.asarray(means, dtype=np.float32)


def mark_of_look(look: DigitLook) -> TileMark:
    """Return the mark concluded from a look: its most likely number, and which way up it is, if that can be told."""
    meant = (look.signs @ _MEANINGS).reshape(3, 2, 10)
    best: list[Digits] = meant.argmax(axis=2).T.tolist()
    share, share_turned = (prod(shares) for shares in meant.max(axis=2).T.tolist())
    seen = look.signs.tolist()
    shown = [
        prod(row[digit] for row, digit in zip(seen, best[0], strict=True)),
        prod(row[sign] for row, sign in zip(seen, UPSIDE_DOWN[best[1]].tolist(), strict=True)),
    ]
    orientation, shares = look.orientation.tolist(), [share, share_turned]
    likely = [weight * seen_so for weight, seen_so in zip(orientation, shown, strict=True)]
    serials = [_serial(best[0]), _serial(best[1][::-1])]
    turned = likely[1] > likely[0]
    if serials[0] is not None and serials[0] == serials[1]:  # whichever way up the looks took it for
        decided = max(likely) > _CLEAR_ODDS * min(likely)
        return _mark(look, serials[0], min(shares), turned=turned if decided else None)
    seen_apart = max(shown) > _CLEAR_ODDS * min(shown) and look.turned_likelihood < _UNLIKELY
    lettered = float(look.letter[: len(_LETTERS)].max()) > _LETTER_TELLS
    if None in serials or seen_apart or lettered:
        odds = _DECIDING_ODDS if None in serials else _CLEAR_ODDS
        if max(likely) > odds * min(likely):
            weight = 1.0 if None in serials else orientation[turned]
            return _mark(look, serials[turned], weight * shares[turned], turned=turned)
    ambiguous = _undecided_mark(look, serials, shares)
    upright_odds = log(max(likely[0], _TINY) / max(likely[1], _TINY))
    return replace(ambiguous, upright_odds=min(max(upright_odds, -_MOST_WAY_ODDS), _MOST_WAY_ODDS))


def _undecided_mark(look: DigitLook, serials: list[int | None], shares: list[float]) -> TileMark:
    """Return the mark of a number that does not show which way up it is.

    If only one way gives a serial, that one counts; if both do, the mark stays undecided.
    """
    upright, turned = serials
    either = float(look.orientation.sum())
    if upright is None or turned is None:
        return _mark(look, upright or turned, either * shares[upright is None], turned=upright is None)
    return _mark(look, None, either * min(shares), turned=None, either=(upright, turned))


def _serial(digits: Digits) -> int | None:
    hundreds, tens, ones = digits
    serial = 100 * hundreds + 10 * tens + ones
    return serial if 1 <= serial <= LAST_SERIAL else None


def _set_letter(look: DigitLook) -> str | None:
    letter = int(look.letter.argmax())
    return _LETTERS[letter] if letter < len(_LETTERS) and look.letter[letter] > _LETTER_SURE else None


def _mark(
    look: DigitLook, serial: int | None, share: float, *, turned: bool | None, either: tuple[int, int] | None = None
) -> TileMark:
    spot = -look.spot if turned else look.spot
    first = min(float(look.kind[NUMBER]) * share, 1.0)
    way, confidence = turned if first > _LEGIBLE else None, confidence_of_both(first, look.second_likelihood)
    if look.resized_confidences:
        confidence = float(np.interp(np.mean([confidence, *look.resized_confidences]), _MEANS, _WORTH))
    pitch = hypot(*(look.places[2] - look.places[0]).tolist()) / 2 / CROP[0] * _FULL
    return TileMark(serial, _set_letter(look), way, confidence, spot, either, pitch=pitch, rivals=look.rivals)


def cut_level(
    image: NDArray[Any], spot: Points, step: Points, reach: Sequence[float], size: Sequence[int], room: Sequence[int]
) -> NDArray[Any]:
    """Cut out the surroundings of a spot, rotated so that a number's `step` from digit to digit is level.

    `size`, width and height in pixels, covers `reach` steps on each side of the spot; `room` is added on each side.
    """
    turn = np.column_stack([step, [-step[1], step[0]]]) * 2 * np.array(reach) / size
    wide, high = size[0] + 2 * room[0], size[1] + 2 * room[1]
    matrix = np.column_stack([turn, spot - turn @ (np.array([wide, high]) - 1) / 2 - 0.5])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(image, matrix, (wide, high), flags=flags, borderMode=cv2.BORDER_REPLICATE)


def digit_places(mark: TileMark) -> Points:
    """Return roughly where the digits of a number are in its tile's crop, in reading order, pixels, shape (3, 2)."""
    sign = -1.0 if mark.turned else 1.0
    middle = (sign * mark.spot + 0.5 + CROP_MARGIN) / _FULL * CROP
    step = np.array([sign * mark.pitch / _FULL * CROP[0], 0.0])
    return np.array([middle - step, middle, middle + step])
