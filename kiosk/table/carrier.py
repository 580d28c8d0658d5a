"""Which deal's carrier this is: told by where its tiles lie, so that the wrong one is noticed at its first tray.

A deal of this table's own plan is named; of any other the table knows no order, and says that it is not the one.
"""

from collections.abc import Iterable
from typing import Final

from broker.contract.plans import PlannedPlay
from broker.contract.words import SEATS
from kiosk.table.errors import NotNow
from kiosk.table.events import TrayChecked
from kiosk.table.restoring.lying import is_foreign
from kiosk.table.state import Table

ENOUGH: Final = 17
"""Places of a tray, of 34. Two deals of a set agree in a quarter of a place on average: so many are no accident."""

Rows = tuple[tuple[int | None, ...], ...]


def agreeing(rows: Rows, play: PlannedPlay) -> int:
    """Give in how many places a tray lies as one of the trays of a play."""
    return max(_same(rows, play.order[seat]) for seat in SEATS)


def of_another_deal(state: Table, rows: Rows) -> PlannedPlay | None:
    """Give the play of this table whose tray this is, where it is not the present one's."""
    if state.assignment is None or state.play is None or agreeing(rows, state.play) >= ENOUGH:
        return None
    others = (one for one in state.assignment.plays if one.deal != state.play.deal)
    best = max(others, key=lambda one: agreeing(rows, one), default=None)
    return best if best is not None and agreeing(rows, best) >= ENOUGH else None


def is_strange(state: Table, look: TrayChecked) -> bool:
    """Say whether a tray is of no deal that this table knows: of what lies in it less than half belongs there.

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


def brought(state: Table, round_: int) -> int:
    """Give the index of a play that may be played before its turn. Raises NotNow."""
    plays = state.assignment.plays if state.assignment else ()
    index = next((at for at, one in enumerate(plays) if one.round == round_), None)
    if index is None or index == state.index:
        raise NotNow("no_such_play", f"round {round_}")
    if round_ in {one.round for one in state.played}:
        raise NotNow("deal_played_here", f"round {round_}")
    if _ids(plays[index]) != {player.id for player in state.players.values()}:
        raise NotNow("other_players", f"round {round_} is for other players than sit here")
    return index


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


def _ids(play: PlannedPlay) -> set[str]:
    return {player.id for player in play.players.values()}
