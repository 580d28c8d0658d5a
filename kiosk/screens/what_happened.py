"""What happened?: what the arbiter's panel asks of a scene, and what the rules say of it."""

from collections.abc import Iterable, Mapping
from typing import Final

from broker.i18n import N_, Message, Translator
from broker.protocol import SEATS
from broker.rules.mcr import ABOUT_SETS, ASKED, CLAIMS, PHASE_ASKED, Answer
from broker.terms import SEAT_NAMES
from kiosk.input import ANSWERS_SHOWN, SceneForm
from kiosk.screens import drawing
from kiosk.screens.drawing import (
    ButtonRows,
    Colour,
    KeyButton,
    ScreenBody,
    TextLine,
    keypad,
    player_line,
    seat_button,
)
from kiosk.screens.views import ScreenView

TONES: Final[Mapping[str, Colour]] = {"yes": drawing.GOOD, "no": drawing.ATTENTION, "plain": drawing.TEXT}

QUESTION: Final[Mapping[str, str]] = {"claimants": "claims", "claim": "claims"}
"""Of steps that share one."""

EVEN: Final = 0.9
"""Answers are about as large as each other, however long they are."""

APART: Final = TextLine(" ", drawing.SMALLEST, drawing.QUIET)
"""Between two answers."""

BACK: Final = N_("Back")


def scene_screen(_: Translator, view: ScreenView, form: SceneForm) -> ScreenBody:
    """Whatever is asked of the scene, or the answers."""
    if form.asked == "answer":
        return _answers(_, form)
    lines = [TextLine(_(ASKED[QUESTION.get(form.asked, form.asked)]), drawing.BODY, drawing.QUIET)]
    if seat := form.turn if form.asked == "phase" else form.seat:
        lines = [TextLine(_(SEAT_NAMES[seat]), drawing.LARGE, drawing.TEXT), player_line(_, view, seat), *lines]
    if form.asked == "walls":
        lines.append(TextLine(form.digits or "–", drawing.TITLE, drawing.TEXT))
    if form.asked == "sets":
        lines.append(TextLine(_(ABOUT_SETS), drawing.SMALL, drawing.QUIET))
    return ScreenBody((*lines,), panel=_rows(_, view, form), seats=form.asked != "sets")


def _rows(_: Translator, view: ScreenView, form: SceneForm) -> ButtonRows:
    back, enter = KeyButton("back", _(BACK)), KeyButton("enter", _("Enter"), "strong")
    match form.asked:
        case "walls":
            return keypad(_, form.digits, enter)
        case "turn":
            return (*((seat_button(_, view, seat),) for seat in SEATS), (back,))
        case "phase":
            return (*_choices(_, PHASE_ASKED.values()), (back,))
        case "claim":
            return (*_choices(_, CLAIMS.values()), (back,))
        case "claimants":
            chosen = {*form.claimants}
            others = (seat for seat in SEATS if seat != form.turn)
            rows = ((seat_button(_, view, seat, "strong" if seat in chosen else "plain"),) for seat in others)
            nobody = enter if chosen else KeyButton("enter", _("Nobody"))
            return (*rows, (back, nobody))
        case _:
            counted = dict(zip(SEATS, form.counted, strict=False))
            taken = ((seat, _("from {seat}", seat=_(SEAT_NAMES[seat]))) for seat in SEATS if seat != form.seat)
            rows = ((KeyButton(seat[0], _counted(_, text, counted[seat]), seat=seat),) for seat, text in taken)
            return (*rows, (KeyButton("k", _counted(_, _("Kongs"), form.counted[-1])),), (back, enter))


def _choices(_: Translator, named: Iterable[Message]) -> ButtonRows:
    """Return a button for each, by its number."""
    return tuple((KeyButton(str(at), _(text)),) for at, text in enumerate(named, 1))


def _counted(_: Translator, what: str, count: int) -> str:
    return _("{what}: {value}", what=what, value=count)


def _answers(_: Translator, form: SceneForm) -> ScreenBody:
    """Answer on the whole screen: whoever stands there reads sentences, with their rule."""
    spoken = [TextLine(_in_words(_, one), drawing.BODY, TONES[one.tone], EVEN) for one in form.answers_shown]
    lines = [line for one in spoken for line in (one, APART)][:-1]
    sets = (KeyButton("2", _("Say which sets")),) if form.may_say_sets else ()
    more = (KeyButton("1", _.pgettext("button", "More")),) if len(form.answers) > ANSWERS_SHOWN else ()
    buttons = KeyButton("back", _(BACK)), *sets, *more, KeyButton("enter", _("To the rulings"), "strong")
    return ScreenBody((*lines,), buttons, seats=False)


def _in_words(_: Translator, answer: Answer) -> str:
    said = answer.in_words(_)
    return _("{text} ({rule})", text=said, rule=answer.rule) if answer.rule else said
