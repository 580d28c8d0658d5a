"""Restoring and confirming the walls: the right carrier, every tray verified, else the deal is not played (MIL)."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from msgspec.structs import replace as replace_fields

from broker.protocol import SEATS, Confirmed, Fact, PlannedPlay, Restored
from broker.rules import form_hash
from kiosk.table import plan
from kiosk.table.events import ButtonPressed, CarrierTakenApart, NotNow, RowTicked, TrayChecked
from kiosk.table.state import Phase, PlayClock, Table, TrayProblem, current_play, with_acceptance
from kiosk.table.trays import Work, is_foreign, serial_by_place, work_after_look, work_after_tick

ENOUGH: Final = 17
"""Places of a tray, of 34. Two deals of a set agree in a quarter of a place on average: so many are no accident."""

Rows = tuple[tuple[int | None, ...], ...]


def agreeing_places(rows: Rows, play: PlannedPlay) -> int:
    """Return in how many places a tray lies as one of the trays of a play."""
    return max(_same(rows, play.order[seat]) for seat in SEATS)


def of_another_deal(state: Table, rows: Rows) -> PlannedPlay | None:
    """Return the play of this table whose tray this is, where it is not the present one's."""
    if state.assignment is None or state.play is None or agreeing_places(rows, state.play) >= ENOUGH:
        return None
    others = (one for one in state.assignment.plays if one.deal != state.play.deal)
    best = max(others, key=lambda one: agreeing_places(rows, one), default=None)
    return best if best is not None and agreeing_places(rows, best) >= ENOUGH else None


def is_unknown_carrier(state: Table, look: TrayChecked) -> bool:
    """Return whether a tray is of no deal that this table knows: of what lies in it less than half belongs there.

    A quarter would by chance. A tray that staff have begun here is theirs to finish, whatever they put into it.
    """
    if state.play is None or state.taken_apart or _begun(state, look):
        return False
    own = {serial for row in state.play.order[look.seat] for serial in row}
    lying = [
        not is_foreign(look, (row, col)) and serial in own
        for row, line in enumerate(look.rows)
        for col, serial in enumerate(line)
        if serial is not None or is_foreign(look, (row, col))
    ]
    return len(lying) >= ENOUGH and 2 * sum(lying) < len(lying)


def _same(rows: Rows, tray: Iterable[Iterable[int]]) -> int:
    return sum(
        one == other
        for row, planned in zip(rows, tray, strict=False)
        for one, other in zip(row, planned, strict=False)
        if one is not None
    )


def _begun(state: Table, look: TrayChecked) -> bool:
    """A tray that was seen to be ours and is not right yet; one that was right may have been changed for another."""
    return look.seat not in state.work.by and any(one.seat == look.seat for one in state.work.looks)


MOST_REFUSALS: Final = 9999
"""As many as a fact can tell; a tray left under a flickering lamp must not make one that nobody can read."""


def on_tray_checked(state: Table, event: TrayChecked) -> tuple[Table, tuple[Fact, ...]]:
    """Take in one look at a tray. It is right only when all 34 places were read and are as the deal wants them."""
    play = current_play(state)
    right = event.rows == play.order[event.seat] and not event.wrong
    other = None if right else of_another_deal(state, event.rows)
    strange = not right and other is None and is_unknown_carrier(state, event)
    work = (
        state.work if other or strange else work_after_look(state.work, event, serial_by_place(play.order), right=right)
    )
    if right:
        return _verified(replace(state, work=work, check=None), event.at)
    unread = sum(serial is None for row in event.rows for serial in row)
    aside = replace_fields(event, at=0) if strange else None
    check = TrayProblem(event.seat, event.wrong, unread, None if other is None else other.deal, aside)
    if check == state.check and work == state.work:
        return state, ()
    refusals = min(state.refusals + (bool(event.wrong) and check != state.check), MOST_REFUSALS)
    return replace(state, check=check, work=work, refusals=refusals), ()


def on_carrier_taken_apart(state: Table, event: CarrierTakenApart) -> tuple[Table, tuple[Fact, ...]]:
    """Lay the deal from the tiles that are here: from now on every tray is work, whatever lies in it. Raises NotNow."""
    check = state.check
    if check is None or check.aside is None or check.of_another_set:
        raise NotNow("no_such_carrier", "no carrier of unknown tiles of this set has been shown")
    return on_tray_checked(replace(state, taken_apart=True, check=None), replace_fields(check.aside, at=event.at))


def on_row_ticked(state: Table, event: RowTicked) -> tuple[Table, tuple[Fact, ...]]:
    """Take somebody's word that a row is right; it is told that nothing was verified."""
    current_play(state)
    if state.work.by.get(event.seat, "hand") != "hand":
        raise NotNow("tray_is_right", f"{event.seat} was read and is right")
    return _verified(replace(state, work=work_after_tick(state.work, event)), event.at)


def _verified(state: Table, at: int) -> tuple[Table, tuple[Fact, ...]]:
    """Go on to the players once all four trays are vouched for."""
    if len(state.verified) < len(SEATS):
        return state, ()
    play, by = current_play(state), state.work.verifier
    fact = Restored(
        round=play.round,
        deal=play.deal,
        verified=by != "hand",
        by=by,
        form=form_hash(play.order),
        refusals=state.refusals,
    )
    after, seated = plan.after_restoring(replace(state, work=Work(by=state.work.by)), at)
    return after, (fact, *seated)


def on_confirming_press(state: Table, event: ButtonPressed) -> tuple[Table, tuple[Fact, ...]]:
    """Take one player's confirmation that their tiles are right; the fourth begins the play."""
    play = state.play
    if play is None:
        raise NotNow("no_play")
    state = with_acceptance(state, event)
    if len(state.agreed) < len(SEATS):
        return state, ()
    begun = replace(state, phase=Phase.PLAYING, since=event.at, agreed=frozenset(), play_clock=PlayClock(event.at))
    return begun, (Confirmed(round=play.round, deal=play.deal),)
