"""The screens of a table that plays riichi."""

from collections.abc import Iterator

from broker.contract.words import SEATS
from kiosk.riichi_entry import WinForm
from kiosk.riichi_keys import Question
from kiosk.screens import style
from kiosk.screens.form import keypad
from kiosk.screens.middle import Action, Middle, Rows
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.riichi_shown import SessionShown
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words


def riichi(words: Words, shown: Shown) -> Middle | None:
    """Whatever a riichi table shows now."""
    session = shown.session
    if session is None:
        return None
    if shown.state == "confirming":
        return Middle((*_title(words("riichi_seats"), words("riichi_seats_help")), *problem(words, shown)))
    if isinstance(session.form, Question):
        return _with(words, shown, *_question(words, session, session.form))
    if isinstance(session.form, WinForm):
        return _with(words, shown, *_win(words, session.form))
    return _state(words, shown, session)


def _with(words: Words, shown: Shown, lines: tuple[Said, ...], panel: Rows) -> Middle:
    return Middle((*extra(words, shown), *lines, *problem(words, shown)), panel=panel)


def _state(words: Words, shown: Shown, session: SessionShown) -> Middle:
    if shown.state == "playing":
        return _playing(words, shown)
    if session.asking:
        lines = _title(words("riichi_tenpai"), words("riichi_tenpai_help"))
        actions = _actions(words, ("enter", "do_riichi_settle"), ("g", "do_riichi_nagashi"), ("f", "do_riichi_fault"))
    elif shown.state == "accepting":
        lines = _title(words("accepting"), _how(words, session), words("riichi_accept_help"))
        actions = _actions(words, ("r", "do_refuse"))
    elif shown.state == "recorded":
        lines = _title(words("recorded"), _how(words, session))
        keys = (
            ("enter", "do_riichi_next"),
            ("f", "do_riichi_fault"),
            ("u", "do_riichi_take_back"),
            ("q", "do_riichi_stop"),
        )
        actions = _actions(words, *keys)
    else:
        lines = _title(words("finished"), words("riichi_finished_help"))
        actions = _actions(words, ("u", "do_riichi_take_back"))
    return Middle((*extra(words, shown), *lines, *problem(words, shown)), actions)


def _playing(words: Words, shown: Shown) -> Middle:
    """A hand, whether or not a claim window is open: the same for both."""
    if shown.ended:
        return Middle((*extra(words, shown), *_title(words("playing"), words("ended"))))
    lines = _title(words("playing"), words("riichi_playing_help"))
    keys = ("d", "do_draw"), ("i", "do_riichi_lay"), ("b", "do_riichi_abort"), ("f", "do_riichi_fault")
    return Middle((*extra(words, shown), *lines), _actions(words, *keys))


def _title(title: str, *help_: str) -> tuple[Said, ...]:
    return Said(title, 0.11, style.TEXT), *(Said(one, 0.055, style.QUIET) for one in help_ if one)


def _actions(words: Words, *named: tuple[str, str]) -> tuple[Action, ...]:
    return tuple(Action(key, words(label), "strong" if key == "enter" else "plain") for key, label in named)


def _how(words: Words, session: SessionShown) -> str:
    told = session.told
    if told is None:
        return ""
    if told.kind == "ron" and told.loser:
        return words("on_discard", seat=words.seat(told.loser))
    if told.kind == "abort" and told.reason:
        return words(f"riichi_{told.reason}")
    names = ", ".join(words.seat(seat) for seat in (*told.wins, *told.offenders))
    return words(f"riichi_{told.kind}", seats=names)


def _win(words: Words, form: WinForm) -> tuple[tuple[Said, ...], Rows]:
    """Whatever is asked of a win."""
    back = (Action("back", words("do_back")),)
    if form.seat is not None and form.asked != "responsible":
        return _value(words, form)
    if form.asked == "responsible":
        others = (*_seats(words, (form.seat,)), (Action("enter", words("do_riichi_nobody"), "strong"),), back)
        return (Said(words("riichi_responsible"), 0.08, style.TEXT),), others
    if form.asked == "riichi_tile":
        yes, no = (Action("y", words("do_riichi_yes")),), (Action("n", words("do_riichi_no")),)
        return (Said(words("riichi_on_riichi_tile"), 0.08, style.TEXT),), (yes, no, back)
    drawn = ((Action("d", words("do_self_drawn")),),) if len(form.declared) == 1 else ()
    return (Said(words("discarder"), 0.1, style.TEXT),), (*_seats(words, form.declared), *drawn, back)


def _value(words: Words, form: WinForm) -> tuple[tuple[Said, ...], Rows]:
    seat = words.seat(form.seat or "")
    lines = (
        Said(words(f"riichi_{form.asked}_of", seat=seat, han=form.han), 0.085, style.TEXT),
        Said(form.digits or "–", 0.14, style.TEXT),
    )
    yakuman = (Action("y", words("do_riichi_yakuman")),) if form.asked == "han" else ()
    last = Action("x", words("do_riichi_chombo")), *yakuman, Action("enter", words("do_enter"), "strong")
    return lines, keypad(words, *last)


def _seats(words: Words, without: tuple[object, ...] = ()) -> Rows:
    return tuple((Action(seat[0], words.seat(seat)),) for seat in SEATS if seat not in without)


def _question(words: Words, session: SessionShown, question: Question) -> tuple[tuple[Said, ...], Rows]:
    seat = words.seat(question.seat) if question.seat else ""
    lines = (Said(words(f"riichi_ask_{question.about}", seat=seat), 0.08, style.TEXT),)
    answers = tuple((one,) for one in _answers(words, session, question))
    return lines, (*answers, (Action("back", words("do_back")),))


def _answers(words: Words, session: SessionShown, question: Question) -> Iterator[Action]:
    match question.about:
        case "riichi" | "fault" | "nagashi":
            yield from (Action(seat[0], words.seat(seat)) for seat in SEATS)
        case "kind":
            yield Action("1", words("do_riichi_chombo"))
            yield Action("2", words("do_riichi_minor"))
        case "abort":
            yield from (Action(str(at), words(f"riichi_{one}")) for at, one in enumerate(session.aborts, 1))
        case _:
            yield Action("enter", words("do_riichi_yes"), "strong")
