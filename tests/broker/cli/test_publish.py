"""`homologue publish` writes an event's public pages to a folder, once or while the event runs."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.event import save_event
from broker.sim.processes import DemoProcess
from broker.store import STORE, SqliteJournal
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.small import NAME, deals, plan, registry, whole_event
from tests.patience import PATIENCE_S
from tests.refusals import codes


def publish(*said: object) -> Result:
    return CliRunner().invoke(homologue, ["publish", *map(str, said)])


def append(folder: Path, last: int) -> None:
    """Append the messages of a round, while others read the journal."""
    with closing(SqliteJournal(folder / STORE, NAME)) as journal, journal.commit():
        for message in whole_event():
            if message.fact.round == last:
                journal.append(message, 0)


def test_after_the_first_time_only_changed_files_are_published(tmp_path: Path) -> None:
    folder, web = event_folder(tmp_path / "cup", until_round(3)), tmp_path / "web"
    told = []
    for comes in (None, None, 4, None):
        if comes:
            append(folder, comes)
        done = publish(folder, "--to", web, "--json")
        told.append(json.loads(done.stdout)["written"])
    assert (told[0], told[1], told[3]) == (json.loads(done.stdout)["files"], 0, 0)
    assert 0 < told[2] < told[0]
    assert b"+42" in (web / "fr" / "deal-1.html").read_bytes() + (web / "fr" / "deal-2.html").read_bytes()


def test_before_the_scorer_has_started_the_plan_is_published(tmp_path: Path) -> None:
    save_event(tmp_path / "cup", plan(), deals(), registry())
    assert publish(tmp_path / "cup", "--to", tmp_path / "web").exit_code == 0
    assert "Player 16" in (tmp_path / "web" / "en" / "seating.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("below", ["", "web", "web/deeper"])
def test_publishing_inside_the_events_folder_is_refused(tmp_path: Path, below: str) -> None:
    folder = event_folder(tmp_path / "cup")
    before = sorted(folder.rglob("*"))
    refused = publish(folder, "--to", folder / below)
    assert (refused.exit_code, codes(refused.stderr)) == (1, ["publish_inside_event"])
    assert sorted(folder.rglob("*")) == before


def test_an_unreadable_event_leaves_published_files_unchanged(tmp_path: Path) -> None:
    folder, web = event_folder(tmp_path / "cup"), tmp_path / "web"
    publish(folder, "--to", web)
    before = {path: path.read_bytes() for path in web.rglob("*") if path.is_file()}
    (folder / STORE).write_bytes(b"no database" * 1000)
    assert publish(folder, "--to", web).exit_code == 1
    assert {path: path.read_bytes() for path in web.rglob("*") if path.is_file()} == before


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[tuple[Path, Path, DemoProcess]]:
    """An event's folder, a web server's folder, and the process that publishes one to the other."""
    folder, web = event_folder(tmp_path / "cup", until_round(3)), tmp_path / "web"
    process = DemoProcess("publish", ["publish", str(folder), "--to", str(web), "--watch", "--json"], lambda *_: None)
    yield folder, web, process
    process.stop()


@pytest.mark.slow
def test_watching_publishes_new_results(watching: tuple[Path, Path, DemoProcess]) -> None:
    folder, web, process = watching
    first = process.wait_for(r'"written": (\d+), "files": \1\b', PATIENCE_S)
    append(folder, 4)
    second = process.wait_for(rf'"written": (?!{first})(\d+)', PATIENCE_S)
    assert 0 < int(second) < int(first)
    assert b"+42" in b"".join((web / "en" / f"deal-{number}.html").read_bytes() for number in range(1, 5))


@pytest.mark.slow
def test_while_the_store_is_unreadable_published_files_stay_and_publishing_resumes(
    watching: tuple[Path, Path, DemoProcess], tmp_path: Path
) -> None:
    folder, web, process = watching
    process.wait_for(r'"written"', PATIENCE_S)
    before = (web / "index.html").read_bytes()
    kept = shutil.copy(folder / STORE, tmp_path / "kept")
    for beside in folder.glob(f"{STORE}-*"):
        beside.unlink()
    (folder / STORE).write_bytes(b"no database" * 1000)
    process.wait_for(r"store_broken", PATIENCE_S)
    assert (web / "index.html").read_bytes() == before
    shutil.copy(kept, folder / STORE)
    append(folder, 4)
    process.wait_for(r'"written": (?!76)\d+', PATIENCE_S)
