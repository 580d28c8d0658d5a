"""The code of a play's receipt, for its players to write down: of the result that four seats have confirmed here."""

from dataclasses import replace

from broker.contract.public_address import receipt_link
from broker.contract.receipt_code import receipt_code
from kiosk.journal import Journal
from kiosk.screens.shown import Shown
from kiosk.table.state import Phase, Table


class Receipts:
    """Codes of one table's plays, made of what its journal holds."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._made: tuple[tuple[int, int, int], str | None] | None = None
        """Of which play, after how many facts; and its code."""

    def with_code(self, now: Shown, state: Table) -> Shown:
        """Add the code, and where it is to be looked up if the event has made an address known."""
        code, plan = self.code(state), state.assignment
        link = receipt_link(plan.public_address, code) if code and plan else ""
        return replace(now, receipt=code, receipt_link=link)

    def code(self, state: Table) -> str | None:
        """Give the code while the play is recorded; None where its result does not stand."""
        play = state.play
        if play is None or state.phase is not Phase.RECORDED or state.outcome is None or state.ruled:
            return None
        asked = play.round, play.deal, self._journal.last_seq
        if self._made is None or self._made[0] != asked:
            told = self._journal.result(play.round, play.deal)
            self._made = asked, receipt_code(told) if told else None
        return self._made[1]
