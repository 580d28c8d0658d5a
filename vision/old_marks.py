"""Stage 1, picture to marks: every DataMatrix of ours, with its corners. Nothing is guessed: zxing corrects or refuses.

A chance decode is out of the question: Reed-Solomon accepts about one random grid in 600,000 (10 modules; far fewer
with 12 and 14), and what it accepts must then be one of three formats with a serial of 1..136.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import hypot

import cv2
import numpy as np
import zxingcpp

from vision.geometry import Picture, Points, Quad
from vision.payload import Payload, module_count, parse_payload


@dataclass(frozen=True, eq=False)
class Mark:
    """A decoded label: `quad` are the DataMatrix's own corners in pixels, shape (4, 2)."""

    payload: Payload
    quad: Quad
    confidence: float
    modules: int = 14

    @cached_property
    def centre(self) -> Points:
        """The middle, shape (2,), pixels."""
        return np.asarray(self.quad.mean(axis=0))

    @property
    def right(self) -> Points:
        """The way from left to right, shape (2,), as long as the mark is wide."""
        return np.asarray((self.quad[1] + self.quad[2] - self.quad[0] - self.quad[3]) / 2)

    @cached_property
    def size(self) -> float:
        """Mean length of a side, pixels."""
        return float(np.linalg.norm(self.quad - np.roll(self.quad, 1, axis=0), axis=1).mean())


AT_FIRST_SIGHT = 0.999
"""Decoded in the picture as it came."""
AT_A_CLOSER_LOOK = 0.99
"""Decoded in an enlarged, sharpened piece: as safe against chance, yet it took several tries."""

_SHARPER = ((3.0, 3.0), (2.0, 4.0))  # radius in pixels: about a module of a label in a tray picture, and less

_LOCAL = zxingcpp.Binarizer.LocalAverage
_GLOBAL = zxingcpp.Binarizer.GlobalHistogram


def decode(grey: Picture, confidence: float, *, local: bool = True) -> list[Mark]:
    """Decode every label of ours in a grey picture, once."""
    found = zxingcpp.read_barcodes(
        np.ascontiguousarray(grey),
        formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.DataMatrix),
        try_downscale=False,
        try_invert=False,
        binarizer=_LOCAL if local else _GLOBAL,
    )
    marks = []
    for barcode in found:
        corners = barcode.position
        quad = np.array(
            [[p.x, p.y] for p in (corners.top_left, corners.top_right, corners.bottom_right, corners.bottom_left)],
            dtype=np.float64,
        )
        payload = parse_payload(barcode.text)
        if payload is not None:
            marks.append(Mark(payload, quad, confidence, module_count(barcode.text)))
    return marks


def find_marks(grey: Picture) -> tuple[Mark, ...]:
    """Find the labels of a whole picture: two binarisers, each sees some that the other does not."""
    return merge_marks([*decode(grey, AT_FIRST_SIGHT), *decode(grey, AT_FIRST_SIGHT, local=False)])


def find_more_marks(grey: Picture, marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """Find labels that blur hides: the whole picture sharpened; what was found before is kept."""
    for radius, amount in _SHARPER:
        sharp = sharpen(grey, radius, amount)
        marks = merge_marks([*marks, *decode(sharp, AT_A_CLOSER_LOOK, local=False), *decode(sharp, AT_A_CLOSER_LOOK)])
    return marks


def sharpen(grey: Picture, radius: float, amount: float) -> Picture:
    """Add `amount` times what a blur of `radius` pixels takes away."""
    return np.asarray(
        cv2.addWeighted(grey, 1 + amount, cv2.GaussianBlur(grey, (0, 0), radius), -amount, 0), dtype=np.uint8
    )


def merge_marks(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Keep one of several decodes of the same label; decodes that contradict each other are all dropped."""
    kept: list[Mark] = []
    refuted: list[Mark] = []
    for mark in marks:
        same_place = [other for other in kept if lie_together(mark, other)]
        if any(other.payload != mark.payload for other in same_place):
            refuted += same_place
        if not same_place:
            kept.append(mark)
    return tuple(mark for mark in kept if not any(mark is other for other in refuted))


def lie_together(one: Mark, other: Mark) -> bool:
    """Tell whether two decodes lie on one label."""
    right, down = one.centre - other.centre
    return hypot(right, down) < 0.6 * max(one.size, other.size)
