"""How a table's device is: what is wrong with its parts, the line at the foot of the screen, and its metrics.

Metrics are read by Prometheus on this machine alone, where the configuration asks for them. While a press may show
nowhere, nothing in them moves that a press could move: numbers of the table are those from before the play, whoever
asks how often. How hot the board is, which is read when somebody asks, tells of no finger.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from broker.logs import get_logger
from broker.protocol import DISK_STEP_MIB, LogMessage, receipt_code, receipt_link
from broker.version import program_version
from firmware.hardware.inventory import board_celsius
from firmware.reports import Health
from kiosk.config import Config
from kiosk.journal import BUCKETS_S, TableJournal
from kiosk.screens import ScreenView, StatusLine, with_receipt
from kiosk.table import FREE_TRIES, QUIET, Phase, Table
from kiosk.uplink import MIB, Uplink

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = get_logger("homologue.kiosk")


def people_health(state: Table) -> dict[str, str]:
    """Return what is reported about people: they skipped the self-test or ignored what it found, or guessed the PIN."""
    codes = {"skipped": "self_test_skipped", "failed": "self_test_failed"}
    test = {"self_test": codes[state.self_test]} if state.self_test in codes else {}
    return {**test, "pin": "pin_guessed"} if state.pins_wrong >= FREE_TRIES else test


CONTACT: Final = "contact-"
"""How the health of one seat's contact is named: pulses come where a finger moves, so it waits for the play's end."""

BUTTONS: Final = "buttons"
"""How the health of all four buttons together is named."""

CAMERA: Final = "camera"
SCREEN: Final = "screen"
LATE_PRESS: Final = "press_told_late"
"""Somebody's declaration was lost, and the arbiter must hear of it."""


LASTS_NS: Final = 3_000_000_000
"""A picture that cannot be read is told when none could be for so long; that all is well again, after as long."""


class DeviceHealth:
    """Codes of what is wrong, by part. What would reveal a press waits until the play is over."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}
        self._waiting: dict[str, str | None] = {}
        self._camera: str | None = None
        """What the camera has said of itself last."""
        self._camera_since = 0

    @property
    def codes(self) -> dict[str, str]:
        """What is wrong, by part of the device."""
        return dict(self._codes)

    def say(self, part: str, code: str | None) -> None:
        """Remember what is wrong with a part of the device; None: nothing."""
        self._codes.pop(part, None)
        if code:
            self._codes[part] = code

    def camera(self, code: str | None, now: int) -> None:
        """Take in what the camera says of itself (`now` in monotonic ns)."""
        if code != self._camera:
            self._camera, self._camera_since = code, now

    def due(self, now: int) -> None:
        """Report what has been wrong with the camera for long enough: nobody can mend one bad picture in four."""
        told = self._codes.get(CAMERA)
        of_pictures = (self._camera or told or "").startswith("picture_")
        if self._camera != told and not (of_pictures and now < self._camera_since + LASTS_NS):
            self.say(CAMERA, self._camera)

    def report(self, health: Health, phase: Phase) -> None:
        """Take in what a device says of a part of itself; how contacts are waits while the table is quiet."""
        if health.part.startswith(CONTACT) and phase in QUIET:
            self._waiting[health.part] = health.code
        else:
            self.say(health.part, health.code)

    def moved(self, table: Table) -> None:
        """Follow a table to its next state: tell what waited, forget what the arbiter has seen by then."""
        hand_is_over = table.session is not None and table.phase is Phase.RECORDED
        if table.phase is Phase.RESTORING or hand_is_over:
            self._codes = {part: code for part, code in self._codes.items() if code != LATE_PRESS}
        for part, code in self._waiting.items():
            self.say(part, code)
        self._waiting.clear()


class Receipts:
    """Receipts of one table's plays, made of what its journal holds."""

    def __init__(self, journal: TableJournal) -> None:
        self._journal = journal
        self._made: tuple[tuple[int, int, int], LogMessage | None, str | None] | None = None
        """Of which play, after how many facts; and its result with the code."""
        self._anchor: tuple[tuple[int, int], str] | None = None
        """Of which play, the first that covers it: later ones would change the QR code while it is scanned."""

    def code(self, state: Table) -> str | None:
        """Return the code while the play is recorded; None if its result does not stand."""
        play = state.play
        if play is None or state.phase is not Phase.RECORDED or state.outcome is None or state.ruled:
            return None
        asked = play.round, play.deal, self._journal.last_seq
        if self._made is None or self._made[0] != asked:
            result = self._journal.result(play.round, play.deal)
            self._made = asked, result, receipt_code(result) if result else None
        return self._made[2]

    def at_centre(self, facts: Uplink) -> bool | None:
        """Return whether the centre has the result whose code was given last; None: there is nothing to be said."""
        result = self._made[1] if self._made else None
        return facts.at_centre(result.seq) if result else None

    def anchor(self, state: Table, facts: Uplink) -> str:
        """Return the anchor of what the scorer has stored, the recorded play too; empty until it has."""
        play = (state.play.round, state.play.deal) if state.play else (0, 0)
        if self._anchor is None or self._anchor[0] != play:
            if facts.unsent or not facts.anchor:
                return ""
            self._anchor = play, facts.anchor
        return self._anchor[1]


def time_of_day() -> str:
    """Return the local time of day; for people only, nothing is decided by it."""
    return time.strftime("%H:%M")


class TableStatus:
    """What one table shows of its device."""

    def __init__(self, config: Config, journal: TableJournal, time_of_day: Callable[[], str] = time_of_day) -> None:
        self.table, self.scores, self._plain = config.table, config.screen.scores, config.broker.plain
        self._receipts = Receipts(journal)
        self._time_of_day = time_of_day

    def line(self, facts: Uplink, health: DeviceHealth, *, connected: bool, scorer_silent: bool) -> StatusLine:
        """Return the line at the foot."""
        return StatusLine(
            connected,
            facts.unsent,
            len(facts.refused),
            tuple(f"{part}: {code}" for part, code in sorted(health.codes.items())),
            self._time_of_day(),
            program_version(),
            scorer_silent=scorer_silent,
            plain=self._plain,
        )

    def with_receipt(self, view: ScreenView, state: Table, facts: Uplink) -> ScreenView:
        """Add the code of the receipt, and where to look it up if the event has made an address known."""
        code, plan = self._receipts.code(state), state.assignment
        anchor = self._receipts.anchor(state, facts) if code else ""
        link = receipt_link(plan.public_address, code, anchor) if code and plan else ""
        at_centre = self._receipts.at_centre(facts) if code else None
        return with_receipt(view, code, link, anchor, at_centre=at_centre)


HERE: Final = "127.0.0.1"

PARTS: Final = ("buttons", "camera", "scanner", "box", "disk", "broker", "facts", "plan", "wire")
"""Parts of a table that are always told of; others while something is wrong with them."""


class TableNumbers(NamedTuple):
    """What is reported about a table, as it was when something of it could be told."""

    phase: Phase
    public: str
    connected: bool
    unsent: int
    refused: int
    looks: int
    """How often the camera's picture was read."""
    health: Mapping[str, str]
    writes: tuple[tuple[int, ...], float]


class TableMetrics:
    """One table's numbers. The loop `follow`s; the server's threads read."""

    def __init__(self, disk_mib: Callable[[], int]) -> None:
        """`disk_mib`: what is free on the journal's disk, in steps; it does not move in a play."""
        self._disk_mib = disk_mib
        self._now: TableNumbers | None = None
        self.looks = 0
        """How often the camera's picture was read."""

    def follow(self, numbers: TableNumbers) -> None:
        """Take in how the table stands; in a play, only that it has begun."""
        before = self._now
        if before is None or numbers.phase not in QUIET or before.phase not in QUIET:
            self._now = numbers

    def collect(self) -> "Iterable[Metric]":
        """Return all families, as a registry of Prometheus asks for them."""
        from prometheus_client.core import (  # noqa: PLC0415 - only a table that is watched loads it
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
            InfoMetricFamily,
        )

        build = InfoMetricFamily("homologue_build", "The table's program")
        build.add_metric([], {"version": program_version()})
        yield build
        about = f"Free on the journal's disk, in steps of {DISK_STEP_MIB} MiB"
        yield GaugeMetricFamily("homologue_disk_free_bytes", about, self._disk_mib() * MIB)
        if (celsius := board_celsius()) is not None:
            yield GaugeMetricFamily("homologue_temperature_celsius", "Of the board's hottest part", celsius)
        if (now := self._now) is None:
            return
        phase = GaugeMetricFamily("homologue_phase", "What the table shows: 1 for the one that holds", labels=["phase"])
        phase.add_metric([now.public], 1)
        yield phase
        yield GaugeMetricFamily("homologue_broker_connected", "Whether the broker is reached", now.connected)
        yield GaugeMetricFamily("homologue_unsent", "Facts for which no receipt has come", now.unsent)
        yield GaugeMetricFamily("homologue_refused", "Facts that the scorer did not take", now.refused)
        yield CounterMetricFamily("homologue_camera_looks", "Pictures of the camera that were read", now.looks)
        well = GaugeMetricFamily("homologue_part_well", "Whether a part of the table is well", labels=["part", "code"])
        for part in sorted({*PARTS, *now.health}):
            well.add_metric([part, now.health.get(part, "")], part not in now.health)
        yield well
        counts, total = now.writes
        bounds = [*map(str, BUCKETS_S), "+Inf"]
        below = [sum(counts[: at + 1]) for at in range(len(counts))]
        writes = HistogramMetricFamily("homologue_journal_write_seconds", "How long writes to the journal took")
        writes.add_metric([], buckets=[*zip(bounds, below, strict=True)], sum_value=total)
        yield writes


@contextmanager
def serve_metrics(metrics: TableMetrics, port: int) -> Iterator[int]:
    """Answer on a port of this machine; return which. A port that is taken is logged, and the table plays without."""
    from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415 - as above

    registry = CollectorRegistry()
    registry.register(metrics)
    try:
        server, thread = start_http_server(port, HERE, registry)
    except OSError as error:
        log.warning("metrics_port_taken", port=port, why=error.strerror)
        yield 0
        return
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
