"""Restoring the walls and confirming them: a deal that was not verified is not played (MIL)."""

from dataclasses import replace
from typing import Final

from broker.contract.messages import Confirmed, Fact, Restored
from broker.contract.words import SEATS
from broker.rules.deal import form_hash
from kiosk.table import seating
from kiosk.table.carrier import of_another_deal
from kiosk.table.errors import NotNow
from kiosk.table.events import ButtonPressed, TrayChecked
from kiosk.table.state import SETTLE_NS, Check, Phase, Table

MOST_REFUSALS: Final = 9999
"""As many as a fact can tell; a tray left under a flickering lamp must not make one that nobody can read."""


def checked(state: Table, event: TrayChecked) -> tuple[Table, tuple[Fact, ...]]:
    """Take in one look at a tray. It is right only when all 34 places were read and are as the deal wants them."""
    play = state.play
    if play is None:
        raise NotNow("no_play")
    if event.rows != play.order[event.seat] or event.wrong:
        return _found_wrong(state, event), ()
    verified = state.verified | {event.seat}
    after = replace(state, verified=verified, check=None)
    if len(verified) < len(SEATS):
        return after, ()
    fact = Restored(
        round=play.round, deal=play.deal, verified=True, form=form_hash(play.order), refusals=state.refusals
    )
    after, seated = seating.next_step(after, event.at)
    return after, (fact, *seated)


def _found_wrong(state: Table, event: TrayChecked) -> Table:
    """Keep what is wrong; the same look again changes nothing. A tray that was right before is no more."""
    unread = sum(serial is None for row in event.rows for serial in row)
    other = of_another_deal(state, event.rows)
    check = Check(event.seat, event.wrong, unread, None if other is None else other.deal)
    if check == state.check:
        return state
    refusals = min(state.refusals + bool(event.wrong), MOST_REFUSALS)
    return replace(state, check=check, verified=state.verified - {event.seat}, refusals=refusals)


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
    begun = replace(state, phase=Phase.PLAYING, since=event.at, agreed=frozenset())
    return begun, (Confirmed(round=play.round, deal=play.deal),)
