"""A second, closer look at each tile: cut out as a square, a small network moves its corners and judges what it is."""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.finder.network import as_blob
from vision.geometry import UNIT_SQUARE, Picture, Quad
from vision.networks import run

Quads = NDArray[np.float64]  # shape (n, 4, 2)

SIDE = 48  # pixels of a cut-out
REACH = 1.6  # it shows this much of the plane about the tile, whose own square reaches from -1 to 1
SQUARE: Quad = 2 * UNIT_SQUARE - 1
_CORNERS = 8  # the network's answer: corners, then logits of a tile, of its face up, of long ends where short are said
_WIDE = 36.0  # pixels of a tile's width that suit a cut-out: it takes one pixel of several where there are more
_AT_ONCE = 64  # cut-outs: they bound the memory


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Tiles after a closer look: `quads`, shape (n, 4, 2), pixels; `tile` and `face`, shape (n,), 0..1."""

    quads: Quads
    tile: NDArray[np.float64]
    face: NDArray[np.float64]


def cut(picture: Picture, quad: Quad) -> Picture:
    """Cut out a quad and what is about it as a square of SIDE pixels."""
    window = REACH * SQUARE
    way = cv2.getPerspectiveTransform(window.astype(np.float32), (SIDE * UNIT_SQUARE - 0.5).astype(np.float32))
    chain = way @ np.linalg.inv(to_pixels(quad))
    return np.asarray(
        cv2.warpPerspective(picture, chain, (SIDE, SIDE), borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8
    )


def to_pixels(quad: Quad) -> NDArray[np.float64]:
    """Give the homography from the square -1..1 to a quad, in OpenCV's pixels (counted from the first one's middle)."""
    return np.asarray(cv2.getPerspectiveTransform(SQUARE.astype(np.float32), (quad - 0.5).astype(np.float32)))


def look_closer(picture: Picture, quads: Quads, others: Quads, sure: NDArray[np.bool_]) -> Judged:
    """Move quads to where the tiles' corners are. What is no tile moves anywhere.

    `others` are second guesses of the same tiles, for those of which the first is not `sure`: that from which the
    corners are nearer is followed.
    """
    answer = _ask(picture, quads)
    doubted = np.flatnonzero(~sure)
    other = _ask(picture, others[doubted])
    better = _away(other) < _away(answer[doubted])
    quads, answer = quads.copy(), answer.copy()
    quads[doubted[better]], answer[doubted[better]] = others[doubted[better]], other[better]
    quads = _all_moved(quads, answer)
    answer = _ask(picture, quads)
    tile, face = (1 / (1 + np.exp(-np.clip(answer[:, _CORNERS + k], -30, 30))) for k in (0, 1))
    return Judged(_all_moved(quads, answer), tile, face)


def look_again(picture: Picture, quads: Quads) -> Judged:
    """Look closer at tiles of a full picture, from quads that are about right."""
    if not len(quads):
        return Judged(quads, np.zeros(0), np.zeros(0))
    factor = min(1.0, _WIDE / float(np.median(np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1))))
    size = (max(1, round(factor * picture.shape[1])), max(1, round(factor * picture.shape[0])))
    small = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    there = np.array(size) / [picture.shape[1], picture.shape[0]]
    judged = look_closer(small, quads * there, quads * there, np.ones(len(quads), dtype=bool))
    return replace(judged, quads=judged.quads / there)


def _away(answer: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give how far the corners are, less where a tile is likely."""
    return np.asarray(np.abs(answer[:, :_CORNERS]).mean(axis=1) - answer[:, _CORNERS] / 20)


def _all_moved(quads: Quads, answers: NDArray[np.float64]) -> Quads:
    return np.array([_moved(quad, told) for quad, told in zip(quads, answers, strict=True)]).reshape(-1, 4, 2)


def _ask(picture: Picture, quads: Quads) -> NDArray[np.float64]:
    answers = [np.zeros((0, _CORNERS + 3))]
    for first in range(0, len(quads), _AT_ONCE):
        crops = np.array([cut(picture, quad) for quad in quads[first : first + _AT_ONCE]])
        answers.append(run("closeup", as_blob(crops))[0].astype(np.float64))
    return np.concatenate(answers)


def _moved(quad: Quad, told: NDArray[np.float64]) -> Quad:
    corners = SQUARE + np.clip(told[:_CORNERS].reshape(4, 2), -0.95, 0.95)
    moved = cv2.perspectiveTransform(corners[None], to_pixels(quad))[0] + 0.5
    return np.asarray(np.roll(moved, 1, axis=0) if told[_CORNERS + 2] > 0 else moved, dtype=np.float64)
