"""`/metrics`: the state of scorer, broker, disk and tables, for Prometheus.

Reading it takes a token for this purpose or the head arbiter's login. Requests from this machine are no exception: a
reverse proxy sends from here on behalf of everybody behind it, and so does every program that runs here.

A number that changes when something happens at a table gives away deals under embargo, or that somebody has declared. A
monitor's screen may hang in the hall, so its token gets only numbers that change with the clock or are on the public
pages, and sizes in steps too large to be moved by a result. Counts of messages need an arbiter's token.
"""

import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, get_args

from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.protocol import BEAT_S, DISK_STEP_MIB
from broker.scorer import DashboardView, DiskLevel, disk_room
from broker.scorer.devices import Reading
from broker.version import program_version
from broker.web import Access, embargo, render, visitor_of
from broker.web.services import ScorerThread, Services

MIB: Final = 1024 * 1024
STEP: Final = DISK_STEP_MIB * MIB
CACHE_S: Final = 1.0
"""Seconds for which an answer is reused, so that frequent requests cost the scorer nothing."""


class MetricsPage:
    """Serves metrics to monitoring programs."""

    def __init__(self, access: Access, feeds: embargo.Feeds, services: Services, scorer: ScorerThread) -> None:
        self._access, self._scorer, self._services = access, scorer, services
        self._room, self._public = feeds.room, feeds.public
        self._cached: dict[bool, tuple[float, bytes]] = {}

    def route(self) -> Route:
        """Return the route of the page."""
        return self._access.route("/metrics", self.read, "see_metrics", tokens=True)

    async def read(self, request: Request) -> Response:
        """Answer with the metrics that this visitor may see."""
        body = await run_in_threadpool(self._text, arbiter=visitor_of(request).may("see_room"))
        return Response(body, media_type=CONTENT_TYPE_LATEST)

    def _text(self, *, arbiter: bool) -> bytes:
        now, (until, body) = time.monotonic(), self._cached.get(arbiter, (float("-inf"), b""))
        if now >= until:
            families = [*self._public_metrics(now), *(self._arbiter_metrics() if arbiter else ())]
            body = generate_latest(_Families(families))
            body += generate_latest(self._scorer.wire.metrics.registry) if arbiter else b""
            self._cached[arbiter] = now + CACHE_S, body
        return body

    def _public_metrics(self, now: float) -> Iterator[Metric]:
        """Yield metrics that change with the clock or are public."""
        view, services = self._public.current, self._services
        build = InfoMetricFamily("homologue_build", "The scorer's program, and where it runs")
        build.add_metric(
            [], {"version": program_version(), "python": platform.python_version(), "broker": services.broker_kind}
        )
        yield build
        yield gauge("homologue_broker_connected", "Whether the scorer is connected to the broker", view.connected)
        yield gauge("homologue_plays", "Plays whose result is in", view.plays_in)
        yield gauge("homologue_plays_expected", "Plays in the event", view.plays_expected)
        yield gauge("homologue_event_final", "Whether the standings are final", view.final)
        states = Counter(render.card_state(table) for table in view.tables)
        yield gauges(
            "homologue_tables",
            "Tables by state on the public page",
            "state",
            {one: states[one] for one in render.SIGNS},
        )
        yield gauges(
            "homologue_disk_level",
            "Free space on the scorer's disk: 1 for the current level",
            "level",
            {level: level == self._room.current.disk for level in get_args(DiskLevel)},
        )
        if services.folder:
            free = disk_room(services.folder)[0] // STEP * STEP
            yield gauge("homologue_disk_free_bytes", f"Free disk space, in steps of {DISK_STEP_MIB} MiB", free)
        yield gauge("homologue_memory_bytes", f"Memory of the scorer, in steps of {DISK_STEP_MIB} MiB", _memory())
        age = services.backup_age_s()
        if age is not None:
            yield gauge("homologue_backup_age_seconds", "Seconds since the last backup of the event", age)
        yield from self._tables(view, now)

    def _tables(self, view: DashboardView, now: float) -> Iterator[Metric]:
        def read() -> tuple[dict[int, Reading], dict[int, str]]:
            devices = self._scorer.live.devices
            return dict(devices.readings), {
                table: state.version for table, state in devices.states.last.items() if state.version
            }

        readings, versions = self._scorer.ask(read)
        yield gauges(
            "homologue_table_away",
            "Whether a table was connected and has disappeared",
            "table",
            {table.table: table.away for table in view.tables},
        )
        yield gauges(
            "homologue_table_last_heard_seconds",
            f"Seconds since a table's last heartbeat, which it sends every {BEAT_S} s",
            "table",
            {table: int(now - one.heard_at) for table, one in readings.items()},
        )
        of_device: tuple[tuple[str, str, Callable[[Reading], float | None]], ...] = (
            ("clock_offset_seconds", "How far a table's clock is ahead", _offset_s),
            ("disk_free_bytes", f"Free disk space of a table, in steps of {DISK_STEP_MIB} MiB", _disk_bytes),
            ("temperature_celsius", "Temperature of a table's board", lambda one: one.celsius),
        )
        for name, about, value in of_device:
            found = {table: value(one) for table, one in readings.items()}
            known = {table: number for table, number in found.items() if number is not None}
            yield gauges(f"homologue_table_{name}", about, "table", known)
        family = InfoMetricFamily("homologue_table_build", "The program of a table", labels=["table"])
        for table, version in sorted(versions.items()):
            family.add_metric([str(table)], {"version": version})
        yield family

    def _arbiter_metrics(self) -> Iterator[Metric]:
        """Yield metrics for arbiters only."""
        view = self._room.current
        alerts = Counter(alert.code for alert in view.alerts if alert.seen is None)
        yield gauges("homologue_alerts", "Unseen alerts", "code", alerts)
        yield gauge("homologue_calls", "Tables calling an arbiter", sum(table.calling for table in view.tables))
        yield gauge("homologue_quarantined_plays", "Plays with messages that are kept apart", view.apart)
        yield gauge("homologue_lost_messages", "Stored messages that are now missing", view.lost)
        yield gauge("homologue_queue_length", "Messages queued for the scorer", self._scorer.waiting)
        yield gauges(
            "homologue_table_unsent",
            "Facts of a table that the scorer has not acknowledged",
            "table",
            {table.table: table.unsent for table in view.tables},
        )


def _offset_s(reading: Reading) -> float | None:
    """Return the clock offset in tenths of a second; finer digits only reflect how busy the scorer was."""
    return None if reading.offset_ms is None else round(reading.offset_ms / 1000, 1)


def _disk_bytes(reading: Reading) -> int | None:
    return None if reading.disk_mib is None else reading.disk_mib * MIB


class _Families(Collector):
    """Presents finished metric families as a registry expects them."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """Return the families."""
        return self._families


def gauge(name: str, about: str, value: float) -> Metric:
    """Return a gauge with one value."""
    return GaugeMetricFamily(name, about, value)


def gauges(name: str, about: str, label: str, values: Mapping[Any, float]) -> Metric:
    """Return a gauge with one value per label value."""
    family = GaugeMetricFamily(name, about, labels=[label])
    for of, value in sorted(values.items()):
        family.add_metric([str(of)], value)
    return family


def _memory() -> int:
    """Return the memory of this process in bytes, in steps of `STEP`; 0 if unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - not one of our files
            return int(statm.read().split()[1]) * 4096 // STEP * STEP
    except (OSError, ValueError):
        return 0
