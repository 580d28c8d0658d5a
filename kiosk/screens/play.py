"""Screens of a play: its state, entering a win, the result, what stops it, a carrier's deal, the arbiter's panel."""

from collections.abc import Iterable, Mapping
from typing import Final

from broker.i18n import N_, Message, Translator
from broker.protocol import SEATS, Seat
from broker.rules.infractions import Choice
from broker.terms import SEAT_NAMES
from kiosk.errors import JournalFull
from kiosk.input import INFRACTIONS_SHOWN, REASONS, YES, ArbiterPanel, Form, Offence, WinForm, goes_back
from kiosk.screens import drawing
from kiosk.screens.drawing import (
    ButtonRows,
    KeyButton,
    ScreenBody,
    TextLine,
    Tone,
    by_hand_button,
    keypad,
    player_line,
    problem_lines,
    seat_button,
    time_lines,
    who_sits,
)
from kiosk.screens.keeping import keep_button
from kiosk.screens.texts import ARBITER, LOST, MEASURE, REASON, RULE, RULED, STATE, STATE_HELP, STOPPED
from kiosk.screens.views import (
    DeclaredView,
    ElsewhereView,
    PlayingView,
    RecordedView,
    RestoringView,
    ResultView,
    ScreenView,
    StoppedView,
    may_pair,
)
from kiosk.screens.what_happened import scene_screen
from kiosk.table import TrayProblem


def paused_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """The arbiter's pause, in whatever state."""
    if not view.paused:
        return None
    lines = (
        TextLine(_("Paused"), drawing.HEADLINE, drawing.ATTENTION),
        TextLine(_("The arbiter has paused this table. Buttons do not count now."), drawing.BODY, drawing.TEXT),
    )
    return ScreenBody((*time_lines(_, view), *lines))


def doubt_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """The question whether hu was meant: the same whoever has pressed, and whoever has answered."""
    doubt = view.phase.doubt if isinstance(view.phase, PlayingView) else None
    if doubt == "asked":
        asked = TextLine(_("A button was pressed"), drawing.HEADLINE, drawing.ATTENTION)
        help_ = _("Pressed for hu? Press once more now. All others: do not press.")
        body = TextLine(help_, drawing.BODY, drawing.TEXT)
        return ScreenBody((*time_lines(_, view), asked, body), (KeyButton("n", _("No, play on")),))
    if doubt == "leaving":
        wait = TextLine(_("One moment"), drawing.HEADLINE, drawing.TEXT)
        help_ = _("If nobody has pressed again, play goes on in two seconds.")
        return ScreenBody((*time_lines(_, view), wait, TextLine(help_, drawing.BODY, drawing.TEXT)))
    return None


FOUR: Final = N_("All four have pressed. Four hu cannot be: nobody has declared. Play on.")


def playing_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """A play, whether or not a claim window is open: the same for both."""
    if not isinstance(view.phase, PlayingView):
        return None
    lines = [*time_lines(_, view), *state_lines(_, view)]
    if view.phase.doubt == "denied":
        play = TextLine(_(STATE[view.state]), drawing.TITLE, drawing.TEXT)
        lines = [*time_lines(_, view), play, TextLine(_(FOUR), drawing.BODY, drawing.ATTENTION)]
    if view.phase.ended:
        return ScreenBody((*time_lines(_, view), *nobody_won_lines(_)))
    return ScreenBody((*lines,), (KeyButton("d", _("Wall empty, no hu")),))


def nobody_won_lines(_: Translator) -> tuple[TextLine, ...]:
    """Say to all alike what who has won does now, and what everybody else does."""
    help_ = _("Who has won presses now. Everybody else waits: in a few seconds the play is over.")
    return TextLine(_("Nobody won?"), drawing.HEADLINE, drawing.TEXT), TextLine(help_, drawing.BODY, drawing.TEXT)


def state_screen(_: Translator, view: ScreenView) -> ScreenBody:
    """Any state that has no screen of its own."""
    go_on: tuple[KeyButton, ...] = (KeyButton("enter", _("Next deal"), "strong"),) if is_ruled(view) else ()
    if view.state in ("waiting", "finished"):
        go_on = (KeyButton("t", _("Self-test")), *pairing_button(_, view))
    return ScreenBody((*time_lines(_, view), *state_lines(_, view), *problem_lines(_, view)), go_on)


def pairing_button(_: Translator, view: ScreenView) -> tuple[KeyButton, ...]:
    """Return the button that asks for another pairing, where the device may be given one."""
    return (KeyButton("p", _("Pair again")),) if may_pair(view) else ()


def is_ruled(view: ScreenView) -> bool:
    """Return whether the arbiter has ruled here in the place of a result."""
    return isinstance(view.phase, RecordedView) and view.phase.ruled is not None


def state_lines(_: Translator, view: ScreenView) -> tuple[TextLine, ...]:
    """Return the state in a word, and what to do."""
    if isinstance(view.phase, RecordedView) and view.phase.ruled:
        ruled = TextLine(_(RULED[view.phase.ruled]), drawing.TITLE, drawing.ATTENTION)
        return ruled, TextLine(_("Mix the tiles face down."), drawing.LARGE, drawing.TEXT)
    state, help_ = STATE[view.state], STATE_HELP[view.state]
    if view.state == "waiting" and may_pair(view):
        state, help_ = N_("This device is not admitted"), N_("Tell the organiser, then pair it again.")
    return TextLine(_(state), drawing.HEADLINE, drawing.TEXT), TextLine(_(help_), drawing.BODY, drawing.QUIET)


def win_form_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Whatever the form asks for."""
    phase = view.phase
    if not isinstance(phase, DeclaredView) or (form := phase.form) is None:
        return None
    if form.whose_tile is not None:
        asked, panel = tile_question(_, view, form, form.whose_tile, N_("False hu"))
    elif form.seat is None:
        asked = (TextLine(_("Who discarded?"), drawing.TITLE, drawing.TEXT),)
        panel = (*_owners(_, view, form.declared[0], phase.discarder_key), (KeyButton("back", _("Back")),))
    else:
        asked, panel = _value(_, view, form, form.seat)
    return ScreenBody((*time_lines(_, view), *asked, *problem_lines(_, view)), panel=panel)


def _value(_: Translator, view: ScreenView, form: Form, seat: Seat) -> tuple[tuple[TextLine, ...], ButtonRows]:
    asked = (
        TextLine(_("Hand value of {seat}", seat=_(SEAT_NAMES[seat])), drawing.LARGE, drawing.TEXT),
        player_line(_, view, seat),
        TextLine(form.digits or "–", drawing.HEADLINE, drawing.TEXT),
        TextLine(_("At least {least} fan", least=form.least), drawing.SMALL, drawing.QUIET),
    )
    last = KeyButton("x", _("False hu")), KeyButton("enter", _("Enter"), "strong")
    pad = keypad(_, form.digits, *last, back=N_("Back") if goes_back(form) else "")
    return asked, ((KeyButton("b", _("Count from the backs")),), *pad)


def tile_question(
    _: Translator, view: ScreenView, form: Form | WinForm, seat: Seat, fault: str
) -> tuple[tuple[TextLine, ...], ButtonRows]:
    """Ask on which tile a seat has declared, of several in the order of their presses."""
    title = TextLine(_("On whose tile did {seat} declare?", seat=_(SEAT_NAMES[seat])), drawing.LARGE, drawing.TEXT)
    order = _(
        "Press {number} of {count}. The earliest tile counts.", number=len(form.tiles) + 1, count=len(form.declared)
    )
    rows = _owners(_, view, seat, form.tiles[-1][0] if form.tiles else None)
    last = KeyButton("x", _(fault)), *((KeyButton("back", _("Back")),) if goes_back(form) else ())
    return (title, player_line(_, view, seat), TextLine(order, drawing.BODY, drawing.QUIET)), (*rows, last)


def _owners(_: Translator, view: ScreenView, seat: Seat, likely: str | None) -> ButtonRows:
    """Return a button for each whose tile it can have been; what is likely, by its key, stands out."""

    def tone(key: str) -> Tone:
        return "strong" if key == likely else "plain"

    others = tuple((seat_button(_, view, other, tone(other[0])),) for other in SEATS if other != seat)
    return (*others, (KeyButton("d", _("Self-drawn"), tone("d")),))


def result_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """The result of a play that has one."""
    if view.result is None:
        return None
    recorded = isinstance(view.phase, RecordedView)
    how = f"{_(STATE[view.state])} · {_how_won(_, view, view.result)}"
    keep = keep_button(_, view)
    help_ = N_("Keep the play, or mix the tiles face down.") if keep else STATE_HELP[view.state]
    lines = act_lines(how, _(help_), drawing.GOOD if recorded else drawing.TEXT)
    lines += overtaken_lines(_, view.result.overtaken)
    lines += receipt_lines(_, view)
    action = KeyButton("enter", _("Next deal"), "strong") if recorded else KeyButton("r", _("Wrong: correct it"))
    actions = (*keep, action)
    return ScreenBody((*time_lines(_, view), *lines, *problem_lines(_, view)), actions, square=receipt_link(view))


def overtaken_lines(_: Translator, seats: Iterable[Seat]) -> list[TextLine]:
    """Say whose hu was none, as another was earlier."""
    return [
        TextLine(_("{seat} declared on a later tile", seat=_(SEAT_NAMES[seat])), drawing.BODY, drawing.QUIET)
        for seat in seats
    ]


def act_lines(what: str, act: str, colour: drawing.Colour = drawing.TEXT) -> list[TextLine]:
    """Say what has come about, and larger what everybody does now."""
    return [TextLine(what, drawing.BODY, colour), TextLine(act, drawing.TITLE, drawing.TEXT)]


def receipt_lines(_: Translator, view: ScreenView) -> list[TextLine]:
    """Return the code to be noted down; and what the QR code beside it is for, where there is one."""
    if not isinstance(view.phase, RecordedView) or not view.phase.receipt:
        return []
    lines = [TextLine(_("Receipt: {code}", code=view.phase.receipt), drawing.LARGE, drawing.TEXT)]
    if view.phase.receipt_link:
        lines.append(TextLine(_("Scan it to see the published result at home."), drawing.BODY, drawing.QUIET))
    elif view.phase.anchor:  # else it is in the QR code
        lines.append(TextLine(_("Anchor: {anchor}", anchor=view.phase.anchor), drawing.SMALL, drawing.QUIET))
    return lines


def receipt_link(view: ScreenView) -> str:
    """Return what stands in the QR code of a receipt; nothing where there is none."""
    return view.phase.receipt_link if isinstance(view.phase, RecordedView) else ""


def _how_won(_: Translator, view: ScreenView, winning: ResultView) -> str:
    if winning.win == "draw":
        return _("Drawn hand")
    if winning.discarder is None:
        return _("Self-drawn")
    seat, name = _(SEAT_NAMES[winning.discarder]), view.players[winning.discarder]
    if view.state == "accepting":  # recorded, the receipt has the room
        return _("On {seat}'s discard ({name})", seat=seat, name=name)
    return _("On {seat}'s discard", seat=seat)


def stopped_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """A play that must not go on without the arbiter."""
    phase = view.phase
    if not isinstance(phase, RestoringView) or phase.stopped is None:
        return None
    lines = (
        TextLine(_("Stop. Touch no tile. Call the arbiter."), drawing.TITLE, drawing.ATTENTION),
        TextLine(_(STOPPED[phase.stopped], deal=view.deal), drawing.BODY, drawing.TEXT),
        *(TextLine(who_sits(_, view, seat), drawing.BODY, drawing.TEXT) for seat in phase.repeating),
    )
    return ScreenBody((*time_lines(_, view), *lines, *problem_lines(_, view)))


def other_device_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Another device serves this table: nothing is done here until somebody asks and is let in."""
    if not isinstance(view.phase, ElsewhereView):
        return None
    lines = (
        TextLine(_("Another device is in use here"), drawing.TITLE, drawing.ATTENTION),
        TextLine(
            _(
                "Keep the device that this table has used. To use this one: switch the other off and touch "
                "“Use this device”, or have the arbiter's desk hand the table over."
            ),
            drawing.BODY,
            drawing.TEXT,
        ),
        TextLine(_("This device is waiting. Nothing has been lost."), drawing.BODY, drawing.QUIET),
    )
    return ScreenBody(lines, (KeyButton("enter", _("Use this device")), *pairing_button(_, view)))


WHY: Final[Mapping[str, Message]] = {
    "bad_configuration": N_("Its settings cannot be read."),
    "bad_device_address": N_("Its settings cannot be read."),
    "device_in_use": N_("Another program has its buttons, or its screen."),
    "journal_broken": N_("Its journal cannot be read."),
    "journal_full": N_("It cannot save: the memory card is full."),
    "journal_in_use": N_("Another program has its journal open."),
    "pin_in_use": N_("Another program has its buttons, or its screen."),
    "screen_missing": N_("It found no screen."),
    "upgrade_begins": N_("Another version of its program begins."),
}

TOO_OFTEN: Final = 3
"""From so many failures in a row somebody has to come."""


def program_stopped_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """The program does not run: a press changes nothing here."""
    stopped = view.phase
    if not isinstance(stopped, StoppedView):
        return None
    kept = N_("Stay seated. Nothing is lost, and a button that you press now counts.")
    lines = [
        TextLine(_("This table is starting again"), drawing.TITLE, drawing.ATTENTION),
        TextLine(_(kept if stopped.presses_kept else N_("Stay seated. Nothing is lost.")), drawing.BODY, drawing.TEXT),
    ]
    if stopped.failures >= TOO_OFTEN:
        lines.append(TextLine(_("It has failed again and again. Call the organiser."), drawing.BODY, drawing.ATTENTION))
    if stopped.why in WHY:
        lines.append(TextLine(_(WHY[stopped.why]), drawing.BODY, drawing.QUIET))
    return ScreenBody(tuple(lines))


FULL: Final = f"disk: {JournalFull.code}"


def disk_full_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Whatever the table was doing."""
    if FULL not in view.line.health:
        return None
    return ScreenBody(
        (
            TextLine(_("Memory card full"), drawing.TITLE, drawing.ATTENTION),
            TextLine(_("Wait; do not switch off. Nothing is lost. Call the organiser."), drawing.BODY, drawing.TEXT),
        )
    )


UNPROVEN: Final = N_("No connection: the PIN is checked later. Rulings count only if it was right.")

SEEN: Final = "•"
"""In the place of a digit of the PIN."""


def arbiter_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Whatever the panel asks."""
    asked = view.panel
    if asked is None:
        return None
    if asked.ask == "scene" and asked.scene:
        return scene_screen(_, view, asked.scene)
    title = _title(_, asked)
    question = _("Minutes: {minutes}", minutes=asked.digits or "–") if asked.ask == "minutes" else ""
    lines = [
        TextLine(title, drawing.LARGE, drawing.TEXT),
        *((player_line(_, view, asked.seats[0]),) if _names_offender(asked) else ()),
        TextLine(question or _(ARBITER[asked.ask]), drawing.BODY, drawing.QUIET),
    ]
    if asked.ask == "sure" and asked.act:
        lines.append(TextLine(_(LOST[asked.act]), drawing.BODY, drawing.ATTENTION))
    if asked.ask == "pin":
        lines.append(TextLine(SEEN * len(asked.digits) or "–", drawing.TITLE, drawing.TEXT))
    if view.unproven:
        lines.append(TextLine(_(UNPROVEN), drawing.SMALL, drawing.ATTENTION))
    if asked.ask == "checking":
        return ScreenBody(tuple(lines), (KeyButton("back", _("Leave")),))
    if asked.ask == "pin" and view.pin_wait_s:
        return ScreenBody((*lines, _wait_line(_, view.pin_wait_s)), panel=_rows(_, view, asked))
    return ScreenBody((*lines, *problem_lines(_, view)), panel=_rows(_, view, asked))


MINUTE_S: Final = 60


def _wait_line(_: Translator, seconds: int) -> TextLine:
    """Say how long no PIN is taken; the desk lets an arbiter in all the same."""
    wait = (
        _("Too many tries: wait {seconds} s, or ask the desk to let you in", seconds=seconds)
        if seconds <= MINUTE_S
        else _("Too many tries: wait {minutes} min, or ask the desk to let you in", minutes=-(-seconds // MINUTE_S))
    )
    return TextLine(wait, drawing.BODY, drawing.ATTENTION)


def _title(_: Translator, asked: ArbiterPanel) -> str:
    """Return what is ruled; of a false hu also whose, which the form of results may have chosen before the PIN."""
    if _names_offender(asked):
        return _("False hu of {seat}", seat=_(SEAT_NAMES[asked.seats[0]]))
    if asked.ask == "penalty":
        seats = _(", ").join(_(SEAT_NAMES[seat]) for seat in asked.seats)
        return _("{what}: {value}", what=_named(_, asked.offences[asked.offence]), value=seats)
    return _(RULE[asked.act]) if asked.act else _("Arbiter")


def _names_offender(asked: ArbiterPanel) -> bool:
    return asked.act == "false_hu" and bool(asked.seats) and asked.ask != "seats"


def _rows(_: Translator, view: ScreenView, asked: ArbiterPanel) -> ButtonRows:
    back = (KeyButton("back", _("Back")),)
    match asked.ask:
        case "pin" | "minutes":
            leave = N_("Leave") if asked.ask == "pin" else N_("Back")
            return keypad(_, asked.digits, KeyButton("enter", _("Enter"), "strong"), back=leave)
        case "act":
            named = [
                KeyButton(str((at + 1) % 10), _(RULE[act]), "strong" if act == "resume" else "plain")
                for at, act in enumerate(asked.acts)
            ]
            return (*_in_twos(named), (KeyButton("back", _("Leave")),))
        case "seats":
            chosen: dict[Seat, Tone] = dict.fromkeys(asked.seats, "strong")
            seats = tuple((seat_button(_, view, seat, chosen.get(seat, "plain")),) for seat in SEATS)
            return (*seats, (*back, KeyButton("enter", _("Enter"))))
        case "fine" | "infraction" | "penalty":
            return _penalty_rows(_, asked, back)
        case "reason":
            named = [KeyButton(str(at), _(REASON[str(at)])) for at in range(1, len(REASONS) + 1)]
            return (*_in_twos(named), back)
        case _:
            return ((KeyButton(YES, _title(_, asked)),), (KeyButton("back", _("No, go back"), "strong"),))


def _penalty_rows(_: Translator, asked: ArbiterPanel, back: tuple[KeyButton, ...]) -> ButtonRows:
    if asked.ask == "fine":
        return (*((KeyButton(str(imp), _("{imp} IMP", imp=imp)),) for imp in asked.fines), back)
    if asked.ask == "penalty":
        choices = enumerate(asked.offences[asked.offence].choices, 1)
        return (*((KeyButton(str(at), _penalty(_, one)),) for at, one in choices), back)
    named = ((KeyButton(str(at), _named(_, one)),) for at, one in enumerate(asked.offences_shown, 1))
    more = (KeyButton(str(INFRACTIONS_SHOWN + 1), _.pgettext("button", "More")),)
    return (*named, (*back, *(more if len(asked.offences) > INFRACTIONS_SHOWN else ())))


def _named(_: Translator, offence: Offence) -> str:
    names = dict(offence.names)
    return names.get(_.language) or next(iter(names.values()), offence.id)


def _penalty(_: Translator, choice: Choice) -> str:
    return _("{imp} IMP", imp=choice.imp) if choice.measure == "fine" else _(MEASURE[choice.measure])


def _in_twos(named: list[KeyButton]) -> ButtonRows:
    """Return rows of two; what is left over stands above, away from the button that leaves."""
    odd = len(named) % 2
    return (*(((named[0],),) * odd), *(tuple(named[at : at + 2]) for at in range(odd, len(named), 2)))


def carrier_sheet_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """A carrier's sheet was scanned, or lies under the camera."""
    sheet = view.phase.restoring.sheet if isinstance(view.phase, RestoringView) else None
    if sheet is None:
        return None
    name = (
        _("This is a carrier of another event")
        if sheet.deal is None
        else _("This is the carrier of deal {deal}", deal=sheet.deal)
    )
    right = sheet.deal == view.deal
    lines = (
        TextLine(name, drawing.TITLE, drawing.GOOD if right else drawing.ATTENTION),
        *(_goes_on(_) if right else _fetch(_, view)),
    )
    actions = KeyButton("back", _("Back")), *by_hand_button(_, view)
    return ScreenBody((*time_lines(_, view), *lines, *problem_lines(_, view)), actions)


def another_carrier_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """A tray of another deal lies under the camera."""
    if not isinstance(view.phase, RestoringView):
        return None
    check, by_hand = view.phase.check, view.phase.restoring.showing == "hand"
    if check is None or (check.deal is None and (check.aside is None or by_hand)):
        return None
    if view.phase.restoring.showing == "anew" and _may_be_laid(check):
        return _laid_anew(_, view)
    lines = (_whose(_, view, check), *_fetch(_, view), *_or_these(_, check))
    actions = *_go_on(_, view, check), *by_hand_button(_, view)
    return ScreenBody((*time_lines(_, view), *lines, *problem_lines(_, view)), actions)


def _laid_anew(_: Translator, view: ScreenView) -> ScreenBody:
    """Ask before tiles that may lie as another table needs them are laid otherwise."""
    lines = (
        TextLine(_("Lay deal {deal} with these tiles?", deal=view.deal), drawing.TITLE, drawing.ATTENTION),
        TextLine(_("If they were laid for another deal, that work is lost."), drawing.LARGE, drawing.TEXT),
    )
    answers = KeyButton("y", _("Yes, lay them anew")), KeyButton("back", _("No, leave them"), "strong")
    return ScreenBody((*time_lines(_, view), *lines, *problem_lines(_, view)), answers)


def _whose(_: Translator, view: ScreenView, check: TrayProblem) -> TextLine:
    if check.deal is not None:
        return TextLine(_("This is the carrier of deal {deal}", deal=check.deal), drawing.TITLE, drawing.ATTENTION)
    name = (
        N_("These tiles are of another set") if check.of_another_set else N_("This is not the carrier of deal {deal}")
    )
    return TextLine(_(name, deal=view.deal), drawing.TITLE, drawing.ATTENTION)


def _fetch(_: Translator, view: ScreenView) -> tuple[TextLine, ...]:
    return (
        TextLine(_("Deal {deal} is to be played here", deal=view.deal), drawing.LARGE, drawing.TEXT),
        TextLine(_("Get the right one. If it is not there, call the arbiter."), drawing.BODY, drawing.TEXT),
    )


def _goes_on(_: Translator) -> tuple[TextLine, ...]:
    return TextLine(_("It is the right one"), drawing.LARGE, drawing.TEXT), TextLine(
        _("Remove the sheet and show the trays."), drawing.BODY, drawing.TEXT
    )


def _or_these(_: Translator, check: TrayProblem) -> tuple[TextLine, ...]:
    return (
        (TextLine(_("Only if nobody has prepared these tiles, lay the deal with them."), drawing.BODY, drawing.TEXT),)
        if _may_be_laid(check)
        else ()
    )


def _may_be_laid(check: TrayProblem) -> bool:
    """A carrier of unknown tiles may hold no deal at all: tiles of this set that somebody has put into trays."""
    return check.aside is not None and not check.of_another_set


def _go_on(_: Translator, view: ScreenView, check: TrayProblem) -> tuple[KeyButton, ...]:
    label = _("Lay deal {deal} with these", deal=view.deal)
    return (KeyButton("enter", label),) if _may_be_laid(check) else ()
