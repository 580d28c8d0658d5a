"""Digits compared with the same digits on the picture's other tiles."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vision import reader
from vision.finder import DetectedTile, Detections
from vision.geometry import Picture
from vision.marks import TileMark, read, shapes
from vision.marks.digits import digit_places, digits_of, near_serials
from vision.marks.read import SURE, restore_alike, withhold_unlike, withhold_upside_down
from vision.marks.shapes import ink_of_crops, leads_of_rivals, like_others, unlike_others

SERIALS = (10, 21, 34, 45, 53, 67, 78, 89, 96, 102, 114, 125)
WIDE, HIGH, PITCH = 60, 84, 13.0  # pixels of a tile, and from digit to digit


def table(printed: tuple[int, ...] = SERIALS, colour: tuple[int, int, int] = (20, 20, 120)) -> Picture:
    """Draw tiles side by side, with numbers in the middle."""
    picture = np.full((HIGH + 20, WIDE * len(printed) + 20, 3), 190, dtype=np.uint8)
    for at, serial in enumerate(printed):
        cv2.rectangle(picture, (10 + WIDE * at, 10), (10 + WIDE * (at + 1), 10 + HIGH), (150, 150, 150), 1)
        for place, digit in enumerate(f"{serial:03d}"):
            x = 10 + WIDE * (at + 0.5) + PITCH * (place - 1) - 6
            cv2.putText(picture, digit, (round(x), 10 + HIGH // 2 + 7), 0, 0.6, colour, 1, cv2.LINE_AA)
    return picture


def tiles(count: int = len(SERIALS)) -> list[DetectedTile]:
    """Return the tiles' outlines."""
    corners = np.array([[0, 0], [WIDE, 0], [WIDE, HIGH], [0, HIGH]], dtype=np.float64) + 10
    return [DetectedTile(corners + np.array([WIDE * at, 0]), face_up=False, likelihood=1.0) for at in range(count)]


def marks(last: int = 125, rivals: tuple[int, ...] = (125,), count: int = len(SERIALS)) -> list[TileMark]:
    """Return the marks of tiles, all read correctly except the last."""
    mark = TileMark(None, None, turned=False, confidence=0.9995, spot=np.zeros(2), pitch=PITCH / WIDE)
    return [
        *(replace(mark, serial=serial) for serial in SERIALS[: count - 1]),
        replace(mark, serial=last, rivals=rivals),
    ]


COLOURS = pytest.mark.parametrize("colour", [(20, 20, 120), (250, 250, 250), (150, 175, 190)])


@pytest.mark.parametrize("wrong", [126, 123, 128, 115, 195, 25])
@COLOURS
def test_a_number_with_a_digit_like_a_rivals_is_found(wrong: int, colour: tuple[int, int, int]) -> None:
    assert unlike_others(table(colour=colour), tiles(), marks(wrong)) == {11}
    assert unlike_others(table(colour=colour), tiles(), marks(wrong, rivals=())) == set()


@COLOURS
def test_a_number_that_looks_as_read_is_not_withheld(colour: tuple[int, int, int]) -> None:
    assert unlike_others(table(colour=colour), tiles(), marks(125, near_serials(125))) == set()


def test_a_rival_counts_if_too_few_numbers_have_its_digit() -> None:
    """Only one other number has a 3."""
    read = [replace(mark, rivals=(84,)) if mark.serial == 34 else mark for mark in marks(rivals=())]
    assert unlike_others(table(), tiles(), read) == {2}


def test_a_digit_a_third_as_much_like_a_rivals_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    for lead, found in ((-0.29, {11}), (-0.31, set())):
        monkeypatch.setattr(shapes, "leads_of_rivals", lambda *_, lead=lead: [lead])
        assert unlike_others(table(), tiles(), marks()) == found


def test_numbers_of_another_print_are_found_only_among_the_checked_ones() -> None:
    ticket = table((125,), colour=(20, 120, 20))
    printed = table()
    printed[:, -WIDE:] = 255 - ticket[:, -WIDE:]  # paler than its background
    read = marks(rivals=())
    assert unlike_others(printed, tiles(), read, {11}) == {11}
    assert unlike_others(printed, tiles(), read, {10}) == set()
    assert unlike_others(table(), tiles(), read, range(12)) == set()


@pytest.mark.parametrize(
    ("alike", "size", "other"),
    [
        (0.56, 1.0, False),
        (0.54, 1.0, True),  # more than 0.35 below the usual
        (0.9, 1.49, False),
        (0.9, 1.51, True),
        (0.9, 0.67, False),
        (0.9, 0.66, True),
    ],
)
def test_another_print_is_less_similar_or_of_another_size(alike: float, size: float, *, other: bool) -> None:
    found = shapes.are_of_another_print(np.array([alike, *[0.9] * 8]), np.array([size, *[1.0] * 8]))
    assert found.tolist() == [other, *[False] * 8]


WIDTHS = np.array([0.22, 0.12, *[0.2] * 8])
"""Widths of a print's digits: a wide 0, a narrow 1."""

PRINTED = np.array([digits_of(one) for one in (1, 12, 20, 35, 41, 57, 63, 78, 80, 90, 101, 110, 124, 133, 96, 7, 48)])


def pitch(serials: NDArray[np.int64]) -> NDArray[np.float64]:
    first, middle, last = WIDTHS[serials].T
    return np.asarray((first + last) / 2 + middle)


@pytest.mark.parametrize("serial", [111, 117, 100, 4, 131])
def test_a_numbers_expected_width_follows_from_its_digits(serial: int) -> None:
    own = np.array(digits_of(serial))
    assert shapes.expected_pitch(own, PRINTED, pitch(PRINTED)) == pytest.approx(pitch(own), rel=0.05)


def test_a_narrow_one_does_not_make_a_number_seem_smaller() -> None:
    assert shapes.sizes_of_print(pitch(PRINTED), PRINTED) == pytest.approx(1, abs=0.1)


def test_a_narrow_number_is_smaller_in_a_print_with_equally_wide_digits() -> None:
    serials = np.array([(1, 1, 1), *PRINTED])
    sizes = shapes.sizes_of_print(np.array([0.5, *np.ones(len(PRINTED))]), serials)
    assert sizes[0] == pytest.approx(0.5)
    assert sizes[1:] == pytest.approx(1, abs=0.4)  # half above that, and they would be of another print


def test_a_digit_in_no_other_number_has_the_usual_width() -> None:
    others = np.array([digits_of(one) for one in (22, 25, 52, 32)])
    assert shapes.expected_pitch(np.array([1, 1, 1]), others, np.full(4, 0.2)) == pytest.approx(0.2)


def test_in_an_irregular_print_a_likeness_of_45_hundredths_is_enough() -> None:
    found = shapes.are_of_another_print(np.array([0.44, 0.46, *[0.6] * 7]), np.ones(9))
    assert found.tolist() == [True, *[False] * 8]


def test_likeness_to_the_own_kind_is_a_mean_over_digits_that_others_have() -> None:
    serials = np.array([[0, 1, 2]] * 4)
    looks = np.array([[noise(0), noise(1), noise(2)]] * 4)
    assert shapes.likeness_to_own_kind(looks, serials) == pytest.approx([1] * 4, abs=0.01)
    looks[3, 2] = noise(9)
    assert shapes.likeness_to_own_kind(looks, serials)[3] == pytest.approx(2 / 3, abs=0.1)
    assert shapes.likeness_to_own_kind(looks, np.array([[0, 1, 2]] * 3 + [[3, 4, 2]]))[3] == 1  # one digit is too few


def test_a_serial_that_another_tile_surely_has_is_not_a_rival() -> None:
    sure = [replace(mark, serial=125) if mark.serial == 10 else mark for mark in marks(126, (125,))]
    assert unlike_others(table(), tiles(), sure) == set()
    assert 11 in unlike_others(
        table(), tiles(), [replace(sure[0], rivals=(124,)), *sure[1:]]
    )  # unless that tile is in doubt


def test_one_of_several_rivals_is_enough() -> None:
    assert unlike_others(table(), tiles(), marks(126, (106, 125, 127))) == {11}
    assert unlike_others(table(), tiles(), marks(126, (106, 127))) == set()


def test_fewer_than_eight_numbers_are_not_compared() -> None:
    printed, read = table((*SERIALS[:7], 84)), marks(85, (84,), 8)
    assert unlike_others(printed, tiles(8), read) == {7}
    assert unlike_others(printed, tiles(8), [replace(read[0], serial=None), *read[1:]]) == set()


def test_forty_sure_numbers_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def lead(looks: np.ndarray, *_: object) -> list[float]:
        asked.append(len(looks))
        return [1.0, 1.0]

    monkeypatch.setattr(shapes, "leads_of_rivals", lead)
    mark, doubted = replace(marks()[0], rivals=()), replace(marks()[0], rivals=(11,))
    read = [doubted, *[mark] * 41, doubted]
    assert shapes.unlike_others(table(), tiles(1) * 43, read) == {0, 42}
    assert asked == [42]


def doubted(serial: int = 125) -> dict[int, TileMark]:
    """Return the last tile's mark, in doubt."""
    return {11: replace(marks(serial)[11], confidence=0.8)}


@COLOURS
def test_a_doubted_number_whose_digits_look_right_is_found(colour: tuple[int, int, int]) -> None:
    sure = marks()[:11]
    assert like_others(table(colour=colour), tiles(), sure, doubted()) == {11}
    for serial in (126, 123, 128, 115, 25, 130):
        assert like_others(table(colour=colour), tiles(), sure, doubted(serial)) == set()
    assert like_others(table(colour=colour), tiles(), sure, {}) == set()


def test_a_doubted_number_needs_eight_others_with_each_of_its_digits_twice() -> None:
    sure = marks()[:11]
    assert like_others(table(), tiles(), sure[3:], doubted()) == set()  # eight, but with few different digits
    assert like_others(table(), tiles(), sure[4:], doubted()) == set()
    assert like_others(table((*SERIALS[:11], 126)), tiles(), sure, doubted(126)) == {11}
    five = [mark if mark.serial not in (45, 53) else replace(mark, serial=None) for mark in sure]
    assert like_others(table(), tiles(), five, doubted()) == set()  # no other 5


def look_of(digits: tuple[int, int, int], likeness: float = 1.0) -> np.ndarray:
    """Return the shapes of a number, each similar to its digit's usual shape."""
    other = np.sqrt(1 - likeness**2)
    return np.array([likeness * noise(digit) + other * noise(20 + at) for at, digit in enumerate(digits)])


def test_a_digit_counts_if_it_is_like_its_own_kind_and_clearly_unlike_others() -> None:
    known = np.array([(at, (at + 1) % 8, (at + 2) % 8) for at in range(8)] * 2)
    asked = np.array([(0, 1, 2)] * 4)
    looks = [look_of((0, 1, 2)), look_of((0, 1, 2), 0.75), look_of((0, 1, 2), 0.45), look_of((0, 1, 3))]
    seen = np.array([*(look_of(tuple(digits)) for digits in known), *looks])
    assert shapes.match_usual_shapes(seen, np.concatenate([known, asked]), 16) == [True, True, False, False]
    half = seen.copy()
    half[16, 2] = noise(2) + 0.9 * noise(3)  # like two digits
    assert not shapes.match_usual_shapes(half, np.concatenate([known, asked]), 16)[0]
    assert not any(shapes.match_usual_shapes(seen[8:], np.concatenate([known, asked])[8:] % 7, 8))  # seven kinds


def test_a_doubted_number_counts_once_its_digits_look_right(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Detections(tuple(tiles()), np.zeros((1, 1), np.uint8), 8.0)

    def counted(last: TileMark, settled: TileMark | None = None, strays: frozenset[int] = frozenset()) -> TileMark:
        sure = tuple(marks()[:11])
        now = settled or replace(last, serial=None)
        mark = restore_alike(table(), found, (*sure, last), (*sure, now), strays)[11]
        assert mark is not None
        return mark

    last = doubted()[11]
    assert (counted(last).serial, counted(last).confidence) == (125, SURE)
    assert counted(replace(last, confidence=0.96)).confidence == 0.96
    assert counted(replace(last, confidence=0.79)).serial is None
    assert counted(last, strays=frozenset({11})).serial is None
    assert counted(last, replace(last, serial=None, clash=125)).serial is None
    assert counted(replace(last, serial=10)).serial is None  # another tile has it
    monkeypatch.setattr(read, "like_others", lambda *asked: set(asked[-1]))  # whatever they look like
    assert counted(replace(last, serial=10)).serial is None
    read_as = (*marks()[:11], last)
    monkeypatch.setattr(reader, "read_marks", lambda *_: (found, read_as))
    assert 125 in {one.serial for one in reader.read_picture(table()).reads}


@pytest.mark.parametrize(("confidence", "left"), [(0.9949, None), (0.995, 125)])
def test_a_doubted_number_upside_down_in_its_tray_is_not_read(confidence: float, left: int | None) -> None:
    last = replace(marks()[11], confidence=confidence)
    label = replace(last, pitch=float("nan"))
    told = [mark and mark.serial for mark in withhold_upside_down((last, last, label, None), frozenset({1, 2, 3}))]
    assert told == [125, left, 125, None]


def test_two_doubted_numbers_with_one_serial_stay_unread() -> None:
    printed = (*SERIALS, 125)
    found = Detections(tuple(tiles(13)), np.zeros((1, 1), np.uint8), 8.0)
    last = doubted()[11]
    said = (*marks()[:11], last, last)
    now = (*marks()[:11], *[replace(last, serial=None)] * 2)
    assert restore_alike(table(printed), found, said, now, frozenset()) == now


def test_labels_are_not_compared() -> None:
    labels = [replace(mark, pitch=float("nan")) for mark in marks(126)]
    assert unlike_others(table(), tiles(), labels) == set()


def test_tiles_upside_down_are_compared_upright() -> None:
    turned = [replace(tile, quad=np.roll(tile.quad, 2, axis=0)) for tile in tiles()]
    assert unlike_others(table(), turned, [replace(mark, turned=True) for mark in marks(126)]) == {11}
    assert unlike_others(table(), turned, [replace(mark, turned=True) for mark in marks(125, (126,))]) == set()


def test_only_a_number_like_a_rival_loses_its_serial(monkeypatch: pytest.MonkeyPatch) -> None:
    read = (*marks(126), None)
    found = Detections((*tiles(), *tiles(1)), np.zeros((1, 1), np.uint8), 8.0)
    left = [mark and mark.serial for mark in withhold_unlike(table(), found, read, frozenset())]
    assert left == [*SERIALS[:11], None, None]
    monkeypatch.setattr(reader, "read_marks", lambda *_: (found, read))
    serials = [one.serial for one in reader.read_picture(table()).reads]
    assert set(serials) - {None} == set(SERIALS[:11])


def test_digits_are_located_by_spot_and_pitch() -> None:
    mark = TileMark(7, None, turned=False, confidence=1.0, spot=np.array([0.1, -0.2]), pitch=0.25)
    # a crop of 80 x 112 pixels shows 1.12 tiles each way
    upright = np.array([[40 + 80 * (0.1 + step) / 1.12, 56 - 112 * 0.2 / 1.12] for step in (-0.25, 0.0, 0.25)])
    np.testing.assert_allclose(digit_places(mark), upright)
    np.testing.assert_allclose(digit_places(replace(mark, turned=None)), upright)
    np.testing.assert_allclose(digit_places(replace(mark, turned=True)), [80, 112] - upright)


@pytest.mark.parametrize("way", [1, -1])
def test_a_digit_is_cut_out_in_proportion_to_the_step(way: int) -> None:
    rows, cols = np.indices((112, 80)).astype(np.float32)
    places = np.array([[30.0, 50.0], [40.0, 50.0], [50.0, 50.0]])[::way]
    across, down = shapes._cut_digits(np.array([cols, rows]), np.array([places, places]))
    assert across[1].mean(axis=0) == pytest.approx(39.5 + way * (np.arange(22) - 10.5) * 12.4 / 14, abs=0.05)
    assert down[2].mean(axis=1) == pytest.approx(49.5 + way * (np.arange(28) - 13.5) * 22 / 24, abs=0.05)


def noise(seed: int) -> np.ndarray:
    """Return a shape that is like no other."""
    return np.random.default_rng(seed).normal(size=(28, 22)).astype(np.float32)


def test_the_lead_is_1_for_the_rivals_shape_and_minus_1_for_the_own() -> None:
    serials = np.array([[0, 1, 2]] * 4)
    looks = np.array([[noise(0), noise(1), noise(2)]] * 4)
    looks[3, 2] = noise(0)
    assert leads_of_rivals(looks, serials, [(3, (0, 1, 0))]) == pytest.approx([1], abs=0.15)
    looks[3, 2] = noise(2)
    assert leads_of_rivals(looks, serials, [(3, (0, 1, 0))]) == pytest.approx(
        [-1], abs=0.25
    )  # shifted noise is slightly similar to noise


def test_a_digit_like_no_other_supports_no_rival() -> None:
    serials = np.array([[0, 1, 2]] * 4)
    looks = np.array([[noise(0), noise(1), noise(2)]] * 4)
    looks[3, 2] = 0.5 * noise(0) + noise(9)
    assert leads_of_rivals(looks, serials, [(3, (0, 1, 0))]) == [-1]
    looks[3, 2] = noise(0) + 0.9 * noise(9)
    assert leads_of_rivals(looks, serials, [(3, (0, 1, 0))])[0] > 0.3


def test_a_digit_that_only_one_other_number_has_refutes_nothing() -> None:
    serials = np.array([[0, 0, 0]] * 3 + [[1, 0, 0]] * 3)
    looks = np.array([[noise(0)] * 3] * 3 + [[noise(1), noise(0), noise(0)]] * 3)
    looks[0, 0] = noise(1)
    assert leads_of_rivals(looks[:5], serials[:5], [(0, (1, 0, 0))]) == pytest.approx([1], abs=0.15)
    assert leads_of_rivals(looks[:4], serials[:4], [(0, (1, 0, 0))]) == [0]
    serials[2:], looks[2:] = [1, 1, 1], noise(1)
    assert leads_of_rivals(looks, serials, [(0, (1, 0, 0))])[0] > 0.85  # three other 0s
    serials[1], looks[1] = [1, 1, 0], [noise(1), noise(1), noise(0)]
    assert leads_of_rivals(looks, serials, [(0, (1, 0, 0))]) == [0]  # one


@pytest.mark.parametrize(
    ("down", "across", "seen"), [(2, 4, True), (-2, -4, True), (3, 0, False), (0, 5, False), (0, -5, False)]
)
def test_a_digit_may_be_off_by_four_pixels_across_and_two_down(down: int, across: int, *, seen: bool) -> None:
    serials = np.array([[0, 1, 2]] * 4)
    looks = np.array([[noise(0), noise(1), noise(2)]] * 4)
    looks[3, 2] = np.roll(noise(0), (down, across), axis=(0, 1))
    assert (leads_of_rivals(looks, serials, [(3, (0, 1, 0))])[0] > 0.5) == seen


def test_displaced_digits_are_aligned_before_averaging() -> None:
    serials = np.array([[0, 1, 2]] * 6)
    looks = np.array([[noise(0), noise(1), noise(2)]] * 6)
    for at, off in enumerate((-3, -2, 0, 0, 2, 3)):
        looks[at] = np.roll(looks[at], off, axis=2)
    shifted = shapes._shifted(looks)
    aligned = shapes._aligned(shifted, serials)
    assert [float(aligned[at, 2] @ aligned[2, 2]) > 0.95 for at in range(6)] == [True] * 6
    assert float(shifted[0, 2, 22] @ shifted[2, 2, 22]) < 0.5  # without alignment


def test_slow_changes_of_light_are_not_ink() -> None:
    bright = np.linspace(100, 200, 80, dtype=np.float32)[None, None, :, None]
    plain = np.broadcast_to(bright, (4, 112, 80, 3)).astype(np.uint8)
    marked = plain.copy()
    marked[:, 50:60, 40:42] = 20
    plain[:, 50:60, 40:42] -= 40  # some ink, so that there is a colour
    assert np.abs(ink_of_crops(marked)[:, 45:65, 36:46]).max() > 5 * np.abs(ink_of_crops(marked)[:, 30:80, 15:30]).max()
