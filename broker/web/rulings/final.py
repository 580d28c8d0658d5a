"""Stages and the final: preview who qualifies before deciding it, and what is open before the standings are final."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.event import Stage
from broker.i18n import N_
from broker.protocol import FinalDeclared, PlanChanged
from broker.rules import RuleError
from broker.rulings import FINAL, WHO_PLAYS, RulingEntry, plan_changes
from broker.rulings.final import draft_stage, next_stage, open_matters, qualified, unsettled_before
from broker.rulings.service import RulingService
from broker.scorer import EventState
from broker.web import Access, Form, form_page, forms, render_page, visitor_of
from broker.web.rulings.forms import PLAN_FORM_BYTES, read_draft, read_plan_change
from broker.web.services import AuditedRulings

PATH: Final = "/final"


class FinalPage:
    """Serves arbiters; only the head arbiter may decide."""

    def __init__(self, access: Access, rulings: AuditedRulings, folder: Path) -> None:
        self._access, self._rulings, self._folder = access, rulings, folder

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and its form."""
        return form_page(self._access, PATH, self._page, self._act, "see_room", acting="rule", largest=PLAN_FORM_BYTES)

    def _act(self, request: Request, form: Form) -> Response:
        """Preview who would qualify, or publish a decision."""
        if form.get("action") == "look":
            return self._page(request, form, preview=True)
        decision = FinalDeclared() if form.get("action") == "declare" else read_plan_change(form)
        return self._rulings.publish(request, PATH, read_draft(form, decision))

    def _page(self, request: Request, form: Form, error: Exception | None = None, *, preview: bool = False) -> Response:
        out = [value for name, value in form.items() if name.startswith("out-")]
        try:
            values = self._rulings.query(lambda rulings: _values(rulings, out, preview=preview))
        except RuleError as refused:
            error, values = refused, self._rulings.query(lambda rulings: _values(rulings, out, preview=False))
        values |= {"out": out, "reason": form.get("reason", ""), "id": forms.new_id("final")}
        values |= {"decides": visitor_of(request).is_head, "folder": str(self._folder)}
        title, done = N_("Stages and final"), N_("Published.")
        return render_page(request, "final.html", title, error=error, done=done, values=values)


def _values(rulings: RulingService, out: Sequence[str], *, preview: bool) -> dict[str, Any]:
    """Return the values of the page. Raises RuleError if the preview cannot be made."""
    room, stage = rulings.room, next_stage(rulings.room)
    stages = room.planned.plan.stages
    before = stages[stages.index(stage) - 1] if stage else None
    seatings = [(entry, change) for entry, change in plan_changes(room.book) if change.stage]
    values: dict[str, Any] = {
        "stages": [(one, room.planned.is_seated(at)) for at, one in enumerate(stages)],
        "stage": stage,
        "before": before,
        "unsettled": unsettled_before(room) if stage else 0,
        "sections": [one for one in room.ranked_sections() if before and stages[one.stage] is before],
        "names": {player.id: player.name for player in room.event.players.values()},
        "proposal": None,
        "members": room.planned.plan.teams,
        "last_seating": seatings[-1][0] if seatings else None,
        "comes_back": _withdrawal_after_start(room, stage) if stage else None,
        "after_plan": room.last_message_id(WHO_PLAYS) or "",
        "open": open_matters(room, rulings.now()),
        "declared": room.book.declared,
        "after_final": room.last_message_id(FINAL) or "",
    }
    if preview and stage is not None:
        change = draft_stage(room, stage, out)
        seats = {
            who: (one.table, seat)
            for one in change.plays
            if one.round == stage.first_round
            for seat, who in one.players.items()
        }
        values |= {
            "proposal": qualified(room, stage, out),
            "seats": seats,
            "change": msgspec.json.encode(change).decode(),
        }
    return values


def _withdrawal_after_start(room: EventState, stage: Stage) -> RulingEntry | None:
    """Return the ruling that withdrew a stage a table had begun; undoing it restores the published seating."""
    if not any(round_ in stage.rounds for _, round_ in room.tables.seatings.begun()):
        return None
    last = room.book.all_of(WHO_PLAYS)[-1]
    root = room.book.root(last).decision
    return last if isinstance(root, PlanChanged) and root.stage == stage.name else None
