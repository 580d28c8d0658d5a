"""From a declaration to a result that four seats have accepted; nobody accepts by time-out."""

from dataclasses import replace

from msgspec.structs import replace as changed

from broker.contract.facts import Fact, Fine, Result
from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.outcomes import paid
from broker.rules.points import Outcome, check, kept
from broker.rules.profile import Profile
from kiosk.table import plan
from kiosk.table.authority import arbiter_of
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonPressed, FalseHuRuled, Reopened, ResultRefused, ValueEntered
from kiosk.table.state import SETTLE_NS, Phase, Table


def false_hu(state: Table, event: FalseHuRuled) -> tuple[Table, tuple[Fact, ...]]:
    """Fine the seat, in IMP and for this play; the other players' points are not touched (OEDMC). Raises NotNow."""
    by = arbiter_of(state)
    declarations = tuple(one for one in state.declarations if one.seat != event.seat)
    if len(declarations) == len(state.declarations):
        raise NotNow("did_not_declare", event.seat)
    if event.imp not in state.profile.false_hu.fines.value:
        raise NotNow("fine_not_in_profile", f"{event.imp} IMP")
    fines = {**state.fines, event.seat: Fine(imp=event.imp, reason=event.reason, author=by)}
    after = replace(state, declarations=declarations, fines=fines)
    return (after if declarations else replace(after, phase=Phase.PLAYING, since=event.at)), ()


def valued(state: Table, event: ValueEntered) -> tuple[Table, tuple[Fact, ...]]:
    """Take the win in as it was entered; only who declared can have won."""
    if event.win == "draw":
        raise NotNow("not_a_win", "a draw is told while playing")
    outcome = Outcome(event.win, event.winners, event.discarder)
    declared = {one.seat for one in state.declarations}
    if set(event.winners) != declared:
        raise NotNow("winners_differ", "every declaration is either valued or found false")
    rules = state.profile
    if not isinstance(rules, Profile):
        raise NotNow("not_now", "a hand of riichi is told by han and fu")
    outcome = kept(outcome, rules.payments)
    try:
        check(outcome, rules.payments)
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
    return show(state, outcome, event.at), ()


def show(state: Table, outcome: Outcome, at: int) -> Table:
    """Put a result before the four seats."""
    return replace(state, phase=Phase.ACCEPTING, since=at, outcome=outcome, agreed=frozenset())


def refused(state: Table, event: ResultRefused | Reopened) -> tuple[Table, tuple[Fact, ...]]:
    """Go back to where the result came from."""
    back = Phase.DECLARED if state.declarations or state.hand.asking else Phase.PLAYING
    hand = replace(state.hand, told=None)
    return replace(state, phase=back, since=event.at, outcome=None, agreed=frozenset(), hand=hand), ()


def accepted(state: Table, event: ButtonPressed) -> tuple[Table, tuple[Fact, ...]]:
    """Take one seat's acceptance; with the fourth the result stands and is told."""
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, while the screen changed")
    agreed = state.agreed | {event.seat}
    if len(agreed) < len(SEATS):
        return replace(state, agreed=agreed), ()
    recorded = replace(state, phase=Phase.RECORDED, since=event.at, agreed=agreed, played=plan.over(state))
    return recorded, (result(state),)


def result(state: Table) -> Result:
    """Give the result that the four seats are asked to accept. Raises NotNow where there is none."""
    if state.play is None or state.outcome is None:
        raise NotNow("no_play")
    ended = Result(
        round=state.play.round,
        deal=state.play.deal,
        profile=state.profile.id,
        players={seat: player.id for seat, player in state.players.items()},
        win=state.outcome.win,
        winners=dict(state.outcome.winners),
        discarder=state.outcome.discarder,
        points={},
        fines=dict(state.fines),
        hand=state.hand.told,
    )
    return changed(ended, points=paid(ended, state.play.dealer, state.profile))
