"""What players choose."""

from random import Random

from broker.protocol import Seat
from broker.rules.mcr import Action, PlayState, legal_actions
from broker.sim.player import choose_action, sensible
from broker.sim.view import PlayerView, view_from
from tests.broker.rules.mcr.playing import after, arranged, nobody
from tests.broker.sim.playing import JUDGE

DRAW = Action("draw", "east")


def view_and_legal(play: PlayState, seat: Seat) -> tuple[PlayerView, tuple[Action, ...]]:
    return view_from(play, seat), legal_actions(play, seat, JUDGE)


def test_a_hu_that_is_one_is_declared() -> None:
    play = after(arranged({"east": "123m 456p 789s 1123z"}, {"east": "7z"}), DRAW)
    assert sensible(*view_and_legal(play, "east")) != Action("self_hu", "east")
    won = after(arranged({"east": "123m 456p 78s 11z 222z"}, {"east": "9s"}), DRAW)
    for strength in (0.0, 1.0):
        assert choose_action(*view_and_legal(won, "east"), strength, Random(1)) == Action("self_hu", "east")


def test_a_tile_that_no_near_plan_asks_for_is_discarded() -> None:
    play = after(arranged({"east": "123m 456p 789s 111m 5z"}, {"east": "9p"}), DRAW)
    chosen = sensible(*view_and_legal(play, "east"))
    assert chosen in (Action("discard", "east", "9p"), Action("discard", "east", "5z"))


def test_a_chow_that_completes_the_plan_is_claimed() -> None:
    deal = arranged({"east": "8s", "south": "123m 456p 79s 11z 257m"}, {"east": "1p"})
    play = after(deal, DRAW, Action("discard", "east", "8s"))
    assert sensible(*view_and_legal(play, "south")) == Action("chow", "south", "7s")


def test_a_chow_that_leaves_no_plan_of_8_fan_is_passed() -> None:
    deal = arranged({"east": "1z", "south": "1155m 2277p 99s 1z 46s"}, {"east": "5s"})
    play = after(deal, DRAW, Action("discard", "east", "5s"))
    assert sensible(*view_and_legal(play, "south")) is None


def test_who_can_do_nothing_chooses_nothing() -> None:
    play = after(arranged({}), DRAW)
    assert choose_action(view_from(play, "west"), legal_actions(play, "west", nobody), 1.0, Random(1)) is None
