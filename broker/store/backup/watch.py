"""What is said of copies, and when. Pure: what happened goes in with its time, reports come out."""

from dataclasses import dataclass, field
from typing import Final

REMIND_MS: Final = 30 * 60_000
"""What stays wrong is said again after so long."""

LATE: Final = 3
"""A copy that takes so many times the pause between two is stuck: a stick that hangs answers nothing at all."""


@dataclass(frozen=True, slots=True)
class Report:
    """Something for the arbiters: copies fail, or are made again."""

    well: bool
    text: str


@dataclass(slots=True)
class Watch:
    """The copies of one event, one every `pause_ms`."""

    pause_ms: int
    _good_at: int
    """When the last copy was made (or we began)."""
    _said: Report | None = None
    _said_at: int = 0
    _away: bool = field(default=False)

    def made(self, now: int) -> Report | None:
        """A copy was made and read back."""
        self._good_at = now
        trouble, self._said = self._said, None
        return Report(well=True, text="copies of the event are made again") if trouble else None

    def failed(self, text: str, now: int) -> Report | None:
        """A copy could not be made."""
        report = Report(well=False, text=text)
        if report == self._said and 0 <= now - self._said_at < REMIND_MS:
            return None
        self._said, self._said_at = report, now
        return report

    def looked(self, now: int) -> Report | None:
        """Nothing was heard until now."""
        if self._said is None and now - self._good_at > LATE * self.pause_ms:
            return self.failed("the last copy does not come to an end: the disk does not answer", now)
        return None
