"""Changes of who plays: asked for, shown before they are made, published, and taken back."""

import re
import time
import uuid
from collections.abc import Mapping, Sequence
from itertools import groupby
from random import Random
from typing import Final, NamedTuple

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.errors import ScorerError, StoreError
from broker.event import Event
from broker.i18n import N_, folded
from broker.people import PeopleError
from broker.protocol import LONGEST_REASON, UNREADABLE, PlanChanged, Player, Refused, Undo
from broker.rules import RuleError
from broker.rulings import WHO_PLAYS, RulingDraft, RulingEntry
from broker.rulings.plan_check import check_plan_change, planned_after
from broker.rulings.plan_draft import SEARCH_S, PlanFacts, PlanWishes, draft_change, plan_cost, plan_facts
from broker.rulings.service import RulingService
from broker.terms import SEAT_LETTERS
from broker.web import (
    Access,
    DeskError,
    Form,
    FormMalformed,
    client_address,
    read_form,
    redirect,
    render_page,
    typed_fields,
    visitor_of,
)
from broker.web.auth import account_of
from broker.web.rulings.audited import AuditedRulings
from broker.web.rulings.forms import player_of

WHO: Final = "set_up"
LARGEST: Final = 2**18
"""Bytes of a form: a change that seats many plays anew comes back with it."""
WRONG: Final = (DeskError, PeopleError, RuleError, ScorerError, StoreError, Refused)
LONGEST_NAME: Final = 100
ROUND: Final = re.compile(r"[0-9]{1,4}")
MOST_ENTERING: Final = 64
MOST_TICKED: Final = 120
"""Of more players, only those who were noted absent have a box to tick; the others are written."""


class PlanLine(NamedTuple):
    """A change that was made. `last`: it may be taken back."""

    entry: RulingEntry
    counts: bool
    last: bool


class ChangesPage:
    """Answers organisers and the head arbiter."""

    def __init__(self, access: Access, rulings: AuditedRulings) -> None:
        self._access, self._rulings = access, rulings

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return [
            self._access.route("/players", self.show, WHO),
            self._access.route("/players", self.change, WHO, ("POST",)),
        ]

    async def show(self, request: Request) -> Response:
        """Show who plays, and the changes so far."""
        return await run_in_threadpool(self._page, request, {})

    async def change(self, request: Request) -> Response:
        """Show what a change would do, or publish it."""
        form: Form = {}
        try:
            form = await read_form(request, visitor_of(request), largest=LARGEST)
            return await run_in_threadpool(self._act, request, form)
        except WRONG as error:
            return await run_in_threadpool(self._page, request, typed_fields(form, error), error)

    def _act(self, request: Request, form: Form) -> Response:
        if form.get("action") == "publish":
            draft = RulingDraft(
                id=form.get("id", ""), after=form.get("after") or None, decision=_decision(form), reason=_reason(form)
            )
            self._rulings.give(draft, account_of(request), client_address(request))
            return redirect(request, "/players", done=draft.id)
        if form.get("action") != "look":
            return self._page(request, form)
        return self._look(request, form)

    def _look(self, request: Request, form: Form) -> Response:
        reason, facts = _reason(form), self._rulings.look(lambda rulings: plan_facts(rulings.room))
        decision: PlanChanged | Undo
        if form.get("undo"):
            decision = Undo(ruling=form["undo"])
        else:
            end = time.monotonic() + SEARCH_S
            chance = Random(0)  # noqa: S311 - no secret
            decision = draft_change(
                facts,
                wishes_of(form, {**facts.original.players, **facts.planned.players}),
                chance,
                lambda: time.monotonic() < end,
            )

        def after(rulings: RulingService) -> Event:
            if isinstance(decision, Undo) and not rulings.room.book.counts(decision.ruling):
                raise Refused("nothing_to_undo", "there is no such ruling, or it counts no longer")
            check_plan_change(rulings.room, decision)
            return planned_after(rulings.room, decision)

        then = self._rulings.look(after)
        cost = plan_cost(facts, then)
        values = {
            "cost": cost,
            "by_round": {round_: list(moved) for round_, moved in groupby(cost.moved, key=lambda one: one.round)},
            "people": len({one.player.id for one in cost.moved}),
            "letters": SEAT_LETTERS,
            "decision": decision,
            "change": msgspec.json.encode(decision).decode() if isinstance(decision, PlanChanged) else "",
            "old": facts.playing,
            "new": {who for play in then.plan.plays for who in play.players.values()}
            - {*getattr(decision, "left", ())},
            "names": {player.id: player.name for player in facts.planned.players.values()},
            "reason": reason,
            "id": f"plan-{uuid.uuid4().hex}",
            "after": facts.last or "",
        }
        title = N_("Review the new seating")
        return render_page(request, "players_look.html", title, visitor_of(request), values=values)

    def _page(self, request: Request, form: Form, error: Exception | None = None) -> Response:
        def look(rulings: RulingService) -> tuple[PlanFacts, Mapping[str, bool], list[PlanLine]]:
            room = rulings.room
            changes = [one for one in room.book.all_of(WHO_PLAYS) if isinstance(one.decision, PlanChanged)]
            counting = [one.id for one in changes if room.book.counts(one.id)]
            lines = [PlanLine(one, one.id in counting, one.id in counting[-1:]) for one in reversed(changes)]
            return plan_facts(room), room.checked_in, lines

        facts, here, lines = self._rulings.look(look)
        players = sorted(facts.planned.players.values(), key=lambda one: (folded(one.name), one.id))
        listed = {one.id for one in players}
        gone = [one for one in players if one.id in facts.gone]
        gone += [one for one in facts.original.players.values() if one.id not in listed]
        filled = form or {f"leave-{one.id}": "on" for one in players if here.get(one.id) is False}
        playing = [one for one in players if one.id not in facts.gone]
        values = {
            "playing": len(playing),
            "leaving": [one for one in playing if len(playing) <= MOST_TICKED or f"leave-{one.id}" in filled],
            "gone": len(gone),
            "returning": [one for one in gone if len(gone) <= MOST_TICKED or f"back-{one.id}" in filled],
            "seen": here,
            "filled": filled,
            "rounds": sorted(
                {round_ for _, round_ in facts.original.bookings.keys() | facts.planned.bookings.keys()}
                - set(range(facts.first_round))
            ),
            "tables": len(facts.original.tables),
            "version": facts.planned.version,
            "lines": lines,
            "began": any(here.values()) or bool(facts.kept),
        }
        done = N_("The new seating is published: tables, displays and prints follow it.")
        return render_page(
            request,
            "players.html",
            N_("Change who plays"),
            visitor_of(request),
            error=error,
            done=done if "done" in request.query_params and not error else None,
            values=values,
        )


def wishes_of(form: Form, players: Mapping[str, Player]) -> PlanWishes:
    """Read who comes and goes.

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
            N_("Write one name a line, at most 64, each of up to 100 characters."),
        )
    first = form.get("round", "")
    leave = tuple(one for one in named("leave") if one not in replaced)
    return PlanWishes(leave, enter, tuple(named("back")), replaced, int(first) if ROUND.fullmatch(first) else 1)


def _decision(form: Form) -> PlanChanged | Undo:
    if form.get("undo"):
        return Undo(ruling=form["undo"])
    try:
        return msgspec.json.decode(form.get("change", ""), type=PlanChanged)
    except UNREADABLE:
        raise FormMalformed("the form does not have the new seating") from None


def _reason(form: Form) -> str:
    reason = " ".join(form.get("reason", "").split())
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise RuleError("reason_wrong", f"a reason has 1 to {LONGEST_REASON} characters")
    return reason
