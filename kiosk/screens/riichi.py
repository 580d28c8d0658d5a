"""Screens of a table that plays riichi: a session and its sheet, planned deals scored alone, questions about a hand."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

import pygame

from broker.protocol import SEATS, RiichiEvent, RiichiValue, RiichiWin, Seat
from broker.rules.outcomes import HUNDRED
from broker.rules.riichi import AbortReason
from kiosk.input import RiichiForm, RiichiQuestion, WinForm
from kiosk.screens import drawing
from kiosk.screens.drawing import (
    Align,
    ButtonRows,
    KeyButton,
    Paint,
    ScreenBody,
    TextLine,
    TextPen,
    Translations,
    keypad,
    problem_lines,
    time_lines,
)
from kiosk.screens.play import receipt_lines
from kiosk.screens.views import PlannedRiichiView, ScreenView, SessionView, SheetView
from kiosk.table import LINES

MINUS = "\N{MINUS SIGN}"


def how_it_ended(words: Translations, told: RiichiEvent | None) -> str:
    """Return how a hand ended."""
    if told is None:
        return ""
    if told.kind == "ron" and told.loser:
        return words("on_discard", seat=words.seat(told.loser))
    if told.kind == "abort" and told.reason:
        return words(f"riichi_{told.reason}")
    names = ", ".join(words.seat(seat) for seat in (*told.wins, *told.offenders))
    return words(f"riichi_{told.kind}", seats=names)


def signed_points(points: int) -> str:
    """Write points with their sign."""
    return f"+{points}" if points > 0 else str(points).replace("-", MINUS)


class RiichiPrompt(Protocol):
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


def riichi_prompt(words: Translations, shown: ScreenView, of: RiichiPrompt) -> ScreenBody | None:
    """Whatever is asked at a riichi table; None where nothing is."""
    if isinstance(of.form, RiichiQuestion):
        lines, panel = _question(words, of, of.form)
    elif isinstance(of.form, WinForm):
        lines, panel = _win(words, of.form, "do_false_hu" if shown.alone else "do_riichi_chombo", shown.told)
    else:
        return None
    return ScreenBody((*time_lines(words, shown), *lines, *problem_lines(words, shown)), panel=panel)


def _win(words: Translations, form: WinForm, fault: str, told: str | None) -> tuple[tuple[TextLine, ...], ButtonRows]:
    """Whatever is asked of a win."""
    back = (KeyButton("back", words("do_back")),)
    if form.seat is not None and form.asked != "responsible":
        return _value(words, form, fault)
    if form.asked == "responsible":
        others = (*_seats(words, (form.seat,)), (KeyButton("enter", words("do_riichi_nobody"), "strong"),), back)
        return (TextLine(words("riichi_responsible"), 0.08, drawing.TEXT),), others
    if form.asked == "riichi_tile":
        yes, no = (KeyButton("y", words("do_riichi_yes")),), (KeyButton("n", words("do_riichi_no")),)
        return (TextLine(words("riichi_on_riichi_tile"), 0.08, drawing.TEXT),), (yes, no, back)
    if form.asked == "live_kan":
        return (TextLine(words("riichi_live_kan"), 0.08, drawing.TEXT),), (*_seats(words, form.declared), back)
    drawn = (_drawn(words, form, told),) if len(form.declared) == 1 else ()
    return (TextLine(words("discarder"), 0.1, drawing.TEXT),), (*_seats(words, form.declared), *drawn, back)


def _drawn(words: Translations, form: WinForm, told: str | None) -> tuple[KeyButton, ...]:
    """Return what is said of a tsumo: drawn, or drawn after a kan of a discard where that is paid otherwise."""
    drawn = KeyButton("d", words("do_self_drawn"), "strong" if told == "d" else "plain")
    return (drawn, KeyButton("k", words("do_riichi_live_kan"))) if form.live_kan else (drawn,)


def _value(words: Translations, form: WinForm, fault: str) -> tuple[tuple[TextLine, ...], ButtonRows]:
    seat = words.seat(form.seat or "")
    lines = (
        TextLine(words(f"riichi_{form.asked}_of", seat=seat, han=form.han), 0.085, drawing.TEXT),
        TextLine(form.digits or "–", 0.14, drawing.TEXT),
    )
    last = KeyButton("x", words(fault)), KeyButton("enter", words("do_enter"), "strong")
    if form.asked != "han":
        return lines, keypad(words, *last)
    first = KeyButton("b", words("do_count_beside")), KeyButton("y", words("do_riichi_yakuman"))
    return lines, (first, *keypad(words, *last))


def _seats(words: Translations, without: tuple[object, ...] = ()) -> ButtonRows:
    return tuple((KeyButton(seat[0], words.seat(seat)),) for seat in SEATS if seat not in without)


def _question(
    words: Translations, of: RiichiPrompt, question: RiichiQuestion
) -> tuple[tuple[TextLine, ...], ButtonRows]:
    lines = (TextLine(words(f"riichi_ask_{question.about}"), 0.08, drawing.TEXT),)
    return lines, (*_answers(words, of, question), (KeyButton("back", words("do_back")),))


def _answers(words: Translations, of: RiichiPrompt, question: RiichiQuestion) -> Iterator[tuple[KeyButton, ...]]:
    match question.about:
        case "riichi":
            yield from ((KeyButton(seat[0], words.seat(seat)),) for seat in SEATS)
        case "fault":
            yield from (_chosen(words, pair, question.seats) for pair in (SEATS[:2], SEATS[2:]))
            if question.seats:
                yield KeyButton("1", words("do_riichi_chombo")), KeyButton("2", words("do_riichi_minor"))
                yield from ((KeyButton("3", words("do_riichi_spoilt")),) for _ in range(of.spoils))
        case "spoilt" | "dependent" | "nagashi":
            seats, chosen = _among(question)
            yield from (_chosen(words, row, chosen) for row in (seats[:-2], seats[-2:]) if row)
            yield (KeyButton("enter", words("do_enter"), "strong"),)
        case "abort":
            yield from ((KeyButton(str(at), words(f"riichi_{one}")),) for at, one in enumerate(of.aborts, 1))
        case _:
            yield (KeyButton("enter", words("do_riichi_yes"), "strong"),)


def _among(question: RiichiQuestion) -> tuple[tuple[Seat, ...], tuple[Seat, ...]]:
    """Return of which seats several can be chosen, and which are."""
    if question.about == "nagashi":
        return SEATS, question.seats
    return (question.spoilable, question.spoilt) if question.about == "spoilt" else (question.seats, question.chosen)


def _chosen(words: Translations, seats: tuple[Seat, ...], chosen: tuple[Seat, ...]) -> tuple[KeyButton, ...]:
    """Return a row of seats of which several can be chosen."""
    return tuple(KeyButton(seat[0], words.seat(seat), "strong" if seat in chosen else "plain") for seat in seats)


def riichi_head(words: Translations, shown: ScreenView) -> list[str]:
    """Return which hand it is, and what lies on the table; nothing at other tables."""
    session = shown.session
    if session is None or shown.prevalent_wind is None:
        return []
    hand = words("riichi_hand", wind=words.seat(shown.prevalent_wind), number=session.dealer)
    return [hand, words("riichi_on_table", counters=session.counters, deposits=session.deposits)]


def session_seat_lines(words: Translations, shown: ScreenView, session: SessionView, seat: Seat) -> Iterator[TextLine]:
    """Return the lines of one seat."""
    yield from _player_lines(words, shown, session, seat)
    if seat in session.places:
        yield TextLine(words("riichi_place", place=session.places[seat]), 0.055, drawing.GOOD)
    if paid := session.paid.get(seat):
        yield TextLine(signed_points(paid), 0.07, drawing.TEXT)
    if seat in session.scores:
        score = str(session.scores[seat]).replace("-", MINUS)
        yield TextLine(score, 0.05 if session.paid else 0.075, drawing.QUIET if session.paid else drawing.TEXT)


def planned_seat_lines(
    words: Translations, shown: ScreenView, alone: PlannedRiichiView, seat: Seat
) -> Iterator[TextLine]:
    """Return the lines of one seat where a hand is scored alone: what was said, or the points of the result."""
    if win := alone.worth(seat):
        yield hand_worth(words, win)
    elif seat in shown.declared:
        yield TextLine(words("has_declared"), 0.055, drawing.ATTENTION)
    if seat in alone.marked:
        yield TextLine(words("riichi_is_tenpai"), 0.05, drawing.GOOD)
    if shown.result is not None:
        yield TextLine(signed_points(shown.result.points[seat] * HUNDRED), 0.085, drawing.TEXT)
    elif seat in shown.marked:
        yield TextLine(words(f"{shown.state}_marked"), 0.05, drawing.GOOD)


def hand_worth(words: Translations, win: RiichiWin | RiichiValue) -> TextLine:
    """Return what a hand is worth."""
    named = "riichi_yakuman" if win.yakuman else "riichi_han_fu" if win.fu else "riichi_han"
    return TextLine(words(named, han=win.han, fu=win.fu, count=win.yakuman), 0.05, drawing.TEXT)


def _player_lines(words: Translations, shown: ScreenView, session: SessionView, seat: Seat) -> Iterator[TextLine]:
    """Return what this player has said: riichi, a win and its value, tenpai, to be ready."""
    if seat in session.riichi:
        yield TextLine(words("riichi_laid"), 0.05, drawing.ATTENTION)
    if isinstance(session.form, WinForm) and (win := session.form.entered.get(seat)):
        yield hand_worth(words, win)
    elif seat in shown.declared:
        yield TextLine(words("has_declared"), 0.055, drawing.ATTENTION)
    if shown.state == "confirming" and seat in shown.marked:
        yield TextLine(words("riichi_seated"), 0.05, drawing.GOOD)
    if seat in session.marked:
        yield TextLine(words("riichi_is_tenpai"), 0.05, drawing.GOOD)


COLUMNS: Final = (0.12, 0.36, 0.13, 0.13, 0.13, 0.13)
"""Widths of a line's columns, as shares: which hand, how it ended, the four seats."""

LARGEST: Final = 0.048
"""Of letters, as a share of the screen's height."""

Cells = tuple[str, ...]


def sheet_screen(words: Translations, shown: SheetView) -> ScreenBody:
    """Show one page."""
    head = words("riichi_sheet", page=shown.pages - shown.page, pages=shown.pages)
    lines = [TextLine(head, 0.06, drawing.TEXT)]
    if shown.elsewhere:
        lines.append(TextLine(words("riichi_sheet_elsewhere", count=shown.elsewhere), 0.04, drawing.QUIET))
    turn = [KeyButton("1", words("do_riichi_older"))] if shown.page + 1 < shown.pages else []
    turn += [KeyButton("2", words("do_riichi_newer"))] if shown.page else []
    keys = *turn, KeyButton("back", words("do_back"), "strong")
    return ScreenBody((*lines,), keys, paint=_paint(words, shown), seats=False)


def _paint(words: Translations, shown: SheetView) -> Paint:
    head = ("", "", *(words.seat(seat) for seat in SEATS))
    entries = [
        (
            words("riichi_hand", wind=words.seat(one.wind), number=one.dealer),
            how_it_ended(words, one.told),
            *(signed_points(one.deltas.get(seat, 0)) for seat in SEATS),
        )
        for one in shown.lines
    ]
    scores = ("", words("riichi_scores"), *(signed_points(shown.scores[seat]).lstrip("+") for seat in SEATS))
    return lambda surface, room, pen: _table(surface, room, pen, [head, *entries, scores])


def _table(surface: pygame.Surface, room: pygame.Rect, pen: TextPen, rows: Sequence[Cells]) -> None:
    """Write rows below each other; all letters of a column are equally large."""
    high = room.height // (LINES + 2)
    share = pen.fit([TextLine("0", LARGEST, drawing.TEXT)] * (LINES + 2), room.width, room.height)[0].share
    left = room.left
    for at, part in enumerate(COLUMNS):
        width = round(room.width * part)
        align: Align = "left" if at < 2 else "right"  # noqa: PLR2004 - words, then figures
        fitted = pen.share([row[at] for row in rows], share, width - 8)
        for number, row in enumerate(rows):
            x = left if align == "left" else left + width - 4
            colour = drawing.QUIET if number == 0 or (align == "left" and at == 0) else drawing.TEXT
            pen.write(surface, row[at], (x, room.top + number * high), fitted, colour, width - 8, align)
        left += width
    line = room.top + (len(rows) - 1) * high - 1
    pygame.draw.line(surface, drawing.EDGE, (room.left, line), (room.right, line))


def riichi_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """Whatever a riichi table shows now."""
    session = shown.session
    if session is None:
        return None
    if shown.state == "confirming":
        return ScreenBody(
            (*title_lines(words("riichi_seats"), words("riichi_seats_help")), *problem_lines(words, shown))
        )
    if session.sheet is not None:
        return sheet_screen(words, session.sheet)
    return riichi_prompt(words, shown, session) or _state(words, shown, session)


def _state(words: Translations, shown: ScreenView, session: SessionView) -> ScreenBody:
    if shown.state == "playing":
        return _session_playing(words, shown)
    if session.asking:
        lines = title_lines(words("riichi_tenpai"), words("riichi_tenpai_help"))
        buttons = button_row(words, ("enter", "do_riichi_settle"), ("g", "do_riichi_nagashi"), ("f", "do_riichi_fault"))
    elif shown.state == "accepting":
        lines = title_lines(words("accepting"), how_it_ended(words, session.told), words("riichi_accept_help"))
        buttons = button_row(words, ("r", "do_refuse"))
    elif shown.state == "recorded":
        lines = title_lines(words("recorded"), how_it_ended(words, session.told))
        keys = (
            ("enter", "do_riichi_next"),
            ("f", "do_riichi_fault"),
            ("u", "do_riichi_take_back"),
            ("q", "do_riichi_stop"),
            ("l", "do_riichi_sheet"),
        )
        buttons = button_row(words, *keys)
    else:
        lines = title_lines(words("finished"), words("riichi_finished_help"))
        buttons = button_row(words, ("l", "do_riichi_sheet"), ("u", "do_riichi_take_back"))
    return ScreenBody((*time_lines(words, shown), *lines, *problem_lines(words, shown)), buttons)


def _session_playing(words: Translations, shown: ScreenView) -> ScreenBody:
    """A hand, whether or not a claim window is open: the same for both."""
    if shown.ended:
        return ScreenBody((*time_lines(words, shown), *title_lines(words("playing"), words("ended"))))
    lines = title_lines(words("playing"), words("riichi_playing_help"))
    keys = ("d", "do_draw"), ("i", "do_riichi_lay"), ("b", "do_riichi_abort"), ("f", "do_riichi_fault")
    return ScreenBody((*time_lines(words, shown), *lines), button_row(words, *keys))


def title_lines(head: str, *help_: str) -> tuple[TextLine, ...]:
    """Return a head, and what to do."""
    return TextLine(head, 0.11, drawing.TEXT), *(TextLine(one, 0.055, drawing.QUIET) for one in help_ if one)


def button_row(words: Translations, *named: tuple[str, str]) -> tuple[KeyButton, ...]:
    """Return a row of buttons: the key of each, and the name of its label."""
    return tuple(KeyButton(key, words(label), "strong" if key == "enter" else "plain") for key, label in named)


def planned_riichi_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """Whatever is otherwise than at other tables."""
    alone = shown.alone
    if alone is None or shown.ruled:
        return None
    if shown.state == "confirming":
        lines = title_lines(words("confirming"), words("riichi_confirming_help"), _wall_sentence(words, alone))
        return ScreenBody((*lines, *problem_lines(words, shown)))
    if (question := riichi_prompt(words, shown, alone)) is not None:
        return question
    return (_planned_playing if shown.state == "playing" else _planned_ended)(words, shown, alone)


def _planned_playing(words: Translations, shown: ScreenView, alone: PlannedRiichiView) -> ScreenBody:
    """A hand, whether or not a claim window is open: the same for both."""
    if shown.ended:
        return ScreenBody((*time_lines(words, shown), *title_lines(words("playing"), words("ended"))))
    lines = title_lines(words("playing"), words("riichi_alone_help"), _wall_sentence(words, alone))
    return ScreenBody(
        (*time_lines(words, shown), *lines), button_row(words, ("d", "do_draw"), ("b", "do_riichi_abort"))
    )


def _wall_sentence(words: Translations, alone: PlannedRiichiView) -> str:
    first, *_, last = map(words.seat, alone.wall)
    return words("riichi_common_wall", first=first, last=last)


def _planned_ended(words: Translations, shown: ScreenView, alone: PlannedRiichiView) -> ScreenBody | None:
    if alone.asking:
        lines = title_lines(words("riichi_tenpai"), words("riichi_tenpai_help"))
        buttons = button_row(words, ("enter", "do_enter"), ("g", "do_riichi_nagashi"))
    elif shown.result is None:
        return None
    elif shown.state == "accepting":
        lines = title_lines(words("accepting"), how_it_ended(words, alone.told), words("accepting_help"))
        buttons = button_row(words, ("r", "do_refuse"))
    else:
        lines = (
            *title_lines(words("recorded"), how_it_ended(words, alone.told), words("recorded_help")),
            *receipt_lines(words, shown),
        )
        buttons = button_row(words, ("enter", "do_next"))
    return ScreenBody(
        (*time_lines(words, shown), *lines, *problem_lines(words, shown)), buttons, square=shown.receipt_link
    )
