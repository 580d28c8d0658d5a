"""A device that has no table yet: the desk's address, the code, and what came of it."""

from typing import Final

from broker.contract.pairing import DIGITS
from kiosk.pairing.form import PairingForm
from kiosk.screens import style
from kiosk.screens.form import keypad
from kiosk.screens.middle import Action, Middle
from kiosk.screens.pen import Said
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

EMPTY: Final = "·"
"""In the place of a digit that is still to be typed."""


def pairing(words: Words, shown: Shown) -> Middle | None:
    """Whatever the form asks."""
    form = shown.pairing
    if form is None:
        return None
    match form.ask:
        case "address":
            return _address(words, form)
        case "code":
            return _code(words, form)
        case "asking":
            lines = Said(words("pairing_asking"), 0.1, style.TEXT), Said(form.address, 0.06, style.QUIET)
            return Middle(lines)
        case "paired":
            return Middle(
                (
                    Said(words("pairing_done"), 0.08, style.GOOD),
                    Said(words("table", table=form.table), 0.15, style.TEXT),
                    Said(form.event, 0.07, style.QUIET),
                )
            )


def _address(words: Words, form: PairingForm) -> Middle:
    lines = (
        Said(words("pairing_title"), 0.08, style.TEXT),
        Said(words("pairing_show"), 0.055, style.QUIET),
        Said(words("pairing_address"), 0.055, style.TEXT),
        Said(form.address or "–", 0.08, style.TEXT),
        *_problem(words, form),
    )
    dot, colon = Action(".", "."), Action(":", ":")
    return Middle(lines, panel=keypad(words, dot, colon, Action("enter", words("do_enter"), "strong")))


def _code(words: Words, form: PairingForm) -> Middle:
    typed = form.code.ljust(DIGITS, EMPTY)
    lines = (
        Said(words("pairing_title"), 0.08, style.TEXT),
        Said(words("pairing_show"), 0.055, style.QUIET),
        Said(words("pairing_code", desk=form.address), 0.055, style.TEXT),
        Said(f"{typed[: DIGITS // 2]} {typed[DIGITS // 2 :]}", 0.13, style.TEXT),
        *_problem(words, form),
    )
    return Middle(lines, panel=keypad(words, Action("enter", words("do_enter"), "strong")))


def _problem(words: Words, form: PairingForm) -> tuple[Said, ...]:
    return (Said(words.problem(form.problem), 0.06, style.ATTENTION),) if form.problem else ()
