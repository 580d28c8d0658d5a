"""The page on which an organiser sets an event up, with one form per step, each checked before it is saved."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.errors import RuleError, ScorerError
from broker.event import HALLS_BY, MOVEMENT, PLAYERS, PROFILE, SETS, Earlier, read_saved_players, read_standings, setup
from broker.event.deals import COMMITMENT, DRAWS, read_commitment
from broker.event.movement import NamedPlay, is_measurable, measure_movement, movement_csv, summary
from broker.event.movement.summary import forecast_plan, minutes_a_play
from broker.event.readiness import deal_notes, player_list_notes, start_notes, start_problems
from broker.event.setup import EarlierDraft, EarlierWish, EventDetails, rows_to_fill, typed_session_rows
from broker.event.structure import Resources, Structure, formats
from broker.export.carrier_sheets import carrier_layouts, carrier_sheets_pdf
from broker.export.pdf import spelling_notes
from broker.i18n import N_
from broker.rules import shipped_profiles
from broker.spreadsheet import sent_text
from broker.store import has_started
from broker.web import Access, Form, errors, form_page, redirect, render, render_page, translator_for
from broker.web.setup.draw import RIGHT, DrawPage, note_change
from broker.web.setup.forms import (
    AT_ONCE_S,
    HALL,
    MAKING_PATH,
    OPENED,
    STRUCTURE,
    MovementJob,
    changed_here,
    opened_with,
    read_count,
    read_minutes,
    read_structure,
    refuse_changed,
    text_of,
    with_format,
)

LARGEST: Final = 2 * 2**20
"""Maximum size of a form in bytes: enough for 4,000 players. A movement of 20,000 plays needs the command line."""

EARLIER: Final = ("earlier_title", "earlier_part", "earlier_first")

SHOWN: Final = 200
"""Maximum number of problems, and of lines, on the page."""

BEST_FORMATS: Final = 3
"""Formats that a phone shows before the others are unfolded."""

Values = dict[str, object]


class SetupPage:
    """Serves organisers. Changes are made one at a time, as two browsers may be open."""

    def __init__(self, access: Access, folder: Path) -> None:
        self._access, self._folder = access, folder
        self._lock = threading.Lock()
        self._job: MovementJob | None = None
        self._last_saved: Form = {}
        """The last form that was saved, so that a button pressed twice acts once."""

    def routes(self, *, first: bool = False) -> Sequence[Route]:
        """Return the routes of the set-up; with `first` also of the desk's first page."""
        return [
            *([self._access.route("/", self.redirect_to_setup, RIGHT)] if first else ()),
            *form_page(self._access, "/setup", self._page, self._act, RIGHT, largest=LARGEST),
            self._access.route(MAKING_PATH, self.making, RIGHT),
            self._access.route("/setup/players.csv", partial(self.stored_file, PLAYERS), RIGHT),
            *DrawPage(self._access, self._folder, self._lock).routes(),
            *self.files(),
        ]

    def files(self) -> Sequence[Route]:
        """Return the routes of files that do not change once the event has begun."""
        return [
            self._access.route("/setup/movement.csv", self.movement, RIGHT),
            self._access.route("/setup/commitment.json", partial(self.stored_file, COMMITMENT), RIGHT),
            self._access.route("/setup/draws.json", partial(self.stored_file, DRAWS), RIGHT),
            self._access.route("/setup/carriers.pdf", self.carriers, RIGHT),
        ]

    async def redirect_to_setup(self, request: Request) -> Response:
        """Redirect to the set-up."""
        return redirect(request, "/setup")

    def movement(self, _request: Request) -> Response:
        """Return the movement as a CSV file."""
        plan = setup.plan_of(self._folder)
        return render.download(movement_csv(plan.plays if plan else ()), MOVEMENT, "text/csv")

    def stored_file(self, name: str, _request: Request) -> Response:
        """Return a stored file: the players, or what is published about draws and deals beforehand."""
        return render.download(
            text_of(self._folder / name), name, "text/csv" if name == PLAYERS else "application/json"
        )

    def carriers(self, request: Request) -> Response:
        """Return sheets for loading the carriers as PDF: a page per deal, with serials but no faces."""
        try:
            with self._lock:
                if not (layouts := carrier_layouts(self._folder)):
                    raise RuleError("no_deal", N_("there are no deals to print"))
                content = carrier_sheets_pdf(layouts, translator_for(request).language)
        except (RuleError, ScorerError, ExceptionGroup) as error:
            return self._page(request, {}, error)
        return render.pdf_response(content, "carriers.pdf")

    def _act(self, request: Request, form: Form) -> Response:
        """Check or save what a form sends."""
        folder = self._folder
        actions: dict[str, Callable[[Form], object]] = {
            "head": self._save_head,
            "check_players": self._check_players,
            "players": self._save_players,
            "check_earlier": lambda form: {"checked_earlier": self._earlier(form)},
            "earlier": lambda form: setup.take_earlier(folder, self._earlier(form)),
            "no_earlier": lambda _form: setup.take_earlier(folder, None),
            "formats": self._offer_formats,
            "look_movement": self._look_movement,
            "uncompared": lambda _form: setup.take_uncompared(folder),
            "check_movement": self._check_movement,
            "movement": self._save_movement,
            "deals": lambda _form: setup.make_deals(folder),
            "own_deals": lambda form: setup.take_deals(folder, form.get("csv", "")),
            "sets": lambda form: setup.take_sets(folder, form.get("csv", "")),
            "seal": lambda _form: setup.seal_deals(folder),
            "take_out": self._remove_deals,
            "sessions": lambda form: setup.take_sessions(folder, typed_session_rows(form)),
        }
        if form.get("action", "").startswith("choose "):
            form = with_format(form)
        if "rules" in form:
            form = {**form, "rules": sent_text(form["rules"])}
        if form.get("action") == "make_movement":
            return self._make_movement(request, form)
        act = actions.get(form.get("action", ""))
        if act is None:
            raise errors.FormMalformed("the form names no known action")
        with self._lock:
            if not self._was_saved_last(form):
                checked = act(form)
                if isinstance(checked, dict):
                    return self._page(request, form, None, checked)
                self._note_saved(request, form)
        return redirect(request, "/setup", "steps", done="saved")

    def _was_saved_last(self, form: Form) -> bool:
        """Return whether this form was saved last (a button pressed twice). Raises RuleError `setup_changed`."""
        if OPENED in form and form == self._last_saved:
            return True
        refuse_changed(self._folder, form)
        return False

    def _note_saved(self, request: Request, form: Form) -> None:
        self._last_saved = form
        note_change(self._access, request, form["action"])

    def _save_head(self, form: Form) -> None:
        setup.take_head(self._folder, EventDetails(**{key: form[key] for key in EventDetails._fields if key in form}))

    def _check_players(self, form: Form) -> Values:
        setup.may_change(self._folder)
        listed = setup.player_list_of(form.get("csv", ""))
        return {"checked_players": listed, "checked_notes": [*player_list_notes(listed), *spelling_notes(listed)]}

    def _save_players(self, form: Form) -> None:
        setup.take_players(self._folder, form.get("csv", ""), movement_anew=bool(form.get("movement_anew")))

    def _earlier(self, form: Form) -> EarlierDraft:
        lines = setup.from_file(form.get("csv", ""), "standings", read_standings)
        title, part = form.get("earlier_title", ""), form.get("earlier_part", "")
        request = EarlierWish(lines, title, part, read_count(form, "earlier_first") or 0)
        return setup.draft_earlier(self._folder, request)

    def _look_movement(self, form: Form) -> Values:
        structure = self._structure(form)
        ahead, halls = setup.forecast_structure(self._folder, structure)
        return {"ahead": ahead, "ahead_halls": halls, "structure": structure}

    def _offer_formats(self, form: Form) -> Values:
        plan = setup.settled(self._folder)
        have = Resources(
            len(plan.players),
            read_count(form, "tables"),
            read_minutes(form),
            read_count(form, "carriers"),
            read_count(form, "sets"),
            minutes_a_play(plan),
        )
        return {"formats": formats(have)}

    def _make_movement(self, request: Request, form: Form) -> Response:
        """Start making a movement; a form sent twice starts only one."""

        def make(report: Callable[[float], None]) -> None:
            draft = setup.draft_stages(self._folder, structure, report)
            with self._lock:  # only now, so that other steps can be saved while it is made
                setup.take_stages(self._folder, draft)
                self._note_saved(request, form)

        with self._lock:
            if self._was_saved_last(form):
                return redirect(request, "/setup", "steps", done="saved")
            structure, making = self._structure(form), self._job
            if making is None or making.ended():
                self._job = making = MovementJob(form, structure)
                making.start(make)
            elif making.structure != structure:
                raise RuleError("movement_in_progress", N_("{percent} % done", percent=making.percent))
        making.ended(AT_ONCE_S)
        return self.making(request)

    def making(self, request: Request) -> Response:
        """Show the progress of the movement being made, or its outcome."""
        making = self._job
        if making is None:
            return redirect(request, "/setup", "steps")
        if not making.ended():
            if request.method == "POST":
                return redirect(request, MAKING_PATH)
            title, values = N_("Making the movement"), {"percent": making.percent}
            return render_page(request, "making.html", title, values=values)
        making.seen = True
        if making.error:
            return self._page(request, making.form, making.error)
        return redirect(request, "/setup", "steps", done="saved")

    def _structure(self, form: Form) -> Structure:
        structure, column = read_structure(form), form.get("halls_by", "")
        if column and column not in HALLS_BY:
            raise errors.FormMalformed("halls are by club or country")
        return setup.with_halls(self._folder, structure, column) if column else structure

    def _check_movement(self, form: Form) -> Values:
        setup.may_change(self._folder)
        found = setup.movement_of(form.get("csv", ""))
        return {"checked_movement": found, "measures": _measures(found.plays)}

    def _save_movement(self, form: Form) -> Values | None:
        found = setup.movement_of(form.get("csv", ""))
        if found.problems:
            return {"checked_movement": found, "measures": ""}
        setup.take_movement(self._folder, found)
        return None

    def _remove_deals(self, form: Form) -> None:
        if not form.get("sure"):
            raise errors.FormMalformed("the box that confirms removing the deals was not ticked")
        setup.take_out(self._folder)

    def _page(
        self,
        request: Request,
        form: Form,
        error: Exception | None = None,
        more: Values | None = None,
    ) -> Response:
        if getattr(error, "code", "") == "setup_changed":
            form = changed_here(form)
        making = self._job
        if making and making.ended() and making.error and not (making.seen or form or error):
            making.seen, form, error = True, making.form, making.error  # whoever asked for it did not wait
        values = {**self._values(form), "making": making and not making.ended()}
        values |= {"checked_players": (), "checked_movement": None, "measures": "", "checked_earlier": None}
        values |= {"ahead": None, "ahead_halls": (), "structure": None, "formats": (), "checked_notes": ()}
        values |= more or {}
        return render_page(request, "setup.html", N_("Set-up"), error=error, done=N_("Saved."), values=values)

    def _values(self, form: Form) -> Values:
        plan, opened = opened_with(self._folder)  # problems with the plan's file are in the list of problems
        plays, minutes = plan.plays if plan else (), minutes_a_play(plan) if plan else 0
        players = read_saved_players(self._folder, plan)
        deals = setup.deals_made(self._folder)
        steps = {"head": plan, "players": plan and plan.players, "movement": plays, "deals": deals, "print": False}
        return {
            "open": form.get("step") or next(step for step, done in steps.items() if not done),
            "plan": plan,
            "opened": opened,
            "started": has_started(self._folder),
            "folder": str(self._folder),
            "profiles": shipped_profiles(),
            "own_rules": sent_text(form.get("rules", text_of(self._folder / PROFILE))),
            "earlier": plan.earlier if plan and isinstance(plan.earlier, Earlier) else None,
            "filled": dict.fromkeys((*HALL, *STRUCTURE, *EARLIER), "")
            | (setup.head_of(plan) if plan else EventDetails())._asdict()
            | ({"keep_plays": ""} if form.get("action") == "head" else {})
            | form,
            "csv": {
                "players": "",
                "movement": "",
                "earlier": "",
                form.get("action", "").removeprefix("check_"): sent_text(form.get("csv", "")),
            },
            "players": players if (self._folder / PLAYERS).exists() else (),
            "plays": plays,
            "shown": SHOWN,
            "best_formats": BEST_FORMATS,
            "halls": setup.halls_kept(self._folder),
            "rounds": max((play.round for play in plays), default=0),
            "coming": forecast_plan(plan) if plan else None,
            "minutes": minutes,
            "deals": deals,
            "root": _root(self._folder),
            "sessions": rows_to_fill(plan.sessions if plan else (), form if form.get("action") == "sessions" else None),
            "problems": start_problems(self._folder) if plan else [],
            "notes": [*start_notes(plan, players), *spelling_notes(players), *deal_notes(self._folder)] if plan else [],
            "sets": setup.sets_kept(self._folder),
            "registry": str(self._folder / SETS),
        }


def _measures(plays: Sequence[NamedPlay]) -> str:
    return summary.measures_in_words(measure_movement(plays)) if plays and is_measurable(plays) else ""


def _root(folder: Path) -> str:
    try:
        return read_commitment(folder / COMMITMENT).root
    except (RuleError, OSError):
        return ""
