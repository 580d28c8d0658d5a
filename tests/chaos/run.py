"""One event from start to end: it is played while everything fails, then the faults end, and it is judged."""

import random
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from broker.event import STANDINGS
from broker.mqtt.programs import Kind
from broker.store import STORE
from tests.chaos import disks
from tests.chaos.arbiter import ChaosArbiter
from tests.chaos.event import ChaosEvent, make_chaos_event
from tests.chaos.faults import Chaos, Weather
from tests.chaos.oracle import Verdict, judge, ranks_of_file, ranks_of_view, read_store
from tests.chaos.venue import Venue, crashes
from tests.chaos.watching import Display, Pages
from tests.e2e.standstill import missing_from
from tests.patience import PATIENCE_S

Said = Callable[[str], None]

TICK_S: Final = 0.05
PLAYED: Final = 0.97
"""Share of the plays after which no more faults begin."""

STUCK_S: Final = PATIENCE_S
"""Seconds without a recorded play after which no more faults begin."""

SETTLED_S: Final = 2 * PATIENCE_S
"""Seconds without a new play or result, with no fault active, after which the run has failed."""

BROKER_KB: Final = 150
"""Disk space for the broker per play: nats-server keeps messages for sessions that never return."""

RULES_EVERY_S: Final = 0.4
WORD_EVERY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run."""

    seed: int
    plays: int
    tables: int
    kind: Kind
    speed: int = 10
    pause_s: float = 1.5
    """Mean seconds between two faults."""
    plain: bool = False
    """Whether to run without TLS."""
    keep: Path | None = None
    """Folder to which the event of a failed run is copied."""


@dataclass(slots=True)
class Outcome:
    """The result of a run."""

    verdict: Verdict
    plays: int
    faults: dict[str, int]
    seconds: float
    rulings: int
    shown: int
    crashes: list[str]
    refused: dict[str, int]

    @property
    def line(self) -> str:
        """The summary line."""
        found = self.verdict
        counts = [f"{len(getattr(found, kind))} {kind}" for kind in ("lost", "doubled", "altered", "early")]
        faults = f"{sum(self.faults.values())} faults of {len(self.faults)} kinds"
        return f"chaos: {', '.join((f'{self.plays} plays', *counts, faults))}"


def run_event(options: Options, base: Path, said: Said, log: Said) -> Outcome:
    """Play an event in an empty folder, and judge it. `log` is called with all output of processes, and each fault."""
    began, chance = time.monotonic(), random.Random(options.seed)
    mounts = disks.can_mount()
    with ExitStack() as leaving:
        if mounts:
            leaving.enter_context(disks.mounted(base / "event"))
            size = disks.SIZE_MB + options.plays * BROKER_KB // 1000
            leaving.enter_context(disks.mounted(base / "broker", megabytes=size))
        event = make_chaos_event(base / "event", options.tables, options.plays, chance)
        venue = Venue(event, options.kind, base, options.speed, log, plain=options.plain)
        leaving.callback(venue.stop)
        if mounts:
            leaving.enter_context(disks.mounted(*(one.disk for one in venue.parts.values() if one is not venue.scorer)))
        leaving.callback(venue.stop)  # before its disks are unmounted
        venue.start_all()
        display = Display(venue.broker.port, venue.known, venue.certificates)
        pages = Pages(lambda: venue.desk, sorted(set(event.deals.values())), venue.trust)
        arbiter = ChaosArbiter(
            event,
            lambda: venue.desk,
            lambda: list(venue.ledger.recorded),
            random.Random(chance.random()),
            venue.devices,
            RULES_EVERY_S,
            venue.trust,
        )
        for one in (display, pages, arbiter):
            one.start()
            leaving.callback(one.stop)
        weather = Weather(Chaos(venue, arbiter, base, chance, mounts), options.pause_s, log)
        _play(venue, weather, said)
        arbiter.finish()
        view = _settle(venue, arbiter, said)
        if any(one["code"] == "ruling_late" for one in view.get("alerts", ())):  # applies from the next start
            view = _settle_again(venue, arbiter, said)
        again = _settle_again(venue, arbiter, said)
        pages.stop()
        display.stop()
        venue.stop()
        said_ranks = {"page": ranks_of_view(view), STANDINGS: ranks_of_file(event.folder / STANDINGS)}
        stored = read_store(event.folder / STORE)
        verdict = judge(event, stored, venue.ledger, arbiter.done, [*display.shown, *pages.shown], said_ranks)
        verdict.others += [
            f"a scorer that starts from the store shows {after}, and it was {before}"
            for before, after in zip(_content(view), _content(again), strict=False)
            if before != after
        ]
        _keep(options.keep, event, verdict)
        return Outcome(
            verdict,
            len(event.deals),
            weather.counts,
            time.monotonic() - began,
            len(arbiter.done),
            len(display.shown) + len(pages.shown),
            [*crashes(venue)],
            dict(stored.refused),
        )


def _keep(folder: Path | None, event: ChaosEvent, verdict: Verdict) -> None:
    """Copy the event of a failed run."""
    if folder and not verdict.whole:
        shutil.copytree(event.folder, folder, dirs_exist_ok=True)


def _play(venue: Venue, weather: Weather, said: Said) -> None:
    """Inject faults until nearly all is played, or nothing progresses."""
    plays, pause = len(venue.event.deals), threading.Event()
    news, had, next_word = time.monotonic(), 0, 0.0
    while True:
        now, count = time.monotonic(), len(venue.ledger.recorded)
        if count > had:
            had, news = count, now
        if count >= plays * PLAYED or now - news > STUCK_S:
            break
        if now >= next_word:
            next_word = now + WORD_EVERY_S
            said(f"{count} of {plays} plays, {sum(weather.counts.values())} faults")
        weather.step(calm=False)
        venue.supervise()
        pause.wait(TICK_S)
    weather.step(calm=True)
    said(f"{count} of {plays} plays, {sum(weather.counts.values())} faults; now all is well")


def _content(view: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all plays and standings in a view, without times.

    A repaired fact arrives later than the original, and resent facts carry the scorer's clock.
    """
    plays = sorted(view["plays"], key=lambda play: (play["table"], play["round"]))
    return [*({**play, "at": 0} for play in plays), *view["standings"], {"plays": len(plays)}]


def _settle_again(venue: Venue, arbiter: ChaosArbiter, said: Said) -> dict[str, Any]:
    """Restart the scorer; return the view that it builds from the store."""
    venue.kill("scorer")
    venue.start("scorer")
    return _settle(venue, arbiter, said)


def _settle(venue: Venue, arbiter: ChaosArbiter, said: Said) -> dict[str, Any]:
    """Wait until every play is stored and every table has its receipts; return the view."""
    pause, began = threading.Event(), time.monotonic()
    news, had = began, (-1, -1)
    view: dict[str, Any] = {"standings": [], "plays": []}
    while time.monotonic() - news < SETTLED_S:
        venue.supervise()
        has = len(venue.ledger.recorded), view.get("plays_in", 0)
        if has != had:
            had, news = has, time.monotonic()
        with suppress(httpx.HTTPError, OSError, ValueError):
            view = arbiter.view()
            if view["plays_in"] == view["plays_expected"] and not any(one["unsent"] for one in view["tables"]):
                said(f"everything is in, {time.monotonic() - began:.0f} s after the last fault")
                return view
        pause.wait(1.0)
    said("it does not come to an end")
    for line in missing_from(view):
        said(f"  {line}")
    venue.say_how_tables_stand()
    return view
