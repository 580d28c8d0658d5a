"""Corrections to the plan of an event that has begun: names, numbers, title and clocks, but not who plays what.

A correction is a decision in the scorer's journal like a ruling: it has an author, time and reason, is previewed before
it is published, and can be withdrawn by another. `event.toml` in the folder remains unchanged.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.errors import reason
from broker.event import (
    EXTRA_COLUMNS,
    PARTS,
    PLAYERS,
    WITHOUT_STANDING,
    Event,
    ListedPlayer,
    current_players,
    players_csv,
    read_players,
)
from broker.event.setup import SESSION_FIELDS, read_sessions, rows_to_fill, session_rows, typed_session_rows
from broker.i18n import N_, Message, search_key
from broker.protocol import PLAN_DECISIONS, AnyDecision, PlayerCorrected, SessionsCorrected, TitleCorrected, Undo
from broker.rules import RuleError
from broker.rulings import (
    SESSIONS,
    TITLE,
    RulingBook,
    RulingDraft,
    RulingEntry,
    Subject,
    corrected_event,
    corrects_plan,
    player_subject,
    tables_concerned,
)
from broker.rulings.service import RulingService
from broker.web import Access, Form, account_of, errors, form_page, forms, render, render_page
from broker.web.labels import PLAN_FIELD
from broker.web.rulings.forms import fields_to_resend, read_draft
from broker.web.services import AuditedRulings, author_of

MOST_SHOWN: Final = 100
"""Maximum number of players, and of corrections, on the page."""

RIGHT: Final = "set_up"
NO_SESSION: Final = dict.fromkeys(SESSION_FIELDS, "")
SESSION_LABELS: Final = {"name": N_("Session")}
"""Labels of session fields that differ from the player's field with the same name."""

PLAYER_FIELDS: Final = ("name", *EXTRA_COLUMNS, *PARTS)
SHOWN_FIELDS: Final = (*PLAYER_FIELDS, WITHOUT_STANDING)
TICK: Final = "✓"


class PlanChange(NamedTuple):
    """One change of the plan. `field` is the field's label."""

    field: Message
    before: str
    after: str
    of: str = ""
    """The session that it belongs to, if any."""


class CorrectionsPage:
    """Serves organisers and the head arbiter."""

    def __init__(self, access: Access, folder: Path, rulings: AuditedRulings, media: Sequence[Route]) -> None:
        """`media` are the routes of files that do not change."""
        self._access, self._folder, self._rulings, self._media = access, folder, rulings, media

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and its files."""
        return [
            *form_page(self._access, "/setup", self._page, self._correct, RIGHT),
            self._access.route("/setup/players.csv", self.players, RIGHT),
            *self._media,
        ]

    def players(self, _request: Request) -> Response:
        """Return the list of players with all corrections applied."""
        return render.download(players_csv(self._listed(self._rulings.event)), PLAYERS, "text/csv")

    def _correct(self, request: Request, form: Form) -> Response:
        """Preview a correction, or publish it."""
        if form.get("action") == "change":
            return self._page(request, form)
        draft = self._draft(form)
        if form.get("action") == "publish":
            return self._rulings.publish(request, "/setup", draft, form.get("looked_at", ""))
        author = author_of(account_of(request))

        def read(rulings: RulingService) -> tuple[str, Event, Event, AnyDecision]:
            mark, room = rulings.effects(draft, author).fingerprint, rulings.room
            return mark, room.event, _after(rulings, draft), _about(room.book, draft.decision)

        mark, before, after, about = self._rulings.query(read)
        changes = self._changes(before, after)
        if not changes:
            raise RuleError("nothing_corrected", N_("this is what the plan says already"))
        preview = {"changes": changes, "tables": sorted(tables_concerned(before, about)), "mark": mark, "draft": draft}
        values = {"preview": preview, "kept": fields_to_resend(form)}
        return render_page(request, "plan_look.html", N_("Review the correction"), values=values)

    # ---- reading the form ---------------------------------------------------------------------

    def _draft(self, form: Form) -> RulingDraft:
        decisions: dict[str, Callable[[Form], AnyDecision]] = {
            "title": lambda form: TitleCorrected(title=_line(form, "title")),
            "player": self._player,
            "sessions": lambda form: SessionsCorrected(sessions=read_sessions(typed_session_rows(form))),
            "undo": lambda form: Undo(ruling=form.get("undo", "")),
        }
        make = decisions.get(form.get("kind", ""))
        if make is None:
            raise errors.FormMalformed("the form does not say what it corrects")
        decision = make(form)
        try:
            msgspec.convert(msgspec.to_builtins(decision), type(decision))
        except msgspec.ValidationError as error:
            raise RuleError("plan_wrong", reason(error)) from None
        return read_draft(form, decision)

    def _player(self, form: Form) -> PlayerCorrected:
        """Parse a correction of a player. Raises RuleError `player_listed_twice`, `country_wrong`."""
        fields = {field: _line(form, field) for field in PLAYER_FIELDS}
        fields["country"] = fields["country"].upper()
        unranked = bool(form.get("without_standing"))
        one = PlayerCorrected(player=form.get("player", ""), without_standing=unranked, **fields)
        if one.country and not (one.country.isascii() and one.country.isalpha() and len(one.country) in {2, 3}):
            raise RuleError(
                "country_wrong", N_("{text} is not a country code: use two or three letters", text=repr(one.country))
            )
        for other in self._listed(self._rulings.event):
            of = other.details
            for what in ("national", "ema"):
                if other.player.id != one.player and fields[what] and fields[what] == of[what]:
                    raise RuleError(
                        "player_listed_twice",
                        N_(
                            "{what} {number} already belongs to {name}",
                            what=what,
                            number=fields[what],
                            name=other.player.name,
                        ),
                    )
        return one

    # ---- showing the page ---------------------------------------------------------------------

    def _listed(self, event: Event) -> tuple[ListedPlayer, ...]:
        return current_players(event, self._stored_players() or ())

    def _stored_players(self) -> Sequence[ListedPlayer] | None:
        """Return the player list stored beside the plan; None if it cannot be read."""
        try:
            return read_players(self._folder / PLAYERS)
        except FileNotFoundError:
            return ()
        except (RuleError, ExceptionGroup, OSError):
            return None

    def _changes(self, before: Event, after: Event) -> list[PlanChange]:
        changes = [PlanChange(N_("Title"), before.plan.title, after.plan.title)]
        had = {one.player.id: one for one in self._listed(before)}
        for one in self._listed(after):
            was = had[one.player.id]
            if was != one:
                pairs = zip(SHOWN_FIELDS, _cells(was), _cells(one), strict=True)
                changes += [PlanChange(PLAN_FIELD[field], *cells) for field, *cells in pairs]
        rows = zip_longest(session_rows(before.plan.sessions), session_rows(after.plan.sessions), fillvalue=NO_SESSION)
        for row, now in rows:
            whose = row["name"] or now["name"]
            changes += [
                PlanChange(SESSION_LABELS.get(field, PLAN_FIELD[field]), row[field], now[field], whose)
                for field in SESSION_FIELDS
            ]
        return [change for change in changes if change.before != change.after]

    def _page(self, request: Request, form: Form, error: Exception | None = None) -> Response:
        query = dict(request.query_params)
        chosen = form.get("player") or query.get("player", "")

        def read(
            rulings: RulingService,
        ) -> tuple[Event, dict[str, str | None], list[tuple[RulingEntry, bool, str | None]], bool]:
            room, book = rulings.room, rulings.room.book
            about: dict[str, Subject] = {"title": TITLE, "sessions": SESSIONS, "player": player_subject(chosen)}
            ruled = [one for one in reversed(book.entries.values()) if corrects_plan(book, one.decision)]
            lines = [(one, book.counts(one.id), room.last_message_id(book.subject(one))) for one in ruled]
            last = {kind: room.last_message_id(one) for kind, one in about.items()}
            return room.event, last, lines, book.declared is not None

        event, last, lines, declared = self._rulings.query(read)
        stored = self._stored_players()
        listed, search = current_players(event, stored or ()), " ".join(query.get("q", "").split())[:100]
        found = [one for one in listed if search_key(search) in search_key(f"{one.player.id} {' '.join(_cells(one))}")]
        filled = {name: value[:2000] for name, value in form.items()}
        rows = rows_to_fill(event.plan.sessions, filled if filled.get("kind") == "sessions" else None)
        values = {
            "event": event,
            "folder": str(self._folder / "event.toml"),
            "filled": filled,
            "unread": PLAYERS if stored is None else "",
            "last": last,
            "new_id": partial(forms.new_id, "plan"),
            "found": found[:MOST_SHOWN],
            "more": max(0, len(found) - MOST_SHOWN),
            "search": search,
            "chosen": {one.player.id: dict(zip(SHOWN_FIELDS, _cells(one), strict=True)) for one in listed}.get(chosen),
            "whose": chosen,
            "further": EXTRA_COLUMNS,
            "parts": PARTS,
            "rows": rows,
            "rounds": max((play.round for play in event.plan.plays), default=0),
            "lines": lines[:MOST_SHOWN],
            "declared": declared,
        }
        done = N_("The correction is published.")
        return render_page(request, "plan.html", N_("Set-up"), error=error, done=done, values=values)


def _after(rulings: RulingService, draft: RulingDraft) -> Event:
    """Return the event as it would count with the draft."""
    room = rulings.room
    book = room.book.copy()
    entry = RulingEntry(
        id=draft.id, at=0, author="-", account="", role="organiser", reason="-", decision=draft.decision, number=1
    )
    book.add(entry)
    return corrected_event(room.planned, room.event, book, entry)


def _about(book: RulingBook, decision: AnyDecision) -> AnyDecision:
    """Return the decision that this one is about: for a withdrawal, the withdrawn one. Raises FormMalformed."""
    root = book.root_decision(decision)
    if not isinstance(root, PLAN_DECISIONS):
        raise errors.FormMalformed("rulings are withdrawn on the page of rulings")
    return root


def _cells(one: ListedPlayer) -> tuple[str, ...]:
    unranked = TICK if one.player.without_standing else ""
    return (one.player.name, *one.further, one.first_name, one.last_name, unranked)


def _line(form: Form, field: str) -> str:
    return " ".join(form.get(field, "").split())
