"""The arbiter's panel: PIN, what is ruled, on which seats, why."""

from typing import Final

from broker.contract.words import SEATS, Seat
from kiosk.panel import REASONS, Panel
from kiosk.screens import style
from kiosk.screens.form import keypad
from kiosk.screens.middle import Action, Middle, Rows, Tone
from kiosk.screens.pen import Said
from kiosk.screens.plain import problem
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words

SEEN: Final = "•"
"""In the place of a digit of the PIN."""


def panel(words: Words, shown: Shown) -> Middle | None:
    """Whatever the panel asks."""
    asked = shown.panel
    if asked is None:
        return None
    title = _title(words, asked)
    question = words("arbiter_minutes", minutes=asked.digits or "–") if asked.ask == "minutes" else ""
    lines = [Said(title, 0.09, style.TEXT), Said(question or words(f"arbiter_{asked.ask}"), 0.06, style.QUIET)]
    if asked.ask == "pin":
        lines.append(Said(SEEN * len(asked.digits) or "–", 0.12, style.TEXT))
    return Middle((*lines, *problem(words, shown)), panel=_rows(words, asked))


def _title(words: Words, asked: Panel) -> str:
    """Say what is ruled; of a false hu also whose, which the form of results may have chosen before the PIN."""
    if asked.act == "false_hu" and asked.seats and asked.ask != "seats":
        return words("false_hu_of", seat=words.seat(asked.seats[0]))
    return words(f"rule_{asked.act}") if asked.act else words("arbiter")


def _rows(words: Words, asked: Panel) -> Rows:
    back = (Action("back", words("do_back")),)
    match asked.ask:
        case "pin" | "minutes":
            leave = Action("back", words("do_leave")) if asked.ask == "pin" else Action("back", words("do_back"))
            return (*keypad(words)[:-1], (leave, Action("enter", words("do_enter"), "strong")))
        case "act":
            named = [Action(str((at + 1) % 10), words(f"rule_{act}")) for at, act in enumerate(asked.acts)]
            return (*_in_twos(named), (Action("back", words("do_leave")),))
        case "seats":
            chosen: dict[Seat, Tone] = dict.fromkeys(asked.seats, "strong")
            seats = tuple((Action(seat[0], words.seat(seat), chosen.get(seat, "plain")),) for seat in SEATS)
            return (*seats, (*back, Action("enter", words("do_enter"))))
        case "fine":
            return (*((Action(str(imp), words("do_fine", imp=imp)),) for imp in asked.fines), back)
        case "reason":
            named = [Action(str(at), words(f"reason_{at}")) for at in range(1, len(REASONS) + 1)]
            return (*_in_twos(named), back)


def _in_twos(named: list[Action]) -> Rows:
    return tuple(tuple(named[at : at + 2]) for at in range(0, len(named), 2))
