"""Cut a label out, find its DataMatrix's frame, and locate its modules to a tenth of a module.

The frame (black L, dashed edges, white about it) is common to all DataMatrix codes of a size. A `LabelCandidate` is one
label of a known kind where it seems to lie, either way up.
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

TALL = 1.36  # a tile's height by its width: 1.3 to 1.4 is usual, and a fit takes up the rest
PIXELS = 4  # of a patch, a module
_COARSEST = 1.5  # pixels of the picture that one of a patch may stand for
_FINEST = 8  # times that a patch is cut out finer, at most


@dataclass(frozen=True, slots=True, eq=False)
class LabelPatch:
    """Where a label of a kind should lie, with `margin` modules about it; shape of `grey`: (side, side).

    Cut out as it stands if the mark is `turned` in its tile's quad.
    """

    grey: Grid
    kind: LabelKind
    turned: bool
    margin: float


@dataclass(frozen=True, slots=True, eq=False)
class LabelPose:
    """Where modules lie in a patch: `affine` takes them, from the DataMatrix's corner, to OpenCV's pixels.

    `likeness`, -1..1, is the correlation of what was fitted.
    """

    affine: Affine
    likeness: float


def cut_patch(grey: Picture, quad: Quad, kind: LabelKind, *, turned: bool, margin: float) -> LabelPatch:
    """Cut the place where a label of this kind should lie on the tile `quad`, shape (4, 2), out of a grey picture."""
    modules = kind.count + 2 * margin
    side = round(modules * PIXELS)
    on_tile = _spun(_shares(UNIT_SQUARE * modules - margin, kind), kind.askew)
    square = project(homography_between(UNIT_SQUARE, quad), on_tile * (-1 if turned else 1) + 0.5)
    finer = _oversampling(square, side)
    fine = side * finer
    # OpenCV counts from the middle of the first pixel, this room from its corner: half a pixel each way.
    chain = homography_between(square - 0.5, UNIT_SQUARE * fine - 0.5)
    flat = cv2.warpPerspective(grey, chain, (fine, fine), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    if finer > 1:
        flat = cv2.resize(flat, (side, side), interpolation=cv2.INTER_AREA)
    return LabelPatch(flat.astype(np.float32), kind, turned, margin)


def kind_at(patch: LabelPatch, pose: LabelPose) -> LabelKind:
    """Return where on its tile a label was found, and how large."""
    kind = patch.kind
    pixels = UNIT_SQUARE * kind.count @ pose.affine[:, :2].T + pose.affine[:, 2]
    on_tile = _shares((pixels + 0.5) / PIXELS - patch.margin, kind)
    return replace(kind, spot=np.asarray(on_tile.mean(axis=0)), size=on_tile[2] - on_tile[0])


def _shares(modules: Points, kind: LabelKind) -> Points:
    """Take points in modules from the DataMatrix's corner, shape (n, 2), to shares of the tile from its centre."""
    return np.asarray(kind.spot + (modules / kind.count - 0.5) * kind.size)


def _spun(shares: Points, degrees: float) -> Points:
    """Turn points about a tile's centre, clockwise; in shares of its width and height, shape (n, 2)."""
    angle = np.radians(degrees)
    spin = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.asarray(shares * [1, TALL] @ spin / [1, TALL])


def _oversampling(square: Quad, side: int) -> int:
    """Return by which factor to oversample, so that no pixel of a large label is skipped."""
    longest = float(np.linalg.norm(square - square[[3, 0, 1, 2]], axis=1).max())
    return min(max(ceil(longest / side / _COARSEST), 1), _FINEST)


Row = NDArray[np.float64]  # shape (n,)

FINE = 2  # samples a module, each way, in a fit
_SAMPLES = (3, 0.2)  # of a module, each way, when it is read, and how far they are apart: its inner half
_MODULE_BLUR = 0.45  # modules: what cameras usually do to a label that is hard to read
_ROUNDS = 6
_STILL = 0.12  # pixels: a step that ends the fit
_HELD = 1e-3  # share by which a step is held: the frame alone says little of shear
_STRETCH = 0.2  # a fit that scales or turns a label by more than this share has lost it
_STRAY = 2.5  # modules by which a fit may move


@dataclass(frozen=True, eq=False)
class ModuleTemplate:
    """Expected brightness, 0 black to 1 white, at points `at`, shape (n, 2), modules from the DataMatrix's corner."""

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


def module_template(white: Grid) -> ModuleTemplate:
    """Make a template of modules with their quiet zone, shape (count + 2, count + 2), a little blurred."""
    large = cv2.resize(white, None, fx=FINE, fy=FINE, interpolation=cv2.INTER_NEAREST)
    soft = cv2.GaussianBlur(large, (0, 0), _MODULE_BLUR * FINE, borderType=cv2.BORDER_REPLICATE)
    return ModuleTemplate(_spots(len(white), FINE, 1 / FINE), np.asarray(soft, dtype=np.float64).ravel())


def fit_label_pose(patch: LabelPatch, start: Affine, wanted: ModuleTemplate) -> LabelPose:
    """Fit the affine map from modules to pixels; a fit that diverges returns its start."""
    right, down = (cv2.Sobel(patch.grey, cv2.CV_32F, *order, ksize=3, scale=1 / 8) for order in ((1, 0), (0, 1)))
    sloped = np.asarray(cv2.merge([patch.grey, right, down]), dtype=np.float32)
    affine = start.copy()
    for _ in range(_ROUNDS):
        step = _step(_sample(sloped, affine, wanted.at), wanted)
        affine += step
        if np.abs(step[:, 2]).max() < _STILL:
            break
    return label_pose_at(patch, affine if _plausible(affine, start, patch.kind.count) else start, wanted)


def label_pose_at(patch: LabelPatch, affine: Affine, wanted: ModuleTemplate) -> LabelPose:
    """Return how like the template a patch is, there."""
    seen = _sample(patch.grey, affine, wanted.at)
    one, other = seen - seen.mean(), wanted.grey - wanted.grey.mean()
    return LabelPose(affine, float(one @ other / np.sqrt((one @ one) * (other @ other) + 1e-9)))


def sample_modules(patch: LabelPatch, pose: LabelPose) -> Grid:
    """Return each module's mean brightness, the quiet zone included, shape (count + 2, count + 2)."""
    modules = patch.kind.count + 2 * QUIET
    fine, apart = _SAMPLES
    seen = _sample(patch.grey, pose.affine, _spots(modules, fine, apart))
    return np.asarray(seen.reshape(modules, fine, modules, fine).mean(axis=(1, 3)), dtype=np.float32)


def _step(sloped: NDArray[np.float64], wanted: ModuleTemplate) -> Affine:
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


def _sample(part: Grid, affine: Affine, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sample a picture of one or more channels at points in modules, shape (n, 2)."""
    pixels = (at @ affine[:, :2].T + affine[:, 2]).astype(np.float32)
    seen = cv2.remap(part, pixels[:, None, 0], pixels[:, None, 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen[:, 0], dtype=np.float64)


def _plausible(affine: Affine, start: Affine, count: int) -> bool:
    moved = np.abs((affine - start) @ [count / 2, count / 2, 1.0]).max() / PIXELS
    bent = np.abs(affine[:, :2] - start[:, :2]).max() / PIXELS
    return bool(moved < _STRAY and bent < _STRETCH)


def _spots(modules: int, fine: int, apart: float) -> NDArray[np.float64]:
    """Return `fine` squared points about each module's middle, rows first, shape (n, 2): right, down, in modules."""
    line = (np.arange(modules)[:, None] - QUIET + 0.5 + (np.arange(fine) - (fine - 1) / 2) * apart).ravel()
    right, down = np.meshgrid(line, line)
    return np.column_stack([right.ravel(), down.ravel()])


ANGLES = (0.0, -3.0, 3.0)  # degrees: labels are stuck on within a few
_FRAME_BLUR = 0.4  # modules


def find_frame(patch: LabelPatch, angles: Sequence[float] = ANGLES) -> LabelPose:
    """Search the frame over the whole patch at some angles, degrees; accurate to half a module."""
    count = patch.kind.count
    peaks = []
    for angle in angles:
        match = cv2.matchTemplate(patch.grey, _kernel(count, angle), cv2.TM_CCORR)
        _, peak, _, (right, down) = cv2.minMaxLoc(match)
        peaks.append((peak, angle, (right, down)))
    _, angle, at = max(peaks)
    return label_pose_at(patch, _affine(count, angle, at), _template(count))


def _affine(count: int, angle: float, at: tuple[int, int]) -> Affine:
    """Return the map from modules to pixels of a frame whose kernel's corner was found at `at`."""
    spin = PIXELS * rotation_by(np.radians(angle))
    middle = np.array(at) + (count + 2 * QUIET) * PIXELS / 2 - 0.5
    return np.column_stack([spin, middle - spin @ [count / 2, count / 2]])


@cache
def _frame(count: int) -> tuple[Grid, NDArray[np.bool_]]:
    """Return the frame with its quiet zone, the unknown inside grey, and which modules are known."""
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
    """Draw the frame at an angle as weights that sum to 0, so that flat ground scores 0."""
    grid, known = _frame(count)
    weight = np.where(known, grid - grid[known].mean(), 0).astype(np.float32)
    large = cv2.resize(weight, None, fx=PIXELS, fy=PIXELS, interpolation=cv2.INTER_NEAREST)
    side = large.shape[0]
    spin = cv2.getRotationMatrix2D(((side - 1) / 2, (side - 1) / 2), -angle, 1.0)
    soft = cv2.GaussianBlur(large, (0, 0), _FRAME_BLUR * PIXELS)
    turned = np.asarray(cv2.warpAffine(soft, spin, (side, side)), dtype=np.float32)
    shown = turned != 0
    return np.where(shown, turned - turned[shown].mean(), 0)  # without the corners that are cut off by now


_NOT_LOOKED = -1.0


@dataclass(frozen=True, eq=False)
class LabelCandidate:
    """One label where it seems to lie.

    `frame` and `other_frame` are the correlations of its frame this way up and the other, -1..1.
    """

    patch: LabelPatch
    pose: LabelPose
    frame: float
    other_frame: float = _NOT_LOOKED

    @cached_property
    def guess(self) -> LabelGuess:
        """What it seems to say."""
        return guess_label(sample_modules(self.patch, self.pose))

    @property
    def kind(self) -> LabelKind:
        """How this very label looks."""
        return kind_at(self.patch, self.pose)


def look_for_label(grey: Picture, quad: Quad, kind: LabelKind, *, turned: bool, margin: float) -> LabelCandidate:
    """Look at a tile for a label of this kind, this way up, `margin` modules about the place where it should be."""
    return fit_label(find_label(grey, quad, kind, turned=turned, margin=margin))


def refit_label(look: LabelCandidate) -> LabelCandidate:
    """Fit the whole of the guessed word instead of its frame alone."""
    return replace(look, pose=fit_label_pose(look.patch, look.pose.affine, module_template(look.guess.white)))


def find_label(
    grey: Picture, quad: Quad, kind: LabelKind, *, turned: bool, margin: float, angles: Sequence[float] = ANGLES
) -> LabelCandidate:
    """Search a tile for the frame of a label of this kind, this way up."""
    patch = cut_patch(grey, quad, kind, turned=turned, margin=margin)
    pose = find_frame(patch, angles)
    return LabelCandidate(patch, pose, pose.likeness)


def fit_label(look: LabelCandidate) -> LabelCandidate:
    """Fit the frame where it was found."""
    pose = fit_label_pose(look.patch, look.pose.affine, _template(look.patch.kind.count))
    return replace(look, pose=pose, frame=pose.likeness)
