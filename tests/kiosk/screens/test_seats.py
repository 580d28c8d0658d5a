"""Seats as people sit around the screen, and points as sticks."""

from itertools import combinations

import pygame
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from broker.i18n import Translator, languages
from broker.protocol import SEATS, NextSeat, Seat
from kiosk.screens import RecordedView, StatusLine, TextPen, screen_view
from kiosk.screens.drawing import Appearance
from kiosk.screens.layout import ScreenLayout, seats_around
from kiosk.screens.seats import SeatBox, sticks
from kiosk.table import Phase
from kiosk.table.events import Assigned
from tests.kiosk.screens.test_table import ROOMS as ROOMS_OF_SCREENS
from tests.kiosk.screens.test_table import SIZES, Room, inked, scene_of
from tests.kiosk.standing import phase_view
from tests.kiosk.tables import TABLE, sitting_in

ROOMS = [(772, 171), (437, 190), (676, 521), (676, 277), (1236, 256)]


@pytest.mark.parametrize("near", SEATS)
@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_the_near_seat_is_below_and_each_next_seat_is_to_the_right(room: tuple[int, int], near: Seat) -> None:
    whole = pygame.Rect((14, 240), room)
    boxes = seats_around(whole, 7, near)
    at = SEATS.index(near)
    below, right, far, left = (boxes[seat] for seat in (*SEATS[at:], *SEATS[:at]))
    assert far.centery < min(left.centery, right.centery)
    assert below.centery > max(left.centery, right.centery)
    assert left.centerx < min(far.centerx, below.centerx)
    assert right.centerx > max(far.centerx, below.centerx)
    assert not [pair for pair in combinations(boxes.values(), 2) if pair[0].colliderect(pair[1])]
    assert all(whole.contains(box) for box in boxes.values())


@pytest.mark.parametrize(("seat", "turn"), [("east", 0), ("south", 90), ("west", 180), ("north", 270)])
@pytest.mark.parametrize("scene", ["confirming", "accepting", "declared, value", "riichi, accepting"])
def test_on_a_flat_display_each_seats_text_is_upright_for_its_player(scene: str, seat: Seat, turn: int) -> None:
    size, view = SIZES[0], scene_of(scene)
    box = ScreenLayout(size).seats(panel=False)[seat]
    turned, upright = pygame.Surface(size), pygame.Surface(size)
    SeatBox(Translator("en"), TextPen("en", size, Appearance(turned=True))).draw(turned, view, seat, box, small=False)
    own = pygame.Rect(0, 0, *(box.size if turn % 180 == 0 else box.size[::-1]))
    SeatBox(Translator("en"), TextPen("en", size)).draw(upright, view, seat, own, small=False)
    there = pygame.transform.rotate(turned.subsurface(box), -turn)
    corner = box.inflate(-20, -20).size if turn % 180 == 0 else box.inflate(-20, -20).size[::-1]
    inside = pygame.Rect((10, 10), corner)  # the ground shows at the round corners of the frame
    alike = [pygame.image.tobytes(one.subsurface(inside), "RGB") for one in (there, upright)]
    assert alike[0] == alike[1]


@pytest.mark.parametrize("room", ROOMS_OF_SCREENS, ids=str)
@pytest.mark.parametrize("scene", ["recorded, three winners go elsewhere", "recorded, void, going elsewhere"])
def test_usual_names_are_not_cut_when_all_players_move_on(scene: str, room: Room) -> None:
    lines = {language: [text for text, _ in inked(language, room, scene)] for language in languages()}
    assert [text for texts in lines.values() for text in texts if "…" in text] == []
    assert {"Next: table 12, South", "Next: table 128, West", "no further play"} <= {*lines["en"]}


def test_after_a_play_each_seat_shows_its_players_next_table() -> None:
    sitting = sitting_in(Phase.RECORDED)
    assert sitting.table.assignment
    then = {
        "p01": NextSeat(round=2, table=7, seat="west"),
        "p02": None,
        "p03": NextSeat(round=2, table=TABLE, seat="west"),
        "p04": NextSeat(round=4, table=9, seat="south"),
    }
    told = structs.replace(sitting.table.assignment, onward={1: then})
    sitting.take(Assigned(at=sitting.wait(), assignment=told))
    phase = phase_view(screen_view(TABLE, sitting.table, None, StatusLine(), None), RecordedView)
    assert phase.onward == dict(zip(SEATS, then.values(), strict=True))


@pytest.mark.parametrize(
    ("points", "laid"),
    [
        (3900, {1000: 3, 100: 9}),
        (-8000, {5000: 1, 1000: 3}),
        (48_300, {10_000: 4, 5000: 1, 1000: 3, 100: 3}),
        (0, {}),
    ],
)
def test_a_payment_uses_as_few_sticks_as_possible(points: int, laid: dict[int, int]) -> None:
    assert sticks(points) == laid


@given(st.integers(-2000, 2000))
def test_the_sticks_add_up_to_the_payment(hundreds: int) -> None:
    assert sum(worth * count for worth, count in sticks(100 * hundreds).items()) == abs(100 * hundreds)
