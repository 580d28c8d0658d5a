"""A table with its keyboard, for tests: keys reach the table, and its refusals come back to the keyboard."""

from contextlib import AbstractContextManager, nullcontext
from typing import Generic, TypeVar

from broker.protocol import ArbiterPin
from kiosk.arbiter_pin import SealedTry
from kiosk.input import Keyboard
from kiosk.input.controls import PinChecker
from kiosk.table import Event, NotNow
from tests.kiosk.tables import Sitting

Sat = TypeVar("Sat", bound=Sitting)


class NoPin:
    """A table whose arbiters are admitted only by the desk."""

    known = False
    mark = None

    def submit(self, _: str) -> SealedTry:
        """Raise TypeError, as no PIN is set."""
        raise TypeError("a PIN is asked for where one is set")

    def take(self, _: ArbiterPin) -> None:
        """Ignore the message."""


class NoDrafts:
    """Drafts that are not saved."""

    draft = panel = ""

    def with_drafts(self, **_: str) -> AbstractContextManager[None]:
        """Save nothing."""
        return nullcontext()


class Keyed(Generic[Sat]):
    """Somebody who types at a sitting, with the screen updated in between."""

    def __init__(self, sitting: Sat, pins: PinChecker | None = None) -> None:
        self.sitting = sitting
        self.keys = Keyboard(self._apply, pins or NoPin(), NoDrafts())
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
