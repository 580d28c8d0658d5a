"""The page on which arbiters print blank sheets and key in those that were filled in.

A sheet is stored only after a check: it is first shown as it would count. If the event has two people key in each
sheet, the second person replaces that check (`keying.py`).
"""

import threading
from collections.abc import Sequence
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.errors import RuleError, ScorerError
from broker.event import BookedPlay, DealRecord, Event
from broker.event.setup import from_file
from broker.export.paper_sheets import blank_sheets, blank_sheets_pdf, refuse_none_or_many
from broker.export.pdf import printed_spellings, unprintable_names
from broker.i18n import N_
from broker.rulings import StandIn, substitute_of
from broker.rulings.paper import (
    NEEDED,
    OPTIONAL,
    PAPER_REASON,
    PaperSheet,
    SheetResult,
    keyed_of,
    read_sheets,
    sheet_of,
)
from broker.scorer import EventState, ViewFeed
from broker.scorer.dashboard import Arrivals
from broker.spreadsheet import sent_text
from broker.web import (
    Access,
    Form,
    account_of,
    client_address,
    errors,
    form_page,
    note_action,
    read_number,
    render,
    render_page,
    translator_for,
)
from broker.web.paper.keying import DoubleKeying, apply_sheets
from broker.web.services import RULING_NOTED, ScorerThread, author_of

RIGHT: Final = "rule"
LARGEST: Final = 2**20
SHOWN: Final = 200
FIELDS: Final = (*NEEDED, *OPTIONAL)


class PaperPage:
    """Serves arbiters. Organisers too may print blank sheets."""

    def __init__(
        self, access: Access, feed: ViewFeed, room: EventState, deals: Sequence[DealRecord], scorer: ScorerThread
    ) -> None:
        self._access, self._feed, self._room, self._scorer = access, feed, room, scorer
        self._deals = {deal.number: deal for deal in deals}
        self._printing = threading.Lock()
        double = room.planned.plan.keying == "double" and access.auth is not None
        self._double_keying = DoubleKeying(room, scorer, access.auth) if double and access.auth else None

    @property
    def _event(self) -> Event:
        return self._room.planned

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and the blank sheets."""
        return [
            *form_page(self._access, "/paper", self._page, self._key, RIGHT, largest=LARGEST),
            self._access.route("/paper/sheets.pdf", self.sheets, "print_sheets"),
        ]

    def sheets(self, request: Request) -> Response:
        """Return blank sheets, of one table or round if the query names it."""
        numbers = [read_number(request.query_params.get(name, ""), 4, -1) for name in ("table", "round")]
        tables, rounds = ([number] if number >= 0 else [] for number in numbers)
        event = self._scorer.rulings.room.event
        with self._printing:
            made = blank_sheets(event, self._deals, tables=tables, rounds=rounds, stand_ins=self._stand_ins())
            with printed_spellings(event):
                content = blank_sheets_pdf(refuse_none_or_many(made), translator_for(request).language)
        return render.pdf_response(content, f"{self._event.name}-sheets.pdf")

    def _key(self, request: Request, form: Form) -> Response:
        """Show what was keyed in as it would count; store it once confirmed. Or settle two readings."""
        if form.get("action") in {"settle", "take_back"}:
            return self._page(request, {}, more={"results": self._settle(request, form)})
        read = self._read(form)
        if form.get("action") not in {"keep", "keep_csv"}:
            return self._page(request, form, more={"preview": read, "known": self._stand_ins()})
        results = self._take(request, read)
        # Refused sheets are shown again, to compare with the paper.
        refused = self._double_keying is None and any(one.problem for one in results)
        return self._page(request, form if refused else {}, more={"results": results})

    def _stand_ins(self) -> Sequence[StandIn]:
        return self._scorer.ask(lambda: self._scorer.rulings.room.snapshot().stand_ins)

    def _read(self, form: Form) -> Sequence[PaperSheet]:
        match form.get("action", ""):
            case "look" | "keep":
                return (sheet_of(keyed_of(form), self._event),)
            case "look_csv" | "keep_csv":
                return from_file(form.get("csv", ""), "sheets.csv", partial(read_sheets, event=self._event))
        raise errors.FormMalformed("the form names no known action")

    def _take(self, request: Request, sheets: Sequence[PaperSheet]) -> list[SheetResult]:
        account = account_of(request)
        if self._double_keying is not None:
            return self._double_keying.key(sheets, account, client_address(request))
        results, given = apply_sheets(self._scorer, sheets, author_of(account), PAPER_REASON)
        # The rulings are in the journal now. If this machine stops here, the desk's next start writes the audit
        # entries.
        if self._access.auth is not None:
            with self._access.auth.store.commit():
                for id_ in given:
                    note_action(self._access.auth, request, RULING_NOTED, id_, PAPER_REASON)
        return results

    def _settle(self, request: Request, form: Form) -> list[SheetResult]:
        """Settle or withdraw open readings as the form says; return the results that count now."""
        if self._double_keying is None:
            raise RuleError("keying_gone", "one person keys a sheet in this event")
        numbers = [read_number(form.get(name, ""), 9) for name in ("table", "round", "one", "other", "chosen")]
        table, round_, one, other, chosen = numbers
        account = account_of(request)
        if form["action"] == "take_back":
            self._double_keying.take_back((table, round_), account, client_address(request))
            return []
        if not form.get("chosen"):
            raise errors.FormMalformed("the form does not say which reading counts")
        why, where = form.get("reason", ""), client_address(request)
        result = self._double_keying.settle((table, round_), (one, other), chosen, why, account, where)
        return [result] if result else []

    def _page(
        self, request: Request, form: Form, error: Exception | None = None, more: dict[str, object] | None = None
    ) -> Response:
        """Show the forms, filled in for the play that the query names."""
        typed = form or {name: request.query_params.get(name, "")[:4] for name in ("round", "table", "deal")}
        values: dict[str, object] = {
            "filled": {name: typed.get(name, "")[:20] for name in FIELDS},
            "fields": FIELDS,
            "missing": self._missing(),
            "unprintable": unprintable_names(self._scorer.rulings.room.event),
            "shown": SHOWN,
            "players": {player.id: player.name for player in self._scorer.rulings.room.event.plan.players},
            "preview": (),
            "known": (),
            "substitute_of": substitute_of,
            "results": (),
            "csv": sent_text(form.get("csv", "")),
            "declared": self._feed.current.final,
            "typed": "action" in form,
            "heading": ",".join((*NEEDED, *OPTIONAL)),
        }
        values |= self._open_readings(request) | (more or {})
        return render_page(request, "paper.html", N_("Paper"), error=error, values=values)

    def _open_readings(self, request: Request) -> dict[str, object]:
        """Return two people's readings as far as this visitor may see them: no reading that awaits a second."""
        if self._double_keying is None:
            return {"double": False, "differences": (), "waiting": ()}
        try:
            differences, waiting = self._double_keying.open(account_of(request))
        except ScorerError:  # busy: show the page, with any earlier error, all the same
            differences, waiting = [], []
        return {"double": True, "differences": differences, "waiting": waiting}

    def _missing(self) -> list[BookedPlay]:
        """Return the plays without a result, earliest rounds first."""
        arrived = self._feed.current.plays
        known = arrived.places() if isinstance(arrived, Arrivals) else {(play.table, play.round) for play in arrived}
        plays = (play for play in self._event.plan.plays if (play.table, play.round) not in known)
        return sorted(plays, key=lambda play: (play.round, play.table))
