"""Timed trials: somebody restores heaps with the real program, at the speed of hands: `python -m tests.kiosk.trials`.

The worker does what the screen says and touches what it offers; the table's clock is theirs. Sources of the figures:

* MTM-1 (Maynard, Stegemerten and Schwab, 1948; 1 TMU is 0.036 s): reach 30 cm R30B 12.8, grasp G1B 3.5, move M30B
  13.3, position P1SE 5.6, release RL1 2.0 TMU;
* the keystroke-level model (Card, Moran and Newell, 1980): decide 1.35 s, point at something 1.1 s;
* the model human processor (the same, 1983): an eye movement 0.23 s, to see a sign 0.1 s;
* THERP (Swain and Guttmann, NUREG/CR-1278, 1983): a number of up to four digits is misread 1 time in 1,000, one of
  several things that look alike is mistaken 3 in 1,000, and checking another's work with a list misses 1 fault in 10.

The camera's check (1.5 s) and the scanner's answer (0.3 s) are as measured for this program with current devices.
"""

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Final

from broker.i18n import Translator
from broker.protocol import SEATS, Seat
from firmware.reports import Scanned
from kiosk.camera.observations import CameraHealth
from kiosk.screens import RestoringView, TableScreen
from kiosk.table import (
    PLACES,
    Misplaced,
    Phase,
    Swap,
    TilePlace,
)
from kiosk.table.events import Assigned, TrayChecked
from tests.kiosk.standing import Standing, phase_view, standing
from tests.kiosk.tables import MS, S, plan, play

TMU_S: Final = 0.036
TOSS_S: Final = (12.8 + 3.5 + 13.3 + 2.0) * TMU_S
"""Take a tile and lay it on a pile."""
PLACE_S: Final = (12.8 + 3.5 + 13.3 + 5.6 + 2.0) * TMU_S
"""Take a tile and put it into its place."""
EYE_S: Final = 0.23
READ_S: Final = EYE_S + 3 * 0.1
"""Read a number of three digits."""
FIND_S: Final = 5 * EYE_S
"""Find a number in a sorted list of 136: first its ten, then along it."""
DECIDE_S: Final = 1.35
TAP_S: Final = 1.1
LOOK_S: Final = 1.5
SCAN_S: Final = 0.3

MISREAD: Final = 0.001
MISTAKE: Final = 0.003
OVERLOOK: Final = 0.1

CARRIERS: Final = 20
SCREEN: Final = TableScreen(Translator("en"), (800, 480))


@dataclass
class Trial:
    """One carrier, and the person who restores it."""

    table: Standing
    chance: random.Random
    taps: int = 0
    scans: int = 0
    slips: int = 0
    """Tiles put into a wrong place."""
    lying: dict[TilePlace, int] = field(default_factory=dict)

    @property
    def deal(self) -> dict[TilePlace, int]:
        """The serial that belongs at each place."""
        order = phase_view(self.table.program.view(), RestoringView).order
        return {place: order[place.seat][place.row][place.col] for place in PLACES}

    def take(self, seconds: float) -> None:
        """Let the time of an action pass."""
        self.table.time.wait(round(seconds * S))
        self.table.program.step(timeout=0)

    def tap(self, key: str) -> None:
        """Find a button on the screen and touch it."""
        self.take(DECIDE_S + TAP_S)
        offered = [target.key for target in SCREEN.targets(self.table.program.view())]
        assert key in offered, f"{key} is not on the screen, which has {offered}"
        self.table.program.key(key)
        self.taps += 1
        self.table.program.step(timeout=0)

    def lay(self, each_s: float, slips: float) -> None:
        """Put all tiles into their places, now and then two into each other's."""
        self.lying = self.deal
        for place in PLACES:
            self.take(each_s)
            if self.chance.random() < slips:
                self.slips += 1
                other = self.chance.choice(PLACES)
                self.lying[place], self.lying[other] = self.lying[other], self.lying[place]

    def show(self, seat: Seat) -> None:
        """Lay a tray under the camera, and correct what the screen names until it is right."""
        self.take(PLACE_S)
        self._look(seat)
        while self.table.is_in(Phase.RESTORING) and (check := self._view().check) is not None:
            move = self._view().work.move
            assert isinstance(move, Swap), f"the screen says {move} of {check}"
            self.take(DECIDE_S + 2 * PLACE_S)
            one, other = move.one, move.other
            self.lying[one], self.lying[other] = self.lying[other], self.lying[one]
            for touched in sorted({one.seat, other.seat}, key=SEATS.index):
                self._look(touched)

    def _look(self, seat: Seat) -> None:
        self.take(LOOK_S)
        if not self.table.is_in(Phase.RESTORING):
            return
        deal = self.deal
        here = {place: self.lying[place] for place in PLACES if place.seat == seat}
        rows = tuple(tuple(serial for place, serial in here.items() if place.row == row) for row in range(3))
        wrong = tuple(
            Misplaced(kind="swapped", row=place.row, col=place.col, expected=deal[place], found=serial)
            for place, serial in here.items()
            if serial != deal[place]
        )
        self.table.program.observe(TrayChecked(at=self.table.time.now, seat=seat, rows=rows, wrong=wrong))
        self.table.program.step(timeout=0)

    def scan(self, serial: int) -> None:
        """Hold a tile before the scanner."""
        self.take(SCAN_S)
        self.scans += 1
        self.table.program.report(Scanned(serial, None, self.table.time.now))
        self.table.program.step(timeout=0)

    def _view(self) -> RestoringView:
        return phase_view(self.table.program.view(), RestoringView)


def by_camera(trial: Trial) -> None:
    """Sort by seat by the picture's colours and each pile by its numbers; then show the trays."""
    trial.take(136 * (EYE_S + TOSS_S))
    trial.lay(EYE_S + PLACE_S, MISTAKE)
    while trial.table.is_in(Phase.RESTORING):
        trial.show(trial.table.program.state.unverified[0])


def by_scanner(trial: Trial) -> None:
    """Scan each tile of the heap and lay it where the screen says; then scan every tray again in order."""
    deal = trial.deal
    heap = trial.chance.sample(sorted(deal.values()), len(deal))
    for serial in heap:
        trial.scan(serial)
    trial.lay(2 * EYE_S + PLACE_S, MISTAKE)
    while trial.table.is_in(Phase.RESTORING):
        scan_tray(trial, trial.table.program.state.unverified[0], deal)


def scan_tray(trial: Trial, seat: Seat, deal: dict[TilePlace, int]) -> None:
    """Scan a tray in order; if the screen wants another tile, put that one there."""
    for place in (place for place in PLACES if place.seat == seat):
        trial.take(TOSS_S / 2)  # the scanner is moved, not the tile
        trial.scan(trial.lying[place])
        if trial.lying[place] != deal[place]:
            other = next(one for one, serial in trial.lying.items() if serial == deal[place])
            trial.take(DECIDE_S + FIND_S + 2 * PLACE_S)
            trial.lying[place], trial.lying[other] = trial.lying[other], trial.lying[place]
            trial.scan(trial.lying[place])


def by_hand(trial: Trial) -> None:
    """Without camera and scanner: find each number in the list; then compare row by row with the screen, and tick."""
    trial.table.program.observe(CameraHealth("device_unplugged"))
    trial.take(1)
    trial.lay(READ_S + FIND_S + PLACE_S, MISREAD + MISTAKE)
    trial.tap("h")
    for seat in SEATS:
        for row, key in enumerate("123"):
            for place in (place for place in PLACES if (place.seat, place.row) == (seat, row)):
                trial.take(2 * READ_S)
                if trial.lying[place] != trial.deal[place] and trial.chance.random() >= OVERLOOK:
                    other = next(one for one, serial in trial.lying.items() if serial == trial.deal[place])
                    trial.take(FIND_S + 2 * PLACE_S)
                    trial.lying[place], trial.lying[other] = trial.lying[other], trial.lying[place]
            trial.tap(key)


WAYS: Final[dict[str, Callable[[Trial], None]]] = {"camera": by_camera, "scanner": by_scanner, "hand": by_hand}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one carrier."""

    seconds: float
    taps: int
    scans: int
    slips: int
    left: int
    """Places that were still wrong when the table went on."""
    verified: bool


@contextmanager
def begun(seed: int) -> Iterator[Trial]:
    """Yield a table whose next deal is to be restored."""
    with tempfile.TemporaryDirectory() as folder, standing(Path(folder)) as table:
        planned = plan(play(seed % 90 + 1))
        table.program._apply(Assigned(at=table.time.wait(10 * MS), assignment=planned))
        yield Trial(table, random.Random(seed))


def outcome(way: str, seed: int) -> Outcome:
    """Restore one carrier in a given way."""
    with begun(seed) as trial:
        deal, began = trial.deal, trial.table.time.now
        WAYS[way](trial)
        assert not trial.table.is_in(Phase.RESTORING), "the table asks for more"
        left = sum(trial.lying[place] != serial for place, serial in deal.items())
        seconds = (trial.table.time.now - began) / S
        verified = trial.table.program.state.work.verifier != "hand"
        return Outcome(seconds, trial.taps, trial.scans, trial.slips, left, verified)


def table_row(way: str, carriers: int) -> str:
    """Return a row of the table in docs/restoring.md."""
    found = [outcome(way, seed) for seed in range(carriers)]
    minutes, taps = mean(one.seconds for one in found) / 60, mean(one.taps for one in found)
    scans, slips = mean(one.scans for one in found), sum(one.slips for one in found)
    wrong = sum(one.left > 0 for one in found)
    return f"| {way} | {minutes:.1f} | {taps:.0f} | {scans:.0f} | {slips} | {wrong} of {carriers} |"


if __name__ == "__main__":
    for chosen in sys.argv[1:] or WAYS:
        print(table_row(chosen, CARRIERS))
