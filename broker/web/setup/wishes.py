"""What an organiser types of the hall, the format and the stages, and how it is read."""

from typing import Final

from broker.errors import RuleError
from broker.event import setup
from broker.event.structure import Structure
from broker.i18n import N_
from broker.web import Form, read_number

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
