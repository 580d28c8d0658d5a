"""Entering a win: values on a keypad, false hu, who discarded."""

from typing import Final

from broker.contract.words import SEATS
from kiosk.entry import Form
from kiosk.screens import style
from kiosk.screens.middle import Action, Middle, Rows
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

DIGITS: Final = tuple(tuple(Action(digit, digit) for digit in row) for row in ("123", "456", "789"))


def entering(words: Words, shown: Shown) -> Middle | None:
    """Whatever the form asks for."""
    form = shown.form
    if form is None:
        return None
    if form.seat is None:
        asked, panel = _discarder(words, form, shown.told)
    else:
        asked, panel = _value(words, form, form.seat)
    return Middle((*extra(words, shown), *asked, *problem(words, shown)), panel=panel)


def keypad(words: Words, *last: Action) -> Rows:
    """Give a numeric keypad: clear and back beside the nought, and a last row of the screen's own."""
    nought = Action("clear", words("do_clear")), Action("0", "0"), Action("back", words("do_back"))
    return (*DIGITS, nought, last)


def _value(words: Words, form: Form, seat: str) -> tuple[tuple[Said, ...], Rows]:
    asked = Said(words("value_of", seat=words.seat(seat)), 0.09, style.TEXT), Said(form.digits or "–", 0.14, style.TEXT)
    last = Action("x", words("do_false_hu")), Action("enter", words("do_enter"), "strong")
    return asked, ((Action("b", words("do_count")),), *keypad(words, *last))


def _discarder(words: Words, form: Form, told: str | None) -> tuple[tuple[Said, ...], Rows]:
    """Ask whose tile it was; what the tiles of a counted hand have told stands out."""

    def answer(key: str, label: str) -> Action:
        return Action(key, label, "strong" if key == told else "plain")

    seats = tuple((answer(seat[0], words.seat(seat)),) for seat in SEATS if seat not in form.declared)
    self_drawn = ((answer("d", words("do_self_drawn")),),) if len(form.declared) == 1 else ()
    return (Said(words("discarder"), 0.1, style.TEXT),), (*seats, *self_drawn, (Action("back", words("do_back")),))
