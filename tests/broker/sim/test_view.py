"""No choice of a simulated player can depend on a hidden tile."""

from collections.abc import Sequence
from random import Random

import pytest
from msgspec.structs import replace

from broker.protocol import SEATS, Seat
from broker.rules import TRAY, Deal
from broker.rules.mcr import PlayState, TableMeld, apply_action, open_play
from broker.rules.mcr.referee import SeatTiles
from broker.sim.plans import COLUMN, NONE
from broker.sim.player import Choice, Hold, Offer, choose
from broker.sim.view import PlayerView, unseen
from tests.broker.rules.mcr.playing import after, all_tiles, arranged, tiles
from tests.broker.rules.mcr.turning import awaited_seats
from tests.broker.rules.variants import OEDMC
from tests.broker.sim.playing import JUDGE, dealt, played, states, view_from


def with_other_hidden_tiles(play: PlayState, viewer: Seat, rng: Random) -> PlayState:
    """Return a play with the tiles of all walls and the others' concealed hands shuffled."""
    hidden = [tile for seat in SEATS for tile in play.wall(seat)]
    hidden += [tile for seat in SEATS if seat != viewer for tile in play.hand(seat).concealed]
    rng.shuffle(hidden)
    left = iter(hidden)
    faces = {}
    for seat, wall in zip(SEATS, play.turns.walls, strict=True):
        drawn = play.deal.faces[seat][: TRAY - wall]
        faces[seat] = (*drawn, *(next(left) for _ in range(wall)))
    hands = tuple(
        hand if seat == viewer else replace(hand, concealed=tuple(next(left) for _ in hand.concealed))
        for seat, hand in zip(SEATS, play.hands, strict=True)
    )
    return replace(play, deal=with_other_faces(play.deal, faces), hands=hands)


def with_other_faces(deal: Deal, faces: dict[Seat, tuple[str, ...]]) -> Deal:
    """Return a deal with other faces, which bypasses the check of the whole set."""
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
def test_plays_that_differ_only_in_hidden_tiles_look_the_same(seed: int) -> None:
    """Check that the views are equal, as players choose from their view alone."""
    rng = Random(seed)
    for play in list(states(seed))[::3]:
        for seat in awaited_seats(play.turns):
            other = with_other_hidden_tiles(play, seat, rng)
            assert all_tiles(other) == all_tiles(play)
            one, same = view_from(other, seat), view_from(play, seat)
            assert (one.held == same.held).all()
            assert (unseen([one]) == unseen([same])).all()
            assert replace(one, held=0, shown=0) == replace(same, held=0, shown=0)


@pytest.mark.parametrize("seed", range(3))
def test_a_table_shows_its_players_the_referee_s_view(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list[tuple[PlayerView, bytes, bytes]]()

    def recording_choose(decisions: Sequence[Hold | Offer]) -> list[Choice]:
        for view in (one.view for one in decisions if isinstance(one, Hold)):
            before = tuple(replace(one, river=[*one.river]) for one in view.before)
            shown.append((replace(view, before=before), view.held.tobytes(), unseen([view]).tobytes()))
        return choose(decisions)

    monkeypatch.setattr("broker.sim.table.choose", recording_choose)
    play, views = open_play(dealt(seed), OEDMC), iter(shown)
    for action in played.__wrapped__(seed).actions:
        if play.turns.phase == "hold" and action.do != "self_hu":
            view, held, left = next(views)
            expected = view_from(play, play.turns.turn)
            assert (held, left) == (expected.held.tobytes(), unseen([expected]).tobytes())
            assert replace(view, held=0, shown=0, offered=0) == replace(expected, held=0, shown=0, offered=0)
        play = apply_action(play, action, JUDGE)
    assert next(views, None) is None


def test_only_its_owner_sees_a_concealed_kong() -> None:
    play = after(arranged({"east": "1111z"}))
    kong = TableMeld("kong", tiles("1111z"))
    play = replace(play, hands=(SeatTiles(tiles("123456789m"), (kong,)), *play.hands[1:]))
    assert view_from(play, "east").melds == (kong,)
    assert view_from(play, "west").before[0].sets == (NONE,)
    assert unseen([view_from(play, "west")])[0, COLUMN["1z"]] == 4 - play.hand("west").concealed.count("1z")
    assert unseen([view_from(play, "east")])[0, COLUMN["1z"]] == 0
