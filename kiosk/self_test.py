"""The self-test of the hardware on the table's screen: buttons, scanner, camera, and what the device says of itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from firmware.hardware.inventory import HardwareTrouble, board_troubles, clock_troubles
from firmware.hardware.self_test import Remark, SelfTest
from firmware.reports import SEATS, Health, NotScanned, Pressed, Released, Report, Scanned, Seat, TooShort
from kiosk.camera.observations import PictureObservation, WholePicture
from kiosk.table import BEFORE_PLAY, Table, Verdict, events

NIGHT_MS: Final = 4 * 60 * 60 * 1000
"""Where nothing has happened at a table for so long its day is over: no break between two sessions lasts longer."""


def begins_a_day(state: Table, last: int | None, wall: int) -> bool:
    """Return whether a day begins at a table that was started: never where a play goes on.

    `wall` is now, `last` when something happened there last, both ms since 1970; None: never.

    A device without a network may take up where its clock stood when it was switched off, and so miss a new day. Who
    wants the test then asks for it.
    """
    return state.self_test != "running" and state.phase in BEFORE_PLAY and (last is None or wall >= last + NIGHT_MS)


SelfTestStep = Literal["buttons", "scanner", "camera", "found"]

OF_A_SEAT: Final = ("button-", "contact-")


@dataclass(frozen=True, slots=True, order=True)
class HardwareFinding:
    """Something that is wrong: a part of the device as its health names it, and a code."""

    part: str
    code: str


@dataclass(frozen=True, slots=True)
class SelfTestView:
    """What is to be seen of a test."""

    step: SelfTestStep = "buttons"
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
    picture: PictureObservation = PictureObservation()  # noqa: RUF009 - frozen
    found: tuple[HardwareFinding, ...] = ()
    """What is wrong; known at the last step."""


BOARD: Final = "board"
"""How the board is named among the parts of the device."""

OF_DEVICES: Final = ("button-", "contact-", "buttons", "lamps", "scanner", "camera", "disk", "broker")
"""How parts are named whose health is a matter of the test; plans and messages are not."""

SELF_TEST_KEY: Final = "t"
"""The key that asks for a test where nothing is played."""

CALL_KEY: Final = "c"
"""Not about the test: the arbiter is called as ever."""


LookAtBoard = Callable[[], Iterable[HardwareTrouble]]


def look_at_board() -> Iterator[HardwareTrouble]:
    """Return what is wrong with the board that this runs on."""
    yield from board_troubles(Path("/"))
    yield from clock_troubles()


class SelfTestRun:
    """One self-test; it exists while the table's state says that one is running. Times are ns of the reports' clock."""

    def __init__(
        self, now: int, health: Mapping[str, str], board: LookAtBoard, *, scanner: bool, hides: bool = False
    ) -> None:
        """Begin with the buttons' known health: a stuck one is reported only once. `board` looks at the board.

        `hides`: a play is paused. Then what a contact does that nobody has pressed for the test would tell of a
        declaration, and is hidden.
        """
        self._steps: tuple[SelfTestStep, ...] = ("buttons", *(("scanner",) if scanner else ()), "camera", "found")
        self._hides, self._board = hides, board
        self._of_board: tuple[HardwareFinding, ...] | None = None
        """What is wrong with the board; looked at once a test."""
        self._came: set[str] = set()
        self._begin(now)
        for part, code in health.items():
            if part.startswith(OF_A_SEAT):
                self.take(Health(part, code), now)

    def _begin(self, now: int) -> None:
        self._buttons = SelfTest(None)
        self._buttons.begin(now)
        self._mistaken: dict[Seat, str] = {}
        """Whose button came in place of a seat's."""
        self._findings: list[HardwareFinding] = []
        self.seen = SelfTestView(scanner="scanner" in self._steps, asked=self._buttons.asked)

    # ---- what the devices tell --------------------------------------------------------------

    def take(self, report: Report | TooShort, now: int) -> bool:
        """Take in what a device tells; return whether it is the test's alone, as presses and scans are."""
        match report:
            case Scanned() | NotScanned():
                if self.seen.step == "scanner":
                    self.seen = replace(self.seen, scan=report)
            case _ if not self._hidden(report):
                self._remarked(self._buttons.take(report, now))
        return not isinstance(report, Released | Health)

    def _hidden(self, report: Report | TooShort) -> bool:
        """Return whether this may tell of a press in the play that is paused."""
        if isinstance(report, Pressed):
            self._came.add(report.seat)
        if not self._hides:
            return False
        if isinstance(report, Health):
            return report.part.startswith(OF_A_SEAT) and report.part.partition("-")[2] not in self._came
        return isinstance(report, TooShort) and report.seat not in self._came

    def _remarked(self, remarks: Iterable[Remark]) -> None:
        for remark in remarks:
            if remark.said == "wrong_seat":
                self._mistaken[remark.seat] = remark.other
            last = None if remark.said in ("right", "asked", "timed_out") else remark
            self.seen = replace(self.seen, remark=last)
        right = frozenset(self._buttons.passed_seats)
        asked = self._buttons.asked
        done = frozenset(SEATS[: SEATS.index(asked)] if asked else SEATS)
        self.seen = replace(self.seen, asked=asked, right=right, wrong=done - right)
        if asked is None and self.seen.step == "buttons":
            self._next()

    def saw(self, picture: PictureObservation) -> None:
        """Take in what the camera sees."""
        if self.seen.step == "camera":
            self.seen = replace(self.seen, picture=picture)

    @property
    def camera_target(self) -> WholePicture | None:
        """What the camera is to look at."""
        return WholePicture() if self.seen.step == "camera" else None

    # ---- what staff say ---------------------------------------------------------------------

    def key(self, key: str, now: int) -> events.SelfTestEnded | bool:
        """Take a key: return the end of the test, or say whether the key was the test's."""
        found = self.seen.found
        if key == "q":
            return _ended("skipped", self.findings, now)
        if key == "enter" and self.seen.step == "found":
            return _ended("failed" if found else "passed", found, now)
        if key == "r":
            self._begin(now)
        else:
            self._answers(key, now)
        return key != CALL_KEY

    def _answers(self, key: str, now: int) -> None:
        match self.seen.step, key:
            case "buttons", "x":
                self._remarked(self._buttons.give_up(now))
            case "scanner", "x":
                self._note("scanner", "scanner_silent")
            case "scanner", "y" if self.seen.scan is not None:
                self._note("scanner", "scanner_beeps")
            case "camera", "x":
                self._note("camera", "picture_wrong")
            case ("scanner", "n") | ("camera", "enter"):
                if self.seen.step == "camera" or self.seen.scan is not None:
                    self._next()

    def _note(self, part: str, code: str) -> None:
        self._findings.append(HardwareFinding(part, code))
        self._next()

    def _next(self) -> None:
        step = self._steps[self._steps.index(self.seen.step) + 1]
        self.seen = replace(self.seen, step=step, remark=None, picture=PictureObservation())

    # ---- what came of it --------------------------------------------------------------------

    @property
    def findings(self) -> tuple[HardwareFinding, ...]:
        """What the test itself has found out."""
        return (
            *(HardwareFinding(f"button-{seat}", self._why(seat)) for seat in SEATS if seat in self.seen.wrong),
            *self._findings,
        )

    def _why(self, seat: Seat) -> str:
        return "button_exchanged" if seat in self._mistaken else "button_silent"

    def follow(self, health: Mapping[str, str]) -> None:
        """Add what is known of the device otherwise, at the last step."""
        if self.seen.step != "found":
            self._of_board = None
            return
        if self._of_board is None:
            self._of_board = tuple(HardwareFinding(BOARD, one.code) for one in self._board())
        told = (HardwareFinding(part, code) for part, code in sorted(health.items()) if part.startswith(OF_DEVICES))
        known = (one for one in told if not (self._hides and one.part.startswith(OF_A_SEAT)))
        self.seen = replace(self.seen, found=(*dict.fromkeys((*self.findings, *known, *self._of_board)),))


def _ended(verdict: Verdict, found: Iterable[HardwareFinding], now: int) -> events.SelfTestEnded:
    return events.SelfTestEnded(at=now, verdict=verdict, found=tuple(f"{one.part}: {one.code}" for one in found))
