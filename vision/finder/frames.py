"""From what the network says of a tile's frame to its quad."""

import numpy as np
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE

OFFSET_UNIT = 16.0  # pixels in which the network counts the way to a tile's centre
SIZE_UNIT = 16.0  # pixels in which it counts a tile's half size

_AGREED = 0.75

Frames = NDArray[np.float64]  # shape (n, 9): centre, log frame xx xy yy, cos and sin of 4 and of 2 times the angle


def sizes(frames: Frames) -> NDArray[np.float64]:
    """Give half sizes in pixels, shape (n,): the geometric mean of a tile's half width and half height."""
    return np.asarray(SIZE_UNIT * np.exp((frames[:, 2] + frames[:, 4]) / 2))


def half_axes(frames: Frames, turned: float = 0.0) -> NDArray[np.float64]:
    """Give the half axes along the short and along the long ends in pixels, shape (n, 2, 2): one in each row.

    The frame's root R is the exponential of the symmetric matrix told; the axes are its images of two unit vectors
    that are square to each other (see `vision.training.finder_targets`). Four times their angle says how they lie,
    and two times says which of the two is the short one. `turned` (radians) is added to the angle.
    """
    log = frames[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
    values, vectors = np.linalg.eigh(log)
    root = SIZE_UNIT * np.einsum("nij,nj,nkj->nik", vectors, np.exp(values), vectors)
    angle = np.arctan2(frames[:, 6], frames[:, 5]) / 4
    # `angle` is right but for quarter turns; half turns do not matter.
    other = np.cos(2 * angle) * frames[:, 7] + np.sin(2 * angle) * frames[:, 8] < 0
    angle = angle + other * np.pi / 2 + turned
    c, s = np.cos(angle), np.sin(angle)
    units = np.stack([np.stack([c, s], axis=1), np.stack([-s, c], axis=1)], axis=1)
    return np.asarray(np.einsum("nij,naj->nai", root, units))


def is_turn_sure(frames: Frames) -> NDArray[np.bool_]:
    """Tell, shape (n,), where votes agree on the rotation: the mean of unit vectors is nearly one."""
    return np.asarray(np.hypot(frames[:, 5], frames[:, 6]) > _AGREED)


def quads_of(frames: Frames, turned: float = 0.0) -> NDArray[np.float64]:
    """Give parallelograms, shape (n, 4, 2), clockwise, corners 0-1 and 2-3 the short ends."""
    return np.asarray(frames[:, None, :2] + (2 * UNIT_SQUARE - 1) @ half_axes(frames, turned))
