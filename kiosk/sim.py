"""The people at a simulated table: staff who lay trays, players who press buttons, someone at the keyboard.

They follow a script, a JSON file. They look at the table's state and do the next thing, only on simulated devices and
with a human delay. As all they do follows from the state, they carry on after the kiosk was killed.
"""

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Protocol

import msgspec

from broker.errors import reason
from broker.protocol import SEATS, LaidSeat, PlannedPlay, RiichiEvent, RiichiWin, Script, ScriptedPlay, Seat
from kiosk.camera.observations import LaidPart
from kiosk.errors import BadConfiguration
from kiosk.input import HAN_WITHOUT_FU, abort_reasons
from kiosk.keeping import ACCEPT_KEY, KEEP_KEY, SKIP_KEY, Keeping
from kiosk.table import DOUBTFUL_NS, Phase, RiichiSession, Table
from vision.sim import scene, table


def read_script(path: Path) -> Script:
    """Read a script. Raises BadConfiguration."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Script)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConfiguration(f"{path}: {reason(error)}") from None


REPEAT_S: Final = 2.0
"""Seconds after which they repeat an action that had no effect."""

MOST_LOOKS: Final = 30
"""Looks at a river or a hand that cannot be read before they skip it."""

SLOW_LOOK: Final = 0.1
"""How much a look counts for while the camera has not got there yet: a busy machine takes longer."""

STEPS_BACK: Final = 8
"""Backspaces that empty any half-filled form."""

NOT_VALID: Final = "1"
"""The arbiter's reason: the hand was not valid."""


class _Fingers(Protocol):
    """Fingers on simulated buttons, whether on pins or in a box."""

    def press(self, seat: Seat) -> None:
        """Press and release one button."""


class People:
    """Everybody at one table, on their own thread."""

    def __init__(
        self,
        script: Script,
        fingers: _Fingers,
        trays: table.SimulatedTable,
        type_key: Callable[[str], None],
        name: str,
    ) -> None:
        self._script, self._fingers, self._trays, self._type = script, fingers, trays, type_key
        self._laid: tuple[int, Seat] | None = None
        self._pin_given = False
        """Whether the arbiter has just entered the PIN: entering it again would withdraw it before it is checked."""
        self._state: Table | None = None
        self._keeping: Keeping | None = None
        self._shown: tuple[int, Seat, LaidPart] | None = None
        self._looks = 0.0
        """How often they have tried in vain: a play that cannot be read must not hold up the table."""
        self.failed: Exception | None = None
        """The error that stopped them: the script does not fit the table's state."""
        self._changed = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"people at {name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; may be called twice."""
        self._stopped.set()
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def see(self, state: Table, keeping: Keeping | None = None) -> None:
        """Note the table's state, and what has been read of a kept play. The kiosk's loop calls this on any change."""
        self._state, self._keeping = state, keeping
        self._changed.set()

    def _run(self) -> None:
        try:
            self._follow()
        except Exception as error:  # noqa: BLE001 - the kiosk's loop must hear of any error
            self.failed = error

    def _follow(self) -> None:
        while not self._stopped.is_set():
            self._changed.wait(REPEAT_S)
            self._changed.clear()
            self._look_at_tiles()
            if self._state is not None:
                self.step(self._state)

    def _look_at_tiles(self) -> None:
        """Wait at the start of a play: an earlier declaration would raise the question whether it was meant."""
        state = self._state
        if state is not None and state.phase is Phase.PLAYING:
            self._stopped.wait(max(0, state.since + DOUBTFUL_NS - time.monotonic_ns()) / 1e9)

    def step(self, state: Table) -> None:
        """Do the next thing that the state asks for, after a human delay.

        No clock is read: a table's own may run faster than the machine's, and be hours ahead.
        """
        course = self._script.course(state.play.round) if state.play else None
        if state.play is not None and course is not None:
            self._act(state, state.play, course)

    def _act(self, state: Table, play: PlannedPlay, course: ScriptedPlay) -> None:
        if state.phase is Phase.RESTORING:
            self._lay(state, play, course)
        elif state.phase is Phase.SEATING:
            self._react()
            self._press(state, (seat for seat in SEATS if seat not in state.arrived))
        elif state.phase in (Phase.CONFIRMING, Phase.ACCEPTING):
            self._react()
            self._press(state, (seat for seat in SEATS if seat not in state.agreed))
        elif state.phase in (Phase.PLAYING, Phase.CLAIMING):
            self._play(state, course)
        elif state.phase is Phase.DECLARED:
            self._react()
            self._enter(state, course)
        elif state.phase is Phase.RECORDED:
            self._react()
            self._after(state, play, course)

    def _after(self, state: Table, play: PlannedPlay, course: ScriptedPlay) -> None:
        """Show rivers and hands one after the other if the play is to be kept, then go on."""
        keeping = self._keeping
        if keeping is None or keeping.target is None:
            tried = self._shown is not None and self._shown[0] == play.round
            begins = course.laid and not tried and not state.kept and state.may_keep and self._looks <= MOST_LOOKS
            self._looks = self._looks + 1 if begins else 0
            self._type(KEEP_KEY if begins else ACCEPT_KEY)
            return
        shown, laid = (play.round, keeping.target.seat, keeping.target.part), course.laid.get(keeping.target.seat)
        if self._shown != shown:
            self._shown, self._looks = shown, 0
            self._trays.spread(_on_the_table(play.set, laid or LaidSeat(), shown[2]))
            return
        refused = keeping.seen.still and keeping.seen.problem is not None
        self._looks += 1 if refused else 0 if keeping.ready else SLOW_LOOK
        empty = laid is None or (keeping.target.part == "river" and not laid.river)
        self._type(SKIP_KEY if self._looks > MOST_LOOKS or (empty and keeping.seen.laid is None) else ACCEPT_KEY)

    def _react(self) -> None:
        self._stopped.wait(self._script.reaction_ms / 1000)

    def _press(self, state: Table, seats: Iterable[Seat]) -> None:
        """Press for the current question, as long as the table still asks it."""
        for seat in seats:
            if not self._stopped.is_set() and self._asks_the_same(state):
                self._fingers.press(seat)

    def _asks_the_same(self, state: Table) -> bool:
        now = self._state
        return now is not None and (now.public, now.index) == (state.public, state.index)

    def _lay(self, state: Table, play: PlannedPlay, course: ScriptedPlay) -> None:
        """Lay the next tray, with the script's slips; correct it if the screen names it."""
        seat = state.unverified[0]
        named = state.check is not None and state.check.seat == seat
        if self._laid == (play.round, seat) and not named:
            return
        rows = [list(row) for row in play.order[seat]]
        if not named:
            for slip in course.slips:
                if slip.seat == seat:
                    (r1, c1), (r2, c2) = slip.one, slip.other
                    rows[r1][c1], rows[r2][c2] = rows[r2][c2], rows[r1][c1]
        self._stopped.wait(self._script.reaction_ms / 4000)
        self._trays.lay([[table.SimulatedTile(set=play.set, serial=serial) for serial in row] for row in rows])
        self._laid = (play.round, seat)

    def _play(self, state: Table, course: ScriptedPlay) -> None:
        """Declare: first the false hu, then the winners. Nobody presses twice."""
        pending = [seat for seat in course.false_hu if seat not in state.fines]
        pressed = {one.seat for one in state.declarations}
        pressing = [seat for seat in (pending or course.winners) if seat not in pressed]
        if state.phase is Phase.PLAYING:
            self._react()
        if pressing:
            self._press(state, pressing)
        elif state.phase is Phase.PLAYING and course.win == "draw":
            self._type("d")

    def _enter(self, state: Table, course: ScriptedPlay) -> None:
        to_fine = [
            one.seat for one in state.declarations if one.seat in course.false_hu and one.seat not in state.fines
        ]
        if to_fine and state.arbiter is None and self._pin_given:
            self._pin_given = False
            return
        if to_fine and state.arbiter is not None:
            self._pin_given = False
            self._keys("x", str(course.false_hu[to_fine[0]]), NOT_VALID)
            return
        for _ in range(STEPS_BACK):
            self._type("back")
        if to_fine:
            self._keys("x", *self._script.pin, "enter")  # the fine follows once the PIN has been accepted
            self._pin_given = True
            return
        tile = course.discarder[0] if course.discarder else "d"
        several = len(state.declarations) > 1
        self._keys(*[tile] * len(state.declarations) * several)
        for one in state.declarations:
            self._keys(*str(course.winners[one.seat]), "enter")
        self._keys(*[tile] * (not several))

    def _keys(self, *keys: str) -> None:
        for key in keys:
            self._type(key)


def _on_the_table(number: int, laid: LaidSeat, part: LaidPart) -> tuple[table.LooseTile, ...]:
    """Return where the tiles of a river lie, or those of a hand with its melds."""
    if part == "river":
        return scene.lay_river([table.SimulatedTile(number, serial) if serial else None for serial in laid.river])
    groups = (laid.hand or (), *laid.melds)
    return scene.lay_hand([[table.SimulatedTile(number, serial) for serial in group if serial] for group in groups])


class RiichiPeople(People):
    """Everybody at one table of a riichi session."""

    def step(self, state: Table) -> None:
        """Do the next thing that the state asks for, after a human delay."""
        session = state.session
        if session is None:
            return
        hand = self._script.hands[min(session.hand, len(self._script.hands)) - 1]
        self._react()
        if state.phase in (Phase.CONFIRMING, Phase.ACCEPTING):
            self._press(state, (seat for seat in SEATS if seat not in state.agreed))
        elif state.phase is Phase.PLAYING:
            self._end(state, session, hand)
        elif state.phase is Phase.DECLARED and state.hand.asks_tenpai:
            self._answer_tenpai(state, hand)
        elif state.phase is Phase.DECLARED:
            self._value(state, hand)
        elif state.phase is Phase.RECORDED:
            self._keys(*(("enter",) if session.hand < len(self._script.hands) else ("q", "enter")))

    def _end(self, state: Table, session: RiichiSession, hand: RiichiEvent) -> None:
        """Declare riichi, one seat after the other; then win, or end the hand without a winner."""
        for seat in hand.riichi:
            if seat not in session.riichi and session.score(seat) >= session.profile.points.deposit.value:
                self._keys("i", seat[0])
                return
        if hand.wins:
            self._press(state, hand.wins)
        elif hand.reason is not None:
            self._keys("b", str(abort_reasons(state).index(hand.reason) + 1))
        else:
            self._keys("d")

    def _answer_tenpai(self, state: Table, hand: RiichiEvent) -> None:
        silent = [seat for seat in hand.tenpai if seat not in state.hand.tenpai]
        if silent:
            self._press(state, silent[:1])
        else:
            self._keys("enter")

    def _value(self, state: Table, hand: RiichiEvent) -> None:
        self._keys(*["back"] * STEPS_BACK)
        tile, several = hand.loser[0] if hand.loser else "d", len(state.declarations) > 1
        self._keys(*[tile] * len(state.declarations) * several)
        for one in state.declarations:
            self._keys(*_typed(hand.wins[one.seat]))
        self._keys(*[tile] * (not several))
        if state.session and hand.loser in state.session.riichi:
            self._keys("n")  # the riichi was declared with another tile


def _typed(win: RiichiWin) -> tuple[str, ...]:
    """Return the keys for a hand: one yakuman without pao, or han and, under five han, fu."""
    if win.yakuman:
        return "y", "enter", "enter"
    fu = (*str(win.fu), "enter") if win.han < HAN_WITHOUT_FU else ()
    return (*str(win.han), "enter", *fu)
