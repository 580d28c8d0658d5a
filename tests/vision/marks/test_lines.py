"""The second reader of numbers: a line of any number of signs."""

from itertools import groupby, product

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.geometry import inverse_homography, project
from vision.marks.lines import (
    CLASSES,
    HALF_SEEN,
    LETTER,
    NOTHING_HERE,
    SIZE,
    Logs,
    classify_columns,
    confidence_of_both,
    cut_line,
    likelihoods_of_digits,
    log_likelihoods,
    prepare_lines,
)
from vision.marks.read import SURE

COLUMNS = st.integers(1, 5)
SIGNS = st.lists(st.sampled_from([1, 2, LETTER, HALF_SEEN]), min_size=1, max_size=3)


def columns(number: int, seed: int) -> Logs:
    """Random log-likelihoods of some columns, in each of which only a few classes are likely."""
    shares = np.full((number, CLASSES), 1e-12)
    chosen = [1, 2, LETTER, HALF_SEEN, NOTHING_HERE]
    shares[:, chosen] = np.random.default_rng(seed).dirichlet(np.ones(len(chosen)), number)
    return np.asarray(np.log(shares / shares.sum(axis=1, keepdims=True)), dtype=np.float32)


def shown(path: tuple[int, ...]) -> list[int]:
    """The signs of a path through the columns: one sign in several columns is one sign."""
    return [sign for sign, _ in groupby(path) if sign != NOTHING_HERE]


def likelihood(logs: Logs, signs: list[int]) -> float:
    return float(np.exp(log_likelihoods(logs[None], np.array([signs], dtype=np.int64)))[0])


def likelihood_of(logs: Logs, digits: list[int]) -> float:
    return float(likelihoods_of_digits(logs[None], np.array([digits]))[0])


@given(COLUMNS, SIGNS, st.integers(0, 1000))
def test_the_likelihood_of_signs_is_the_sum_over_all_paths(number: int, signs: list[int], seed: int) -> None:
    logs = columns(number, seed)
    ways = product([1, 2, LETTER, HALF_SEEN, NOTHING_HERE], repeat=number)
    total = sum(
        float(np.exp(sum(logs[at, sign] for at, sign in enumerate(path)))) for path in ways if shown(path) == signs
    )
    assert likelihood(logs, signs) == pytest.approx(total, abs=1e-6)


def certain(*signs: int) -> Logs:
    """Columns that surely show these signs, each followed by an empty column."""
    logs = np.full((2 * len(signs) + 1, CLASSES), -30.0, dtype=np.float32)
    logs[::2, NOTHING_HERE] = 0.0
    logs[range(1, len(logs), 2), signs] = 0.0
    return logs


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ((1, 1, 0), 1.0),
        ((LETTER, 1, 1, 0), 1.0),
        ((1, 0), 0.0),
        ((1, 1), 0.0),
        ((1, 1, 1, 0), 0.0),
        ((1, 1, 0, 2), 0.0),
        ((LETTER, LETTER, 1, 1, 0), 0.0),
        ((HALF_SEEN, 1, 1, 0), 0.0),
        ((HALF_SEEN, 1, 0), 0.0),
        ((0, 1, 1), 0.0),
        ((), 0.0),
    ],
)
def test_110_is_read_only_if_the_line_shows_exactly_its_three_digits(there: tuple[int, ...], expected: float) -> None:
    assert likelihood_of(certain(*there), [1, 1, 0]) == pytest.approx(expected, abs=1e-9)


def test_each_line_is_compared_with_its_own_digits() -> None:
    logs = np.stack([certain(1, 1, 0), certain(0, 3, 5), certain(1, 2, 2)])
    asked = np.array([[1, 1, 0], [0, 3, 6], [1, 2, 2]])
    assert likelihoods_of_digits(logs, asked) == pytest.approx([1.0, 0.0, 1.0], abs=1e-9)


def test_a_likelihood_of_seven_tenths_gives_the_confidence_that_a_serial_needs() -> None:
    assert [confidence_of_both(share, 1.0) for share in (0.0, 0.3, 0.7, 1.0)] == pytest.approx([0.0, 0.3, SURE, 1.0])


@pytest.mark.parametrize(
    ("first", "second", "sure"),
    [(0.84, 0.84, True), (0.83, 0.83, False), (0.70, 1.0, True), (0.96, 0.71, True), (0.94, 0.71, False)],
)
def test_a_serial_counts_by_the_product_or_if_the_first_reader_is_sure(
    first: float, second: float, *, sure: bool
) -> None:
    assert (confidence_of_both(first, second) >= SURE - 1e-9) == sure


@given(st.floats(0, 1), st.floats(0, 1))
def test_confidence_grows_with_likelihood(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert confidence_of_both(low, 0.9) <= confidence_of_both(high, 0.9)


def test_a_repeated_digit_differs_from_a_single_one() -> None:
    once = certain(1, 7)[[0, 1, 1, 3, 4]]  # the 1 fills two adjacent columns
    assert likelihood_of(once, [1, 7]) == pytest.approx(1.0)
    assert likelihood_of(once, [1, 1, 7]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("turned", [False, True])
def test_a_line_shows_the_tiles_whole_width_around_its_middle(*, turned: bool) -> None:
    crop = np.zeros((112, 80, 3), dtype=np.uint8)
    crop[60:64, 70:74] = 255
    line, way = cut_line(crop, np.array([40.0, 50.0]), turned=turned)
    rows, cols = np.nonzero(line[:, :, 0] > 127)
    expected = project(way, np.array([[72.0, 62.0]]))[0]
    assert (cols.mean() + 0.5, rows.mean() + 0.5) == pytest.approx(tuple(expected), abs=0.4)
    ends = project(way, np.array([[0.0, 50.0], [80.0, 50.0]]))
    left, right = (ends[1], ends[0]) if turned else (ends[0], ends[1])
    assert (left, right) == (pytest.approx([0.0, SIZE[1] / 2]), pytest.approx([SIZE[0], SIZE[1] / 2]))


@pytest.mark.parametrize("turned", [False, True])
def test_each_pixel_of_a_line_shows_its_place_in_the_crop(*, turned: bool) -> None:
    """A crop whose levels are its own coordinates."""
    rows, cols = np.indices((112, 80), dtype=np.float64) + 0.5
    crop = np.stack([cols, rows, cols + rows], axis=2).astype(np.uint8)  # truncated by half a level on average
    line, way = cut_line(crop, np.array([40.0, 61.0]), turned=turned)
    at = np.array([[20.5, 10.5], [60.5, 30.5], [90.5, 50.5]])
    there = project(inverse_homography(way), at)
    seen = np.array([line[int(y), int(x), :2] for x, y in at], dtype=np.float64)
    assert seen + 0.5 == pytest.approx(there, abs=0.55)
    assert np.abs(seen + 0.5 - there).mean() < 0.3


def test_input_is_independent_of_light_and_of_the_tiles_surroundings() -> None:
    line = np.full((SIZE[1], SIZE[0], 3), 100, dtype=np.uint8)
    cv2.putText(line, "117", (28, 36), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (130, 130, 130), 2)
    lighter, beside = line + np.uint8(60), line.copy()
    beside[:, :10] = 255
    plain = prepare_lines(line[None])
    assert prepare_lines(lighter[None]) == pytest.approx(plain, abs=1e-4)
    assert prepare_lines(beside[None])[..., 10:] == pytest.approx(plain[..., 10:], abs=1e-4)


def test_without_lines_no_network_runs() -> None:
    assert classify_columns(np.empty((0, SIZE[1], SIZE[0], 3), dtype=np.uint8)).shape == (0, 26, CLASSES)


def written(text: str) -> np.ndarray:
    """Draw a text in plain strokes in the middle of a line."""
    line = np.full((SIZE[1], SIZE[0], 3), (40, 110, 40), dtype=np.uint8)
    (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_DUPLEX, 0.8, 1)
    at = ((SIZE[0] - width) // 2, (SIZE[1] + height) // 2)
    cv2.putText(line, text, at, cv2.FONT_HERSHEY_DUPLEX, 0.8, (235, 235, 235), 1, cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(line, (0, 0), 0.6))


def likeliest_signs(logs: Logs) -> tuple[int, ...]:
    """Return the signs on the likeliest path through a line, shape (columns, 13)."""
    best = logs.argmax(axis=1)
    changed = np.concatenate([[True], best[1:] != best[:-1]])
    return tuple(int(sign) for sign in best[changed] if sign != NOTHING_HERE)


@pytest.mark.parametrize("text", ["3", "10", "45", "110", "035", "136", "1022", "2026"])
def test_the_number_of_signs_is_right(text: str) -> None:
    seen = likeliest_signs(classify_columns(written(text)[None])[0])
    assert "".join(str(sign) for sign in seen) == text
