"""Printed numbers, and whether there is a tile about them."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.geometry import Picture
from vision.marks.digits import (
    CROP,
    KINDS,
    NUMBER,
    ONES,
    SEEN_SIGNS,
    TURNED_SIGNS,
    UPSIDE_DOWN,
    DigitLook,
    combine_looks,
    has_edges,
    mark_of_look,
    read_digits,
)
from vision.payload import LAST_SERIAL

SPOT = np.array([0.02, -0.1])
PLACES = np.zeros((3, 2))
NO_LETTER = 26


def look(number: int, *, turned: float = 0.0, letter: int = NO_LETTER) -> DigitLook:
    """Return a look at a number that stands one way up, sure of every sign; `turned` is what it makes of the way up."""
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
def test_a_look_that_is_sure_of_number_and_way_gives_that_serial(number: int, *, turned: bool) -> None:
    mark = mark_of_look(look_upside_down(number) if turned else look(number))
    assert (mark.serial, mark.turned, mark.either) == (number, turned, None)


@given(st.integers(LAST_SERIAL + 1, 999))
def test_a_number_that_is_no_serial_is_a_misread(number: int) -> None:
    assert mark_of_look(look(number)).serial is None


@pytest.mark.parametrize(("upright", "turned"), [(60, 90), (90, 60)])
def test_a_number_that_is_a_serial_both_ways_up_is_not_decided_without_a_way(upright: int, turned: int) -> None:
    mark = mark_of_look(look(upright, turned=0.5))
    assert (mark.serial, mark.turned, mark.either) == (None, None, (upright, turned))


@pytest.mark.parametrize(("upright", "turned"), [(60, 90), (90, 60)])
def test_a_seeming_bar_does_not_decide_alone_and_a_letter_does(upright: int, turned: int) -> None:
    for way, odds in ((0.0, np.log(39)), (1.0, -np.log(39))):
        mark = mark_of_look(look(upright, turned=way))
        assert (mark.serial, mark.either) == (None, (upright, turned))
        assert mark.way_odds == pytest.approx(odds)
    lettered = mark_of_look(look(upright, letter=2))
    assert (lettered.serial, lettered.either, lettered.way_odds) == (upright, None, 0.0)


def test_a_letter_that_may_be_a_makers_ring_does_not_tell_the_way_up() -> None:
    ring = look(60, letter=14)
    ring.letter[[14, NO_LETTER]] = 0.92, 0.08
    assert (mark_of_look(ring).serial, mark_of_look(ring).either, mark_of_look(ring).set_text) == (None, (60, 90), "O")


def test_ones_with_a_flag_tell_the_way_up() -> None:
    mark = mark_of_look(look(1))
    assert (mark.serial, mark.turned, mark.either) == (1, False, None)


@pytest.mark.parametrize(("other_way", "decided"), [(0.0099, True), (0.01, False)])
def test_signs_do_not_tell_the_way_up_where_the_second_reader_reads_them_either_way(
    other_way: float, *, decided: bool
) -> None:
    mark = mark_of_look(replace(look(1), other_way=other_way))
    assert (mark.serial, mark.either) == ((1, None) if decided else (None, (1, 100)))


def test_ones_without_a_flag_leave_001_and_100_open() -> None:
    plain = look(1, turned=0.5)
    plain.signs[2] = 0
    plain.signs[2, [1, UPSIDE_DOWN[1]]] = 0.5
    mark = mark_of_look(plain)
    assert (mark.serial, mark.either) == (None, (1, 100))


@pytest.mark.parametrize("serial", [66, 68, 69, 86, 89, 98, 99, 6, 8, 9])
def test_a_number_that_is_a_serial_only_one_way_up_stands_that_way(serial: int) -> None:
    for standing, seen in ((False, look(serial, turned=0.5)), (True, look_upside_down(serial, turned=0.5))):
        mark = mark_of_look(seen)
        assert (mark.serial, mark.turned) == (serial, standing)


@pytest.mark.parametrize("serial", [80, 8, 88])
def test_a_number_without_a_way_up_needs_none_when_it_is_itself_upside_down(serial: int) -> None:
    mark = mark_of_look(look(serial, turned=0.5))
    assert (mark.serial, mark.turned) == (serial, None if serial == 80 else False)


@given(st.integers(0, SEEN_SIGNS - 1))
def test_a_sign_turned_twice_is_itself(seen: int) -> None:
    assert TURNED_SIGNS[TURNED_SIGNS[seen]] == seen


@given(st.integers(1, LAST_SERIAL), st.integers(1, LAST_SERIAL))
def test_two_looks_that_differ_leave_no_confidence(one: int, other: int) -> None:
    together = combine_looks(look(one), look_upside_down(other))
    assert mark_of_look(together).confidence == pytest.approx(float(one == other))


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_looks_need_not_agree_which_way_up_a_plain_stroke_stands(one: float, other: float) -> None:
    looks = look(111, turned=0.5), look_upside_down(111, turned=0.5)
    for seen, share in zip(looks, (one, other), strict=True):
        seen.signs[:, ONES] = share, 1 - share
    mark = mark_of_look(combine_looks(*looks))
    assert mark.serial == 111
    assert mark.confidence == pytest.approx(1.0)


@given(st.floats(0.1, 0.9))
def test_a_sign_in_doubt_is_no_doubt_about_the_way_up(share: float) -> None:
    doubtful = look(10)  # 016 upside down is 910, no serial: that alone must not decide for 016
    doubtful.signs[2] = 0
    doubtful.signs[2, [0, 6]] = share, 1 - share
    assert mark_of_look(doubtful).confidence == pytest.approx(max(share, 1 - share))


def test_the_spot_is_told_as_the_mark_stands() -> None:
    assert mark_of_look(look(12)).spot == pytest.approx(SPOT)
    assert mark_of_look(look_upside_down(12)).spot == pytest.approx(-SPOT)


def test_a_letter_is_the_marks_set() -> None:
    assert mark_of_look(look(117, letter=2)).set_text == "C"


@given(st.floats(0.0, 1.0), st.integers(1, LAST_SERIAL))
def test_a_number_is_as_sure_as_the_reader_that_doubts_it_more(agreed: float, serial: int) -> None:
    mark = mark_of_look(replace(look(serial), agreed=agreed))
    assert (mark.serial, mark.turned) == (serial, False)
    assert mark.confidence == pytest.approx(agreed)


def test_a_mark_tells_how_far_apart_its_digits_stand() -> None:
    width = CROP[0] / 1.12  # of the tile within the crop
    places = np.array([[20.0, 50.0], [40.0, 50.0], [60.0, 50.0]])
    assert mark_of_look(replace(look(117), places=places)).pitch == pytest.approx(20 / width)


def test_no_backs_give_no_marks() -> None:
    assert read_digits(np.zeros((40, 40, 3), dtype=np.uint8), []) == []


SIDES = ("left", "right", "top", "bottom")
LIGHT, DARK, INK = (205, 215, 220), (60, 70, 75), (30, 30, 30)


def crop_of(*ends_at: str) -> Picture:
    """A number, and about it the edges of a tile on these sides."""
    width, height = CROP
    crop = np.full((height, width, 3), LIGHT, dtype=np.uint8)
    cv2.putText(crop, "117", (14, 66), cv2.FONT_HERSHEY_SIMPLEX, 0.9, INK, 2, cv2.LINE_AA)
    border = {"left": crop[:, :4], "right": crop[:, -4:], "top": crop[:6], "bottom": crop[-6:]}
    for side in ends_at:
        border[side][:] = DARK
    return crop


def photographed(crop: Picture, seed: int) -> Picture:
    """The same with the noise and the falling light of a photograph."""
    chance = np.random.default_rng(seed)
    light = np.linspace(1.0, 0.9, crop.shape[0])[:, None, None]
    return np.clip(crop * light + chance.normal(0, 5, crop.shape), 0, 255).astype(np.uint8)


def test_a_tile_has_edges_on_all_sides() -> None:
    assert has_edges(crop_of(*SIDES)[None]).tolist() == [True]


@pytest.mark.parametrize("hidden", SIDES)
def test_a_side_may_drown_in_light_or_under_a_hand(hidden: str) -> None:
    assert has_edges(crop_of(*(side for side in SIDES if side != hidden))[None]).tolist() == [True]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beside", [(), ("left",), ("left", "right")])
def test_a_number_in_a_text_has_none_over_and_under_it(beside: tuple[str, ...], seed: int) -> None:
    assert has_edges(photographed(crop_of(*beside), seed)[None]).tolist() == [False]


def test_each_crop_is_judged_by_itself() -> None:
    assert has_edges(np.stack([crop_of(), crop_of(*SIDES), crop_of()])).tolist() == [False, True, False]


def test_no_crop_has_no_edges() -> None:
    assert has_edges(np.empty((0, CROP[1], CROP[0], 3), dtype=np.uint8)).tolist() == []
