"""Carriers in disorder, as staff leave them and worse."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from hypothesis import strategies as st

from kiosk.table.restoring.lying import EMPTY, Carrier, Lying, What
from kiosk.table.restoring.moves import Move, PutIn, Shift, Swap, TakeOut, Turn, after
from kiosk.table.restoring.places import PLACES, Place, deal_of
from tests.kiosk.tables import play

DEAL: Final = deal_of(play(1).order)
RIGHT: Final = {place: Lying(What.TILE, serial) for place, serial in DEAL.items()}

STRANGE: Final = (
    Lying(What.FOREIGN),
    EMPTY,
    Lying(What.UNREAD),
    Lying(What.COVERED),
    Lying(What.FACE_UP, well=False),
)


def disordered(places: tuple[Place, ...]) -> st.SearchStrategy[dict[Place, Lying]]:
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
    places: tuple[Place, ...], mixed: tuple[list[Place], list[Place]], strange: dict[Place, Lying], badly: list[Place]
) -> dict[Place, Lying]:
    carrier = {place: RIGHT[place] for place in places}
    carrier |= {to: RIGHT[origin] for to, origin in zip(*mixed, strict=True)}
    carrier |= strange
    return carrier | {
        place: Lying(What.TILE, carrier[place].serial, well=False) for place in badly if carrier[place].serial
    }


carriers = disordered(PLACES)
small = st.integers(2, 4).flatmap(lambda size: disordered((PLACES[0], PLACES[1], PLACES[40], PLACES[100])[:size]))


def every_move(carrier: Carrier) -> Iterator[Move]:
    """Give all that one hand movement can be."""
    for one, other in combinations(carrier, 2):
        if carrier[other].what is What.EMPTY:
            one, other = other, one  # noqa: PLW2901 - the empty one is where to
        if carrier[other].what is What.EMPTY:
            continue
        yield Shift(other, one) if carrier[one].what is What.EMPTY else Swap(one, other)
    inside = {lying.serial for lying in carrier.values()}
    for place, lying in carrier.items():
        if lying.what is What.EMPTY:
            yield from (PutIn(place, serial) for serial in map(DEAL.__getitem__, carrier) if serial not in inside)
        else:
            yield TakeOut(place)
            yield Turn(place)


def is_right(carrier: Carrier) -> bool:
    """Tell whether each place has its tile, or one that nobody could read, and all lie well."""
    unread = (What.UNREAD, What.COVERED)
    return all(
        lying.well and (lying.serial == DEAL[place] if lying.what is What.TILE else lying.what in unread)
        for place, lying in carrier.items()
    )


def tried_out(carrier: Carrier) -> int:
    """Give the fewest moves by trying everything."""
    states, tried, moves = [carrier], {_key(carrier)}, 0
    while not any(map(is_right, states)):
        further = [after(state, move) for state in states for move in every_move(state)]
        states = []
        for state in further:
            if (key := _key(state)) not in tried:
                tried.add(key)
                states.append(state)
        moves += 1
    return moves


def _key(carrier: Carrier) -> tuple[Lying, ...]:
    return tuple(carrier.values())
