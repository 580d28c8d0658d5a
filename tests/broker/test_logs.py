"""Logs: JSON for machines, lines for people, the play's id in both, and never a secret of an event."""

import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import httpx
import pytest
from structlog.contextvars import clear_contextvars

from broker.checkup import secret_words
from broker.logs import FORM, LEVEL, follow_play, get_logger, in_play, set_up_logs
from broker.people import Authentication
from broker.sim.processes import DemoProcess
from tests.broker.people.conftest import BY, PASSWORD
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import log as facts
from tests.broker.scorer.small import restored
from tests.demo_event import MakeEvent
from tests.e2e.test_encryption import folder, started
from tests.encryption import trusting
from tests.patience import PATIENCE_S

__all__ = ["folder"]

LOG: Final = get_logger("homologue.test")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Restore the logging of this process afterwards."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    clear_contextvars()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    monkeypatch.setenv(FORM, "json")
    monkeypatch.delenv(LEVEL, raising=False)
    stream = io.StringIO()
    set_up_logs(logging.INFO, stream)
    return stream


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_the_json_form_has_the_event_and_its_keys(told: io.StringIO) -> None:
    LOG.warning("disk_low", free=7, folder=Path("/x"))
    LOG.debug("of_no_use")
    (line,) = lines(told)
    assert {key: line[key] for key in ("event", "free", "folder", "level", "logger")} == {
        "event": "disk_low",
        "free": 7,
        "folder": "/x",
        "level": "warning",
        "logger": "homologue.test",
    }
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d", str(line["timestamp"]))


def test_what_other_libraries_log_has_the_same_form(told: io.StringIO) -> None:
    logging.getLogger("a.library").error("a %s sentence", "library's")
    (line,) = lines(told)
    assert (line["event"], line["level"], line["logger"]) == ("a library's sentence", "error", "a.library")


def test_an_exception_is_one_line_in_the_json_form(told: io.StringIO) -> None:
    try:
        raise ValueError("why")
    except ValueError:
        LOG.exception("camera_failed")
    (line,) = lines(told)
    assert "ValueError: why" in str(line["exception"])


def test_the_form_for_people_is_one_readable_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORM, raising=False)
    stream = io.StringIO()
    set_up_logs(logging.INFO, stream)
    LOG.info("state", state="playing", deal=3)
    assert re.search(r"info +\] state .*deal=3 state=playing\n$", stream.getvalue())


def test_an_environment_variable_sets_the_log_level(monkeypatch: pytest.MonkeyPatch, told: io.StringIO) -> None:
    monkeypatch.setenv(LEVEL, "error")
    set_up_logs(logging.INFO, told)
    LOG.warning("not_told")
    LOG.error("told")
    assert [line["event"] for line in lines(told)] == ["told"]


def test_what_is_logged_in_a_play_has_its_id(told: io.StringIO) -> None:
    follow_play(2, 7, 5)
    LOG.info("one")
    follow_play(None, 7, None)
    LOG.info("two")
    with in_play(3, 7, 6):
        LOG.info("three")
    assert [(line["event"], line["table"], line.get("play")) for line in lines(told)] == [
        ("one", 7, "2.7.5"),
        ("two", 7, None),
        ("three", 7, "3.7.6"),
    ]


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with open_journal(tmp_path) as journal:
        yield make_hall(tmp_path, journal)


def test_the_scorer_logs_each_fact_with_its_plays_id_but_not_its_content(hall: Hall, told: io.StringIO) -> None:
    first = facts(1, restored(1, 1))
    hall.hear(*first, *first)
    found = [line for line in lines(told) if line["logger"] == "homologue.scorer"]
    assert [line["event"] for line in found] == ["fact_taken"] * len(first) + ["fact_again"] * len(first)
    assert {line["play"] for line in found} == {f"1.1.{first[0].fact.deal}"}
    assert {key for line in found for key in line} == {
        *("event", "table", "seq", "kind", "play", "level", "logger", "timestamp"),
    }


@pytest.mark.slow
def test_no_secret_of_an_event_is_ever_logged(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_event: MakeEvent
) -> None:
    """Everything that has a secret is used, correctly and incorrectly, at the most verbose level."""
    del demo_event
    for name, value in ((FORM, "json"), (LEVEL, "debug"), ("SDL_VIDEODRIVER", "dummy")):
        monkeypatch.setenv(name, value)
    with closing(Authentication(folder)) as auth:
        token = auth.tokens.add("scores", "arbiter", BY)
        signing = auth.webhooks.add("site", "http://127.0.0.1:9/", BY)
    with started(folder) as running:
        secrets = {PASSWORD, token, signing, "a wrong password", "a-wrong-token"}
        with httpx.Client(base_url=running.desk, verify=trusting(folder), timeout=PATIENCE_S) as stranger:
            origin = {"Origin": running.desk.rstrip("/")}
            stranger.post("/login", data={"name": "anne", "password": "a wrong password"}, headers=origin)
            for one in (token, "a-wrong-token"):
                stranger.get("/api/v1/event", headers={"Authorization": f"Bearer {one}"})
        client = running.arbiter()
        secrets |= {value for value in client.cookies.values() if len(value) > 20}
        device = running.device(tmp_path / "table", client, 1)
        device.until(up=True)
        device.greet()
        device.link.stop()
        said: list[str] = []
        kiosk = DemoProcess(
            "kiosk", ["kiosk", str(tmp_path / "table" / "kiosk.toml")], lambda _who, line: said.append(line)
        )
        try:
            kiosk.wait_for(r'"event": "state"', PATIENCE_S)
        finally:
            kiosk.stop()
        secrets |= secret_words([folder, tmp_path / "table"])
        client.post("/logout")
    logged = [json.loads(line) for line in (*running.said, *said) if line.startswith("{")]
    assert {line["logger"] for line in logged} >= {"homologue.kiosk"}
    whole = "\n".join((*running.said, *said))
    assert len(secrets) > 60
    assert [word for word in secrets if word in whole] == []
