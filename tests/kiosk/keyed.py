"""A table with its keyboard, for tests: keys come to the table, and what it refuses comes back to the keyboard."""

from typing import Generic, TypeVar

from kiosk.input import Keyboard
from kiosk.input.keyboard import PinChecker
from kiosk.table import Event, NotNow
from tests.kiosk.tables import Sitting

Sat = TypeVar("Sat", bound=Sitting)


class Keyed(Generic[Sat]):
    """Somebody who types at a sitting, and looks at the screen in between."""

    def __init__(self, sitting: Sat, pins: PinChecker | None = None) -> None:
        self.sitting = sitting
        self.keys = Keyboard(self._apply, pins)
        self.keys.follow(sitting.table)

    def _apply(self, event: Event) -> str | None:
        try:
            self.sitting.take(event)
        except NotNow as refusal:
            return refusal.code
        return None

    def type(self, *keys: str) -> None:
        """Type keys."""
        for key in keys:
            self.keys.follow(self.sitting.table)
            self.keys.key(key, self.sitting.table, self.sitting.wait())
        self.keys.follow(self.sitting.table)
