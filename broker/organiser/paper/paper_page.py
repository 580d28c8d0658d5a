"""The page on which an arbiter prints blank sheets, and keys those that were written on.

A sheet is taken after a second look: what was keyed is shown as it would count, and only then kept.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.contract.words import SEATS, RulerRole
from broker.desk.access import Access, Way, address, visitor_of
from broker.desk.annex import Annex
from broker.desk.errors import DeskError, FormMalformed
from broker.desk.forms import Form, read_form
from broker.desk.forms_page import language, render
from broker.desk.rulings.bench import NOTED
from broker.organiser.deals.files import flat
from broker.organiser.paper.blank import blanks, pdf
from broker.organiser.paper.command import chosen
from broker.organiser.paper.keyed import NEEDED, OPTIONAL, Sheet, keyed_of, read_sheets, sheet_of
from broker.organiser.paper.taking import REASON, Told, take_all
from broker.people.errors import PeopleError
from broker.rules.errors import RuleError
from broker.scorer.errors import ScorerError
from broker.scorer.event import Booking, Event
from broker.scorer.folder import DealRecord
from broker.scorer.rulings.entry import Author
from broker.scorer.rulings.rulings import Rulings
from broker.scorer.view import ViewFeed
from broker.store.errors import StoreError

WHO: Final = "rule"
LARGEST: Final = 2**20
SHOWN: Final = 200
FIELDS: Final = (*NEEDED, *OPTIONAL)

T = TypeVar("T")


class Desk(Protocol):
    """What is needed of the scorer: its rulings, on its own thread."""

    rulings: Rulings

    def ask(self, work: Callable[[], T]) -> T:
        """Have something done by the scorer's thread, and wait for it."""


def annex(event: Event, deals: Sequence[DealRecord], scorer: Desk) -> Annex:
    """Give the desk the page of paper sheets."""
    page = (Way("/paper", "paper", WHO),)
    return Annex(lambda access, feed: PaperPage(access, feed, event, deals, scorer).routes(), page)


class PaperPage:
    """Answers arbiters."""

    def __init__(self, access: Access, feed: ViewFeed, event: Event, deals: Sequence[DealRecord], scorer: Desk) -> None:
        self._access, self._feed, self._event, self._scorer = access, feed, event, scorer
        self._deals = {deal.number: deal for deal in deals}
        self._printing = threading.Lock()

    def routes(self) -> Sequence[Route]:
        """Give the routes."""
        return [
            self._access.route("/paper", self.show, WHO),
            self._access.route("/paper", self.key, WHO, ("POST",)),
            self._access.route("/paper/sheets.pdf", self.sheets, WHO),
        ]

    async def show(self, request: Request) -> Response:
        """Show the forms; for one play if the address names it."""
        asked = {name: request.query_params.get(name, "")[:4] for name in ("round", "table", "deal")}
        return await run_in_threadpool(self._page, request, asked)

    async def sheets(self, request: Request) -> Response:
        """Give blank sheets, of a table or a round where the address says so."""
        only = {name: _numbers(request.query_params.get(name, "")) for name in ("table", "round")}
        content = await run_in_threadpool(self._blank, request, only["table"], only["round"])
        attachment = {"Content-Disposition": f'inline; filename="{self._event.name}-sheets.pdf"'}
        return Response(content, media_type="application/pdf", headers=attachment)

    async def key(self, request: Request) -> Response:
        """Show what was keyed as it would count; after that second look keep it."""
        form: Form = {}
        try:
            form = await read_form(request, visitor_of(request), largest=LARGEST)
            read = await run_in_threadpool(self._read, form)
            if form.get("action") not in {"keep", "keep_csv"}:
                return await run_in_threadpool(self._page, request, form, {"looked": read, "csv": form.get("csv", "")})
            told = await run_in_threadpool(self._take, request, read)
        except (DeskError, PeopleError, RuleError, ScorerError, StoreError) as error:
            return await run_in_threadpool(self._page, request, form, {"csv": form.get("csv", "")}, error)
        except ExceptionGroup as several:
            more: dict[str, object] = {"found": flat(several), "csv": form.get("csv", "")}
            return await run_in_threadpool(self._page, request, form, more, flat(several)[0])
        return await run_in_threadpool(self._page, request, {}, {"told": told})

    def _blank(self, request: Request, tables: Sequence[int], rounds: Sequence[int]) -> bytes:
        with self._printing:
            made = chosen(blanks(self._event, self._deals, tables=tables, rounds=rounds))
            return pdf(made, language(request).language)

    def _read(self, form: Form) -> Sequence[Sheet]:
        match form.get("action", ""):
            case "look" | "keep":
                return (sheet_of(keyed_of(form), self._event),)
            case "look_csv" | "keep_csv":
                return self._read_csv(form.get("csv", ""))
        raise FormMalformed("the form does not say what it asks for")

    def _read_csv(self, text: str) -> Sequence[Sheet]:
        if "\ufffd" in text:
            raise RuleError("not_utf8", "the file is not UTF-8: save it anew in that encoding")
        with TemporaryDirectory() as beside:
            path = Path(beside) / "sheets.csv"
            path.write_text(text, encoding="utf-8", newline="")
            return read_sheets(path, self._event)

    def _take(self, request: Request, sheets: Sequence[Sheet]) -> list[Told]:
        session = visitor_of(request).session
        if session is None or session.account.role not in {"head_arbiter", "table_arbiter"}:
            raise TypeError("a route that asks for `rule` lets only arbiters in")
        account = session.account
        role: RulerRole = "head_arbiter" if account.role == "head_arbiter" else "table_arbiter"
        author = Author(account.full, account.name, role)
        told, given = self._scorer.ask(lambda: self._taken(sheets, author))
        # In the journal by now. Where this machine stops here, the desk's next start writes the notes.
        if self._access.door is not None:
            with self._access.door.store.commit():
                for id_ in given:
                    self._access.door.audit.note(
                        self._access.door.clock(), account.name, NOTED, id_, REASON, address=address(request)
                    )
        return told

    def _taken(self, sheets: Sequence[Sheet], author: Author) -> tuple[list[Told], list[str]]:
        before = len(self._scorer.rulings.history())
        told = take_all(self._scorer.rulings, sheets, author)
        return told, [entry.id for entry in self._scorer.rulings.history()[before:]]

    def _page(
        self, request: Request, form: Form, more: dict[str, object] | None = None, error: Exception | None = None
    ) -> Response:
        values: dict[str, object] = {
            "filled": {name: form.get(name, "")[:20] for name in FIELDS},
            "fields": FIELDS,
            "missing": self._missing(),
            "shown": SHOWN,
            "seats": SEATS,
            "players": {player.id: player.name for player in self._event.plan.players},
            "looked": (),
            "told": (),
            "found": (),
            "csv": "",
            "heading": ",".join((*NEEDED, *OPTIONAL)),
        }
        values |= more or {}
        return render(request, "paper.html", "paper", visitor_of(request), error=error, values=values)

    def _missing(self) -> list[Booking]:
        """Give the plays without a result, those of the earliest rounds first."""
        there = {(play.table, play.round) for play in self._feed.current.plays}
        plays = (play for play in self._event.plan.plays if (play.table, play.round) not in there)
        return sorted(plays, key=lambda play: (play.round, play.table))


def _numbers(text: str) -> tuple[int, ...]:
    return (int(text),) if text.isascii() and text.isdigit() and len(text) <= 3 else ()  # noqa: PLR2004 - digits
