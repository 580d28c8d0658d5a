"""Screens that say a state in a word, and what to do."""

from kiosk.screens import style
from kiosk.screens.middle import Action, Middle
from kiosk.screens.pen import Said
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words


def paused(words: Words, shown: Shown) -> Middle | None:
    """The arbiter's pause, in whatever state."""
    if not shown.paused:
        return None
    lines = Said(words("paused"), 0.15, style.ATTENTION), Said(words("paused_help"), 0.06, style.TEXT)
    return Middle((*extra(words, shown), *lines))


def playing(words: Words, shown: Shown) -> Middle | None:
    """A play, whether or not a claim window is open: the same for both."""
    if shown.state != "playing":
        return None
    lines = [*extra(words, shown), *state(words, shown)]
    if shown.ended:
        return Middle((*lines, Said(words("ended"), 0.055, style.TEXT)))
    return Middle((*lines,), (Action("d", words("do_draw")),))


def plain(words: Words, shown: Shown) -> Middle:
    """Any state that has no screen of its own."""
    go_on: tuple[Action, ...] = (Action("enter", words("do_next"), "strong"),) if shown.ruled else ()
    if shown.state in ("waiting", "finished"):
        go_on = (Action("t", words("do_self_test")), *pair_anew(words, shown))
    return Middle((*extra(words, shown), *state(words, shown), *problem(words, shown)), go_on)


def pair_anew(words: Words, shown: Shown) -> tuple[Action, ...]:
    """Give the button that asks for another pairing, where the device may be given one."""
    return (Action("p", words("do_pair")),) if shown.may_pair else ()


def state(words: Words, shown: Shown) -> tuple[Said, ...]:
    """Give the state in a word, and what to do."""
    if shown.ruled:
        ruled = Said(words(f"ruled_{shown.ruled}"), 0.12, style.ATTENTION)
        return ruled, Said(words("recorded_help"), 0.055, style.QUIET)
    return Said(words(shown.state), 0.15, style.TEXT), Said(words(f"{shown.state}_help"), 0.06, style.QUIET)


def extra(words: Words, shown: Shown) -> tuple[Said, ...]:
    """Give the time that the play has left, where it is limited, and the extra time that the arbiter has given."""
    said = [] if shown.left_min is None else [_left(words, shown.left_min)]
    if shown.extra_min:
        said.append(words("extra_within" if said else "extra_time", minutes=shown.extra_min))
    over = shown.left_min is not None and shown.left_min <= 0
    return (Said(" · ".join(said), 0.055, style.ATTENTION if over else style.TEXT),) if said else ()


def _left(words: Words, minutes: int) -> str:
    if minutes > 0:
        return words("time_left", minutes=minutes)
    return words("time_over", minutes=-minutes) if minutes else words("time_is_up")


def problem(words: Words, shown: Shown) -> tuple[Said, ...]:
    """Give what was refused at the keyboard, if anything was."""
    return (Said(words.problem(shown.problem), 0.06, style.ATTENTION),) if shown.problem else ()
