"""Stage 5, labels to tiles: the back's outline about each label, in the plane.

All backs of a tray are alike, so their common size and the label's usual seat on them are found first, from the
colour that ends at their edges; then each tile is moved by the little it lies otherwise than the rest.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, Points, flatten
from vision.lattice import ROW_LENGTHS, Lattice

ASPECT = 0.735  # width by height of a mahjong tile's back: 22 by 30 and 28 by 38 mm alike
_SCALE = 20.0  # pixels of the flat picture for a label's side
_NARROWEST, _WIDEST = 0.86, 0.97  # width in pitches of what shows the back's colour
_ROUNDED = 1.045  # the box's sharp corners lie outside its rounded, shaded edge (mean over the development pictures)
_SEAT = (0.3, 0.6)  # how far the tile's middle lies from its label's, right and down, label sides
_PLAY = (0.14, 0.2)  # how far one label's seat differs from the usual one

Distances = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Flat:
    """The tray seen from straight above: `pixels` of the plane's window that begins at `corner`, `scale` a unit."""

    pixels: Picture
    corner: Points
    scale: float

    def patch(self, centre: Points, width: float, height: float) -> Picture:
        """Cut out a rectangle of the plane, shape (height, width, 3) in the flat picture's pixels."""
        size = (max(1, round(width * self.scale)), max(1, round(height * self.scale)))
        at = (centre - self.corner) * self.scale - 0.5
        return np.asarray(cv2.getRectSubPix(self.pixels, size, (float(at[0]), float(at[1]))), dtype=np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What the backs of a tray have in common: size, and the way from a label's middle to its tile's, label sides."""

    width: float
    height: float
    seat: Points


def flatten_tray(picture: Picture, lattice: Lattice) -> Flat:
    """Look at the tray from straight above."""
    right = (ROW_LENGTHS[0] + 0.3) * lattice.pitch
    window = (-1.3 * lattice.pitch, -0.9 * lattice.row_pitch, right, 2.9 * lattice.row_pitch)
    return Flat(flatten(picture, lattice.to_pixels, window, _SCALE), np.array(window[:2]), _SCALE)


def fit_shape(flat: Flat, spots: Points, lattice: Lattice) -> Shape:
    """Find size and seat from all tiles with a label at `spots`, shape (n, 2), in the plane."""
    strange = np.asarray(np.mean([_strangeness(flat, spot, lattice) for spot in spots], axis=0), dtype=np.float32)
    best, shape = -np.inf, Shape(0.95 * lattice.pitch, 0.95 * lattice.pitch / ASPECT, np.zeros(2))
    for width in np.arange(_NARROWEST, _WIDEST, 0.01) * lattice.pitch:
        height = width / ASPECT
        if height > lattice.row_pitch:
            break
        across, x = _best_edges(_profile(strange, 0, lattice), width * flat.scale, _SEAT[0] * flat.scale)
        down, y = _best_edges(_profile(strange, 1, lattice), height * flat.scale, _SEAT[1] * flat.scale)
        if across + down > best:
            best, shape = across + down, Shape(width, height, np.array([x, y]) / flat.scale)
    width = min(shape.width * _ROUNDED, 0.995 * lattice.pitch)
    return Shape(width, min(width / ASPECT, 0.995 * lattice.row_pitch), shape.seat)


def place_tile(flat: Flat, spot: Points, shape: Shape, lattice: Lattice, *, turned: bool = False) -> Points:
    """Find the middle of the tile whose label lies at `spot`, shape (2,), in the plane."""
    middle = spot - shape.seat if turned else spot + shape.seat
    strange = _strangeness(flat, middle, lattice, spot)
    _, x = _best_edges(_profile(strange, 0, lattice), shape.width / _ROUNDED * flat.scale, _PLAY[0] * flat.scale)
    _, y = _best_edges(_profile(strange, 1, lattice), shape.height / _ROUNDED * flat.scale, _PLAY[1] * flat.scale)
    return np.asarray(middle + np.array([x, y]) / flat.scale)


def _strangeness(flat: Flat, centre: Points, lattice: Lattice, label: Points | None = None) -> Distances:
    """Give how far each pixel about `centre` is from the colour of the back around the label, 0..1."""
    patch = flat.patch(centre, 1.5 * lattice.pitch, 1.4 * lattice.row_pitch)
    return strangeness(patch, back_colour(flat, centre if label is None else label))


def strangeness(patch: Picture, colour: Points) -> Distances:
    """Give how far each pixel is from a colour, shape (3,), saturating at 1 where it is plainly another one."""
    away = np.abs(patch.astype(np.float32) - colour.astype(np.float32)).max(axis=2)
    return np.asarray(np.minimum(away / 40.0, 1.0), dtype=np.float32)


def back_colour(flat: Flat, label: Points) -> Points:
    """Give the colour of the back on both sides of and above a label, BGR, shape (3,)."""
    strips = [flat.patch(label + np.array(way), 0.35, 0.9) for way in ((-0.95, 0.0), (0.95, 0.0))]
    strips.append(flat.patch(label + np.array([0.0, -0.95]), 0.9, 0.3))
    return np.asarray(np.median(np.concatenate([strip.reshape(-1, 3) for strip in strips]), axis=0))


def _profile(strange: Distances, axis: int, lattice: Lattice) -> Points:
    """Give the mean strangeness along one axis, over the middle of the tile across it."""
    length = strange.shape[0 if axis == 0 else 1]
    keep = 0.7 * (lattice.pitch / ASPECT / (1.4 * lattice.row_pitch) if axis == 0 else 1 / 1.5)
    middle = slice(round(length * (1 - keep) / 2), round(length * (1 + keep) / 2))
    part = strange[middle] if axis == 0 else strange[:, middle]
    return np.asarray(part.mean(axis=axis), dtype=np.float64)


def _best_edges(profile: Points, size: float, reach: float) -> tuple[float, float]:
    """Give the strength of the best pair of edges `size` apart, and how far its middle is from the profile's."""
    rise = np.convolve(profile, [1.0, 1.0, -1.0, -1.0], mode="same")  # at i: what follows less what came before
    middle = (len(profile) - 1) / 2 + 0.5
    shifts = np.arange(-reach, reach + 0.25, 0.5)
    at = np.arange(len(profile))
    right = np.interp(middle + shifts + size / 2, at, rise)
    left = np.interp(middle + shifts - size / 2, at, rise)
    score = right - left - 0.02 * np.abs(shifts) / max(reach, 1.0)
    best = int(score.argmax())
    return float(score[best]), float(shifts[best])
