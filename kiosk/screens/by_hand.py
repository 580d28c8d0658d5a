"""A tray whose rows somebody ticks without camera and scanner: the list of what belongs where."""

from typing import Final

from broker.contract.words import Seat, Verifier
from kiosk.bench import ROW_KEYS, tray_by_hand
from kiosk.screens import style
from kiosk.screens.middle import Action, Middle
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.shown import Shown
from kiosk.screens.tray_drawing import Drawn
from kiosk.screens.words import Words
from kiosk.table.restoring.places import Place, deal_of
from kiosk.table.restoring.work import Work

BY: Final[Verifier] = "hand"


def by_hand(words: Words, shown: Shown) -> Middle | None:
    """The next tray that nobody has vouched for."""
    bench, work = shown.bench, shown.work
    if bench is None or work is None or shown.order is None or bench.showing != BY:
        return None
    seat = tray_by_hand(work)
    if seat is None:
        return None
    lines = (
        *extra(words, shown),
        Said(words("by_hand", seat=words.seat(seat)), 0.075, style.TEXT),
        Said(words("by_hand_help"), 0.045, style.ATTENTION),
        *problem(words, shown),
    )
    return Middle(lines, _keys(words, work, seat), paint=_tray(shown, work, seat).paint, seats=False)


def _keys(words: Words, work: Work, seat: Seat) -> tuple[Action, ...]:
    rows = tuple(
        Action(key, words("do_untick_row" if (seat, row) in work.rows else "do_tick_row", row=row + 1))
        for row, key in enumerate(ROW_KEYS)
    )
    return (*rows, Action("h", words("do_camera")))


def _tray(shown: Shown, work: Work, seat: Seat) -> Drawn:
    """Draw what belongs in the tray; a row that is ticked is filled."""
    deal = {place: serial for place, serial in deal_of(shown.order or {}).items() if place.seat == seat}
    ticked: tuple[Place, ...] = tuple(place for place in deal if (seat, place.row) in work.rows)
    colours = {place: style.GOOD if place in ticked else style.TEXT for place in deal}
    return Drawn(seat, colours, {place: str(serial) for place, serial in deal.items()}, ticked)
