"""Screens for keeping a play: which tiles to show, what was read of them, and the scorer's findings."""

from collections.abc import Iterator, Mapping
from typing import Final

from broker.i18n import N_, Message, Translator
from kiosk.camera.observations import LaidObservation, LaidTiles
from kiosk.keeping import ACCEPT_KEY, BACK_KEY, GAPS_KEY, KEEP_KEY, LEAVE_KEY, SKIP_KEY, STEPS, Keeping
from kiosk.screens.drawing import (
    ATTENTION,
    BODY,
    GOOD,
    LARGE,
    QUIET,
    SMALL,
    TEXT,
    TITLE,
    KeyButton,
    ScreenBody,
    TextLine,
    paint_picture,
    seat_name,
)
from kiosk.screens.texts import refusal
from kiosk.screens.views import RecordedView, ScreenView

NOT_FOUND: Final[Mapping[str, Message]] = {
    "no_play_fits": N_("No order of play fits these tiles: one was misread, or is somewhere else."),
    "tile_of_another": N_("A tile lies before a player who cannot have drawn it."),
    "winning_tile_unknown": N_("Which tile won was not seen: lay it last, apart."),
    "too_much_unread": N_("Too many tiles were not read."),
    "play_irregular": N_("Somebody drew out of turn: such a play cannot be replayed."),
    "play_unknown": N_("This play cannot be kept."),
    "unknown_serial": N_("There is a tile of another set."),
    "play_not_kept": N_("The scorer cannot keep the play now: tell the arbiter."),
}
"""Why the scorer found no order of play, by code."""

OF_ORDER: Final = frozenset({"no_play_fits", "play_irregular"})
"""Codes that may be caused by tiles that were not shown."""


def keep_button(_: Translator, view: ScreenView) -> tuple[KeyButton, ...]:
    """Return the button that starts keeping the play, if that is offered."""
    offered = isinstance(view.phase, RecordedView) and view.phase.may_keep
    return (KeyButton(KEEP_KEY, _("Keep the play")),) if offered else ()


def keeping_screen(_: Translator, view: ScreenView) -> ScreenBody | None:
    """Return the screen for keeping the play, at whatever stage it is, or None."""
    keeping = view.phase.keeping if isinstance(view.phase, RecordedView) else None
    if keeping is None:
        return None
    if keeping.target is None:
        return _summary(_, keeping)
    return _reading(_, keeping, keeping.target)


def _reading(_: Translator, keeping: Keeping, target: LaidTiles) -> ScreenBody:
    seat, seen, river = seat_name(_, target.seat), keeping.seen, target.part == "river"
    title = _("River of {seat}", seat=seat) if river else _("Hand and melds of {seat}", seat=seat)
    lines = (
        TextLine(_("Keep the play: {at} of {count}", at=keeping.at + 1, count=len(STEPS)), SMALL, QUIET),
        TextLine(title, LARGE),
        *_tile_lines(_, seen, river=river),
    )
    take = ((KeyButton(ACCEPT_KEY, _("Take"), "strong"),),) if keeping.ready else ()
    gaps = N_("Gaps for claimed tiles: yes") if keeping.gaps else N_("Gaps for claimed tiles: no")
    second = KeyButton(BACK_KEY, _("Back")) if keeping.at else KeyButton(GAPS_KEY, _(gaps))
    panel = (
        *take,
        (KeyButton(SKIP_KEY, _("Not shown")),),
        (second,),
        (KeyButton(LEAVE_KEY, _("Leave")),),
    )
    paint = paint_picture(seen.view) if seen.view is not None else None
    return ScreenBody(lines, panel=panel, paint=paint, seats=False)


def _tile_lines(_: Translator, seen: LaidObservation, *, river: bool) -> Iterator[TextLine]:
    if seen.laid is None:
        if seen.problem is not None:
            yield TextLine(refusal(_, seen.problem), SMALL, ATTENTION)
        help_ = (
            N_("Turn each tile over where it lies, row by row. Show only this river.")
            if river
            else N_("Face down: concealed tiles, each meld apart, last a winning tile. Two fingers between them.")
        )
        yield TextLine(_(help_), BODY, QUIET)
        return
    rows = (seen.laid.river, seen.laid.hand or (), *seen.laid.melds)
    count = sum(serial != 0 for row in rows for serial in row)
    colour = GOOD if seen.still and not seen.unread else TEXT
    yield TextLine(_("Tiles: {count}   Not read: {unread}", count=count, unread=seen.unread), SMALL, colour)
    if not seen.still:
        yield TextLine(_("Reading: hands off the tiles."), SMALL)


def _summary(_: Translator, keeping: Keeping) -> ScreenBody:
    failed = keeping.answer is not None and keeping.answer.code is not None
    title = (N_("The play was not found."), TEXT) if failed else (N_("The play is kept."), GOOD)
    lines = (
        TextLine(_(title[0]), TITLE, title[1]),
        _found(_, keeping),
        TextLine(_("Mix the tiles face down."), LARGE),
    )
    return ScreenBody(lines, (KeyButton(BACK_KEY, _("Back")), KeyButton(ACCEPT_KEY, _("Next deal"), "strong")))


def _found(_: Translator, keeping: Keeping) -> TextLine:
    answer = keeping.answer
    if answer is None:
        return TextLine(_("The scorer is reconstructing it. You need not wait."), BODY, QUIET)
    if answer.code is not None:
        why = _(NOT_FOUND[answer.code]) if answer.code in NOT_FOUND else refusal(_, answer.code)
        if answer.code in OF_ORDER and not keeping.whole:
            why = _("Not everything was shown: a play is only found with all rivers and melds.")
        return TextLine(why, BODY, ATTENTION)
    proved = _("Proved: {proved} of {steps} steps", proved=answer.proved, steps=answer.steps)
    return TextLine(proved, BODY)
