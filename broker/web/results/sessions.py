"""The arbiters' page of riichi sessions: the score of each, its last hands, and its sheet to print."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.event import Event, RiichiBooking, SessionKey
from broker.export.pdf import printed_spellings, unprintable_names
from broker.export.session_sheet import SessionSheet, make_session_sheet, session_pdf
from broker.i18n import N_
from broker.people import Right
from broker.protocol import SEATS, RiichiRecorded, RiichiStanding, Seat
from broker.rules import RuleError
from broker.rules.riichi import event_from_message, first_state, play_session
from broker.scorer.tables import RiichiSessions
from broker.web import Access, HtmlTranslator, LivePage, LivePages, Pagination, Visitor, render, translator_for


@dataclass(frozen=True, slots=True)
class TableSession:
    """One session as reported by its table."""

    booking: RiichiBooking
    names: Mapping[Seat, str]
    """Names of the players; for a substituted player the substitute's."""
    entries: tuple[RiichiRecorded, ...]
    differing: tuple[int, ...]
    """Entries whose payments do not follow from the entries before."""
    sheet: SessionSheet | None
    """None if an entry is not possible; `differing` names it."""

    @property
    def now(self) -> RiichiStanding | None:
        """The current standing; None before the first hand."""
        return self.entries[-1].standing if self.entries else None

    @property
    def over(self) -> bool:
        """Whether the session has ended."""
        return self.now is not None and self.now.over


NO_SHEET: Final = (None, None)


class SessionsNow:
    """Holds the sessions by table and round. May be used from any thread: a table's entries are replaced as a whole."""

    def __init__(
        self,
        events: Callable[[], Event],
        sessions: RiichiSessions,
        sat: Callable[[str, int], str | None] = lambda _player, _round: None,
    ) -> None:
        """`sat` returns the substitute in a player's seat in a round, if any."""
        self._events, self._sessions, self._sat = events, sessions, sat
        self._cached: dict[tuple[SessionKey, str], tuple[Event, TableSession]] = {}

    @property
    def event(self) -> Event:
        """The event as it counts now."""
        return self._events()

    def __len__(self) -> int:
        return len(self.event.riichi)

    def some(self, lines: slice, language: str) -> tuple[TableSession, ...]:
        """Return a slice of the event's sessions, sorted by table and round; only these are computed."""
        return tuple(self._of(key, language) for key in sorted(self.event.riichi)[lines])

    def one(self, key: SessionKey, language: str) -> TableSession | None:
        """Return one session; None if none is planned."""
        return self._of(key, language) if key in self.event.riichi else None

    def _of(self, key: SessionKey, language: str) -> TableSession:
        event, entries = self.event, self._sessions.entries(key)
        of, cached = self._cached.get((key, language), NO_SHEET)
        booking = event.riichi[key]
        names = {
            seat: self._sat(player, booking.round) or event.players[player].name
            for seat, player in booking.players.items()
        }
        if cached is None or cached.entries is not entries or of is not event or cached.names != names:
            wrong = self._sessions.differing(booking)
            cached = TableSession(booking, names, entries, wrong, _sheet(event, booking, names, entries, language))
            self._cached[key, language] = event, cached
        return cached


def _sheet(
    event: Event, booking: RiichiBooking, names: Mapping[Seat, str], messages: Sequence[RiichiRecorded], language: str
) -> SessionSheet | None:
    rules, players = event.session_rules(booking), [names[seat] for seat in SEATS]
    try:
        entries = play_session((event_from_message(fact.event) for fact in messages), rules)
    except RuleError:
        return None
    return make_session_sheet(f"{booking.table} – {booking.round}", first_state(rules), entries, players, language)


RIGHT: Final[Right] = "see_room"
SESSIONS_PATH: Final = "/riichi"

SHOWN_HANDS: Final = 5
"""Newest hands shown per session; the others are shown on request."""

SESSIONS: Final = 20
"""Sessions on a page: each takes half a laptop's screen, or a whole phone's."""


class SessionsPage:
    """Serves arbiters. The page shows what the tables have reported and changes nothing."""

    def __init__(self, sessions: SessionsNow) -> None:
        self._sessions = sessions

    def routes(self, access: Access, live: LivePages) -> Sequence[Route]:
        """Return the routes of the page and the sheets."""
        return [
            *live.routes(SESSIONS_PATH, self.show, RIGHT),
            access.route("/riichi/{table:int}-{round:int}.pdf", self.printed, RIGHT),
        ]

    def show(self, request: Request, _visitor: Visitor, _: HtmlTranslator) -> LivePage:
        """Show a page of sessions with scores, round, deposits on the table, and hands."""
        event = self._sessions.event
        pagination = Pagination.at(request.query_params, len(self._sessions), SESSIONS)
        sessions = self._sessions.some(pagination.lines, _.language)
        values = {
            "sessions": sessions,
            "shown_hands": SHOWN_HANDS,
            "pagination": pagination,
            "unprintable": unprintable_names(event),
        }
        key = (pagination, event, tuple((one.entries, one.names) for one in sessions))
        return LivePage("riichi.html", _("Riichi"), values, key)

    def printed(self, request: Request) -> Response:
        """Return the sheet of one session as PDF."""
        key = request.path_params["table"], request.path_params["round"]
        found = self._sessions.one(key, translator_for(request).language)
        if found is None or found.sheet is None:
            raise RuleError(
                "no_such_session", N_("there is no sheet of table {table}, round {round}", table=key[0], round=key[1])
            )
        with printed_spellings(self._sessions.event):
            content = session_pdf(found.sheet)
        return render.pdf_response(content, f"riichi-{key[0]}-{key[1]}.pdf")
