"""Plays reconstructed from the tiles on the table: steps reported as proved are true, even with unread tiles."""

from collections.abc import Mapping
from itertools import chain
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import SEATS, LaidSeat, Seat
from broker.rules import Deal, Outcome, RuleError, SerialTray, new_deal, new_set, serial_order
from broker.rules.deal import NEXT_SEAT
from broker.rules.mcr import Action, Ending, FoundPlay, Judge, PlayState, apply_action, play_from_rivers, replay_actions
from broker.rules.mcr.play_search import Serial
from broker.sim.laid import LaidTiles, laid_play
from tests.broker.rules.mcr.playing import at_random, everybody, robbing, seldom
from tests.broker.rules.mcr.rivers import overlook_tile, reverse_river
from tests.broker.rules.variants import OEDMC
from tests.broker.sim.playing import dealt, played

KONGS: Final = (1, 10, 15, 30, 35)
"""Seeds of random plays with melded and added kongs."""

WON_ON_A_DISCARD: Final = (0, 3, 4, 6)
SELF_DRAWN: Final = (1, 2, 5)
"""Seeds of plays by simulated players."""

OwnSteps = dict[Seat, list[tuple[str, Serial]]]


def simulated(seed: int, *, hands: bool = True, gaps: bool = False) -> LaidTiles:
    play = played(seed)
    return laid_play(dealt(seed), play.actions, play.outcome, seed, hands=hands, gaps=gaps)


def random_play(seed: int, judge: Judge = seldom, *, gaps: bool = False) -> LaidTiles:
    """Return a random play with as many kongs as possible, as its tiles lie at the end."""
    states = [*at_random(seed, judge)]
    end = apply_action(*states[-1], judge)
    return laid_play(end.deal, [action for _, action in states], outcome_of(end, states[-1][1]), seed, gaps=gaps)


def outcome_of(end: PlayState, last: Action) -> Outcome:
    won = {win.hu.seat: win.hand_value for win in end.wins}
    if not won:
        return Outcome("draw", {})
    return Outcome("self_drawn", won) if last.do == "self_hu" else Outcome("discard", won, end.turns.turn)


def found(play: LaidTiles) -> FoundPlay:
    return play_from_rivers(play.deal, play.order, play.laid, play.ending)


def own_steps(play: LaidTiles) -> OwnSteps:
    """List the steps of each seat. A melded kong counts as two, like a pung that later becomes a kong."""
    own: OwnSteps = {seat: [] for seat in SEATS}
    for action, serial in play.done:
        for seat in action.actors:
            own[seat] += [(action.do, None if action.do.endswith("kong") else serial)] * step_count(action)
    return own


def step_count(action: Action) -> int:
    return 2 if action.do == "melded_kong" else 1


def wrong_steps(it: FoundPlay, play: LaidTiles) -> list[object]:
    """Return the steps reported as proved that their players did not take."""
    true, done, wrong = own_steps(play), dict.fromkeys(SEATS, 0), list[object]()
    for step in it.steps:
        found_step = (step.action.do, None if step.action.do.endswith("kong") else step.serial)
        for seat in step.action.actors:
            if step.share == 1 and true[seat][done[seat] : done[seat] + 1] != [found_step]:
                wrong.append(step)
            done[seat] += step_count(step.action)
    return wrong


@pytest.mark.parametrize("seed", range(12))
def test_the_found_play_is_correct_and_legal(seed: int) -> None:
    play = simulated(seed, gaps=True)
    it = found(play)
    end = replay_actions(play.deal, it.actions, OEDMC, everybody)
    assert {win.hu.seat for win in end.wins} == set(play.ending.outcome.winners)
    assert not wrong_steps(it, play)
    assert not it.irregular
    assert not it.reversed_rivers


@pytest.mark.parametrize("seed", range(12))
def test_without_gaps_nothing_wrong_is_proved(seed: int) -> None:
    play = simulated(seed, hands=seed % 2 > 0)
    assert not wrong_steps(found(play), play)


@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.parametrize("seed", KONGS)
def test_plays_with_kongs_are_found_and_legal(seed: int, *, gaps: bool) -> None:
    play = random_play(seed, gaps=gaps)
    it = found(play)
    assert not wrong_steps(it, play)
    replay_actions(play.deal, it.actions, OEDMC, everybody)


@pytest.mark.parametrize(
    ("seed", "judge", "ends"),
    [
        *((seed, seldom, ("concealed_kong",)) for seed in (40, 53, 56)),
        *((seed, seldom, ("added_kong",)) for seed in (19, 21, 48)),
        *((seed, robbing, ("added_kong", "hu_on_discard")) for seed in (1, 4, 26)),
    ],
)
def test_each_kind_of_kong_is_found(seed: int, judge: Judge, ends: tuple[str, ...]) -> None:
    play = random_play(seed, judge, gaps=True)
    done = [action.do for action, _ in play.done]
    assert ends in [tuple(done[at : at + len(ends)]) for at in range(len(done))]
    it = found(play)
    assert set(ends) <= {step.action.do for step in it.steps}
    assert not wrong_steps(it, play)
    assert not it.irregular


@given(seed=st.integers(0, 100_000), judge=st.sampled_from([seldom, robbing]), overlooked=st.booleans())
def test_nothing_wrong_is_proved_of_random_plays_with_kongs(seed: int, judge: Judge, *, overlooked: bool) -> None:
    play = random_play(seed, judge, gaps=True)
    if overlooked:
        play = overlook_tile(play, Random(seed))
    it = found(play)
    assert not wrong_steps(it, play)
    if not overlooked:
        replay_actions(play.deal, it.actions, OEDMC, judge)


@pytest.mark.parametrize("seed", range(12))
def test_an_unread_tile_or_a_reversed_river_proves_nothing_wrong(seed: int) -> None:
    gaps = seed % 3 > 0
    play = simulated(seed % 10, hands=seed % 2 > 0, gaps=gaps)
    for change in (overlook_tile, reverse_river):
        assert not wrong_steps(found(change(play, Random(seed))), play)


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_reversed_river_is_reported(seed: int) -> None:
    play = simulated(seed, gaps=True)
    laid = {**play.laid, "south": replace(play.laid["south"], river=play.laid["south"].river[::-1])}
    assert found(play._replace(laid=laid)).reversed_rivers == ("south",)


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_river_readable_from_either_end_gives_the_same_play_in_both_directions(seed: int) -> None:
    play = simulated(seed, gaps=True)
    south = replace(play.laid["south"], either_end=True)
    opposite = replace(south, river=(*south.river, 0)[::-1])  # an empty place after the last tile is not a gap
    either = [found(play._replace(laid={**play.laid, "south": one})) for one in (south, opposite)]
    assert either[0] == either[1]
    assert not either[0].reversed_rivers
    assert not wrong_steps(either[0], play)


def test_a_play_without_claims_is_proved_completely() -> None:
    play = passed_play()
    it = found(play)
    assert (it.proved, it.plays, it.ltw) == (True, 1, True)
    assert all(step.certainty == "proved" for step in it.steps)


@pytest.mark.parametrize("gaps", [True, False])
def test_whether_the_last_tile_was_reached_is_answered_correctly_or_left_open(*, gaps: bool) -> None:
    answers = set[tuple[bool, bool | None]]()
    for seed in range(6):
        actions = played(seed).actions
        answers.add(
            (replay_actions(dealt(seed), actions, OEDMC, everybody).turns.ltw, found(simulated(seed, gaps=gaps)).ltw)
        )
    assert answers <= {(True, True), (False, False), (True, None), (False, None)}
    assert (False, False) in answers


@pytest.mark.parametrize("seed", SELF_DRAWN)
def test_self_drawn_is_proved_by_the_winner_s_hand_alone(seed: int) -> None:
    seen, unseen = (simulated(seed, hands=hands, gaps=True) for hands in (True, False))
    assert (found(seen).self_drawn, found(unseen).self_drawn) == (True, None)


@pytest.mark.parametrize("seed", WON_ON_A_DISCARD)
def test_a_win_on_a_discard_recorded_as_self_drawn_is_refused_or_left_open(seed: int) -> None:
    seen, unseen = (simulated(seed, hands=hands, gaps=True) for hands in (True, False))
    ending = Ending(Outcome("self_drawn", seen.ending.outcome.winners))
    assert code(seen, {}, ending) == "no_play_fits"
    assert found(unseen._replace(ending=ending)).self_drawn is None


def passed_play(out_of_turn: int | None = None) -> LaidTiles:
    """Return the play of a fixed deal by `pass_tiles`."""
    deal = new_deal(7, "east", "east", Random(3))
    return pass_tiles(deal, serial_order(deal, new_set(Random(4))), out_of_turn)


def pass_tiles(deal: Deal, order: Mapping[Seat, SerialTray], out_of_turn: int | None = None) -> LaidTiles:
    """Return a play of drawn and discarded tiles. After `out_of_turn` discards, the next player is skipped."""
    walls = {seat: [*chain.from_iterable(order[seat][1:])] for seat in SEATS}
    rivers: dict[Seat, list[int]] = {seat: [] for seat in SEATS}
    seat, thrown = deal.dealer, 0
    while True:
        rivers[seat].append(walls[seat].pop(0))
        thrown += 1
        if not walls[NEXT_SEAT[seat]]:
            break
        seat = NEXT_SEAT[seat]
        if thrown == out_of_turn:
            seat = NEXT_SEAT[seat]
    laid = {one: LaidSeat(tuple(rivers[one]), hand=tuple(order[one][0])) for one in SEATS}
    return LaidTiles(deal, order, laid, Ending(Outcome("draw", {})), ())


def test_a_draw_out_of_turn_is_found() -> None:
    play = passed_play(out_of_turn=9)
    it = found(play)
    assert (it.irregular, it.out_of_turn) == (True, "west")


def code(play: LaidTiles, laid: Mapping[Seat, LaidSeat], ending: Ending | None = None) -> str:
    with pytest.raises(RuleError) as refused:
        found(play._replace(laid={**play.laid, **laid}, ending=ending or play.ending))
    return refused.value.code


def test_an_impossible_layout_is_refused() -> None:
    play = passed_play()
    east, south = play.laid["east"], play.laid["south"]
    assert code(play, {"east": replace(east, river=(*east.river, east.river[0]))}) == "tile_laid_twice"
    assert code(play, {"east": replace(east, river=(*east.river[:-1], 137))}) == "unknown_serial"
    exchanged: dict[Seat, LaidSeat] = {
        "east": replace(east, river=(south.river[0], *east.river[1:])),
        "south": replace(south, river=(east.river[0], *south.river[1:])),
    }
    assert code(play, exchanged) == "tile_of_another"
    assert code(play, {"east": replace(east, river=east.river[3:], melds=(east.river[:3],))}) == "not_a_meld"
    mixed = (*east.river[10:], *east.river[:10])
    assert code(play, {"east": replace(east, river=mixed)}) == "no_play_fits"
    won = Ending(Outcome("discard", {"west": 8}, "east"), winning=play.laid["south"].river[-1])
    assert code(play, {}, won) == "winning_tile_unknown"
    unseen = tuple((None,) * 3 for _ in range(2))
    assert code(play, {"east": replace(east, melds=unseen)}) == "too_much_unread"
