"""The moves put a carrier right, there are never fewer, and staff who follow them are not told otherwise midway."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.words import SEATS, Seat
from kiosk.table.restoring.fewest import fewest, next_move, plan
from kiosk.table.restoring.lying import EMPTY, Carrier, Lying, What, where
from kiosk.table.restoring.moves import Move, PutIn, Shift, Swap, TakeOut, Turn, after, crosses
from kiosk.table.restoring.places import PLACES, Place
from tests.kiosk.table.restoring.carriers import DEAL, RIGHT, carriers, every_move, is_right, small, tried_out


@given(small)
def test_there_are_as_few_moves_as_trying_everything_finds(carrier: Carrier) -> None:
    assert fewest(carrier, DEAL) == len([*plan(carrier, DEAL)]) == tried_out(carrier)


@given(carriers, st.sampled_from([None, *SEATS]))
def test_the_moves_put_a_whole_carrier_right_and_are_as_many_as_was_said(carrier: Carrier, near: Seat | None) -> None:
    said, moves = fewest(carrier, DEAL), [*plan(carrier, DEAL, near)]
    for move in moves:
        carrier = after(carrier, move)
    assert len(moves) == said
    assert is_right(carrier)


@given(carriers, st.lists(st.sampled_from(PLACES), min_size=2, max_size=5, unique=True))
def test_no_movement_of_any_kind_brings_a_carrier_nearer_than_by_one(carrier: Carrier, places: list[Place]) -> None:
    """With the law above: nobody needs fewer moves, on a whole carrier in any disorder."""
    before, lies = fewest(carrier, DEAL), where(carrier)
    for move in every_move({place: carrier[place] for place in places}):
        if not isinstance(move, PutIn) or move.serial not in lies:
            assert fewest(after(carrier, move), DEAL) >= before - 1


@given(carriers, st.sampled_from([None, *SEATS]))
def test_who_makes_the_first_move_is_told_the_rest_as_it_was(carrier: Carrier, near: Seat | None) -> None:
    moves = [*plan(carrier, DEAL, near)]
    if moves:
        assert [*plan(after(carrier, moves[0]), DEAL, near)] == moves[1:]


@given(carriers)
def test_a_tile_goes_from_one_tray_to_another_only_when_no_tray_can_be_mended_by_itself(carrier: Carrier) -> None:
    move = next_move(carrier, DEAL)
    if move is not None and crosses(move):
        alone = [{place: lying for place, lying in carrier.items() if place.seat == seat} for seat in SEATS]
        assert {type(next_move(tray, DEAL)) for tray in alone} <= {type(None), PutIn}


def test_a_right_carrier_needs_no_move_nor_one_of_which_nothing_was_seen() -> None:
    assert (next_move(RIGHT, DEAL), fewest(RIGHT, DEAL)) == (None, 0)
    unseen = dict.fromkeys(PLACES, Lying(What.UNSEEN))
    assert (next_move(unseen, DEAL), fewest(unseen, DEAL)) == (None, 0)


A, B, C = PLACES[0], PLACES[1], PLACES[2]
SOUTH = PLACES[34]


def told(*lying: tuple[Place, Lying]) -> list[Move]:
    return [*plan({**RIGHT, **dict(lying)}, DEAL)]


def examples() -> Iterator[tuple[str, list[tuple[Place, Lying]], list[Move]]]:
    a, b, c, south = (RIGHT[place] for place in (A, B, C, SOUTH))
    yield "two changed places", [(A, b), (B, a)], [Swap(A, B)]
    yield "a ring of three", [(A, b), (B, c), (C, a)], [Swap(A, C), Swap(B, C)]
    yield "a tile that slid along", [(A, EMPTY), (B, a), (C, b)], [Shift(B, A), Shift(C, B), PutIn(C, DEAL[C])]
    yield "a foreign tile", [(B, Lying(What.FOREIGN))], [TakeOut(B), PutIn(B, DEAL[B])]
    yield "a face", [(B, Lying(What.FACE_UP, well=False))], [Turn(B)]
    yield "upside down", [(B, Lying(What.TILE, DEAL[B], well=False))], [Turn(B)]
    yield "upside down and elsewhere", [(A, Lying(What.TILE, DEAL[B], well=False)), (B, a)], [Swap(A, B)]
    yield "of another tray", [(A, south), (SOUTH, a)], [Swap(A, SOUTH)]
    yield "of a tray that was not shown", [(A, south), (SOUTH, Lying(What.UNSEEN))], [Swap(A, SOUTH)]


@pytest.mark.parametrize(("lying", "moves"), [pytest.param(*one[1:], id=one[0]) for one in examples()])
def test_what_staff_are_told(lying: list[tuple[Place, Lying]], moves: list[Move]) -> None:
    assert told(*lying) == moves
