"""One finger on the screen, or a mouse: which target it has touched. Pure; times come in, ns.

A touch counts when the finger lets go on the target on which it came down. It counts only on what had been there for a
moment: a button that appears under a finger on its way to another was not meant.
"""

from collections.abc import Iterable
from typing import Final

from kiosk.screens.targets import Target

SEEN_NS: Final = 400_000_000
"""So long something must have been on the screen before somebody can mean it."""


class Finger:
    """What is offered to it, and what it does."""

    def __init__(self) -> None:
        self._offered: list[tuple[Target, int]] = []
        """With when each was first there."""
        self._on: Target | None = None

    @property
    def on(self) -> Target | None:
        """The target on which it came down and from which it has not been taken."""
        return self._on

    def offer(self, targets: Iterable[Target], now: int) -> None:
        """Take in what is on the screen now. What is there no more cannot be touched any more."""
        since = self._offered
        self._offered = [(one, next((at for old, at in since if old == one), now)) for one in targets]
        if self._on not in [one for one, _ in self._offered]:
            self._on = None

    def down(self, at: tuple[int, int], now: int) -> None:
        """Come down somewhere."""
        under = (one for one, since in self._offered if one.box.collidepoint(at) and now - since >= SEEN_NS)
        self._on = next(under, None)

    def up(self, at: tuple[int, int]) -> str | None:
        """Let go somewhere; give the key if that was a touch."""
        on, self._on = self._on, None
        return on.key if on is not None and on.box.collidepoint(at) else None
