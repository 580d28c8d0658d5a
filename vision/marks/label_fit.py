"""Cut a label out, find the frame of its DataMatrix, and locate its modules to a tenth of a module.

The frame (a black L, dashed edges, and a white margin) is common to all DataMatrix codes of one size. A
`LabelCandidate` is one possible label of a known kind, at one place and one way up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import ceil

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE, Picture, Points, Quad, homography_between, project, rotation_by
from vision.marks import LabelKind
from vision.marks.label_code import QUIET, Grid, LabelGuess, guess_label

Affine = NDArray[np.float64]  # shape (2, 3)

HEIGHT_BY_WIDTH = 1.36  # a tile's height divided by its width; 1.3 to 1.4 is usual, and the fit corrects the rest
PIXELS = 4  # pixels of a patch per module
_COARSEST = 1.5  # largest number of picture pixels per pixel of a patch, each way
_FINEST = 8  # largest factor of oversampling


@dataclass(frozen=True, slots=True, eq=False)
class LabelPatch:
    """The part of a tile where a label of a kind should lie, with `margin` modules around it.

    `grey` has shape (side, side), and shows the label upright, assuming that it is (or is not) `turned` in its quad.
    """

    grey: Grid
    kind: LabelKind
    turned: bool
    margin: float


@dataclass(frozen=True, slots=True, eq=False)
class LabelPose:
    """The position of the modules in a patch.

    `affine` maps modules, counted from the DataMatrix's corner, to OpenCV's pixels. `likeness`, -1..1, is the
    correlation of the patch with the template that was fitted.
    """

    affine: Affine
    likeness: float


def cut_patch(grey: Picture, quad: Quad, kind: LabelKind, *, turned: bool, margin: float) -> LabelPatch:
    """Cut the part where a label of this kind should lie on the tile `quad`, shape (4, 2), out of a grey picture."""
    modules = kind.count + 2 * margin
    side = round(modules * PIXELS)
    on_tile = _rotated(_shares(UNIT_SQUARE * modules - margin, kind), kind.askew)
    square = project(homography_between(UNIT_SQUARE, quad), on_tile * (-1 if turned else 1) + 0.5)
    finer = _oversampling(square, side)
    fine = side * finer
    # OpenCV's origin is the middle of the first pixel, this room's is its corner: half a pixel each way.
    chain = homography_between(square - 0.5, UNIT_SQUARE * fine - 0.5)
    flat = cv2.warpPerspective(grey, chain, (fine, fine), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    if finer > 1:
        flat = cv2.resize(flat, (side, side), interpolation=cv2.INTER_AREA)
    return LabelPatch(flat.astype(np.float32), kind, turned, margin)


def measured_kind(patch: LabelPatch, pose: LabelPose) -> LabelKind:
    """Return the kind of a label that was found: `patch.kind` with the actual spot and size."""
    kind = patch.kind
    pixels = UNIT_SQUARE * kind.count @ pose.affine[:, :2].T + pose.affine[:, 2]
    on_tile = _shares((pixels + 0.5) / PIXELS - patch.margin, kind)
    return replace(kind, spot=np.asarray(on_tile.mean(axis=0)), size=on_tile[2] - on_tile[0])


def _shares(modules: Points, kind: LabelKind) -> Points:
    """Map points in modules from the DataMatrix's corner, shape (n, 2), to shares of the tile from its centre."""
    return np.asarray(kind.spot + (modules / kind.count - 0.5) * kind.size)


def _rotated(shares: Points, degrees: float) -> Points:
    """Rotate points, in shares of a tile's width and height, shape (n, 2), clockwise about its centre."""
    angle = np.radians(degrees)
    spin = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.asarray(shares * [1, HEIGHT_BY_WIDTH] @ spin / [1, HEIGHT_BY_WIDTH])


def _oversampling(square: Quad, side: int) -> int:
    """Return the factor of oversampling, chosen so that no pixel of a large label is skipped."""
    longest = float(np.linalg.norm(square - square[[3, 0, 1, 2]], axis=1).max())
    return min(max(ceil(longest / side / _COARSEST), 1), _FINEST)


Row = NDArray[np.float64]  # shape (n,)

FINE = 2  # samples per module, each way, in a fit
_SAMPLES = (3, 0.2)  # samples per module, each way, for reading, and modules between them: the inner half
_MODULE_BLUR = 0.45  # modules: usual blur of a label that is hard to read
_ROUNDS = 6
_STILL = 0.12  # pixels: a smaller step ends the fit
_DAMPING = 1e-3  # damping of a step, as the frame alone hardly determines shear
_STRETCH = 0.2  # a fit that scales or turns a label by more than this share has failed
_STRAY = 2.5  # modules by which a fit may move a label


@dataclass(frozen=True, eq=False)
class ModuleTemplate:
    """Expected brightness, 0 black to 1 white, at points `at`, shape (n, 2), modules from the DataMatrix's corner."""

    at: NDArray[np.float64]
    grey: Row

    @cached_property
    def middle(self) -> Row:
        """The mean of `at`, shape (2,)."""
        return np.asarray(self.at.mean(axis=0))

    @cached_property
    def lever(self) -> NDArray[np.float64]:
        """The movement of each point per change of an affine map about the middle, shape (n, 3)."""
        return np.column_stack([self.at - self.middle, np.ones_like(self.grey)])


def module_template(white: Grid) -> ModuleTemplate:
    """Return a slightly blurred template of modules with their quiet zone, shape (count + 2, count + 2)."""
    large = cv2.resize(white, None, fx=FINE, fy=FINE, interpolation=cv2.INTER_NEAREST)
    soft = cv2.GaussianBlur(large, (0, 0), _MODULE_BLUR * FINE, borderType=cv2.BORDER_REPLICATE)
    return ModuleTemplate(_spots(len(white), FINE, 1 / FINE), np.asarray(soft, dtype=np.float64).ravel())


def fit_label_pose(patch: LabelPatch, start: Affine, template: ModuleTemplate) -> LabelPose:
    """Fit the affine map from modules to pixels; if the fit diverges, return the pose at its start."""
    right, down = (cv2.Sobel(patch.grey, cv2.CV_32F, *order, ksize=3, scale=1 / 8) for order in ((1, 0), (0, 1)))
    with_gradients = np.asarray(cv2.merge([patch.grey, right, down]), dtype=np.float32)
    affine = start.copy()
    for _ in range(_ROUNDS):
        step = _step(_sample(with_gradients, affine, template.at), template)
        affine += step
        if np.abs(step[:, 2]).max() < _STILL:
            break
    return label_pose_at(patch, affine if _plausible(affine, start, patch.kind.count) else start, template)


def label_pose_at(patch: LabelPatch, affine: Affine, template: ModuleTemplate) -> LabelPose:
    """Return the pose with this map, and the correlation of the patch with the template there."""
    seen = _sample(patch.grey, affine, template.at)
    one, other = seen - seen.mean(), template.grey - template.grey.mean()
    return LabelPose(affine, float(one @ other / np.sqrt((one @ one) * (other @ other) + 1e-9)))


def sample_modules(patch: LabelPatch, pose: LabelPose) -> Grid:
    """Return each module's mean brightness, the quiet zone included, shape (count + 2, count + 2)."""
    modules = patch.kind.count + 2 * QUIET
    fine, apart = _SAMPLES
    seen = _sample(patch.grey, pose.affine, _spots(modules, fine, apart))
    return np.asarray(seen.reshape(modules, fine, modules, fine).mean(axis=(1, 3)), dtype=np.float32)


def _step(with_gradients: NDArray[np.float64], template: ModuleTemplate) -> Affine:
    """Solve for the change of the map, together with the levels of black and white.

    `with_gradients`, shape (n, 3), is the brightness at each point and its two gradients.
    """
    seen, right, down = with_gradients.T
    flat, lever = np.ones_like(seen), template.lever
    design = np.column_stack([flat, template.grey, -right[:, None] * lever, -down[:, None] * lever])
    normal = design.T @ design
    normal[np.diag_indices(len(normal))] *= 1 + _DAMPING
    normal[np.diag_indices(len(normal))] += 1e-6
    change = np.linalg.solve(normal, design.T @ seen)[2:].reshape(2, 3)
    change[:, 2] -= change[:, :2] @ template.middle
    return np.asarray(change)


def _sample(part: Grid, affine: Affine, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sample a picture of one or more channels at points in modules, shape (n, 2)."""
    pixels = (at @ affine[:, :2].T + affine[:, 2]).astype(np.float32)
    seen = cv2.remap(part, pixels[:, None, 0], pixels[:, None, 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen[:, 0], dtype=np.float64)


def _plausible(affine: Affine, start: Affine, count: int) -> bool:
    moved = np.abs((affine - start) @ [count / 2, count / 2, 1.0]).max() / PIXELS
    sheared = np.abs(affine[:, :2] - start[:, :2]).max() / PIXELS
    return bool(moved < _STRAY and sheared < _STRETCH)


def _spots(modules: int, fine: int, apart: float) -> NDArray[np.float64]:
    """Return `fine` by `fine` points around each module's middle, row by row, shape (n, 2): right, down, in modules."""
    line = (np.arange(modules)[:, None] - QUIET + 0.5 + (np.arange(fine) - (fine - 1) / 2) * apart).ravel()
    right, down = np.meshgrid(line, line)
    return np.column_stack([right.ravel(), down.ravel()])


ANGLES = (0.0, -3.0, 3.0)  # degrees: labels are stuck on straight to within a few degrees
_FRAME_BLUR = 0.4  # modules


def find_frame(patch: LabelPatch, angles: Sequence[float] = ANGLES) -> LabelPose:
    """Search the whole patch for the frame at some angles, degrees; accurate to half a module."""
    count = patch.kind.count
    peaks = []
    for angle in angles:
        match = cv2.matchTemplate(patch.grey, _kernel(count, angle), cv2.TM_CCORR)
        _, peak, _, (right, down) = cv2.minMaxLoc(match)
        peaks.append((peak, angle, (right, down)))
    _, angle, at = max(peaks)
    return label_pose_at(patch, _affine(count, angle, at), _template(count))


def _affine(count: int, angle: float, at: tuple[int, int]) -> Affine:
    """Return the map from modules to pixels for a frame whose kernel matched with its corner at `at`."""
    spin = PIXELS * rotation_by(np.radians(angle))
    middle = np.array(at) + (count + 2 * QUIET) * PIXELS / 2 - 0.5
    return np.column_stack([spin, middle - spin @ [count / 2, count / 2]])


@cache
def _frame(count: int) -> tuple[Grid, NDArray[np.bool_]]:
    """Return the frame with its quiet zone, with the unknown inside grey, and a mask of the known modules."""
    grid = np.ones((count + 2 * QUIET,) * 2, dtype=np.float32)
    known = np.ones(grid.shape, dtype=np.bool_)
    inner = grid[QUIET:-QUIET, QUIET:-QUIET]
    inner[1:-1, 1:-1] = 0.5
    inner[0, ::2] = inner[1::2, -1] = 0
    inner[:, 0] = inner[-1] = 0
    known[QUIET + 1 : -QUIET - 1, QUIET + 1 : -QUIET - 1] = False
    return grid, known


@cache
def _template(count: int) -> ModuleTemplate:
    grid, known = _frame(count)
    chosen = np.repeat(np.repeat(known, FINE, axis=0), FINE, axis=1).ravel()
    whole = module_template(grid)
    return ModuleTemplate(whole.at[chosen], whole.grey[chosen])


@cache
def _kernel(count: int, angle: float) -> Grid:
    """Return the frame at an angle as weights that sum to 0, so that flat areas score 0."""
    grid, known = _frame(count)
    weight = np.where(known, grid - grid[known].mean(), 0).astype(np.float32)
    large = cv2.resize(weight, None, fx=PIXELS, fy=PIXELS, interpolation=cv2.INTER_NEAREST)
    side = large.shape[0]
    spin = cv2.getRotationMatrix2D(((side - 1) / 2, (side - 1) / 2), -angle, 1.0)
    soft = cv2.GaussianBlur(large, (0, 0), _FRAME_BLUR * PIXELS)
    turned = np.asarray(cv2.warpAffine(soft, spin, (side, side)), dtype=np.float32)
    shown = turned != 0
    return np.where(shown, turned - turned[shown].mean(), 0)  # leaving out the corners that the rotation cut off


_UNKNOWN = -1.0


@dataclass(frozen=True, eq=False)
class LabelCandidate:
    """A possible label at one pose.

    `frame` and `other_frame` are the correlations, -1..1, of its frame this way up and the other way up.
    """

    patch: LabelPatch
    pose: LabelPose
    frame: float
    other_frame: float = _UNKNOWN

    @cached_property
    def guess(self) -> LabelGuess:
        """The likeliest word for its modules."""
        return guess_label(sample_modules(self.patch, self.pose))

    @property
    def kind(self) -> LabelKind:
        """The kind of this label, with its actual spot and size."""
        return measured_kind(self.patch, self.pose)


def look_for_label(grey: Picture, quad: Quad, kind: LabelKind, *, turned: bool, margin: float) -> LabelCandidate:
    """Find and fit a label of this kind, this way up, within `margin` modules of where it should be on a tile."""
    return fit_label(find_label(grey, quad, kind, turned=turned, margin=margin))


def refit_label(label: LabelCandidate) -> LabelCandidate:
    """Fit all modules of the guessed word instead of its frame alone."""
    return replace(label, pose=fit_label_pose(label.patch, label.pose.affine, module_template(label.guess.white)))


def find_label(
    grey: Picture, quad: Quad, kind: LabelKind, *, turned: bool, margin: float, angles: Sequence[float] = ANGLES
) -> LabelCandidate:
    """Search a tile for the frame of a label of this kind, this way up."""
    patch = cut_patch(grey, quad, kind, turned=turned, margin=margin)
    pose = find_frame(patch, angles)
    return LabelCandidate(patch, pose, pose.likeness)


def fit_label(label: LabelCandidate) -> LabelCandidate:
    """Fit the frame, starting from where it was found."""
    pose = fit_label_pose(label.patch, label.pose.affine, _template(label.patch.kind.count))
    return replace(label, pose=pose, frame=pose.likeness)
