"""Entering a win by keyboard: first each declared hand's value, then who discarded. Pure: a form and keys.

The keys: digits, `enter`, `back` (one step back), `clear` (these digits), `d` (self-drawn),
`e s w n` (the discarder's seat). That a declaration is false is no value: the arbiter rules it, on the panel.
"""

from dataclasses import dataclass, replace
from typing import Final

from broker.contract.words import SEATS, Seat

DIGITS: Final = frozenset("0123456789")
"""Not `isdigit`, which takes more for digits than `int` does."""

SEAT_KEYS: Final[dict[str, Seat]] = {seat[0]: seat for seat in SEATS}

LONGEST: Final = 3
"""Digits of a hand value."""


@dataclass(frozen=True, slots=True)
class Form:
    """What has been entered so far, for these declarations in their order."""

    declared: tuple[Seat, ...]
    values: tuple[int, ...] = ()
    digits: str = ""

    @property
    def seat(self) -> Seat | None:
        """Whose value is asked; None when all are there and the discarder is asked."""
        return self.declared[len(self.values)] if len(self.values) < len(self.declared) else None


@dataclass(frozen=True, slots=True)
class Won:
    """The form is complete; no discarder means self-drawn."""

    winners: dict[Seat, int]
    discarder: Seat | None


def press(form: Form, key: str) -> Form | Won:
    """Take one key; one that means nothing here leaves the form as it is."""
    if form.seat is None:
        return _ask_discarder(form, key)
    return _ask_value(form, key)


def _ask_value(form: Form, key: str) -> Form:
    if key in DIGITS and len(form.digits) < LONGEST:
        return replace(form, digits=(form.digits + key).lstrip("0"))
    if key == "enter" and form.digits:
        return replace(form, values=(*form.values, int(form.digits)), digits="")
    if key == "clear":
        return replace(form, digits="")
    return _back(form) if key == "back" else form


def _back(form: Form) -> Form:
    if form.digits:
        return replace(form, digits=form.digits[:-1])
    return replace(form, values=form.values[:-1])


def _ask_discarder(form: Form, key: str) -> Form | Won:
    winners = dict(zip(form.declared, form.values, strict=True))
    if key == "d" and len(winners) == 1:
        return Won(winners, None)
    if key in SEAT_KEYS and SEAT_KEYS[key] not in winners:
        return Won(winners, SEAT_KEYS[key])
    return _back(form) if key == "back" else form
