"""The condition of a table's device: faults of its parts, the status line of the screen, and metrics.

Metrics are served to Prometheus on this machine only, if the configuration asks for them. While presses must not show,
figures that a press could change are frozen: the table's numbers are those from before the play, however often they are
read. The board's temperature, read on request, reveals no press.
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
    """Return what is reported about people: a skipped self-test, faults it found that were ignored, or guessed PINs."""
    codes = {"skipped": "self_test_skipped", "failed": "self_test_failed"}
    test = {"self_test": codes[state.self_test]} if state.self_test in codes else {}
    return {**test, "pin": "pin_guessed"} if state.pins_wrong >= FREE_TRIES else test


CONTACT: Final = "contact-"
"""Prefix of the health of a seat's contact. A finger causes pulses, so its reports wait until the play is over."""

BUTTONS: Final = "buttons"
"""The part that stands for all four buttons together."""

CAMERA: Final = "camera"
SCREEN: Final = "screen"
LATE_PRESS: Final = "press_told_late"
"""The code for a lost declaration, of which the arbiter must hear."""


CAMERA_FAULT_NS: Final = 3_000_000_000
"""How long the picture must have been unreadable before that is reported, and readable before it is withdrawn."""


class DeviceHealth:
    """Fault codes by part. Any that could reveal a press wait until the play is over."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}
        self._waiting: dict[str, str | None] = {}
        self._camera: str | None = None
        """The camera's latest report of itself."""
        self._camera_since = 0

    @property
    def codes(self) -> dict[str, str]:
        """The current fault codes, by part of the device."""
        return dict(self._codes)

    def set(self, part: str, code: str | None) -> None:
        """Set the fault of a part; None clears it."""
        self._codes.pop(part, None)
        if code:
            self._codes[part] = code

    def camera(self, code: str | None, now: int) -> None:
        """Accept the camera's report of itself (`now` in monotonic ns)."""
        if code != self._camera:
            self._camera, self._camera_since = code, now

    def due(self, now: int) -> None:
        """Report a camera fault that has lasted long enough: nobody can mend one bad picture in four."""
        shown = self._codes.get(CAMERA)
        of_pictures = (self._camera or shown or "").startswith("picture_")
        if self._camera != shown and not (of_pictures and now < self._camera_since + CAMERA_FAULT_NS):
            self.set(CAMERA, self._camera)

    def report(self, health: Health, phase: Phase) -> None:
        """Accept a device's report of a part; reports of contacts wait while the table is quiet."""
        if health.part.startswith(CONTACT) and phase in QUIET:
            self._waiting[health.part] = health.code
        else:
            self.set(health.part, health.code)

    def state_changed(self, table: Table) -> None:
        """Follow the table to its next state: report what waited, and clear what the arbiter has seen by then."""
        hand_is_over = table.session is not None and table.phase is Phase.RECORDED
        if table.phase is Phase.RESTORING or hand_is_over:
            self._codes = {part: code for part, code in self._codes.items() if code != LATE_PRESS}
        for part, code in self._waiting.items():
            self.set(part, code)
        self._waiting.clear()


class Receipts:
    """Receipt codes of a table's plays, from its journal."""

    def __init__(self, journal: TableJournal) -> None:
        self._journal = journal
        self._cached: tuple[tuple[int, int, int], LogMessage | None, str | None] | None = None
        """The play with the number of facts at that time, its result, and the code."""
        self._anchor: tuple[tuple[int, int], str] | None = None
        """The play, and the first anchor to cover it: later ones would change the QR code while it is scanned."""

    def code(self, state: Table) -> str | None:
        """Return the code while the play is recorded; None if it has no valid result."""
        play = state.play
        if play is None or state.phase is not Phase.RECORDED or state.outcome is None or state.ruled:
            return None
        key = play.round, play.deal, self._journal.last_seq
        if self._cached is None or self._cached[0] != key:
            result = self._journal.result(play.round, play.deal)
            self._cached = key, result, receipt_code(result) if result else None
        return self._cached[2]

    def at_centre(self, facts: Uplink) -> bool | None:
        """Return whether the centre has the result whose code was returned last; None if that is unknown."""
        result = self._cached[1] if self._cached else None
        return facts.at_centre(result.seq) if result else None

    def anchor(self, state: Table, facts: Uplink) -> str:
        """Return the anchor of what the scorer has stored, once that includes the recorded play; "" before."""
        play = (state.play.round, state.play.deal) if state.play else (0, 0)
        if self._anchor is None or self._anchor[0] != play:
            if facts.unsent or not facts.anchor:
                return ""
            self._anchor = play, facts.anchor
        return self._anchor[1]


def time_of_day() -> str:
    """Return the local time of day. It is shown to people; no decision depends on it."""
    return time.strftime("%H:%M")


class TableStatus:
    """What a table's screen shows of its device."""

    def __init__(self, config: Config, journal: TableJournal, time_of_day: Callable[[], str] = time_of_day) -> None:
        self.table, self.scores, self._plain = config.table, config.screen.scores, config.broker.plain
        self._receipts = Receipts(journal)
        self._time_of_day = time_of_day

    def line(self, facts: Uplink, health: DeviceHealth, *, connected: bool, scorer_silent: bool) -> StatusLine:
        """Return the status line at the foot of the screen."""
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
        """Add the receipt's code, and a link to look it up if the event has a public address."""
        code, plan = self._receipts.code(state), state.assignment
        anchor = self._receipts.anchor(state, facts) if code else ""
        link = receipt_link(plan.public_address, code, anchor) if code and plan else ""
        at_centre = self._receipts.at_centre(facts) if code else None
        return with_receipt(view, code, link, anchor, at_centre=at_centre)


LOCALHOST: Final = "127.0.0.1"

PARTS: Final = ("buttons", "camera", "scanner", "box", "disk", "broker", "facts", "plan", "wire")
"""Parts of a table that are always reported; others only while they have a fault."""


class TableNumbers(NamedTuple):
    """The reported numbers of a table, from the last time that they could be shown."""

    phase: Phase
    public: str
    connected: bool
    unsent: int
    refused: int
    looks: int
    """How many pictures of the camera were read."""
    health: Mapping[str, str]
    writes: tuple[tuple[int, ...], float]


class TableMetrics:
    """Metrics of one table. The loop calls `follow`; the server's threads read."""

    def __init__(self, disk_mib: Callable[[], int]) -> None:
        """`disk_mib` returns the free space of the journal's disk, in steps that do not change in a play."""
        self._disk_mib = disk_mib
        self._now: TableNumbers | None = None
        self.looks = 0
        """How many pictures of the camera were read."""

    def follow(self, numbers: TableNumbers) -> None:
        """Update the numbers. In a play, only its beginning is noted."""
        before = self._now
        if before is None or numbers.phase not in QUIET or before.phase not in QUIET:
            self._now = numbers

    def collect(self) -> "Iterable[Metric]":
        """Yield all metric families, as a Prometheus registry expects."""
        from prometheus_client.core import (  # noqa: PLC0415 - loaded only if metrics are on
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
    """Serve metrics on a local port; yield the port. If it is taken, that is logged, and the table does without."""
    from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415 - loaded only if metrics are on

    registry = CollectorRegistry()
    registry.register(metrics)
    try:
        server, thread = start_http_server(port, LOCALHOST, registry)
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
