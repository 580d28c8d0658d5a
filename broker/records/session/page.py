"""The arbiters' page of riichi sessions: where each stands, its last hands, and its sheet to print."""

from collections.abc import Callable, Sequence
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.desk.access import Access, Visitor, Way
from broker.desk.annex import Annex
from broker.desk.catalogue import Catalogue
from broker.desk.forms_page import language
from broker.desk.live_sheet import LiveSheets, Sheet
from broker.desk.sheets import Leaf
from broker.people.roles import Right
from broker.records.session.heard import SessionsNow
from broker.records.session.pdf import pdf
from broker.rules.errors import RuleError
from broker.scorer.event import Event
from broker.scorer.riichi import Sessions

WHO: Final[Right] = "see_room"

SHOWN_HANDS: Final = 5
"""Of each session, the newest; the others are shown on request."""

SESSIONS: Final = 20
"""On a page: each is half a screen high on a laptop, and a whole one on a phone."""


def annex(events: Callable[[], Event], sessions: Sessions) -> Annex:
    """Give the desk its page of sessions; no way leads there in an event that has none. `events`: as it is now."""
    ways = (Way("/riichi", "riichi_sessions", WHO),) if events().riichi else ()
    page = SessionsPage(events, SessionsNow(events, sessions))
    return Annex(lambda access, _feed: page.files(access), ways, page.routes)


class SessionsPage:
    """Answers arbiters. What is shown is what the tables have told; nothing is changed here."""

    def __init__(self, events: Callable[[], Event], sessions: SessionsNow) -> None:
        self._events, self._sessions = events, sessions

    def routes(self, live: LiveSheets) -> Sequence[Route]:
        """Give the routes of the page."""
        return live.routes("/riichi", self.show, WHO)

    def files(self, access: Access) -> Sequence[Route]:
        """Give the routes of what is printed."""
        return [access.route("/riichi/{table:int}-{round:int}.pdf", self.printed, WHO)]

    def show(self, request: Request, _visitor: Visitor, words: Catalogue) -> Sheet:
        """Show a page of sessions: of each the scores, the round, what lies on the table, the hands."""
        event = self._events()
        leaf = Leaf.at(request.query_params.get("page", ""), len(self._sessions), SESSIONS)
        sessions = self._sessions.some(leaf.lines(SESSIONS), words.language)
        values = {"sessions": sessions, "players": event.players, "shown_hands": SHOWN_HANDS, "leaf": leaf}
        key = (leaf, event, tuple(one.entries for one in sessions))
        return Sheet("riichi.html", words.say("riichi_sessions"), values, key)

    async def printed(self, request: Request) -> Response:
        """Give the sheet of one session."""
        return await run_in_threadpool(self._printed, request)

    def _printed(self, request: Request) -> Response:
        key = request.path_params["table"], request.path_params["round"]
        found = self._sessions.one(key, language(request).language)
        if found is None or found.sheet is None:
            raise RuleError("no_such_session", f"there is no sheet of table {key[0]}, round {key[1]}")
        name = f'inline; filename="riichi-{key[0]}-{key[1]}.pdf"'
        return Response(pdf(found.sheet), media_type="application/pdf", headers={"Content-Disposition": name})
