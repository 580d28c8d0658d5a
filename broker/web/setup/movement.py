"""The movement that an organiser wishes: how it is read from forms, and how it is made, which may take a minute.

It is made in a thread of its own, whoever waits for it or not.
"""

import threading
from collections.abc import Callable
from typing import Final

from broker.errors import RuleError
from broker.event import setup
from broker.event.structure import Structure
from broker.i18n import N_
from broker.web import Form, errors, forms, read_number

HALL: Final = ("tables", "hours", "carriers", "sets")
"""What the organiser has said of the hall, to be offered formats."""

FORMAT: Final = ("rounds", "deals_per_round", "copies", "tables_each")
"""What a format that is chosen fills in; tables only where it is for fewer than all players need."""

STRUCTURE: Final = (*FORMAT, "halls_by", "sections", "final", "final_rounds", "carry_over")
"""What the organiser has typed of stages, which stays whatever is looked at meanwhile."""

MOST_MINUTES: Final = 100 * 60


def read_structure(form: Form) -> Structure:
    """Return which stages are wished. Raises RuleError `malformed`."""
    most = setup.MOST_ROUNDS
    numbers = [read_number(form.get(field, "").strip(), 3) for field in ("rounds", "sections", "final", "final_rounds")]
    rounds, sections, final, final_rounds = numbers
    if not (1 <= rounds <= most and final_rounds <= most):
        raise RuleError("malformed", N_("rounds must be from 1 to {most}", most=most))
    return Structure(
        rounds,
        sections or 1,
        final,
        final_rounds,
        form.get("carry_over", "").strip(),
        (form.get("qualification") or "Qualification", form.get("finale") or "Final"),
        deals_per_round=(deals := read_count(form, "deals_per_round")),
        copies=read_count(form, "copies") or (deals and 1),
        tables=read_count(form, "tables_each"),
    )


def with_format(form: Form) -> Form:
    """Return a form with the format that was chosen in it, to be looked at; its tables are shared among sections."""
    rounds, deals, copies, tables, *_ = (*form["action"].split()[1:5], "", "", "", "")
    each = str((read_number(tables, 3) or 0) // (read_count(form, "sections") or 1) or "")
    return {**form, **dict(zip(FORMAT, (rounds, deals, copies, each), strict=True)), "action": "look_movement"}


def read_count(form: Form, field: str) -> int | None:
    """Return a number of a form; None if there is none."""
    return read_number(form.get(field, "").strip(), 3) or None


def read_minutes(form: Form) -> int:
    """Return the hours of a form in minutes: 4, 4.5, 4,5 or 4:30. Raises RuleError `malformed`."""
    hours, _, minutes = form.get("hours", "").strip().replace(",", ".").partition(":")
    try:
        found = round(60 * float(hours)) + int(minutes or 0)
    except (ValueError, OverflowError):
        found = 0
    if not 0 < found <= MOST_MINUTES:
        raise RuleError("malformed", N_("hours must be more than 0 and at most {most}", most=MOST_MINUTES // 60))
    return found


PATH: Final = "/setup/making"

AT_ONCE_S: Final = 1.0
"""A page waits so long for a movement before it shows how far that is: a small one is there by then."""


class Making:
    """One movement that is made, and what came of it."""

    def __init__(self, form: Form, wish: Structure) -> None:
        """`form`: what was typed, which is shown again where the movement is refused."""
        self.form, self.wish = form, wish
        self.percent = 0
        self.error: Exception | None = errors.DeskFailed("no movement was made; the desk's log says why")
        self.seen = False
        """Whether somebody has been shown what came of it."""
        self._ended = threading.Event()

    def start(self, make: Callable[[Callable[[float], None]], object]) -> None:
        """Make it: `make` is given what is told which part of its time is over."""
        threading.Thread(target=self._run, args=(make,), name="movement", daemon=True).start()

    def ended(self, within_s: float = 0) -> bool:
        """Return whether it is made, or refused, within so many seconds."""
        return self._ended.wait(within_s)

    def _run(self, make: Callable[[Callable[[float], None]], object]) -> None:
        try:
            make(self._tell)
            self.error = None
        except forms.REFUSALS as error:
            self.error = error
        finally:
            self._ended.set()

    def _tell(self, over: float) -> None:
        self.percent = int(100 * over)
