"""How much speaks for a tile standing the way its mark was read."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.layout.scene import Pose, Seen, heap_scene, see, tray_scene
from vision.layout.upright import neighbour_odds, spot_odds, upright_odds
from vision.sight import Mark

POSE = Pose(tilt=10, noise=0.02)


def other_way(mark: Mark | None) -> Mark:
    """Read a mark upside down."""
    assert mark is not None
    return replace(mark, turned=not mark.turned, spot=-mark.spot)


def reread(seen: Seen, tile: int) -> Seen:
    """Give the picture with one mark read the other way."""
    marks = tuple(other_way(mark) if number == tile else mark for number, mark in enumerate(seen.marks))
    return replace(seen, marks=marks)


def odds(seen: Seen, tile: int) -> float:
    return upright_odds(tile, seen.lay_out(), seen.marks)


@given(st.integers(0, 33))
def test_reading_a_mark_the_other_way_turns_the_odds_round(tile: int) -> None:
    seen = see(tray_scene(POSE))
    assert odds(seen, tile) > 0
    assert odds(reread(seen, tile), tile) == pytest.approx(-odds(seen, tile))


def test_a_full_tray_alone_is_never_surer_than_tiles_are_laid_upside_down() -> None:
    seen = see(tray_scene(POSE))
    assert neighbour_odds(0, seen.lay_out(), seen.marks) == pytest.approx(np.log(39))


def test_a_tile_whose_mark_does_not_tell_stands_as_its_tray_does() -> None:
    seen = see(tray_scene(POSE))
    untold = tuple(
        mark and replace(mark, turned=None) if number == 7 else mark for number, mark in enumerate(seen.marks)
    )
    layout = replace(seen, marks=untold).lay_out()
    assert layout.lies[7].turn == 0
    assert neighbour_odds(7, layout, untold) == pytest.approx(np.log(39))


def test_in_a_heap_only_the_spot_tells() -> None:
    seen = see(heap_scene(POSE, 20))
    assert neighbour_odds(3, seen.lay_out(), seen.marks) == 0
    assert odds(seen, 3) == spot_odds(3, seen.marks) > 0


def test_marks_in_the_very_middle_of_their_tiles_tell_nothing() -> None:
    seen = see(heap_scene(POSE, 20))
    centred = tuple(mark and replace(mark, spot=np.zeros(2)) for mark in seen.marks)
    assert spot_odds(0, centred) == 0


def test_too_few_other_marks_make_no_usual_spot() -> None:
    seen = see(heap_scene(POSE, 4))
    assert spot_odds(0, seen.marks) == 0


def test_a_spot_far_from_both_is_no_certainty() -> None:
    seen = see(heap_scene(POSE, 20))
    odd = tuple(
        replace(mark, spot=np.array([0.3, 0.3])) if number == 0 and mark else mark
        for number, mark in enumerate(seen.marks)
    )
    assert abs(spot_odds(0, odd)) < 3


@pytest.mark.parametrize(("over", "known", "expected"), [(0, 34, np.log(39)), (16, 33, 0.0), (33, 34, -np.log(39))])
def test_neighbours_are_worth_what_most_of_them_say(over: int, known: int, expected: float) -> None:
    seen = see(tray_scene(POSE))
    layout = seen.lay_out()
    lies = tuple(replace(lie, turn=180 if 1 <= number <= over else 0) for number, lie in enumerate(layout.lies))
    marks = (*seen.marks[:known], *([None] * (34 - known)))
    assert neighbour_odds(0, replace(layout, lies=lies), marks) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("tile", [0, 33])
def test_a_mark_that_was_not_read_has_no_odds(tile: int) -> None:
    seen = see(tray_scene(POSE))
    assert upright_odds(tile, seen.lay_out(), (None,) * 34) == 0
