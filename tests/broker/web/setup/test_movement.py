"""A movement that takes long is made once in the background, without blocking other steps."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from broker.event import read_plan, setup
from broker.event.structure import Structure
from broker.web.setup import views
from tests.broker.web.setup.steps import HEAD, made, send
from tests.patience import PATIENCE_S

FORM = {"action": "make_movement", "step": "movement", "rounds": "4", "sections": "2"}


class Slow:
    """A search that continues until `go` is set."""

    def __init__(self) -> None:
        self.asked = list[Structure]()
        self.go, self._thread = threading.Event(), threading.Thread()

    def draft(self, folder: Path, structure: Structure, report: Callable[[float], object]) -> setup.StagesDraft:
        self.asked.append(structure)
        self._thread = threading.current_thread()
        drafted = setup_draft(folder, structure)
        report(0.4)
        self.go.wait(PATIENCE_S)
        return drafted

    def end(self) -> None:
        self.go.set()
        self._thread.join(PATIENCE_S)


setup_draft = setup.draft_stages


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    one = Slow()
    monkeypatch.setattr(setup, "SEARCH_S", 0.01)
    monkeypatch.setattr(setup, "draft_stages", one.draft)
    monkeypatch.setattr(views, "AT_ONCE_S", 0.05)
    yield one
    one.go.set()


def asked(client: httpx.Client) -> httpx.Response:
    return send(client, FORM, follow=False)


def page_of(client: httpx.Client, path: str) -> str:
    return client.get(path, follow_redirects=True).text


def test_progress_is_shown_and_other_steps_can_be_saved_meanwhile(
    client: httpx.Client, folder: Path, slow: Slow
) -> None:
    made(client, 2)
    assert [asked(client).headers["location"] for _ in range(2)] == ["/setup/making?lang=en"] * 2
    page = page_of(client, "/setup/making")
    assert ('http-equiv="refresh"' in page, "40 % done" in page, len(slow.asked)) == (True, True, 1)
    assert 'id="making"' in page_of(client, "/setup")
    assert send(client, {**HEAD, "title": "Another title"}, follow=False).status_code == 303
    other = send(client, {**FORM, "rounds": "3"}).text
    assert "<code>movement_in_progress</code>" in other
    assert 'inputmode="numeric" value="3">' in other
    slow.end()
    assert client.get("/setup/making").headers["location"] == "/setup?done=saved&lang=en#steps"
    plan = read_plan(folder)
    assert (plan.title, {play.round for play in plan.plays}) == ("Another title", {1, 2, 3, 4})
    assert 'id="making"' not in page_of(client, "/setup")


def test_a_movement_for_changed_players_is_discarded_and_reported(
    client: httpx.Client, folder: Path, slow: Slow
) -> None:
    made(client, 2)
    asked(client)
    others: dict[str, Any] = {"action": "players", "csv": "name\n" + "".join(f"Other {n}\n" for n in range(16))}
    assert send(client, others, follow=False).status_code == 303
    slow.end()
    page = page_of(client, "/setup")
    assert ("<code>setup_changed</code>" in page, 'inputmode="numeric" value="4">' in page) == (True, True)
    assert read_plan(folder).plays == ()
    assert "<code>setup_changed</code>" not in page_of(client, "/setup")
