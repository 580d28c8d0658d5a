"""The pages on which arbiters rule: the history, a new ruling, and its preview."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.event import Event
from broker.i18n import N_
from broker.protocol import SEATS, Deadline, Refused
from broker.rules import Penalty, RiichiProfile, Rules, infractions_of
from broker.rulings import DEADLINE, FINAL, WHO_PLAYS, CountedPlay, PlayKey, RulingDraft, Subject, appeal_subject, plan
from broker.rulings.follow_ups import follow_ups, missed_deals, seated_twice
from broker.rulings.infractions import appeal_until, penalty_for
from broker.rulings.preview import RulingChanges
from broker.rulings.service import RulingService
from broker.scorer import VISIT_KINDS, ApartPlay, EventState, Visit
from broker.web import Access, Form, Pagination, account_of, form_handler, forms, render, render_page, visitor_of
from broker.web.rulings import history
from broker.web.rulings.forms import (
    OF_APART,
    OF_APPEAL,
    OF_EVENT,
    OF_PLAY,
    OF_SESSION,
    PaymentRules,
    draft_of,
    fields_to_resend,
    matching_players,
    whole_number,
    with_player_ids,
)
from broker.web.services import AuditedRulings, author_of

MOST_SHOWN: Final = 200
PLAN_KINDS: Final = ("player_corrected", "title_corrected", "sessions_corrected", "plan_changed", "final_declared")
OTHER_KINDS: Final = ("warning", "dead_hand", "fouled", "substitute", "withdrawn", "deadline")
LONGEST_FIELD: Final = 2000
PLAY_KEY: Final = re.compile(r"([1-9][0-9]{0,3})-([1-9][0-9]{0,2})")
MOST_OFFERED: Final = 100
"""Maximum number of players that are offered as a list; in a larger event names are typed."""

SUBJECTS: Final = {"deadline": DEADLINE, "substitute": WHO_PLAYS, "withdrawn": WHO_PLAYS}
"""Subjects of rulings on the event, on which two arbiters may not rule at the same time."""


class RulingsPage:
    """Serves arbiters."""

    def __init__(self, access: Access, rulings: AuditedRulings) -> None:
        self._access, self._rulings = access, rulings

    def routes(self) -> Sequence[Route]:
        """Return the routes of the history and the forms."""
        return [
            self._access.route("/rulings", self.show, "see_room"),
            self._access.route("/rulings.csv", self.as_csv, "see_room"),
            self._access.route("/rulings.json", self.as_json, "see_room"),
            self._access.route("/rulings/new", self.new, "rule"),
            self._access.route("/rulings/new", form_handler(self._form, self._act), "rule", ("POST",)),
        ]

    # ---- history -----------------------------------------------------------------------------

    def show(self, request: Request) -> Response:
        """Show the rulings, newest first, and what follows from them."""
        event, filters = self._rulings.event, dict.fromkeys(history.RULING_FILTERS, "") | dict(request.query_params)
        meant = self._with_player_ids(filters)

        def read(rulings: RulingService) -> dict[str, Any]:
            room, changes = rulings.room, RulingChanges(event, rulings.room)
            lines = history.filter_rulings(history.history_lines(room), meant)
            return {
                "lines": lines,
                "changes": [changes.of(line.entry) for line in lines[:MOST_SHOWN]],
                "visits": history.filter_visits(room.tables.visits.oldest_first(), meant)[::-1],
                "deadline": room.book.deadline,
                "closed": _closed(request, rulings),
                "declared": room.book.declared is not None,
                "twice": seated_twice(room)[:MOST_SHOWN],
                "missed": missed_deals(room)[:MOST_SHOWN],
                "follow": follow_ups(event, room)[:MOST_SHOWN],
                "apart": [_as_sent(room, one) for one in room.apart_plays()[:MOST_SHOWN]],
                "left_out": sorted(room.teams.left_out),
            }

        values = self._rulings.query(read) | {"filters": filters, "players": event.players, "most": MOST_SHOWN}
        writer = history.RulingWriter(request, self._rulings.event)
        values |= {
            "outcome": writer.outcome,
            "decides": visitor_of(request).is_head,
        }
        values["texts"] = {one.entry.id: writer.of(one) for one in values.pop("changes")}
        values["kinds"] = (*OF_PLAY, *OF_APART, *OTHER_KINDS, *OF_APPEAL, *PLAN_KINDS, "undo")
        values["at_tables"] = VISIT_KINDS
        return render_page(request, "rulings.html", N_("Rulings"), done=N_("Published."), values=values)

    def as_csv(self, request: Request) -> Response:
        """Return the history as CSV."""
        text = history.history_csv(*self._filtered(request), numbers=visitor_of(request).may("set_up"))
        return render.download(render.BYTE_ORDER_MARK + text, "rulings.csv", "text/csv")

    def as_json(self, request: Request) -> Response:
        """Return the history as JSON."""
        text = history.history_json(*self._filtered(request), numbers=visitor_of(request).may("set_up"))
        return render.download(text, "rulings.json", "application/json")

    def _filtered(self, request: Request) -> tuple[list[history.RulingLine], list[Visit]]:
        filters = self._with_player_ids(dict(request.query_params))

        def read(rulings: RulingService) -> tuple[list[history.RulingLine], list[Visit]]:
            room = rulings.room
            there = history.filter_visits(room.tables.visits.oldest_first(), filters)
            return history.filter_rulings(history.history_lines(room), filters), there

        return self._rulings.query(read)

    def _with_player_ids(self, filters: dict[str, str]) -> dict[str, str]:
        """Return the filters with the ids of all players who match the name, or an id that nobody has."""
        if not filters.get("player", "").strip():
            return filters
        found = matching_players(filters["player"], self._rulings.event.players)
        return filters | {"player": " ".join(one.id for one in found) or history.NOBODY}

    # ---- new ruling --------------------------------------------------------------------------

    def new(self, request: Request) -> Response:
        """Show the form for a play, a deal or a withdrawal, or fields to choose one."""
        query = dict(request.query_params)
        return self._form(request, query, self._unknown_subject(query))

    def _unknown_subject(self, query: Mapping[str, str]) -> Refused | None:
        """Return a refusal if the requested play or deal does not exist."""
        key, deal = requested_play(query), query.get("deal", "").strip()
        places = self._rulings.event.bookings.keys() | _without_play(self._rulings.event)
        if query.get("table", query.get("round", query.get("play", ""))) and key not in places:
            table, round_ = key or (query.get("table", "")[:4], query.get("round", "")[:4])
            return Refused(
                "unknown_play", N_("table {table} has no such play in round {round}", table=table, round=round_)
            )
        if deal and _number_or_none(query, "deal") not in self._rulings.event.expected:
            return Refused("unknown_deal", N_("this event has no deal {deal}", deal=deal[:4]))
        return None

    def _act(self, request: Request, form: Form) -> Response:
        """Preview the effects of a ruling, or publish it."""
        form = with_player_ids(form, self._rulings.event.players)
        draft = self._draft(form)
        if form.get("action") != "publish":
            return self._preview(request, form, draft)
        try:
            return self._rulings.publish(request, "/rulings", draft, form.get("looked_at", ""))
        except Refused as error:
            if error.code != "effects_changed":
                raise
            return self._preview(request, form, draft, error)

    def _draft(self, form: Form) -> RulingDraft:
        event = self._rulings.event
        key = requested_play(form)
        play = self._rulings.query(lambda rulings: rulings.room.play(key)) if key in event.bookings else None
        if key and play is None and key not in _without_play(event):
            raise Refused(
                "unknown_play", N_("table {table} has no such play in round {round}", table=key[0], round=key[1])
            )
        now = self._rulings.query(lambda rulings: rulings.now())
        dealer = event.winds(play.deal)[1] if play else SEATS[0]

        def penalty(player: str, infraction: str) -> Penalty:
            id_ = form.get("id", "")
            return self._rulings.query(lambda rulings: penalty_for(rulings.room, player, infraction, id_))

        return draft_of(form, play, PaymentRules(event.profile, dealer, penalty), now, key)

    def _preview(self, request: Request, form: Form, draft: RulingDraft, error: Refused | None = None) -> Response:
        author = author_of(account_of(request))
        effects = self._rulings.query(lambda rulings: rulings.effects(draft, author))
        event = self._rulings.event
        text = history.RulingWriter(request, self._rulings.event).of(effects.change)
        # Players whose IMPs change come first: one player's fine may move a thousand others by a place.
        pagination = Pagination.at(form, len(effects.players))
        moved = sorted(effects.players, key=lambda one: one.imp_before == one.imp_after)
        kept = fields_to_resend(form)
        if isinstance(draft.decision, Deadline):
            kept["at"] = str(draft.decision.at)  # minutes count from this preview
        values = {"kept": kept, "draft": draft, "effects": effects, "text": text, "players": event.players}
        values["teams"] = [*event.plan.teams]
        values |= {"moved": moved[pagination.lines], "pagination": pagination}
        values["coming"] = self._rulings.query(
            lambda rulings: plan.plays_to_come(event, rulings.room.results, draft.decision)
        )
        return render_page(request, "ruling_effects.html", N_("Preview"), error=error, values=values)

    def _form(self, request: Request, form: Mapping[str, str], error: Exception | None = None) -> Response:
        event, key = self._rulings.event, requested_play(form)
        filled = {name: value[:LONGEST_FIELD] for name, value in form.items()}

        def read(rulings: RulingService) -> dict[str, Any]:
            room, book = rulings.room, rulings.room.book
            play = room.play(key) if key in event.bookings else None
            undo = book.entries.get(form.get("undo", ""))
            appeal = book.entries.get(form.get("appeal", ""))
            deal = _number_or_none(form, "deal") if play is None and undo is None else None
            deal = deal if deal in event.expected else None
            kind = form.get("kind", "")
            if play and (other := room.planned.bookings.get((_number_or_none(form, "as") or 0, play.round))):
                filled.update({f"seat-{seat}": who for seat, who in other.players.items()})
            filled.setdefault("first_round", str(room.rounds_over() + 1))
            session = key if key in _without_play(event) else None
            subject: Subject | None = key if play or session else deal or SUBJECTS.get(kind)
            if undo is not None:
                subject = book.subject(undo)
            elif appeal is not None:
                subject = appeal_subject(appeal.id)
            entries, changes = book.all_of(subject) if subject is not None else [], RulingChanges(event, room)
            return {
                "changes": [changes.of(entry) for entry in (*entries, *(one for one in (undo, appeal) if one))],
                "play": play,
                "undo": undo,
                "appeal": appeal,
                "placed": book.naming_entry(about) if (about := undo or appeal) else None,
                "until": appeal_until(room, appeal) if appeal else None,
                "deal": deal,
                "after": room.last_message_id(subject) if subject is not None else None,
                "entered": room.results.get(key) if key else None,
                "session": session,
                "apart": [_as_sent(room, one) for one in room.apart_plays() if (one.table, one.round) == key],
                "entries": [(entry, book.counts(entry.id)) for entry in entries],
                "closed": _closed(request, rulings),
                "declared": book.declared is not None and not (undo and book.subject(undo) == FINAL),
                "tables": sorted({table for table, _ in room.plays_with(deal)}) if deal else [],
            }

        values, writer = self._rulings.query(read), history.RulingWriter(request, event)
        values["texts"] = {one.entry.id: writer.of(one) for one in values.pop("changes")}
        kinds = _kinds(values, in_riichi=key in event.riichi, by_head=visitor_of(request).is_head)
        kind = "undo" if values["undo"] else form.get("kind") if form.get("kind") in kinds else None
        values |= {
            "filled": filled,
            "kinds": kinds,
            "kind": kind or (kinds[0] if values["deal"] else None),
            "id": forms.new_id("ruling"),
            "players": event.players,
            "offered": event.players if len(event.players) <= MOST_OFFERED else {},
            "last_table": max((table for table, _ in event.bookings), default=1),
            "last_deal": max(event.expected, default=1),
            "outcome": writer.outcome,
            "rounds": sorted({round_ for _, round_ in event.bookings}),
            "awards": event.profile.awards,
            "infractions": infractions_of(event.profile),
            "measures": ("warning", "dead_hand", "fine"),
            "asks_again": getattr(error, "code", "") in {"fine_not_in_profile", "appeal_late"},
        } | _riichi(event.profile)
        return render_page(request, "ruling_new.html", N_("New ruling"), error=error, values=values)


def _closed(request: Request, rulings: RulingService) -> bool:
    """Return whether the correction period is over for the visitor; the head arbiter may always rule."""
    deadline = rulings.room.book.deadline
    return deadline is not None and rulings.now() > deadline and not visitor_of(request).is_head


def _kinds(about: Mapping[str, Any], *, in_riichi: bool, by_head: bool) -> tuple[str, ...]:
    """Return the kinds of ruling offered for a form's subject and its user."""
    kinds: tuple[str, ...]
    if about["appeal"]:
        return OF_APPEAL if by_head else OF_APPEAL[:1]
    if about["play"]:
        kinds = OF_PLAY
    elif about["deal"]:
        kinds = ("fouled",)
    elif in_riichi:
        kinds = OF_SESSION
    else:
        kinds = () if about["session"] or not by_head else OF_EVENT
    return (*OF_APART, *kinds) if about["apart"] and by_head else kinds


def _riichi(rules: Rules) -> dict[str, object]:
    """Return the values for the form of a riichi hand; `of_riichi` is whether the event plays riichi."""
    if not isinstance(rules, RiichiProfile):
        return {"of_riichi": False}
    session = rules.session
    return {"of_riichi": True, "aborts": session.draw.aborts.value, "live_kan": session.pao.live_kan.value}


def _without_play(event: Event) -> AbstractSet[PlayKey]:
    """Return tables and rounds that have messages but no play to rule on: riichi sessions and dropped plays."""
    return event.riichi.keys() | event.dropped


def _as_sent(room: EventState, one: ApartPlay) -> tuple[ApartPlay, CountedPlay | None]:
    """Return a play that is kept apart, and the play according to its result if it has one."""
    return one, room.play_as_sent(one.result) if one.result else None


def requested_play(form: Mapping[str, str]) -> tuple[int, int] | None:
    """Return the play named in a query or form: `play=3-2`, or `table=3&round=2`."""
    written = form.get("play") or f"{form.get('table', '').strip()}-{form.get('round', '').strip()}"
    found = PLAY_KEY.fullmatch(written.strip())
    return (int(found[1]), int(found[2])) if found else None


def _number_or_none(form: Mapping[str, str], field: str) -> int | None:
    try:
        return whole_number(form, field)
    except Refused:
        return None
