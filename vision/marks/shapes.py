"""Whether a number's digits look like the same digits on the other tiles of the picture.

Numbers of one set are of one hand or one font. A digit of which wear, pale ink or a hurried pen has made another is
still liker to its own kind: a struck-through 0 that has lost a stroke is no 9 where the other tiles' 9 has none. A
number that is not beyond doubt is held against the picture's mean looks of digits, without its own tile.
"""

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detections import DetectedTile, TileMark
from vision.geometry import Picture, Points
from vision.marks.digits import Digits, cut_backs, digit_places, digits_of

Floats = NDArray[np.float32]

_LEAD: Final = 0.4  # by which a rival has to be liker, of all that tells the two apart
_FEWEST: Final = 8  # numbers of a picture that make a usual look
_MOST: Final = 40  # of them that are beyond doubt: more cost time and tell no more
_OF_EACH: Final = 2  # other digits that make a digit's usual look
_LEAST_APART: Final = 0.05  # of two digits' looks, which noise alone makes differ
_SIZE: Final = (14, 24)  # pixels, width and height, of a digit
_REACH: Final = (0.62, 1.1)  # how far it reaches from its middle, in steps from digit to digit
_SHIFT: Final = 2  # pixels by which a digit may be off, each way
_SOFT, _SLOW = 0.8, (17, 17)  # pixels of a crop: what changes over less is noise, over more light
_BAND: Final = (slice(30, 82), slice(12, 68))  # rows and columns of a crop where numbers are
_EVERY: Final = 4  # of so many tiles one tells the ink's colour
_TINY: Final = 1e-6


def unlike_others(picture: Picture, tiles: Sequence[DetectedTile], marks: Sequence[TileMark | None]) -> set[int]:
    """Return which marks say a number of which a digit looks clearly more like that of a rival."""
    said = {number: mark for number, mark in enumerate(marks) if mark is not None and _says_number(mark)}
    if len(said) < _FEWEST or not any(mark.rivals for mark in said.values()):
        return set()
    sure = [number for number, mark in said.items() if not mark.rivals]
    for number in sure[_MOST:]:
        del said[number]
    asked = [(at, rival) for at, mark in enumerate(said.values()) for rival in mark.rivals]
    crops = cut_backs(picture, [tiles[number].quad for number in said])
    looks = _cut_digits(ink_of_crops(crops), np.array([digit_places(mark) for mark in said.values()]))
    serials = np.array([digits_of(mark.serial or 0) for mark in said.values()])
    leads = leads_of_rivals(looks, serials, [(at, digits_of(rival)) for at, rival in asked])
    return {list(said)[at] for (at, _), lead in zip(asked, leads, strict=True) if lead > _LEAD}


def _says_number(mark: TileMark) -> bool:
    return mark.serial is not None and bool(np.isfinite(mark.pitch))


def ink_of_crops(crops: Picture) -> Floats:
    """Return how much ink, without slow changes and noise, crops of shape (n, 112, 80, 3) show; shape (n, 112, 80)."""
    some = np.array([_between(crop.astype(np.float32))[_BAND] for crop in crops[::_EVERY]]).reshape(-1, 3)
    axis = np.linalg.eigh(some.T @ some)[1][:, -1]
    return np.array([_between(crop) for crop in crops @ axis])


def _between(crop: Floats) -> Floats:
    return np.asarray(cv2.GaussianBlur(crop, (0, 0), _SOFT) - cv2.blur(crop, _SLOW), dtype=np.float32)


def _cut_digits(inks: Floats, places: Points) -> Floats:
    """Cut digits, upright, at places of shape (n, 3, 2) out of inks; shape (n, 3, 28, 18), `_SHIFT` pixels about."""
    wide, high = (side + 2 * _SHIFT for side in _SIZE)
    digits = np.empty((*places.shape[:2], high, wide), dtype=np.float32)
    for ink, spots, cut in zip(inks, places, digits, strict=True):
        step = (spots[2] - spots[0]) / 2
        turn = np.column_stack([step, [-step[1], step[0]]]) * 2 * np.array(_REACH) / _SIZE
        for spot, digit in zip(spots, cut, strict=True):
            start = spot - turn @ (np.array([wide, high]) - 1) / 2 - 0.5
            flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            way = np.column_stack([turn, start])
            cv2.warpAffine(ink, way, (wide, high), digit, flags, cv2.BORDER_REPLICATE)
    return digits


def leads_of_rivals(looks: Floats, serials: NDArray[np.int64], asked: Sequence[tuple[int, Digits]]) -> list[float]:
    """Return by how much the digit in which each rival differs looks more like the rival's.

    `looks`, shape (n, 3, 28, 18), are the digits of all numbers, `serials`, shape (n, 3), what they are read as; asked
    are numbers with rivals. The lead is a share of what tells two digits apart: 1 looks just as the rival's does, -1
    just as it should. It is -1, too, where a digit is on too few other numbers.
    """
    middle = slice(_SHIFT, -_SHIFT)
    units = _unit(looks[:, :, middle, middle].reshape(len(looks), 3, -1))
    kinds = np.eye(10, dtype=np.float32)[serials]  # shape (n, 3, 10)
    sums, counts = np.einsum("nkd,nkp->dp", kinds, units), kinds.sum(axis=(0, 1))
    leads = []
    for number, rival in asked:
        at = int((serials[number] != rival).argmax())
        pair = [int(serials[number][at]), rival[at]]
        known = (counts - kinds[number].sum(axis=0))[pair] >= _OF_EACH
        usual = _unit((sums - kinds[number].T @ units[number])[pair])
        apart = max(1 - float(usual[0] @ usual[1]), _LEAST_APART)
        own, other = (_shifted(looks[number, at]) @ usual.T).max(axis=0).tolist()
        leads.append((other - own) / apart if known.all() else -1.0)
    return leads


def _shifted(digit: Floats) -> Floats:
    """Return a digit, shape (28, 18), shifted each way, as rows: shape (25, 336)."""
    wide, high = _SIZE
    places = [(down, across) for down in range(2 * _SHIFT + 1) for across in range(2 * _SHIFT + 1)]
    return _unit(np.stack([digit[down : down + high, across : across + wide].ravel() for down, across in places]))


def _unit(rows: Floats) -> Floats:
    centred = rows - rows.mean(axis=-1, keepdims=True)
    return np.asarray(centred / (np.linalg.norm(centred, axis=-1, keepdims=True) + _TINY), dtype=np.float32)
