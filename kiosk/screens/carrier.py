"""Whose carrier is here: said by the sheet that lies in it, or by its tiles, before one of them is touched."""

from kiosk.screens import style
from kiosk.screens.middle import Action, Middle
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words
from kiosk.table.state import Check


def carrier_sheet(words: Words, shown: Shown) -> Middle | None:
    """A carrier's sheet was scanned, or lies under the camera."""
    sheet = shown.bench.sheet if shown.bench else None
    if sheet is None:
        return None
    name = words("carrier_elsewhere") if sheet.deal is None else words("carrier_of", deal=sheet.deal)
    right = sheet.deal == shown.deal
    lines = (
        Said(name, 0.1, style.GOOD if right else style.ATTENTION),
        *(_goes_on(words) if right else _fetch(words, shown)),
    )
    return Middle((*extra(words, shown), *lines, *problem(words, shown)), (Action("back", words("do_back")),))


def another_carrier(words: Words, shown: Shown) -> Middle | None:
    """A tray of another deal lies under the camera."""
    check, by_hand = shown.check, shown.bench is not None and shown.bench.showing == "hand"
    if check is None or (check.deal is None and (check.aside is None or by_hand)):
        return None
    lines = (_whose(words, shown, check), *_fetch(words, shown), *_or_these(words, check))
    return Middle((*extra(words, shown), *lines, *problem(words, shown)), _go_on(words, check))


def _whose(words: Words, shown: Shown, check: Check) -> Said:
    if check.deal is not None:
        return Said(words("carrier_of", deal=check.deal), 0.1, style.ATTENTION)
    name = "carrier_of_another_set" if check.of_another_set else "carrier_not_of"
    return Said(words(name, deal=shown.deal), 0.1, style.ATTENTION)


def _fetch(words: Words, shown: Shown) -> tuple[Said, ...]:
    return (
        Said(words("carrier_wanted", deal=shown.deal), 0.075, style.TEXT),
        Said(words("carrier_help"), 0.055, style.TEXT),
    )


def _goes_on(words: Words) -> tuple[Said, ...]:
    return Said(words("carrier_right"), 0.075, style.TEXT), Said(words("carrier_right_help"), 0.055, style.TEXT)


def _or_these(words: Words, check: Check) -> tuple[Said, ...]:
    return (Said(words("carrier_or_these"), 0.05, style.QUIET),) if _may_be_laid(check) else ()


def _may_be_laid(check: Check) -> bool:
    """A carrier of unknown tiles may hold no deal at all: tiles of this set that somebody has put into trays."""
    return check.aside is not None and not check.of_another_set


def _go_on(words: Words, check: Check) -> tuple[Action, ...]:
    lay = (Action("enter", words("do_take_apart")),) if _may_be_laid(check) else ()
    by_hand = (Action("h", words("do_by_hand")),) if check.aside is not None and check.unread else ()
    return (*lay, *by_hand)
