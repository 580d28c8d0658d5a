"""A desk at which can be ruled: a real scorer in its own thread, a real store, a door with an account a role."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from broker.contract.messages import LogMessage
from broker.desk.offer import Offer
from broker.desk.orders import OrderDesk
from broker.desk.rulings.bench import Bench
from broker.desk.rulings.page import annex
from broker.desk.server import DeskServer
from broker.people.accounts import By
from broker.people.door import Door
from broker.people.roles import ROLES
from broker.records.session.page import annex as sessions
from broker.scorer.event import Plan, open_event
from broker.scorer.service import Scorer
from broker.store.address import STORE
from broker.store.sqlite import SqliteJournal
from tests.broker.desk.test_access import token_of
from tests.broker.desk.test_orders import Ear
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.small import NAME

NOW: Final = 1_800_000_000_000
HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


class Ruled:
    """A desk, its scorer, and what they keep."""

    def __init__(self, folder: Path) -> None:
        self.door, self.journal, self.now = Door(folder, lambda: NOW), SqliteJournal(folder / STORE, NAME), NOW
        self.scorer = Scorer(open_event(folder), self.journal, folder, lambda: self.now)
        self.bench = Bench(self.scorer, self.door)
        offer = Offer(lambda: self.scorer.moment, self.scorer.wire, attends=self.scorer)
        self.server = DeskServer(
            self.scorer.feed,
            port=0,
            door=self.door,
            orders=OrderDesk(NAME, self.door, Ear()),
            annexes=(annex(self.bench), sessions(lambda: self.bench.event, self.scorer.sessions)),
            offer=offer,
        )

    @property
    def kinds(self) -> list[tuple[str, bool]]:
        """Give what was ruled, and whether it counts."""
        book = self.scorer.rulings.room.book
        return [(entry.kind, book.counts(entry.id)) for entry in book.entries.values()]


@contextmanager
def ruling_desk(folder: Path, said: list[LogMessage] | None = None, of: Plan | None = None) -> Iterator[Ruled]:
    """Serve the small event, in which this was said: all, unless told otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        made, stop = Ruled(event_folder(folder, said, of)), threading.Event()
        for role in ROLES:
            made.door.accounts.add(role, f"A {role}", role, PASSWORD, By("test"))
        thread = threading.Thread(target=made.scorer.run, args=(stop,))
        thread.start()
        try:
            with made.server:
                yield made
        finally:
            stop.set()
            thread.join()
            made.journal.close()
            made.door.close()


def opened(client: httpx.Client, address: str) -> dict[str, str]:
    """Open a form; give its hidden fields."""
    page = client.get(address).text
    fields = dict(HIDDEN.findall(page[page.index('id="ruling"') :]))
    return fields | {"form": token_of(client, address), "reason": "seen by the arbiter"}


def looked(client: httpx.Client, fields: dict[str, str]) -> dict[str, str]:
    """Look whom a form would move; give its fields as that page sends them on, or as they were."""
    page = client.post("/rulings/new", data=fields | {"action": "look"}).text
    mark = re.search(r'name="looked_at" value="([0-9a-f]+)"', page)
    return fields | ({"looked_at": mark[1]} if mark else {})


def send(client: httpx.Client, fields: dict[str, str]) -> httpx.Response:
    """Publish a form as it is."""
    return client.post("/rulings/new", data=fields | {"action": "publish"})


def publish(client: httpx.Client, fields: dict[str, str]) -> httpx.Response:
    """Publish a form, after a look at whom it moves."""
    return send(client, looked(client, fields))
