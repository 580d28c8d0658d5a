"""The page on which an event is counted under other rules. Nothing of it is stored, and players do not see it."""

import threading
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.contract.wire import Refused
from broker.desk.access import Access, visitor_of
from broker.desk.forms_page import render
from broker.desk.rulings.bench import Bench
from broker.desk.sheets import Leaf
from broker.rules.errors import RuleError
from broker.rules.profile import Comparison
from broker.rules.rule_books import beside, book_of
from broker.scorer.moment import Moment
from broker.scorer.rulings.what_if import CHOICES, WhatIf, changed, what_if

OWN: Final = ""
"""The event's own profile."""

Wishes = tuple[str, tuple[tuple[str, str], ...]]
"""A profile's id, and what is changed of it."""


class WhatIfPage:
    """Answers arbiters."""

    def __init__(self, access: Access, bench: Bench) -> None:
        self._access, self._bench = access, bench
        self._turn = threading.Lock()
        """One at a time: the whole event is counted again."""
        self._last: tuple[Moment, Wishes, WhatIf] | None = None
        """What was counted last: a hall's has many pages."""

    def routes(self) -> Sequence[Route]:
        """Give the routes."""
        return [self._access.route("/what-if", self.show, "see_room")]

    async def show(self, request: Request) -> Response:
        """Show who would change place."""
        return await run_in_threadpool(self._show, request)

    def _show(self, request: Request) -> Response:
        event, wishes, error = self._bench.event, dict(request.query_params), None
        found: WhatIf | None = None
        try:
            found = self._counted(wishes) if "profile" in wishes else None
        except (RuleError, Refused) as refusal:
            error = refusal
        leaf = Leaf.at(wishes.get("page", ""), len(found.players) if found else 0)
        kept = {name: wishes[name] for name in ("profile", *CHOICES) if name in wishes}
        values = {
            "found": found,
            "shown": found.players[leaf.lines()] if found else (),
            "leaf": leaf,
            "kept": urlencode(kept) + "&",
            "wishes": {"profile": ""} | wishes,
            "choices": CHOICES,
            "now": _now(event.profile),
            "profiles": book_of(event.profile),
            "own": event.profile.id,
            "players": event.players,
        }
        return render(request, "what_if.html", "what_if", visitor_of(request), error=error, values=values)

    def _counted(self, wishes: Mapping[str, str]) -> WhatIf:
        event = self._bench.event
        base = (
            event.profile if wishes["profile"] in {OWN, event.profile.id} else beside(event.profile, wishes["profile"])
        )
        asked = {name: wishes[name] for name in CHOICES if wishes.get(name)}
        if any(value not in CHOICES[name] for name, value in asked.items()):
            wrong = ", ".join(name for name, value in asked.items() if value not in CHOICES[name])
            raise Refused("setting_unknown", f"there is no such setting: {wrong}")
        wished = (base.id, tuple(asked.items()))
        with self._turn:
            moment, room = self._bench.look(lambda rulings: (rulings.room.moment(), rulings.room.fork()))
            if self._last is None or self._last[0] is not moment or self._last[1] != wished:
                found = what_if(room, changed(base, asked), event.players, event.plan.teams)
                self._last = moment, wished, found
            return self._last[2]


def _now(profile: Comparison) -> dict[str, str]:
    return {
        "method": profile.imp.method.value,
        "own_score": profile.datum.own_score.value,
        "gap": profile.imp.gap.value,
        "rounding": profile.datum.rounding.value,
    }
