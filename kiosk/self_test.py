"""The hardware self-test on the table's screen: buttons, scanner, camera, and the device's own health."""

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
"""After so long without an event, a table's day is over: no break between two sessions lasts longer."""


def begins_a_day(state: Table, last: int | None, wall: int) -> bool:
    """Return whether a new day begins at a table that was started, which it never does in a play.

    `wall` is now, and `last` the time of the last event there (None if there was none), both in ms since 1970.

    Without a network, a device's clock may resume from where it stopped, and miss a new day. Staff can then start the
    test themselves.
    """
    return state.self_test != "running" and state.phase in BEFORE_PLAY and (last is None or wall >= last + NIGHT_MS)


SelfTestStep = Literal["buttons", "scanner", "camera", "found"]

SEAT_PREFIXES: Final = ("button-", "contact-")


@dataclass(frozen=True, slots=True, order=True)
class HardwareFinding:
    """A fault that the test found: the part, named as in the device's health, and a code."""

    part: str
    code: str


@dataclass(frozen=True, slots=True)
class SelfTestView:
    """What the screen shows of a test."""

    step: SelfTestStep = "buttons"
    scanner: bool = False
    """Whether there is a scanner to test."""
    awaited: Seat | None = None
    """The seat whose button is to be pressed."""
    right: frozenset[Seat] = frozenset()
    """Seats whose button was pressed when asked for."""
    wrong: frozenset[Seat] = frozenset()
    """Seats that were given up."""
    remark: Remark | None = None
    """The last remark about the buttons that is not the expected press."""
    scan: Scanned | NotScanned | None = None
    """The last scan."""
    picture: PictureObservation = PictureObservation()  # noqa: RUF009 - frozen
    found: tuple[HardwareFinding, ...] = ()
    """All faults, known at the last step."""


BOARD: Final = "board"
"""The name of the board among the parts of the device."""

DEVICE_PARTS: Final = ("button-", "contact-", "buttons", "lamps", "scanner", "camera", "disk", "broker")
"""Prefixes of the parts whose health belongs in the test. Plans and messages do not."""

SELF_TEST_KEY: Final = "t"
"""The key that starts a test while nothing is being played."""

CALL_KEY: Final = "c"
"""The key that calls the arbiter; it works during the test as always."""


CheckBoard = Callable[[], Iterable[HardwareTrouble]]


def check_board() -> Iterator[HardwareTrouble]:
    """Yield the faults of the board that this program runs on."""
    yield from board_troubles(Path("/"))
    yield from clock_troubles()


class SelfTestRun:
    """One self-test, for as long as the table's state says that one is running. Times are ns of the reports' clock."""

    def __init__(
        self, now: int, health: Mapping[str, str], board: CheckBoard, *, scanner: bool, hides: bool = False
    ) -> None:
        """Begin with the known health of the buttons, as a stuck one is reported only once. `board` examines the board.

        `hides`: a play is paused. A signal from a contact that nobody has pressed for the test could then reveal a
        declaration, so it is hidden.
        """
        self._steps: tuple[SelfTestStep, ...] = ("buttons", *(("scanner",) if scanner else ()), "camera", "found")
        self._hides, self._board = hides, board
        self._of_board: tuple[HardwareFinding, ...] | None = None
        """Faults of the board, which is examined once a test."""
        self._pressed: set[str] = set()
        self._begin(now)
        for part, code in health.items():
            if part.startswith(SEAT_PREFIXES):
                self.take(Health(part, code), now)

    def _begin(self, now: int) -> None:
        self._buttons = SelfTest(None)
        self._buttons.begin(now)
        self._mistaken: dict[Seat, str] = {}
        """For each seat, the seat whose button was pressed instead."""
        self._findings: list[HardwareFinding] = []
        self.view = SelfTestView(scanner="scanner" in self._steps, awaited=self._buttons.asked)

    # ---- reports of devices -----------------------------------------------------------------

    def take(self, report: Report | TooShort, now: int) -> bool:
        """Handle a report; return whether it is for the test only, as presses and scans are."""
        match report:
            case Scanned() | NotScanned():
                if self.view.step == "scanner":
                    self.view = replace(self.view, scan=report)
            case _ if not self._hidden(report):
                self._take_remarks(self._buttons.take(report, now))
        return not isinstance(report, Released | Health)

    def _hidden(self, report: Report | TooShort) -> bool:
        """Return whether a report might reveal a press in the paused play."""
        if isinstance(report, Pressed):
            self._pressed.add(report.seat)
        if not self._hides:
            return False
        if isinstance(report, Health):
            return report.part.startswith(SEAT_PREFIXES) and report.part.partition("-")[2] not in self._pressed
        return isinstance(report, TooShort) and report.seat not in self._pressed

    def _take_remarks(self, remarks: Iterable[Remark]) -> None:
        for remark in remarks:
            if remark.said == "wrong_seat":
                self._mistaken[remark.seat] = remark.other
            last = None if remark.said in ("right", "asked", "timed_out") else remark
            self.view = replace(self.view, remark=last)
        right = frozenset(self._buttons.passed_seats)
        awaited = self._buttons.asked
        done = frozenset(SEATS[: SEATS.index(awaited)] if awaited else SEATS)
        self.view = replace(self.view, awaited=awaited, right=right, wrong=done - right)
        if awaited is None and self.view.step == "buttons":
            self._next()

    def observe(self, picture: PictureObservation) -> None:
        """Accept the camera's picture."""
        if self.view.step == "camera":
            self.view = replace(self.view, picture=picture)

    @property
    def camera_target(self) -> WholePicture | None:
        """The camera's target."""
        return WholePicture() if self.view.step == "camera" else None

    # ---- answers of staff -------------------------------------------------------------------

    def key(self, key: str, now: int) -> events.SelfTestEnded | bool:
        """Handle a key; return the event that ends the test, or whether the key was for the test."""
        found = self.view.found
        if key == "q":
            return _ended("skipped", self.findings, now)
        if key == "enter" and self.view.step == "found":
            return _ended("failed" if found else "passed", found, now)
        if key == "r":
            self._begin(now)
        else:
            self._answer(key, now)
        return key != CALL_KEY

    def _answer(self, key: str, now: int) -> None:
        match self.view.step, key:
            case "buttons", "x":
                self._take_remarks(self._buttons.give_up(now))
            case "scanner", "x":
                self._note("scanner", "scanner_silent")
            case "scanner", "y" if self.view.scan is not None:
                self._note("scanner", "scanner_beeps")
            case "camera", "x":
                self._note("camera", "picture_wrong")
            case ("scanner", "n") | ("camera", "enter"):
                if self.view.step == "camera" or self.view.scan is not None:
                    self._next()

    def _note(self, part: str, code: str) -> None:
        self._findings.append(HardwareFinding(part, code))
        self._next()

    def _next(self) -> None:
        step = self._steps[self._steps.index(self.view.step) + 1]
        self.view = replace(self.view, step=step, remark=None, picture=PictureObservation())

    # ---- findings ---------------------------------------------------------------------------

    @property
    def findings(self) -> tuple[HardwareFinding, ...]:
        """Faults found by the test itself."""
        return (
            *(HardwareFinding(f"button-{seat}", self._why(seat)) for seat in SEATS if seat in self.view.wrong),
            *self._findings,
        )

    def _why(self, seat: Seat) -> str:
        return "button_exchanged" if seat in self._mistaken else "button_silent"

    def follow(self, health: Mapping[str, str]) -> None:
        """At the last step, add the faults known from the device's health and the board."""
        if self.view.step != "found":
            self._of_board = None
            return
        if self._of_board is None:
            self._of_board = tuple(HardwareFinding(BOARD, one.code) for one in self._board())
        ill = (HardwareFinding(part, code) for part, code in sorted(health.items()) if part.startswith(DEVICE_PARTS))
        known = (one for one in ill if not (self._hides and one.part.startswith(SEAT_PREFIXES)))
        self.view = replace(self.view, found=(*dict.fromkeys((*self.findings, *known, *self._of_board)),))


def _ended(verdict: Verdict, found: Iterable[HardwareFinding], now: int) -> events.SelfTestEnded:
    return events.SelfTestEnded(at=now, verdict=verdict, found=tuple(f"{one.part}: {one.code}" for one in found))
