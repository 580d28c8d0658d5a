"""Find the picture of an enrolled set that a back resembles most.

All backs of a set are alike, and only the ink distinguishes tiles. Backs are therefore reduced to one channel, that of
the set's ink, slow changes (light, shadow, clouds in the plastic) are removed, and only the area where the set has ink
is compared. A back is first compared with all 136 pictures, either way up, in coarse cells and with small shifts. The
best matches are then fitted with an affine map (inverse compositional, Baker and Matthews 2004), because outlines are
slightly off, and compared again pixel by pixel. The likeness is the correlation of the two, -1..1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Picture, unit_rows

Floats = NDArray[np.float32]
Affine = NDArray[np.float64]  # shape (2, 3)

_SLOW: Final = 5.0  # pixels of a crop: slower changes are due to light
_SOFT: Final = 0.8  # pixels: finer detail is noise
_FRAME: Final = (slice(14, 98), slice(9, 71))  # rows and columns of a crop that are well inside the tile
_BARE: Final = 8  # rows at the top and bottom of the frame that are mostly without ink
_NOISE: Final = 9.0  # levels squared: allows for cameras and light with more noise than the pictures
_INKED: Final = 0.12  # share of the largest mean ink of all tiles from which a pixel belongs to the inked area
_MARGIN: Final = 5  # pixels: margin around that area
_CELL: Final = 2  # pixels, each way, of a cell in the first comparison
_SHIFTS: Final = 2  # cells to shift, each way
_RANKINGS: Final = 4  # rounds of comparing all pictures again along the best fit
_FITTED: Final = 12  # pictures fitted per round; those of a set may differ by no more than a stroke
_BEHIND: Final = 0.2  # most by which a picture may be behind the best one in likeness and still be fitted
_RIVALS: Final = 4  # next best fits to compare the best one with
_ROUNDS: Final = 6
_STILL: Final = 0.05  # pixels: a smaller step ends a fit
_MOST_SHIFT, _MOST_STRETCH = 11.0, 0.2  # pixels, and share, beyond which a fit has failed
_TINY: Final = 1e-6
_BACK: Final = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


@dataclass(frozen=True, slots=True)
class Rival:
    """Another picture that a back might match, and how far it is behind the best one.

    `lead` is how much better the best picture explains the back where the two pictures differ: 1 if the back looks just
    like the best one there, 0 if both explain it equally well, negative if this one is better. `odds` is the lead
    weighted by the size of the difference relative to the unexplained rest: if two pictures are almost the same, noise
    may cause any lead, but never high odds.
    """

    serial: int
    turned: bool
    lead: float
    odds: float


@dataclass(frozen=True, slots=True)
class OwnPicture:
    """The picture that a back resembles most: its serial, and whether the back is upside down.

    `likeness`, -1..1, is their correlation. `rivals` are the next best pictures, including this one the other way up.
    """

    serial: int
    turned: bool
    likeness: float
    rivals: tuple[Rival, ...] = ()

    @property
    def others(self) -> list[Rival]:
        """The rivals with other serials."""
        return [rival for rival in self.rivals if rival.serial != self.serial]


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A picture, by index, fitted to a back; `affine` maps its points to points on the back, turned if `turned`."""

    number: int
    turned: bool
    likeness: float
    affine: Affine


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """A starting point for a fit: the map `affine`, and the correlation in coarse cells, `share`."""

    share: float
    affine: Affine


def ink_axis(crops: Picture) -> tuple[Floats, float]:
    """Return the direction in colour, shape (3,), in which ink stands out most from bare backs, and by how much.

    Crops have the shape (n, 112, 80, 3). The bare strips above and below the marks show clouds, scratches and noise; on
    a clouded back, for example, pale red ink stands out by its redness. The second value is the variance of the marked
    area relative to that of bare backs.
    """
    flat = np.stack([_without_slow(crop.astype(np.float32)) for crop in crops])
    bare = np.concatenate([flat[:, :_BARE], flat[:, -_BARE:]]).reshape(-1, 3)[::3]
    inked, ground = (np.cov(part.T) for part in (flat[:, _BARE:-_BARE].reshape(-1, 3)[::3], bare))
    root = np.linalg.cholesky(ground + _NOISE * np.eye(3))
    whitened = np.linalg.solve(root, np.linalg.solve(root, inked).T)
    variances, axes = np.linalg.eigh(whitened)
    axis = np.linalg.solve(root.T, axes[:, -1])
    axis = axis / np.linalg.norm(axis) * np.sign(axis.sum() or 1.0)
    return np.asarray(axis, dtype=np.float32), float(variances[-1])


def _without_slow(crop: Floats) -> Floats:
    """Return a crop's frame, shape (84, 62, ...), without slow changes. The tile's edge is outside, without effect."""
    inside = np.ascontiguousarray(crop[_FRAME])
    return np.asarray(inside - cv2.GaussianBlur(inside, (0, 0), _SLOW, borderType=cv2.BORDER_REFLECT), dtype=np.float32)


class SetPictures:
    """The pictures of a set's tiles, prepared for comparison. Effectively immutable."""

    def __init__(self, crops: Picture, serials: Sequence[int]) -> None:
        """Prepare upright backs from `cut_backs`, shape (n, 112, 80, 3), and their serials.

        There may be more backs than serials: the rest only help to find the area with ink. If that were found from two
        digits alone, a back with three digits would match one with two.
        """
        self._serials = np.asarray(serials)
        self._axis, _ = ink_axis(crops)
        inks = self._inks(crops)
        self._window = _inked_window(inks)
        self._inks_of = inks[: len(self._serials)]
        self._numbers = {int(serial): number for number, serial in enumerate(serials)}
        self._templates: dict[int, _Template] = {}

    def _inks(self, crops: Picture) -> Floats:
        flat = [cv2.GaussianBlur(_without_slow(crop.astype(np.float32) @ self._axis), (0, 0), _SOFT) for crop in crops]
        return np.asarray(flat, dtype=np.float32)

    def match(self, crops: Picture, claims: Sequence[int | None] | None = None) -> list[OwnPicture]:
        """Return the best matching picture for each crop, shape (n, 112, 80, 3).

        `claims` are the serials that a reader has read there; their pictures are fitted in any case.
        """
        claimed = claims or [None] * len(crops)
        return [self._match(ink, claim) for ink, claim in zip(self._inks(crops), claimed, strict=True)]

    def _match(self, ink: Floats, claim: int | None) -> OwnPicture:
        views = (ink, np.ascontiguousarray(ink[::-1, ::-1]))
        starts = [self._coarse_matches(view, np.eye(2, 3)) for view in views]
        number = self._numbers.get(claim) if claim is not None else None
        best_share = max(start.share for candidates in starts for start in candidates.values())
        fits: list[_Fit] = []
        for turned, (view, candidates) in enumerate(zip(views, starts, strict=True)):
            near = {n: start for n, start in candidates.items() if start.share > best_share - _BEHIND}
            if number is not None and candidates[number].share >= starts[1 - turned][number].share:
                near[number] = candidates[number]
            fits += self._fits(view, near, number, turned=bool(turned)) if near else []
        best = max(fits, key=lambda fit: fit.likeness)
        ranked = sorted((fit for fit in fits if fit is not best), key=lambda fit: -fit.likeness)
        others = ranked[:_RIVALS] + [fit for fit in ranked[_RIVALS:] if fit.number == number]
        return OwnPicture(
            int(self._serials[best.number]),
            best.turned,
            best.likeness,
            tuple(self._rival(views, best, other) for other in others),
        )

    def _rival(self, views: tuple[Floats, Floats], best: _Fit, other: _Fit) -> Rival:
        """Compare two fits where their pictures differ, with both pictures aligned along the fit of `other`."""
        seen = unit_rows(self._template(other.number).cut(views[other.turned], other.affine).ravel())
        theirs = self._template(other.number).row
        along = other.affine if best.turned == other.turned else _composed(self._half_turn, other.affine)
        ink = self._inks_of[best.number]
        ours = unit_rows(self._template(other.number).cut(ink, _composed(_inverse(best.affine), along)).ravel())
        differ, like = 1 - float(ours @ theirs), max(float(seen @ ours), _TINY)
        lead = float(seen @ (ours - theirs)) / max(differ * like, _TINY)
        odds = lead * float(np.sqrt(differ / max(1 - like, _TINY)))
        return Rival(int(self._serials[other.number]), other.turned, lead, odds)

    @cached_property
    def _half_turn(self) -> Affine:
        """The map of a half turn about a back's middle, in coordinates relative to the window's middle."""
        high, wide = self._inks_of.shape[1:]
        rows, cols = self._window
        middle = np.array([(cols.start + cols.stop) / 2, (rows.start + rows.stop) / 2])
        return np.column_stack([-np.eye(2), np.array([wide - 1, high - 1]) - 2 * middle])

    def _fits(self, ink: Floats, candidates: "dict[int, _Start]", claim: int | None, *, turned: bool) -> list[_Fit]:
        """Fit the best pictures to a back, rank all again along the best fit, and repeat until the best is stable."""
        fits: dict[int, _Fit] = {}
        best = -1
        for _ in range(_RANKINGS):
            chosen = sorted(candidates, key=lambda number: -candidates[number].share)[:_FITTED]
            claimed = [claim] if claim is not None and claim in candidates else []
            for number in {*chosen, *claimed} - fits.keys():
                fits[number] = _Fit(number, turned, *self._template(number).fit(ink, candidates[number].affine))
            before, best = best, max(fits, key=lambda number: fits[number].likeness)
            if best == before:
                break
            candidates = self._coarse_matches(ink, fits[best].affine)
        return list(fits.values())

    def _coarse_matches(self, ink: Floats, along: Affine) -> "dict[int, _Start]":
        """Return for each picture its best correlation with a back, in cells, over small shifts from `along`."""
        cells = _cells(self._template(0).cut(ink, along, _CELL * _SHIFTS))
        high, wide = (side - 2 * _SHIFTS for side in cells.shape)
        places = [(down, across) for down in range(2 * _SHIFTS + 1) for across in range(2 * _SHIFTS + 1)]
        seen = np.stack([cells[down : down + high, across : across + wide].ravel() for down, across in places])
        shares = unit_rows(seen) @ self._rows.T
        best, at = shares.max(axis=0), shares.argmax(axis=0)
        moves = [[_CELL * (across - _SHIFTS), _CELL * (down - _SHIFTS)] for down, across in places]
        affines = [_composed(along, np.column_stack([np.eye(2), move])) for move in moves]
        return {number: _Start(float(best[number]), affines[at[number]]) for number in range(len(best))}

    @cached_property
    def _rows(self) -> Floats:
        return unit_rows(np.stack([_cells(ink[self._window]).ravel() for ink in self._inks_of]))

    def _template(self, number: int) -> "_Template":
        if number not in self._templates:
            self._templates[number] = _Template(self._inks_of[number], self._window)
        return self._templates[number]


def _cells(window: Floats) -> Floats:
    """Return a window reduced to cells, each the mean of its pixels."""
    size = (window.shape[1] // _CELL, window.shape[0] // _CELL)
    return np.asarray(cv2.resize(window, size, interpolation=cv2.INTER_AREA), dtype=np.float32)


def _inked_window(inks: Floats) -> tuple[slice, slice]:
    """Return the rows and columns in which the set has ink, with a margin."""
    usual = np.abs(inks.mean(axis=0))  # clouds and scratches, different on each tile, average out
    inked = usual > usual.min() + _INKED * (usual.max() - usual.min())
    rows, cols = (_span(np.flatnonzero(inked.any(axis=axis)), inked.shape[1 - axis]) for axis in (1, 0))
    return rows, cols


def _span(at: NDArray[np.intp], most: int) -> slice:
    """Return the range of some indices with a margin, in whole cells."""
    low, high = max(int(at[0]) - _MARGIN, 0), min(int(at[-1]) + 1 + _MARGIN, most)
    return slice(low, low + (high - low) // _CELL * _CELL)


class _Template:
    """One picture in its window, with the precomputed matrix that solves for the six parameters of a step."""

    def __init__(self, ink: Floats, window: tuple[slice, slice]) -> None:
        rows, cols = window
        self._corner = np.array([cols.start, rows.start], dtype=np.float64)
        self._size = (cols.stop - cols.start, rows.stop - rows.start)
        self.row = unit_rows(ink[window].ravel())
        spread = float(np.linalg.norm(ink[window] - ink[window].mean())) + _TINY
        across = np.gradient(ink, axis=1)[window].ravel() / spread
        down = np.gradient(ink, axis=0)[window].ravel() / spread
        x, y = np.meshgrid(np.arange(self._size[0]) - self._size[0] / 2, np.arange(self._size[1]) - self._size[1] / 2)
        self._reach = max(self._size) / 2
        x, y = x.ravel() / self._reach, y.ravel() / self._reach
        gradients = np.stack([across * x, across * y, across, down * x, down * y, down])
        gradients -= gradients.mean(axis=1, keepdims=True)
        gradients -= np.outer(gradients @ self.row, self.row)  # a change in contrast must not look like movement
        normal = gradients @ gradients.T
        normal[np.diag_indices(6)] += 0.01 * np.trace(normal) / 6
        self._solve = np.asarray(np.linalg.solve(normal, gradients), dtype=np.float32)

    def fit(self, ink: Floats, start: Affine) -> tuple[float, Affine]:
        """Fit the picture to a back from a starting map; return the best likeness and the map that gives it."""
        affine, best, at = start, -1.0, start
        for _ in range(_ROUNDS):
            seen = unit_rows(self.cut(ink, affine).ravel())
            likeness = float(seen @ self.row)
            if likeness > best:
                best, at = likeness, affine
            step = self._solve @ (seen - likeness * self.row) / max(likeness, 0.2)
            change = np.array([[step[0], step[1], step[2]], [step[3], step[4], step[5]]], dtype=np.float64)
            change[:, :2] /= self._reach
            affine = _composed(affine, _inverse(change + np.eye(2, 3)))
            lost = np.abs(affine[:, 2]).max() > _MOST_SHIFT or np.abs(affine[:, :2] - np.eye(2)).max() > _MOST_STRETCH
            if lost or np.abs(step).max() < _STILL:
                break
        return best, at

    def cut(self, ink: Floats, affine: Affine, margin: int = 0) -> Floats:
        """Cut the window, with a margin of `margin` pixels, out of a back along a map, shape (2, 3).

        Maps are in coordinates relative to the window's middle.
        """
        size = (self._size[0] + 2 * margin, self._size[1] + 2 * margin)
        half = np.array(self._size) / 2
        chain = np.column_stack([affine[:, :2], self._corner + half + affine[:, 2] - affine[:, :2] @ (half + margin)])
        seen = cv2.warpAffine(ink, chain, size, flags=_BACK, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(seen, dtype=np.float32)


def _inverse(affine: Affine) -> Affine:
    """Return the inverse of an affine map."""
    back = np.linalg.inv(affine[:, :2])
    return np.column_stack([back, -back @ affine[:, 2]])


def _composed(last: Affine, first: Affine) -> Affine:
    """Return the composition of two affine maps, `first` being applied first."""
    return np.column_stack([last[:, :2] @ first[:, :2], last[:, :2] @ first[:, 2] + last[:, 2]])
