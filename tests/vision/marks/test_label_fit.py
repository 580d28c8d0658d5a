"""A label's position on its tile, its frame and the fit of its modules, in exact cases."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.vision.marks.drawn_labels import TEXTS, barcode
from vision.geometry import UNIT_SQUARE, Picture, Points, Quad, rectangle
from vision.marks import LabelKind
from vision.marks.label_code import MODULE_COUNTS, Payload
from vision.marks.label_fit import (
    PIXELS,
    LabelPatch,
    LabelPose,
    _frame,
    _kernel,
    _oversampling,
    _plausible,
    _sample,
    _spots,
    _step,
    _template,
    cut_patch,
    find_frame,
    fit_label_pose,
    label_pose_at,
    look_for_label,
    measured_kind,
    module_template,
    refit_label,
    sample_modules,
)

COUNTS = pytest.mark.parametrize("count", MODULE_COUNTS)
BLACK, WHITE = 40.0, 220.0


def word(count: int, serial: int = 117) -> Picture:
    """Draw a label's modules with their quiet zone, one pixel per module: 0 and 255."""
    return np.pad(barcode(TEXTS[count].format(8, serial)), 1, constant_values=255)


def patch_of(
    count: int, *, shift: tuple[float, float] = (0.0, 0.0), margin: float = 3.0, turn: float = 0.0, blur: float = 7.0
) -> LabelPatch:
    """Draw a label in a patch, moved right and down by modules, and rotated by degrees."""
    modules = word(count)
    side = round((count + 2 * margin) * PIXELS)
    fine = cv2.resize(modules, None, fx=16, fy=16, interpolation=cv2.INTER_NEAREST).astype(np.float32)
    middle = (len(fine) - 1) / 2
    spin = cv2.getRotationMatrix2D((middle, middle), -turn, PIXELS / 16)
    spin = spin + np.column_stack([np.zeros((2, 2)), (side - 1) / 2 - middle + PIXELS * np.array(shift)])
    soft = cv2.GaussianBlur(fine, (0, 0), blur)
    grey = cv2.warpAffine(soft, spin, (side, side), flags=cv2.INTER_LINEAR, borderValue=255.0)
    kind = LabelKind(count, np.array([0.02, -0.05]), np.array([0.4, 0.3]))
    return LabelPatch(
        np.asarray(BLACK + grey / 255 * (WHITE - BLACK), dtype=np.float32), kind, turned=False, margin=margin
    )


def corner_of(count: int, shift: tuple[float, float], margin: float = 3.0, turn: float = 0.0) -> Points:
    """Return the map from modules to OpenCV's pixels of the label that `patch_of` draws, shape (2, 3)."""
    angle = np.radians(turn)
    spin = PIXELS * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle = (np.array(shift) + count / 2 + margin) * PIXELS - 0.5
    return np.column_stack([spin, middle - spin @ [count / 2, count / 2]])


def modules_off(one: Points, other: Points, count: int) -> float:
    """Return the largest distance between two maps at a label's corners, in modules."""
    at = np.column_stack([UNIT_SQUARE * count, np.ones(4)])
    return float(np.abs(at @ (one - other).T).max() / PIXELS)


@COUNTS
def test_the_frame_is_common_to_all_words(count: int) -> None:
    grid, known = _frame(count)
    for serial in (1, 77, 136):
        assert np.array_equal(word(count, serial)[known] > 127, grid[known] > 0.5)
    assert (known.sum(), set(grid[~known].tolist())) == ((count + 2) ** 2 - (count - 2) ** 2, {0.5})


@COUNTS
def test_a_rotated_kernel_is_rotated_about_its_middle(count: int) -> None:
    assert _kernel(count, 180.0) == pytest.approx(_kernel(count, 0.0)[::-1, ::-1], abs=1e-3)
    assert [float(_kernel(count, angle).sum()) for angle in (0.0, 5.0)] == pytest.approx([0.0, 0.0], abs=0.01)


@COUNTS
@pytest.mark.parametrize("shift", [(0.0, 0.0), (1.25, -0.75), (-2.0, 1.5)])
def test_a_frame_is_found_to_half_a_module_and_fitted_to_a_tenth(count: int, shift: tuple[float, float]) -> None:
    patch, true = patch_of(count, shift=shift), corner_of(count, shift)
    found = find_frame(patch)
    fitted = fit_label_pose(patch, found.affine, _template(patch.kind.count))
    assert modules_off(found.affine, true, count) < 0.5
    assert found.affine[0, 1] == 0.0  # upright, and searched upright too
    assert modules_off(fitted.affine, true, count) < 0.1
    assert fitted.likeness > max(found.likeness - 1e-6, 0.97)


@pytest.mark.parametrize("turn", [-4.0, -3.0, 3.0, 4.0])
def test_a_label_askew_by_a_few_degrees_is_fitted(turn: float) -> None:
    patch, true = patch_of(14, turn=turn), corner_of(14, (0.0, 0.0), turn=turn)
    assert modules_off(fit_label_pose(patch, find_frame(patch).affine, _template(14)).affine, true, 14) < 0.1


@COUNTS
def test_sampled_modules_are_those_that_were_drawn(count: int) -> None:
    seen = sample_modules(patch_of(count, shift=(0.5, 0.5), blur=2.0), LabelPose(corner_of(count, (0.5, 0.5)), 1.0))
    drawn = word(count) > 127
    assert seen.shape == drawn.shape
    assert seen[drawn].min() - seen[~drawn].max() > 60


def test_a_module_is_sampled_in_its_inner_half() -> None:
    assert _spots(1, 3, 0.2) == pytest.approx(
        np.array([[x, y] for y in (-0.7, -0.5, -0.3) for x in (-0.7, -0.5, -0.3)])
    )
    assert _spots(2, 1, 0.2).tolist() == [[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]]


def test_a_word_is_fitted_from_a_third_of_a_module_away() -> None:
    white = (word(12) > 127).astype(np.float32)
    patch, true = patch_of(12), corner_of(12, (0.0, 0.0))
    start = true + np.array([[0.1, 0.0, 1.2], [0.0, -0.1, -1.2]])
    pose = fit_label_pose(patch, start, module_template(white))
    assert modules_off(pose.affine, true, 12) < 0.06
    assert pose.likeness > 0.99
    assert label_pose_at(patch, start, module_template(white)).likeness < 0.9


def test_a_words_likeness_is_a_correlation() -> None:
    white = (word(12) > 127).astype(np.float32)
    patch, true = patch_of(12), corner_of(12, (0.0, 0.0))
    dark = replace(patch, grey=(255 - patch.grey).astype(np.float32))
    brighter = replace(patch, grey=(20 + patch.grey / 2).astype(np.float32))
    likeness = [label_pose_at(one, true, module_template(white)).likeness for one in (patch, brighter, dark)]
    assert likeness == pytest.approx([likeness[0], likeness[0], -likeness[0]])


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ([[0, 0, 9.9], [0, 0, 0]], True), ([[0, 0, 0], [0, 0, -10.1]], False),  # 2.5 modules of 4 pixels
        ([[0.79, 0, -4.8], [0, 0, 0]], True), ([[0, 0.81, -4.8], [0, 0, 0]], False),  # a fifth of 4 pixels per module
    ],
)  # fmt: skip
def test_a_diverging_fit_is_rejected(change: list[list[float]], *, kept: bool) -> None:
    start = corner_of(12, (0.0, 0.0))
    assert _plausible(start + np.array(change), start, 12) == kept


def test_a_patch_without_a_label_returns_the_start() -> None:
    patch = patch_of(12)
    slope = np.linspace(0, 255, len(patch.grey))
    flat = replace(patch, grey=np.asarray(np.tile(slope, (len(slope), 1)), dtype=np.float32))
    start = corner_of(12, (0.0, 0.0))
    pose = fit_label_pose(flat, start, module_template((word(12) > 127).astype(np.float32)))
    assert modules_off(pose.affine, start, 12) < 2.6
    assert pose.likeness < 0.5


@pytest.mark.parametrize(("pixels", "times"), [(15.0, 1), (15.1, 2), (30.0, 2), (30.1, 3), (1000.0, 8), (1.0, 1)])
def test_a_large_label_is_cut_out_with_oversampling(pixels: float, times: int) -> None:
    """A patch of ten pixels; each may stand for one and a half pixels of the picture."""
    assert _oversampling(rectangle(np.zeros(2), 4.0, pixels), 10) == times
    assert _oversampling(rectangle(np.zeros(2), pixels, 4.0), 10) == times


def tile_picture(kind: LabelKind, *, scale: int = 10) -> tuple[Picture, Quad]:
    """Draw a tile of 20 by 30 modules with a label of a kind on it."""
    quad = rectangle(np.array([200.0, 250.0]), 30.0 * scale, 40.0 * scale)
    picture = np.full((500, 400), 90, dtype=np.uint8)
    middle = np.array([200.0, 250.0]) + kind.spot * [30 * scale, 40 * scale]
    size = kind.size * [30 * scale, 40 * scale] * (kind.count + 2) / kind.count
    left, top = np.round(middle - size / 2).astype(int)
    wide, high = np.round(size).astype(int)
    picture[top : top + high, left : left + wide] = cv2.resize(
        word(kind.count), (wide, high), interpolation=cv2.INTER_NEAREST
    )
    return picture, quad


@pytest.mark.parametrize("turned", [False, True])
@COUNTS
def test_a_label_is_found_where_its_kind_says(count: int, *, turned: bool) -> None:
    """The picture is turned with the tile: a label's spot and size are in its own orientation."""
    kind = LabelKind(count, np.array([0.05, -0.1]), np.array([0.4, 0.3]))
    picture, quad = tile_picture(kind)
    near = replace(kind, spot=kind.spot + np.array([0.03, 0.02]), size=kind.size * 1.05)
    if turned:
        picture, quad = picture[::-1, ::-1].copy(), np.array([400.0, 500.0]) - quad
        quad = np.roll(quad, 2, axis=0)
    look = refit_label(look_for_label(picture, quad, near, turned=turned, margin=3.5))
    assert look.guess.payload == Payload(8, 117)
    assert look.frame > 0.9
    assert look.kind.spot == pytest.approx(kind.spot, abs=0.008)
    assert look.kind.size == pytest.approx(kind.size, rel=0.04)


def test_a_patch_shows_the_modules_with_a_margin() -> None:
    kind = LabelKind(12, np.array([0.0, 0.0]), np.array([0.4, 0.3]))
    picture, quad = tile_picture(kind)
    patch = cut_patch(picture, quad, kind, turned=False, margin=3.0)
    assert patch.grey.shape == (72, 72)
    assert np.abs(patch.grey[2:6, 2:6] - 90).max() < 2  # bare back
    assert measured_kind(patch, LabelPose(corner_of(12, (0.0, 0.0)), 1.0)).spot == pytest.approx([0.0, 0.0], abs=1e-9)
    moved = measured_kind(patch, LabelPose(corner_of(12, (1.0, 2.0)), 1.0))
    assert moved.spot == pytest.approx([0.4 / 12, 0.6 / 12])
    assert moved.size == pytest.approx([0.4, 0.3])
    inner = label_pose_at(patch, corner_of(12, (0.0, 0.0)), module_template((word(12) > 127).astype(np.float32)))
    assert inner.likeness > 0.85


def test_one_step_moves_a_smooth_patch_back_exactly() -> None:
    """Gauss-Newton is exact if brightness is a plane: gradients, levers and the middle must all be right."""
    wanted = module_template((word(12) > 127).astype(np.float32))
    patch, true = patch_of(12, blur=10.0), corner_of(12, (0.0, 0.0))
    soft = replace(wanted, grey=_sample(patch.grey, true, wanted.at))
    off = np.array([[0.05, 0.0, 0.5], [0.025, -0.05, -0.5]])
    right, down = (cv2.Sobel(patch.grey, cv2.CV_32F, *order, ksize=3, scale=1 / 8) for order in ((1, 0), (0, 1)))
    sloped = np.asarray(cv2.merge([patch.grey, right, down]), dtype=np.float32)
    step = _step(_sample(sloped, true + off, soft.at), soft)
    assert modules_off(true + off + step, true, 12) < 0.4 * modules_off(true + off, true, 12)
    pose = fit_label_pose(patch, true + off, soft)
    assert modules_off(pose.affine, true, 12) < 0.02
