"""A riichi session from its first hand to its last: from an event to its payments and the state after it.

Points are conserved, apart from those lying on the table. This module decides who deals next and with how many
counters, when the session is over, who is first, and who gets what lies on the table (MONTREAL: nanba-renchan,
extension).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from broker.errors import RuleError
from broker.i18n import N_
from broker.rules.riichi.events import (
    NO_POINTS,
    PLAYERS,
    ROUNDS,
    Abort,
    Chombo,
    DeadHand,
    ExhaustiveDraw,
    HandEnd,
    MinorFault,
    PlayerNo,
    PlayerPoints,
    Ron,
    SessionEnd,
    SessionEvent,
    SessionState,
    Tsumo,
    add_points,
    player_points,
)
from broker.rules.riichi.payments import (
    chombo_payment,
    deposits_laid,
    deposits_to,
    draw_payment,
    ron_payment,
    tsumo_payment,
    wins_that_count,
)
from broker.rules.riichi.profile import Renchan, RiichiProfile, SessionRules

HUNDRED = 100


def is_out(scores: PlayerPoints, rules: SessionRules) -> bool:
    """Return whether somebody's score ends the session at once."""
    return min(scores) < (1 if rules.scores.out.value == "zero_or_less" else 0)


def session_winners(scores: PlayerPoints, rules: SessionRules) -> tuple[PlayerNo, ...]:
    """Return the players in first place, several if they are tied."""
    places = session_places(scores, rules)
    return tuple(player for player in PLAYERS if places[player] == 1)


def session_places(scores: PlayerPoints, rules: SessionRules) -> tuple[int, ...]:
    """Return each player's place. Equal scores share it, or the earlier seat comes first."""
    by_seat = rules.end.ties.value == "seat_order"

    def rank(player: PlayerNo) -> tuple[int, int]:
        return -scores[player], player if by_seat else 0

    return tuple(1 + sum(rank(other) < rank(player) for other in PLAYERS) for player in PLAYERS)


def share_unclaimed(scores: PlayerPoints, points: int, rules: SessionRules) -> PlayerPoints:
    """Distribute the points that lie on the table among the winners.

    They are shared in hundreds, the smallest stick, and the rest goes to the winner first in seat order. This breaks no
    tie, since places follow from the scores before.
    """
    if rules.end.deposits.value == "nobody":
        points = 0
    first = session_winners(scores, rules)
    each = points // (HUNDRED * len(first)) * HUNDRED
    rest = points - each * len(first)
    return player_points((each if player in first else 0) + (rest if player == first[0] else 0) for player in PLAYERS)


HandOutcome = Literal["won", "drawn", "aborted"]


def dealer_stays(state: SessionState, outcome: HandOutcome, good: Collection[PlayerNo], rules: SessionRules) -> bool:
    """Return whether the dealer deals again. `good` are the players who won or were tenpai."""
    renchan: Renchan = (rules.deal.later_rounds if state.round else rules.deal.first_round).value
    if renchan == "never":
        return False
    if outcome == "won":
        return state.dealer in good
    if outcome == "aborted" or renchan == "until_dislodged":
        return True
    return renchan == "win_or_tenpai" and state.dealer in good


def state_after(
    state: SessionState, outcome: HandOutcome, good: Collection[PlayerNo], rules: SessionRules
) -> SessionState:
    """Return the state after a hand, given the state with its new scores and deposits.

    A win by others clears the counters; anything else adds one, even if the deal passes (MONTREAL).
    """
    again = dealer_stays(state, outcome, good, rules)
    cleared = outcome == "won" and state.dealer not in good
    counted = replace(state, counters=0 if cleared else state.counters + 1)
    return _ended(counted, outcome, rules, again=again)


def after_chombo(state: SessionState, offenders: Collection[PlayerNo], rules: SessionRules) -> SessionState:
    """Return the state after a grave fault. Counters stay, and a dealer who committed it loses the deal (MONTREAL)."""
    loses = state.dealer in offenders and rules.faults.dealer.value != "replays"
    if (
        rules.faults.dealer.value == "passes_unless_winning"
        and _is_last_deal(state, rules)
        and _can_finish(state, rules)
    ):
        # The dealer has paid. One who would still win at the end of the last round replays the hand.
        loses = loses and state.dealer not in session_winners(state.scores, rules)
    return _ended(state, "aborted", rules, again=not loses)


def _ended(state: SessionState, outcome: HandOutcome, rules: SessionRules, *, again: bool) -> SessionState:
    """Return the state of the next hand, or of the finished session if nobody may or need continue."""
    if is_out(state.scores, rules) or _decided(state, outcome, rules, again=again):
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


def _decided(state: SessionState, outcome: HandOutcome, rules: SessionRules, *, again: bool) -> bool:
    """Return whether somebody's score finishes the session now: after the last hand, or any hand of the extension."""
    if not _can_finish(state, rules) or (outcome != "won" and rules.length.ends_on.value == "won_hand"):
        return False
    if state.round >= rules.length.rounds.value:
        return True
    stops = rules.length.dealer_stops.value == "leading" and outcome != "aborted"
    leads = stops and session_winners(state.scores, rules) == (state.dealer,)
    return _is_last_deal(state, rules) and (leads or not again)


def _is_last_deal(state: SessionState, rules: SessionRules) -> bool:
    """Return whether this is the last deal of the rounds that are always played, or comes after it."""
    last_round = state.round == rules.length.rounds.value - 1
    return state.round >= rules.length.rounds.value or (last_round and state.dealer == PLAYERS[-1])


def _can_finish(state: SessionState, rules: SessionRules) -> bool:
    return max(state.scores) >= rules.scores.finish.value


@dataclass(frozen=True, slots=True)
class SettledEvent:
    """What an event pays to each player, including deposits; the state after it; the places if the session ended."""

    deltas: PlayerPoints
    state: SessionState
    places: tuple[int, ...] | None = None


def settle_event(state: SessionState, event: SessionEvent, rules: RiichiProfile) -> SettledEvent:
    """Settle an event; the given state is unchanged. Raises RuleError if the event is impossible."""
    if not isinstance(event, SessionEnd) and (state.over or is_out(state.scores, rules.session)):
        raise RuleError("session_over", "the session is over; only its end can be settled")
    if isinstance(event, HandEnd):
        _check_deposits(state, event.riichi, rules)
    return SETTLES[type(event)](state, event, rules)


def _check_deposits(state: SessionState, riichi: tuple[PlayerNo, ...], rules: RiichiProfile) -> None:
    poor = [player for player in riichi if state.scores[player] < rules.points.deposit.value]
    if poor:
        raise RuleError("riichi_without_points", f"player {poor[0]} has {state.scores[poor[0]]} points, too few")


def _ron(state: SessionState, ron: Ron, rules: RiichiProfile) -> SettledEvent:
    wins = wins_that_count(state, ron, rules)
    if not wins:  # a triple ron is refused and aborts the hand
        return _abort(state, Abort(reason="triple_ron", riichi=ron.riichi), rules)
    each = rules.session.ron.counters.value == "each"
    paid = (
        ron_payment(state, ron.loser, win, state.counters if each or not at else 0, rules)
        for at, win in enumerate(wins)
    )
    return _won(state, ron, add_points(*paid), [win.winner for win in wins], rules)


def _tsumo(state: SessionState, tsumo: Tsumo, rules: RiichiProfile) -> SettledEvent:
    return _won(state, tsumo, tsumo_payment(state, tsumo, rules), [tsumo.win.winner], rules)


def _won(
    state: SessionState, hand: Ron | Tsumo, paid: PlayerPoints, won: list[PlayerNo], rules: RiichiProfile
) -> SettledEvent:
    """Settle a win. The winner first in turn order takes what lies on the table."""
    taken = deposits_to(won[0], state.deposits + len(hand.riichi), rules)
    fault = NO_POINTS
    if hand.chombo and not rules.session.faults.win_cancels.value:
        fault = chombo_payment(state.dealer, Chombo(offenders=hand.chombo), rules.session)
    deltas = add_points(deposits_laid(hand.riichi, rules), paid, taken, fault)
    after = _with_deltas(state, deltas, 0)
    return _settled(deltas, state_after(after, "won", won, rules.session), rules)


def _draw(state: SessionState, draw: ExhaustiveDraw, rules: RiichiProfile) -> SettledEvent:
    if draw.nagashi and not rules.session.draw.nagashi.value:
        raise RuleError("nagashi_not_played", "nagashi does not count under these rules")
    deltas = add_points(deposits_laid(draw.riichi, rules), draw_payment(state.dealer, draw, rules.session))
    after = _with_deltas(state, deltas, state.deposits + len(draw.riichi))
    return _settled(deltas, state_after(after, "drawn", draw.tenpai, rules.session), rules)


def _abort(state: SessionState, abort: Abort, rules: RiichiProfile) -> SettledEvent:
    if abort.reason not in rules.session.draw.aborts.value:
        raise RuleError(
            "abort_not_played", N_("these rules have no abortive draw for {reason}", reason=abort.reason[:40])
        )
    deltas = deposits_laid(abort.riichi, rules)
    after = _with_deltas(state, deltas, state.deposits + len(abort.riichi))
    return _settled(deltas, state_after(after, "aborted", (), rules.session), rules)


def _chombo(state: SessionState, chombo: Chombo, rules: RiichiProfile) -> SettledEvent:
    """Settle grave faults. Riichi deposits of the hand would be returned, so they are never taken."""
    deltas = chombo_payment(state.dealer, chombo, rules.session)
    after = _with_deltas(state, deltas, state.deposits)
    return _settled(deltas, after_chombo(after, chombo.offenders, rules.session), rules)


def _minor_fault(state: SessionState, fault: MinorFault, rules: RiichiProfile) -> SettledEvent:
    times = rules.session.faults.minor.value
    deltas = deposits_laid(fault.offenders, rules, times)
    after = _with_deltas(state, deltas, state.deposits + times * len(fault.offenders))
    return _settled(deltas, replace(after, over=is_out(after.scores, rules.session)), rules)


def _end(state: SessionState, _: SessionEnd, rules: RiichiProfile) -> SettledEvent:
    given = rules.session.end.deposits.value != "nobody"
    deltas = share_unclaimed(state.scores, state.deposits * rules.points.deposit.value, rules.session)
    after = _with_deltas(state, deltas, 0 if given else state.deposits)
    return SettledEvent(deltas, replace(after, over=True), session_places(state.scores, rules.session))


def _with_deltas(state: SessionState, deltas: PlayerPoints, deposits: int) -> SessionState:
    return replace(state, scores=add_points(state.scores, deltas), deposits=deposits)


def _settled(deltas: PlayerPoints, state: SessionState, rules: RiichiProfile) -> SettledEvent:
    return SettledEvent(deltas, state, session_places(state.scores, rules.session) if state.over else None)


SETTLES: Final[Mapping[type, Callable[[SessionState, Any, RiichiProfile], SettledEvent]]] = {
    Ron: _ron,
    Tsumo: _tsumo,
    ExhaustiveDraw: _draw,
    Abort: _abort,
    Chombo: _chombo,
    MinorFault: _minor_fault,
    DeadHand: lambda state, _, rules: _settled(NO_POINTS, state, rules),
    SessionEnd: _end,
}
"""The function that settles each kind of event."""


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event, the state before it, and its result."""

    before: SessionState
    event: SessionEvent
    settled: SettledEvent


class EventRefused(RuleError):
    """An event that is impossible. `code` is that of its refusal."""

    def __init__(self, problem: RuleError, number: int) -> None:
        super().__init__(problem.code, f"event {number}: {problem.text}")
        self.number = number
        """Counted from 1."""


def first_state(rules: RiichiProfile) -> SessionState:
    """Return the state before the first hand."""
    start = rules.session.scores.start.value
    return SessionState("E", 0, 0, 0, (start, start, start, start))


def play_session(events: Iterable[SessionEvent], rules: RiichiProfile) -> tuple[RecordedEvent, ...]:
    """Settle a session's events. Raises EventRefused at the first impossible one."""
    state, entries = first_state(rules), list[RecordedEvent]()
    for number, event in enumerate(events, 1):
        try:
            settled = settle_event(state, event, rules)
        except RuleError as problem:
            raise EventRefused(problem, number) from None
        entries.append(RecordedEvent(state, event, settled))
        state = settled.state
    return tuple(entries)
