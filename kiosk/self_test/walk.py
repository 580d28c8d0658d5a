"""One self-test, step by step. Pure: reports, what the camera sees and keys come in; what is wrong comes out.

The keys: `x` (this button does not come; nothing is read; the picture is wrong), `enter` (the picture is right; go on
with what was found), `y` and `n` (did the scanner beep?), `r` (from the beginning), `q` (go on without the test).
Nothing goes on by itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from firmware.contact import TooShort
from firmware.hardware.self_test import Remark, SelfTest
from firmware.reports import SEATS, Health, NotScanned, Pressed, Report, Scanned, Seat
from kiosk.errors import ButtonExchanged, ButtonSilent, KioskError, PictureWrong, ScannerBeeps, ScannerSilent
from kiosk.sight import PictureSight
from kiosk.table.events import Verdict

Step = Literal["buttons", "scanner", "camera", "found"]

OF_A_SEAT: Final = ("button-", "contact-")


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something that is wrong: a part of the device as its health names it, and a code."""

    part: str
    code: str


@dataclass(frozen=True, slots=True)
class Over:
    """The test is over."""

    verdict: Verdict
    found: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What is to be seen of a test."""

    step: Step = "buttons"
    scanner: bool = False
    """Whether there is one to be tried."""
    asked: Seat | None = None
    """Whose button is to be pressed."""
    right: frozenset[Seat] = frozenset()
    """Seats whose button came when it was asked for."""
    wrong: frozenset[Seat] = frozenset()
    """Seats that were given up."""
    remark: Remark | None = None
    """What the buttons have told last that is no press as it was asked for."""
    scan: Scanned | NotScanned | None = None
    """What was scanned last."""
    picture: PictureSight = PictureSight()  # noqa: RUF009 - frozen
    found: tuple[Finding, ...] = ()
    """What is wrong; known at the last step."""


class Walk:
    """One self-test. Times are ns of the reports' clock."""

    def __init__(self, now: int, *, scanner: bool, hides: bool = False) -> None:
        """Take whether there is a scanner, and whether a play is paused.

        Then what a contact does that nobody has pressed for the test would tell of a declaration, and is hidden.
        """
        self._steps: tuple[Step, ...] = ("buttons", *(("scanner",) if scanner else ()), "camera", "found")
        self._hides = hides
        self._came: set[str] = set()
        self._begin(now)

    def _begin(self, now: int) -> None:
        self._buttons = SelfTest(None)
        self._buttons.begin(now)
        self._mistaken: dict[Seat, str] = {}
        """Whose button came in the place of a seat's."""
        self._own: list[Finding] = []
        self.seen = Seen(scanner="scanner" in self._steps, asked=self._buttons.asked)

    # ---- what the devices tell --------------------------------------------------------------

    def take(self, told: Report | TooShort, now: int) -> None:
        """Take in what a device tells."""
        match told:
            case Scanned() | NotScanned():
                if self.seen.step == "scanner":
                    self.seen = replace(self.seen, scan=told)
            case _ if not self._hidden(told):
                self._remarked(self._buttons.take(told, now))

    def _hidden(self, told: Report | TooShort) -> bool:
        """Say whether this may tell of a press in the play that is paused."""
        if isinstance(told, Pressed):
            self._came.add(told.seat)
        if not self._hides:
            return False
        if isinstance(told, Health):
            return told.part.startswith(OF_A_SEAT) and told.part.partition("-")[2] not in self._came
        return isinstance(told, TooShort) and told.seat not in self._came

    def _remarked(self, remarks: Iterable[Remark]) -> None:
        for remark in remarks:
            if remark.said == "wrong_seat":
                self._mistaken[remark.seat] = remark.other
            last = None if remark.said in ("right", "asked", "timed_out") else remark
            self.seen = replace(self.seen, remark=last)
        right = frozenset(self._buttons.right)
        asked = self._buttons.asked
        done = frozenset(SEATS[: SEATS.index(asked)] if asked else SEATS)
        self.seen = replace(self.seen, asked=asked, right=right, wrong=done - right)
        if asked is None and self.seen.step == "buttons":
            self._next()

    def saw(self, picture: PictureSight) -> None:
        """Take in what the camera sees."""
        self.seen = replace(self.seen, picture=picture)

    # ---- what staff say ---------------------------------------------------------------------

    def key(self, key: str, now: int) -> Over | None:
        """Take one key; one that means nothing here does nothing."""
        if key == "q":
            return Over("skipped", self.own)
        if key == "r":
            self._begin(now)
            return None
        if self.seen.step == "found":
            return self._over() if key == "enter" else None
        self._answers(key, now)
        return None

    def _answers(self, key: str, now: int) -> None:
        match self.seen.step, key:
            case "buttons", "x":
                self._remarked(self._buttons.give_up(now))
            case "scanner", "x":
                self._note("scanner", ScannerSilent)
            case "scanner", "y" if self.seen.scan is not None:
                self._note("scanner", ScannerBeeps)
            case "camera", "x":
                self._note("camera", PictureWrong)
            case ("scanner", "n") | ("camera", "enter"):
                if self.seen.step == "camera" or self.seen.scan is not None:
                    self._next()

    def _note(self, part: str, what: type[KioskError]) -> None:
        self._own.append(Finding(part, what.code))
        self._next()

    def _next(self) -> None:
        step = self._steps[self._steps.index(self.seen.step) + 1]
        self.seen = replace(self.seen, step=step, remark=None, picture=PictureSight())

    # ---- what came of it --------------------------------------------------------------------

    @property
    def own(self) -> tuple[Finding, ...]:
        """What the test itself has found out."""
        return (*(Finding(f"button-{seat}", self._why(seat)) for seat in SEATS if seat in self.seen.wrong), *self._own)

    def _why(self, seat: Seat) -> str:
        return ButtonExchanged.code if seat in self._mistaken else ButtonSilent.code

    def know(self, others: Iterable[Finding]) -> None:
        """Add what the device knows otherwise, at the last step."""
        known = (one for one in others if not (self._hides and one.part.startswith(OF_A_SEAT)))
        self.seen = replace(self.seen, found=(*dict.fromkeys((*self.own, *known)),))

    def _over(self) -> Over:
        found = self.seen.found
        return Over("failed" if found else "passed", found)
