"""The screens of a table that plays riichi."""

from kiosk.screens import style
from kiosk.screens.middle import Action, Middle
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.riichi_asked import asked
from kiosk.screens.riichi_sheet import sheet
from kiosk.screens.riichi_shown import SessionShown
from kiosk.screens.riichi_told import how
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words


def riichi(words: Words, shown: Shown) -> Middle | None:
    """Whatever a riichi table shows now."""
    session = shown.session
    if session is None:
        return None
    if shown.state == "confirming":
        return Middle((*title(words("riichi_seats"), words("riichi_seats_help")), *problem(words, shown)))
    if session.sheet is not None:
        return sheet(words, session.sheet)
    return asked(words, shown, session) or _state(words, shown, session)


def _state(words: Words, shown: Shown, session: SessionShown) -> Middle:
    if shown.state == "playing":
        return _playing(words, shown)
    if session.asking:
        lines = title(words("riichi_tenpai"), words("riichi_tenpai_help"))
        buttons = actions(words, ("enter", "do_riichi_settle"), ("g", "do_riichi_nagashi"), ("f", "do_riichi_fault"))
    elif shown.state == "accepting":
        lines = title(words("accepting"), how(words, session.told), words("riichi_accept_help"))
        buttons = actions(words, ("r", "do_refuse"))
    elif shown.state == "recorded":
        lines = title(words("recorded"), how(words, session.told))
        keys = (
            ("enter", "do_riichi_next"),
            ("f", "do_riichi_fault"),
            ("u", "do_riichi_take_back"),
            ("q", "do_riichi_stop"),
            ("l", "do_riichi_sheet"),
        )
        buttons = actions(words, *keys)
    else:
        lines = title(words("finished"), words("riichi_finished_help"))
        buttons = actions(words, ("l", "do_riichi_sheet"), ("u", "do_riichi_take_back"))
    return Middle((*extra(words, shown), *lines, *problem(words, shown)), buttons)


def _playing(words: Words, shown: Shown) -> Middle:
    """A hand, whether or not a claim window is open: the same for both."""
    if shown.ended:
        return Middle((*extra(words, shown), *title(words("playing"), words("ended"))))
    lines = title(words("playing"), words("riichi_playing_help"))
    keys = ("d", "do_draw"), ("i", "do_riichi_lay"), ("b", "do_riichi_abort"), ("f", "do_riichi_fault")
    return Middle((*extra(words, shown), *lines), actions(words, *keys))


def title(head: str, *help_: str) -> tuple[Said, ...]:
    """Give a head, and what to do."""
    return Said(head, 0.11, style.TEXT), *(Said(one, 0.055, style.QUIET) for one in help_ if one)


def actions(words: Words, *named: tuple[str, str]) -> tuple[Action, ...]:
    """Give a row of buttons: the key of each, and the name of its label."""
    return tuple(Action(key, words(label), "strong" if key == "enter" else "plain") for key, label in named)
