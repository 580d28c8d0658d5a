"""A table's metrics are served only to its own machine, and reveal nothing of a play while it lasts."""

import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kiosk.journal import BUCKETS_S, WriteTimes
from kiosk.status import TableMetrics, TableNumbers, serve_metrics
from kiosk.table import QUIET, Phase
from tests.patience import PATIENCE_S

GIB = 1024**3


def numbers(phase: Phase, writes: int = 0, **more: object) -> TableNumbers:
    times = WriteTimes(iter(range(99)).__next__)
    for _ in range(writes):
        with times.timed():
            pass
    made = TableNumbers(
        phase, str(phase.value), connected=True, unsent=0, refused=0, looks=0, health={}, writes=times.snapshot()
    )
    return made._replace(**more)  # type: ignore[arg-type]  # each field has its own type


@pytest.fixture
def metrics() -> TableMetrics:
    return TableMetrics(lambda: 3 * 1024)


def asked(port: int) -> dict[str, float]:
    """Return every sample, by name and labels."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S).read().decode()
    return {
        "/".join((sample.name, *dict(sorted(sample.labels.items())).values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def port(metrics: TableMetrics) -> Iterator[int]:
    with serve_metrics(metrics, 0) as port:
        yield port


def test_the_metrics_describe_the_table(metrics: TableMetrics, port: int) -> None:
    metrics.follow(numbers(Phase.RESTORING, 3, unsent=2, looks=7, health={"camera": "camera_failed"}))
    found = asked(port)
    expected = {
        "homologue_phase/restoring": 1,
        "homologue_broker_connected": 1,
        "homologue_unsent": 2,
        "homologue_camera_looks_total": 7,
        "homologue_part_well/camera_failed/camera": 0,
        "homologue_part_well//buttons": 1,
        "homologue_disk_free_bytes": 3 * GIB,
        "homologue_journal_write_seconds_bucket/1.0": 3,
        "homologue_journal_write_seconds_bucket/0.5": 0,
        "homologue_journal_write_seconds_count": 3,
        "homologue_journal_write_seconds_sum": 3,
    }
    assert {name: found.get(name) for name in expected} == expected


def test_nothing_of_a_play_is_reported_until_it_is_over(metrics: TableMetrics, port: int) -> None:
    metrics.follow(numbers(Phase.CONFIRMING, 1))
    told = []
    for writes, phase in enumerate((Phase.PLAYING, Phase.CLAIMING, Phase.CLAIMING, Phase.ACCEPTING), 1):
        metrics.follow(numbers(phase, writes, unsent=writes))
        found = asked(port)
        told.append((found["homologue_journal_write_seconds_count"], found["homologue_unsent"]))
    assert told == [(1, 1), (1, 1), (1, 1), (4, 4)]
    assert QUIET == (Phase.PLAYING, Phase.CLAIMING)


def test_only_this_machine_is_answered(port: int) -> None:
    others = [one[4][0] for one in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for address in {str(one) for one in others if not str(one).startswith("127.")}:
        with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
            socket.create_connection((address, port), timeout=5).close()
    assert asked(port)


def test_a_taken_port_does_not_stop_the_table(
    metrics: TableMetrics, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with serve_metrics(metrics, port) as other:
        assert other == 0
    assert "metrics_port_taken" in caplog.text


def test_before_a_table_exists_its_device_is_reported(port: int) -> None:
    assert {"homologue_disk_free_bytes"} <= asked(port).keys()


def test_every_write_is_in_one_bucket(tmp_path: Path) -> None:
    steps = iter([0.0, BUCKETS_S[0], 10.0, 10.0 + BUCKETS_S[-1] + 1])
    times = WriteTimes(steps.__next__)
    for _ in range(2):
        with times.timed():
            (tmp_path / "journal").touch()
    counts, _ = times.snapshot()
    assert (counts[0], counts[-1], sum(counts)) == (1, 1, 2)
