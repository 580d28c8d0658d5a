"""Printed numbers: what may be concluded from what the network says of each back.

The network has learnt each sign for itself, from numbers 000 to 999: a number that is no serial (000, 137 to 999)
shows a misread. What is left counts only from a confidence on that is chosen from its calibration (docs/vision.md).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vision.geometry import Picture, Quad
from vision.marks.cut import cut_backs
from vision.marks.digits_net import Look, Shares, look_at
from vision.marks.edges import has_edges
from vision.marks.signs import MEANT, NOTHING, NUMBER, ONES, TURNED, UPRIGHT, UPSIDE_DOWN, UPSIDE_DOWN_MEANT
from vision.payload import LAST_SERIAL
from vision.sight import Mark

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SURE_AT_ONCE = 0.995  # confidence of a first look that needs no second: none was wrong from 0.98 on
_NO_NUMBER = 0.02  # share of a number up to which there is none: a second look would not change that
_MADE_OUT = 0.3  # confidence from which the way up of a number that is not read may be told
_LETTER_SURE = 0.9
_TOLD = 50.0  # times likelier that one way up must be than the other
_TOLD_APART = 1000.0  # the same where the number is a serial both ways up
_TINY = 1e-9  # where both looks see no 1 at all
Digits = tuple[int, ...]


def read_digits(picture: Picture, quads: Sequence[Quad]) -> list[Mark]:
    """Read the printed numbers on backs, `quads` each shape (4, 2), pixels; without one the confidence is about 0."""
    return [conclude(look) for look in look_twice(cut_backs(picture, quads))]


def look_twice(crops: Picture) -> list[Look]:
    """Look at crops, shape (n, 112, 80, 3); again, upside down, where the first look sees a number and is in doubt."""
    looks = look_at(crops)
    numbers = [number for number, look in enumerate(looks) if look.kind[NUMBER] > _NO_NUMBER]
    doubted = [number for number in numbers if conclude(looks[number]).confidence < SURE_AT_ONCE]
    for number, again in zip(doubted, look_at(crops[doubted][:, ::-1, ::-1]), strict=True):
        looks[number] = agreed(looks[number], again)
    for number, there in zip(numbers, has_edges(crops[numbers]), strict=True):
        looks[number] = looks[number] if there else _on_no_tile(looks[number])
    return looks


def _on_no_tile(look: Look) -> Look:
    """Take a number for print on something else: what it says is of no interest."""
    kind = look.kind.copy()
    kind[NOTHING] += kind[NUMBER]
    kind[NUMBER] = 0.0
    return replace(look, kind=kind)


def agreed(upright: Look, turned: Look) -> Look:
    """Put two looks at one back together, the second of which saw it upside down.

    Geometric means that are not made to sum to 1: where the two looks differ, everything becomes unlikely.
    """
    return Look(
        np.sqrt(upright.kind * turned.kind),
        np.sqrt(upright.ways * turned.ways[::-1]),
        np.sqrt(upright.letter * turned.letter),
        _agreed_signs(upright.signs, turned.signs[::-1, TURNED]),
        upright.places,
        (upright.spot - turned.spot) / 2,
    )


def _agreed_signs(one: Shares, other: Shares) -> Shares:
    """Give the geometric means; of a 1 that shows no way up the looks need not agree which way it stands."""
    means = np.sqrt(one * other)
    strokes = np.sqrt(one[:, ONES].sum(axis=1) * other[:, ONES].sum(axis=1))
    means[:, ONES] *= (strokes / np.maximum(means[:, ONES].sum(axis=1), _TINY))[:, None]
    return np.asarray(means, dtype=np.float32)


def conclude(look: Look) -> Mark:
    """Give the mark that a look amounts to: its most likely number, and which way up, as far as that can be told."""
    seen = [look.signs[:, UPRIGHT], look.signs[::-1, UPSIDE_DOWN]]
    meant = [look.signs @ MEANT, look.signs[::-1] @ MEANT[:, UPSIDE_DOWN_MEANT]]
    best = [_best(shares) for shares in meant]
    likely = [
        float(way) * _likely(shares, digits) for way, shares, (digits, _) in zip(look.ways, seen, best, strict=True)
    ]
    serials = [_serial(digits) for digits, _ in best]
    down = likely[1] > likely[0]
    if (
        serials[0] is not None and serials[0] == serials[1]
    ):  # then it does not matter which way up the looks took it for
        told = max(likely) > _TOLD_APART * min(likely)
        return _mark(look, serials[0], min(share for _, share in best), turned=down if told else None)
    if max(likely) > (_TOLD if None in serials else _TOLD_APART) * min(likely):
        return _mark(look, serials[down], float(look.ways[int(down)]) * best[down][1], turned=down)
    return _conclude_torn(look, serials, [share for _, share in best])


def _conclude_torn(look: Look, serials: list[int | None], shares: list[float]) -> Mark:
    """Decide where a number reads both ways up and shows neither: one may be no serial, else it stays open."""
    upright, turned = serials
    either = float(look.ways.sum())
    if upright is None or turned is None:
        return _mark(look, upright or turned, either * shares[upright is None], turned=upright is None)
    return _mark(look, None, either * min(shares), turned=None, either=(upright, turned))


def _best(shares: Shares) -> tuple[Digits, float]:
    """Give the likeliest digits, and how likely they are, from shares of each digit at each place, shape (3, 10)."""
    return tuple(int(digit) for digit in shares.argmax(axis=1)), float(shares.max(axis=1).prod())


def _likely(shares: Shares, digits: Digits) -> float:
    return float(np.prod([row[digit] for row, digit in zip(shares, digits, strict=True)]))


def _serial(digits: Digits) -> int | None:
    hundreds, tens, ones = digits
    serial = 100 * hundreds + 10 * tens + ones
    return serial if 1 <= serial <= LAST_SERIAL else None


def _mark(
    look: Look, serial: int | None, share: float, *, turned: bool | None, either: tuple[int, int] | None = None
) -> Mark:
    letter = int(look.letter.argmax())
    told = letter < len(_LETTERS) and look.letter[letter] > _LETTER_SURE
    spot = -look.spot if turned else look.spot
    confidence = min(float(look.kind[NUMBER]) * share, 1.0)
    way = turned if confidence > _MADE_OUT else None
    return Mark(serial, _LETTERS[letter] if told else None, way, confidence, spot, either)
