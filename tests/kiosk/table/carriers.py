"""Carriers in disorder, as staff leave them and worse."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from hypothesis import strategies as st

from broker.protocol import Seat
from kiosk.table import (
    PLACES,
    Carrier,
    Content,
    Move,
    PlaceContent,
    PutIn,
    Shift,
    Swap,
    TakeOut,
    TilePlace,
    serial_by_place,
)
from kiosk.table.trays import EMPTY, Deal, Turn, changed_by, next_move
from tests.kiosk.tables import play

DEAL: Final = serial_by_place(play(1).order)
RIGHT: Final = {place: PlaceContent(Content.TILE, serial) for place, serial in DEAL.items()}

STRANGE: Final = (
    PlaceContent(Content.FOREIGN),
    EMPTY,
    PlaceContent(Content.UNREAD),
    PlaceContent(Content.COVERED),
    PlaceContent(Content.FACE_UP, aligned=False),
)


def disordered(places: tuple[TilePlace, ...]) -> st.SearchStrategy[dict[TilePlace, PlaceContent]]:
    """Mix some tiles of these places, take some out, turn some round, put strange ones among them."""
    some = st.lists(st.sampled_from(places), max_size=12, unique=True)
    return st.builds(
        _mess,
        st.just(places),
        some.flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))),
        st.dictionaries(st.sampled_from(places), st.sampled_from(STRANGE), max_size=5),
        st.lists(st.sampled_from(places), max_size=4),
    )


def _mess(
    places: tuple[TilePlace, ...],
    mixed: tuple[list[TilePlace], list[TilePlace]],
    strange: dict[TilePlace, PlaceContent],
    badly: list[TilePlace],
) -> dict[TilePlace, PlaceContent]:
    carrier = {place: RIGHT[place] for place in places}
    carrier |= {to: RIGHT[origin] for to, origin in zip(*mixed, strict=True)}
    carrier |= strange
    turned = {at: carrier[at].serial for at in badly if carrier[at].serial}
    return carrier | {at: PlaceContent(Content.TILE, serial, aligned=False) for at, serial in turned.items()}


carriers = disordered(PLACES)
small = st.integers(2, 3).flatmap(lambda size: disordered((PLACES[0], PLACES[1], PLACES[40])[:size]))


def every_move(carrier: Carrier) -> Iterator[Move]:
    """Return every possible single move."""
    for one, other in combinations(carrier, 2):
        if carrier[other].what is Content.EMPTY:
            one, other = other, one  # noqa: PLW2901 - the empty one is the destination
        if carrier[other].what is Content.EMPTY:
            continue
        yield Shift(other, one) if carrier[one].what is Content.EMPTY else Swap(one, other)
    inside = {lying.serial for lying in carrier.values()}
    for place, lying in carrier.items():
        if lying.what is Content.EMPTY:
            yield from (PutIn(place, serial) for serial in map(DEAL.__getitem__, carrier) if serial not in inside)
        else:
            yield TakeOut(place)
            yield Turn(place)


def is_right(carrier: Carrier) -> bool:
    """Return whether each place has its tile, or one that nobody could read, and all are aligned."""
    unread = (Content.UNREAD, Content.COVERED)
    return all(
        lying.aligned and (lying.serial == DEAL[place] if lying.what is Content.TILE else lying.what in unread)
        for place, lying in carrier.items()
    )


def after_move(carrier: Carrier, move: Move) -> dict[TilePlace, PlaceContent]:
    """Return the contents of the places after a move."""
    return {**carrier, **dict(changed_by(move, carrier))}


def all_moves(carrier: Carrier, deal: Deal, near: Seat | None = None) -> Iterator[Move]:
    """Return all moves in their order."""
    while (move := next_move(carrier, deal, near)) is not None:
        yield move
        carrier = after_move(carrier, move)


def tried_out(carrier: Carrier) -> int:
    """Return the fewest moves, found by trying everything."""
    states, tried, moves = [carrier], {_key(carrier)}, 0
    while not any(map(is_right, states)):
        further = [after_move(state, move) for state in states for move in every_move(state)]
        states = []
        for state in further:
            if (key := _key(state)) not in tried:
                tried.add(key)
                states.append(state)
        moves += 1
    return moves


def _key(carrier: Carrier) -> tuple[PlaceContent, ...]:
    return tuple(carrier.values())
