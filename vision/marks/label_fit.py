"""Modules fitted to a patch, to a tenth of a module, and read off it.

The fit is Gauss-Newton on brightness (B. D. Lucas and T. Kanade, An iterative image registration technique, 1981), with
black and white unknown.
"""

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.marks.label_patch import PIXELS, QUIET, Affine, Grid, Patch, Pose

Row = NDArray[np.float64]  # shape (n,)

FINE = 2  # samples a module, each way, in a fit
_SAMPLES = (3, 0.2)  # of a module, each way, when it is read, and how far they are apart: its inner half
_BLUR = 0.45  # modules: what cameras usually do to a label that is hard to read
_ROUNDS = 6
_STILL = 0.12  # pixels: a step that ends the fit
_HELD = 1e-3  # share by which a step is held: the frame alone says little of shear
_STRETCH = 0.2  # a fit that scales or turns a label by more than this share has lost it
_STRAY = 2.5  # modules by which a fit may move


@dataclass(frozen=True, eq=False)
class Template:
    """What must be seen at `at`, shape (n, 2), modules from the DataMatrix's corner: black is 0 and white is 1."""

    at: NDArray[np.float64]
    grey: Row

    @cached_property
    def middle(self) -> Row:
        """The middle of `at`, shape (2,)."""
        return np.asarray(self.at.mean(axis=0))

    @cached_property
    def lever(self) -> NDArray[np.float64]:
        """How far each point is moved by a change of the affine map about the middle, shape (n, 3)."""
        return np.column_stack([self.at - self.middle, np.ones_like(self.grey)])


def template(white: Grid) -> Template:
    """Make a template of modules with their quiet zone, shape (count + 2, count + 2), a little blurred."""
    large = cv2.resize(white, None, fx=FINE, fy=FINE, interpolation=cv2.INTER_NEAREST)
    soft = cv2.GaussianBlur(large, (0, 0), _BLUR * FINE, borderType=cv2.BORDER_REPLICATE)
    return Template(_spots(len(white), FINE, 1 / FINE), np.asarray(soft, dtype=np.float64).ravel())


def fit_pose(patch: Patch, start: Affine, wanted: Template) -> Pose:
    """Fit the affine map from modules to pixels; a fit that runs away gives its start."""
    right, down = (cv2.Sobel(patch.grey, cv2.CV_32F, *order, ksize=3, scale=1 / 8) for order in ((1, 0), (0, 1)))
    sloped = np.asarray(cv2.merge([patch.grey, right, down]), dtype=np.float32)
    affine = start.copy()
    for _ in range(_ROUNDS):
        step = _step(_look(sloped, affine, wanted.at), wanted)
        affine += step
        if np.abs(step[:, 2]).max() < _STILL:
            break
    return pose_at(patch, affine if _plausible(affine, start, patch.kind.count) else start, wanted)


def pose_at(patch: Patch, affine: Affine, wanted: Template) -> Pose:
    """Say how like the template a patch is, there."""
    seen = _look(patch.grey, affine, wanted.at)
    one, other = seen - seen.mean(), wanted.grey - wanted.grey.mean()
    return Pose(affine, float(one @ other / np.sqrt((one @ one) * (other @ other) + 1e-9)))


def sample_modules(patch: Patch, pose: Pose) -> Grid:
    """Give each module's mean brightness, the quiet zone included, shape (count + 2, count + 2)."""
    modules = patch.kind.count + 2 * QUIET
    fine, apart = _SAMPLES
    seen = _look(patch.grey, pose.affine, _spots(modules, fine, apart))
    return np.asarray(seen.reshape(modules, fine, modules, fine).mean(axis=(1, 3)), dtype=np.float32)


def _step(sloped: NDArray[np.float64], wanted: Template) -> Affine:
    """Solve for the map's change together with black and white; `sloped` is brightness and its slopes, shape (n, 3)."""
    seen, right, down = sloped.T
    flat, lever = np.ones_like(seen), wanted.lever
    design = np.column_stack([flat, wanted.grey, -right[:, None] * lever, -down[:, None] * lever])
    normal = design.T @ design
    normal[np.diag_indices(len(normal))] *= 1 + _HELD
    normal[np.diag_indices(len(normal))] += 1e-6
    change = np.linalg.solve(normal, design.T @ seen)[2:].reshape(2, 3)
    change[:, 2] -= change[:, :2] @ wanted.middle
    return np.asarray(change)


def _look(part: Grid, affine: Affine, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Read a picture of one or more channels off at points in modules, shape (n, 2)."""
    pixels = (at @ affine[:, :2].T + affine[:, 2]).astype(np.float32)
    seen = cv2.remap(part, pixels[:, None, 0], pixels[:, None, 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen[:, 0], dtype=np.float64)


def _plausible(affine: Affine, start: Affine, count: int) -> bool:
    moved = np.abs((affine - start) @ [count / 2, count / 2, 1.0]).max() / PIXELS
    bent = np.abs(affine[:, :2] - start[:, :2]).max() / PIXELS
    return bool(moved < _STRAY and bent < _STRETCH)


def _spots(modules: int, fine: int, apart: float) -> NDArray[np.float64]:
    """Give `fine` squared points about each module's middle, rows first, shape (n, 2): right, down, in modules."""
    line = (np.arange(modules)[:, None] - QUIET + 0.5 + (np.arange(fine) - (fine - 1) / 2) * apart).ravel()
    right, down = np.meshgrid(line, line)
    return np.column_stack([right.ravel(), down.ravel()])
