"""`homologue event desk` on an event for which a scorer has been started."""

from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner

from broker.cli import desk
from broker.cli.main import homologue
from broker.people import Authentication
from broker.people.login import FIRST_LINK_FILE
from broker.store import STORE, SqliteJournal
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import NAME


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An event's folder whose desk is interrupted with Ctrl-C as soon as it is open."""
    stop = Event()
    stop.set()
    monkeypatch.setattr(desk, "stop_on_signals", lambda: stop)
    return event_folder(tmp_path / "cup", [])


def desk_on(folder: Path) -> str:
    return CliRunner().invoke(homologue, ["event", "desk", str(folder), "--desk-port", "0", "--plain"]).output


def test_beside_a_running_scorer_the_desk_refuses_and_leaves_its_first_link(folder: Path) -> None:
    with closing(SqliteJournal(folder / STORE, NAME)), closing(Authentication(folder)) as auth:
        link = auth.first_link("https://127.0.0.1:1/")
        said = desk_on(folder)
        assert ("[store_in_use]" in said, "Set-up: " in said) == (True, False)
        assert (folder / FIRST_LINK_FILE).read_text() == f"{link}\n"


def test_after_the_scorer_has_ended_the_desk_opens_and_says_where_to_correct_the_event(folder: Path) -> None:
    said = desk_on(folder)
    assert ("event_started: " in said, "Set-up: " in said) == (True, True)
