"""The pages on which arbiters rule: the history, a new ruling, and whom it would move."""

import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.contract.wire import Refused
from broker.contract.words import SEATS
from broker.desk.access import RULINGS, Access, Way, address, visitor_of
from broker.desk.annex import Annex
from broker.desk.errors import DeskError
from broker.desk.forms import Form, read_form, typed
from broker.desk.forms_page import language, lead, render
from broker.desk.ranges import as_ranges
from broker.desk.rulings import listed
from broker.desk.rulings.bench import Bench
from broker.desk.rulings.drafting import OF_EVENT, OF_PLAY, By, draft_of, number
from broker.desk.rulings.naming import identified, those_of
from broker.desk.rulings.telling import Telling
from broker.desk.rulings.what_if_page import WhatIfPage
from broker.desk.sheets import Leaf
from broker.people.accounts import Account
from broker.people.errors import PeopleError
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.rule_books import Rules
from broker.scorer.errors import ScorerError
from broker.scorer.rulings import absences
from broker.scorer.rulings.changes import Changes
from broker.scorer.rulings.effects import Moved
from broker.scorer.rulings.entry import DEADLINE, WHO_PLAYS, Author, Draft, Subject
from broker.scorer.rulings.follow_ups import follow_ups, missed
from broker.scorer.rulings.rulings import Rulings
from broker.scorer.visits import KINDS, Visit

SHOWN: Final = 200
PLAN_KINDS: Final = ("player_corrected", "title_corrected", "sessions_corrected")
LONGEST: Final = 2000
PLAY: Final = re.compile(r"([1-9][0-9]{0,3})-([1-9][0-9]{0,2})")
LISTED: Final = 100
"""Of so many players each is offered where one is to be named; in a larger event they are written."""

SUBJECTS: Final = {"deadline": DEADLINE, "substitute": WHO_PLAYS, "withdrawn": WHO_PLAYS}
"""What rulings of the event are about, where two arbiters may not rule on it at once."""
REFUSALS: Final = (Refused, ScorerError, PeopleError, DeskError)
BYTE_ORDER_MARK: Final = "\ufeff"


def annex(bench: Bench) -> Annex:
    """Give the desk its pages of rulings, and the audit log the notes that it lacks."""
    bench.note_missing()

    def routes(access: Access, _feed: object) -> Sequence[Route]:
        return [*RulingsPage(access, bench).routes(), *WhatIfPage(access, bench).routes()]

    return Annex(routes, (Way(RULINGS, "rulings", "see_room"), Way("/what-if", "what_if", "see_room")))


class RulingsPage:
    """Answers arbiters."""

    def __init__(self, access: Access, bench: Bench) -> None:
        self._access, self._bench = access, bench

    def routes(self) -> Sequence[Route]:
        """Give the routes."""
        return [
            self._access.route("/rulings", self.show, "see_room"),
            self._access.route("/rulings.csv", self.as_csv, "see_room"),
            self._access.route("/rulings.json", self.as_json, "see_room"),
            self._access.route("/rulings/new", self.new, "rule"),
            self._access.route("/rulings/new", self.rule, "rule", ("POST",)),
        ]

    # ---- the history ------------------------------------------------------------------------

    async def show(self, request: Request) -> Response:
        """Show what was ruled, newest first, and what follows from it."""
        return await run_in_threadpool(self._history, request)

    def _history(self, request: Request) -> Response:
        event, wishes = self._bench.event, dict.fromkeys(listed.TESTS, "") | dict(request.query_params)
        meant = self._meant(wishes)

        def look(rulings: Rulings) -> dict[str, Any]:
            room, changes = rulings.room, Changes(event, rulings.room)
            lines = listed.filtered(listed.lines(room.book), meant)
            return {
                "lines": lines,
                "changes": [changes.of(line.entry) for line in lines[:SHOWN]],
                "visits": listed.around(room.visits.oldest_first(), meant)[::-1],
                "deadline": room.book.deadline,
                "missed": missed(room)[:SHOWN],
                "follow": follow_ups(event, room)[:SHOWN],
                "left_out": sorted(room.teams.left_out),
            }

        values = self._bench.look(look) | {"wishes": wishes, "players": event.players, "most": SHOWN}
        values["told"] = {one.entry.id: self._telling(request).of(one) for one in values.pop("changes")}
        values["kinds"] = (*OF_PLAY, "fouled", "substitute", "withdrawn", "deadline", *PLAN_KINDS, "undo")
        values["at_tables"] = KINDS
        done = "ruling_published" if "done" in wishes else ""
        return render(request, "rulings.html", "rulings", visitor_of(request), done=done, values=values)

    async def as_csv(self, request: Request) -> Response:
        """Give the history for spreadsheets."""
        found = await run_in_threadpool(self._filtered, request)
        told = listed.csv(*found, numbers=visitor_of(request).may("set_up"))
        return _file(BYTE_ORDER_MARK + told, "text/csv", "rulings.csv")

    async def as_json(self, request: Request) -> Response:
        """Give the history for programs."""
        found = await run_in_threadpool(self._filtered, request)
        told = listed.json(*found, numbers=visitor_of(request).may("set_up"))
        return _file(told.decode(), "application/json", "rulings.json")

    def _filtered(self, request: Request) -> tuple[list[listed.Line], list[Visit]]:
        wishes = self._meant(dict(request.query_params))

        def look(rulings: Rulings) -> tuple[list[listed.Line], list[Visit]]:
            room = rulings.room
            there = listed.around(room.visits.oldest_first(), wishes)
            return listed.filtered(listed.lines(room.book), wishes), there

        return self._bench.look(look)

    def _meant(self, wishes: dict[str, str]) -> dict[str, str]:
        """Give what is looked for, with the ids of all players who may be meant; who is nobody's is found nowhere."""
        if not wishes.get("player", "").strip():
            return wishes
        found = those_of(wishes["player"], self._bench.event.players)
        return wishes | {"player": " ".join(one.id for one in found) or listed.NOBODY}

    # ---- a new ruling -----------------------------------------------------------------------

    async def new(self, request: Request) -> Response:
        """Show the form: of a play, of a deal, of an undo, or where one says of which."""
        asked = dict(request.query_params)
        return await run_in_threadpool(self._form, request, asked, self._missing(asked))

    def _missing(self, asked: Mapping[str, str]) -> Refused | None:
        """Say of a play or a deal that was asked for that there is none."""
        key, deal = play_of(asked), asked.get("deal", "").strip()
        if asked.get("table", asked.get("round", asked.get("play", ""))) and key not in self._bench.event.bookings:
            table, round_ = key or (asked.get("table", "")[:4], asked.get("round", "")[:4])
            return Refused("unknown_play", f"table {table} has no such play in round {round_}")
        if deal and _number_or_none(asked, "deal") not in self._bench.event.expected:
            return Refused("unknown_deal", f"there is no deal {deal[:4]} in this event")
        return None

    async def rule(self, request: Request) -> Response:
        """Show whom a ruling would move, or publish it."""
        form: Form = {}
        try:
            form = await read_form(request, visitor_of(request))
            return await run_in_threadpool(self._ruled, request, form)
        except REFUSALS as error:
            return await run_in_threadpool(self._form, request, typed(form, error), error)

    def _ruled(self, request: Request, form: Form) -> Response:
        form = identified(form, self._bench.event.players)
        draft, account = self._draft(form), _account(request)
        if form.get("action") != "publish":
            return self._preview(request, form, draft)
        try:
            self._bench.give(draft, account, address(request), form.get("looked_at", ""))
        except Refused as error:
            if error.code != "effects_changed":
                raise
            return self._preview(request, form, draft, error)
        return lead(request, "/rulings", done=draft.id)

    def _draft(self, form: Form) -> Draft:
        event = self._bench.event
        key = play_of(form)
        laid = self._bench.look(lambda rulings: rulings.room.play(key)) if key in event.bookings else None
        if key and laid is None:
            raise Refused("unknown_play", f"table {key[0]} has no such play in round {key[1]}")
        now = self._bench.look(lambda rulings: rulings.now())
        dealer = event.winds(laid.deal)[1] if laid else SEATS[0]
        return draft_of(form, laid, By(event.profile, dealer), now)

    def _preview(self, request: Request, form: Form, draft: Draft, error: Refused | None = None) -> Response:
        account = _account(request)
        author = Author(account.full, account.name, account.role)  # type: ignore[arg-type] # an arbiter: may rule
        effects = self._bench.look(lambda rulings: rulings.effects(draft, author))
        kept = {name: value for name, value in form.items() if name not in {"form", "action", "looked_at", "page"}}
        event = self._bench.event
        told = self._telling(request).of(effects.change)
        # Whose IMPs change comes first: a fine of one may move a thousand by a place.
        leaf, moved = Leaf.at(form.get("page", ""), len(effects.players)), sorted(effects.players, key=_place_alone)
        values = {"kept": kept, "draft": draft, "effects": effects, "told": told, "players": event.players}
        values |= {"moved": moved[leaf.lines()], "leaf": leaf}
        values["coming"] = self._bench.look(
            lambda rulings: absences.to_come(event, rulings.room.results, draft.decision)
        )
        return render(request, "ruling_effects.html", "ruling_effects", visitor_of(request), error=error, values=values)

    def _form(self, request: Request, form: Mapping[str, str], error: Exception | None = None) -> Response:
        event, key = self._bench.event, play_of(form)
        filled = {name: value[:LONGEST] for name, value in form.items()}

        def look(rulings: Rulings) -> dict[str, Any]:
            room, book = rulings.room, rulings.room.book
            laid = room.play(key) if key in event.bookings else None
            undo = book.entries.get(form.get("undo", ""))
            deal = _number_or_none(form, "deal") if laid is None and undo is None else None
            deal = deal if deal in event.expected else None
            kind = form.get("kind", "")
            subject: Subject | None = key if laid else deal or SUBJECTS.get(kind)
            if undo is not None:
                subject = book.subject(undo)
            entries, changes = book.all_of(subject) if subject is not None else [], Changes(event, room)
            return {
                "changes": [changes.of(entry) for entry in (*entries, *((undo,) if undo else ()))],
                "laid": laid,
                "undo": undo,
                "deal": deal,
                "after": room.last_word(subject) if subject is not None else None,
                "entered": room.results.get(key) if key else None,
                "entries": [(entry, book.counts(entry.id)) for entry in entries],
                "deadline": book.deadline,
                "tables": sorted({table for table, _ in room.plays_with(deal)}) if deal else [],
            }

        values = self._bench.look(look)
        values["told"] = {one.entry.id: self._telling(request).of(one) for one in values.pop("changes")}
        kinds = OF_PLAY if values["laid"] else ("fouled",) if values["deal"] else OF_EVENT
        kind = "undo" if values["undo"] else form.get("kind") if form.get("kind") in kinds else None
        values |= {
            "filled": filled,
            "kinds": kinds,
            "kind": kind or (kinds[0] if values["deal"] else None),
            "id": f"ruling-{uuid.uuid4().hex}",
            "players": event.players,
            "offered": event.players if len(event.players) <= LISTED else {},
            "last_table": max((table for table, _ in event.bookings), default=1),
            "last_deal": max(event.expected, default=1),
            "as_ranges": as_ranges,
            "rounds": sorted({round_ for _, round_ in event.bookings}),
            "awards": event.profile.awards,
            "fines": event.profile.false_hu.fines.value,
        } | _riichi(event.profile)
        return render(request, "ruling_new.html", "ruling_new", visitor_of(request), error=error, values=values)

    def _telling(self, request: Request) -> Telling:
        event = self._bench.event
        return Telling(language(request), event.players, event.profile.awards)


def _riichi(rules: Rules) -> dict[str, object]:
    """Give what the form of a hand of riichi depends on; `of_riichi` says whether the event plays it."""
    if not isinstance(rules, RiichiProfile):
        return {"of_riichi": False}
    session = rules.session
    return {"of_riichi": True, "aborts": session.draw.aborts.value, "live_kan": session.pao.live_kan.value}


def play_of(form: Mapping[str, str]) -> tuple[int, int] | None:
    """Give the play that an address or a form is about: `play=3-2`, or `table=3&round=2`."""
    written = form.get("play") or f"{form.get('table', '').strip()}-{form.get('round', '').strip()}"
    found = PLAY.fullmatch(written.strip())
    return (int(found[1]), int(found[2])) if found else None


def _place_alone(one: Moved) -> bool:
    return one.imp_before == one.imp_after


def _number_or_none(form: Mapping[str, str], field: str) -> int | None:
    try:
        return number(form, field)
    except Refused:
        return None


def _account(request: Request) -> Account:
    session = visitor_of(request).session
    if session is None:
        raise TypeError("a route that asks for `rule` lets nobody in without a session")
    return session.account


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
