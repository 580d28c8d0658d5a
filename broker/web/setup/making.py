"""A movement that is being made, which may take a minute: in a thread of its own, whoever waits for it or not."""

import threading
from collections.abc import Callable
from typing import Final

from broker.event.structure import Structure
from broker.web import REFUSALS, DeskFailed, Form

PATH: Final = "/setup/making"

AT_ONCE_S: Final = 1.0
"""A page waits so long for a movement before it shows how far that is: a small one is there by then."""


class Making:
    """One movement that is made, and what came of it."""

    def __init__(self, form: Form, wish: Structure) -> None:
        """`form`: what was typed, which is shown again where the movement is refused."""
        self.form, self.wish = form, wish
        self.percent = 0
        self.error: Exception | None = DeskFailed("no movement was made; the desk's log says why")
        self.seen = False
        """Whether somebody has been shown what came of it."""
        self._ended = threading.Event()

    def start(self, make: Callable[[Callable[[float], None]], object]) -> None:
        """Make it: `make` is given what is told which part of its time is over."""
        threading.Thread(target=self._run, args=(make,), name="movement", daemon=True).start()

    def ended(self, within_s: float = 0) -> bool:
        """Return whether it is made, or refused, within so many seconds."""
        return self._ended.wait(within_s)

    def _run(self, make: Callable[[Callable[[float], None]], object]) -> None:
        try:
            make(self._tell)
            self.error = None
        except REFUSALS as error:
            self.error = error
        finally:
            self._ended.set()

    def _tell(self, over: float) -> None:
        self.percent = int(100 * over)
