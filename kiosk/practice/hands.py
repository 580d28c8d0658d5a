"""What keys and clicks do at a practice table: buttons on mock pins, tiles under a simulated camera, scans."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from broker.protocol import SEATS, PlannedPlay, Seat
from broker.rules import TRAY
from firmware.sim.buttons import ButtonFingers
from firmware.sim.scanner import SimulatedScanner
from kiosk.practice.deals import mistaken_hand, riichi_hand, winning_hand
from kiosk.restoring import Restoring
from kiosk.screens import RestoringView, ScreenView, SessionView
from kiosk.table import Phase, Table
from vision.marks.label_code import Payload, payload_text
from vision.sim import scene, table

COLUMNS: Final = 9
PITCH: Final = (36.0, 43.0)
STAGGER: Final = 6.0
"""Grid of the tipped-out tiles, in mm: a quarter of a deal in four rows fits in the camera's view at any angle."""


def laid_tray(play: PlannedPlay, seat: Seat, *, wrong: bool) -> list[list[table.SimulatedTile]]:
    """Return a tray as it lies: right, or with two tiles exchanged."""
    rows = [[table.SimulatedTile(set=play.set, serial=serial) for serial in row] for row in play.order[seat]]
    if wrong:
        rows[0][4], rows[1][2] = rows[1][2], rows[0][4]
    return rows


def tipped_out_tiles(play: PlannedPlay, number: int) -> list[table.LooseTile]:
    """Return a quarter of a play's tiles, tipped out: the first four times mixed, then a pile of each seat."""
    rng = Random(play.round)  # noqa: S311 - practice, and the same for everybody
    mixed = [serial for seat in SEATS for row in play.order[seat] for serial in row]
    rng.shuffle(mixed)
    piles = [mixed[at : at + TRAY] for at in range(0, len(mixed), TRAY)]
    piles += [[serial for row in play.order[seat] for serial in row] for seat in SEATS]
    chosen = piles[number % len(piles)]
    rng.shuffle(chosen)
    return [*_tipped_out(play.set, chosen, rng)]


def _tipped_out(number: int, serials: list[int], rng: Random) -> Iterator[table.LooseTile]:
    """Yield tiles at random angles, but not on top of one another."""
    rows = -(-len(serials) // COLUMNS)
    for at, serial in enumerate(serials):
        row, col = divmod(at, COLUMNS)
        x = scene.TABLE_SIZE[0] / 2 + (col - (COLUMNS - 1) / 2) * PITCH[0]
        y = scene.TABLE_SIZE[1] / 2 + (row - (rows - 1) / 2) * PITCH[1] + (STAGGER if col % 2 else -STAGGER)
        yield table.LooseTile(
            table.SimulatedTile(set=number, serial=serial), (x, y + rng.uniform(-1, 1)), rng.uniform(0, 360)
        )


def any_code(play: PlannedPlay, rng: Random) -> str:
    """Return the code on some tile of a play."""
    return _code(play, rng.randrange(len(SEATS) * TRAY) + 1)


def next_code(play: PlannedPlay, first: Seat, restoring: Restoring | None) -> str:
    """Return the code on the next tile of the tray being scanned in order, or on the first of tray `first`."""
    run = restoring.scans.run if restoring else None
    seat, count = (run.seat, run.count) if run and run.count < TRAY else (first, 0)
    serials = [serial for row in play.order[seat] for serial in row]
    return _code(play, serials[count])


def _code(play: PlannedPlay, serial: int) -> str:
    return payload_text(Payload(play.set, serial))


KEYS: Final[dict[str, Seat]] = {f"f{at + 1}": seat for at, seat in enumerate(SEATS)}
"""A seat's button is pressed as long as its key, or a finger on it, stays down."""

LAY, LAY_WRONG, TIP_OUT = "f5", "f6", "f7"
SCAN, SCAN_NEXT = "f8", "f9"

Strip = tuple[tuple[str, ...], ...]
"""Keys in rows from the top: the players', then the staff's."""


def strip(*, camera: bool, scanner: bool) -> Strip:
    """Return the keys that have an effect, depending on whether camera and scanner are simulated."""
    hands = ((LAY, LAY_WRONG, TIP_OUT) if camera else ()) + ((SCAN, SCAN_NEXT) if scanner else ())
    return ((*KEYS,), hands) if hands else ((*KEYS,),)


class PracticeHands:
    """The hands of four players; also of staff if `tiles` are under a simulated camera, or `scanner` is simulated."""

    def __init__(
        self,
        fingers: ButtonFingers,
        tiles: table.SimulatedTable | None,
        scanner: SimulatedScanner | None,
        state: Callable[[], Table],
        view: Callable[[], ScreenView],
    ) -> None:
        self._fingers, self._tiles, self._scanner, self._state, self._view = fingers, tiles, scanner, state, view
        self._down: set[Seat] = set()
        self._tipped_out: tuple[int, int] = (0, 0)
        """The round, and how often tiles were tipped out in it."""
        self._mistakes = 0
        """Number of hands laid with a mistake; each is another kind."""
        self._rng = Random(1)  # noqa: S311 - practice, and the same for everybody

    def down(self, key: str) -> None:
        """Start what a key does."""
        seat, state = KEYS.get(key), self._state()
        if seat is not None and seat not in self._down:
            self._down.add(seat)
            self._fingers.push(seat)
        elif state.play is not None and state.unverified:
            self._lay(key, state, state.play)
            self._scan(key, state, state.play)
        elif state.play is not None and state.phase is Phase.DECLARED:
            self._lay_hand(key, state.play)

    def up(self, key: str) -> None:
        """End what a key does."""
        seat = KEYS.get(key)
        if seat in self._down:
            self._down.remove(seat)
            self._fingers.release(seat)

    def _lay(self, key: str, state: Table, play: PlannedPlay) -> None:
        """Lay the next tray without a tick, or tip out tiles."""
        if self._tiles is None:
            return
        if key in (LAY, LAY_WRONG):
            self._tiles.lay(laid_tray(play, state.unverified[0], wrong=key == LAY_WRONG))
        elif key == TIP_OUT:
            round_, times = self._tipped_out
            self._tipped_out = play.round, times + 1 if round_ == play.round else 1
            self._tiles.spread(tipped_out_tiles(play, self._tipped_out[1] - 1))

    def _lay_hand(self, key: str, play: PlannedPlay) -> None:
        """Lay the hand in question face down on the mat, correctly or with a mistake."""
        view = self._view()
        seat = view.form.seat if view.form else None
        if self._tiles is None or seat is None or key not in (LAY, LAY_WRONG):
            return
        groups, *under = riichi_hand(play, seat) if view.riichi else (winning_hand(play, seat),)
        indicators = under if isinstance(view.riichi, SessionView) else ()  # in a planned deal, the walls give them
        if key == LAY:
            laid = [[table.SimulatedTile(play.set, serial) for serial in group] for group in groups]
        else:
            laid = mistaken_hand(play, groups, self._mistakes)
            self._mistakes += 1
        self._tiles.spread(scene.lay_hand(laid, [[table.SimulatedTile(play.set, serial)] for serial in indicators]))

    def _scan(self, key: str, state: Table, play: PlannedPlay) -> None:
        if self._scanner is None:
            return
        if key == SCAN:
            self._scanner.scan(any_code(play, self._rng))
        elif key == SCAN_NEXT:
            self._scanner.scan(next_code(play, state.unverified[0], self._restoring()))

    def _restoring(self) -> Restoring | None:
        phase = self._view().phase
        return phase.restoring if isinstance(phase, RestoringView) else None
