"""Whether this device serves its table, and what becomes of the table's call: as the scorer tells. Pure."""

from typing import Final, Literal

from broker.contract.messages import Served

ELSEWHERE: Final = "another_device"
"""What is done here is refused: the table is served by another device."""

News = Literal["back", "say_again", ""]
"""We serve the table again; another device has spoken in our place, so we say again how we stand; nothing."""


class Duty:
    """What one device knows of it. Until it is told otherwise it serves its table: a table plays on offline."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._said: Served | None = None
        self._greeted = False

    @property
    def elsewhere(self) -> bool:
        """Whether another device serves the table."""
        return self._said is not None and self._said.device not in (None, self._device)

    @property
    def calls_before(self) -> int | None:
        """How many open calls are older than the table's own; None where there is none, or that is not known."""
        return self._said.calls_before if self._said and not self.elsewhere else None

    @property
    def arbiter_coming(self) -> bool:
        """Whether an arbiter is on the way to the table's call."""
        return self._said is not None and self._said.arbiter_coming and not self.elsewhere

    def hear(self, said: Served) -> News:
        """Take in what the scorer says."""
        was_elsewhere, refused = self.elsewhere, self._said.refused if self._said else None
        self._said = said
        if self.elsewhere:
            return ""
        if was_elsewhere:
            return "back"
        return "say_again" if said.refused not in (None, refused, self._device) else ""

    def greet(self) -> bool:
        """Say whether to say hello on a new connection: one that is refused does so once, then only when asked to."""
        first, self._greeted = not self._greeted, True
        return first or not self.elsewhere
