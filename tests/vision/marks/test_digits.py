"""Printed numbers, and whether they are on a tile."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.geometry import Picture, inverse_homography, project, rectangle
from vision.marks import digits
from vision.marks.digits import (
    _CELLS,
    CROP,
    KINDS,
    NUMBER,
    ONES,
    SEEN_SIGNS,
    TURNED_SIGNS,
    UPSIDE_DOWN,
    DigitLook,
    _as_nothing,
    _claims_number,
    _level,
    _serial_turned,
    _shrunk,
    _with_rivals,
    combine_looks,
    cut_back,
    look_at_crops_closely,
    mark_of_look,
    near_serials,
    prepare_crops,
    read_digits,
    sides_with_edges,
)
from vision.marks.lines import confidence_of_both
from vision.marks.read import SURE
from vision.reading import LAST_SERIAL

SPOT = np.array([0.02, -0.1])
PLACES = np.zeros((3, 2))
NO_LETTER = 26


def look(number: int, *, turned: float = 0.0, letter: int = NO_LETTER) -> DigitLook:
    """Return a look at a number that is upright or upside down, sure of every sign; `turned` is its likelihood."""
    return look_at_seen([int(digit) for digit in f"{number:03d}"], turned, letter)


def look_upside_down(number: int, *, turned: float = 1.0) -> DigitLook:
    return look_at_seen([int(UPSIDE_DOWN[int(digit)]) for digit in f"{number:03d}"[::-1]], turned, NO_LETTER)


def look_at_seen(seen: list[int], turned: float, letter: int) -> DigitLook:
    signs = np.zeros((3, SEEN_SIGNS), dtype=np.float32)
    signs[range(3), seen] = 1.0
    letters = np.zeros(27, dtype=np.float32)
    letters[letter] = 1.0
    return DigitLook(
        np.eye(KINDS, dtype=np.float32)[NUMBER],
        np.array([1 - turned, turned], dtype=np.float32),
        letters,
        signs,
        PLACES,
        SPOT,
    )


@given(number=st.integers(1, LAST_SERIAL).filter(lambda number: number not in {60, 90}), turned=st.booleans())
def test_a_sure_look_gives_its_serial(number: int, *, turned: bool) -> None:
    mark = mark_of_look(look_upside_down(number) if turned else look(number))
    assert (mark.serial, mark.turned, mark.either) == (number, turned, None)


@given(st.integers(LAST_SERIAL + 1, 999))
def test_a_number_that_is_not_a_serial_is_not_read(number: int) -> None:
    assert mark_of_look(look(number)).serial is None


@pytest.mark.parametrize(("upright", "turned"), [(60, 90), (90, 60)])
def test_a_number_that_is_a_serial_both_ways_up_stays_undecided(upright: int, turned: int) -> None:
    mark = mark_of_look(look(upright, turned=0.5))
    assert (mark.serial, mark.turned, mark.either) == (None, None, (upright, turned))


@pytest.mark.parametrize(("upright", "turned"), [(60, 90), (90, 60)])
def test_a_letter_decides_the_way_up_and_an_apparent_bar_alone_does_not(upright: int, turned: int) -> None:
    for way, odds in ((0.0, np.log(39)), (1.0, -np.log(39))):
        mark = mark_of_look(look(upright, turned=way))
        assert (mark.serial, mark.either) == (None, (upright, turned))
        assert mark.upright_odds == pytest.approx(odds)
    lettered = mark_of_look(look(upright, letter=2))
    assert (lettered.serial, lettered.either, lettered.upright_odds) == (upright, None, 0.0)


def test_a_letter_that_may_be_a_makers_ring_does_not_decide_the_way_up() -> None:
    ring = look(60, letter=14)
    ring.letter[[14, NO_LETTER]] = 0.92, 0.08
    assert (mark_of_look(ring).serial, mark_of_look(ring).either, mark_of_look(ring).set_text) == (None, (60, 90), "O")


def test_ones_with_a_flag_show_the_way_up() -> None:
    mark = mark_of_look(look(1))
    assert (mark.serial, mark.turned, mark.either) == (1, False, None)


@pytest.mark.parametrize(("turned_likelihood", "decided"), [(0.0099, True), (0.01, False)])
def test_signs_do_not_decide_the_way_up_if_the_second_reader_reads_them_both_ways(
    turned_likelihood: float, *, decided: bool
) -> None:
    mark = mark_of_look(replace(look(1), turned_likelihood=turned_likelihood))
    assert (mark.serial, mark.either) == ((1, None) if decided else (None, (1, 100)))


def test_ones_without_a_flag_leave_001_and_100_open() -> None:
    plain = look(1, turned=0.5)
    plain.signs[2] = 0
    plain.signs[2, [1, UPSIDE_DOWN[1]]] = 0.5
    mark = mark_of_look(plain)
    assert (mark.serial, mark.either) == (None, (1, 100))


@pytest.mark.parametrize("serial", [66, 68, 69, 86, 89, 98, 99, 6, 8, 9])
def test_a_number_that_is_a_serial_only_one_way_up_has_that_way_up(serial: int) -> None:
    for standing, seen in ((False, look(serial, turned=0.5)), (True, look_upside_down(serial, turned=0.5))):
        mark = mark_of_look(seen)
        assert (mark.serial, mark.turned) == (serial, standing)


@pytest.mark.parametrize("serial", [80, 8, 88])
def test_a_number_that_is_the_same_upside_down_is_read_without_a_way_up(serial: int) -> None:
    mark = mark_of_look(look(serial, turned=0.5))
    assert (mark.serial, mark.turned) == (serial, None if serial == 80 else False)


@given(st.integers(0, SEEN_SIGNS - 1))
def test_signs_turned_twice_are_unchanged(seen: int) -> None:
    assert TURNED_SIGNS[TURNED_SIGNS[seen]] == seen


@given(st.integers(1, LAST_SERIAL), st.integers(1, LAST_SERIAL))
def test_contradicting_looks_have_no_confidence(one: int, other: int) -> None:
    together = combine_looks(look(one), look_upside_down(other))
    assert mark_of_look(together).confidence == pytest.approx(float(one == other))


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_looks_may_differ_about_the_way_up_of_a_plain_stroke(one: float, other: float) -> None:
    looks = look(111, turned=0.5), look_upside_down(111, turned=0.5)
    for seen, share in zip(looks, (one, other), strict=True):
        seen.signs[:, ONES] = share, 1 - share
    mark = mark_of_look(combine_looks(*looks))
    assert mark.serial == 111
    assert mark.confidence == pytest.approx(1.0)


@given(st.floats(0.1, 0.9))
def test_an_uncertain_sign_does_not_make_the_way_up_uncertain(share: float) -> None:
    doubtful = look(10)  # 016 upside down is 910, which is not a serial; that alone must not decide for 016
    doubtful.signs[2] = 0
    doubtful.signs[2, [0, 6]] = share, 1 - share
    assert mark_of_look(doubtful).confidence == pytest.approx(confidence_of_both(max(share, 1 - share), 1.0))


@pytest.mark.parametrize("turned", [0.5, 0.9, 0.999])
def test_signs_that_show_the_way_up_outweigh_a_possible_logo(turned: float) -> None:
    seen = look(117, turned=turned)
    seen.signs[:] = 0.98 * seen.signs + 0.02 / SEEN_SIGNS
    mark = mark_of_look(seen)
    assert (mark.serial, mark.turned) == (117, False)
    assert mark.confidence > SURE


def test_the_way_up_limits_the_confidence_in_one_of_two_serials() -> None:
    assert mark_of_look(look(11, turned=0.4)).confidence == pytest.approx(confidence_of_both(0.6, 1.0))


def test_the_spot_is_given_in_the_marks_own_orientation() -> None:
    assert mark_of_look(look(12)).spot == pytest.approx(SPOT)
    assert mark_of_look(look_upside_down(12)).spot == pytest.approx(-SPOT)


def test_the_letter_is_the_marks_set() -> None:
    assert mark_of_look(look(117, letter=2)).set_text == "C"


@given(st.floats(0.0, 1.0), st.integers(1, LAST_SERIAL))
def test_confidence_combines_both_readers(agreed: float, serial: int) -> None:
    seen = replace(look(serial), second_likelihood=agreed)
    seen.kind[NUMBER] = 0.9
    mark = mark_of_look(seen)
    assert (mark.serial, mark.turned) == (serial, False)
    assert mark.confidence == pytest.approx(confidence_of_both(0.9, agreed))


def test_a_mark_has_the_distance_of_its_digits() -> None:
    width = CROP[0] / 1.12  # as a share of the tile within the crop
    places = np.array([[20.0, 50.0], [40.0, 50.0], [60.0, 50.0]])
    assert mark_of_look(replace(look(117), places=places)).pitch == pytest.approx(20 / width)


def test_no_backs_give_no_marks() -> None:
    assert read_digits(np.zeros((40, 40, 3), dtype=np.uint8), []) == []


SIDES = ("left", "right", "top", "bottom")
LIGHT, DARK, INK = (205, 215, 220), (60, 70, 75), (30, 30, 30)


def crop_of(*ends_at: str) -> Picture:
    """A number, and the edges of a tile around it on these sides."""
    width, height = CROP
    crop = np.full((height, width, 3), LIGHT, dtype=np.uint8)
    cv2.putText(crop, "117", (14, 66), cv2.FONT_HERSHEY_SIMPLEX, 0.9, INK, 2, cv2.LINE_AA)
    border = {"left": crop[:, :4], "right": crop[:, -4:], "top": crop[:6], "bottom": crop[-6:]}
    for side in ends_at:
        border[side][:] = DARK
    return crop


def photographed(crop: Picture, seed: int) -> Picture:
    """The same with the noise and uneven light of a photograph."""
    chance = np.random.default_rng(seed)
    light = np.linspace(1.0, 0.9, crop.shape[0])[:, None, None]
    return np.clip(crop * light + chance.normal(0, 5, crop.shape), 0, 255).astype(np.uint8)


def test_a_tile_has_edges_on_all_sides() -> None:
    assert sides_with_edges(crop_of(*SIDES)[None]).tolist() == [4]


@pytest.mark.parametrize("hidden", SIDES)
def test_one_side_may_be_overexposed_or_covered(hidden: str) -> None:
    assert sides_with_edges(crop_of(*(side for side in SIDES if side != hidden))[None]).tolist() == [3]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beside", [(), ("left",), ("left", "right")])
def test_a_number_in_a_text_has_no_edges_above_and_below(beside: tuple[str, ...], seed: int) -> None:
    assert sides_with_edges(photographed(crop_of(*beside), seed)[None]).tolist() == [len(beside)]


@pytest.mark.parametrize(("gap", "sides"), [(17, 4), (20, 3)])  # of the 56 rows that are checked
def test_an_edge_may_lack_a_third_of_its_length_but_print_has_more_gaps(gap: int, sides: int) -> None:
    crop = crop_of(*SIDES)
    crop[40 : 40 + gap, :4] = LIGHT
    assert sides_with_edges(crop[None]).tolist() == [sides]


@pytest.mark.parametrize(("rise", "sides"), [(-4, 4), (-3, 3), (3, 3), (4, 4)])
def test_an_edge_is_a_step_of_four_levels(rise: int, sides: int) -> None:
    crop = crop_of("right", "top", "bottom")
    crop[:, :4] = np.add(LIGHT, (0, 0, rise))
    assert sides_with_edges(crop[None]).tolist() == [sides]


def test_noise_is_not_a_tile() -> None:
    grain = np.random.default_rng(7).normal(128, 20, (20, CROP[1], CROP[0], 3))
    assert sides_with_edges(np.clip(grain, 0, 255).astype(np.uint8)).max() < 3


def test_each_crop_is_judged_by_itself() -> None:
    assert sides_with_edges(np.stack([crop_of(), crop_of(*SIDES), crop_of()])).tolist() == [0, 4, 0]


def test_no_crops_have_no_edges() -> None:
    assert sides_with_edges(np.empty((0, CROP[1], CROP[0], 3), dtype=np.uint8)).tolist() == []


@pytest.mark.parametrize(("width", "level"), [(20.0, 0), (149.9, 0), (150.0, 1), (299.9, 1), (300.0, 2), (601.0, 3)])
def test_a_large_tile_is_cut_out_of_a_halved_picture(width: float, level: int) -> None:
    assert _level(rectangle(np.array([300.0, 300.0]), width, 1.36 * width)) == level


def test_a_crop_has_a_margin_around_its_tile() -> None:
    """The crop shows 112 percent of the tile: 80 by 112 pixels of a tile of 71.4 by 100."""
    picture = np.zeros((300, 300, 3), dtype=np.uint8)
    picture[100:200, 100:200] = 200
    quad = rectangle(np.array([135.7143, 150.0]), 71.4286, 100.0)
    crop, way = cut_back(picture, quad)
    assert project(way, quad[[0, 2]]) == pytest.approx(
        np.array([[80 * 0.06, 112 * 0.06], [80 * 1.06, 112 * 1.06]]) / 1.12
    )
    lit = crop[:, :, 0] > 100
    assert (np.flatnonzero(lit.any(axis=1)).tolist(), np.flatnonzero(lit.any(axis=0))[0]) == (list(range(6, 106)), 4)


def test_halved_pictures_are_cached() -> None:
    made = {0: np.zeros((40, 61, 3), dtype=np.uint8)}
    assert _shrunk(made, 2).shape == (10, 15, 3)
    assert [made[level].shape[:2] for level in sorted(made)] == [(40, 61), (20, 30), (10, 15)]


def test_crops_are_normalised_in_light_and_contrast() -> None:
    crop = crop_of()
    plain = prepare_crops(crop[None])
    brighter = np.clip(crop.astype(int) + 20, 0, 255).astype(np.uint8)
    beside = crop.copy()
    beside[:10] = 0
    assert prepare_crops(brighter[None]) == pytest.approx(plain, abs=1e-4)
    assert prepare_crops(beside[None])[:, :, 10:] == pytest.approx(plain[:, :, 10:], abs=1e-4)
    inner = plain[0, :, 16:96, 12:68]
    assert (inner.mean(), np.abs(plain).max() <= 5.0) == (pytest.approx(0, abs=0.01), True)
    assert inner.std() == pytest.approx(crop[16:96, 12:68].std() / (crop[16:96, 12:68].std() + 2), abs=0.02)


def test_a_number_that_is_not_on_a_tile_counts_as_nothing() -> None:
    seen = _as_nothing(look(117))
    assert (seen.kind[NUMBER], seen.kind[4], seen.kind.sum()) == (0, 1, 1)


def rotatable_look(number: int, *, upright: float, letter: float = 0.0, turned_likelihood: float = 0.0) -> DigitLook:
    """A look at 060 or similar with these odds of being upright."""
    seen = look(number, turned=1 / (1 + upright))
    seen.letter[:] = 0
    seen.letter[[2, NO_LETTER]] = letter, 1 - letter
    return replace(seen, turned_likelihood=turned_likelihood)


@pytest.mark.parametrize(
    ("upright", "letter", "serial"),
    [(1001.0, 0.991, 60), (999.0, 0.991, None), (1001.0, 0.989, None), (1e-6, 0.991, 90)],
)
def test_a_letter_decides_if_it_and_the_way_up_are_clear(upright: float, letter: float, serial: int | None) -> None:
    assert mark_of_look(rotatable_look(60, upright=upright, letter=letter)).serial == serial


@pytest.mark.parametrize(("upright", "odds"), [(10.0, np.log(10)), (0.1, -np.log(10)), (1e6, np.log(39)), (1.0, 0.0)])
def test_the_odds_of_the_way_up_are_limited_to_39_to_1(upright: float, odds: float) -> None:
    mark = mark_of_look(rotatable_look(60, upright=upright))
    assert mark.either == (60, 90)
    assert mark.upright_odds == pytest.approx(odds, abs=1e-4)


@pytest.mark.parametrize(("letter", "name"), [(0.89, None), (0.91, "C")])
def test_a_letter_names_the_set_from_a_likelihood_of_nine_tenths(letter: float, name: str | None) -> None:
    assert mark_of_look(rotatable_look(117, upright=1e6, letter=letter)).set_text == name


@pytest.mark.parametrize(("number", "turned"), [(0.29, None), (0.31, False)])
def test_a_legible_number_has_a_way_up(number: float, *, turned: bool | None) -> None:
    seen = look(117)
    seen.kind[NUMBER] = number
    mark = mark_of_look(seen)
    assert mark.turned == turned
    assert mark.confidence == pytest.approx(confidence_of_both(number, 1.0))
    assert _claims_number(mark) == (number > 0.3)


@pytest.mark.parametrize(
    ("serial", "other"),
    [
        (60, 90),
        (90, 60),
        (1, 100),
        (100, 1),
        (11, 110),
        (66, None),
        (101, None),
        (117, None),
        (9, None),
        (86, None),
        (8, None),
        (16, None),
    ],
)
def test_some_serials_are_others_upside_down(serial: int, other: int | None) -> None:
    """066 becomes 990, which is not a serial; 101 becomes itself."""
    mark = mark_of_look(look(117))
    assert _serial_turned(replace(mark, serial=serial)) == other
    assert _serial_turned(replace(mark, serial=None, either=(serial, 0))) == other


def test_places_are_measured_from_the_middles_of_cells() -> None:
    assert (_CELLS[[0, 1, 10, -1]]).tolist() == [[4.0, 4.0], [12.0, 4.0], [4.0, 12.0], [76.0, 108.0]]


def test_contrast_is_normalised_except_for_two_levels() -> None:
    """A chequered crop of 90 and 110 levels has a contrast of ten."""
    crop = np.where(np.indices((112, 80)).sum(axis=0) % 2, 90, 110).astype(np.uint8)
    prepared = prepare_crops(np.repeat(crop[:, :, None], 3, axis=2)[None])
    assert np.abs(prepared) == pytest.approx(np.full_like(prepared, 10 / 12))


def test_a_crop_matches_the_picture_to_a_tenth_of_a_pixel() -> None:
    """A picture whose levels rise to the right and downwards, cut out at its own size."""
    rows, cols = np.indices((200, 200), dtype=np.float32) + 0.5
    quad = rectangle(np.array([100.0, 100.0]), 80 / 1.12, 112 / 1.12)
    for levels, at in ((cols, 0), (rows, 1)):
        crop, way = cut_back(np.repeat(levels[:, :, None], 3, axis=2).astype(np.uint8), quad)
        across, down = np.meshgrid(np.arange(80) + 0.5, np.arange(112) + 0.5)
        there = project(inverse_homography(way), np.column_stack([across.ravel(), down.ravel()]))[:, at]
        assert float(crop[:, :, 0].mean()) == pytest.approx(float(np.floor(there - 0.5 + 0.5).mean()), abs=0.1)


@pytest.mark.parametrize(("deep", "seen"), [(0, True), (-3, True), (1, False)])
def test_edges_are_searched_near_the_border_and_in_the_middle_of_each_side(deep: int, *, seen: bool) -> None:
    """Twelve pixels deep at the long sides, sixteen at the short ones; the corners are ignored."""
    for across, down in ((slice(0, 11 + deep), slice(28, 84)), (slice(69 - deep, 80), slice(28, 84))):
        crop = np.full((112, 80, 3), 120, dtype=np.uint8)
        crop[down, across] = 90
        assert sides_with_edges(crop[None]).tolist() == [int(seen)]
    for down in (slice(0, 15 + deep), slice(97 - deep, 112)):
        crop = np.full((112, 80, 3), 120, dtype=np.uint8)
        crop[down, 20:60] = 90
        assert sides_with_edges(crop[None]).tolist() == [int(seen)]


def test_both_readers_read_a_number_on_a_tile() -> None:
    picture = np.full((300, 300, 3), (70, 60, 60), dtype=np.uint8)
    quad = rectangle(np.array([150.0, 150.0]), 110.0, 150.0)
    cv2.fillConvexPoly(picture, quad.round().astype(np.int32), (40, 110, 40))
    (wide, high), _ = cv2.getTextSize("035", cv2.FONT_HERSHEY_DUPLEX, 1.3, 2)
    cv2.putText(
        picture,
        "035",
        (150 - wide // 2, 150 + high // 2),
        cv2.FONT_HERSHEY_DUPLEX,
        1.3,
        (240, 240, 240),
        2,
        cv2.LINE_AA,
    )
    soft = np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.8), dtype=np.uint8)
    upright, over = read_digits(soft, [quad, np.roll(quad, 2, axis=0)])
    assert [(mark.serial, mark.turned, mark.confidence > 0.95) for mark in (upright, over)] == [
        (35, False, True),
        (35, True, True),
    ]
    assert upright.spot == pytest.approx([0.0, 0.0], abs=0.03)


@pytest.mark.parametrize(("number", "times"), [(0.993, 2), (0.995, 1)])
def test_a_first_look_surer_than_994_of_1000_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, number: float, times: int
) -> None:
    asked: list[int] = []

    def note(crops: Picture) -> list[DigitLook]:
        asked.append(len(crops))
        seen = look(117)
        seen.kind[NUMBER] = number
        return [seen] * len(crops)

    monkeypatch.setattr(digits, "look_at_crops", note)
    monkeypatch.setattr(digits, "_run_second_reader", lambda _, looks: (looks, {}))
    look_at_crops_closely(np.zeros((1, 112, 80, 3), dtype=np.uint8))
    assert sum(asked) == times


class DoubtedBack:
    """One crop whose number is in doubt, and what the readers see in it enlarged and shrunk."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, first: DigitLook, confidence: float, *others: DigitLook
    ) -> None:
        """Make all looks equally sure: the first reader has no doubt, the second one has."""
        self._looks = [first, *others]
        self._likelihood = confidence ** (np.log(0.7) / np.log(0.95))
        monkeypatch.setattr(digits, "_look_both_ways", self._look)
        monkeypatch.setattr(digits, "_run_second_reader", self._second_reader)

    def _look(self, crops: Picture, _: object = None) -> list[DigitLook]:
        taken, self._looks = self._looks[: len(crops)], self._looks[len(crops) :]
        return taken

    def _second_reader(self, _: Picture, looks: list[DigitLook]) -> tuple[list[DigitLook], dict[int, np.ndarray]]:
        logs = {0: line_of((1, 1.0), (1, 1.0), (7, 1.0))}
        return [replace(look, second_likelihood=self._likelihood) for look in looks], logs

    def seen(self) -> DigitLook:
        """Return the result of all looks."""
        (seen,) = look_at_crops_closely(np.zeros((1, 112, 80, 3), dtype=np.uint8))
        return seen


@pytest.mark.parametrize(
    ("confidence", "again"), [(0.7999, False), (0.8001, True), (0.9699, True), (0.9701, False), (1.0, False)]
)
def test_a_doubted_number_is_also_read_enlarged_and_shrunk(
    monkeypatch: pytest.MonkeyPatch, confidence: float, *, again: bool
) -> None:
    back = DoubtedBack(monkeypatch, look(117), confidence, look(117), look(117))
    assert len(back.seen().resized_confidences) == (2 if again else 0)


@pytest.mark.parametrize("others", range(3))
def test_a_look_with_another_number_counts_against_a_doubted_one(monkeypatch: pytest.MonkeyPatch, others: int) -> None:
    """All three looks have the confidence 0.93. A mean of nine tenths gives 0.95, smaller ones in proportion."""
    again = (look(111),) * others + (look_upside_down(117),) * (2 - others)
    mark = DoubtedBack(monkeypatch, look(117), 0.93, *again).seen().mark
    mean = 0.93 * (3 - others) / 3
    assert mark.serial == 117
    assert mark.confidence == pytest.approx(0.95 * mean / 0.9 if others else 0.95 + 0.05 * (mean - 0.9) / 0.1)


@pytest.mark.parametrize(
    ("other", "agrees"), [(look(90, turned=0.5), True), (look(60, letter=2), True), (look(66), False)]
)
def test_a_number_that_is_a_serial_both_ways_up_may_be_seen_as_one_of_them(
    monkeypatch: pytest.MonkeyPatch, other: DigitLook, *, agrees: bool
) -> None:
    seen = DoubtedBack(monkeypatch, look(60, turned=0.5), 0.9, other, other).seen()
    assert seen.mark.either == (60, 90)
    assert all(seen.resized_confidences) == agrees


def test_a_crop_is_enlarged_and_rotated_about_its_middle() -> None:
    for way in digits._SIZES:
        assert way @ [39.5, 55.5, 1] == pytest.approx([39.5, 55.5])
    assert [round(float(np.sqrt(np.linalg.det(way[:, :2]))), 3) for way in digits._SIZES] == [1.06, 0.94]


def test_near_serials_differ_in_one_digit_and_are_valid() -> None:
    assert near_serials(117) == (17, 107, *range(110, 117), 118, 119, 127)
    assert near_serials(36) == (6, 16, 26, *range(30, 36), 37, 38, 39, *range(46, 97, 10), 136)
    for serial in range(1, LAST_SERIAL + 1):
        assert all(serial in near_serials(other) for other in near_serials(serial))


def doubted(agreed: float, *, turned: bool = False) -> DigitLook:
    """Return a look at 117 whose last sign may be a 2 (a hundredth) or a 3 (almost two thousandths)."""
    seen = look_upside_down(117) if turned else look(117)
    sign, place = (UPSIDE_DOWN[[2, 3]], 0) if turned else ([2, 3], 2)
    seen.signs[place, sign] = 1e-2, 1.99e-3
    return replace(seen, second_likelihood=agreed)


def line_of(*signs: tuple[int, float]) -> np.ndarray:
    """Return log-likelihoods for 26 columns: each sign, or a 4 instead with this likelihood, with gaps between."""
    shares = np.full((26, 13), 1e-12)
    shares[:, 12] = 1.0
    for at, (sign, share) in enumerate(signs):
        shares[8 + 4 * at] = 1e-12
        shares[8 + 4 * at, [4, sign]] = 1 - share, share
    return np.asarray(np.log(np.maximum(shares, 1e-12)), dtype=np.float32)


@pytest.mark.parametrize("turned", [False, True])
def test_rivals_are_those_that_any_reader_does_not_rule_out(*, turned: bool) -> None:
    """The first reader does not rule out 112, the second one not 147; 113 has less than two thousandths."""
    logs = {0: line_of((1, 1.0), (1, 1 - 3e-3), (7, 1.0))}
    (seen,) = _with_rivals([doubted(0.72, turned=turned)], logs)
    assert seen.mark.serial == 117
    assert 0.9 < seen.mark.confidence < 0.99
    assert seen.rivals == seen.mark.rivals == (112,)  # 147 is not a serial
    logs = {0: line_of((1, 1.0), (1, 1.0), (7, 1 - 3e-3))}
    assert _with_rivals([doubted(0.72, turned=turned)], logs)[0].rivals == (112, 114)


def test_an_undecided_number_has_the_rivals_of_both_its_serials() -> None:
    """Its middle sign may be a 5, or a 4 as seen in the crop; its last one may be a 2 upside down."""
    seen = look(60, turned=0.5)
    seen.signs[1, 5] = seen.signs[2, UPSIDE_DOWN[2]] = 1e-2
    logs = {0: line_of((0, 1.0), (6, 1 - 3e-3), (0, 1.0))}
    (told,) = _with_rivals([replace(seen, second_likelihood=0.72)], logs)
    assert told.mark.either == (60, 90)
    assert told.rivals == (40, 50, 62)  # 290 is not a serial


@pytest.mark.parametrize(
    ("confidence", "has_rivals"), [(0.8999, False), (0.9001, True), (0.9949, True), (0.9951, False)]
)
def test_only_a_doubted_number_has_rivals(confidence: float, *, has_rivals: bool) -> None:
    agreed = confidence ** (np.log(0.7) / np.log(0.95))  # the first reader is sure
    seen = _with_rivals([look(1), doubted(agreed)], {1: line_of((1, 1.0), (1, 1.0), (7, 1.0))})
    assert [bool(one.rivals) for one in seen] == [False, has_rivals]
