"""Compare a number's digits with the same digits on the other tiles of the picture.

The numbers of one set share one font or one handwriting. If wear, pale ink or a hurried pen makes a digit read as
another, its shape is still closer to its own kind: a struck-through 0 that has lost a stroke does not look like the 9
on the other tiles. A number that is not beyond doubt is therefore compared with the mean shape of each digit on the
picture's other tiles. Conversely, a number that the readers doubt counts if all three of its digits clearly look like
their own kind. Numbers printed differently from the rest, such as those on a price tag beside the tiles, are also found
here.
"""

from collections.abc import Collection, Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.finder import DetectedTile
from vision.geometry import Picture, Points, unit_rows
from vision.marks import TileMark
from vision.marks.digits import Digits, cut_backs, cut_level, digit_places, digits_of

Floats = NDArray[np.float32]

_LEAD: Final = -0.3  # lead of a rival above which a number is withheld; 1 looks just like the rival, -1 not at all
_SEEN: Final = 0.6  # least correlation with the rival's digit; a shape that is like no digit supports none
_FEWEST: Final = 8  # numbers in a picture needed to compare
_MOST: Final = 40  # numbers beyond doubt to use; more cost time and add nothing
_OF_ONE_PRINT: Final = 0.45  # least mean correlation with the same digits on other tiles, for a number of their print
_LESS_ALIKE: Final = 0.35  # how far below the picture's median that correlation may be
_LARGER: Final = 1.5  # factor in size, up or down, from which a number is of another print
_PARTS: Final = np.array([0.25, 0.5, 0.25])  # how much each digit's width contributes to a number's pitch
_WIDTH_PRIOR: Final = 0.02  # weight of the prior that a digit has the usual width: a tenth of that of one number
_WIDER: Final = 0.6  # share of the usual width by which a digit may be wider or narrower
_OF_EACH: Final = 2  # examples of a digit needed to know its usual shape
_CLEARLY: Final = -0.2  # most that any other digit may lead, for a digit to count by its shape
_ALIKE: Final = 0.5  # least correlation of such a digit with its own usual shape
_KINDS: Final = 8  # digits whose usual shapes must be known before any counts by its shape
_LEAST_APART: Final = 0.05  # lower bound for the difference of two digits' shapes, which noise alone can cause
_SIZE: Final = (14, 24)  # pixels, width and height, of a digit
_REACH: Final = (0.62, 1.1)  # how far it reaches from its middle, in steps from digit to digit
_SHIFT: Final = (4, 2)  # pixels by which a digit may be off, across and down: a 1 is narrower than a 0
_ALIGNMENT_ROUNDS: Final = 2  # how often digits are aligned with their usual shape
_SOFT, _SLOW = 0.8, (17, 17)  # pixels of a crop: smaller changes are noise, slower ones uneven light
_BAND: Final = (slice(30, 82), slice(12, 68))  # rows and columns of a crop where numbers are
_EVERY: Final = 4  # the ink's colour is measured on one tile in this many


def unlike_others(
    picture: Picture,
    tiles: Sequence[DetectedTile],
    marks: Sequence[TileMark | None],
    checked: Collection[int] = (),
) -> set[int]:
    """Return the numbers of marks to withhold: a digit looks too much like a rival's, or the print differs.

    A serial that another tile has beyond doubt is not a rival, because there is one tile of each. Only the marks in
    `checked` are examined for a different print, as they may not be printed on a tile.
    """
    numbers = {number: mark for number, mark in enumerate(marks) if mark is not None and is_number(mark)}
    sure = [number for number, mark in numbers.items() if not mark.rivals]
    taken = {numbers[number].serial for number in sure}
    rivals = [(number, rival) for number, mark in numbers.items() for rival in mark.rivals if rival not in taken]
    compared = {number for number, _ in rivals}.union(checked) & numbers.keys()
    if len(numbers) < _FEWEST or not compared:
        return set()
    for number in [number for number in sure if number not in compared][_MOST:]:
        del numbers[number]
    at = {number: place for place, number in enumerate(numbers)}
    shapes, serials = _digit_shapes(picture, tiles, numbers)
    rival_digits = [(at[number], digits_of(rival)) for number, rival in rivals]
    leads = leads_of_rivals(shapes, serials, rival_digits) if rivals else []
    unlike = {number for (number, _), lead in zip(rivals, leads, strict=True) if lead > _LEAD}
    if not (printed := compared.intersection(checked)):
        return unlike
    widths = [np.linalg.norm(tiles[number].quad[1] - tiles[number].quad[0]) for number in numbers]
    sizes = np.array(widths) * sizes_of_print(np.array([mark.pitch for mark in numbers.values()]), serials)
    other_print = are_of_another_print(likeness_to_own_kind(shapes, serials), sizes)
    return unlike | {number for number in printed if other_print[at[number]]}


def like_others(
    picture: Picture, tiles: Sequence[DetectedTile], marks: Sequence[TileMark | None], doubted: dict[int, TileMark]
) -> set[int]:
    """Return which of the `doubted` marks have three digits that look like the same digits on the marks that count."""
    sure = [number for number, mark in enumerate(marks) if mark is not None and is_number(mark)]
    if len(sure) < _FEWEST or not doubted:
        return set()
    numbers = {at: mark for at, mark in enumerate(marks) if at in sure[:_MOST] and mark is not None} | doubted
    shapes, serials = _digit_shapes(picture, tiles, numbers)
    matches = match_usual_shapes(shapes, serials, len(numbers) - len(doubted))
    return {number for number, is_match in zip(doubted, matches, strict=True) if is_match}


def _digit_shapes(
    picture: Picture, tiles: Sequence[DetectedTile], numbers: dict[int, TileMark]
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the shapes of numbers' digits, shape (n, 3, 28, 22), and the digits they were read as, shape (n, 3)."""
    crops = cut_backs(picture, [tiles[number].quad for number in numbers])
    shapes = _cut_digits(ink_of_crops(crops), np.array([digit_places(mark) for mark in numbers.values()]))
    return shapes, np.array([digits_of(mark.serial or 0) for mark in numbers.values()])


def is_number(mark: TileMark) -> bool:
    """Return whether a mark is one number, printed or written by hand; not a label, and not undecided."""
    return mark.serial is not None and bool(np.isfinite(mark.pitch))


def ink_of_crops(crops: Picture) -> Floats:
    """Return how much ink each pixel of crops, shape (n, 112, 80, 3), shows, without noise and uneven light.

    The shape is (n, 112, 80).
    """
    some = np.array([_between(crop.astype(np.float32))[_BAND] for crop in crops[::_EVERY]]).reshape(-1, 3)
    axis = np.linalg.eigh(some.T @ some)[1][:, -1]
    return np.array([_between(crop) for crop in crops @ axis])


def _between(crop: Floats) -> Floats:
    return np.asarray(cv2.GaussianBlur(crop, (0, 0), _SOFT) - cv2.blur(crop, _SLOW), dtype=np.float32)


def _cut_digits(inks: Floats, places: Points) -> Floats:
    """Cut upright digits at `places`, shape (n, 3, 2), out of `inks`, with a margin of `_SHIFT` pixels.

    Return shape (n, 3, 28, 22).
    """
    steps = (places[:, 2] - places[:, 0]) / 2
    each = zip(inks, places, steps, strict=True)
    return np.array([[cut_level(ink, at, step, _REACH, _SIZE, _SHIFT) for at in spots] for ink, spots, step in each])


def leads_of_rivals(shapes: Floats, serials: NDArray[np.int64], pairs: Sequence[tuple[int, Digits]]) -> list[float]:
    """Return for each pair in `pairs` how much more the digit that differs looks like the rival's than like its own.

    `shapes`, shape (n, 3, 28, 22), is the digits of all numbers; `serials`, shape (n, 3), what they were read as. Each
    pair is the index of a number and the digits of a rival. A lead is a share of the difference between the two digits:
    1 looks just like the rival's digit, -1 just as it should. It is 0 if too few other numbers have one of the digits,
    and -1 if the shape is not like the rival's digit at all.
    """
    shifted, kinds = _shifted(shapes), np.eye(10, dtype=np.float32)[serials]  # shape (n, 3, 10)
    aligned = _aligned(shifted, serials)
    sums, counts = np.einsum("nkd,nkp->dp", kinds, aligned), kinds.sum(axis=(0, 1))
    leads = []
    for number, rival in pairs:
        at = int((serials[number] != rival).argmax())
        own, other = int(serials[number][at]), rival[at]
        known = counts - kinds[number].sum(axis=0) >= _OF_EACH
        usual = unit_rows(sums - kinds[number].T @ aligned[number])
        alike = (shifted[number, at] @ usual.T).max(axis=0)
        if not (known[own] and known[other]):
            leads.append(0.0)
        else:
            leads.append(float(_leads(alike, usual, own)[other]) if alike[other] >= _SEEN else -1.0)
    return leads


def are_of_another_print(alike: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which numbers differ from the others in print: in correlation, `alike`, -1..1, or in size, in any unit."""
    least = max(_OF_ONE_PRINT, float(np.median(alike)) - _LESS_ALIKE)
    other = np.abs(np.log(sizes / np.median(sizes))) > np.log(_LARGER)
    return np.asarray((alike < least) | other)


def sizes_of_print(pitches: NDArray[np.float64], serials: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how large each number is printed relative to the others, 1 for equal; `serials` has shape (n, 3)."""
    others = ~np.eye(len(pitches), dtype=bool)
    expected = [expected_pitch(own, serials[rest], pitches[rest]) for own, rest in zip(serials, others, strict=True)]
    return np.asarray(pitches / np.array(expected))


def expected_pitch(digits: NDArray[np.int64], others: NDArray[np.int64], pitches: NDArray[np.float64]) -> float:
    """Return the pitch that three digits would have in the print of other numbers.

    `others`, shape (n, 3), is the digits of those numbers, `pitches`, shape (n,), their pitches. In many fonts a 1 is
    narrower than a 0, so the width of each digit is estimated from the numbers in which it occurs; a digit that occurs
    in none has the usual width. From the middle of the first digit to that of the last is half of each outer digit, and
    the middle one.
    """
    usual = float(np.median(pitches))
    widths = _widths(others)
    wider = np.linalg.solve(widths.T @ widths + _WIDTH_PRIOR * np.eye(10), widths.T @ (pitches - usual))
    return usual + float(_widths(digits) @ np.clip(wider, -_WIDER * usual, _WIDER * usual))


def _widths(digits: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much the width of each of the ten digits counts in the pitch of numbers, shape (..., 10)."""
    return np.asarray(_PARTS @ np.eye(10)[digits])


def likeness_to_own_kind(shapes: Floats, serials: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean correlation, -1..1, of each number's digits with the same digits on the others.

    `shapes`, shape (n, 3, 28, 22), is the digits of all numbers; `serials`, shape (n, 3), what they were read as. The
    result is 1 if fewer than two of a number's digits occur on enough other numbers.
    """
    shifted, kinds = _shifted(shapes), np.eye(10, dtype=np.float32)[serials]
    aligned = _aligned(shifted, serials)
    sums, counts = np.einsum("nkd,nkp->dp", kinds, aligned), kinds.sum(axis=(0, 1))
    means = []
    for digits, own, its, kind in zip(shifted, aligned, serials, kinds, strict=True):
        known = (counts - kind.sum(axis=0) >= _OF_EACH)[its]
        usual = unit_rows(sums - kind.T @ own)[its]
        alike = np.einsum("ksp,kp->ks", digits, usual).max(axis=1)
        means.append(alike[known].mean() if known.sum() > 1 else 1.0)
    return np.array(means, dtype=np.float64)


def match_usual_shapes(shapes: Floats, serials: NDArray[np.int64], known: int) -> list[bool]:
    """Return for each number after the first `known` whether all its digits look like the same digits on those.

    `shapes`, shape (n, 3, 28, 22), is the digits of all numbers; `serials`, shape (n, 3), what they were read as.
    """
    shifted, kinds = _shifted(shapes), np.eye(10, dtype=np.float32)[serials[:known]]
    known_digits = kinds.sum(axis=(0, 1)) >= _OF_EACH
    usual = unit_rows(np.einsum("nkd,nkp->dp", kinds, _aligned(shifted[:known], serials[:known])))
    matches = []
    for digits, kind in zip(shifted[known:], serials[known:], strict=True):
        alike = (digits @ usual.T).max(axis=1)  # shape (3, 10)
        own = alike[range(3), kind].min()
        lead = max(_leads(part, usual, digit)[known_digits].max() for part, digit in zip(alike, kind, strict=True))
        matches.append(bool(known_digits[kind].all() and own >= _ALIKE and lead <= _CLEARLY))
    return matches if known_digits.sum() >= _KINDS else [False] * len(matches)


def _shifted(shapes: Floats) -> Floats:
    """Return all shifts of digits, shape (n, 3, 28, 22), as unit vectors, shape (n, 3, 45, 336)."""
    wide, high = _SIZE
    windows = np.lib.stride_tricks.sliding_window_view(shapes, (high, wide), axis=(2, 3))
    return unit_rows(windows.reshape(*shapes.shape[:2], -1, high * wide))


def _aligned(shifted: Floats, serials: NDArray[np.int64]) -> Floats:
    """Return each digit, shape (n, 3, 336), at the shift where it is most like the others read as the same digit."""
    kinds = np.eye(10, dtype=np.float32)[serials]
    aligned = shifted[:, :, shifted.shape[2] // 2]
    for _ in range(_ALIGNMENT_ROUNDS):
        usual = unit_rows(np.einsum("nkd,nkp->dp", kinds, aligned))
        best = np.einsum("nksp,nkp->nks", shifted, usual[serials]).argmax(axis=2)
        aligned = np.take_along_axis(shifted, best[:, :, None, None], axis=2)[:, :, 0]
    return aligned


def _leads(alike: Floats, usual: Floats, own: int) -> Floats:
    """Return each digit's lead over the `own` one, shape (10,), given a shape's correlations `alike` with all ten."""
    leads = (alike - alike[own]) / np.maximum(1 - usual @ usual[own], _LEAST_APART)
    leads[own] = -np.inf
    return np.asarray(leads, dtype=np.float32)
