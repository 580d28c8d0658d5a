"""A result: shown to the four seats, then recorded."""

from kiosk.screens import style
from kiosk.screens.middle import Action, Middle
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.shown import Shown, Winning
from kiosk.screens.words import Words


def result(words: Words, shown: Shown) -> Middle | None:
    """The result of a play that has one."""
    if shown.result is None:
        return None
    recorded = shown.state == "recorded"
    lines = [
        Said(words(shown.state), 0.1 if recorded else 0.07, style.GOOD if recorded else style.QUIET),
        Said(_how(words, shown.result), 0.07 if recorded else 0.11, style.TEXT),
        Said(words(f"{shown.state}_help"), 0.055, style.QUIET),
    ]
    lines += receipt(words, shown)
    action = Action("enter", words("do_next"), "strong") if recorded else Action("r", words("do_refuse"))
    return Middle((*extra(words, shown), *lines, *problem(words, shown)), (action,), square=shown.receipt_link)


def receipt(words: Words, shown: Shown) -> list[Said]:
    """Give the code to be noted down; and what the QR code beside it is for, where there is one."""
    if not shown.receipt:
        return []
    code = Said(words("receipt", code=shown.receipt), 0.085, style.TEXT)
    return [code, Said(words("receipt_help"), 0.055, style.QUIET)] if shown.receipt_link else [code]


def _how(words: Words, winning: Winning) -> str:
    if winning.win == "draw":
        return words("draw")
    if winning.discarder is None:
        return words("self_drawn")
    return words("on_discard", seat=words.seat(winning.discarder))
