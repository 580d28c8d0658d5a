"""The screens of a planned deal under riichi rules. What is as in every other play has the screen of every other."""

from kiosk.screens.alone_shown import AloneShown
from kiosk.screens.middle import Middle
from kiosk.screens.plain import extra, problem
from kiosk.screens.result import receipt
from kiosk.screens.riichi import actions, title
from kiosk.screens.riichi_asked import asked
from kiosk.screens.riichi_told import how
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words


def riichi_alone(words: Words, shown: Shown) -> Middle | None:
    """Whatever is otherwise than at other tables."""
    alone = shown.alone
    if alone is None or shown.ruled:
        return None
    if shown.state == "confirming":
        lines = title(words("confirming"), words("riichi_confirming_help"), _wall(words, alone))
        return Middle((*lines, *problem(words, shown)))
    if (question := asked(words, shown, alone)) is not None:
        return question
    return (_playing if shown.state == "playing" else _ended)(words, shown, alone)


def _playing(words: Words, shown: Shown, alone: AloneShown) -> Middle:
    """A hand, whether or not a claim window is open: the same for both."""
    if shown.ended:
        return Middle((*extra(words, shown), *title(words("playing"), words("ended"))))
    lines = title(words("playing"), words("riichi_alone_help"), _wall(words, alone))
    return Middle((*extra(words, shown), *lines), actions(words, ("d", "do_draw"), ("b", "do_riichi_abort")))


def _wall(words: Words, alone: AloneShown) -> str:
    first, *_, last = map(words.seat, alone.wall)
    return words("riichi_common_wall", first=first, last=last)


def _ended(words: Words, shown: Shown, alone: AloneShown) -> Middle | None:
    if alone.asking:
        lines = title(words("riichi_tenpai"), words("riichi_tenpai_help"))
        buttons = actions(words, ("enter", "do_enter"), ("g", "do_riichi_nagashi"))
    elif shown.result is None:
        return None
    elif shown.state == "accepting":
        lines = title(words("accepting"), how(words, alone.told), words("accepting_help"))
        buttons = actions(words, ("r", "do_refuse"))
    else:
        lines = (*title(words("recorded"), how(words, alone.told), words("recorded_help")), *receipt(words, shown))
        buttons = actions(words, ("enter", "do_next"))
    return Middle((*extra(words, shown), *lines, *problem(words, shown)), buttons, square=shown.receipt_link)
