"""The page of a draw: it is announced, each person types or scans their words, and the deals are made and sealed.

Words are held in memory only, until everybody's have been entered. They appear on no page and in no log.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.errors import RuleError, ScorerError
from broker.event import setup
from broker.event.deals import Draw, give_up_draw, make_drawn_deals, open_draw, read_draws
from broker.i18n import N_
from broker.rules.commitment import check_words
from broker.web import Access, Form, errors, form_page, note_action, read_number, redirect, render_page

RIGHT: Final = "set_up"
PEOPLE: Final = 6
"""Lines for people in the form; draws with more people are announced on the command line."""


def note_change(access: Access, request: Request, action: str) -> None:
    """Write to the audit log who changed the set-up."""
    if access.auth is not None:
        note_action(access.auth, request, RIGHT, action)


DONE: Final = {
    "announce": N_("The draw is announced. Publish it now, before anybody enters their words."),
    "words": N_("These are the words. They are not shown or stored."),
    "make": N_("The deals are made and sealed. Publish the commitment, and share the key."),
    "give_up": N_("The draw has been abandoned. It remains listed."),
}


class DrawPage:
    """Serves organisers. `lock` allows one change at a time, on this page and the set-up page together."""

    def __init__(self, access: Access, folder: Path, lock: threading.Lock) -> None:
        self._access, self._folder, self._lock = access, folder, lock
        self._words: dict[tuple[str, int], str] = {}
        """Words by the hash of the announcement and the person's index in it."""

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and its forms."""
        return form_page(self._access, "/setup/draw", self._page, self._act, RIGHT)

    def _act(self, request: Request, form: Form) -> Response:
        """Carry out the action of a form."""
        actions: dict[str, Callable[[Form], None]] = {
            "announce": self._announce,
            "words": self._take_words,
            "make": self._make,
            "give_up": self._give_up,
        }
        act = actions.get(form.get("action", ""))
        if act is None:
            raise errors.FormMalformed("the form names no known action")
        with self._lock:
            act(form)
            note_change(self._access, request, f"draw {form['action']}")
        return redirect(request, "/setup/draw", done=form["action"])

    def _announce(self, form: Form) -> None:
        rows = [(form.get(f"name-{at}", ""), form.get(f"hash-{at}", "")) for at in range(PEOPLE)]
        people = [row for row in rows if any(cell.strip() for cell in row)]
        setup.announce_planned_draw(self._folder, people, (form.get("source", ""), form.get("round", "")))

    def _take_words(self, form: Form) -> None:
        draw, person = self._open(), read_number(form.get("person", ""), default=-1)
        people = draw.announcement.people
        if not 0 <= person < len(people):
            raise errors.FormMalformed("the form does not say whose words they are")
        check_words(people[person], form.get("words", ""))
        self._words[draw.hash, person] = form.get("words", "")

    def _make(self, form: Form) -> None:
        draw = self._open()
        missing = [
            person.name for at, person in enumerate(draw.announcement.people) if (draw.hash, at) not in self._words
        ]
        if missing:
            raise RuleError("words_missing", N_("the words of {person} have not been entered yet", person=missing[0]))
        words = [self._words[draw.hash, at] for at in range(len(draw.announcement.people))]
        make_drawn_deals(self._folder, words, form.get("value", ""))
        self._words.clear()

    def _give_up(self, form: Form) -> None:
        give_up_draw(self._folder, form.get("reason", ""))
        self._words.clear()

    def _open(self) -> Draw:
        draw = open_draw(self._folder)
        if draw is None:
            raise RuleError("no_draw", N_("no draw is open: announce one first"))
        return draw

    def _page(self, request: Request, form: Form, error: Exception | None = None) -> Response:
        """Show the draws, and what the open one is waiting for."""
        try:
            draws, plan = read_draws(self._folder), setup.plan_of(self._folder)
        except (RuleError, ScorerError, OSError) as broken:
            draws, plan, error = (), None, broken
        waiting = next((draw for draw in draws if draw.is_open), None)
        people = waiting.announcement.people if waiting else ()
        entered = [(waiting.hash, at) in self._words for at in range(len(people))] if waiting else []
        announcing = form.get("action") == "announce"
        typed = {key: value for key, value in form.items() if announcing and key != "form"}
        values = {
            "draws": draws,
            "waiting": waiting,
            "entered": entered,
            "next": entered.index(False) if False in entered else None,
            "may_announce": bool(plan and plan.plays) and not setup.deals_made(self._folder),
            "made": setup.deals_made(self._folder),
            "folder": str(self._folder),
            "people": range(PEOPLE),
            "filled": typed,
        }
        return render_page(request, "draw.html", N_("Draw of the deals"), error=error, done=DONE, values=values)
