"""Choices of simulated players."""

from random import Random

import pytest

from broker.protocol import SEATS, Seat
from broker.rules.mcr import Action, PlayState
from broker.sim.outlook import PLAIN, Considered, Style, outlooks
from broker.sim.plans import COLUMN, NONE
from broker.sim.player import Claim, Hold, Offer, SimulatedPlayer, best_claims, choose, deal_in, discards_or_kongs
from tests.broker.rules.mcr.playing import after, arranged, tiles
from tests.broker.sim.playing import plain_outlook, states, view_from

DRAW = Action("draw", "east")
STYLES = {"plain": PLAIN, "reading": Style(misjudgement=0.0)}
each_style = pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)


def player(style: Style) -> SimulatedPlayer:
    return SimulatedPlayer(1.0, Random(1), style)


def claimed(play: PlayState, seat: Seat, *used: str, style: Style) -> Claim | None:
    low = min(*used, play.offered)
    claim = Claim("chow", COLUMN[low], (COLUMN[used[0]], COLUMN[used[1]]))
    return best_claims([Offer(view_from(play, seat), [claim], player(style))])[0]


@each_style
def test_a_tile_that_no_near_plan_needs_is_discarded(style: Style) -> None:
    play = after(arranged({"east": "123m 456p 789s 111m 5z"}, {"east": "9p"}), DRAW)
    assert discards_or_kongs([Hold(view_from(play, "east"), (), player(style))])[0] in (COLUMN["9p"], COLUMN["5z"])


@each_style
def test_a_chow_that_completes_the_plan_is_claimed(style: Style) -> None:
    deal = arranged({"east": "8s", "south": "123m 456p 79s 11z 257m"}, {"east": "1p"})
    play = after(deal, DRAW, Action("discard", "east", "8s"))
    assert claimed(play, "south", "7s", "9s", style=style)


@each_style
def test_a_chow_that_leaves_no_plan_of_8_fan_is_passed(style: Style) -> None:
    deal = arranged({"east": "1z", "south": "1155m 2277p 99s 1z 46s"}, {"east": "5s"})
    play = after(deal, DRAW, Action("discard", "east", "5s"))
    assert claimed(play, "south", "4s", "6s", style=style) is None


def test_a_player_of_strength_0_discards_for_the_fewest_missing_tiles() -> None:
    play = after(arranged({"east": "123m 456p 789s 111m 5z"}, {"east": "9p"}), DRAW)
    nobody = SimulatedPlayer(0.0, Random(1))
    assert choose([Hold(view_from(play, "east"), (), nobody)])[0] in (COLUMN["9p"], COLUMN["5z"])


def test_misjudgement_changes_some_discards_reproducibly() -> None:
    views = [view_from(play, play.turns.turn) for play in states(1) if play.turns.phase == "hold"]

    def chosen(scale: float, seed: int) -> list[object]:
        rng = Random(seed)
        return list(
            discards_or_kongs([Hold(view, (), SimulatedPlayer(1.0, rng, Style(misjudgement=scale))) for view in views])
        )

    assert chosen(5.0, 1) == chosen(5.0, 1) != chosen(5.0, 2)
    assert chosen(0.0, 1) == chosen(0.0, 2)


def test_the_outlook_of_a_hand_equals_a_search_through_all_plans() -> None:
    """Shared pools leave out no plan, and caches do not mix up hands."""
    views = [view_from(play, seat) for play in [*states(2), *states(3)][::19] for seat in SEATS]
    found = outlooks([Considered(view, view.held, view.melds, Style()) for view in views])
    for view, total, left in zip(views, found.sums.tolist(), found.after, strict=True):
        plain, without = plain_outlook(view, view.held, Style())
        assert total == pytest.approx(plain, rel=1e-9)
        assert left[view.held > 0] == pytest.approx(without[view.held > 0], rel=1e-9, abs=1e-12)
    assert any(len(view.melds) > 1 for view in views)


def test_tiles_in_a_river_and_all_tiles_early_in_a_play_are_safer() -> None:
    play = after(arranged({"east": "1m"}, {"east": "9p"}), DRAW, Action("discard", "east", "1m"))
    view = view_from(play, "south")
    danger = deal_in([view])[0]
    assert danger[COLUMN["1m"]] == danger[[COLUMN[kind] for kind in ("1m", "9m", "1p", "9p")]].min()
    late = view_from(play, "south")
    for one in late.before:
        one.wall = 3
    assert (deal_in([late])[0] > danger).all()
    assert ((danger > 0) & (danger < 0.05)).all()


def test_a_suit_with_two_melds_is_more_dangerous() -> None:
    view = view_from(after(arranged({})), "south")
    view.before[0].sets = (0, 3)
    danger = deal_in([view])[0]
    assert danger[COLUMN["5m"]] > danger[COLUMN["5p"]]
    assert tiles("5m") == ("5m",)
    assert NONE < 0
