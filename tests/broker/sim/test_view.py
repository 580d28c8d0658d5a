"""Players see what players see: no choice can depend on a hidden tile."""

from random import Random

import pytest
from msgspec.structs import replace

from broker.protocol import SEATS, Seat
from broker.rules import TRAY, Deal
from broker.rules.mcr import PlayState, SeatTiles, TableMeld, awaited_seats, legal_actions
from broker.sim.player import choose_action
from broker.sim.view import view_from
from tests.broker.rules.mcr.playing import after, all_tiles, arranged, tiles
from tests.broker.sim.playing import JUDGE, states


def with_other_hidden_tiles(play: PlayState, viewer: Seat, chance: Random) -> PlayState:
    """Mix the tiles of all walls and of the others' concealed hands among each other."""
    hidden = [tile for seat in SEATS for tile in play.wall(seat)]
    hidden += [tile for seat in SEATS if seat != viewer for tile in play.hand(seat).concealed]
    chance.shuffle(hidden)
    left = iter(hidden)
    faces = {}
    for seat, wall in zip(SEATS, play.turns.walls, strict=True):
        gone = play.deal.faces[seat][: TRAY - wall]
        faces[seat] = (*gone, *(next(left) for _ in range(wall)))
    hands = tuple(
        hand if seat == viewer else replace(hand, concealed=tuple(next(left) for _ in hand.concealed))
        for seat, hand in zip(SEATS, play.hands, strict=True)
    )
    return replace(play, deal=undealt(play.deal, faces), hands=hands)


def undealt(deal: Deal, faces: dict[Seat, tuple[str, ...]]) -> Deal:
    """Return a deal whose walls are others; its past, which nobody looks at any more, need not fit."""
    other = object.__new__(Deal)
    for name, value in (
        ("number", deal.number),
        ("prevalent_wind", deal.prevalent_wind),
        ("dealer", deal.dealer),
        ("faces", faces),
    ):
        object.__setattr__(other, name, value)
    return other


@pytest.mark.parametrize("seed", range(3))
def test_two_plays_that_differ_in_hidden_tiles_alone_give_the_same_choice(seed: int) -> None:
    chance = Random(seed)
    compared = 0
    for play in list(states(seed))[::3]:
        for seat in awaited_seats(play.turns):
            other = with_other_hidden_tiles(play, seat, chance)
            assert all_tiles(other) == all_tiles(play)
            assert view_from(other, seat) == view_from(play, seat)
            legal = legal_actions(play, seat, JUDGE)
            assert legal_actions(other, seat, JUDGE) == legal
            compared += bool(legal)
            for strength in (0.0, 1.0):
                first = choose_action(view_from(play, seat), legal, strength, Random(seed))
                assert choose_action(view_from(other, seat), legal, strength, Random(seed)) == first
    assert compared > 15


def test_a_concealed_kong_is_seen_by_its_owner_alone() -> None:
    play = after(arranged({"east": "1111z"}))
    kong = TableMeld("kong", tiles("1111z"))
    play = replace(play, hands=(SeatTiles(tiles("123456789m"), (kong,)), *play.hands[1:]))
    assert view_from(play, "east").own.melds == (kong,)
    assert view_from(play, "west").before[0].melds == (TableMeld("kong", ()),)
    assert view_from(play, "west").shown["1z"] == 0


@pytest.mark.parametrize("seed", range(3))
def test_what_a_seat_has_not_seen_lies_in_walls_and_in_the_others_hands(seed: int) -> None:
    for play in list(states(seed))[::11]:
        for seat in SEATS:
            hidden = sum(play.turns.walls) + sum(len(play.hand(other).concealed) for other in SEATS if other != seat)
            face_down = sum(4 for o in SEATS if o != seat for meld in play.hand(o).melds if meld.concealed)
            assert sum(view_from(play, seat).unseen) == hidden + face_down
            assert min(view_from(play, seat).unseen) >= 0
