"""What a trainer's keys and clicks do: they press real buttons on mock pins, and lay trays under a simulated camera."""

from collections.abc import Callable
from typing import Final

from broker.contract.plans import PlannedPlay
from broker.contract.words import SEATS, Seat
from firmware.twins.fingers import Fingers
from kiosk.table.state import Table
from vision.twins.world import Laid, TrayTwin

KEYS: Final[dict[str, Seat]] = {f"f{at + 1}": seat for at, seat in enumerate(SEATS)}
"""A seat's button is pressed as long as its key, or a finger on it, stays down."""

LAY, LAY_WRONG = "f5", "f6"


class Hands:
    """The hands of four players, and of staff where `trays` are laid for a simulated camera."""

    def __init__(self, fingers: Fingers, trays: TrayTwin | None, state: Callable[[], Table]) -> None:
        self._fingers, self._trays, self._state = fingers, trays, state
        self._down: set[Seat] = set()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that do something."""
        return (*KEYS, *((LAY, LAY_WRONG) if self._trays is not None else ()))

    def down(self, key: str) -> None:
        """Begin what a key does."""
        seat = KEYS.get(key)
        if seat is not None and seat not in self._down:
            self._down.add(seat)
            self._fingers.push(seat)
        elif key in (LAY, LAY_WRONG):
            self._lay(wrong=key == LAY_WRONG)

    def up(self, key: str) -> None:
        """End it."""
        seat = KEYS.get(key)
        if seat in self._down:
            self._down.remove(seat)
            self._fingers.let_go(seat)

    def _lay(self, *, wrong: bool) -> None:
        """Lay the next tray that has no tick yet: right, or with two tiles exchanged."""
        state = self._state()
        if self._trays is None or state.play is None or not state.unverified:
            return
        self._trays.lay(_rows(state.play, state.unverified[0], wrong=wrong))


def _rows(play: PlannedPlay, seat: Seat, *, wrong: bool) -> list[list[Laid]]:
    rows = [[Laid(set=play.set, serial=serial) for serial in row] for row in play.order[seat]]
    if wrong:
        rows[0][4], rows[1][2] = rows[1][2], rows[0][4]
    return rows
