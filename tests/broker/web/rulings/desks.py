"""A desk on which rulings can be made: a scorer in its own thread, a store, and one account per role."""

import html
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from broker.event import Plan, open_event, read_deals
from broker.people import ROLES, Actor, Authentication
from broker.protocol import LogMessage
from broker.scorer.service import Scorer
from broker.store import STORE, SqliteJournal
from broker.web.server import DeskServer
from broker.web.services import AuditedRulings, Services
from broker.web.tables.orders import OrderDesk
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.scorer.folders import event_folder
from tests.broker.scorer.hall import admitting
from tests.broker.scorer.small import NAME
from tests.broker.web.tables.test_orders import Ear
from tests.broker.web.test_auth import token_of

NOW: Final = 1_800_000_000_000
HIDDEN: Final = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


class Ruled:
    """A desk with its scorer and their stores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.auth, self.journal, self.now = (
            Authentication(folder, lambda: NOW),
            SqliteJournal(folder / STORE, NAME),
            NOW,
        )
        played = open_event(folder)
        self.scorer = admitting(Scorer(played, self.journal, folder, lambda: self.now), played)
        self.rulings = AuditedRulings(self.scorer, self.auth)
        services = Services(
            lambda: self.scorer.snapshot,
            self.scorer.wire,
            scorer=self.scorer,
            deals=read_deals(folder),
            orders=OrderDesk(NAME, self.auth, Ear()),
        )
        self.server = DeskServer(
            self.scorer.feed,
            port=0,
            auth=self.auth,
            services=services,
        )

    @property
    def kinds(self) -> list[tuple[str, bool]]:
        """The kinds of the rulings so far, and whether each counts."""
        book = self.scorer.rulings.room.book
        return [(entry.kind, book.counts(entry.id)) for entry in book.entries.values()]


@contextmanager
def ruling_desk(folder: Path, said: list[LogMessage] | None = None, of: Plan | None = None) -> Iterator[Ruled]:
    """Serve the small event with these messages; by default with all of them."""
    with pytest.MonkeyPatch.context() as patch:
        quick_hashes(patch)
        made, stop = Ruled(event_folder(folder, said, of)), threading.Event()
        for role in ROLES:
            made.auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        thread = threading.Thread(target=made.scorer.run, args=(stop,))
        thread.start()
        try:
            with made.server:
                yield made
        finally:
            stop.set()
            thread.join()
            made.journal.close()
            made.auth.close()


def hidden(page: str) -> dict[str, str]:
    """Return the hidden fields of a page as a browser would send them."""
    return {name: html.unescape(value) for name, value in HIDDEN.findall(page)}


def opened(client: httpx.Client, address: str) -> dict[str, str]:
    """Open a ruling's form; return its hidden fields, its token and a reason."""
    page = client.get(address).text
    fields = hidden(page[page.index('id="ruling"') :])
    return fields | {"form": token_of(client, address), "reason": "seen by the arbiter"}


def looked(client: httpx.Client, fields: dict[str, str]) -> dict[str, str]:
    """Preview a form; return the fields that the preview sends on, or the same fields if it was refused."""
    page = client.post("/rulings/new", data=fields | {"action": "look"}).text
    _, found, shown = page.partition('id="publish"')
    return fields | (hidden(shown) if found else {})


def send(client: httpx.Client, fields: dict[str, str]) -> httpx.Response:
    """Publish a form without a preview."""
    return client.post("/rulings/new", data=fields | {"action": "publish"})


def publish(client: httpx.Client, fields: dict[str, str]) -> httpx.Response:
    """Publish a form after its preview."""
    return send(client, looked(client, fields))
