"""What a trainer's keys and clicks do: buttons on mock pins, tiles under a simulated camera, a simulated scanner."""

from collections.abc import Callable
from random import Random
from typing import Final

from broker.contract.plans import PlannedPlay
from broker.contract.words import SEATS, Seat
from firmware.twins.fingers import Fingers
from firmware.twins.scanner import HandScanner
from kiosk.practice import staff
from kiosk.practice.winning import mistaken, winning_hand
from kiosk.screens.shown import Shown
from kiosk.table.state import Phase, Table
from vision.twins.hand import laid_hand
from vision.twins.world import Laid, TrayTwin

KEYS: Final[dict[str, Seat]] = {f"f{at + 1}": seat for at, seat in enumerate(SEATS)}
"""A seat's button is pressed as long as its key, or a finger on it, stays down."""

LAY, LAY_WRONG, TURN_OUT = "f5", "f6", "f7"
SCAN, SCAN_NEXT = "f8", "f9"

Strip = tuple[tuple[str, ...], ...]
"""Keys in rows, from above: players' and staff's."""


def strip(*, camera: bool, scanner: bool) -> Strip:
    """Give the keys that do something where camera and scanner are simulated, or are not."""
    hands = ((LAY, LAY_WRONG, TURN_OUT) if camera else ()) + ((SCAN, SCAN_NEXT) if scanner else ())
    return ((*KEYS,), hands) if hands else ((*KEYS,),)


class Hands:
    """The hands of four players, and of staff where `tiles` lie under a simulated camera or `scanner` is one."""

    def __init__(
        self,
        fingers: Fingers,
        tiles: TrayTwin | None,
        scanner: HandScanner | None,
        state: Callable[[], Table],
        shown: Callable[[], Shown],
    ) -> None:
        self._fingers, self._tiles, self._scanner, self._state, self._shown = fingers, tiles, scanner, state, shown
        self._down: set[Seat] = set()
        self._turned_out: tuple[int, int] = (0, 0)
        """In which round, and how often."""
        self._mistakes = 0
        """How many hands were laid with one: each is another."""
        self._chance = Random(1)  # noqa: S311 - practice, and the same for everybody

    def down(self, key: str) -> None:
        """Begin what a key does."""
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
        """End it."""
        seat = KEYS.get(key)
        if seat in self._down:
            self._down.remove(seat)
            self._fingers.let_go(seat)

    def _lay(self, key: str, state: Table, play: PlannedPlay) -> None:
        """Lay the next tray that has no tick yet, or turn tiles out."""
        if self._tiles is None:
            return
        if key in (LAY, LAY_WRONG):
            self._tiles.lay(staff.tray(play, state.unverified[0], wrong=key == LAY_WRONG))
        elif key == TURN_OUT:
            of, times = self._turned_out
            self._turned_out = play.round, times + 1 if of == play.round else 1
            self._tiles.spread(staff.heap(play, self._turned_out[1] - 1))

    def _lay_hand(self, key: str, play: PlannedPlay) -> None:
        """Lay the hand whose value is asked for face down on the mat, rightly or with a mistake."""
        form = self._shown().form
        if self._tiles is None or form is None or form.seat is None or key not in (LAY, LAY_WRONG):
            return
        groups = winning_hand(play, form.seat)
        if key == LAY:
            laid = [[Laid(play.set, serial) for serial in group] for group in groups]
        else:
            laid = mistaken(play, groups, self._mistakes)
            self._mistakes += 1
        self._tiles.spread(laid_hand(laid))

    def _scan(self, key: str, state: Table, play: PlannedPlay) -> None:
        if self._scanner is None:
            return
        if key == SCAN:
            self._scanner.scan(staff.any_code(play, self._chance))
        elif key == SCAN_NEXT:
            self._scanner.scan(staff.next_code(play, state.unverified[0], self._shown().bench))
