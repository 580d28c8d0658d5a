"""Screens of a riichi table: a session and its sheet, planned deals scored alone, and questions about a hand."""

from collections.abc import Iterator, Sequence
from typing import Final

import pygame

from broker.i18n import N_, NP_, Translator
from broker.protocol import SEATS, RiichiEvent, RiichiValue, RiichiWin, Seat
from broker.rules.points import HUNDRED
from kiosk.input import RiichiQuestion, WinForm, goes_back
from kiosk.screens import play, texts
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    EDGE,
    GOOD,
    HEADLINE,
    LARGE,
    QUIET,
    SMALL,
    TEXT,
    TITLE,
    Align,
    ButtonRows,
    KeyButton,
    Paint,
    ScreenBody,
    TextLine,
    TextPen,
    keypad,
    player_line,
    seat_button,
    seat_name,
)
from kiosk.screens.views import (
    DeclaredView,
    PlannedRiichiView,
    PlayingView,
    RiichiPrompt,
    ScreenView,
    SessionView,
    SheetView,
)
from kiosk.table import LINES_PER_PAGE

MINUS = "\N{MINUS SIGN}"


def how_it_ended(_: Translator, ending: RiichiEvent | None) -> str:
    """Return how a hand ended."""
    if ending is None:
        return ""
    if ending.kind == "ron" and ending.loser:
        loser = seat_name(_, ending.loser)
        return _.pgettext("riichi", "On {seat}’s discard", seat=loser)
    if ending.kind == "abort" and ending.reason:
        return _(texts.RIICHI[ending.reason])
    names = ", ".join(seat_name(_, seat) for seat in (*ending.wins, *ending.offenders))
    return _(texts.RIICHI[ending.kind], seats=names)


def signed_points(points: int) -> str:
    """Return points with their sign."""
    return f"+{points}" if points > 0 else str(points).replace("-", MINUS)


def riichi_prompt(_: Translator, view: ScreenView, prompt: RiichiPrompt) -> ScreenBody | None:
    """Return the screen of an open question at a riichi table, or None."""
    actions: tuple[KeyButton, ...] = ()
    if isinstance(prompt.form, RiichiQuestion):
        lines, panel = _question(_, view, prompt, prompt.form)
    elif isinstance(prompt.form, WinForm):
        fault = N_("False hu")
        if isinstance(view.riichi, SessionView):
            fault, actions = N_("Chombo"), button_row(_, ("i", N_("Riichi")))
        counted = view.phase.discarder_key if isinstance(view.phase, DeclaredView) else None
        lines, panel = _win(_, view, prompt.form, fault, counted)
    else:
        return None
    return ScreenBody(lines, actions, panel)


def _win(_: Translator, view: ScreenView, form: WinForm, fault: str, counted: str | None) -> play.Question:
    """Return the current question about a win."""
    back = (KeyButton("back", _("Back")),)
    if form.whose_tile is not None:
        return play.tile_question(_, view, form, form.whose_tile, fault)
    if form.seat is not None and form.asked != "responsible":
        return _value(_, view, form, fault)
    if form.asked == "responsible":
        others = (*_seats(_, view, (form.seat,)), (KeyButton("enter", _("Nobody"), "strong"),), back)
        return (TextLine(_("Was anyone responsible? (pao)"), LARGE),), others
    if form.asked == "riichi_tile":
        yes, no = (KeyButton("y", _("Yes")),), (KeyButton("n", _("No")),)
        return (TextLine(_("Was it the riichi declaration tile?"), LARGE),), (yes, no, back)
    if form.asked == "live_kan":
        others = (*_seats(_, view, form.declared), back)
        return (TextLine(_("Whose discard was called for the kan?"), LARGE),), others
    others = (*_seats(_, view, form.declared), _tsumo_buttons(_, form, counted), back)
    return (TextLine(_.pgettext("riichi", "Who discarded?"), TITLE),), others


def _tsumo_buttons(_: Translator, form: WinForm, counted: str | None) -> tuple[KeyButton, ...]:
    """Return the buttons for a tsumo; one after a live kan has its own if it is paid differently."""
    drawn = KeyButton("d", _("Self-drawn"), "strong" if counted == "d" else "plain")
    return (drawn, KeyButton("k", _("After a live kan"))) if form.live_kan else (drawn,)


def _value(_: Translator, view: ScreenView, form: WinForm, fault: str) -> play.Question:
    seat = seat_name(_, form.seat) if form.seat else ""
    lines = (
        TextLine(_(texts.RIICHI_OF[form.asked], seat=seat, han=form.han), LARGE),
        *((player_line(_, view, form.seat),) if form.seat else ()),
        TextLine(form.digits or "–", HEADLINE),
    )
    last = KeyButton("x", _(fault)), KeyButton("enter", _("Enter"), "strong")
    pad = keypad(_, form.digits, *last, back=N_("Back") if goes_back(form) else "")
    if form.asked != "han":
        return lines, pad
    first = KeyButton("b", _("From the backs")), KeyButton("y", _("Yakuman"))
    return lines, (first, *pad)


def _seats(_: Translator, view: ScreenView, without: tuple[object, ...]) -> ButtonRows:
    return tuple((seat_button(_, view, seat),) for seat in SEATS if seat not in without)


def _question(_: Translator, view: ScreenView, prompt: RiichiPrompt, question: RiichiQuestion) -> play.Question:
    lines = [TextLine(_(texts.RIICHI_ASK[question.about]), LARGE)]
    if question.about == "riichi" and isinstance(view.riichi, SessionView):
        lines.append(TextLine(_("A stick is {points} points", points=view.riichi.deposit), BODY, QUIET))
    return (*lines,), (*_answers(_, view, prompt, question), (KeyButton("back", _("Back")),))


def _answers(
    _: Translator, view: ScreenView, prompt: RiichiPrompt, question: RiichiQuestion
) -> Iterator[tuple[KeyButton, ...]]:
    match question.about:
        case "riichi" if isinstance(view.riichi, SessionView):
            yield from ((_deposit_button(_, view, view.riichi, seat),) for seat in SEATS)
        case "fault":
            yield from (_chosen(_, pair, question.seats) for pair in (SEATS[:2], SEATS[2:]))
            if question.seats:
                ends = view.state != "recorded"
                yield *((KeyButton("1", _("Chombo")),) * ends), KeyButton("2", _("Minor fault"))
                yield from ((KeyButton("3", _("Chombo that spoilt a yakuman")),),) * (ends and prompt.spoils)
        case "spoilt" | "dependent" | "nagashi":
            seats, chosen = _seat_choices(question)
            yield from (_chosen(_, row, chosen) for row in (seats[:-2], seats[-2:]) if row)
            yield (KeyButton("enter", _("Enter"), "strong"),)
        case "abort":
            yield from ((KeyButton(str(at), _(texts.RIICHI[one])),) for at, one in enumerate(prompt.aborts, 1))
        case _:
            yield (KeyButton("enter", _("Yes"), "strong"),)


def _deposit_button(_: Translator, view: ScreenView, session: SessionView, seat: Seat) -> KeyButton:
    """Return the button of a seat's deposit, which pays it or takes it back."""
    if seat in session.riichi:
        return seat_button(_, view, seat, "strong", _("take {points} back", points=session.deposit))
    return seat_button(_, view, seat, "plain", _("pay {points}", points=session.deposit))


def _seat_choices(question: RiichiQuestion) -> tuple[tuple[Seat, ...], tuple[Seat, ...]]:
    """Return the seats to choose from, and those chosen."""
    if question.about == "nagashi":
        return SEATS, question.seats
    return (question.spoilable, question.spoilt) if question.about == "spoilt" else (question.seats, question.chosen)


def _chosen(_: Translator, seats: tuple[Seat, ...], chosen: tuple[Seat, ...]) -> tuple[KeyButton, ...]:
    """Return a row of seats, any number of which can be chosen."""
    return tuple(
        KeyButton(seat[0], seat_name(_, seat), "strong" if seat in chosen else "plain", seat) for seat in seats
    )


def riichi_head(_: Translator, view: ScreenView) -> list[str]:
    """Return the hand, and the counters and deposits on the table; nothing at other tables."""
    session = view.riichi
    if not isinstance(session, SessionView) or view.play is None:
        return []
    hand = _("{wind} {number}", wind=seat_name(_, view.play.prevalent_wind), number=session.dealer)
    return [hand, _("Counters {counters} · deposits {deposits}", counters=session.counters, deposits=session.deposits)]


def session_seat_lines(_: Translator, view: ScreenView, session: SessionView, seat: Seat) -> Iterator[TextLine]:
    """Yield the lines of one seat."""
    yield from _player_lines(_, view, session, seat)
    if seat in session.places:
        yield TextLine(_("place {place}", place=session.places[seat]), BODY, GOOD)
    if paid := session.paid.get(seat):
        yield TextLine(signed_points(paid), LARGE)
    if seat in session.scores:
        score = str(session.scores[seat]).replace("-", MINUS)
        yield TextLine(score, SMALL if session.paid else LARGE, QUIET if session.paid else TEXT)


def planned_seat_lines(_: Translator, view: ScreenView, planned: PlannedRiichiView, seat: Seat) -> Iterator[TextLine]:
    """Yield the lines of one seat where hands are scored alone: what was said, or the points of the result."""
    yield from _declared(_, view, seat, planned.ending)
    if seat in planned.marked:
        yield TextLine(_("tenpai"), SMALL, GOOD)
    if view.result is not None:
        yield TextLine(signed_points(view.result.points[seat] * HUNDRED), LARGE)
    elif seat in view.marked:
        yield TextLine(_(texts.STATE_MARKED[view.state]), SMALL, GOOD)


def _declared(_: Translator, view: ScreenView, seat: Seat, ending: RiichiEvent | None = None) -> Iterator[TextLine]:
    """Yield what a declared hand is worth, as far as known."""
    form = view.form
    wins = ending.wins if ending else form.entered if isinstance(form, WinForm) else {}
    if seat in wins:
        yield hand_worth(_, wins[seat])
    elif form is not None and seat in form.overtaken:
        yield TextLine(_("later tile"), BODY, QUIET)
    elif seat in view.declared:
        yield TextLine(_("hu"), BODY, ATTENTION)


def hand_worth(_: Translator, win: RiichiWin | RiichiValue) -> TextLine:
    """Return the value of a hand."""
    text = _("{han} han {fu} fu", han=win.han, fu=win.fu) if win.fu else _("{han} han", han=win.han)
    return TextLine(_("yakuman × {count}", count=win.yakuman) if win.yakuman else text, SMALL)


def _player_lines(_: Translator, view: ScreenView, session: SessionView, seat: Seat) -> Iterator[TextLine]:
    """Yield what a player has declared: riichi, a win and its value, tenpai, or being ready."""
    if seat in session.riichi:
        yield TextLine(_("riichi −{points}", points=session.deposit), SMALL, ATTENTION)
    yield from _declared(_, view, seat)
    if view.state == "confirming" and seat in view.marked:
        yield TextLine(_("ready"), SMALL, GOOD)
    if seat in session.marked:
        yield TextLine(_("tenpai"), SMALL, GOOD)


COLUMNS: Final = (0.12, 0.36, 0.13, 0.13, 0.13, 0.13)
"""Widths of a row's columns, as shares: the hand, how it ended, the four seats."""

LARGEST: Final = 0.048
"""Size of letters, as a share of the screen's height."""


def sheet_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return a page of the session's sheet, or None."""
    sheet = view.riichi.sheet if isinstance(view.riichi, SessionView) else None
    if sheet is None:
        return None
    head = _("Sheet of the session, page {page} of {pages}", page=sheet.pages - sheet.page, pages=sheet.pages)
    lines = [TextLine(head, BODY)]
    if sheet.unknown:
        lines.append(TextLine(_("Older entries, at the desk: {count}", count=sheet.unknown), SMALL, QUIET))
    turn = [KeyButton("1", _.pgettext("hands of a session", "Before"))] if sheet.page + 1 < sheet.pages else []
    turn += [KeyButton("2", _.pgettext("hands of a session", "After"))] if sheet.page else []
    keys = *turn, KeyButton("back", _("Back"), "strong")
    return ScreenBody((*lines,), keys, paint=_paint(_, sheet), seats=False)


def _paint(_: Translator, view: SheetView) -> Paint:
    head = ("", "", *(seat_name(_, seat) for seat in SEATS))
    entries = [
        (
            _("{wind} {number}", wind=seat_name(_, one.wind), number=one.dealer),
            how_it_ended(_, one.ending),
            *(signed_points(one.deltas.get(seat, 0)) for seat in SEATS),
        )
        for one in view.lines
    ]
    scores = ("", _("Scores"), *(signed_points(view.scores[seat]).lstrip("+") for seat in SEATS))
    return lambda surface, room, pen: _table(surface, room, pen, [head, *entries, scores])


def _table(surface: pygame.Surface, room: pygame.Rect, pen: TextPen, rows: Sequence[tuple[str, ...]]) -> None:
    """Draw rows one below the other, with one letter size for each column."""
    high = room.height // (LINES_PER_PAGE + 2)
    share = pen.fit([TextLine("0", LARGEST)] * (LINES_PER_PAGE + 2), room.width, room.height)[0].share
    left = room.left
    for at, part in enumerate(COLUMNS):
        width = round(room.width * part)
        align: Align = "left" if at < 2 else "right"  # noqa: PLR2004 - words, then figures
        fitted = pen.share([row[at] for row in rows], share, width - 8)
        for number, row in enumerate(rows):
            x = left if align == "left" else left + width - 4
            colour = QUIET if number == 0 or (align == "left" and at == 0) else TEXT
            pen.write(surface, row[at], (x, room.top + number * high), fitted, colour, width - 8, align)
        left += width
    line = room.top + (len(rows) - 1) * high - 1
    pygame.draw.line(surface, EDGE, (room.left, line), (room.right, line))


def riichi_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return a screen that only a riichi table has, or None."""
    match view.riichi:
        case SessionView() as session:
            return riichi_prompt(_, view, session.prompt) or _state(_, view, session)
        case PlannedRiichiView() as planned if not play.is_ruled(view):
            return riichi_prompt(_, view, planned.prompt) or _planned_state(_, view, planned)
    return None


def _state(_: Translator, view: ScreenView, session: SessionView) -> ScreenBody:
    if view.state == "confirming":
        return ScreenBody((*title_lines(_("Take your seats"), _("East deals first. Ready? Press your button.")),))
    if view.state == "playing":
        return _session_playing(_, view, session)
    if session.asks_tenpai:
        lines = title_lines(_("Drawn hand: who is tenpai?"), _("Tenpai: press your button. Again: not tenpai."))
        buttons = button_row(_, ("enter", N_("Pay")), ("i", N_("Riichi")), ("g", N_("Nagashi")), ("f", N_("Fault")))
    elif view.state == "accepting":
        ended = how_it_ended(_, session.ending)
        lines = play.act_lines(" · ".join((_("Result"), ended)), _("Pay, then press your button if it is right."))
        lines += play.overtaken_lines(_, session.overtaken)
        buttons = button_row(_, ("r", N_("Wrong: correct it")))
    elif view.state == "recorded":
        lines = title_lines(_("Recorded"), how_it_ended(_, session.ending))
        keys = ("enter", N_("Next hand")), ("f", N_("Fault")), ("u", NP_("hand of riichi", "Take back"))
        buttons = button_row(_, *keys, ("q", NP_("button", "End")), ("l", N_("Sheet")))
    else:
        lines = title_lines(_("Session over"), _("The session is over. Thank you."))
        buttons = button_row(_, ("l", N_("Sheet")), ("u", NP_("hand of riichi", "Take back")))
    return ScreenBody((*lines,), buttons)


def _session_playing(_: Translator, view: ScreenView, session: SessionView) -> ScreenBody:
    help_ = _("Won? Press your button. Riichi: say it, and hold your button for two seconds.")
    if session.riichi:  # public as soon as it is on the table
        help_ = _("Won? Press your button. A riichi that was not meant: touch “Riichi” to take it back.")
    keys = ("i", N_("Riichi")), ("b", N_("Aborted")), ("f", N_("Fault")), ("u", NP_("hand of riichi", "Take back"))
    return _playing(_, view, button_row(_, *keys), help_)


def _playing(_: Translator, view: ScreenView, buttons: tuple[KeyButton, ...], *help_: str) -> ScreenBody:
    """Return the screen of a hand, the same whether or not a claim window is open."""
    if isinstance(view.phase, PlayingView) and view.phase.ended:
        return ScreenBody(play.nobody_won_lines(_), buttons)
    four = view.phase.doubt == "denied" if isinstance(view.phase, PlayingView) else False
    lines = title_lines(_.pgettext("state of a table", "Play"), *((_(play.FOUR_PRESSED),) if four else help_))
    return ScreenBody((*lines,), (*button_row(_, ("d", N_("Wall empty, no hu"))), *buttons))


def title_lines(head: str, *help_: str) -> list[TextLine]:
    """Return a heading, and what to do."""
    return [TextLine(head, TITLE), *(TextLine(one, BODY, QUIET, play.HELP_WRAP_BELOW) for one in help_ if one)]


def button_row(_: Translator, *named: tuple[str, str]) -> tuple[KeyButton, ...]:
    """Return a row of buttons from keys and labels."""
    return tuple(KeyButton(key, _(label), "strong" if key == "enter" else "plain") for key, label in named)


def _planned_state(_: Translator, view: ScreenView, planned: PlannedRiichiView) -> ScreenBody | None:
    if view.state == "confirming":
        help_ = _("13 tiles for your hand, 21 of the wall, in order? Press your button. If not, call the arbiter.")
        return ScreenBody((*title_lines(_("Check your tiles"), help_, _wall_sentence(_, planned)),))
    if view.state == "playing":
        help_ = _("Won? Press your button. Riichi: say it; no deposit is laid.")
        return _playing(_, view, button_row(_, ("b", N_("Aborted"))), help_, _wall_sentence(_, planned))
    return _planned_ended(_, view, planned)


def _wall_sentence(_: Translator, planned: PlannedRiichiView) -> str:
    first, last = seat_name(_, planned.wall[0]), seat_name(_, planned.wall[-1])
    return _("One wall: from {first} on. Dead wall: the last 14 of {last}.", first=first, last=last)


def _planned_ended(_: Translator, view: ScreenView, planned: PlannedRiichiView) -> ScreenBody | None:
    ended = how_it_ended(_, planned.ending)
    if planned.asks_tenpai:
        lines = title_lines(_("Drawn hand: who is tenpai?"), _("Tenpai: press your button. Again: not tenpai."))
        buttons = button_row(_, ("enter", N_("Enter")), ("g", N_("Nagashi")))
    elif view.result is None:
        return None
    elif view.state == "accepting":
        lines = play.act_lines(" · ".join((_("Result"), ended)), _("Do you accept this result? Press your button."))
        lines += play.overtaken_lines(_, view.result.overtaken)
        buttons = button_row(_, ("r", N_("Wrong: correct it")))
    else:
        lines = play.act_lines(" · ".join((_("Recorded"), ended)), _("Mix the tiles face down."), GOOD)
        lines += play.receipt_lines(_, view)
        buttons = button_row(_, ("enter", N_("Next deal")))
    return ScreenBody((*lines,), buttons, qr_code=play.receipt_link(view))
