"""What stops a play before a tile is touched, and a table that another device serves."""

from kiosk.screens import style
from kiosk.screens.middle import Action, Middle
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, pair_anew, problem
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words


def stopped(words: Words, shown: Shown) -> Middle | None:
    """A play that must not go on without the arbiter."""
    if shown.stopped is None:
        return None
    what = Said(words(f"stopped_{shown.stopped}", deal=shown.deal), 0.1, style.ATTENTION)
    names = (Said(name, 0.065, style.TEXT) for name in shown.repeating)
    return Middle(
        (*extra(words, shown), what, *names, Said(words("stopped_help"), 0.065, style.TEXT), *problem(words, shown))
    )


def elsewhere(words: Words, shown: Shown) -> Middle | None:
    """Another device serves this table: nothing is done here until somebody asks and is let in."""
    if not shown.elsewhere:
        return None
    lines = (
        Said(words("elsewhere"), 0.1, style.ATTENTION),
        Said(words("elsewhere_help"), 0.06, style.TEXT),
        Said(words("elsewhere_kept"), 0.055, style.QUIET),
    )
    return Middle(lines, (Action("enter", words("do_serve"), "strong"), *pair_anew(words, shown)))
