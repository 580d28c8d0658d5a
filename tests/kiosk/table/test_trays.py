"""What checks reveal about trays, and the fewest moves that correct a carrier."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, Seat
from kiosk.table import (
    PLACES,
    Carrier,
    Content,
    Misplaced,
    Move,
    PlaceContent,
    PutIn,
    Shift,
    Swap,
    TakeOut,
    TilePlace,
    known_places,
)
from kiosk.table.events import TrayChecked
from kiosk.table.trays import (
    BLANK,
    EMPTY,
    Turn,
    count_moves,
    crosses,
    is_done,
    next_move,
    tray_contents,
    with_look,
)
from tests.kiosk.table.carriers import (
    DEAL,
    RIGHT,
    after_move,
    all_moves,
    carriers,
    every_move,
    is_right,
    small,
    tried_out,
)
from tests.kiosk.tables import play, right, swapped

ONE, OTHER = PLACES[0], PLACES[1]


def wrong(kind: str, row: int = 0, col: int = 0) -> Misplaced:
    return Misplaced(kind=kind, row=row, col=col, expected=DEAL[TilePlace("east", row, col)])


def look(*wrongs: Misplaced) -> TrayChecked:
    return TrayChecked(at=1, seat="east", rows=play(1).order["east"], wrong=wrongs)


def test_each_kind_of_fault_gives_a_kind_of_content() -> None:
    kinds = {
        kind: tray_contents(look(wrong(kind)))[ONE]
        for kind in ("missing", "foreign", "face-up", "occluded", "upside-down")
    }
    assert kinds == {
        "missing": EMPTY,
        "foreign": PlaceContent(Content.FOREIGN),
        "face-up": PlaceContent(Content.FACE_UP, aligned=False),
        "occluded": PlaceContent(Content.COVERED),
        "upside-down": PlaceContent(Content.TILE, DEAL[ONE], aligned=False),
    }


def test_a_check_without_a_tray_says_nothing_about_its_places() -> None:
    unread = tray_contents(TrayChecked(at=1, seat="south", rows=()))
    assert set(unread.values()) == {PlaceContent(Content.UNREAD)}
    assert {place.seat for place in unread} == {"south"}


def test_trays_that_are_not_under_the_camera_stay_as_last_seen() -> None:
    seen = with_look(with_look(BLANK, swapped(play(1), "south", 1)), right(play(1), "east", 2))
    assert {place: seen[place] for place in PLACES if place.seat == "east"} == {
        place: lying for place, lying in RIGHT.items() if place.seat == "east"
    }
    assert seen[TilePlace("south", 0, 0)] == PlaceContent(Content.TILE, DEAL[TilePlace("south", 0, 1)])
    assert seen[TilePlace("west", 0, 0)] == PlaceContent(Content.UNSEEN)


def test_a_tile_seen_in_another_tray_is_forgotten_everywhere_else() -> None:
    moved = DEAL[TilePlace("south", 0, 0)]
    hand = (moved, *play(1).order["east"][0][1:])
    with_it = TrayChecked(at=2, seat="east", rows=(hand, *play(1).order["east"][1:]))
    seen = with_look(with_look(BLANK, right(play(1), "south", 1)), with_it)
    assert known_places(seen)[moved] == ONE
    assert seen[TilePlace("south", 0, 0)] == PlaceContent(Content.UNREAD)


def test_two_tiles_with_one_serial_both_count_as_unread() -> None:
    one, _, *hand = play(1).order["east"][0]
    twice = TrayChecked(at=2, seat="east", rows=((one, one, *hand), *play(1).order["east"][1:]))
    seen = with_look(BLANK, twice)
    assert (seen[ONE], seen[OTHER]) == (PlaceContent(Content.UNREAD), PlaceContent(Content.UNREAD))


def test_a_move_is_done_when_all_its_places_are_seen_changed() -> None:
    mixed = {**RIGHT, ONE: RIGHT[OTHER], OTHER: RIGHT[ONE]}
    swap = Swap(ONE, OTHER)
    assert is_done(swap, mixed, RIGHT)
    assert not is_done(swap, mixed, mixed)
    assert not is_done(swap, mixed, {**RIGHT, OTHER: EMPTY})
    gap = {**RIGHT, ONE: EMPTY}
    assert is_done(PutIn(ONE, DEAL[ONE]), gap, RIGHT)
    assert is_done(Shift(OTHER, ONE), gap, after_move(gap, Shift(OTHER, ONE)))


def test_a_turned_face_is_done_whether_or_not_its_back_has_been_read() -> None:
    face = {**RIGHT, ONE: PlaceContent(Content.FACE_UP, aligned=False)}
    assert is_done(Turn(ONE), face, RIGHT)
    assert is_done(Turn(ONE), face, {**RIGHT, ONE: PlaceContent(Content.UNREAD)})
    assert not is_done(Turn(ONE), face, face)


@given(small)
def test_the_number_of_moves_is_the_smallest_found_by_trying_everything(carrier: Carrier) -> None:
    assert count_moves(carrier, DEAL) == len([*all_moves(carrier, DEAL)]) == tried_out(carrier)


@given(carriers, st.sampled_from([None, *SEATS]))
def test_the_moves_correct_a_whole_carrier_in_the_predicted_number(carrier: Carrier, near: Seat | None) -> None:
    said, moves = count_moves(carrier, DEAL), [*all_moves(carrier, DEAL, near)]
    for move in moves:
        carrier = after_move(carrier, move)
    assert len(moves) == said
    assert is_right(carrier)


@given(carriers, st.lists(st.sampled_from(PLACES), min_size=2, max_size=5, unique=True))
def test_no_move_of_any_kind_saves_more_than_one(carrier: Carrier, places: list[TilePlace]) -> None:
    """So with the law above, nobody needs fewer moves, on a whole carrier in any disorder."""
    before, lies = count_moves(carrier, DEAL), known_places(carrier)
    for move in every_move({place: carrier[place] for place in places}):
        if not isinstance(move, PutIn) or move.serial not in lies:
            assert count_moves(after_move(carrier, move), DEAL) >= before - 1


@given(carriers, st.sampled_from([None, *SEATS]))
def test_after_the_first_move_the_remaining_ones_stay_the_same(carrier: Carrier, near: Seat | None) -> None:
    moves = [*all_moves(carrier, DEAL, near)]
    if moves:
        assert [*all_moves(after_move(carrier, moves[0]), DEAL, near)] == moves[1:]


@given(carriers)
def test_tiles_move_between_trays_only_if_no_tray_can_be_corrected_by_itself(carrier: Carrier) -> None:
    move = next_move(carrier, DEAL)
    if move is not None and crosses(move):
        alone = [{place: lying for place, lying in carrier.items() if place.seat == seat} for seat in SEATS]
        assert {type(next_move(tray, DEAL)) for tray in alone} <= {type(None), PutIn}


def test_neither_a_right_carrier_nor_an_unseen_one_needs_a_move() -> None:
    assert (next_move(RIGHT, DEAL), count_moves(RIGHT, DEAL)) == (None, 0)
    unseen = dict.fromkeys(PLACES, PlaceContent(Content.UNSEEN))
    assert (next_move(unseen, DEAL), count_moves(unseen, DEAL)) == (None, 0)


A, B, C = PLACES[0], PLACES[1], PLACES[2]
SOUTH = PLACES[34]


def told(*lying: tuple[TilePlace, PlaceContent]) -> list[Move]:
    return [*all_moves({**RIGHT, **dict(lying)}, DEAL)]


def examples() -> Iterator[tuple[str, list[tuple[TilePlace, PlaceContent]], list[Move]]]:
    a, b, c, south = (RIGHT[place] for place in (A, B, C, SOUTH))
    yield "two changed places", [(A, b), (B, a)], [Swap(A, B)]
    yield "a ring of three", [(A, b), (B, c), (C, a)], [Swap(A, C), Swap(B, C)]
    yield "a tile that slid along", [(A, EMPTY), (B, a), (C, b)], [Shift(B, A), Shift(C, B), PutIn(C, DEAL[C])]
    yield "a foreign tile", [(B, PlaceContent(Content.FOREIGN))], [TakeOut(B), PutIn(B, DEAL[B])]
    yield "a face", [(B, PlaceContent(Content.FACE_UP, aligned=False))], [Turn(B)]
    yield "upside down", [(B, PlaceContent(Content.TILE, DEAL[B], aligned=False))], [Turn(B)]
    yield "upside down and elsewhere", [(A, PlaceContent(Content.TILE, DEAL[B], aligned=False)), (B, a)], [Swap(A, B)]
    yield "of another tray", [(A, south), (SOUTH, a)], [Swap(A, SOUTH)]
    yield "of a tray that was not shown", [(A, south), (SOUTH, PlaceContent(Content.UNSEEN))], [Swap(A, SOUTH)]


@pytest.mark.parametrize(("lying", "moves"), [pytest.param(*one[1:], id=one[0]) for one in examples()])
def test_each_kind_of_disorder_gives_the_expected_moves(
    lying: list[tuple[TilePlace, PlaceContent]], moves: list[Move]
) -> None:
    assert told(*lying) == moves
