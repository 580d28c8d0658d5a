"""`/metrics`: how scorer, broker, disk and tables are, as Prometheus reads it.

Who may read it has a token for that, or is the head arbiter. There is no exception for this machine itself: a reverse
proxy speaks from here for everybody behind it, and so does every program that runs here.

A number that moves when something happens at a table tells of deals under embargo, and that somebody has declared. So a
token of a monitor, whose screen may hang in the hall, gets what the clock alone moves or everybody may see on the
public pages; sizes are told in steps that no result moves. Counts of messages are for arbiters' tokens.
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
KEPT_S: Final = 1.0
"""An answer is given again for so long: who asks without end costs the scorer nothing."""


class MetricsPage:
    """Answers programs that watch."""

    def __init__(self, access: Access, feeds: embargo.Feeds, services: Services, scorer: ScorerThread) -> None:
        self._access, self._scorer, self._services = access, scorer, services
        self._room, self._public = feeds.room, feeds.public
        self._kept: dict[bool, tuple[float, bytes]] = {}

    def route(self) -> Route:
        """Return the route."""
        return self._access.route("/metrics", self.read, "see_metrics", tokens=True)

    async def read(self, request: Request) -> Response:
        """Answer what this visitor may know."""
        body = await run_in_threadpool(self._text, inside=visitor_of(request).may("see_room"))
        return Response(body, media_type=CONTENT_TYPE_LATEST)

    def _text(self, *, inside: bool) -> bytes:
        now, (until, body) = time.monotonic(), self._kept.get(inside, (float("-inf"), b""))
        if now >= until:
            body = generate_latest(_Families([*self._open(now), *(self._inside() if inside else ())]))
            body += generate_latest(self._scorer.wire.metrics.registry) if inside else b""
            self._kept[inside] = now + KEPT_S, body
        return body

    def _open(self, now: float) -> Iterator[Metric]:
        """Return what the clock moves, and what everybody may know."""
        view, services = self._public.current, self._services
        build = InfoMetricFamily("homologue_build", "The scorer's program, and where it runs")
        build.add_metric(
            [], {"version": program_version(), "python": platform.python_version(), "broker": services.broker_kind}
        )
        yield build
        yield gauge("homologue_broker_connected", "Whether the scorer is connected with the broker", view.connected)
        yield gauge("homologue_plays", "Plays whose result is in", view.plays_in)
        yield gauge("homologue_plays_expected", "Plays that the event has", view.plays_expected)
        yield gauge("homologue_event_final", "Whether the standings are final", view.final)
        states = Counter(render.card_state(table) for table in view.tables)
        yield gauges(
            "homologue_tables",
            "Tables, by what the public page shows",
            "state",
            {one: states[one] for one in render.SIGNS},
        )
        yield gauges(
            "homologue_disk_level",
            "How much room the scorer's disk has: 1 for the one that holds",
            "level",
            {level: level == self._room.current.disk for level in get_args(DiskLevel)},
        )
        if services.folder:
            free = disk_room(services.folder)[0] // STEP * STEP
            yield gauge("homologue_disk_free_bytes", f"Free for the event, in steps of {DISK_STEP_MIB} MiB", free)
        yield gauge("homologue_memory_bytes", f"Memory of the scorer, in steps of {DISK_STEP_MIB} MiB", _memory())
        age = services.backup_age_s()
        if age is not None:
            yield gauge("homologue_backup_age_seconds", "Since the last copy of the event was made", age)
        yield from self._tables(view, now)

    def _tables(self, view: DashboardView, now: float) -> Iterator[Metric]:
        def look() -> tuple[dict[int, Reading], dict[int, str]]:
            devices = self._scorer.live.devices
            return dict(devices.readings), {
                table: state.version for table, state in devices.states.last.items() if state.version
            }

        readings, versions = self._scorer.ask(look)
        yield gauges(
            "homologue_table_away",
            "Whether a table was there and is not any more",
            "table",
            {table.table: table.away for table in view.tables},
        )
        said = "Since a table said that it is there, which it does by the clock"
        yield gauges(
            "homologue_table_last_heard_seconds",
            f"{said}, each {BEAT_S} s",
            "table",
            {table: int(now - one.heard_at) for table, one in readings.items()},
        )
        of_device: tuple[tuple[str, str, Callable[[Reading], float | None]], ...] = (
            ("clock_offset_seconds", "How far a table's clock is ahead", _offset_s),
            ("disk_free_bytes", f"Free on a table's disk, in steps of {DISK_STEP_MIB} MiB", _disk_bytes),
            ("temperature_celsius", "Of a table's board", lambda one: one.celsius),
        )
        for name, about, value in of_device:
            found = {table: value(one) for table, one in readings.items()}
            known = {table: number for table, number in found.items() if number is not None}
            yield gauges(f"homologue_table_{name}", about, "table", known)
        family = InfoMetricFamily("homologue_table_build", "A table's program", labels=["table"])
        for table, version in sorted(versions.items()):
            family.add_metric([str(table)], {"version": version})
        yield family

    def _inside(self) -> Iterator[Metric]:
        """Return what arbiters alone may know."""
        view = self._room.current
        alerts = Counter(alert.code for alert in view.alerts if alert.seen is None)
        yield gauges("homologue_alerts", "Alerts that nobody has seen", "code", alerts)
        yield gauge("homologue_calls", "Tables that call an arbiter", sum(table.calling for table in view.tables))
        yield gauge("homologue_quarantined_plays", "Plays of which something is kept apart", view.apart)
        yield gauge("homologue_lost_messages", "Messages that were in the store and are not any more", view.lost)
        yield gauge("homologue_queue_length", "Messages that wait to be taken in", self._scorer.waiting)
        yield gauges(
            "homologue_table_unsent",
            "Facts of a table for which it has no receipt",
            "table",
            {table.table: table.unsent for table in view.tables},
        )


def _offset_s(reading: Reading) -> float | None:
    """Return it in tenths: it is finer by what the scorer had to do just then."""
    return None if reading.offset_ms is None else round(reading.offset_ms / 1000, 1)


def _disk_bytes(reading: Reading) -> int | None:
    return None if reading.disk_mib is None else reading.disk_mib * MIB


class _Families(Collector):
    """Families that were made already, as a registry asks for them."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """Return them."""
        return self._families


def gauge(name: str, about: str, value: float) -> Metric:
    """Return one number."""
    return GaugeMetricFamily(name, about, value)


def gauges(name: str, about: str, label: str, values: Mapping[Any, float]) -> Metric:
    """Return numbers by a label."""
    family = GaugeMetricFamily(name, about, labels=[label])
    for of, value in sorted(values.items()):
        family.add_metric([str(of)], value)
    return family


def _memory() -> int:
    """Return the memory of this process, in steps."""
    try:
        with open("/proc/self/statm", encoding="ascii") as told:  # noqa: PTH123 - no file of ours
            return int(told.read().split()[1]) * 4096 // STEP * STEP
    except (OSError, ValueError):
        return 0
