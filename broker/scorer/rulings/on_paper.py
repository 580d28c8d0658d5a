"""Where a table's own result differs from what was keyed from its paper sheet: told, and left to an arbiter."""

from broker.contract.facts import Result
from broker.contract.messages import LogMessage
from broker.contract.rulings import Correct
from broker.scorer.room import Room


def on_paper(room: Room, message: LogMessage) -> bool:
    """Say whether a table's result contradicts a sheet that counts."""
    result = message.fact
    if not isinstance(result, Result):
        return False
    sheets = (
        entry.decision
        for entry in room.book.of((message.table, result.round))
        if isinstance(entry.decision, Correct) and entry.decision.source == "paper"
    )
    fines = {result.players[seat]: fine.imp for seat, fine in result.fines.items()}
    entered = result.win, result.winners, result.discarder, fines
    return any((sheet.win, sheet.winners, sheet.discarder, sheet.fines) != entered for sheet in sheets)
