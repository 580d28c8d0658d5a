"""The arbiter's screens: PIN, rulings, penalties, and the questions about the walls."""

from collections.abc import Iterable, Mapping
from typing import Final

from broker.i18n import N_, Message, Translator
from broker.protocol import SEATS, Seat
from broker.rules import infractions, mcr
from kiosk.input import ANSWERS_SHOWN, INFRACTIONS_SHOWN, REASONS, YES, ArbiterPanel, Offence, SceneForm
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    GOOD,
    LARGE,
    QUIET,
    SMALL,
    SMALLEST,
    TEXT,
    TITLE,
    ButtonRows,
    Colour,
    KeyButton,
    ScreenBody,
    TextLine,
    Tone,
    keypad,
    player_line,
    problem_lines,
    seat_button,
    seat_name,
)
from kiosk.screens.texts import ARBITER, LOST, MEASURE, REASON, RULE
from kiosk.screens.views import (
    ScreenView,
)

TONES: Final[Mapping[str, Colour]] = {"yes": GOOD, "no": ATTENTION, "plain": TEXT}
QUESTION: Final[Mapping[str, str]] = {"claimants": "claims", "claim": "claims"}
"""Steps that share a question with another."""

EVEN: Final = 0.9
"""Answers have about the same size, however long they are."""

SPACER: Final = TextLine(" ", SMALLEST, QUIET)
"""The space between two answers."""

BACK: Final = N_("Back")


def scene_screen(_: Translator, view: ScreenView, form: SceneForm) -> ScreenBody:
    """Return the current question about the scene, or the answers."""
    if form.step == "answer":
        return _answers(_, form)
    lines = [TextLine(_(mcr.QUESTIONS[QUESTION.get(form.step, form.step)]), BODY, QUIET)]
    if seat := form.turn if form.step == "phase" else form.seat:
        lines = [TextLine(seat_name(_, seat), LARGE), player_line(_, view, seat), *lines]
    if form.step == "walls":
        lines.append(TextLine(form.digits or "–", TITLE))
    if form.step == "sets":
        lines.append(TextLine(_(mcr.ABOUT_SETS), SMALL, QUIET))
    return ScreenBody((*lines,), panel=_scene_rows(_, view, form), seats=form.step != "sets")


def _scene_rows(_: Translator, view: ScreenView, form: SceneForm) -> ButtonRows:
    back, enter = KeyButton("back", _(BACK)), KeyButton("enter", _("Enter"), "strong")
    match form.step:
        case "walls":
            return keypad(_, form.digits, enter)
        case "turn":
            return (*((seat_button(_, view, seat),) for seat in SEATS), (back,))
        case "phase":
            return (*_choices(_, mcr.PHASE_LABELS.values()), (back,))
        case "claim":
            return (*_choices(_, mcr.CLAIMS.values()), (back,))
        case "claimants":
            chosen = {*form.claimants}
            others = (seat for seat in SEATS if seat != form.turn)
            rows = ((seat_button(_, view, seat, "strong" if seat in chosen else "plain"),) for seat in others)
            nobody = enter if chosen else KeyButton("enter", _("Nobody"))
            return (*rows, (back, nobody))
        case _:
            counted = dict(zip(SEATS, form.counted, strict=False))
            taken = ((seat, _("from {seat}", seat=seat_name(_, seat))) for seat in SEATS if seat != form.seat)
            rows = ((KeyButton(seat[0], _counted(_, text, counted[seat]), seat=seat),) for seat, text in taken)
            return (*rows, (KeyButton("k", _counted(_, _("Kongs"), form.counted[-1])),), (back, enter))


def _choices(_: Translator, named: Iterable[Message]) -> ButtonRows:
    """Return a numbered button for each text."""
    return tuple((KeyButton(str(at), _(text)),) for at, text in enumerate(named, 1))


def _counted(_: Translator, what: str, count: int) -> str:
    return _("{what}: {value}", what=what, value=count)


def _answers(_: Translator, form: SceneForm) -> ScreenBody:
    """Return the answers on the whole screen: the people standing there read sentences with their rule."""
    spoken = [TextLine(_in_words(_, one), BODY, TONES[one.tone], EVEN) for one in form.answers_shown]
    lines = [line for one in spoken for line in (one, SPACER)][:-1]
    sets = (KeyButton("2", _("Enter claimed sets")),) if form.may_say_sets else ()
    more = (KeyButton("1", _.pgettext("button", "More")),) if len(form.answers) > ANSWERS_SHOWN else ()
    buttons = KeyButton("back", _(BACK)), *sets, *more, KeyButton("enter", _("To the rulings"), "strong")
    return ScreenBody((*lines,), buttons, seats=False)


def _in_words(_: Translator, answer: mcr.Answer) -> str:
    text = answer.in_words(_)
    return _("{text} ({rule})", text=text, rule=answer.rule) if answer.rule else text


UNPROVEN: Final = N_("Offline: the PIN is checked later. Rulings count only if it was right.")
DIGIT_MARK: Final = "•"
"""Stands for a digit of the PIN."""


def arbiter_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return the screen for the panel's current question, or None."""
    panel = view.panel
    if panel is None:
        return None
    if panel.ask == "scene" and panel.scene:
        return scene_screen(_, view, panel.scene)
    title = _title(_, panel)
    question = _("Minutes: {minutes}", minutes=panel.digits or "–") if panel.ask == "minutes" else ""
    lines = [
        TextLine(title, LARGE),
        *((player_line(_, view, panel.seats[0]),) if _names_offender(panel) else ()),
        TextLine(question or _(ARBITER[panel.ask]), BODY, QUIET),
    ]
    if panel.ask == "sure" and panel.act:
        lines.append(TextLine(_(LOST[panel.act]), BODY, ATTENTION))
    if panel.ask == "pin":
        lines.append(TextLine(DIGIT_MARK * len(panel.digits) or "–", TITLE))
    if view.unproven:
        lines.append(TextLine(_(UNPROVEN), SMALL, ATTENTION))
    if panel.ask == "checking":
        return ScreenBody(tuple(lines), (KeyButton("back", _("Leave")),))
    if panel.ask == "pin" and view.pin_wait_s:
        return ScreenBody((*lines, _wait_line(_, view.pin_wait_s)), panel=_rows(_, view, panel))
    return ScreenBody((*lines, *problem_lines(_, view)), panel=_rows(_, view, panel))


MINUTE_S: Final = 60


def _wait_line(_: Translator, seconds: int) -> TextLine:
    """Return how long no PIN is accepted. The desk can let an arbiter in all the same."""
    wait = (
        _("Too many tries: wait {seconds} s, or ask the desk to let you in", seconds=seconds)
        if seconds <= MINUTE_S
        else _("Too many tries: wait {minutes} min, or ask the desk to let you in", minutes=-(-seconds // MINUTE_S))
    )
    return TextLine(wait, BODY, ATTENTION)


def _title(_: Translator, panel: ArbiterPanel) -> str:
    """Return the ruling. For a false hu, add the seat, which the result form may have chosen before the PIN."""
    if _names_offender(panel):
        return _("False hu of {seat}", seat=seat_name(_, panel.seats[0]))
    if panel.ask == "penalty":
        seats = _(", ").join(seat_name(_, seat) for seat in panel.seats)
        return _("{what}: {value}", what=_named(_, panel.offences[panel.offence]), value=seats)
    return _(RULE[panel.act]) if panel.act else _("Arbiter")


def _names_offender(panel: ArbiterPanel) -> bool:
    return panel.act == "false_hu" and bool(panel.seats) and panel.ask != "seats"


def _rows(_: Translator, view: ScreenView, panel: ArbiterPanel) -> ButtonRows:
    back = (KeyButton("back", _("Back")),)
    match panel.ask:
        case "pin" | "minutes":
            leave = N_("Leave") if panel.ask == "pin" else N_("Back")
            return keypad(_, panel.digits, KeyButton("enter", _("Enter"), "strong"), back=leave)
        case "act":
            named = [
                KeyButton(str((at + 1) % 10), _(RULE[act]), "strong" if act == "resume" else "plain")
                for at, act in enumerate(panel.acts)
            ]
            return (*_in_twos(named), (KeyButton("back", _("Leave")),))
        case "seats":
            chosen: dict[Seat, Tone] = dict.fromkeys(panel.seats, "strong")
            seats = tuple((seat_button(_, view, seat, chosen.get(seat, "plain")),) for seat in SEATS)
            return (*seats, (*back, KeyButton("enter", _("Enter"))))
        case "fine" | "infraction" | "penalty":
            return _penalty_rows(_, panel, back)
        case "reason":
            named = [KeyButton(str(at), _(REASON[str(at)])) for at in range(1, len(REASONS) + 1)]
            return (*_in_twos(named), back)
        case _:
            return ((KeyButton(YES, _title(_, panel)),), (KeyButton("back", _("No, go back"), "strong"),))


def _penalty_rows(_: Translator, panel: ArbiterPanel, back: tuple[KeyButton, ...]) -> ButtonRows:
    if panel.ask == "fine":
        return (*((KeyButton(str(imp), _("{imp} IMP", imp=imp)),) for imp in panel.fines), back)
    if panel.ask == "penalty":
        choices = enumerate(panel.offences[panel.offence].choices, 1)
        return (*((KeyButton(str(at), _penalty(_, one)),) for at, one in choices), back)
    named = ((KeyButton(str(at), _named(_, one)),) for at, one in enumerate(panel.offences_shown, 1))
    more = (KeyButton(str(INFRACTIONS_SHOWN + 1), _.pgettext("button", "More")),)
    return (*named, (*back, *(more if len(panel.offences) > INFRACTIONS_SHOWN else ())))


def _named(_: Translator, offence: Offence) -> str:
    names = dict(offence.names)
    return names.get(_.language) or next(iter(names.values()), offence.id)


def _penalty(_: Translator, choice: infractions.Choice) -> str:
    return _("{imp} IMP", imp=choice.imp) if choice.measure == "fine" else _(MEASURE[choice.measure])


def _in_twos(named: list[KeyButton]) -> ButtonRows:
    """Return rows of two. An odd one is at the top, away from the button that leaves."""
    odd = len(named) % 2
    return (*(((named[0],),) * odd), *(tuple(named[at : at + 2]) for at in range(odd, len(named), 2)))
