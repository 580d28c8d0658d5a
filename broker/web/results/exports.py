"""Exports at the desk: files for those with the right to them, with embargoed results for arbiters only."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from broker.errors import RuleError
from broker.event import HANDS
from broker.export.archive import BY_NAME, CSV, EXPORTS, Export, ExportSource, archive
from broker.export.pdf import unprintable_names
from broker.export.replay import REPLAY_POLICY, replay_page
from broker.i18n import N_, Message, Translator
from broker.scorer import EventState, open_stored_event
from broker.web import (
    Access,
    Visitor,
    embargo,
    errors,
    labels,
    problems,
    render,
    render_page,
    translator_for,
    visitor_of,
)

ZIP: Final = "all.zip"
WITHOUT_EMBARGO: Final = frozenset(
    {"team-standings.csv", "ema.csv", "next-event.csv", "certificates.pdf", "booklet.pdf", "replay.html"}
)
"""Files without an embargoed variant: their content is public, or they are available only at the end."""


RIGHT: Final = "see_public"

MOST_REPLAYS: Final = 20
"""Maximum number of cached replays. Each has all plays of a deal: some megabytes with a thousand tables."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListedExport:
    """A file in the page's list. `why` is the reason if it is not available."""

    title: Message
    name: str
    why: Message | None = None
    embargo: bool = True
    """Whether arbiters can have it with deals under embargo."""


class ExportsPage:
    """Writes files from the event's folder and store, which are only read, so the scorer can go on."""

    def __init__(self, access: Access, feeds: embargo.Feeds, folder: Path, room: EventState) -> None:
        self._access, self._feeds, self._folder, self._room = access, feeds, folder, room
        self._feed = feeds.room
        self._trace = embargo.EmbargoTrace(access.auth)
        self._locks = {inside: threading.Lock() for inside in (False, True)}
        """A whole journal is read for each file: one at a time, so that many requests cannot fill the memory.

        Users who have logged in have a lock of their own: the public cannot keep an arbiter from the files."""
        self._replays: dict[tuple[int, str], tuple[tuple[int, int], str]] = {}
        """Replays by deal and language, each with the version of the view and the mtime of the recorded plays."""

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page, the files and the replays."""
        return [
            self._access.route("/exports", self.show, RIGHT),
            self._access.route("/exports/{name}", self.download, RIGHT),
            self._access.route("/deal/{deal:int}/replay", self.replay, RIGHT),
        ]

    async def show(self, request: Request) -> Response:
        """List the files that this visitor may download."""
        return self._page(request)

    def _page(self, request: Request, error: Exception | None = None) -> Response:
        visitor, final = visitor_of(request), self._feed.current.final
        teams = bool(self._room.planned.plan.teams)
        mine = [one for one in self._allowed(visitor) if teams or not one.of_teams]
        listed = [ListedExport(N_("Everything (ZIP archive)"), ZIP), *map(self._listed, mine)]
        values = {"exports": listed, "final": final, "arbiter": visitor.may("see_room")}
        values["unprintable"] = unprintable_names(self._room.event)
        return render_page(request, "exports.html", N_("Exports"), error=error, values=values)

    async def download(self, request: Request) -> Response:
        """Return one file, or all as a ZIP archive."""
        visitor, name = visitor_of(request), request.path_params["name"]
        embargoed = request.query_params.get("embargoed") == "1"
        if embargoed and not visitor.may("see_room"):
            raise errors.NotAllowed("results under embargo are for arbiters")
        if name != ZIP and name not in BY_NAME:
            raise errors.PageUnknown("there is no such export")
        if name != ZIP and BY_NAME[name] not in self._allowed(visitor):
            raise errors.NotAllowed("this export is not for your role")
        if embargoed:
            await run_in_threadpool(self._trace.note_items, visitor, [name])
        try:
            content, media = await self._exclusively(
                visitor, partial(self._content, request, name, embargoed=embargoed)
            )
        except errors.ExportsBusy as busy:
            return self._page(request, busy)
        return render.download(content, f"{self._feed.current.event}-{name}", media)

    async def _exclusively(self, visitor: Visitor, make: Callable[[], T]) -> T:
        """Return the result of reading the whole journal. Raises ExportsBusy while another export runs."""
        lock = self._locks[visitor.session is not None]
        # Taken before a thread is used, and never waited for: all requests share these few threads.
        if not lock.acquire(blocking=False):
            raise errors.ExportsBusy
        try:
            return await run_in_threadpool(make)
        finally:
            lock.release()

    async def replay(self, request: Request) -> Response:
        """Replay one deal with all tables side by side, once its tiles are public. The deal's page links here."""
        deal, language = request.path_params["deal"], translator_for(request).language
        view = self._feed.current
        if deal not in self._room.planned.expected:
            raise errors.PageUnknown("there is no such deal")
        if not view.final:
            raise RuleError("not_final", "faces are secret until the standings are final")
        key, hands = (deal, language), self._folder / HANDS
        version = view.version, hands.stat().st_mtime_ns if hands.exists() else 0
        cached = self._replays.get(key)
        if cached is None or cached[0] != version:
            make = partial(self._replay, Translator(language), deal)
            cached = version, await self._exclusively(visitor_of(request), make)
            while len(self._replays) >= MOST_REPLAYS:
                del self._replays[next(iter(self._replays))]
            self._replays[key] = cached
        return HTMLResponse(cached[1], headers={"Content-Security-Policy": f"{REPLAY_POLICY}; frame-ancestors 'none'"})

    def _replay(self, _: Translator, deal: int) -> str:
        return replay_page(open_stored_event(self._folder), _, deal, back=f"/deal/{deal}?lang={_.language}")

    def _listed(self, one: Export) -> "ListedExport":
        why, lacking = None, one.reason_unavailable(self._room.planned)
        if lacking:
            why = problems.PROBLEM[lacking.code]
        elif one.at_the_end and not self._feed.current.final:
            why = N_("available once the standings are final")
        return ListedExport(labels.EXPORT[one.name], one.name, why, embargo=one.name not in WITHOUT_EMBARGO)

    def _allowed(self, visitor: Visitor) -> list[Export]:
        insider = visitor.may("see_room") or visitor.may("set_up")
        return [one for one in EXPORTS if insider or not one.personal]

    def _content(self, request: Request, name: str, *, embargoed: bool) -> tuple[bytes, str]:
        visitor = visitor_of(request)
        source = self._source(request, embargoed=embargoed)
        if name == ZIP:
            return archive(source, self._allowed(visitor)), "application/zip"
        export = BY_NAME[name]
        content = export.content(source)
        return (render.BYTE_ORDER_MARK.encode() + content if export.media == CSV else content), export.media

    def _source(self, request: Request, *, embargoed: bool) -> ExportSource:
        view = self._feeds.of(visitor_of(request)).current
        stored, translator = open_stored_event(self._folder), Translator(translator_for(request).language)
        # Of the last round that is over, for arbiters too: one per message would show when messages arrive.
        anchor = view.anchor.text if view.anchor else ""
        now = datetime.now().astimezone()
        return ExportSource(self._folder, stored, translator, now, embargoed, tuple(view.standings), anchor)
