"""What staff do at the practice table: trays laid and tiles turned out under a simulated camera, tiles scanned."""

from collections.abc import Iterator
from random import Random
from typing import Final

from broker.contract.plans import PlannedPlay
from broker.contract.words import SEATS, Seat
from broker.rules.deal import TRAY
from kiosk.bench import Bench
from vision.payload import Payload, payload_text
from vision.twins.scene import TABLE
from vision.twins.world import Laid, Loose

COLUMNS: Final = 9
PITCH: Final = (36.0, 43.0)
STAGGER: Final = 6.0
"""Of tiles that are turned out, mm: a quarter of a deal in four rows, in the camera's view, however each is turned."""


def tray(play: PlannedPlay, seat: Seat, *, wrong: bool) -> list[list[Laid]]:
    """Give a tray as it lies: right, or with two tiles exchanged."""
    rows = [[Laid(set=play.set, serial=serial) for serial in row] for row in play.order[seat]]
    if wrong:
        rows[0][4], rows[1][2] = rows[1][2], rows[0][4]
    return rows


def heap(play: PlannedPlay, number: int) -> list[Loose]:
    """Give a quarter of a play's tiles as they are turned out: the first four times mixed, then a pile of each seat."""
    chance = Random(play.round)  # noqa: S311 - practice, and the same for everybody
    mixed = [serial for seat in SEATS for row in play.order[seat] for serial in row]
    chance.shuffle(mixed)
    piles = [mixed[at : at + TRAY] for at in range(0, len(mixed), TRAY)]
    piles += [[serial for row in play.order[seat] for serial in row] for seat in SEATS]
    chosen = piles[number % len(piles)]
    chance.shuffle(chosen)
    return [*_turned_out(play.set, chosen, chance)]


def _turned_out(number: int, serials: list[int], chance: Random) -> Iterator[Loose]:
    """Let tiles lie anyhow, but not on one another."""
    rows = -(-len(serials) // COLUMNS)
    for at, serial in enumerate(serials):
        row, col = divmod(at, COLUMNS)
        x = TABLE[0] / 2 + (col - (COLUMNS - 1) / 2) * PITCH[0]
        y = TABLE[1] / 2 + (row - (rows - 1) / 2) * PITCH[1] + (STAGGER if col % 2 else -STAGGER)
        yield Loose(Laid(set=number, serial=serial), (x, y + chance.uniform(-1, 1)), chance.uniform(0, 360))


def any_code(play: PlannedPlay, chance: Random) -> str:
    """Give what is on the label of some tile of a play."""
    return _code(play, chance.randrange(len(SEATS) * TRAY) + 1)


def next_code(play: PlannedPlay, first: Seat, bench: Bench | None) -> str:
    """Give what is on the next tile of the tray that is being scanned in its order, or on the `first` of a tray."""
    run = bench.scans.run if bench else None
    seat, count = (run.seat, run.count) if run and run.count < TRAY else (first, 0)
    serials = [serial for row in play.order[seat] for serial in row]
    return _code(play, serials[count])


def _code(play: PlannedPlay, serial: int) -> str:
    return payload_text(Payload(play.set, serial))
