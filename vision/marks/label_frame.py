"""Where a DataMatrix lies on its tile, to a tenth of a module: its known frame is searched, then fitted.

The frame is what every DataMatrix of a size shares: black L, dashed edges, white about it. Once somebody has an idea
what the inside says, the same fit takes that as well and gets better.
"""

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import UNIT_SQUARE, Homography, Picture, Points, Quad, project

Grid = NDArray[np.float32]  # modules or samples, white above black

QUIET = 1  # modules of white about a DataMatrix
PIXELS = 4  # of a patch, a module
_FINE = 2  # samples a module, each way, in a fit
_ANGLES = (0.0, -3.0, 3.0)  # degrees: labels are stuck on within a few
_ROUNDS = 6
_STRETCH = 0.2  # a fit that scales or turns a label by more than this share has lost it
_STRAY = 2.5  # modules by which a fit may move


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """How a picture's labels look: modules, and spot and size in shares of the tile's width and height.

    `spot`, shape (2,), is the DataMatrix's middle from the tile's centre, right and down; `size`, shape (2,), its sides.
    """

    count: int
    spot: Points
    size: Points


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A label cut out flat with `margin` modules about it, shape (side, side), as it would stand if it is `turned`."""

    grey: Grid
    kind: Kind
    turned: bool
    margin: float

    def to_tile(self, points: Points) -> Points:
        """Give where points in modules, shape (n, 2), lie on the tile as the mark stands: shares from its centre."""
        return np.asarray(self.kind.spot + (points / self.kind.count - 0.5) * self.kind.size)


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """Where modules lie in a patch: `affine`, shape (2, 3), modules from the top-left corner to OpenCV's pixels."""

    affine: NDArray[np.float64]
    likeness: float  # correlation, -1..1, of the template that was fitted
    margin: float

    def corners(self, count: int) -> Quad:
        """Give a DataMatrix's corners as they lie in the patch, in modules from where they were expected."""
        pixels = UNIT_SQUARE * count @ self.affine[:, :2].T + self.affine[:, 2]
        return np.asarray((pixels + 0.5) / PIXELS - self.margin)


def cut_patch(grey: Picture, quad: Quad, kind: Kind, *, turned: bool, margin: float) -> Patch:
    """Cut the place where a label of this kind should lie out of a grey picture."""
    modules = kind.count + 2 * margin
    side = round(modules * PIXELS)
    corners = (UNIT_SQUARE * modules - margin) / kind.count
    on_tile = kind.spot + (corners - 0.5) * kind.size
    square = on_tile * (-1 if turned else 1) + 0.5
    there = np.asarray(cv2.getPerspectiveTransform(UNIT_SQUARE.astype(np.float32), quad.astype(np.float32)))
    finer = _oversampling(project(there, square), side)
    flat = _warp(grey, project(there, square), side * finer)
    small = cv2.resize(flat, (side, side), interpolation=cv2.INTER_AREA) if finer > 1 else flat
    return Patch(np.asarray(small, dtype=np.float32), kind, turned, margin)


def _oversampling(square: Quad, side: int) -> int:
    """Give how many times finer to cut out, so that no pixel of a large label goes unseen."""
    longest = float(np.linalg.norm(square - np.roll(square, 1, axis=0), axis=1).max())
    return int(np.clip(np.ceil(longest / side / 1.5), 1, 8))


def _warp(grey: Picture, square: Quad, side: int) -> Picture:
    target = (UNIT_SQUARE * side - 0.5).astype(np.float32)
    chain: Homography = np.asarray(cv2.getPerspectiveTransform((square - 0.5).astype(np.float32), target))
    return np.asarray(
        cv2.warpPerspective(grey, chain, (side, side), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    )


def find_frame(patch: Patch) -> Pose:
    """Search the frame over the whole patch, then fit it."""
    best, found = -np.inf, None
    for angle in _ANGLES:
        kernel = _frame_kernel(patch.kind.count, angle)
        match = cv2.matchTemplate(patch.grey, kernel, cv2.TM_CCORR)
        _, peak, _, at = cv2.minMaxLoc(match)
        if peak > best:
            best, found = peak, (angle, at)
    angle, at = found if found is not None else (0.0, (0, 0))
    return fit_pose(patch, _start(patch.kind.count, angle, at), _frame_template(patch.kind.count))


def _start(count: int, angle: float, at: tuple[int, int] | NDArray[np.int64]) -> NDArray[np.float64]:
    turn = np.radians(angle)
    spin = PIXELS * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    middle = np.array(at) + (count + 2 * QUIET) * PIXELS / 2 - 0.5
    return np.column_stack([spin, middle - spin @ [count / 2, count / 2]])


def fit_pose(patch: Patch, start: NDArray[np.float64], template: "Template") -> Pose:
    """Fit the affine map from modules to pixels to a template by Gauss-Newton (Lucas and Kanade)."""
    rows, cols = (cv2.Sobel(patch.grey, cv2.CV_32F, *order, ksize=3, scale=1 / 8) for order in ((0, 1), (1, 0)))
    affine = start.copy()
    for _ in range(_ROUNDS):
        seen, right, down = (_look(part, affine, template) for part in (patch.grey, cols, rows))
        step = _step(seen, right, down, template)
        affine += step
        if np.abs(step[:, 2]).max() < 0.02 * PIXELS:
            break
    if not _plausible(affine, start, patch.kind.count):
        affine = start
    return Pose(affine, _correlate(_look(patch.grey, affine, template), template), patch.margin)


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """What must be seen at `at`, shape (n, 2), modules: brightness `grey`, shape (n,), black and white about 0 and 1."""

    at: NDArray[np.float64]
    grey: NDArray[np.float64]


def _look(part: Grid, affine: NDArray[np.float64], template: Template) -> NDArray[np.float64]:
    pixels = (template.at @ affine[:, :2].T + affine[:, 2]).astype(np.float32)
    seen = cv2.remap(part, pixels[:, None, :], None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen[:, 0], dtype=np.float64)


def _step(
    seen: NDArray[np.float64], right: NDArray[np.float64], down: NDArray[np.float64], template: Template
) -> NDArray[np.float64]:
    """Solve for the map's change together with black and white, held a little: the frame alone says little of shear."""
    lever = template.at - template.at.mean(axis=0)
    slopes = np.column_stack(
        [right * lever[:, 0], right * lever[:, 1], right, down * lever[:, 0], down * lever[:, 1], down]
    )
    design = np.column_stack([np.ones_like(seen), template.grey, -slopes])
    normal = design.T @ design
    normal[np.diag_indices(8)] += 1e-3 * np.diag(normal) + 1e-6
    change = np.linalg.solve(normal, design.T @ seen)[2:].reshape(2, 3)
    change[:, 2] -= change[:, :2] @ template.at.mean(axis=0)
    return change


def _plausible(affine: NDArray[np.float64], start: NDArray[np.float64], count: int) -> bool:
    middle = np.array([count / 2, count / 2, 1.0])
    moved = np.abs((affine - start) @ middle).max() / PIXELS
    bent = np.abs(affine[:, :2] - start[:, :2]).max() / PIXELS
    return bool(moved < _STRAY and bent < _STRETCH)


def _correlate(seen: NDArray[np.float64], template: Template) -> float:
    one, other = seen - seen.mean(), template.grey - template.grey.mean()
    return float(one @ other / np.sqrt((one @ one) * (other @ other) + 1e-9))


def sample_modules(patch: Patch, pose: Pose) -> Grid:
    """Give each module's mean brightness, the quiet zone included, shape (count + 2, count + 2)."""
    modules = patch.kind.count + 2 * QUIET
    at = _spots(modules, 3, 0.2)
    seen = _look(patch.grey, pose.affine, Template(at, np.empty(0)))
    return np.asarray(seen.reshape(modules, 3, modules, 3).mean(axis=(1, 3)), dtype=np.float32)


def _spots(modules: int, fine: int, apart: float) -> NDArray[np.float64]:
    """Give `fine` squared points about each module's middle, rows first, shape (n, 2): right, down, in modules."""
    line = (np.arange(modules)[:, None] - QUIET + 0.5 + (np.arange(fine) - (fine - 1) / 2) * apart).ravel()
    right, down = np.meshgrid(line, line)
    return np.column_stack([right.ravel(), down.ravel()])


def whole_template(white: Grid) -> Template:
    """Make a template of modules with their quiet zone, shape (count + 2, count + 2), blurred a little as cameras do."""
    return Template(_spots(len(white), _FINE, 1 / _FINE), _soften(white).ravel())


def _soften(white: Grid) -> NDArray[np.float64]:
    large = cv2.resize(white.astype(np.float32), None, fx=_FINE, fy=_FINE, interpolation=cv2.INTER_NEAREST)
    return np.asarray(cv2.GaussianBlur(large, (0, 0), 0.45 * _FINE, borderType=cv2.BORDER_REPLICATE), dtype=np.float64)


@cache
def _frame(count: int) -> tuple[Grid, NDArray[np.bool_]]:
    """Draw the frame with its quiet zone, the unknown inside half grey, and say which modules are known."""
    grid = np.ones((count + 2 * QUIET,) * 2, dtype=np.float32)
    known = np.ones_like(grid, dtype=bool)
    inner = grid[QUIET:-QUIET, QUIET:-QUIET]
    inner[1:-1, 1:-1] = 0.5
    inner[0, ::2] = inner[1::2, -1] = 0
    inner[:, 0] = inner[-1] = 0
    known[QUIET + 1 : -QUIET - 1, QUIET + 1 : -QUIET - 1] = False
    return grid, known


@cache
def _frame_template(count: int) -> Template:
    grid, known = _frame(count)
    chosen = np.repeat(np.repeat(known, _FINE, axis=0), _FINE, axis=1).ravel()
    whole = whole_template(grid)
    return Template(whole.at[chosen], whole.grey[chosen])


@cache
def _frame_kernel(count: int, angle: float) -> Grid:
    """Draw the frame at an angle as weights that sum to nothing: flat ground scores 0."""
    grid, known = _frame(count)
    weight = np.where(known, grid - grid[known].mean(), 0).astype(np.float32)
    large = cv2.resize(weight, None, fx=PIXELS, fy=PIXELS, interpolation=cv2.INTER_NEAREST)
    middle = (large.shape[0] - 1) / 2
    spin = cv2.getRotationMatrix2D((middle, middle), -angle, 1.0)
    return np.asarray(cv2.warpAffine(cv2.GaussianBlur(large, (0, 0), 0.4 * PIXELS), spin, large.shape[::-1]))
