"""`/metrics`: who may read which metrics, and that nothing under embargo changes a public one."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import httpx
import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from broker.people import Actor, Authentication
from broker.protocol import Beat
from broker.web.server import DeskServer
from broker.web.services import Services
from kiosk.journal import WriteTimes
from kiosk.status import TableMetrics, TableNumbers
from kiosk.table import Phase
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import OUTCOMES, beat, event, log, restored, state
from tests.broker.web.test_auth import browser, logged_in
from tests.broker.web.test_embargo import said

ROOT: Final = Path(__file__).parents[3]
T = TypeVar("T")
BY: Final = Actor("test")
DASHBOARD: Final = ROOT / "docs" / "grafana-dashboard.json"


class Watched:
    """A hall whose metrics are read with a monitor's and an arbiter's token, never from the cache."""

    def __init__(self, folder: Path, hall: Hall, auth: Authentication) -> None:
        self.hall, self.auth, self.folder = hall, auth, folder
        self.tokens = {role: auth.tokens.add(role, role, BY) for role in ("monitor", "arbiter", "public")}
        services = Services(
            lambda: hall.scorer.snapshot,
            hall.scorer.wire,
            clock=lambda: NOW,
            scorer=hall.scorer,
            folder=folder,
            broker_kind="embedded",
            backup_age_s=lambda: 60.0,
        )
        self.services = services

    def read(self, role: str) -> str:
        """Return the metrics for a token's role, from a new desk that has nothing cached."""
        with DeskServer(self.hall.scorer.feed, port=0, auth=self.auth, services=self.services) as desk:
            answer = httpx.get(f"{desk.url}metrics", headers={"Authorization": f"Bearer {self.tokens[role]}"})
        assert answer.status_code == 200, answer.text
        return answer.text


def values(text: str) -> dict[str, float]:
    """Return all samples by name and labels."""
    return {
        sample.name + json.dumps(sample.labels, sort_keys=True): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    quick_hashes(monkeypatch)
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal)
        monkeypatch.setattr(hall.scorer, "ask", lambda work: work())
        auth = Authentication(tmp_path)
        auth.accounts.add("anne", "Anne", "head_arbiter", PASSWORD, BY)
        auth.accounts.add("org", "Org", "organiser", PASSWORD, BY)
        yield Watched(tmp_path, hall, auth)
        auth.close()


def told(table: int, **more: int) -> Beat:
    return replace(beat(table), **more)


def test_metrics_require_a_right_even_on_loopback(watched: Watched) -> None:
    with DeskServer(watched.hall.scorer.feed, port=0, auth=watched.auth, services=watched.services) as desk:
        stranger = httpx.get(f"{desk.url}metrics")
        public = httpx.get(f"{desk.url}metrics", headers={"Authorization": f"Bearer {watched.tokens['public']}"})
        with logged_in(desk, "org") as client:
            organiser = client.get("/metrics")
        with logged_in(desk, "anne") as client:
            head = client.get("/metrics")
    assert [one.status_code for one in (stranger, public, organiser, head)] == [401, 403, 403, 200]
    assert stranger.json()["error"]["code"] == "login_needed"


def test_a_monitor_reads_the_state_of_scorer_and_tables(watched: Watched) -> None:
    watched.hall.connect(up=True)
    watched.hall.hear(replace(state(1), version="0.1.0"), told(1, at=NOW + 2_000, disk_mib=640, celsius=61))
    found = values(watched.read("monitor"))
    expected = {
        "homologue_broker_connected{}": 1,
        "homologue_plays{}": 0,
        "homologue_plays_expected{}": len(event().plan.plays),
        "homologue_backup_age_seconds{}": 60,
        'homologue_disk_level{"level": "ample"}': 1,
        'homologue_disk_level{"level": "full"}': 0,
        'homologue_table_away{"table": "1"}': 0,
        'homologue_table_clock_offset_seconds{"table": "1"}': 2,
        'homologue_table_disk_free_bytes{"table": "1"}': 640 * 1024 * 1024,
        'homologue_table_temperature_celsius{"table": "1"}': 61,
        'homologue_table_last_heard_seconds{"table": "1"}': 0,
        'homologue_table_build_info{"table": "1", "version": "0.1.0"}': 1,
        'homologue_tables{"state": "playing"}': 1,
    }
    assert {name: found.get(name) for name in expected} == expected


def test_an_arbiter_also_reads_counts_of_messages(watched: Watched) -> None:
    played = said(1, 1, (OUTCOMES[1], False, False))
    watched.hall.hear(*played, played[-1])
    watched.hall.arrive("hm/cup/table/1/log", b"no message")
    found = values(watched.read("arbiter"))
    assert found['homologue_messages_total{"result": "taken"}'] == len(played)
    assert found['homologue_messages_total{"result": "again"}'] == 1
    assert found['homologue_messages_total{"result": "malformed"}'] == 1
    assert found["homologue_receipt_delay_seconds_count{}"] == len(played) + 2
    assert found['homologue_alerts{"code": "malformed"}'] == 1


HIDDEN_MOVES: Final = re.compile(
    r"^(homologue_(table_last_heard_seconds|memory_bytes|disk_free_bytes)[^\n]*)$", re.MULTILINE
)
"""Metrics that change between two readings with the clock or because of other programs."""


def test_nothing_under_embargo_changes_a_monitors_metrics(watched: Watched) -> None:
    """A table declares, accepts and calls, and messages are stored and refused, while other tables have yet to play."""
    hall = watched.hall
    hall.hear(state(1), told(1, at=NOW, disk_mib=640))
    steps = [HIDDEN_MOVES.sub("", watched.read("monitor"))]
    inside = [watched.read("arbiter")]
    for change in (
        replace(state(1), state="declared", count=2, seq=1),
        replace(state(1), state="accepting", count=3, seq=2, unsent=4, health={"camera": "camera_failed"}),
        replace(state(1), state="playing", count=4, seq=3, calling=True),
    ):
        hall.hear(change)
        steps.append(HIDDEN_MOVES.sub("", watched.read("monitor")))
    hall.hear(*log(1, restored(1, 1)))
    hall.arrive("hm/cup/table/1/log", b"no message")
    steps.append(HIDDEN_MOVES.sub("", watched.read("monitor")))
    inside.append(watched.read("arbiter"))
    assert set(steps) == {steps[0]}
    assert inside[0] != inside[1]


def test_metrics_are_computed_at_most_once_a_second(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    scorer = watched.hall.scorer
    before = scorer.ask

    def counted(work: Callable[[], T]) -> T:
        asked.append(1)
        return before(work)

    monkeypatch.setattr(scorer, "ask", counted)
    with DeskServer(scorer.feed, port=0, auth=watched.auth, services=watched.services) as desk, browser(desk) as client:
        bearer = {"Authorization": f"Bearer {watched.tokens['monitor']}"}
        texts = {client.get("/metrics", headers=bearer).text for _ in range(5)}
    assert len(texts) == len(asked) <= 2


def test_every_metric_has_a_valid_name_and_a_description(watched: Watched) -> None:
    text = watched.read("arbiter")
    families = list(text_string_to_metric_families(text))
    assert [
        one.name for one in families if not re.fullmatch(r"homologue_[a-z_]+", one.name) or not one.documentation
    ] == []
    assert len({one.name for one in families}) == len(families)


def of_tables() -> set[str]:
    """Return the names of all samples that a table's program exposes itself."""
    metrics = TableMetrics(lambda: 0)
    writes = WriteTimes().snapshot()
    metrics.follow(
        TableNumbers(
            Phase.RESTORING, "restoring", connected=True, unsent=0, refused=0, looks=0, health={}, writes=writes
        )
    )
    return {sample.name for family in metrics.collect() for sample in family.samples}


def test_every_metric_named_in_the_dashboard_and_the_docs_exists(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiosk.status.board_celsius", lambda: 50)
    watched.hall.hear(replace(state(1), version="0.1.0"), told(1, at=NOW, disk_mib=640, celsius=61))
    watched.hall.hear(*said(1, 1, (OUTCOMES[1], False, False)))
    watched.hall.arrive("hm/cup/table/1/log", b"no message")
    there = {name.partition("{")[0] for name in values(watched.read("arbiter"))} | of_tables()
    asked = re.findall(r"homologue_[a-z_]+", " ".join(re.findall(r'"expr": "(.*)"', DASHBOARD.read_text())))
    named = re.findall(r"homologue_[a-z_]+", (ROOT / "docs" / "monitoring.md").read_text())
    assert len(asked) > 20
    assert sorted({*asked, *named} - there) == []


def test_the_dashboards_panels_are_complete_and_do_not_overlap() -> None:
    """Each panel has its own place, id and title."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    places = [
        (panel["gridPos"]["x"] + x, panel["gridPos"]["y"] + y)
        for panel in panels
        for x in range(panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["h"])
    ]
    assert len(places) == len(set(places))
    assert max(x for x, _ in places) < 24
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
