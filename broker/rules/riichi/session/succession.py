"""Who deals next, with how many counters, and whether the session is over (MONTREAL: nanba-renchan, extension)."""

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from broker.rules.riichi.session.ending import out, winners
from broker.rules.riichi.session.settings import Renchan, SessionRules
from broker.rules.riichi.session.state import PLAYERS, ROUNDS, Player, State

Outcome = Literal["won", "drawn", "aborted"]


def stays(state: State, outcome: Outcome, good: Collection[Player], rules: SessionRules) -> bool:
    """Say whether the dealer deals again. `good` are those who won, or were tenpai."""
    renchan: Renchan = (rules.deal.later_rounds if state.round else rules.deal.first_round).value
    if renchan == "never":
        return False
    if outcome == "won":
        return state.dealer in good
    if outcome == "aborted" or renchan == "until_dislodged":
        return True
    return renchan == "win_or_tenpai" and state.dealer in good


def after(state: State, outcome: Outcome, good: Collection[Player], rules: SessionRules) -> State:
    """Give the state after a hand; `state` has its scores and deposits already.

    A win by others clears the counters; anything else adds one, also where the deal passes (MONTREAL).
    """
    again = stays(state, outcome, good, rules)
    cleared = outcome == "won" and state.dealer not in good
    counted = replace(state, counters=0 if cleared else state.counters + 1)
    return _ended(counted, outcome, rules, again=again)


def after_chombo(state: State, offenders: Collection[Player], rules: SessionRules) -> State:
    """Give the state after a grave fault: the counters stay, a dealer who committed it loses the deal (MONTREAL)."""
    loses = state.dealer in offenders and rules.faults.dealer.value != "replays"
    if rules.faults.dealer.value == "passes_unless_winning" and _would_win(state, rules):
        loses = False
    return _ended(state, "aborted", rules, again=not loses)


def _would_win(state: State, rules: SessionRules) -> bool:
    """Say whether the dealer has paid and would still win by the end of the last round: then the hand is replayed."""
    return _last(state, rules) and _enough(state, rules) and state.dealer in winners(state.scores, rules)


def _ended(state: State, outcome: Outcome, rules: SessionRules, *, again: bool) -> State:
    """Give the next hand, or the end where nobody may or need go on."""
    if out(state.scores, rules) or _decided(state, outcome, rules, again=again):
        return replace(state, over=True)
    if again:
        return state
    passed = replace(state, dealer=(state.dealer + 1) % len(PLAYERS))
    if passed.dealer:
        return passed
    rounds = min(rules.length.rounds.value + rules.length.extension.value, len(ROUNDS))
    if state.round + 1 >= rounds:
        return replace(state, over=True)
    return replace(passed, round_wind=ROUNDS[state.round + 1])


def _decided(state: State, outcome: Outcome, rules: SessionRules, *, again: bool) -> bool:
    """Say whether somebody has enough when that counts: after the last hand, or after any of the extension."""
    if not _enough(state, rules) or (outcome != "won" and rules.length.ends_on.value == "won_hand"):
        return False
    if state.round >= rules.length.rounds.value:
        return True
    stops = rules.length.dealer_stops.value == "leading" and outcome != "aborted"
    leads = stops and winners(state.scores, rules) == (state.dealer,)
    return _last(state, rules) and (leads or not again)


def _last(state: State, rules: SessionRules) -> bool:
    """Say whether this is the last deal of the rounds that are played in any case, or comes after it."""
    last_round = state.round == rules.length.rounds.value - 1
    return state.round >= rules.length.rounds.value or (last_round and state.dealer == PLAYERS[-1])


def _enough(state: State, rules: SessionRules) -> bool:
    return max(state.scores) >= rules.scores.finish.value
