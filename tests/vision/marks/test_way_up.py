"""Numbers that read both ways up: bars, spots, neighbours, and the decision."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.tray_scenes import Pose, Seen, carrier_scene, heap_scene, see, tray_scene
from vision.finder import DetectedTile
from vision.geometry import Picture, Points, rectangle
from vision.marks import TileMark
from vision.marks.digits import DigitLook
from vision.marks.label import NO_MARK
from vision.marks.read import (
    _SIZE,
    _inkiest,
    _is_face,
    _is_nothing,
    bar_odds,
    decide_ambiguous,
    neighbour_odds,
    spot_odds,
)

ENOUGH = np.log(100)
PLACES = np.array([[24.0, 52.0], [40.0, 52.0], [56.0, 52.0]])
INKS = [((40, 110, 30), (230, 235, 235)), ((215, 230, 235), (40, 20, 20)), ((120, 40, 30), (90, 120, 130))]


def back(colours: tuple[tuple[int, int, int], tuple[int, int, int]], *, bar: bool, lean: int = 0) -> Picture:
    """Draw 060 on a back, with a bar or without."""
    plastic, ink = colours
    crop = np.full((112, 80, 3), plastic, dtype=np.uint8)
    for (x, y), digit in zip(PLACES.astype(int), "060", strict=True):
        (width, height), _ = cv2.getTextSize(digit, cv2.FONT_HERSHEY_SIMPLEX, 0.75, 2)
        cv2.putText(crop, digit, (x - width // 2, y + height // 2), cv2.FONT_HERSHEY_SIMPLEX, 0.75, ink, 2, cv2.LINE_AA)
    if bar:
        cv2.line(crop, (18, 66 - lean), (62, 66 + lean), ink, 2, cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(crop, (0, 0), 0.7), dtype=np.uint8)


def upside_down(crop: Picture) -> tuple[Picture, Points]:
    return crop[::-1, ::-1].copy(), np.array([80.0, 112.0]) - PLACES[::-1]


@pytest.mark.parametrize("colours", INKS)
@pytest.mark.parametrize("lean", [-1, 0, 1])
def test_a_bar_below_the_digits_shows_that_they_are_upright(
    colours: tuple[tuple[int, int, int], tuple[int, int, int]], lean: int
) -> None:
    assert bar_odds(back(colours, bar=True, lean=lean), PLACES) > ENOUGH


@pytest.mark.parametrize("colours", INKS)
def test_a_bar_above_the_digits_shows_that_they_are_upside_down(
    colours: tuple[tuple[int, int, int], tuple[int, int, int]],
) -> None:
    assert bar_odds(*upside_down(back(colours, bar=True))) < -ENOUGH


@pytest.mark.parametrize("colours", INKS)
def test_digits_without_a_bar_show_nothing(colours: tuple[tuple[int, int, int], tuple[int, int, int]]) -> None:
    assert bar_odds(back(colours, bar=False), PLACES) == 0


def test_a_line_as_short_as_a_digit_is_not_a_bar() -> None:
    crop = back(INKS[0], bar=False)
    cv2.line(crop, (32, 66), (48, 66), INKS[0][1], 2)
    assert bar_odds(crop, PLACES) == 0


def test_the_edge_of_the_tile_is_not_a_bar() -> None:
    crop = back(INKS[0], bar=False)
    crop[104:] = INKS[0][1]
    assert bar_odds(crop, PLACES + np.array([0.0, 22.0])) == 0


@given(st.integers(0, 2**32 - 1))
def test_noise_is_not_a_bar(seed: int) -> None:
    crop = np.random.default_rng(seed).integers(0, 256, (112, 80, 3), dtype=np.uint8)
    assert abs(bar_odds(crop, PLACES)) < ENOUGH


def test_digits_in_one_place_have_no_line_to_search_below() -> None:
    assert bar_odds(back(INKS[0], bar=True), np.full((3, 2), 40.0)) == 0


UPRIGHT_POSE = Pose(tilt=10, noise=0.02)


def other_way(mark: TileMark | None) -> TileMark:
    """Read a mark upside down."""
    assert mark is not None
    return replace(mark, turned=not mark.turned, spot=-mark.spot)


def reread(seen: Seen, tile: int) -> Seen:
    """Return the picture with one mark read the other way up."""
    marks = tuple(other_way(mark) if number == tile else mark for number, mark in enumerate(seen.marks))
    return replace(seen, marks=marks)


def odds(seen: Seen, tile: int) -> float:
    """Return the log-odds that a tile stands as its mark was read."""
    return spot_odds(tile, seen.marks) + neighbour_odds(tile, seen.lay_out(), seen.marks)


@given(st.integers(0, 33))
def test_reading_a_mark_the_other_way_up_negates_the_odds(tile: int) -> None:
    seen = see(tray_scene(UPRIGHT_POSE))
    assert odds(seen, tile) > 0
    assert odds(reread(seen, tile), tile) == pytest.approx(-odds(seen, tile))


def test_a_full_tray_alone_is_limited_by_how_often_tiles_are_laid_upside_down() -> None:
    seen = see(tray_scene(UPRIGHT_POSE))
    assert neighbour_odds(0, seen.lay_out(), seen.marks) == pytest.approx(np.log(39))


def test_a_tile_whose_mark_shows_no_way_up_is_assumed_to_stand_as_its_tray_does() -> None:
    seen = see(tray_scene(UPRIGHT_POSE))
    untold = tuple(
        mark and replace(mark, turned=None) if number == 7 else mark for number, mark in enumerate(seen.marks)
    )
    layout = replace(seen, marks=untold).lay_out()
    assert layout.positions[7].turn == 0
    assert neighbour_odds(7, layout, untold) == pytest.approx(np.log(39))


def test_in_a_heap_only_the_spot_counts() -> None:
    seen = see(heap_scene(UPRIGHT_POSE, 20))
    assert neighbour_odds(3, seen.lay_out(), seen.marks) == 0
    assert odds(seen, 3) == spot_odds(3, seen.marks) > 0


def test_marks_in_the_middle_of_their_tiles_show_nothing() -> None:
    seen = see(heap_scene(UPRIGHT_POSE, 20))
    centred = tuple(mark and replace(mark, spot=np.zeros(2)) for mark in seen.marks)
    assert spot_odds(0, centred) == 0


def test_too_few_other_marks_define_no_usual_spot() -> None:
    seen = see(heap_scene(UPRIGHT_POSE, 4))
    assert spot_odds(0, seen.marks) == 0


def test_a_spot_far_from_both_expected_ones_is_not_certain() -> None:
    seen = see(heap_scene(UPRIGHT_POSE, 20))
    odd = tuple(
        replace(mark, spot=np.array([0.3, 0.3])) if number == 0 and mark else mark
        for number, mark in enumerate(seen.marks)
    )
    assert abs(spot_odds(0, odd)) < 3


@pytest.mark.parametrize(("over", "known", "expected"), [(0, 34, np.log(39)), (16, 33, 0.0), (33, 34, -np.log(39))])
def test_neighbours_count_by_their_majority(over: int, known: int, expected: float) -> None:
    seen = see(tray_scene(UPRIGHT_POSE))
    layout = seen.lay_out()
    positions = tuple(
        replace(position, turn=180 if 1 <= number <= over else 0) for number, position in enumerate(layout.positions)
    )
    marks = (*seen.marks[:known], *([None] * (34 - known)))
    assert neighbour_odds(0, replace(layout, positions=positions), marks) == pytest.approx(expected, abs=1e-6)


def test_marks_without_a_serial_do_not_count_as_neighbours() -> None:
    """A maker's sign turned a whole set upside down, and its 090 was read as 060, as if all others were turned."""
    seen = see(tray_scene(UPRIGHT_POSE))
    unread = tuple(mark and replace(mark, serial=None) if number else mark for number, mark in enumerate(seen.marks))
    layout = seen.lay_out()
    assert spot_odds(0, unread) == neighbour_odds(0, layout, unread) == 0
    assert odds(seen, 0) != 0


@pytest.mark.parametrize("tile", [0, 33])
def test_a_mark_that_was_not_read_has_no_odds(tile: int) -> None:
    seen = see(tray_scene(UPRIGHT_POSE))
    assert spot_odds(tile, (None,) * 34) == neighbour_odds(tile, seen.lay_out(), (None,) * 34) == 0


POSE = Pose(tilt=8, noise=0.015)


def numbered(seen: Seen) -> Seen:
    """Put every mark in the middle of its tile, where its spot shows no way up."""
    return replace(seen, marks=tuple(mark and replace(mark, spot=np.zeros(2)) for mark in seen.marks))


def torn(seen: Seen, serial: int, *, upside_down: bool = False) -> Seen:
    """Leave it open whether a tile is 060 or 090, which it is."""
    pair = (serial, 150 - serial)
    marks = tuple(
        replace(mark, serial=None, turned=None, either=pair[::-1] if bool(mark.turned) != upside_down else pair)
        if mark and mark.serial == serial
        else mark
        for mark in seen.marks
    )
    return replace(seen, marks=marks)


def decided(seen: Seen, *serials: int) -> list[int | None]:
    """Return the decisions on tiles, by their true serials."""
    marks: tuple[TileMark | None, ...] = decide_ambiguous(seen.picture, seen.found, seen.marks, seen.lay_out())
    told = {one.serial: mark.serial for one, mark in zip(seen.shown, marks, strict=True) if mark}
    return [told[serial] for serial in serials]


def carrier() -> Seen:
    return numbered(see(carrier_scene(POSE), scale=0.8))


def test_a_tray_alone_does_not_decide_060() -> None:
    scene = tray_scene(POSE).changed((1, 4), serial=60)
    assert decided(torn(numbered(see(scene)), 60), 60) == [None]


def test_060_and_090_support_each_other_if_both_stand_as_their_trays() -> None:
    assert decided(torn(torn(carrier(), 60), 90), 60, 90) == [60, 90]


def test_neither_is_read_if_both_seem_to_be_the_same() -> None:
    assert decided(torn(torn(carrier(), 60), 90, upside_down=True), 60, 90) == [None, None]


@pytest.mark.parametrize(("torn_one", "read"), [(60, 90), (90, 60)])
def test_one_marks_spot_is_enough_for_both(torn_one: int, read: int) -> None:
    assert decided(torn(carrier(), torn_one), torn_one, read) == [torn_one, read]


def test_in_a_heap_a_090_that_was_read_leaves_060_for_the_other() -> None:
    seen = numbered(see(heap_scene(POSE, 20)))
    renamed = {1: 60, 2: 90}
    marks = tuple(mark and replace(mark, serial=renamed.get(mark.serial or 0, mark.serial)) for mark in seen.marks)
    shown = tuple(replace(one, serial=renamed.get(one.serial or 0, one.serial)) for one in seen.shown)
    assert decided(torn(replace(seen, marks=marks, shown=shown), 60), 60) == [60]


@pytest.mark.parametrize(("over", "read"), [(0, True), (8, True), (9, False), (16, False), (24, False)])
def test_marks_show_no_way_up_if_those_of_their_tray_contradict_one_another(over: int, *, read: bool) -> None:
    """33 other tiles, some of them upside down: in this script the reader cannot tell the way up."""
    seen = numbered(see(tray_scene(POSE)))
    layout = seen.lay_out()
    outlined = bool((layout.positions[0].quad[0] == seen.found.tiles[0].quad[0]).all())
    way = float(np.log(39)) * (1 if outlined else -1)
    first = replace(seen.marks[0] or NO_MARK, serial=None, turned=None, either=(137, 138), upright_odds=way)
    positions = tuple(
        replace(position, turn=180 if 1 <= number <= over else 0) for number, position in enumerate(layout.positions)
    )
    told = decide_ambiguous(seen.picture, seen.found, (first, *seen.marks[1:]), replace(layout, positions=positions))[0]
    assert told is not None
    assert told.serial == ((137 if outlined else 138) if read else None)


def test_a_tile_of_another_set_supports_nothing() -> None:
    seen = torn(torn(carrier(), 60), 90)
    layout = seen.lay_out()
    strange = tuple(
        replace(position, odd_colour=one.serial == 90)
        for position, one in zip(layout.positions, seen.shown, strict=True)
    )
    marks = decide_ambiguous(seen.picture, seen.found, seen.marks, replace(layout, positions=strange))
    assert [mark.serial for mark in marks if mark and mark.either] == [None, None]


def spotted(*spots: tuple[float, float]) -> tuple[TileMark | None, ...]:
    """Marks at these spots; the first is in question."""
    return tuple(
        TileMark(number, None, turned=False, confidence=1.0, spot=np.array(spot)) for number, spot in enumerate(spots)
    )


def spot_likelihood(off: tuple[float, float], scale: float) -> float:
    """The log-density of Student's t with four degrees of freedom on each axis, up to a constant."""
    return float(sum(-2.5 * np.log1p((part / scale) ** 2 / 4) for part in off))


def test_the_odds_of_a_spot_follow_students_t_around_the_usual_spot() -> None:
    even = spotted((0.02, 0.1), *[(0.0, 0.1)] * 5)
    expected = spot_likelihood((0.02, 0.0), 0.012) - spot_likelihood((-0.02, -0.2), 0.012)
    assert spot_odds(0, even) == pytest.approx(expected)
    uneven = spotted((0.0, 0.1), (0.0, 0.06), (0.0, 0.08), (0.0, 0.1), (0.0, 0.12), (0.0, 0.14))
    wide = 1.4826 * 0.02
    assert spot_odds(0, uneven) == pytest.approx(-2.5 * (np.log1p(0.0) - np.log1p((0.2 / wide) ** 2 / 4)))


@pytest.mark.parametrize(("others", "told"), [(3, False), (4, True)])
def test_four_other_marks_define_the_usual_spot(others: int, *, told: bool) -> None:
    assert (spot_odds(0, spotted((0.0, 0.1), *[(0.0, 0.1)] * others)) > 0) == told
    unknown = replace(spotted((0.0, 0.1))[0] or NO_MARK, turned=None)
    assert (spot_odds(0, (*spotted((0.0, 0.1), *[(0.0, 0.1)] * others), unknown, None, NO_MARK)) > 0) == told


def inked(under: float, over: float = 0.0) -> Picture:
    """A back with digits, and a line below and above them with this much ink."""
    crop = np.full((112, 80, 3), 200, dtype=np.uint8)
    for x in (24, 40, 56):
        crop[42:62, x - 5 : x + 5] = 0
    for row, ink in ((68, under), (34, over)):
        crop[row : row + 3, 12:68] = round(200 * (1 - ink))
    return crop


def test_a_line_darker_than_the_digits_counts_less_as_a_bar() -> None:
    """The shadow under a tile's edge is darker than pale print."""
    inks = np.zeros((_SIZE[1], _SIZE[0]))
    inks[60:70] = 0.9  # well below the digits
    everywhere = np.ones(_SIZE[1], dtype=bool)
    assert _inkiest(inks, everywhere) == pytest.approx((0.9, 0.0))
    inks[60:70] = 1.3
    assert 0.69 < _inkiest(inks, everywhere)[0] < 0.8


@pytest.mark.parametrize(
    ("under", "over", "share"),
    [
        (0.2, 0.0, 0.0), (0.5, 0.0, 0.5), (0.8, 0.0, 1.0), (0.8, 0.8, 0.0), (0.0, 0.5, -0.5), (0.9, 0.45, 0.5),
        (0.33, 0.0, 0.09),
    ],
)  # fmt: skip
def test_a_bars_odds_grow_with_the_difference_in_ink(under: float, over: float, share: float) -> None:
    """A quarter gives none, 65 hundredths the most; in the window a line is a tenth paler than it was drawn."""
    assert bar_odds(inked(under, over), PLACES) == pytest.approx(share * np.log(250), abs=0.15)


@pytest.mark.parametrize(
    ("rows", "told"), [(slice(59, 61), False), (slice(63, 65), True), (slice(80, 82), True), (slice(84, 86), False)]
)
def test_a_bar_lies_from_0_6_to_almost_2_steps_from_the_digits_middle(rows: slice, *, told: bool) -> None:
    """The digits are in row 52, 16 pixels apart."""
    crop = np.full((112, 80, 3), 200, dtype=np.uint8)
    for x in (24, 40, 56):
        crop[46:58, x - 5 : x + 5] = 0
    crop[rows, 12:68] = 0
    assert (bar_odds(crop, PLACES) > 1) == told


@pytest.mark.parametrize(
    ("shares", "seen", "is_face"), [(0.51, False, True), (0.49, False, False), (0.31, True, True), (0.29, True, False)]
)
def test_a_face_is_accepted_from_its_reader_or_with_the_finder(shares: float, *, seen: bool, is_face: bool) -> None:
    tile = DetectedTile(rectangle(np.zeros(2), 10.0, 14.0), face_up=seen, likelihood=1.0)
    assert _is_face(tile, look_of(face=shares)) == is_face


@pytest.mark.parametrize(
    ("look", "alone", "nothing"),
    [
        ({"nothing": 0.51}, False, True), ({"nothing": 0.49}, False, False),
        ({"number": 0.3, "label": 0.19}, True, True), ({"number": 0.3, "label": 0.21}, True, False),
        ({"face": 0.91}, True, False), ({"face": 0.89}, True, True), ({"face": 0.89}, False, False),
    ],
)  # fmt: skip
def test_the_reader_rejects_what_is_not_a_tile(look: dict[str, float], *, alone: bool, nothing: bool) -> None:
    tile = DetectedTile(rectangle(np.zeros(2), 10.0, 14.0), face_up=False, likelihood=1.0)
    assert _is_nothing(tile, look_of(**look), alone=alone) == nothing
    assert not _is_nothing(replace(tile, face_up=True), look_of(nothing=0.9), alone=False)


def look_of(**shares: float) -> DigitLook:
    kind = np.zeros(5, dtype=np.float32)
    for name, share in shares.items():
        kind[("number", "label", "blank", "face", "nothing").index(name)] = share
    ways, letter, signs = (np.zeros(size, dtype=np.float32) for size in ((2,), (27,), (3, 16)))
    return DigitLook(kind, ways, letter, signs, PLACES, np.zeros(2))
