"""What a riichi table asks: how a hand was won, and questions before something happens."""

from collections.abc import Iterator
from typing import Protocol

from broker.contract.words import SEATS, Seat
from broker.rules.riichi.session.settings import AbortReason
from kiosk.riichi_entry import WinForm
from kiosk.riichi_keys import RiichiForm
from kiosk.riichi_questions import Question
from kiosk.screens import style
from kiosk.screens.form import keypad
from kiosk.screens.middle import Action, Middle, Rows
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words


class Asked(Protocol):
    """What is asked, and what may be answered."""

    @property
    def form(self) -> RiichiForm | None:
        """What is being filled in."""

    @property
    def aborts(self) -> tuple[AbortReason, ...]:
        """What may break a hand off."""

    @property
    def spoils(self) -> bool:
        """Whether a chombo costs more that spoils a possible yakuman."""


def asked(words: Words, shown: Shown, of: Asked) -> Middle | None:
    """Whatever is asked at a riichi table; None where nothing is."""
    if isinstance(of.form, Question):
        lines, panel = _question(words, of, of.form)
    elif isinstance(of.form, WinForm):
        lines, panel = _win(words, of.form, "do_false_hu" if shown.alone else "do_riichi_chombo", shown.told)
    else:
        return None
    return Middle((*extra(words, shown), *lines, *problem(words, shown)), panel=panel)


def _win(words: Words, form: WinForm, fault: str, told: str | None) -> tuple[tuple[Said, ...], Rows]:
    """Whatever is asked of a win."""
    back = (Action("back", words("do_back")),)
    if form.seat is not None and form.asked != "responsible":
        return _value(words, form, fault)
    if form.asked == "responsible":
        others = (*_seats(words, (form.seat,)), (Action("enter", words("do_riichi_nobody"), "strong"),), back)
        return (Said(words("riichi_responsible"), 0.08, style.TEXT),), others
    if form.asked == "riichi_tile":
        yes, no = (Action("y", words("do_riichi_yes")),), (Action("n", words("do_riichi_no")),)
        return (Said(words("riichi_on_riichi_tile"), 0.08, style.TEXT),), (yes, no, back)
    if form.asked == "live_kan":
        return (Said(words("riichi_live_kan"), 0.08, style.TEXT),), (*_seats(words, form.declared), back)
    drawn = (_drawn(words, form, told),) if len(form.declared) == 1 else ()
    return (Said(words("discarder"), 0.1, style.TEXT),), (*_seats(words, form.declared), *drawn, back)


def _drawn(words: Words, form: WinForm, told: str | None) -> tuple[Action, ...]:
    """Give what is said of a tsumo: drawn, or drawn after a kan of a discard where that is paid otherwise."""
    drawn = Action("d", words("do_self_drawn"), "strong" if told == "d" else "plain")
    return (drawn, Action("k", words("do_riichi_live_kan"))) if form.live_kan else (drawn,)


def _value(words: Words, form: WinForm, fault: str) -> tuple[tuple[Said, ...], Rows]:
    seat = words.seat(form.seat or "")
    lines = (
        Said(words(f"riichi_{form.asked}_of", seat=seat, han=form.han), 0.085, style.TEXT),
        Said(form.digits or "–", 0.14, style.TEXT),
    )
    last = Action("x", words(fault)), Action("enter", words("do_enter"), "strong")
    if form.asked != "han":
        return lines, keypad(words, *last)
    first = Action("b", words("do_count_beside")), Action("y", words("do_riichi_yakuman"))
    return lines, (first, *keypad(words, *last))


def _seats(words: Words, without: tuple[object, ...] = ()) -> Rows:
    return tuple((Action(seat[0], words.seat(seat)),) for seat in SEATS if seat not in without)


def _question(words: Words, of: Asked, question: Question) -> tuple[tuple[Said, ...], Rows]:
    lines = (Said(words(f"riichi_ask_{question.about}"), 0.08, style.TEXT),)
    return lines, (*_answers(words, of, question), (Action("back", words("do_back")),))


def _answers(words: Words, of: Asked, question: Question) -> Iterator[tuple[Action, ...]]:
    match question.about:
        case "riichi":
            yield from ((Action(seat[0], words.seat(seat)),) for seat in SEATS)
        case "fault":
            yield from (_chosen(words, pair, question.seats) for pair in (SEATS[:2], SEATS[2:]))
            if question.seats:
                yield Action("1", words("do_riichi_chombo")), Action("2", words("do_riichi_minor"))
                yield from ((Action("3", words("do_riichi_spoilt")),) for _ in range(of.spoils))
        case "spoilt" | "dependent" | "nagashi":
            seats, chosen = _among(question)
            yield from (_chosen(words, row, chosen) for row in (seats[:-2], seats[-2:]) if row)
            yield (Action("enter", words("do_enter"), "strong"),)
        case "abort":
            yield from ((Action(str(at), words(f"riichi_{one}")),) for at, one in enumerate(of.aborts, 1))
        case _:
            yield (Action("enter", words("do_riichi_yes"), "strong"),)


def _among(question: Question) -> tuple[tuple[Seat, ...], tuple[Seat, ...]]:
    """Give of which seats several can be chosen, and which are."""
    if question.about == "nagashi":
        return SEATS, question.seats
    return (question.spoilable, question.spoilt) if question.about == "spoilt" else (question.seats, question.chosen)


def _chosen(words: Words, seats: tuple[Seat, ...], chosen: tuple[Seat, ...]) -> tuple[Action, ...]:
    """Give a row of seats of which several can be chosen."""
    return tuple(Action(seat[0], words.seat(seat), "strong" if seat in chosen else "plain") for seat in seats)
