"""One run of a kiosk's program: performs a day's actions one after the other, on a clock set by hand."""

import hashlib
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial, singledispatchmethod
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

from broker.i18n import Translator
from broker.protocol import Fact, LogMessage, Order, Receipt, Taken, decode, topics
from firmware.reports import Held, Pressed, Released, Report, Scanned
from kiosk import arbiter_pin
from kiosk.camera.thread import CameraThread
from kiosk.config import KioskSettings, ScreenSettings
from kiosk.journal import TableJournal
from kiosk.loop import LoopRound
from kiosk.program import TableProgram
from kiosk.screens import RecordedView, ScreenView, ScreenWindow, StatusLine, type_key, with_receipt
from kiosk.table import Phase
from kiosk.table.events import Restarted, TrayChecked
from tests.kiosk.cuts import actions as do
from tests.kiosk.cuts.air import Air
from tests.kiosk.journals import OURS
from tests.kiosk.judging import tell_pin
from tests.kiosk.screens.pixels import shown_pixels
from tests.kiosk.standing import CONFIG, Time
from tests.kiosk.table.timeless import without_times
from tests.kiosk.tables import EVENT, HOLD, MS, STORE, TABLE, S, play, right, strange, swapped
from vision.cameras.addresses import open_camera

SCREEN: Final = ScreenSettings(driver="dummy", dim_after_s=0)

MOST_NAMED: Final = 100
"""Most facts that a receipt names."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a table apart from its clock: what must be the same with and without a cut."""

    table: tuple[object, ...]
    shown: ScreenView
    facts: tuple[Fact, ...]
    """All facts, with or without a receipt."""
    pending: tuple[Fact, ...]
    picture: str | None
    """A digest of the screen's pixels; None while a random code is on it."""


def set_up(folder: Path) -> None:
    """Write a table's configuration, with a PIN."""
    folder.mkdir(exist_ok=True)
    (folder / "password").write_text("secret", encoding="utf-8")
    (folder / "password").chmod(0o600)
    (folder / "table.toml").write_text(CONFIG + '[screen]\ndriver = "dummy"\n', encoding="utf-8")
    tell_pin(folder)


class Running:
    """A running program: real journal, real window, real loop; the broker is `Air`."""

    def __init__(self, folder: Path, done: int, now: int, room: Callable[[str, bytes], None]) -> None:
        self._folder, self._done, self._time, self._pressed_at = folder, done, Time(), now
        self._time.now = now
        self._opened = ExitStack()
        settings = KioskSettings(folder / "table.toml")
        self._journal = TableJournal(folder / "table.sqlite", OURS)
        self._opened.callback(self._journal.close)
        # A session's name is random; after a cut it must equal the twin's.
        drawn = SimpleNamespace(token_hex=lambda count: f"{self._done:0{2 * count}x}")
        self._opened.enter_context(patch.object(arbiter_pin, "secrets", drawn))
        self._window = self._opened.enter_context(ScreenWindow(SCREEN, Translator("en"), self._time))
        self._program = TableProgram(settings, self._journal, self._time, lambda: "14:05", partial(self._air, room))
        self._window.show(self._program.view())

    def _air(self, room: Callable[[str, bytes], None], tell: Any) -> Air:  # noqa: ANN401 - passed on as it is
        self._wire = Air(self._folder, self._done, room, tell)
        return self._wire

    def begin(self) -> None:
        """Do what follows the first picture."""
        self._journal.allocate_log()
        camera = CameraThread(lambda: open_camera("sim://tray"), self._program.observe, self._time)
        self._round = LoopRound(self._program, self._window, camera, lambda *_: None, threading.Event())
        self._program.start()
        self._work()

    def close(self) -> None:
        """End as a program does that is told to stop."""
        self._opened.close()

    def pass_time(self, ns: int) -> None:
        """Let time pass."""
        self._time.wait(ns)

    @property
    def now(self) -> int:
        """The clock, in ns."""
        return self._time.now

    @property
    def phase(self) -> Phase:
        """The table's phase."""
        return self._program.state.phase

    @property
    def events(self) -> int:
        """Number of events in the journal, without starts."""
        return sum(not isinstance(one, Restarted) for one in self._journal.events())

    def snapshot(self) -> Snapshot:
        """Return the state of the table."""
        rows = self._journal._store.execute("SELECT body FROM outbox ORDER BY seq")
        facts = tuple(decode(LogMessage, body).fact for (body,) in rows)
        pending = tuple(one.fact for one in self._journal.unsent())
        seen = self._program.view()
        steady = seen.problem is None and not _has_receipt(seen) and not seen.line.health
        return Snapshot(
            without_times(self._program.state), steadied(seen), facts, pending, picture() if steady else None
        )

    def take(self, action: do.Action) -> None:
        """Perform one action, and let the program handle it."""
        self._do(action)
        self._work()
        self._done += 1

    def _work(self) -> None:
        """Run the loop until nothing is left to do."""
        for _ in range(2):
            self._program.step(timeout=0)
            self._round()

    def _tell(self, report: Report) -> None:
        self._program.report(report)
        self._program.step(timeout=0)

    @singledispatchmethod
    def _do(self, action: do.Action) -> None:
        raise TypeError(action)

    @_do.register
    def _(self, action: do.Press) -> None:
        self._pressed_at = self._time.wait(action.wait)
        self._tell(Pressed(action.seat, self._pressed_at))

    @_do.register
    def _(self, action: do.Release) -> None:
        self._tell(Released(action.seat, self._time.wait(60 * MS)))

    @_do.register
    def _(self, action: do.Hold) -> None:
        window = self._program.state.window
        edges = [one.at for one in window.presses if one.seat == action.seat] if window else []
        self._time.wait(HOLD)
        self._tell(Held(action.seat, edges[0] if edges else self._pressed_at))

    @_do.register
    def _(self, action: do.Tap) -> None:
        self._tell(Pressed(action.seat, self._time.wait(1200 * MS)))
        self._tell(Released(action.seat, self._time.wait(60 * MS)))

    @_do.register
    def _(self, action: do.Keys) -> None:
        for key in action.keys:
            self._time.wait(1200 * MS)
            type_key(key)
            self._round()

    @_do.register
    def _(self, action: do.Choose) -> None:
        panel = self._program.view().panel
        assert panel is not None, f"no panel to choose {action.act} on"
        assert action.act in panel.acts, f"{action.act} is not among {panel.acts}"
        self._do(do.Keys((str((panel.acts.index(action.act) + 1) % 10),)))

    @_do.register
    def _(self, action: do.Look) -> None:
        planned, at = play(action.round), self._time.wait()
        looks = {"right": right, "swapped": swapped, "unread": unread, "strange": strange}
        self._program.observe(looks[action.seen](planned, action.seat, at))

    @_do.register
    def _(self, action: do.Scan) -> None:
        serials = [one for row in play(action.round).order[action.seat] for one in row]
        self._tell(Scanned(serials[action.place], None, self._time.wait(300 * MS)))

    @_do.register
    def _(self, action: do.Plan) -> None:
        self._time.wait()
        self._wire.say(self._done, topics.ASSIGNMENT, action.assignment)

    @_do.register
    def _(self, _: do.Receipt) -> None:
        rows = [*self._journal._store.execute("SELECT seq, id FROM outbox ORDER BY seq")][-MOST_NAMED:]
        taken = tuple(Taken(seq=seq, id=one) for seq, one in rows)
        upto = max((one.seq for one in taken), default=0)
        receipt = Receipt(
            id="receipt-1", event=EVENT, seq=1, table=TABLE, store=STORE, upto=upto, gaps=(), taken=taken, refused=()
        )
        self._wire.say(self._done, topics.RECEIPT, receipt)

    @_do.register
    def _(self, action: do.Give) -> None:
        self._time.wait()
        order = Order(
            id=f"order-0{action.seq}",
            event=EVENT,
            seq=action.seq,
            table=TABLE,
            command=action.command,
            minutes=action.minutes,
            author="Anne Arbiter",
        )
        self._wire.say(self._done, topics.ORDER, order)

    @_do.register
    def _(self, _: do.WindowOver) -> None:
        while (closes_at := self._program.state.closes_at) is not None:
            self._time.now = max(self._time.now, closes_at) + S
            self._program.step(timeout=0)

    @_do.register
    def _(self, _: do.Doubted) -> None:
        closes_at = self._program.state.closes_at
        assert closes_at is not None, "nobody has pressed"
        self._time.now = max(self._time.now, closes_at) + S
        self._program.step(timeout=0)
        assert self._program.state.doubt == "asked"


def unread(planned: Any, seat: Any, at: int) -> TrayChecked:  # noqa: ANN401 - as `right` and `swapped`
    """Return the check of a tray with one tile that could not be read."""
    (_, *hand), *walls = planned.order[seat]
    return TrayChecked(at=at, seat=seat, rows=((None, *hand), *walls))


def steadied(seen: ScreenView) -> ScreenView:
    """Leave out what is momentary or random: why the last key was refused, and a code made from a random id."""
    line = StatusLine(up=seen.line.up, unsent=seen.line.unsent, refused=seen.line.refused)
    return replace(with_receipt(seen, "made") if _has_receipt(seen) else seen, problem=None, line=line)


def _has_receipt(seen: ScreenView) -> bool:
    return isinstance(seen.phase, RecordedView) and seen.phase.receipt is not None


def picture() -> str:
    """Return a digest of the screen."""
    return hashlib.sha256(shown_pixels()).hexdigest()
