"""One table's program: threads put events on one queue, one loop alone changes state and shows what follows."""

import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from broker.contract import topics
from broker.contract.link import Acknowledge, Link, Will
from broker.contract.messages import Assignment, Order, Receipt, TableState
from broker.contract.wire import Refused, decode_at, encode
from broker.contract.words import Lifecycle, Seat
from kiosk.config import Settings
from kiosk.core import Core
from kiosk.entry import Form, FoundFalse, Won, press
from kiosk.eyes import CameraHealth
from kiosk.journal import Journal
from kiosk.screens.shown import Line, Shown, shown
from kiosk.table.errors import NotNow
from kiosk.table.events import (
    Assigned,
    ButtonPressed,
    CallToggled,
    ClaimWindowElapsed,
    Event,
    FalseHuRuled,
    NextDealCalled,
    PlayEndedDrawn,
    ResultRefused,
    TrayChecked,
    ValueEntered,
)
from kiosk.table.machine import BETWEEN
from kiosk.table.state import Phase, Table
from kiosk.uplink import Uplink

GRACE_NS: Final = 150_000_000
"""After the claim window's end, for edges that are still on their way from the pins; they count by their time."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as it came."""

    topic: str
    payload: bytes
    acknowledge: Acknowledge


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The broker accepted us, or was lost."""

    up: bool


Item = Incoming | LinkChanged | TrayChecked | CameraHealth | ButtonPressed
"""What other threads put on the queue."""


class Program:
    """The loop of one table. Devices are given to it; it never asks which kind they are."""

    def __init__(self, settings: Settings, journal: Journal, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._config, self._journal, self._clock = settings.config, journal, clock
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._core = Core(journal, lambda: time.time_ns() // 1_000_000)
        self._core.restarted(clock())
        self._link = self._make_link(settings)
        self._uplink = Uplink(journal, self._link, self._config.event, self._config.table)
        self._offered: Assignment | None = None
        self._receipted = not journal.empty
        self._obeyed: deque[str] = deque(maxlen=100)
        """Orders that were carried out: the wire may bring one twice, and a new call must not be cleared by it."""
        self._form: Form | None = None
        self._problem: str | None = None
        self._health: dict[str, str] = {}
        self._lifecycle: Lifecycle = "ready"

    def _make_link(self, settings: Settings) -> Link:
        name, table = self._config.event, self._config.table
        self._lifecycle = "lost"
        will = Will(topics.STATE.at(name, table=table), encode(self._table_state()))
        return Link(
            settings.address(),
            client_id=f"homologue-{name}-table-{table}",
            topics=[topic.at(name, table=table) for topic in (topics.RECEIPT, topics.ASSIGNMENT, topics.ORDER)],
            on_message=lambda topic, payload, ack: self._queue.put(Incoming(topic, payload, ack)),
            on_up=lambda: self._queue.put(LinkChanged(up=True)),
            on_down=lambda: self._queue.put(LinkChanged(up=False)),
            will=will,
        )

    # ---- from other threads -----------------------------------------------------------------

    def pressed(self, seat: str, edge: int) -> None:
        """Take a button's edge in; from the pins' threads."""
        self._queue.put(ButtonPressed(at=edge, seat=cast("Seat", seat)))

    def seen(self, item: TrayChecked | CameraHealth) -> None:
        """Take in what the camera says; from the eyes' thread."""
        self._queue.put(item)

    # ---- the loop ---------------------------------------------------------------------------

    @property
    def state(self) -> Table:
        """The table as it stands."""
        return self._core.state

    def start(self) -> None:
        """Begin to connect."""
        self._link.start()

    def stop(self) -> None:
        """Say that we go, and go."""
        self._lifecycle = "disconnected"
        self._uplink.say(self._table_state)
        self._link.flush(2.0)
        self._link.stop()

    def step(self, timeout: float) -> None:
        """Take in what has happened, then see what is due."""
        try:
            item: Item | None = self._queue.get(timeout=timeout)
        except queue.Empty:
            item = None
        while item is not None:
            self._take(item)
            item = None if self._queue.empty() else self._queue.get()
        self._due(self._clock())
        self._follow()

    def _take(self, item: Item) -> None:
        match item:
            case Incoming():
                self._message(item)
            case LinkChanged():
                self._link_changed(up=item.up)
            case CameraHealth(code=None):
                self._health.pop("camera", None)
            case CameraHealth(code=str() as code):
                self._health["camera"] = code
            case TrayChecked() | ButtonPressed():
                self._apply(item)

    def _apply(self, event: Event) -> str | None:
        """Take one event in; give the code if it was not to be."""
        try:
            facts = self._core.apply(event)
        except NotNow as refusal:
            return refusal.code
        self._uplink.send(facts, self._clock())
        return None

    def _message(self, incoming: Incoming) -> None:
        """Messages on our topics come from the scorer and the desk; what cannot be read is dropped, never obeyed."""
        try:
            _, message = decode_at(incoming.topic, incoming.payload)
        except Refused as refused:
            self._health["wire"] = refused.code
        else:
            self._health.pop("wire", None)
            if isinstance(message, Receipt):
                self._uplink.settle(message)
                self._core.taken_upto = max(self._core.taken_upto, message.upto)
                self._receipted = True
            elif isinstance(message, Assignment):
                self._offered = message
            elif isinstance(message, Order) and message.id not in self._obeyed:
                self._obeyed.append(message.id)
                self._apply(CallToggled(at=self._clock(), open=False))
        incoming.acknowledge()

    def _link_changed(self, *, up: bool) -> None:
        if up:
            self._uplink.say(self._table_state, again=True)
            self._uplink.resend(self._clock())

    def _due(self, now: int) -> None:
        deadline = self.state.claim_deadline
        if deadline is not None and now >= deadline + GRACE_NS:
            self._apply(ClaimWindowElapsed(at=now))
        if self._offered and self._receipted and self.state.phase in BETWEEN:
            self._assign(self._offered, now)
        if self._link.up and self._uplink.overdue(now):
            self._uplink.resend(now)

    def _assign(self, offered: Assignment, now: int) -> None:
        self._offered = None
        had = self.state.assignment
        if had is None or (had.plays, had.profile) != (offered.plays, offered.profile):
            done = set(offered.recorded)
            first = next((at for at, play in enumerate(offered.plays) if play.round not in done), len(offered.plays))
            code = self._apply(Assigned(at=now, assignment=offered, first=first))
            self._health.pop("plan", None)
            if code:
                self._health["plan"] = code

    def _follow(self) -> None:
        """What follows from the state: the form at the keyboard, and what the table says of itself."""
        state = self.state
        declared = tuple(one.seat for one in state.declarations) if state.phase is Phase.DECLARED else ()
        if not declared:
            self._form = None
        elif self._form is None or self._form.declared != declared:
            self._form = Form(declared, state.profile.false_hu.fines.value)
        if self._link.up:
            self._uplink.say(self._table_state)

    # ---- the keyboard -----------------------------------------------------------------------

    def key(self, key: str) -> None:
        """Take one key in."""
        now, phase = self._clock(), self.state.phase
        plain: dict[tuple[Phase, str], Event] = {
            (Phase.PLAYING, "d"): PlayEndedDrawn(at=now),
            (Phase.ACCEPTING, "r"): ResultRefused(at=now),
            (Phase.RECORDED, "enter"): NextDealCalled(at=now),
        }
        if key == "c":
            self._problem = self._apply(CallToggled(at=now, open=not self.state.calling))
        elif event := plain.get((phase, key)):
            self._problem = self._apply(event)
        elif self._form is not None:
            self._fill(self._form, key, now)
        self._follow()

    def _fill(self, form: Form, key: str, now: int) -> None:
        filled = press(form, key)
        if isinstance(filled, Form):
            self._form, self._problem = filled, None
            return
        self._form = None
        if isinstance(filled, FoundFalse):
            ruling = FalseHuRuled(at=now, seat=filled.seat, imp=filled.imp, reason="false hu")
            self._problem = self._apply(ruling)
        elif isinstance(filled, Won):
            win: Event = ValueEntered(
                at=now,
                win="discard" if filled.discarder else "self_drawn",
                winners=filled.winners,
                discarder=filled.discarder,
            )
            self._problem = self._apply(win)

    # ---- what is seen and said --------------------------------------------------------------

    def shown(self) -> Shown:
        """Give what is to be seen."""
        health = tuple(f"{device}: {code}" for device, code in sorted(self._health.items()))
        line = Line(self._link.up, self._uplink.unsent, self._uplink.refused, health)
        return shown(self._config.table, self.state, self._form, line, self._problem)

    def _table_state(self) -> TableState:
        state = self.state
        return TableState(
            id=uuid.uuid4().hex,
            event=self._config.event,
            table=self._config.table,
            seq=self._journal.last_seq,
            device=self._journal.device,
            lifecycle=self._lifecycle,
            state=state.public,
            round=state.play.round if state.play else None,
            deal=state.play.deal if state.play else None,
            unsent=self._uplink.unsent if self._lifecycle != "lost" else 0,
            calling=state.calling,
            health=dict(self._health) if self._lifecycle != "lost" else {},
        )


def run(program: Program, stop: threading.Event, each_round: Callable[[], None]) -> None:
    """Work until told to stop: 30 rounds a second, faster when something happens."""
    program.start()
    try:
        while not stop.is_set():
            program.step(timeout=1 / 30)
            each_round()
    finally:
        program.stop()
