"""Players see what players see: no choice can depend on a hidden tile."""

from random import Random

import pytest
from msgspec.structs import replace

from broker.club.player import choose
from broker.club.view import seen
from broker.contract.words import SEATS, Seat
from broker.rules.deal import TRAY, Deal
from broker.rules.referee.hand import Hand, Meld
from broker.rules.referee.legal import legal_actions
from broker.rules.referee.play import Play
from broker.rules.referee.turns import asked
from tests.broker.club.playing import JUDGE, states
from tests.broker.rules.referee.playing import after, all_tiles, arranged, tiles


def with_other_hidden_tiles(play: Play, viewer: Seat, chance: Random) -> Play:
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
    """Give a deal whose walls are others; its past, which nobody looks at any more, need not fit."""
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
        for seat in asked(play.turns):
            other = with_other_hidden_tiles(play, seat, chance)
            assert all_tiles(other) == all_tiles(play)
            assert seen(other, seat) == seen(play, seat)
            legal = legal_actions(play, seat, JUDGE)
            assert legal_actions(other, seat, JUDGE) == legal
            compared += bool(legal)
            for strength in (0.0, 1.0):
                first = choose(seen(play, seat), legal, strength, Random(seed))
                assert choose(seen(other, seat), legal, strength, Random(seed)) == first
    assert compared > 15


def test_a_concealed_kong_is_seen_by_its_owner_alone() -> None:
    play = after(arranged({"east": "1111z"}))
    kong = Meld("kong", tiles("1111z"))
    play = replace(play, hands=(Hand(tiles("123456789m"), (kong,)), *play.hands[1:]))
    assert seen(play, "east").own.melds == (kong,)
    assert seen(play, "west").before[0].melds == (Meld("kong", ()),)
    assert seen(play, "west").shown["1z"] == 0


@pytest.mark.parametrize("seed", range(3))
def test_what_a_seat_has_not_seen_lies_in_walls_and_in_the_others_hands(seed: int) -> None:
    for play in list(states(seed))[::11]:
        for seat in SEATS:
            hidden = sum(play.turns.walls) + sum(len(play.hand(other).concealed) for other in SEATS if other != seat)
            face_down = sum(4 for o in SEATS if o != seat for meld in play.hand(o).melds if meld.concealed)
            assert sum(seen(play, seat).unseen) == hidden + face_down
            assert min(seen(play, seat).unseen) >= 0
