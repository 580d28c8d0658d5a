"""Screens of a play: its state, entering a win, the result, what stops it, a carrier's deal, the arbiter's panel."""

from typing import Final

from broker.protocol import SEATS, Seat
from kiosk.errors import JournalFull
from kiosk.input import REASONS, ArbiterPanel, Form
from kiosk.screens import drawing
from kiosk.screens.drawing import (
    ButtonRows,
    KeyButton,
    ScreenBody,
    TextLine,
    Tone,
    Translations,
    keypad,
    problem_lines,
    time_lines,
)
from kiosk.screens.views import ResultView, ScreenView
from kiosk.table import TrayProblem


def paused_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """The arbiter's pause, in whatever state."""
    if not shown.paused:
        return None
    lines = TextLine(words("paused"), 0.15, drawing.ATTENTION), TextLine(words("paused_help"), 0.06, drawing.TEXT)
    return ScreenBody((*time_lines(words, shown), *lines))


def playing_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """A play, whether or not a claim window is open: the same for both."""
    if shown.state != "playing":
        return None
    lines = [*time_lines(words, shown), *state_lines(words, shown)]
    if shown.ended:
        return ScreenBody((*lines, TextLine(words("ended"), 0.055, drawing.TEXT)))
    return ScreenBody((*lines,), (KeyButton("d", words("do_draw")),))


def state_screen(words: Translations, shown: ScreenView) -> ScreenBody:
    """Any state that has no screen of its own."""
    go_on: tuple[KeyButton, ...] = (KeyButton("enter", words("do_next"), "strong"),) if shown.ruled else ()
    if shown.state in ("waiting", "finished"):
        go_on = (KeyButton("t", words("do_self_test")), *pairing_button(words, shown))
    return ScreenBody((*time_lines(words, shown), *state_lines(words, shown), *problem_lines(words, shown)), go_on)


def pairing_button(words: Translations, shown: ScreenView) -> tuple[KeyButton, ...]:
    """Return the button that asks for another pairing, where the device may be given one."""
    return (KeyButton("p", words("do_pair")),) if shown.may_pair else ()


def state_lines(words: Translations, shown: ScreenView) -> tuple[TextLine, ...]:
    """Return the state in a word, and what to do."""
    if shown.ruled:
        ruled = TextLine(words(f"ruled_{shown.ruled}"), 0.12, drawing.ATTENTION)
        return ruled, TextLine(words("recorded_help"), 0.055, drawing.QUIET)
    return TextLine(words(shown.state), 0.15, drawing.TEXT), TextLine(words(f"{shown.state}_help"), 0.06, drawing.QUIET)


def win_form_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """Whatever the form asks for."""
    form = shown.form
    if form is None:
        return None
    if form.seat is None:
        asked, panel = _discarder(words, form, shown.told)
    else:
        asked, panel = _value(words, form, form.seat)
    return ScreenBody((*time_lines(words, shown), *asked, *problem_lines(words, shown)), panel=panel)


def _value(words: Translations, form: Form, seat: str) -> tuple[tuple[TextLine, ...], ButtonRows]:
    asked = (
        TextLine(words("value_of", seat=words.seat(seat)), 0.09, drawing.TEXT),
        TextLine(form.digits or "–", 0.14, drawing.TEXT),
    )
    last = KeyButton("x", words("do_false_hu")), KeyButton("enter", words("do_enter"), "strong")
    return asked, ((KeyButton("b", words("do_count")),), *keypad(words, *last))


def _discarder(words: Translations, form: Form, told: str | None) -> tuple[tuple[TextLine, ...], ButtonRows]:
    """Ask whose tile it was; what the tiles of a counted hand have told stands out."""

    def answer(key: str, label: str) -> KeyButton:
        return KeyButton(key, label, "strong" if key == told else "plain")

    seats = tuple((answer(seat[0], words.seat(seat)),) for seat in SEATS if seat not in form.declared)
    self_drawn = ((answer("d", words("do_self_drawn")),),) if len(form.declared) == 1 else ()
    return (TextLine(words("discarder"), 0.1, drawing.TEXT),), (
        *seats,
        *self_drawn,
        (KeyButton("back", words("do_back")),),
    )


def result_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """The result of a play that has one."""
    if shown.result is None:
        return None
    recorded = shown.state == "recorded"
    lines = [
        TextLine(words(shown.state), 0.1 if recorded else 0.07, drawing.GOOD if recorded else drawing.QUIET),
        TextLine(_how_won(words, shown.result), 0.07 if recorded else 0.11, drawing.TEXT),
        TextLine(words(f"{shown.state}_help"), 0.055, drawing.QUIET),
    ]
    lines += receipt_lines(words, shown)
    action = KeyButton("enter", words("do_next"), "strong") if recorded else KeyButton("r", words("do_refuse"))
    return ScreenBody(
        (*time_lines(words, shown), *lines, *problem_lines(words, shown)), (action,), square=shown.receipt_link
    )


def receipt_lines(words: Translations, shown: ScreenView) -> list[TextLine]:
    """Return the code to be noted down; and what the QR code beside it is for, where there is one."""
    if not shown.receipt:
        return []
    code = TextLine(words("receipt", code=shown.receipt), 0.085, drawing.TEXT)
    return [code, TextLine(words("receipt_help"), 0.055, drawing.QUIET)] if shown.receipt_link else [code]


def _how_won(words: Translations, winning: ResultView) -> str:
    if winning.win == "draw":
        return words("draw")
    if winning.discarder is None:
        return words("self_drawn")
    return words("on_discard", seat=words.seat(winning.discarder))


def stopped_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """A play that must not go on without the arbiter."""
    if shown.stopped is None:
        return None
    what = TextLine(words(f"stopped_{shown.stopped}", deal=shown.deal), 0.1, drawing.ATTENTION)
    names = (TextLine(name, 0.065, drawing.TEXT) for name in shown.repeating)
    return ScreenBody(
        (
            *time_lines(words, shown),
            what,
            *names,
            TextLine(words("stopped_help"), 0.065, drawing.TEXT),
            *problem_lines(words, shown),
        )
    )


def other_device_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """Another device serves this table: nothing is done here until somebody asks and is let in."""
    if not shown.elsewhere:
        return None
    lines = (
        TextLine(words("elsewhere"), 0.1, drawing.ATTENTION),
        TextLine(words("elsewhere_help"), 0.06, drawing.TEXT),
        TextLine(words("elsewhere_kept"), 0.055, drawing.QUIET),
    )
    return ScreenBody(lines, (KeyButton("enter", words("do_serve"), "strong"), *pairing_button(words, shown)))


FULL: Final = f"disk: {JournalFull.code}"


def disk_full_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """Whatever the table was doing."""
    if FULL not in shown.line.health:
        return None
    return ScreenBody(
        (TextLine(words("stalled"), 0.11, drawing.ATTENTION), TextLine(words("stalled_help"), 0.06, drawing.TEXT))
    )


SEEN: Final = "•"
"""In the place of a digit of the PIN."""


def arbiter_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """Whatever the panel asks."""
    asked = shown.panel
    if asked is None:
        return None
    title = _title(words, asked)
    question = words("arbiter_minutes", minutes=asked.digits or "–") if asked.ask == "minutes" else ""
    lines = [
        TextLine(title, 0.09, drawing.TEXT),
        TextLine(question or words(f"arbiter_{asked.ask}"), 0.06, drawing.QUIET),
    ]
    if asked.ask == "pin":
        lines.append(TextLine(SEEN * len(asked.digits) or "–", 0.12, drawing.TEXT))
    return ScreenBody((*lines, *problem_lines(words, shown)), panel=_rows(words, asked))


def _title(words: Translations, asked: ArbiterPanel) -> str:
    """Return what is ruled; of a false hu also whose, which the form of results may have chosen before the PIN."""
    if asked.act == "false_hu" and asked.seats and asked.ask != "seats":
        return words("false_hu_of", seat=words.seat(asked.seats[0]))
    return words(f"rule_{asked.act}") if asked.act else words("arbiter")


def _rows(words: Translations, asked: ArbiterPanel) -> ButtonRows:
    back = (KeyButton("back", words("do_back")),)
    match asked.ask:
        case "pin" | "minutes":
            leave = KeyButton("back", words("do_leave")) if asked.ask == "pin" else KeyButton("back", words("do_back"))
            return (*keypad(words)[:-1], (leave, KeyButton("enter", words("do_enter"), "strong")))
        case "act":
            named = [KeyButton(str((at + 1) % 10), words(f"rule_{act}")) for at, act in enumerate(asked.acts)]
            return (*_in_twos(named), (KeyButton("back", words("do_leave")),))
        case "seats":
            chosen: dict[Seat, Tone] = dict.fromkeys(asked.seats, "strong")
            seats = tuple((KeyButton(seat[0], words.seat(seat), chosen.get(seat, "plain")),) for seat in SEATS)
            return (*seats, (*back, KeyButton("enter", words("do_enter"))))
        case "fine":
            return (*((KeyButton(str(imp), words("do_fine", imp=imp)),) for imp in asked.fines), back)
        case "reason":
            named = [KeyButton(str(at), words(f"reason_{at}")) for at in range(1, len(REASONS) + 1)]
            return (*_in_twos(named), back)


def _in_twos(named: list[KeyButton]) -> ButtonRows:
    return tuple(tuple(named[at : at + 2]) for at in range(0, len(named), 2))


def carrier_sheet_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """A carrier's sheet was scanned, or lies under the camera."""
    sheet = shown.bench.sheet if shown.bench else None
    if sheet is None:
        return None
    name = words("carrier_elsewhere") if sheet.deal is None else words("carrier_of", deal=sheet.deal)
    right = sheet.deal == shown.deal
    lines = (
        TextLine(name, 0.1, drawing.GOOD if right else drawing.ATTENTION),
        *(_goes_on(words) if right else _fetch(words, shown)),
    )
    return ScreenBody(
        (*time_lines(words, shown), *lines, *problem_lines(words, shown)), (KeyButton("back", words("do_back")),)
    )


def another_carrier_screen(words: Translations, shown: ScreenView) -> ScreenBody | None:
    """A tray of another deal lies under the camera."""
    check, by_hand = shown.check, shown.bench is not None and shown.bench.showing == "hand"
    if check is None or (check.deal is None and (check.aside is None or by_hand)):
        return None
    lines = (_whose(words, shown, check), *_fetch(words, shown), *_or_these(words, check))
    return ScreenBody((*time_lines(words, shown), *lines, *problem_lines(words, shown)), _go_on(words, check))


def _whose(words: Translations, shown: ScreenView, check: TrayProblem) -> TextLine:
    if check.deal is not None:
        return TextLine(words("carrier_of", deal=check.deal), 0.1, drawing.ATTENTION)
    name = "carrier_of_another_set" if check.of_another_set else "carrier_not_of"
    return TextLine(words(name, deal=shown.deal), 0.1, drawing.ATTENTION)


def _fetch(words: Translations, shown: ScreenView) -> tuple[TextLine, ...]:
    return (
        TextLine(words("carrier_wanted", deal=shown.deal), 0.075, drawing.TEXT),
        TextLine(words("carrier_help"), 0.055, drawing.TEXT),
    )


def _goes_on(words: Translations) -> tuple[TextLine, ...]:
    return TextLine(words("carrier_right"), 0.075, drawing.TEXT), TextLine(
        words("carrier_right_help"), 0.055, drawing.TEXT
    )


def _or_these(words: Translations, check: TrayProblem) -> tuple[TextLine, ...]:
    return (TextLine(words("carrier_or_these"), 0.05, drawing.QUIET),) if _may_be_laid(check) else ()


def _may_be_laid(check: TrayProblem) -> bool:
    """A carrier of unknown tiles may hold no deal at all: tiles of this set that somebody has put into trays."""
    return check.aside is not None and not check.of_another_set


def _go_on(words: Translations, check: TrayProblem) -> tuple[KeyButton, ...]:
    lay = (KeyButton("enter", words("do_take_apart")),) if _may_be_laid(check) else ()
    by_hand = (KeyButton("h", words("do_by_hand")),) if check.aside is not None and check.unread else ()
    return (*lay, *by_hand)
