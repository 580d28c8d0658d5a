"""Another version of the program for the tables: what the desk offers, and how far each table is.

An organiser puts the bundle beside the event (`homologue upgrade take`). The head arbiter offers it and decides which
tables may install it. A device authenticates its download with the key that the scorer has admitted.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import Message as ASGIMessage
from starlette.types import Receive, Scope, Send

from broker.i18n import N_, Message
from broker.protocol import TableState, UpgradeStep
from broker.scorer.devices import Offered, Upgrades
from broker.upgrade.bundle import (
    EVENT_SUBFOLDER,
    HALL_KEYS,
    MANIFEST,
    MANIFEST_PATH,
    PART_PATH,
    UpgradeError,
    imported_manifest,
    is_signed_request,
    parse_authorization,
    trusted_keys,
)
from broker.web import Form, errors, forms
from broker.web.services import ScorerThread

AT_ONCE: Final = 4
"""Maximum number of packages sent at the same time, so that the scorer's own work goes on."""

STALLED_S: Final = 20.0
"""A table takes no data during a play. After this many seconds another gets its place, and it waits for a new turn."""

STEP: Final[Mapping[UpgradeStep, Message]] = {
    "fetching": N_("downloading: {percent} %"),
    "ready": N_("ready"),
    "trial": N_("being tried"),
    "done": N_("installed"),
    "refused": N_("not possible"),
    "returned": N_("did not work: back to the previous version"),
}

WHY: Final[Mapping[str, Message]] = {
    "upgrade_by_hand": N_("its program was started by hand"),
    "upgrade_damaged": N_("the download is damaged"),
    "upgrade_foreign": N_("not for this kind of machine"),
    "upgrade_no_return": N_("there would be no way back from this version"),
    "upgrade_no_room": N_("not enough space on its card"),
    "upgrade_unreachable": N_("it cannot reach the desk"),
    "upgrade_unsigned": N_("not signed by a key that it trusts"),
}


Later = Callable[[float, Callable[[], None]], asyncio.TimerHandle]


class UpgradeView(NamedTuple):
    """What the page shows about upgrades."""

    bundle: str | None
    """The version of the bundle beside the event."""
    offered: Offered | None
    states: Mapping[int, tuple[Message, Message | None]]
    """By table, how far the upgrade is and what prevents it."""


def upgrade_view(folder: Path | None, offered: Offered | None, states: Mapping[int, TableState]) -> UpgradeView:
    """Return what the page shows about upgrades."""
    texts = {table: _state_text(state, offered) for table, state in states.items() if state.upgrade is not None}
    return UpgradeView(_bundle(folder), offered, texts)


def _bundle(folder: Path | None) -> str | None:
    try:
        return offer_of(folder)[0]
    except UpgradeError:
        return None


def _state_text(state: TableState, offered: Offered | None) -> tuple[Message, Message | None]:
    found = state.upgrade
    if found is None:
        raise TypeError("this table reports no upgrade")
    if found.step == "ready" and offered is not None and state.table in offered.install:
        return N_("upgrades between two plays"), None
    return Message(STEP[found.step], percent=found.percent), WHY.get(found.code or "")


def offer_of(folder: Path | None) -> tuple[str, str]:
    """Return version and hash of the bundle beside the event, if it is trusted here. Raises UpgradeError."""
    signed = imported_manifest(folder / EVENT_SUBFOLDER) if folder else None
    if signed is None:
        raise UpgradeError("upgrade_missing", "there is no bundle beside the event: run homologue upgrade take")
    return signed.verify(trusted_keys(HALL_KEYS)).version, signed.hash


def read_upgrade(
    form: Form, folder: Path | None, upgrades: Upgrades, known: Collection[int]
) -> tuple[str, Callable[[], None]]:
    """Return the head arbiter's choice for the audit log, and a function that does it on the scorer's thread.

    Raises UpgradeError, TablesUnreadable, FormMalformed.
    """
    match form.get("do"):
        case "offer":
            version, manifest = offer_of(folder)
            return f"offer {version}", lambda: upgrades.offer(version, manifest)
        case "install":
            typed = form.get("tables", "").strip()
            tables = forms.read_known_tables(known, typed) if typed else sorted(known)
            return f"install {forms.as_ranges(tables)}", lambda: upgrades.install(tables)
        case "withdraw":
            return "withdraw", upgrades.withdraw
    raise errors.FormMalformed("a new version is offered, installed or withdrawn")


class UpgradeHandOut:
    """Serves the offered version to devices."""

    def __init__(self, scorer: ScorerThread, folder: Path) -> None:
        """`folder` is the event's folder."""
        self._scorer, self._folder, self._turns = scorer, folder / EVENT_SUBFOLDER, asyncio.Semaphore(AT_ONCE)

    def routes(self) -> Sequence[Route]:
        """Return the routes. A device has no session; its signature is what admits it."""
        return [
            Route(MANIFEST_PATH, self.manifest),
            Route(PART_PATH, self.part),
        ]

    async def manifest(self, request: Request) -> Response:
        """Return the signed manifest."""
        return await self._file_response(request, self._folder / MANIFEST)

    async def part(self, request: Request) -> Response:
        """Return a package, or the requested `Range` of it."""
        name = request.path_params["sha256"]
        package = f"{name if re.fullmatch('[0-9a-f]{64}', name) else '-'}.deb"
        return await self._file_response(request, self._folder / package)

    async def _file_response(self, request: Request, path: Path) -> Response:
        await run_in_threadpool(self._authenticate, request)
        if not await run_in_threadpool(path.is_file):
            raise errors.PageUnknown("there is no such package")
        return ThrottledFile(path, self._turns)

    def _authenticate(self, request: Request) -> None:
        """Refuse requests not signed by a table's device, and all requests if nothing is offered. Raises NotAllowed."""
        credentials = parse_authorization(request.headers.get("authorization", ""))
        if credentials is None:
            raise errors.NotAllowed("only the tables' devices fetch this")
        table, device, signature = credentials

        def key() -> tuple[str | None, str]:
            devices = self._scorer.live.devices
            known = (one.key for one in devices.admissions.all() if (one.table, one.device) == (table, device))
            return next(known, None) if devices.upgrades.offered else None, self._scorer.rulings.room.event.name

        public, event = self._scorer.ask(key)
        if public is None or not is_signed_request(public, event, table, request.url.path, signature):
            raise errors.NotAllowed("only the tables' devices fetch this")


class ThrottledFile(FileResponse):
    """A file whose pieces are sent in turns. A turn lasts as long as the client takes the data."""

    def __init__(self, path: Path, turns: asyncio.Semaphore, later: Later | None = None) -> None:
        """`later` calls a function after some seconds; the default is the event loop's `call_later`."""
        super().__init__(path, media_type="application/octet-stream")
        self._turns, self._later, self._held = turns, later, False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file piece by piece."""
        later = self._later or asyncio.get_running_loop().call_later

        async def in_turn(message: ASGIMessage) -> None:
            if not self._held:
                await self._turns.acquire()
                self._held = True
            stalled = later(STALLED_S, self._give_back)
            try:
                await send(message)
            finally:
                stalled.cancel()

        try:
            await super().__call__(scope, receive, in_turn)
        finally:
            self._give_back()

    def _give_back(self) -> None:
        if self._held:
            self._held = False
            self._turns.release()
