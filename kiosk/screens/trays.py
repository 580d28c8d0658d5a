"""A tray that is not right, or not read: the next move, and where."""

from broker.contract.words import SEATS, Seat
from kiosk.screens import style
from kiosk.screens.middle import Action, Middle
from kiosk.screens.moves import sentence
from kiosk.screens.pen import Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.sentences import verdict
from kiosk.screens.shown import Shown
from kiosk.screens.tray_drawing import of_look
from kiosk.screens.words import Words
from kiosk.table.restoring.lying import What
from kiosk.table.restoring.moves import PutIn, places_of
from kiosk.table.restoring.places import deal_of
from kiosk.table.restoring.work import Work
from kiosk.table.state import Check


def tray(words: Words, shown: Shown) -> Middle | None:
    """The tray that was looked at last, where it is not right."""
    check, work, order = shown.check, shown.work, shown.order
    if check is None or work is None or order is None:
        return None
    lines = [
        Said(verdict(words, check), 0.07, style.ATTENTION),
        *_move(words, work),
        *_beside(words, shown),
        *_covered(words, shown),
    ]
    paint = of_look(work.carrier, deal_of(order), _drawn(work, check), work.move)
    by_hand = (Action("h", words("do_by_hand")),) if check.unread else ()
    return Middle((*extra(words, shown), *lines, *problem(words, shown)), by_hand, paint=paint, seats=False)


def _drawn(work: Work, check: Check) -> Seat:
    """Give the tray that is drawn: the one under the camera, if the move touches it."""
    seats = [place.seat for place in places_of(work.move)] if work.move else []
    return check.seat if check.seat in seats or not seats else seats[0]


def _move(words: Words, work: Work) -> tuple[Said, ...]:
    if work.move is None:
        return ()
    face = work.carrier[work.move.one].what is What.FACE_UP
    done = words("move_done") + "   " if work.ticked else ""
    left = Said(done + words("moves_left", count=work.left), 0.05, style.GOOD if work.ticked else style.QUIET)
    return Said(sentence(words, work.move, face=face), 0.085, style.TEXT), left


def _beside(words: Words, shown: Shown) -> tuple[Said, ...]:
    """Say that the tile that is missing lies in view, in no tray."""
    move = shown.work.move if shown.work else None
    in_view = shown.bench.sight.in_view if shown.bench else ()
    if not isinstance(move, PutIn) or all(one.serial != move.serial or one.foreign for one in in_view):
        return ()
    return (Said(words("move_in_beside", serial=move.serial), 0.055, style.GOOD),)


def _right(words: Words, work: Work) -> tuple[Said, ...]:
    """Name the trays that are right: the seats have no room beside the drawing."""
    seats = ", ".join(words.seat(seat) for seat in SEATS if seat in work.verified)
    return (Said(words("trays_right", seats=seats), 0.05, style.GOOD),) if seats else ()


def _covered(words: Words, shown: Shown) -> tuple[Said, ...]:
    covered = shown.bench.sight.covered if shown.bench else 0
    return (Said(words("covered", count=covered), 0.05, style.ATTENTION),) if covered else ()
