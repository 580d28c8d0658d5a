"""What a table shows of its device: the line at the foot, receipts of its plays, the time of day and the version."""

import time
from collections.abc import Callable

from broker.protocol import LogMessage, receipt_code, receipt_link
from broker.version import program_version
from kiosk.config import Config
from kiosk.journal import TableJournal
from kiosk.screens import ScreenView, StatusLine, with_receipt
from kiosk.server import ServerLink
from kiosk.table import Phase, Table
from kiosk.uplink import DeviceHealth, Uplink


class Receipts:
    """Receipts of one table's plays, made of what its journal holds."""

    def __init__(self, journal: TableJournal) -> None:
        self._journal = journal
        self._made: tuple[tuple[int, int, int], LogMessage | None, str | None] | None = None
        """Of which play, after how many facts; and its result with the code."""
        self._anchor: tuple[tuple[int, int], str] | None = None
        """Of which play, the first that covers it: later ones would change the QR code while it is scanned."""

    def code(self, state: Table) -> str | None:
        """Return the code while the play is recorded; None if its result does not stand."""
        play = state.play
        if play is None or state.phase is not Phase.RECORDED or state.outcome is None or state.ruled:
            return None
        asked = play.round, play.deal, self._journal.last_seq
        if self._made is None or self._made[0] != asked:
            result = self._journal.result(play.round, play.deal)
            self._made = asked, result, receipt_code(result) if result else None
        return self._made[2]

    def at_centre(self, facts: Uplink) -> bool | None:
        """Return whether the centre has the result whose code was given last; None: there is nothing to be said."""
        result = self._made[1] if self._made else None
        return facts.at_centre(result.seq) if result else None

    def anchor(self, state: Table, facts: Uplink) -> str:
        """Return the anchor of what the scorer has stored, the recorded play too; empty until it has."""
        play = (state.play.round, state.play.deal) if state.play else (0, 0)
        if self._anchor is None or self._anchor[0] != play:
            if facts.unsent or not facts.anchor:
                return ""
            self._anchor = play, facts.anchor
        return self._anchor[1]


def time_of_day() -> str:
    """Return the local time of day; for people only, nothing is decided by it."""
    return time.strftime("%H:%M")


class TableStatus:
    """What one table shows of its device."""

    def __init__(self, config: Config, journal: TableJournal, time_of_day: Callable[[], str] = time_of_day) -> None:
        self.table, self.scores, self._plain = config.table, config.screen.scores, config.broker.plain
        self._receipts = Receipts(journal)
        self._time_of_day = time_of_day

    def line(self, server: ServerLink, health: DeviceHealth, now: int) -> StatusLine:
        """Return the line at the foot. `now` in monotonic ns."""
        return StatusLine(
            server.link.up,
            server.facts.unsent,
            len(server.facts.refused),
            tuple(f"{part}: {code}" for part, code in sorted(health.codes.items())),
            self._time_of_day(),
            program_version(),
            scorer_silent=server.scorer.silent(now),
            plain=self._plain,
        )

    def with_receipt(self, view: ScreenView, state: Table, facts: Uplink) -> ScreenView:
        """Add the code of the receipt, and where to look it up if the event has made an address known."""
        code, plan = self._receipts.code(state), state.assignment
        anchor = self._receipts.anchor(state, facts) if code else ""
        link = receipt_link(plan.public_address, code, anchor) if code and plan else ""
        at_centre = self._receipts.at_centre(facts) if code else None
        return with_receipt(view, code, link, anchor, at_centre=at_centre)
