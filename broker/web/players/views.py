"""Check-in at the door, and changes of who plays: previewed, published, and withdrawn."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.event import Event, SeatingPlace, seating_of
from broker.event.structure import for_seconds, seeded
from broker.i18n import N_, name_key, search_key
from broker.protocol import CheckedIn, PlanChanged, Player, Refused, Undo
from broker.rules import RuleError
from broker.rulings import WHO_PLAYS, RulingEntry, event_subject
from broker.rulings.plan_draft import PlanFacts, PlanWishes, draft_change, plan_cost, plan_facts
from broker.rulings.service import RulingService
from broker.rulings.validate import check_plan_change, planned_after
from broker.web import Access, Form, errors, form_page, forms, read_number, redirect, render_page
from broker.web.rulings.forms import (
    PLAN_FORM_BYTES,
    fields_to_resend,
    player_of,
    read_draft,
    read_plan_change,
    read_reason,
)
from broker.web.services import AuditedRulings

PATH: Final = "/players"
LONGEST_NAME: Final = 100
MOST_ENTERING: Final = 64
MOST_TICK_BOXES: Final = 120
"""With more players, only those noted absent have a box to tick; names of others are typed."""


class PlanLine(NamedTuple):
    """A published change. `last` is whether it may be withdrawn."""

    entry: RulingEntry
    counts: bool
    last: bool


class ChangesPage:
    """Serves organisers and the head arbiter."""

    def __init__(self, access: Access, rulings: AuditedRulings) -> None:
        self._access, self._rulings = access, rulings

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and its form."""
        return form_page(self._access, PATH, self._page, self._act, "set_up", largest=PLAN_FORM_BYTES)

    def _act(self, request: Request, form: Form) -> Response:
        """Preview a change, or publish it."""
        if form.get("action") == "publish":
            return self._rulings.publish(request, PATH, read_draft(form, read_plan_change(form)))
        if form.get("action") != "look":
            return self._page(request, form)
        return self._preview(request, form)

    def _preview(self, request: Request, form: Form) -> Response:
        reason, facts = read_reason(form), self._rulings.query(lambda rulings: plan_facts(rulings.room))
        decision: PlanChanged | Undo
        if form.get("undo"):
            decision = Undo(ruling=form["undo"])
        else:
            wishes = read_plan_wishes(form, {**facts.original.players, **facts.planned.players})
            decision = draft_change(facts, wishes, seeded(), for_seconds)

        def after(rulings: RulingService) -> Event:
            if isinstance(decision, Undo) and not rulings.room.book.counts(decision.ruling):
                raise Refused("nothing_to_undo", "there is no such ruling, or it no longer counts")
            check_plan_change(rulings.room, decision)
            return planned_after(rulings.room, decision)

        then = self._rulings.query(after)
        cost = plan_cost(facts, then)
        values = {
            "cost": cost,
            "by_round": {round_: list(moved) for round_, moved in groupby(cost.moved, key=lambda one: one.round)},
            "people": len({one.player.id for one in cost.moved}),
            "decision": decision,
            "change": msgspec.json.encode(decision).decode() if isinstance(decision, PlanChanged) else "",
            "old": facts.playing,
            "new": {who for play in then.plan.plays for who in play.players.values()}
            - {*getattr(decision, "left", ())},
            "names": {player.id: player.name for player in facts.planned.players.values()},
            "alike": _alike(facts, decision),
            "reason": reason,
            "kept": fields_to_resend(form) | {"id": forms.new_id("plan"), "after": facts.last or ""},
        }
        title = N_("Review the new seating")
        return render_page(request, "players_look.html", title, values=values)

    def _page(self, request: Request, form: Form, error: Exception | None = None) -> Response:
        def read(rulings: RulingService) -> tuple[PlanFacts, Mapping[str, bool], list[PlanLine], bool]:
            room = rulings.room
            changes = [one for one in room.book.all_of(WHO_PLAYS) if isinstance(one.decision, PlanChanged)]
            counting = [one.id for one in changes if room.book.counts(one.id)]
            lines = [PlanLine(one, one.id in counting, one.id in counting[-1:]) for one in reversed(changes)]
            return plan_facts(room), room.checked_in, lines, room.book.declared is not None

        facts, here, lines, declared = self._rulings.query(read)
        players = sorted(facts.planned.players.values(), key=lambda one: (search_key(one.name), one.id))
        listed = {one.id for one in players}
        gone = [one for one in players if one.id in facts.gone]
        gone += [one for one in facts.original.players.values() if one.id not in listed]
        filled = form or {f"leave-{one.id}": "on" for one in players if here.get(one.id) is False}
        playing = [one for one in players if one.id not in facts.gone]
        values = {
            "playing": len(playing),
            "leaving": [one for one in playing if len(playing) <= MOST_TICK_BOXES or f"leave-{one.id}" in filled],
            "gone": len(gone),
            "returning": [one for one in gone if len(gone) <= MOST_TICK_BOXES or f"back-{one.id}" in filled],
            "seen": here,
            "filled": filled,
            "rounds": sorted(
                {round_ for _, round_ in facts.original.bookings.keys() | facts.planned.bookings.keys()}
                - set(range(facts.first_round))
            ),
            "tables": len(facts.original.tables),
            "version": facts.planned.version,
            "lines": lines,
            "declared": declared,
        }
        done = N_("The new seating is published: tables, displays and prints follow it.")
        return render_page(
            request,
            "players.html",
            N_("Change who plays"),
            error=error,
            done=done,
            values=values,
        )


def _alike(facts: PlanFacts, decision: PlanChanged | Undo) -> list[Player]:
    """Return players already in the event with the name of somebody who is to enter: they may be the same person."""
    entering = decision.entered if isinstance(decision, PlanChanged) else ()
    names, ids = {name_key(one.name) for one in entering}, {one.id for one in entering}
    known = {**facts.original.players, **facts.planned.players}
    return [one for one in known.values() if one.id not in ids and name_key(one.name) in names]


def read_plan_wishes(form: Form, players: Mapping[str, Player]) -> PlanWishes:
    """Parse who arrives, leaves, comes back or is replaced.

    Raises RuleError `names_wrong`, Refused `nobody_of_event`, `player_ambiguous`.
    """

    def named(word: str) -> list[str]:
        ticked = [name.removeprefix(f"{word}-") for name in form if name.startswith(f"{word}-")]
        written = [player_of(line, players) for line in form.get(word, "").splitlines() if line.strip()]
        return [*dict.fromkeys(ticked + written)]

    enter = tuple(filter(None, (" ".join(line.split()) for line in form.get("enter", "").splitlines())))
    by = " ".join(form.get("by", "").split())
    replaced = {player_of(form["replaced"], players): by} if form.get("replaced", "").strip() and by else {}
    if len(enter) > MOST_ENTERING or any(len(one) > LONGEST_NAME for one in (*enter, by)):
        raise RuleError(
            "names_wrong",
            N_("Write one name per line, at most 64, each of up to 100 characters."),
        )
    leave = tuple(one for one in named("leave") if one not in replaced)
    first = read_number(form.get("round", ""), default=1)
    return PlanWishes(leave, enter, tuple(named("back")), replaced, first, bool(form.get("without_standing")))


PRESENCE: Final = {"present": True, "absent": False, "unknown": None}
SHOWN: Final = 100
LONGEST_SEARCH: Final = 100
REASON: Final = "check-in"

FILTERS: Final = {"": N_("All"), "unknown": N_("Not yet seen"), "absent": N_("Absent"), "present": N_("Present")}


class Arrival(NamedTuple):
    """A player at the door. `after` is the id of the last entry about whether they are present."""

    player: Player
    present: bool | None
    first: SeatingPlace | None
    after: str | None

    @property
    def state(self) -> str:
        """The state in one word."""
        return next(word for word, present in PRESENCE.items() if present is self.present)


class CheckInPage:
    """Serves those who may check players in."""

    def __init__(self, access: Access, rulings: AuditedRulings) -> None:
        self._access, self._rulings = access, rulings

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and its form."""
        return form_page(self._access, "/checkin", self._page, self._check_in, "check_in")

    def _check_in(self, request: Request, form: Form) -> Response:
        """Store whether one player is present."""
        if form.get("said") not in PRESENCE:
            raise errors.FormMalformed("the form does not say who is here")
        decision = CheckedIn(player=form.get("player", ""), present=PRESENCE[form["said"]])
        self._rulings.give(request, read_draft({**form, "reason": REASON}, decision))
        query = {name: form[name] for name in ("q", "show") if form.get(name)}
        return redirect(request, "/checkin", decision.player, **query)

    def _page(self, request: Request, form: Form, error: Exception | None = None) -> Response:
        """Show the players who match the query, or after a refusal those who match the form's search."""

        def read(rulings: RulingService) -> list[Arrival]:
            room = rulings.room
            places = seating_of(room.event.plan)
            return [
                Arrival(
                    one,
                    room.checked_in.get(one.id),
                    next(iter(places[one.id]), None),
                    room.last_message_id(event_subject(CheckedIn(player=one.id, present=None)) or ""),
                )
                for one in room.event.plan.players
            ]

        listed = sorted(self._rulings.query(read), key=lambda one: (search_key(one.player.name), one.player.id))
        query = request.query_params
        search, only = " ".join((form or query).get("q", "").split())[:LONGEST_SEARCH], query.get("show", "")
        found = [
            one
            for one in listed
            if search_key(search) in search_key(f"{one.player.id} {one.player.name}") and only in {"", one.state}
        ]
        values = {
            "found": found[:SHOWN],
            "more": max(0, len(found) - SHOWN),
            "counts": {word: sum(one.state == word for one in listed) for word in PRESENCE},
            "search": search,
            "only": only,
            "filters": FILTERS,
            "new_id": partial(forms.new_id, "door"),
        }
        return render_page(request, "checkin.html", N_("Check-in"), error=error, values=values)
