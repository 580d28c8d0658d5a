"""How one table's program and device are, as Prometheus reads it: on this machine alone, where the configuration asks.

While a press may show nowhere, nothing here moves that a press could move: numbers of the table are those from before
the play, whoever asks how often. How hot the board is, which is read when somebody asks, tells of no finger.
"""

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from broker.logs import get_logger
from broker.protocol import DISK_STEP_MIB
from broker.version import program_version
from firmware.hardware.inventory import board_celsius
from kiosk.table import QUIET, Phase

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = get_logger("homologue.kiosk")

HERE: Final = "127.0.0.1"
MIB: Final = 1024 * 1024

PARTS: Final = ("buttons", "camera", "scanner", "box", "disk", "broker", "facts", "plan", "wire")
"""Parts of a table that are always told of; others while something is wrong with them."""

BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Of a write to the journal: a good card takes some ms, a worn one half a second."""


class WriteTimes:
    """How long writes to the journal took."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._total = seconds, 0.0
        self._counts = [0] * (len(BUCKETS_S) + 1)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure one write."""
        began = self._seconds()
        yield
        took = self._seconds() - began
        self._total += took
        self._counts[bisect_left(BUCKETS_S, took)] += 1

    def now(self) -> tuple[tuple[int, ...], float]:
        """Return how many writes there were in each bucket, the last without a bound, and their whole time in s."""
        return tuple(self._counts), self._total


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

    def __init__(self, room: Callable[[], int]) -> None:
        """`room`: bytes that are free on the journal's disk."""
        self._room = room
        self._kept: int | None = None
        self._now: TableNumbers | None = None
        self.looks = 0
        """How often the camera's picture was read."""

    def follow(self, numbers: TableNumbers) -> None:
        """Take in how the table stands; in a play, only that it has begun."""
        before = self._now
        if before is None or numbers.phase not in QUIET or before.phase not in QUIET:
            self._now = numbers

    def _free(self) -> int:
        """Return how much of the disk is free, in steps; in a play, as it was when somebody asked before it."""
        if self._kept is None or self._now is None or self._now.phase not in QUIET:
            self._kept = self._room() // (DISK_STEP_MIB * MIB) * DISK_STEP_MIB * MIB
        return self._kept

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
        yield GaugeMetricFamily("homologue_disk_free_bytes", about, self._free())
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
