"""The frame that every DataMatrix of a size shares (black L, dashed edges, white about it), searched in a patch."""

from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.marks.label_fit import FINE, Template, fit_pose, pose_at, template
from vision.marks.label_patch import PIXELS, QUIET, Affine, Grid, Patch, Pose

ANGLES = (0.0, -3.0, 3.0)  # degrees: labels are stuck on within a few
_BLUR = 0.4  # modules


def find_frame(patch: Patch, angles: Sequence[float] = ANGLES) -> Pose:
    """Search the frame over the whole patch at some angles, degrees; good to half a module."""
    count = patch.kind.count
    peaks = []
    for angle in angles:
        match = cv2.matchTemplate(patch.grey, _kernel(count, angle), cv2.TM_CCORR)
        _, peak, _, (right, down) = cv2.minMaxLoc(match)
        peaks.append((peak, angle, (right, down)))
    _, angle, at = max(peaks)
    return pose_at(patch, _affine(count, angle, at), _template(count))


def fit_frame(patch: Patch, pose: Pose) -> Pose:
    """Fit the frame from where it was found."""
    return fit_pose(patch, pose.affine, _template(patch.kind.count))


def _affine(count: int, angle: float, at: tuple[int, int]) -> Affine:
    """Give the map from modules to pixels of a frame whose kernel's corner was found at `at`."""
    turn = np.radians(angle)
    spin = PIXELS * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    middle = np.array(at) + (count + 2 * QUIET) * PIXELS / 2 - 0.5
    return np.column_stack([spin, middle - spin @ [count / 2, count / 2]])


@cache
def _frame(count: int) -> tuple[Grid, NDArray[np.bool_]]:
    """Draw the frame with its quiet zone, the unknown inside half grey, and say which modules are known."""
    grid = np.ones((count + 2 * QUIET,) * 2, dtype=np.float32)
    known = np.ones(grid.shape, dtype=np.bool_)
    inner = grid[QUIET:-QUIET, QUIET:-QUIET]
    inner[1:-1, 1:-1] = 0.5
    inner[0, ::2] = inner[1::2, -1] = 0
    inner[:, 0] = inner[-1] = 0
    known[QUIET + 1 : -QUIET - 1, QUIET + 1 : -QUIET - 1] = False
    return grid, known


@cache
def _template(count: int) -> Template:
    grid, known = _frame(count)
    chosen = np.repeat(np.repeat(known, FINE, axis=0), FINE, axis=1).ravel()
    whole = template(grid)
    return Template(whole.at[chosen], whole.grey[chosen])


@cache
def _kernel(count: int, angle: float) -> Grid:
    """Draw the frame at an angle as weights that sum to nothing: flat ground scores 0."""
    grid, known = _frame(count)
    weight = np.where(known, grid - grid[known].mean(), 0).astype(np.float32)
    large = cv2.resize(weight, None, fx=PIXELS, fy=PIXELS, interpolation=cv2.INTER_NEAREST)
    side = large.shape[0]
    spin = cv2.getRotationMatrix2D(((side - 1) / 2, (side - 1) / 2), -angle, 1.0)
    soft = cv2.GaussianBlur(large, (0, 0), _BLUR * PIXELS)
    return np.asarray(cv2.warpAffine(soft, spin, (side, side)), dtype=np.float32)
