"""A planned deal under riichi rules: one hand, scored alone. All else is as in every duplicate play.

Nothing is laid down and nothing paid: no deposits, no counters. A long press is a call, as at other tables. A fault
costs IMP, as a false hu does.
"""

from dataclasses import replace

from msgspec.structs import replace as changed

from broker.contract.facts import Fact
from broker.contract.riichi import RiichiEvent
from broker.contract.words import SEATS
from broker.rules.errors import RuleError
from broker.rules.points import Outcome
from broker.rules.riichi.duplicate import scored
from broker.rules.riichi.profile import RiichiProfile
from kiosk.table import calls, claim, settle
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonPressed, ClaimWindowElapsed, HandTold, PlayEndedDrawn
from kiosk.table.riichi.one_hand import OneHand
from kiosk.table.state import SETTLE_NS, Phase, Table

Step = tuple[Table, tuple[Fact, ...]]


def ended(state: Table, event: PlayEndedDrawn) -> Step:
    """Take in that nobody won; who has won on the last tile presses now."""
    after, facts = claim.ended(state, event)
    return replace(after, hand=OneHand()), facts


def told(state: Table, event: HandTold) -> Step:
    """Take in that the hand is broken off. As with an empty wall, claims come first: whoever has won presses."""
    if event.told.kind != "abort":
        raise NotNow("not_a_win", "a win is told when it was declared")
    _outcome(state, event.told)
    after, _ = claim.ended(state, PlayEndedDrawn(at=event.at))
    return replace(after, hand=OneHand(ending=event.told)), ()


def elapsed(state: Table, event: ClaimWindowElapsed) -> Step:
    """Close the window: who declared shows the hand; else what was said to end the hand is to be accepted."""
    after, facts = claim.elapsed(state, event)
    after = replace(after, hand=OneHand())
    if after.phase is not Phase.ACCEPTING:
        return after, facts
    if state.hand.ending is not None:
        return _show(after, state.hand.ending, event.at), facts
    return replace(after, phase=Phase.DECLARED, outcome=None, hand=OneHand(asking=True)), facts


def tenpai(state: Table, event: ButtonPressed) -> Step:
    """Take in that a seat says to be tenpai, or after all not."""
    if not state.hand.asking:
        raise NotNow("press_after_window", f"{event.seat}, when the claim window was over")
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, while the screen changed")
    return replace(state, hand=replace(state.hand, tenpai=state.hand.tenpai ^ {event.seat})), ()


def shown(state: Table, event: HandTold) -> Step:
    """Take in how the hand ended: the value of each who declared; or, of a drawn one, that all have said."""
    kind, declared = event.told.kind, {one.seat for one in state.declarations}
    if kind in ("ron", "tsumo") and set(event.told.wins) == declared:
        return _show(state, event.told, event.at), ()
    if kind == "draw" and state.hand.asking:
        tenpai_seats = tuple(seat for seat in SEATS if seat in state.hand.tenpai)
        return _show(state, changed(event.told, tenpai=tenpai_seats), event.at), ()
    raise NotNow("winners_differ", "every declaration is either valued or found false")


def _show(state: Table, ending: RiichiEvent, at: int) -> Table:
    """Put what a hand is worth before the four seats."""
    outcome = _outcome(state, ending)
    return replace(settle.show(state, outcome, at), hand=replace(state.hand, ending=None, told=ending))


def _outcome(state: Table, ending: RiichiEvent) -> Outcome:
    """Give what it comes to. Raises NotNow with the code of what is wrong with it."""
    rules = state.profile
    if not isinstance(rules, RiichiProfile):
        raise NotNow("no_session", "this table plays no riichi")
    try:
        return scored(ending, calls.play_of(state).dealer, rules)[0]
    except RuleError as error:
        raise NotNow(error.code, error.text) from None
