"""The self-test in which each player presses once. Pure: the buttons' reports and the time in, remarks out.

A seat passes when its button is pressed after the request. Anything else that happens meanwhile causes a remark, and
the seat can still pass: only a timeout fails it.
"""

from dataclasses import dataclass
from typing import Final, Literal

from firmware.presses import MS
from firmware.reports import SEATS, Health, Pressed, Report, Seat, TooShort

RemarkCode = Literal["asked", "right", "wrong_seat", "too_short", "ill", "well", "timed_out"]

REMARKS: Final[dict[RemarkCode, str]] = {
    "asked": "{asked}: press your button once, now",
    "right": "{asked}: passed",
    "wrong_seat": "{asked} was asked, but {other}'s button was pressed: wrong player, or plugs swapped?",
    "too_short": "{other}: {ms} ms is too short for a finger: press for longer; if nobody pressed, check the cable",
    "ill": "{other}: {code}: {why}",
    "well": "{other}: fault cleared",
    "timed_out": "{asked}: nothing was pressed in time",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark made while `seat` is asked, with its values, so that a screen can translate it."""

    seat: Seat
    said: RemarkCode
    text: str
    """The sentence in English."""
    other: str = ""
    """The subject of the remark if it may differ from `seat`: a seat, or `buttons` for the whole box."""
    code: str | None = None
    """The fault code if the subject is faulty."""
    ms: float | None = None
    """The length of a pulse that was too short."""


class SelfTest:
    """Asks one seat after the other. Times are ns of the reports' clock."""

    def __init__(self, wait_ns: int | None) -> None:
        """Set the time that each seat has; None: until the caller gives up on it."""
        self._wait_ns, self._since = wait_ns, 0
        self._remaining = [*SEATS]
        self._faulty: set[str] = set()
        """Parts that have reported a fault and no recovery."""
        self.passed_seats: list[Seat] = []
        """Seats that have passed."""

    @property
    def asked(self) -> Seat | None:
        """The seat that is asked; None: the test is over."""
        return self._remaining[0] if self._remaining else None

    @property
    def due(self) -> int | None:
        """When the seat that is asked fails; None: never by itself."""
        return None if self._wait_ns is None else self._since + self._wait_ns

    @property
    def passed(self) -> bool:
        """Whether every button works and no part is faulty."""
        return self.passed_seats == [*SEATS] and not self._faulty

    def begin(self, now: int) -> list[Remark]:
        """Ask the first seat."""
        self._since = now
        return [self._remark("asked")]

    def pass_time(self, now: int) -> list[Remark]:
        """Let time pass until `now`."""
        return self.give_up(now) if self.due is not None and now >= self.due else []

    def give_up(self, now: int) -> list[Remark]:
        """Fail the seat that is asked, and go on with the next."""
        return self._next(now, "timed_out") if self.asked else []

    def take(self, report: Report | TooShort, now: int) -> list[Remark]:
        """Process a report from the buttons."""
        match report:
            case Pressed(seat, at) if self.asked and at >= self._since:
                return self._next(now, "right") if seat == self.asked else [self._remark("wrong_seat", other=seat)]
            case TooShort(seat) if self.asked:
                return [self._remark("too_short", other=seat, ms=round(report.lasted_ns / MS, 1))]
            case Health(part, code, text):
                return self._health(part, code, text)
        return []

    def _health(self, part: str, code: str | None, text: str) -> list[Remark]:
        was_faulty, other = part in self._faulty, part.removeprefix("button-").removeprefix("contact-")
        (self._faulty.add if code else self._faulty.discard)(part)
        if self.asked is None:
            return []
        if code:
            return [self._remark("ill", other=other, code=code, why=text)]
        return [self._remark("well", other=other)] if was_faulty else []

    def _next(self, now: int, said: RemarkCode) -> list[Remark]:
        """End the turn of the seat that is asked, and ask the next."""
        done = self._remark(said)
        if said == "right":
            self.passed_seats.append(self._remaining[0])
        del self._remaining[0]
        self._since = now
        return [done, self._remark("asked")] if self._remaining else [done]

    def _remark(
        self, said: RemarkCode, *, other: str = "", code: str | None = None, ms: float | None = None, why: str = ""
    ) -> Remark:
        seat = self._remaining[0]
        text = REMARKS[said].format(asked=seat, other=other, code=code, ms=ms, why=why)
        return Remark(seat, said, text, other, code, ms)
