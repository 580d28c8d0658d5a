"""Arbiters' questions: what happened at a table under the rules, and what standings other rules would give.

Nothing is stored.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.i18n import N_
from broker.protocol import SEATS, Refused, Seat
from broker.rules import Profile, RuleError, load_of_same_book, same_rule_book
from broker.rules.mcr import (
    ABOUT_SETS,
    CLAIMS,
    MOST_SETS,
    PHASE_LABELS,
    QUESTIONS,
    WALL,
    ActionKind,
    Answer,
    Scene,
    what_happened,
)
from broker.rulings.preview import CHOICES, WhatIf, changed_rules, what_if
from broker.scorer import Snapshot
from broker.web import Access, Pagination, errors, render_page, translator_for
from broker.web.rulings.forms import whole_number
from broker.web.rulings.views import requested_play
from broker.web.services import AuditedRulings

WHAT_HAPPENED_PATH: Final = "/what-happened"


class WhatHappenedPage:
    """Serves arbiters. The query holds all the answers, so that the page can be shown to somebody else."""

    def __init__(self, access: Access, rulings: AuditedRulings) -> None:
        self._access, self._rulings = access, rulings

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [self._access.route(WHAT_HAPPENED_PATH, self.show, "rule")]

    def show(self, request: Request) -> Response:
        """Show the questions, and the answers that follow so far."""
        event, answers = self._rulings.event, dict(request.query_params)
        profile = event.profile
        if not isinstance(profile, Profile):
            raise errors.PageUnknown("this page is not available for riichi")
        key = requested_play(answers)
        play = self._rulings.query(lambda rulings: rulings.room.play(key)) if key in event.bookings else None
        dealer = event.winds(play.deal)[1] if play else None
        found: tuple[Answer, ...] = ()
        error: Exception | None = None
        try:
            if "turn" in answers:
                nearest = profile.payments.several_hu.value == "nearest"
                found = what_happened(read_scene(answers, dealer), nearest_only=nearest)
        except (RuleError, Refused) as refusal:
            error = refusal
        values: dict[str, Any] = {
            "answers": answers,
            "play": play,
            "names": {seat: event.name_of(play.players[seat]) for seat in SEATS} if play else {},
            "dealer": dealer,
            "found": [(one, one.in_words(translator_for(request))) for one in found],
            "asks_sets": "sets" in answers or any(one.code == "sets_missing" for one in found),
            "questions": QUESTIONS,
            "about_sets": ABOUT_SETS,
            "claims": CLAIMS,
            "phases": PHASE_LABELS,
            "last_table": max((table for table, _ in event.bookings), default=1),
            "last_round": max((round_ for _, round_ in event.bookings), default=1),
            "full": WALL,
        }
        return render_page(request, "what_happened.html", N_("What happened?"), error=error, values=values)


def read_scene(answers: Mapping[str, str], dealer: Seat | None) -> Scene:
    """Parse the form's scene. Raises Refused `scene_incomplete`, `number_unreadable`."""
    walls = {seat: whole_number(answers, f"wall-{seat}") for seat in SEATS}
    counted = {seat: left for seat, left in walls.items() if left is not None}
    turn, phase = _seat(answers.get("turn")), answers.get("phase", "")
    dealer = dealer or _seat(answers.get("dealer"))
    if len(counted) < len(SEATS) or turn is None or dealer is None or phase not in PHASE_LABELS:
        raise Refused("scene_incomplete", "walls, turn or dealer are missing")
    sets = {(seat, other): f"taken-{seat}-{other}" for seat in SEATS for other in SEATS if other != seat}
    return Scene(
        walls=counted,
        turn=turn,
        phase=phase,  # type: ignore[arg-type]  # checked above
        claims=_claims(answers, turn) if phase in ("claim", "kong") else {},
        dealer=dealer,
        claimed_sets={pair: _count(answers, field) for pair, field in sets.items()} if "sets" in answers else None,
        kongs={seat: _count(answers, f"kongs-{seat}") for seat in SEATS} if "sets" in answers else {},
    )


def _claims(answers: Mapping[str, str], turn: Seat) -> dict[Seat, ActionKind]:
    claimed: dict[str, ActionKind] = {do: do for do in CLAIMS}
    return {seat: claimed[do] for seat in SEATS if seat != turn and (do := answers.get(f"claim-{seat}", "")) in claimed}


def _seat(written: str | None) -> Seat | None:
    return next((seat for seat in SEATS if seat == written), None)


def _count(answers: Mapping[str, str], field: str) -> int:
    return min(max(whole_number(answers, field) or 0, 0), MOST_SETS)


OWN_PROFILE: Final = ""
"""The event's own profile."""

RulesChoice = tuple[str, tuple[tuple[str, str], ...]]
"""The id of a profile, and the settings changed in it."""


class WhatIfPage:
    """Serves arbiters."""

    def __init__(self, access: Access, rulings: AuditedRulings) -> None:
        self._access, self._rulings = access, rulings
        self._lock = threading.Lock()
        """Held while the whole event is recomputed, once at a time."""
        self._last: tuple[Snapshot, RulesChoice, WhatIf] | None = None
        """The last result, which in a large hall has many pages."""

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [self._access.route("/what-if", self.show, "see_room")]

    def show(self, request: Request) -> Response:
        """Show whose place would change."""
        event, query, error = self._rulings.event, dict(request.query_params), None
        found: WhatIf | None = None
        try:
            found = self._compute(query) if "profile" in query else None
        except (RuleError, Refused) as refusal:
            error = refusal
        pagination = Pagination.at(query, len(found.players) if found else 0)
        kept = {name: query[name] for name in ("profile", *CHOICES) if name in query}
        values = {
            "found": found,
            "shown": found.players[pagination.lines] if found else (),
            "pagination": pagination,
            "kept": urlencode(kept) + "&",
            "query": {"profile": ""} | query,
            "choices": CHOICES,
            "profiles": same_rule_book(event.profile),
            "own": event.profile.id,
            "players": event.players,
            "teams": [*event.plan.teams],
        }
        return render_page(request, "what_if.html", N_("What if"), error=error, values=values)

    def _compute(self, query: Mapping[str, str]) -> WhatIf:
        event = self._rulings.event
        base = (
            event.profile
            if query["profile"] in {OWN_PROFILE, event.profile.id}
            else load_of_same_book(event.profile, query["profile"])
        )
        settings = {name: query[name] for name in CHOICES if query.get(name)}
        if any(value not in CHOICES[name] for name, value in settings.items()):
            wrong = ", ".join(name for name, value in settings.items() if value not in CHOICES[name])
            raise Refused("setting_unknown", N_("unknown setting: {wrong}", wrong=wrong))
        choice = (base.id, tuple(settings.items()))
        with self._lock:
            snapshot, room = self._rulings.query(lambda rulings: (rulings.room.snapshot(), rulings.room.fork()))
            if self._last is None or self._last[0] is not snapshot or self._last[1] != choice:
                found = what_if(room, changed_rules(base, settings))
                self._last = snapshot, choice, found
            return self._last[2]
