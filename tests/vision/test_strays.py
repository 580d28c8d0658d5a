"""A number beside a tray counts as a serial only if it matches the tray's tiles."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.cameras.addresses import open_camera
from vision.geometry import HEIGHT, Picture, Points, Quad, rectangle
from vision.layout import colour_groups, is_of_colour, is_of_size, is_printed_alike, unlike_tiles
from vision.marks import TileMark
from vision.reader import expected_outline, outline_as_large, read_picture, usual_spot

GREEN = np.array([40.0, -30.0, 20.0])
SPOT = np.array([0.01, -0.05])


def mark(serial: int = 7, *, pitch: float = 0.2, spot: Points = SPOT, turned: bool | None = False) -> TileMark:
    return TileMark(serial, None, turned=turned, confidence=0.99, spot=spot, pitch=pitch)


def label(serial: int = 7) -> TileMark:
    return TileMark(serial, "08", turned=False, confidence=0.99, spot=SPOT)


def laid(*sizes: float) -> Quad:
    """Ten tiles in a row, and beside them things of these sizes, in tile widths."""
    tiles = [rectangle(np.array([float(at), 0.0]), 1.0, HEIGHT) for at in range(10)]
    return np.array(
        [*tiles, *(rectangle(np.array([2.0 * at, 4.0]), size, size * HEIGHT) for at, size in enumerate(sizes))]
    )


def unlike(flat: Quad, *, colours: Points | None = None, marks: list[TileMark | None] | None = None) -> set[int]:
    """Return which of the things after the first ten are unlike those, counted from 0."""
    told = np.tile(GREEN, (len(flat), 1)) if colours is None else colours
    found = unlike_tiles(flat, told, marks or [mark()] * len(flat), range(10), range(10, len(flat)))
    return {number - 10 for number in found}


@pytest.mark.parametrize(("size", "is_unlike"), [(1.0, False), (1.1, False), (0.9, False), (1.14, True), (0.86, True)])
def test_a_thing_of_another_size_is_not_a_tile(size: float, *, is_unlike: bool) -> None:
    assert unlike(laid(size)) == ({0} if is_unlike else set())


def test_a_tile_may_have_any_rotation() -> None:
    flat = laid(1.0)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    flat[10] = (flat[10] - flat[10].mean(axis=0)) @ turn.T + flat[10].mean(axis=0)
    assert unlike(flat) == set()


@pytest.mark.parametrize(
    ("sides", "fits"),
    [
        ((1.0, HEIGHT), True),
        ((1.11, HEIGHT), True),
        ((1.13, HEIGHT), False),
        ((1.0, 1.13 * HEIGHT), False),
        ((1.1, 0.92 * HEIGHT), False),
    ],
)
def test_both_sides_and_their_ratio_must_match(sides: tuple[float, float], *, fits: bool) -> None:
    assert is_of_size(np.array(sides), np.array([1.0, HEIGHT])) == fits


@pytest.mark.parametrize(
    ("change", "alike"),
    [
        ((0.0, 0.0, 0.0), True),
        ((9.0, 0.0, 0.0), True),
        ((9.1, 0.0, 0.0), False),
        ((-9.1, 0.0, 0.0), False),
        ((0.0, 5.0, 6.0), True),
        ((0.0, 6.0, 6.0), False),
    ],
)
def test_a_back_may_differ_in_lightness_but_not_in_tint(change: tuple[float, float, float], *, alike: bool) -> None:
    assert is_of_colour(GREEN + change, GREEN) == alike


def test_the_nearest_tiles_define_the_usual_colour() -> None:
    colours = np.tile(GREEN, (11, 1))
    colours[:5, 0] += 40.0  # with a lamp at the far end
    far = laid(1.0)
    far[10] += [8.0, 0.0]
    assert unlike(far, colours=colours) == set()
    colours[10, 0] += 40.0
    assert unlike(far, colours=colours) == {0}


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (mark(9), True),
        (mark(9, pitch=0.22), True),
        (mark(9, pitch=0.223), False),
        (mark(9, pitch=0.177), False),
        (mark(9, spot=SPOT + np.array([0.0, 0.079])), True),
        (mark(9, spot=SPOT + np.array([0.0, 0.081])), False),
        (mark(9, spot=-SPOT, turned=None), True),
        (mark(9, spot=SPOT + np.array([0.2, 0.0]), turned=None), False),
        (None, False),
    ],
)  # fmt: skip
def test_numbers_of_a_set_have_equal_print(other: TileMark | None, *, alike: bool) -> None:
    assert is_printed_alike(other, [mark(serial) for serial in range(1, 9)]) == alike


def test_beside_labels_a_printed_number_is_not_a_tile_and_a_label_always_is() -> None:
    labels: list[TileMark | None] = [label(serial) for serial in range(1, 11)]
    assert unlike(laid(1.0), marks=[*labels, mark()]) == {0}
    assert unlike(laid(1.3), marks=[*labels, label(12)]) == set()
    assert unlike(laid(1.3), marks=[*[mark()] * 10, label(12)]) == set()


def test_if_much_is_printed_on_other_things_everything_beside_the_tray_is_doubted() -> None:
    assert unlike(laid(1.0, 1.0, 1.3, 1.3, 1.3)) == {2, 3, 4}
    assert unlike(laid(1.0, 1.0, 1.3, 1.3, 1.3, 1.3)) == {0, 1, 2, 3, 4, 5}
    assert unlike(laid(*[1.0] * 9, 1.3, 1.3, 1.3, 1.3)) == {9, 10, 11, 12}


@pytest.mark.parametrize(("things", "believed"), [(19, True), (20, False)])
def test_in_clutter_not_even_the_tray_is_trusted(things: int, *, believed: bool) -> None:
    flat = laid(*[1.3] * things)
    found = unlike_tiles(flat, np.tile(GREEN, (len(flat), 1)), [mark()] * len(flat), range(10), range(10, len(flat)))
    assert found == (set(range(10, len(flat))) if believed else set(range(len(flat))))


def test_unread_things_are_ignored_and_five_tiles_are_too_few_to_compare() -> None:
    unread = TileMark(None, None, None, 0.0, np.full(2, np.nan))
    assert unlike(laid(1.3), marks=[*[mark()] * 10, unread]) == set()
    assert unlike(laid(1.3), marks=[*[mark()] * 5, *[unread] * 5, mark()]) == set()
    assert unlike(laid(1.3), marks=[*[mark()] * 6, *[unread] * 4, mark()]) == {0}


def test_backs_are_grouped_by_colour_largest_first_unless_all_have_one_colour() -> None:
    colours = np.array([GREEN] * 5 + [GREEN + np.array([0.0, 40.0, 0.0])] * 7 + [GREEN + np.array([60.0, 0.0, 0.0])])
    assert colour_groups(colours, 3) == [[5, 6, 7, 8, 9, 10, 11], [0, 1, 2, 3, 4]]
    assert colour_groups(colours, 6) == [[5, 6, 7, 8, 9, 10, 11]]
    assert colour_groups(colours[:5], 3) == []


@pytest.mark.parametrize(
    ("change", "groups"),
    [
        ((21.9, 0.0, 0.0), 0), ((22.1, 0.0, 0.0), 2), ((0.0, 10.9, 0.0), 0), ((0.0, 11.1, 0.0), 2),
        ((0.0, 0.0, -10.9), 0), ((0.0, 0.0, 11.1), 2),
    ],
)  # fmt: skip
def test_backs_of_one_colour_differ_by_at_most_eleven_units_with_lightness_halved(
    change: tuple[float, float, float], groups: int
) -> None:
    colours = np.array([GREEN] * 4 + [GREEN + np.array(change)] * 4)
    assert len(colour_groups(colours, 4)) == groups


CAMERA = np.array([[70.0, 6.0], [-4.0, 58.0]])
"""Pixels of a tile's width, for a camera that is slightly tilted."""


@given(degrees=st.floats(0, 360), wide=st.floats(1.0, 1.6), aside=st.floats(-0.3, 0.3), turned=st.booleans())
def test_a_tiles_outline_follows_from_where_its_number_stands(
    *, degrees: float, wide: float, aside: float, turned: bool
) -> None:
    """Whatever outline the finder gave: too wide, to one side, or upside down."""
    turn = np.radians(degrees)
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    tile = rectangle(np.zeros(2), 1.0, HEIGHT)
    seen = rectangle(np.array([aside, 0.1]), wide, HEIGHT)
    number = SPOT * [1.0, HEIGHT]
    spot = (number - [aside, 0.1]) / [wide, HEIGHT]
    lies, outline = ((corners @ spin + [3.0, 5.0]) @ CAMERA for corners in (tile, seen))
    quad = np.roll(outline, 2, axis=0) if turned else outline
    near = rectangle(np.array([4.0, 9.0]), 1.0, HEIGHT) @ CAMERA
    found = expected_outline(quad, mark(spot=spot, turned=turned), near, SPOT)
    assert np.abs(found - lies).max() < 0.1


def test_the_usual_spot_is_the_median_of_numbers_and_labels_have_none() -> None:
    numbers = [mark(), mark(spot=SPOT + 0.01), mark(spot=SPOT + 0.4), None, label()]
    assert usual_spot(numbers) == pytest.approx(SPOT + 0.01)
    assert usual_spot([label(), None]) is None


NARROW = np.array([0.22, 0.12, *[0.2] * 8])
"""Widths of digits, in shares of a tile: a wide 0, a narrow 1."""


def in_print(serial: int, widths: Points = NARROW) -> TileMark:
    """Return a number with the pitch that follows from these widths."""
    first, middle, last = (widths[int(digit)] for digit in f"{serial:03d}")
    return mark(serial, pitch=float((first + last) / 2 + middle) / 2)


TRAY = [in_print(serial) for serial in (1, 12, 20, 35, 41, 57, 63, 78, 80, 90, 101, 110, 124, 133, 96, 7, 48, 69)]


@pytest.mark.parametrize("serial", [111, 117, 100, 4, 131])
def test_a_numbers_expected_pitch_follows_from_its_digits(serial: int) -> None:
    assert is_printed_alike(in_print(serial), [*TRAY])


def test_a_narrow_one_in_a_set_of_equally_wide_digits_is_not_on_its_tiles() -> None:
    even = [in_print(one.serial or 0, np.full(10, 0.2)) for one in TRAY]
    assert not is_printed_alike(in_print(111), [*even])
    assert not is_printed_alike(in_print(111, np.full(10, 0.2)), [*TRAY])


def test_a_number_that_reads_both_ways_up_is_equally_wide_either_way() -> None:
    both = TileMark(None, None, None, 0.99, SPOT, either=(111, 116), pitch=in_print(111).pitch)
    assert is_printed_alike(both, [*TRAY])


@given(degrees=st.floats(0, 360), large=st.floats(0.5, 3.0))
def test_a_too_large_outline_gets_the_size_of_the_trays_tiles(degrees: float, large: float) -> None:
    turn = np.radians(degrees)
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    lies, seen = (
        (large_or_not @ spin + [3.0, 5.0]) @ CAMERA
        for large_or_not in (rectangle(np.zeros(2), 1.0, HEIGHT), rectangle(np.zeros(2), large, large * HEIGHT))
    )
    near = rectangle(np.array([4.0, 9.0]), 1.0, HEIGHT) @ CAMERA
    assert outline_as_large(seen, near) == pytest.approx(lies, abs=1e-6)


def tray() -> Picture:
    with open_camera("sim://tray?deal=3") as camera:
        return camera.frame().copy()


def with_card(picture: Picture, text: str, *, paper: tuple[int, int, int]) -> Picture:
    """Lay a card of a tile's size into the free corner at the top left of the table."""
    card = picture.copy()
    cv2.rectangle(card, (20, 12), (108, 122), paper, -1)
    cv2.putText(card, text, (30, 78), cv2.FONT_HERSHEY_DUPLEX, 1.1, (20, 20, 20), 2, cv2.LINE_AA)
    return card


@pytest.mark.parametrize("paper", [(250, 250, 250), (90, 160, 60)])
def test_a_card_beside_a_tray_of_labels_has_no_serial(paper: tuple[int, int, int]) -> None:
    empty = tray()
    told, with_it = (read_picture(one) for one in (empty, with_card(empty, "117", paper=paper)))
    assert with_it.rows == told.rows
    assert sorted(read.serial or 0 for read in with_it.reads) == sorted(read.serial or 0 for read in told.reads)
    assert [read for read in told.reads if read.serial is None] == []
