"""A desk with double keying: two people key in each sheet."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.event import Event
from broker.people import Actor, Authentication
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal
from broker.web.server import DeskServer
from broker.web.services import Services
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer import small
from tests.broker.scorer.folders import event_folder

ROLES = {"anne": "head_arbiter", "tao": "table_arbiter", "luc": "table_arbiter"}
EVENT = Event(replace(small.plan(), keying="double"), small.deals(), small.registry())


class Desk:
    """A desk with a running scorer and three accounts."""

    def __init__(self, folder: Path) -> None:
        self.auth, journal = Authentication(folder), SqliteJournal(folder / STORE, small.NAME)
        for name, role in ROLES.items():
            self.auth.accounts.add(name, name.title(), role, PASSWORD, Actor("test"))
        self.scorer, self._stop = Scorer(EVENT, journal, folder, lambda: 1_800_000_000_000), threading.Event()
        self._work = threading.Thread(target=self.scorer.run, args=(self._stop,))
        self._work.start()
        services = Services(scorer=self.scorer, deals=small.deals())
        self.server = DeskServer(self.scorer.feed, port=0, auth=self.auth, services=services)
        self._journal = journal

    def end(self) -> None:
        """Stop the scorer and close the stores."""
        self._stop.set()
        self._work.join()
        self._journal.close()
        self.auth.close()

    def settled(self, table: int) -> bool:
        """Return whether a play of the first round counts."""
        return self.scorer.ask(lambda: self.scorer.rulings.room.play((table, 1)).settled)

    def reasons(self, table: int) -> list[str]:
        """Return the reasons of the rulings on a play of the first round."""
        return [entry.reason for entry in self.scorer.rulings.history() if entry.table == table]

    def noted(self, table: int) -> list[tuple[str, str, str]]:
        """Return the audit entries about a sheet of the first round: who, action, detail."""
        about = f"table {table}, round 1"
        return [(one.who, one.action, one.detail) for one in self.auth.audit.checked() if one.about.startswith(about)]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = event_folder(tmp_path_factory.mktemp("twice") / "cup", [])
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        made = Desk(folder)
        with made.server:
            yield made
        made.end()
