"""A desk on which an event is set up, with an organiser's client."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from broker.cli.desk import empty_view_feed
from broker.event import setup
from broker.people import ROLES, Actor, Authentication
from broker.store import STORE
from broker.web.server import DeskServer
from broker.web.services import Services
from broker.web.setup import views
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.web.test_auth import logged_in
from tests.patience import PATIENCE_S


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("setup") / "cup"


@pytest.fixture(scope="module")
def desk(empty: Path) -> Iterator[DeskServer]:
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        patch.setattr(views, "AT_ONCE_S", PATIENCE_S)  # however slow the machine is
        empty.mkdir()
        auth = Authentication(empty)
        for role in ROLES:
            auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        with DeskServer(empty_view_feed(), port=0, auth=auth, services=Services(folder=empty)) as server:
            yield server
        auth.close()


@pytest.fixture
def folder(empty: Path) -> Path:
    """The desk's folder without any files of an event."""
    for name in (
        "event.toml",
        "players.csv",
        "deals.json",
        "sets.json",
        "commitment.json",
        "profile.toml",
        "halls.toml",
        STORE,
    ):
        (empty / name).unlink(missing_ok=True)
    for path in empty.glob("taken-out-*"):
        path.unlink()
    return empty


@pytest.fixture(scope="module")
def client(desk: DeskServer) -> Iterator[httpx.Client]:
    with logged_in(desk, "organiser") as found:
        yield found


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept the first movement found, since its quality does not matter here."""
    monkeypatch.setattr(setup, "SEARCH_S", 0.01)
