"""Screens of a play: its state, the entry of a win, the result, and what stops it."""

from collections.abc import Iterable, Mapping
from typing import Final

from broker.i18n import N_, Message, Translator
from broker.protocol import SEATS, Seat
from kiosk.errors import JournalFull
from kiosk.input import Form, WinForm, goes_back
from kiosk.screens import keeping, texts
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    GOOD,
    HEADLINE,
    LARGE,
    QUIET,
    SMALL,
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
    seat_button,
    seat_name,
    time_lines,
)
from kiosk.screens.views import ElsewhereView, PlayingView, RecordedView, ResultView, ScreenView, StoppedView, may_pair


def paused_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return the screen of the arbiter's pause, in any state, or None."""
    if not view.paused:
        return None
    lines = (
        TextLine(_("Paused"), HEADLINE, ATTENTION),
        TextLine(_("The arbiter has paused this table. Buttons do not count now."), BODY),
    )
    return ScreenBody((*time_lines(_, view), *lines))


def doubt_screen(_: Translator, phase: PlayingView) -> ScreenBody | None:
    """Return the question whether hu was meant. It looks the same whoever has pressed or answered."""
    if phase.doubt == "asked":
        title = TextLine(_("A button was pressed"), HEADLINE, ATTENTION)
        help_ = TextLine(_("Pressed for hu? Press once more now. All others: do not press."), BODY)
        return ScreenBody((title, help_), (KeyButton("n", _("No, play on")),))
    if phase.doubt == "leaving":
        help_ = TextLine(_("If nobody has pressed again, play continues in two seconds."), BODY)
        return ScreenBody((TextLine(_("One moment"), HEADLINE), help_))
    return None


HELP_WRAP_BELOW: Final = 0.95
"""Instructions continue in a second line rather than become smaller: they are read from all four chairs."""

FOUR_PRESSED: Final = N_("All four have pressed. Four players cannot all win, so nobody has declared. Play on.")


def playing_screen(_: Translator, view: ScreenView, phase: PlayingView) -> ScreenBody:
    """Return the screen of a play, the same whether or not a claim window is open."""
    if phase.ended:
        return ScreenBody(nobody_won_lines(_))
    lines = state_lines(_, view)
    if phase.doubt == "denied":
        lines = TextLine(_(texts.STATE[view.state]), TITLE), TextLine(_(FOUR_PRESSED), BODY, ATTENTION)
    return ScreenBody(lines, (KeyButton("d", _("Wall empty, no hu")),))


def nobody_won_lines(_: Translator) -> tuple[TextLine, ...]:
    """Return what a winner does now, and what everybody else does, worded alike for all."""
    help_ = _("If you have won, press now. Everyone else, wait: the play ends in a few seconds.")
    return TextLine(_("Nobody won?"), HEADLINE), TextLine(help_, BODY)


def state_screen(_: Translator, view: ScreenView) -> ScreenBody:
    """Return the screen of a state that has none of its own."""
    go_on: tuple[KeyButton, ...] = (KeyButton("enter", _("Next deal"), "strong"),) if is_ruled(view) else ()
    if view.state in ("waiting", "finished"):
        go_on = (KeyButton("t", _("Self-test")), *pairing_button(_, view))
    return ScreenBody(state_lines(_, view), go_on)


def pairing_button(_: Translator, view: ScreenView) -> tuple[KeyButton, ...]:
    """Return the button that asks to pair the device again, if that is possible."""
    return (KeyButton("p", _("Pair again")),) if may_pair(view) else ()


def is_ruled(view: ScreenView) -> bool:
    """Return whether the arbiter has made a ruling in place of a result."""
    return isinstance(view.phase, RecordedView) and view.phase.ruled is not None


def state_lines(_: Translator, view: ScreenView) -> tuple[TextLine, ...]:
    """Return the state in a word, and what to do."""
    if isinstance(view.phase, RecordedView) and view.phase.ruled:
        ruled = TextLine(_(texts.RULED[view.phase.ruled]), TITLE, ATTENTION)
        return ruled, TextLine(_("Mix the tiles face down."), LARGE)
    state, help_ = texts.STATE[view.state], texts.STATE_HELP[view.state]
    if view.state == "waiting" and may_pair(view):
        state, help_ = N_("This device is not admitted"), N_("Tell the organiser, then pair it again.")
    return TextLine(_(state), HEADLINE), TextLine(_(help_), BODY, QUIET, wrap_below=HELP_WRAP_BELOW)


Question = tuple[tuple[TextLine, ...], ButtonRows]
"""The lines of a question, and the buttons that answer it."""


def win_form_screen(_: Translator, view: ScreenView, form: Form, discarder_key: str | None) -> ScreenBody:
    """Return the screen for the form's current question."""
    if form.whose_tile is not None:
        lines, panel = tile_question(_, view, form, form.whose_tile, N_("False hu"))
    elif form.seat is None:
        lines = (TextLine(_("Who discarded?"), TITLE),)
        panel = (*_owners(_, view, form.declared[0], discarder_key), (KeyButton("back", _("Back")),))
    else:
        lines, panel = _value(_, view, form, form.seat)
    return ScreenBody(lines, panel=panel)


def _value(_: Translator, view: ScreenView, form: Form, seat: Seat) -> Question:
    lines = (
        TextLine(_("Hand value of {seat}", seat=seat_name(_, seat)), LARGE),
        player_line(_, view, seat),
        TextLine(form.digits or "–", HEADLINE),
        TextLine(_("At least {least} fan", least=form.least), SMALL, QUIET),
    )
    last = KeyButton("x", _("False hu")), KeyButton("enter", _("Enter"), "strong")
    pad = keypad(_, form.digits, *last, back=N_("Back") if goes_back(form) else "")
    return lines, ((KeyButton("b", _("Count from the backs")),), *pad)


def tile_question(_: Translator, view: ScreenView, form: Form | WinForm, seat: Seat, fault: str) -> Question:
    """Return the question on which tile a seat declared, if there are several declarations, in their order."""
    title = TextLine(_("On whose tile did {seat} declare?", seat=seat_name(_, seat)), LARGE)
    order = _(
        "Press {number} of {count}. The earliest tile counts.", number=len(form.tiles) + 1, count=len(form.declared)
    )
    rows = _owners(_, view, seat, form.tiles[-1][0] if form.tiles else None)
    last = KeyButton("x", _(fault)), *((KeyButton("back", _("Back")),) if goes_back(form) else ())
    return (title, player_line(_, view, seat), TextLine(order, BODY, QUIET)), (*rows, last)


def _owners(_: Translator, view: ScreenView, seat: Seat, likely: str | None) -> ButtonRows:
    """Return a button for each possible owner of the tile; the likely one, given by its key, is strong."""

    def tone(key: str) -> Tone:
        return "strong" if key == likely else "plain"

    others = tuple((seat_button(_, view, other, tone(other[0])),) for other in SEATS if other != seat)
    return (*others, (KeyButton("d", _("Self-drawn"), tone("d")),))


def result_screen(_: Translator, view: ScreenView, result: ResultView) -> ScreenBody:
    """Return the screen of a play's result."""
    recorded = isinstance(view.phase, RecordedView)
    how = f"{_(texts.STATE[view.state])} · {_how_won(_, view, result)}"
    keep = keeping.keep_button(_, view)
    help_ = N_("Keep the play, or mix the tiles face down.") if keep else texts.STATE_HELP[view.state]
    lines = act_lines(how, _(help_), GOOD if recorded else TEXT)
    lines += overtaken_lines(_, result.overtaken)
    lines += receipt_lines(_, view)
    action = KeyButton("enter", _("Next deal"), "strong") if recorded else KeyButton("r", _("Wrong: correct it"))
    return ScreenBody((*lines,), (*keep, action), qr_code=receipt_link(view))


def overtaken_lines(_: Translator, seats: Iterable[Seat]) -> list[TextLine]:
    """Return lines for seats whose hu does not count, as another was earlier."""
    return [TextLine(_("{seat} declared on a later tile", seat=seat_name(_, seat)), BODY, QUIET) for seat in seats]


def act_lines(what: str, act: str, colour: Colour = TEXT) -> list[TextLine]:
    """Return what has happened and, larger, what everybody does now."""
    return [TextLine(what, BODY, colour), TextLine(act, TITLE)]


def receipt_lines(_: Translator, view: ScreenView) -> list[TextLine]:
    """Return the receipt's code to be noted, and what the QR code beside it is for if there is one."""
    if not isinstance(view.phase, RecordedView) or not view.phase.receipt:
        return []
    lines = [TextLine(_("Receipt: {code}", code=view.phase.receipt), LARGE)]
    if view.phase.receipt_link:
        lines.append(TextLine(_("Scan it to see the published result at home."), BODY, QUIET))
    elif view.phase.anchor:  # otherwise the QR code contains it
        lines.append(TextLine(_("Anchor: {anchor}", anchor=view.phase.anchor), SMALL, QUIET))
    return lines


def receipt_link(view: ScreenView) -> str:
    """Return the content of a receipt's QR code, or ""."""
    return view.phase.receipt_link if isinstance(view.phase, RecordedView) else ""


def _how_won(_: Translator, view: ScreenView, winning: ResultView) -> str:
    if winning.win == "draw":
        return _("Drawn hand")
    if winning.discarder is None:
        return _("Self-drawn")
    seat, name = seat_name(_, winning.discarder), view.players[winning.discarder]
    if view.state == "accepting":  # once recorded, the receipt needs the room
        return _("On {seat}’s discard ({name})", seat=seat, name=name)
    return _("On {seat}’s discard", seat=seat)


def other_device_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return the screen if another device serves this table, or None. This device waits until it is admitted."""
    if not isinstance(view.phase, ElsewhereView):
        return None
    keep = _(
        "Keep the device that this table has used. To use this one: switch the other off and touch "
        "“Use this device”, or have the arbiter’s desk hand the table over."
    )
    lines = (
        TextLine(_("Another device is in use here"), TITLE, ATTENTION),
        TextLine(keep, BODY),
        TextLine(_("This device is waiting. Nothing has been lost."), BODY, QUIET),
    )
    return ScreenBody(lines, (KeyButton("enter", _("Use this device")), *pairing_button(_, view)))


STOP_REASONS: Final[Mapping[str, Message]] = {
    "bad_configuration": N_("Its settings cannot be read."),
    "bad_device_address": N_("Its settings cannot be read."),
    "device_in_use": N_("Another program is using its buttons or its screen."),
    "journal_broken": N_("Its journal cannot be read."),
    "journal_full": N_("It cannot save: the memory card is full."),
    "journal_in_use": N_("Another program has its journal open."),
    "pin_in_use": N_("Another program is using its buttons or its screen."),
    "screen_missing": N_("It found no screen."),
    "upgrade_begins": N_("Another version of its program is starting."),
}
TOO_OFTEN: Final = 3
"""From this many failures in a row on, somebody has to attend to it."""


def program_stopped_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return the screen for a program that is not running, or None. It does not react to presses."""
    stopped = view.phase
    if not isinstance(stopped, StoppedView):
        return None
    text = N_("Stay seated. Nothing is lost, and a button that you press now counts.")
    lines = [
        TextLine(_("This table is restarting"), TITLE, ATTENTION),
        TextLine(_(text if stopped.presses_kept else N_("Stay seated. Nothing is lost.")), BODY),
    ]
    if stopped.failures >= TOO_OFTEN:
        lines.append(TextLine(_("It keeps failing. Call the organiser."), BODY, ATTENTION))
    if stopped.why in STOP_REASONS:
        lines.append(TextLine(_(STOP_REASONS[stopped.why]), BODY, QUIET))
    return ScreenBody(tuple(lines))


DISK_FULL: Final = f"disk: {JournalFull.code}"


def disk_full_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return the screen for a full disk, whatever the table was doing, or None."""
    if DISK_FULL not in view.line.health:
        return None
    help_ = TextLine(_("Wait; do not switch off. Nothing is lost. Call the organiser."), BODY)
    return ScreenBody((TextLine(_("Memory card full"), TITLE, ATTENTION), help_))
