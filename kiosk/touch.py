"""What fingers mean to a table: reports of buttons in, events out.

In a play a press counts from its edge, and is journalled at once. Where a press agrees to something (the tiles are in
order, the result is right) it counts when the finger lets go: held for two seconds it is a call for the arbiter,
perhaps over this very result, and what four have accepted cannot be taken back.
"""

from typing import Final

from firmware.reports import Held, Pressed, Released, Seat
from kiosk.table.events import ButtonHeld, ButtonPressed, ButtonReleased, Event
from kiosk.table.state import Phase

AGREEING: Final = (Phase.RESTORING, Phase.SEATING, Phase.CONFIRMING, Phase.ACCEPTING)


class Touch:
    """Four fingers on four buttons."""

    def __init__(self) -> None:
        self._agreeing: dict[Seat, int] = {}
        """Who is pressing to agree, and since when."""

    def event(self, report: Pressed | Released | Held, phase: Phase) -> Event | None:
        """Give what has happened, if anything has yet."""
        since = self._agreeing.pop(report.seat, None)
        match report:
            case Pressed(seat, at) if phase in AGREEING:
                self._agreeing[seat] = at
                return None
            case Pressed(seat, at):
                return ButtonPressed(at=at, seat=seat)
            case Held(seat, at):
                return ButtonHeld(at=at, seat=seat)
            case Released(seat, at):
                return ButtonReleased(at=at, seat=seat) if since is None else ButtonPressed(at=since, seat=seat)
