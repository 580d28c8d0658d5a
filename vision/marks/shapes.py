"""Whether a number's digits look like the same digits on the other tiles of the picture.

Numbers of one set are of one hand or one font. A digit of which wear, pale ink or a hurried pen has made another is
still liker to its own kind: a struck-through 0 that has lost a stroke is no 9 where the other tiles' 9 has none. A
number that is not beyond doubt is held against the picture's mean looks of digits, without its own tile; one that the
readers leave in doubt counts where all three of its digits look like their own kind, and clearly like no other. A price
tag beside the tiles is of another print.
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

_LEAD: Final = -0.3  # by which a rival has to be liker, of all that tells the two apart
_SEEN: Final = 0.6  # correlation that a rival's digit has at least: what is like no digit speaks for none
_FEWEST: Final = 8  # numbers of a picture that make a usual look
_MOST: Final = 40  # of them that are beyond doubt: more cost time and tell no more
_OF_ONE_PRINT: Final = 0.45  # mean correlation with the same digits on others that a number of their print has at least
_LESS_ALIKE: Final = 0.35  # than is usual in the picture, and it is of another
_LARGER: Final = 1.5  # times, or smaller: then it is of another, too
_PARTS: Final = np.array([0.25, 0.5, 0.25])  # of a number's pitch that lies on each of its digits
_HELD: Final = 0.02  # how much a digit's width is held to the usual: a tenth of what a number in which it is tells
_WIDER: Final = 0.6  # of the usual by which a digit may be wider or narrower
_OF_EACH: Final = 2  # other digits that make a digit's usual look
_CLEARLY: Final = -0.2  # lead that no other digit may have over one that is told by its looks
_ALIKE: Final = 0.5  # correlation with its usual look that such a digit has at least
_KINDS: Final = 8  # digits whose usual looks are known, from which one is told by them
_LEAST_APART: Final = 0.05  # of two digits' looks, which noise alone makes differ
_SIZE: Final = (14, 24)  # pixels, width and height, of a digit
_REACH: Final = (0.62, 1.1)  # how far it reaches from its middle, in steps from digit to digit
_SHIFT: Final = (4, 2)  # pixels by which a digit may be off, across and down, either way: a 1 is narrower than a 0
_TIMES: Final = 2  # that digits are aligned with their usual look
_SOFT, _SLOW = 0.8, (17, 17)  # pixels of a crop: what changes over less is noise, over more light
_BAND: Final = (slice(30, 82), slice(12, 68))  # rows and columns of a crop where numbers are
_EVERY: Final = 4  # of so many tiles one tells the ink's colour


def unlike_others(
    picture: Picture,
    tiles: Sequence[DetectedTile],
    marks: Sequence[TileMark | None],
    asked: Collection[int] = (),
) -> set[int]:
    """Return which marks say a number of which a digit looks more like that of a rival, or that is of another print.

    What another tile says beyond doubt is no rival: there is one of each. Whether they are of the others' print is
    asked of some: what lies beside the tiles may be print on something else.
    """
    said = {number: mark for number, mark in enumerate(marks) if mark is not None and says_number(mark)}
    sure = [number for number, mark in said.items() if not mark.rivals]
    taken = {said[number].serial for number in sure}
    rivals = [(number, rival) for number, mark in said.items() for rival in mark.rivals if rival not in taken]
    held = {number for number, _ in rivals}.union(asked) & said.keys()
    if len(said) < _FEWEST or not held:
        return set()
    for number in [number for number in sure if number not in held][_MOST:]:
        del said[number]
    at = {number: place for place, number in enumerate(said)}
    looks, serials = _looks(picture, tiles, said)
    rival_digits = [(at[number], digits_of(rival)) for number, rival in rivals]
    leads = leads_of_rivals(looks, serials, rival_digits) if rivals else []
    unlike = {number for (number, _), lead in zip(rivals, leads, strict=True) if lead > _LEAD}
    if not (printed := held.intersection(asked)):
        return unlike
    widths = [np.linalg.norm(tiles[number].quad[1] - tiles[number].quad[0]) for number in said]
    sizes = np.array(widths) * sizes_of_print(np.array([mark.pitch for mark in said.values()]), serials)
    strange = are_of_another_print(likeness_to_own_kind(looks, serials), sizes)
    return unlike | {number for number in printed if strange[at[number]]}


def like_others(
    picture: Picture, tiles: Sequence[DetectedTile], marks: Sequence[TileMark | None], doubted: dict[int, TileMark]
) -> set[int]:
    """Return which of the doubted numbers have digits that each look like their kind on the marks that count."""
    sure = [number for number, mark in enumerate(marks) if mark is not None and says_number(mark)]
    if len(sure) < _FEWEST or not doubted:
        return set()
    said = {number: marks[number] for number in sure[:_MOST]} | doubted
    looks, serials = _looks(picture, tiles, {number: mark for number, mark in said.items() if mark is not None})
    told = are_told_by_looks(looks, serials, len(said) - len(doubted))
    return {number for number, is_told in zip(doubted, told, strict=True) if is_told}


def _looks(
    picture: Picture, tiles: Sequence[DetectedTile], said: dict[int, TileMark]
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the digits of numbers, shape (n, 3, 28, 22), and what they are read as, shape (n, 3)."""
    crops = cut_backs(picture, [tiles[number].quad for number in said])
    looks = _cut_digits(ink_of_crops(crops), np.array([digit_places(mark) for mark in said.values()]))
    return looks, np.array([digits_of(mark.serial or 0) for mark in said.values()])


def says_number(mark: TileMark) -> bool:
    """Return whether a mark says one number that is printed or written."""
    return mark.serial is not None and bool(np.isfinite(mark.pitch))


def ink_of_crops(crops: Picture) -> Floats:
    """Return how much ink, without slow changes and noise, crops of shape (n, 112, 80, 3) show; shape (n, 112, 80)."""
    some = np.array([_between(crop.astype(np.float32))[_BAND] for crop in crops[::_EVERY]]).reshape(-1, 3)
    axis = np.linalg.eigh(some.T @ some)[1][:, -1]
    return np.array([_between(crop) for crop in crops @ axis])


def _between(crop: Floats) -> Floats:
    return np.asarray(cv2.GaussianBlur(crop, (0, 0), _SOFT) - cv2.blur(crop, _SLOW), dtype=np.float32)


def _cut_digits(inks: Floats, places: Points) -> Floats:
    """Cut digits, upright, at places of shape (n, 3, 2) out of inks; shape (n, 3, 28, 22), `_SHIFT` pixels about."""
    steps = (places[:, 2] - places[:, 0]) / 2
    each = zip(inks, places, steps, strict=True)
    return np.array([[cut_level(ink, at, step, _REACH, _SIZE, _SHIFT) for at in spots] for ink, spots, step in each])


def leads_of_rivals(looks: Floats, serials: NDArray[np.int64], asked: Sequence[tuple[int, Digits]]) -> list[float]:
    """Return by how much the digit in which each rival differs looks more like the rival's.

    `looks`, shape (n, 3, 28, 22), are the digits of all numbers, `serials`, shape (n, 3), what they are read as; asked
    are numbers with rivals. The lead is a share of what tells two digits apart: 1 looks just as the rival's does, -1
    just as it should. It is -1, too, where a digit is on too few other numbers, or looks like neither.
    """
    shifted, kinds = _shifted(looks), np.eye(10, dtype=np.float32)[serials]  # shape (n, 3, 10)
    aligned = _aligned(shifted, serials)
    sums, counts = np.einsum("nkd,nkp->dp", kinds, aligned), kinds.sum(axis=(0, 1))
    leads = []
    for number, rival in asked:
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
    """Return which numbers are unlike the others in their digits' looks, `alike`, -1..1, or in size, in any unit."""
    least = max(_OF_ONE_PRINT, float(np.median(alike)) - _LESS_ALIKE)
    other = np.abs(np.log(sizes / np.median(sizes))) > np.log(_LARGER)
    return np.asarray((alike < least) | other)


def sizes_of_print(pitches: NDArray[np.float64], serials: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how large each number is printed, 1 as the others; the shape of `serials` is (n, 3)."""
    others = ~np.eye(len(pitches), dtype=bool)
    expected = [expected_pitch(own, serials[rest], pitches[rest]) for own, rest in zip(serials, others, strict=True)]
    return np.asarray(pitches / np.array(expected))


def expected_pitch(digits: NDArray[np.int64], others: NDArray[np.int64], pitches: NDArray[np.float64]) -> float:
    """Return how far apart the first and the last of three digits would stand in the print of other numbers.

    `others`, shape (n, 3), are their digits, `pitches`, shape (n,), how far apart those stand. In many fonts a 1 is
    narrower than a 0: how wide each digit is follows from the numbers in which it stands, where it stands in none it
    is as wide as most. From middle to middle it is half of both outer digits and the middle one.
    """
    usual = float(np.median(pitches))
    widths = _widths(others)
    wider = np.linalg.solve(widths.T @ widths + _HELD * np.eye(10), widths.T @ (pitches - usual))
    return usual + float(_widths(digits) @ np.clip(wider, -_WIDER * usual, _WIDER * usual))


def _widths(digits: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much each of the ten digits' widths counts in the pitch of numbers, shape (..., 3): (..., 10)."""
    return np.asarray(_PARTS @ np.eye(10)[digits])


def likeness_to_own_kind(looks: Floats, serials: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how like the same digits on the others each number's digits are: the mean correlation, -1..1.

    `looks`, shape (n, 3, 28, 22), are the digits of all numbers, `serials`, shape (n, 3), what they are read as. It is
    1 where fewer than two of its digits are on enough other numbers.
    """
    shifted, kinds = _shifted(looks), np.eye(10, dtype=np.float32)[serials]
    aligned = _aligned(shifted, serials)
    sums, counts = np.einsum("nkd,nkp->dp", kinds, aligned), kinds.sum(axis=(0, 1))
    means = []
    for digits, own, its, kind in zip(shifted, aligned, serials, kinds, strict=True):
        known = (counts - kind.sum(axis=0) >= _OF_EACH)[its]
        usual = unit_rows(sums - kind.T @ own)[its]
        alike = np.einsum("ksp,kp->ks", digits, usual).max(axis=1)
        means.append(alike[known].mean() if known.sum() > 1 else 1.0)
    return np.array(means, dtype=np.float64)


def are_told_by_looks(looks: Floats, serials: NDArray[np.int64], known: int) -> list[bool]:
    """Return of each number after the first `known` whether each of its digits looks like that digit on those.

    `looks`, shape (n, 3, 28, 22), are the digits of all numbers, `serials`, shape (n, 3), what they are read as.
    """
    shifted, kinds = _shifted(looks), np.eye(10, dtype=np.float32)[serials[:known]]
    there = kinds.sum(axis=(0, 1)) >= _OF_EACH
    usual = unit_rows(np.einsum("nkd,nkp->dp", kinds, _aligned(shifted[:known], serials[:known])))
    told = []
    for digits, kind in zip(shifted[known:], serials[known:], strict=True):
        alike = (digits @ usual.T).max(axis=1)  # shape (3, 10)
        own = alike[range(3), kind].min()
        lead = max(_leads(part, usual, digit)[there].max() for part, digit in zip(alike, kind, strict=True))
        told.append(bool(there[kind].all() and own >= _ALIKE and lead <= _CLEARLY))
    return told if there.sum() >= _KINDS else [False] * len(told)


def _shifted(looks: Floats) -> Floats:
    """Return digits, shape (n, 3, 28, 22), shifted each way: shape (n, 3, 45, 336), of length 1."""
    wide, high = _SIZE
    windows = np.lib.stride_tricks.sliding_window_view(looks, (high, wide), axis=(2, 3))
    return unit_rows(windows.reshape(*looks.shape[:2], -1, high * wide))


def _aligned(shifted: Floats, serials: NDArray[np.int64]) -> Floats:
    """Return each digit, shape (n, 3, 336), shifted to where it is most like the others that are read as the same."""
    kinds = np.eye(10, dtype=np.float32)[serials]
    aligned = shifted[:, :, shifted.shape[2] // 2]
    for _ in range(_TIMES):
        usual = unit_rows(np.einsum("nkd,nkp->dp", kinds, aligned))
        best = np.einsum("nksp,nkp->nks", shifted, usual[serials]).argmax(axis=2)
        aligned = np.take_along_axis(shifted, best[:, :, None, None], axis=2)[:, :, 0]
    return aligned


def _leads(alike: Floats, usual: Floats, own: int) -> Floats:
    """Return by how much a digit, `alike` to each of the usual ones, shape (10,), is so more than to its own."""
    leads = (alike - alike[own]) / np.maximum(1 - usual @ usual[own], _LEAST_APART)
    leads[own] = -np.inf
    return np.asarray(leads, dtype=np.float32)
