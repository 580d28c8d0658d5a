"""The arbiters' page of riichi sessions: where each stands, its last hands, and its sheet to print."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.contract.facts import RiichiHand
from broker.contract.words import SEATS
from broker.desk.access import Access, Way, visitor_of
from broker.desk.annex import Annex
from broker.desk.forms_page import language, render
from broker.desk.rulings.bench import Bench
from broker.records.session.pdf import pdf
from broker.records.session.rows import Sheet, sheet
from broker.rules.errors import RuleError
from broker.rules.riichi.session.record import begin, played
from broker.rules.riichi.session.told import event_of
from broker.scorer.riichi import Key, RiichiBooking
from broker.scorer.rulings.rulings import Rulings

WHO: Final = "see_room"


def annex(bench: Bench) -> Annex:
    """Give the desk its page of sessions; no way leads there in an event that has none."""
    ways = (Way("/riichi", "riichi_sessions", WHO),) if bench.event.riichi else ()
    return Annex(lambda access, _feed: SessionsPage(access, bench).routes(), ways)


@dataclass(frozen=True, slots=True)
class Heard:
    """What the tables have told of a session, as the scorer knows it at one moment."""

    booking: RiichiBooking
    entries: tuple[RiichiHand, ...]
    differing: tuple[int, ...]
    """Entries whose payments do not follow from those before."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return bool(self.entries) and self.entries[-1].standing.over


class SessionsPage:
    """Answers arbiters. What is shown is what the tables have told; nothing is changed here."""

    def __init__(self, access: Access, bench: Bench) -> None:
        self._access, self._bench = access, bench

    def routes(self) -> Sequence[Route]:
        """Give the routes."""
        return [
            self._access.route("/riichi", self.show, WHO),
            self._access.route("/riichi/{table:int}-{round:int}.pdf", self.printed, WHO),
        ]

    async def show(self, request: Request) -> Response:
        """Show every session: the scores, the round, what lies on the table, the hands."""
        return await run_in_threadpool(self._show, request)

    async def printed(self, request: Request) -> Response:
        """Give the sheet of one session."""
        return await run_in_threadpool(self._printed, request)

    def _show(self, request: Request, error: Exception | None = None) -> Response:
        words = language(request).language
        heard = self._bench.look(lambda rulings: [*_heard(self._bench.event.riichi, rulings)])
        values = {"sessions": [(one, self._sheet(one, words)) for one in heard], "players": self._bench.event.players}
        return render(request, "riichi.html", "riichi_sessions", visitor_of(request), error=error, values=values)

    def _printed(self, request: Request) -> Response:
        key = request.path_params["table"], request.path_params["round"]
        found = self._bench.look(lambda rulings: [*_heard(self._bench.event.riichi, rulings, key)])
        made = self._sheet(found[0], language(request).language) if found else None
        if made is None:
            problem = RuleError("no_such_session", f"there is no sheet of table {key[0]}, round {key[1]}")
            return self._show(request, problem)
        name = f'inline; filename="riichi-{key[0]}-{key[1]}.pdf"'
        return Response(pdf(made), media_type="application/pdf", headers={"Content-Disposition": name})

    def _sheet(self, heard: Heard, words: str) -> Sheet | None:
        """Give the sheet; None where an entry cannot be, which the arbiter is told anyway."""
        booking, rules = heard.booking, self._bench.event.session_rules(heard.booking)
        names = [self._bench.event.players[booking.players[seat]].name for seat in SEATS]
        try:
            entries = played((event_of(fact.event) for fact in heard.entries), rules)
        except RuleError:
            return None
        title = f"{booking.table} – {booking.round}"
        return sheet(title, begin(rules), entries, names, words)  # type: ignore[arg-type]  # the desk's languages are the sheet's


def _heard(booked: "dict[Key, RiichiBooking]", rulings: Rulings, only: Key | None = None) -> Iterator[Heard]:
    """Give the sessions by table and round; what is told of them is asked in the scorer's own thread."""
    sessions = rulings.room.riichi
    for key, booking in sorted(booked.items()):
        if only in (None, key):
            yield Heard(booking, sessions.entries(key), sessions.differing(booking))
