"""A DataMatrix module by module: for labels too blurred for a decoder that has to find them itself.

The frame of every DataMatrix is known (black L, dashed edges, white about it), so the grid is first fitted to it.
What the modules then say must still pass the label's own Reed-Solomon code: it is corrected or refused.
"""

from collections.abc import Iterator
from functools import cache

import cv2
import numpy as np
import zxingcpp
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE, Picture, Points, Quad, flatten
from vision.payload import Payload, parse_payload

QUIET = 1  # modules of white about a DataMatrix
_SAMPLES = 4  # pixels a module when it is sampled; the inner half of them counts
_SHARPER = (0.0, 0.5, 1.0, 1.6)  # how much of the neighbouring modules is taken away: they blur into each other
_LEVELS = (0.5, 0.42, 0.58, 0.66)  # between the frame's black and white; blur lets white win
_NUDGES = (1.2, 0.6, 0.3)  # pixels by which a corner is moved in search of a better fit
_ROUNDS = 3


def read_modules(flat: Picture, quad: Quad, count: int) -> Payload | None:
    """Read the DataMatrix of `count` modules whose corners lie about `quad`, shape (4, 2), of a flat grey picture."""
    for fit in (quad, _fit_frame(flat, quad, count)):
        for white in _thresholds(_sample(flat, fit, count)):
            payload = _decode(white)
            if payload is not None:
                return payload
    return None


def _thresholds(values: Points) -> Iterator[NDArray[np.bool_]]:
    """Tell white from black in several ways; `values` has the quiet zone, what comes out has not."""
    for amount in _SHARPER:
        sharp = values + amount * (values - cv2.blur(values, (3, 3), borderType=cv2.BORDER_REFLECT))
        core = sharp[QUIET:-QUIET, QUIET:-QUIET]
        dark = float(np.median(np.concatenate([core[:, 0], core[-1]])))
        light = float(np.median(np.concatenate([core[0, 1::2], core[::2, -1]])))
        for level in _LEVELS:
            yield core > dark + level * (light - dark)


def _fit_frame(flat: Picture, quad: Quad, count: int) -> Quad:
    """Move each corner by a little until the frame's black and white differ most."""
    frame = _frame(count)
    best, fit = float((_sample(flat, quad, count) * frame).sum()), quad
    for nudge in _NUDGES:
        for _ in range(_ROUNDS):
            before = best
            for corner, axis, way in np.ndindex(4, 2, 2):
                moved = fit.copy()
                moved[corner, axis] += nudge if way else -nudge
                score = float((_sample(flat, moved, count) * frame).sum())
                if score > best:
                    best, fit = score, moved
            if best == before:
                break
    return fit


@cache
def _frame(count: int) -> Points:
    """Give the weight of each module's brightness, quiet zone included: white counts for, black against."""
    frame = np.full((count + 2 * QUIET,) * 2, 1.0)
    inner = frame[QUIET:-QUIET, QUIET:-QUIET]
    inner[1:-1, 1:-1] = 0
    inner[0, ::2] = inner[1::2, -1] = -1
    inner[:, 0] = inner[-1] = -1
    frame[frame > 0] /= (frame > 0).sum()
    frame[frame < 0] /= (frame < 0).sum()
    return frame


def _sample(flat: Picture, quad: Quad, count: int) -> Points:
    """Give each module's mean brightness, the quiet zone included, shape (count + 2, count + 2)."""
    modules = count + 2 * QUIET
    square = ((UNIT_SQUARE * count + QUIET) * _SAMPLES).astype(np.float32)
    there = np.asarray(cv2.getPerspectiveTransform(square, quad.astype(np.float32)), dtype=np.float64)
    even = flatten(flat, there, (0.0, 0.0, modules * _SAMPLES, modules * _SAMPLES), 1.0)
    inner = even.reshape(modules, _SAMPLES, modules, _SAMPLES)[:, 1:-1, :, 1:-1]
    return np.asarray(inner.mean(axis=(1, 3)), dtype=np.float64)


def _decode(white: NDArray[np.bool_]) -> Payload | None:
    """Decode a clean grid of modules, its frame drawn as it must be."""
    grid = np.where(white, 255, 0).astype(np.uint8)
    grid[0, 1::2] = grid[::2, -1] = 255
    grid[0, ::2] = grid[1::2, -1] = 0
    grid[:, 0] = grid[-1, :] = 0
    large = cv2.resize(grid, None, fx=4, fy=4, interpolation=cv2.INTER_NEAREST)
    clean = cv2.copyMakeBorder(large, 8, 8, 8, 8, cv2.BORDER_CONSTANT, value=(255,))
    found = zxingcpp.read_barcodes(
        clean,
        formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.DataMatrix),
        is_pure=True,
        try_downscale=False,
        try_invert=False,
    )
    return parse_payload(found[0].text) if found else None
