"""The self-test at one table: begins and ends with the table's state, and is told of devices, camera and keys."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from firmware.contact import TooShort
from firmware.hardware.board_state import board_troubles, clock_troubles
from firmware.hardware.inventory import Trouble
from firmware.reports import Health, Released, Report
from kiosk.self_test.walk import OF_A_SEAT, Finding, Over, Seen, Walk
from kiosk.sight import PictureSight, WholePicture
from kiosk.table.events import SelfTestBegun, SelfTestEnded
from kiosk.table.self_test import IDLE, PLAY
from kiosk.table.state import Table

BOARD: Final = "board"
"""How the board is named among the parts of the device."""

OF_DEVICES: Final = ("button-", "contact-", "buttons", "lamps", "scanner", "camera", "disk", "broker")
"""How parts are named whose health is a matter of the test; plans and messages are not."""

BEGINS: Final = "t"
"""The key that asks for a test where nothing is played."""

OTHERS: Final = frozenset({"c"})
"""Keys that are not about the test: the arbiter is called as ever."""


def look_at_board() -> Iterator[Trouble]:
    """Say what is wrong with the board that this runs on."""
    yield from board_troubles(Path("/"))
    yield from clock_troubles()


class TestDesk:
    """The self-test at one table; there is a walk while the table's state says that one is running."""

    __test__ = False  # it is no test of pytest's

    def __init__(self, *, scanner: bool, board: Callable[[], Iterable[Trouble]] = look_at_board) -> None:
        """Take whether the table has a scanner, and what looks at the board."""
        self._scanner, self._board = scanner, board
        self.walk: Walk | None = None
        self._of_board: tuple[Finding, ...] | None = None
        """What is wrong with the board; looked at once a test."""

    def follow(self, state: Table, health: Mapping[str, str], now: int) -> None:
        """Begin or end with the table's state; add what is known of the device."""
        running = state.self_test == "running"
        if not running:
            self.walk = None
            return
        if self.walk is None:
            self.walk = _begun(now, health, scanner=self._scanner, hides=state.phase in PLAY)
        if self.walk.seen.step != "found":
            self._of_board = None
            return
        if self._of_board is None:
            self._of_board = tuple(Finding(BOARD, one.code) for one in self._board())
        self.walk.know((*_of(health), *self._of_board))

    def take(self, told: Report | TooShort, now: int) -> bool:
        """Take in what a device tells; say whether it is the test's alone, as presses and scans are."""
        if self.walk is None:
            return False
        self.walk.take(told, now)
        return not isinstance(told, Released | Health)

    def saw(self, picture: PictureSight) -> None:
        """Take in what the camera sees."""
        if self.walk is not None and self.walk.seen.step == "camera":
            self.walk.saw(picture)

    def key(self, key: str, state: Table, now: int) -> SelfTestBegun | SelfTestEnded | bool:
        """Take a key: give the beginning or the end of a test, or say whether it was the test's."""
        if self.walk is None:
            return SelfTestBegun(at=now, asked=True) if key == BEGINS and state.phase in IDLE else False
        if key in OTHERS:
            return False
        over = self.walk.key(key, now)
        return over is None or _ended(over, now)

    @property
    def looked_for(self) -> WholePicture | None:
        """What the camera is to look at."""
        return WholePicture() if self.walk is not None and self.walk.seen.step == "camera" else None

    @property
    def shown(self) -> Seen | None:
        """What is to be seen; None where no test is running."""
        return self.walk.seen if self.walk is not None else None


def _begun(now: int, health: Mapping[str, str], *, scanner: bool, hides: bool) -> Walk:
    """Begin with what the buttons have said before: that one is stuck is told once."""
    walk = Walk(now, scanner=scanner, hides=hides)
    for part, code in health.items():
        if part.startswith(OF_A_SEAT):
            walk.take(Health(part, code), now)
    return walk


def _of(health: Mapping[str, str]) -> Iterator[Finding]:
    """Give what is wrong with devices."""
    yield from (Finding(part, code) for part, code in sorted(health.items()) if part.startswith(OF_DEVICES))


def _ended(over: Over, now: int) -> SelfTestEnded:
    return SelfTestEnded(at=now, verdict=over.verdict, found=tuple(f"{one.part}: {one.code}" for one in over.found))
