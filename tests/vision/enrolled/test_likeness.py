"""A back matches its own picture best, even if its outline is off, and the lead over others is known."""

import cv2
import numpy as np
import pytest

from tests.vision.enrolled.drawn_sets import cut_back_drawn, drawn_set
from vision.enrolled.likeness import OwnPicture, SetPictures, _composed, _inverse, _span, ink_axis
from vision.geometry import Picture

SERIALS = (4, 10, 35, 36, 68, 110, 117, 120)


def look(crop: Picture, claim: int | None = None) -> OwnPicture:
    return drawn_set().pictures.match(crop[None], [claim])[0]


def moved(crop: Picture, across: float, down: float, stretch: float = 1.0) -> Picture:
    way = np.array([[stretch, 0, across + 40 * (1 - stretch)], [0, stretch, down + 56 * (1 - stretch)]])
    seen = cv2.warpAffine(crop, way, (80, 112), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen, dtype=np.uint8)


@pytest.mark.parametrize("serial", SERIALS)
def test_a_back_matches_its_own_picture(serial: int) -> None:
    own = look(cut_back_drawn(serial))
    assert (own.serial, own.turned) == (serial, False)
    assert own.likeness > 0.999


@pytest.mark.parametrize("serial", SERIALS)
def test_a_back_upside_down_matches_its_own_picture_turned(serial: int) -> None:
    own = look(np.ascontiguousarray(cut_back_drawn(serial)[::-1, ::-1]))
    assert (own.serial, own.turned) == (serial, True)


@pytest.mark.parametrize(("across", "down", "stretch"), [(4, -3, 1.0), (-4, 4, 1.0), (1, 1, 1.06), (2, -2, 0.94)])
def test_outlines_may_be_off_by_five_hundredths_of_a_tile(across: float, down: float, stretch: float) -> None:
    found = [look(moved(cut_back_drawn(serial), across, down, stretch)) for serial in SERIALS[::3]]
    assert [own.serial for own in found] == [*SERIALS[::3]]
    assert min(own.likeness for own in found) > 0.97


def test_light_and_contrast_do_not_matter() -> None:
    dark = (cut_back_drawn(117) * 0.4 + 30).astype(np.uint8)
    assert (look(dark).serial, look(dark).likeness > 0.99) == (117, True)


def test_the_own_picture_explains_the_whole_difference() -> None:
    leads = [rival.lead for serial in SERIALS for rival in look(cut_back_drawn(serial)).rivals]
    assert 0.9 < min(leads) <= max(leads) < 1.1


def test_halfway_between_two_pictures_neither_leads() -> None:
    half = (cut_back_drawn(35) / 2 + cut_back_drawn(36) / 2).astype(np.uint8)
    own = look(half)
    rival = next(one for one in own.rivals if one.serial in {35, 36})
    assert {own.serial, rival.serial} == {35, 36}
    assert abs(rival.lead) < 0.1


def test_a_claimed_serial_is_always_compared() -> None:
    assert 1 not in {rival.serial for rival in look(cut_back_drawn(128)).rivals}
    claimed = look(cut_back_drawn(128), claim=1)
    assert claimed.serial == 128
    assert 1 in {rival.serial for rival in claimed.rivals}


def test_pictures_that_differ_by_noise_alone_have_no_odds() -> None:
    chance = np.random.default_rng(1)
    noisy = [np.clip(cut_back_drawn(35) + chance.normal(0, 6, (112, 80, 3)), 0, 255).astype(np.uint8) for _ in range(3)]
    backs = np.stack([noisy[0], noisy[1], cut_back_drawn(81), cut_back_drawn(77)])
    own = SetPictures(backs, [35, 36, 81, 77]).match(noisy[2][None])[0]
    rival = next(one for one in own.rivals if one.serial in {35, 36} and not one.turned)
    assert rival.odds < 0.3
    assert own.rivals[0] == rival


def test_ink_is_found_by_its_colour_on_clouded_backs() -> None:
    chance = np.random.default_rng(2)
    clouds = [cv2.resize(chance.normal(0, 30, (6, 5)), (80, 112), interpolation=cv2.INTER_CUBIC) for _ in range(20)]
    backs = np.stack([np.repeat(140 + cloud[:, :, None], 3, axis=2) for cloud in clouds])
    backs[:, 45:65, 25:55, 2] += 25  # red
    axis, apart = ink_axis(np.clip(backs, 0, 255).astype(np.uint8))
    assert apart > ink_axis(np.clip(backs[:, ::-1, :, ::-1] * 0 + 140, 0, 255).astype(np.uint8))[1]
    assert abs(axis[2]) > 0.6
    assert abs(axis.sum()) < 0.5  # a change that is equal in all channels does not show


@pytest.mark.parametrize(
    ("first", "last", "span"),
    [(10, 19, (5, 25)), (10, 20, (5, 25)), (10, 21, (5, 27)), (5, 9, (0, 14)), (4, 9, (0, 14)), (70, 80, (65, 83))],
)
def test_the_inked_window_has_a_margin_of_five_pixels_and_whole_cells(
    first: int, last: int, span: tuple[int, int]
) -> None:
    found = _span(np.array([first, first + 1, last]), 84)
    assert (found.start, found.stop) == span


def test_affine_maps_are_inverted_and_composed() -> None:
    first, last = np.array([[1.1, 0.2, 3.0], [-0.1, 0.9, -2.0]]), np.array([[0.0, -1.0, 5.0], [1.0, 0.0, 7.0]])
    assert _composed(last, first) == pytest.approx(np.array([[0.1, -0.9, 7.0], [1.1, 0.2, 10.0]]))
    assert _composed(_inverse(first), first) == pytest.approx(np.eye(2, 3))
