"""Restoring the walls and confirming them: a deal that was not verified is not played (MIL)."""

from dataclasses import replace
from typing import Final

from msgspec.structs import replace as replace_fields

from broker.contract.facts import Confirmed, Fact, Restored
from broker.contract.words import SEATS
from broker.rules.deal import form_hash
from kiosk.table import seating
from kiosk.table.calls import play_of
from kiosk.table.carrier import is_strange, of_another_deal
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonPressed, CarrierTakenApart, RowTicked, TrayChecked
from kiosk.table.play_clock import PlayClock
from kiosk.table.restoring.places import deal_of
from kiosk.table.restoring.work import Work, looked
from kiosk.table.restoring.work import ticked as by_hand
from kiosk.table.state import SETTLE_NS, Check, Phase, Table

MOST_REFUSALS: Final = 9999
"""As many as a fact can tell; a tray left under a flickering lamp must not make one that nobody can read."""


def checked(state: Table, event: TrayChecked) -> tuple[Table, tuple[Fact, ...]]:
    """Take in one look at a tray. It is right only when all 34 places were read and are as the deal wants them."""
    play = play_of(state)
    right = event.rows == play.order[event.seat] and not event.wrong
    other = None if right else of_another_deal(state, event.rows)
    strange = not right and other is None and is_strange(state, event)
    work = state.work if other or strange else looked(state.work, event, deal_of(play.order), right=right)
    if right:
        return _vouched(replace(state, work=work, check=None), event.at)
    unread = sum(serial is None for row in event.rows for serial in row)
    aside = replace_fields(event, at=0) if strange else None
    check = Check(event.seat, event.wrong, unread, None if other is None else other.deal, aside)
    if check == state.check and work == state.work:
        return state, ()
    refusals = min(state.refusals + (bool(event.wrong) and check != state.check), MOST_REFUSALS)
    return replace(state, check=check, work=work, refusals=refusals), ()


def taken_apart(state: Table, event: CarrierTakenApart) -> tuple[Table, tuple[Fact, ...]]:
    """Lay the deal from the tiles that are here: from now on every tray is work, whatever lies in it. Raises NotNow."""
    check = state.check
    if check is None or check.aside is None or check.of_another_set:
        raise NotNow("no_such_carrier", "no carrier of unknown tiles of this set has been shown")
    return checked(replace(state, taken_apart=True, check=None), replace_fields(check.aside, at=event.at))


def ticked(state: Table, event: RowTicked) -> tuple[Table, tuple[Fact, ...]]:
    """Take somebody's word that a row is right; it is told that nothing was verified."""
    play_of(state)
    if state.work.by.get(event.seat, "hand") != "hand":
        raise NotNow("tray_is_right", f"{event.seat} was read and is right")
    return _vouched(replace(state, work=by_hand(state.work, event)), event.at)


def _vouched(state: Table, at: int) -> tuple[Table, tuple[Fact, ...]]:
    """Go on to the players once all four trays are vouched for."""
    if len(state.verified) < len(SEATS):
        return state, ()
    play, by = play_of(state), state.work.verifier
    fact = Restored(
        round=play.round,
        deal=play.deal,
        verified=by != "hand",
        by=by,
        form=form_hash(play.order),
        refusals=state.refusals,
    )
    after, seated = seating.next_step(replace(state, work=Work(by=state.work.by)), at)
    return after, (fact, *seated)


def confirmed(state: Table, event: ButtonPressed) -> tuple[Table, tuple[Fact, ...]]:
    """Take one player's word that the own tiles are right; the fourth begins the play."""
    play = state.play
    if play is None:
        raise NotNow("no_play")
    if event.at < state.since + SETTLE_NS:
        raise NotNow("press_too_soon", f"{event.seat}, while the screen changed")
    agreed = state.agreed | {event.seat}
    if len(agreed) < len(SEATS):
        return replace(state, agreed=agreed), ()
    begun = replace(state, phase=Phase.PLAYING, since=event.at, agreed=frozenset(), play_clock=PlayClock(event.at))
    return begun, (Confirmed(round=play.round, deal=play.deal),)
