"""Check-in at the door: who is here, who is not, on a telephone and by several helpers at once."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.event import SeatingPlace, seating_of
from broker.i18n import N_, folded
from broker.protocol import CheckedIn, Player
from broker.rulings import event_subject
from broker.rulings.service import RulingService
from broker.terms import SEAT_LETTERS
from broker.web import Access, Form, FormMalformed, form_page, new_id, redirect, render_page, visitor_of
from broker.web.rulings.audited import AuditedRulings
from broker.web.rulings.forms import sent_draft

SAID: Final = {"present": True, "absent": False, "unknown": None}
SHOWN: Final = 100
LONGEST_SEARCH: Final = 100
REASON: Final = "check-in"

FILTERS: Final = {"": N_("All"), "unknown": N_("Not yet seen"), "absent": N_("Absent"), "present": N_("Present")}


class Arrival(NamedTuple):
    """A player at the door. `after`: the last word on whether they are here."""

    player: Player
    present: bool | None
    first: SeatingPlace | None
    after: str | None

    @property
    def said(self) -> str:
        """The word for how they stand."""
        return next(word for word, present in SAID.items() if present is self.present)


class CheckInPage:
    """Answers whoever may check players in."""

    def __init__(self, access: Access, rulings: AuditedRulings) -> None:
        self._access, self._rulings = access, rulings

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return form_page(self._access, "/checkin", self._page, self._said, "check_in")

    def _said(self, request: Request, form: Form) -> Response:
        """Keep what was said of one player."""
        if form.get("said") not in SAID:
            raise FormMalformed("the form does not say who is here")
        decision = CheckedIn(player=form.get("player", ""), present=SAID[form["said"]])
        self._rulings.give(request, sent_draft({**form, "reason": REASON}, decision))
        asked = {name: form[name] for name in ("q", "show") if form.get(name)}
        answer = redirect(request, "/checkin", **asked)
        answer.headers["location"] += f"#{decision.player}"
        return answer

    def _page(self, request: Request, _form: Form, error: Exception | None = None) -> Response:
        """Show the list, or those whom the address asks for."""

        def look(rulings: RulingService) -> list[Arrival]:
            room = rulings.room
            places = seating_of(room.event.plan)
            return [
                Arrival(
                    one,
                    room.checked_in.get(one.id),
                    next(iter(places[one.id]), None),
                    room.last_word(event_subject(CheckedIn(player=one.id, present=None)) or ""),
                )
                for one in room.event.plan.players
            ]

        listed = sorted(self._rulings.look(look), key=lambda one: (folded(one.player.name), one.player.id))
        query = request.query_params
        asked, only = " ".join(query.get("q", "").split())[:LONGEST_SEARCH], query.get("show", "")
        found = [
            one
            for one in listed
            if folded(asked) in folded(f"{one.player.id} {one.player.name}") and only in {"", one.said}
        ]
        values = {
            "found": found[:SHOWN],
            "more": max(0, len(found) - SHOWN),
            "counts": {word: sum(one.said == word for one in listed) for word in SAID},
            "total": len(listed),
            "asked": asked,
            "only": only,
            "filters": FILTERS,
            "letters": SEAT_LETTERS,
            "new_id": partial(new_id, "door"),
        }
        return render_page(request, "checkin.html", N_("Check-in"), visitor_of(request), error=error, values=values)
