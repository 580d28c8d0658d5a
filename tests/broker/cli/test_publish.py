"""`homologue publish`: it brings a folder to what is public of an event, once or as it goes on."""

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
    """Call it."""
    return CliRunner().invoke(homologue, ["publish", *map(str, said)])


def append(folder: Path, last: int) -> None:
    """Let tables tell what they do in a round, while others read."""
    with closing(SqliteJournal(folder / STORE, NAME)) as journal, journal.commit():
        for message in whole_event():
            if message.fact.round == last:
                journal.append(message, 0)


def test_it_is_published_once_and_then_only_what_is_new(tmp_path: Path) -> None:
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
def test_no_web_server_is_to_show_a_folder_with_secrets(tmp_path: Path, below: str) -> None:
    folder = event_folder(tmp_path / "cup")
    before = sorted(folder.rglob("*"))
    refused = publish(folder, "--to", folder / below)
    assert (refused.exit_code, codes(refused.stderr)) == (1, ["publish_inside_event"])
    assert sorted(folder.rglob("*")) == before


def test_an_event_that_cannot_be_read_leaves_what_was_public(tmp_path: Path) -> None:
    folder, web = event_folder(tmp_path / "cup"), tmp_path / "web"
    publish(folder, "--to", web)
    before = {path: path.read_bytes() for path in web.rglob("*") if path.is_file()}
    (folder / STORE).write_bytes(b"no database" * 1000)
    assert publish(folder, "--to", web).exit_code == 1
    assert {path: path.read_bytes() for path in web.rglob("*") if path.is_file()} == before


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[tuple[Path, Path, DemoProcess]]:
    """An event's folder, a web server's, and the process that brings one to the other."""
    folder, web = event_folder(tmp_path / "cup", until_round(3)), tmp_path / "web"
    process = DemoProcess("publish", ["publish", str(folder), "--to", str(web), "--watch", "--json"], lambda *_: None)
    yield folder, web, process
    process.stop()


@pytest.mark.slow
def test_what_becomes_public_while_it_watches_is_written(watching: tuple[Path, Path, DemoProcess]) -> None:
    folder, web, process = watching
    first = process.wait_for(r'"written": (\d+), "files": \1\b', PATIENCE_S)
    append(folder, 4)
    second = process.wait_for(rf'"written": (?!{first})(\d+)', PATIENCE_S)
    assert 0 < int(second) < int(first)
    assert b"+42" in b"".join((web / "en" / f"deal-{number}.html").read_bytes() for number in range(1, 5))


@pytest.mark.slow
def test_a_store_that_is_gone_for_a_while_is_said_once_and_takes_nothing_away(
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
