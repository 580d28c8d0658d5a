"""When a hand can be counted, and what the table knows of it before anything is looked at. Pure."""

from typing import Final

from broker.contract.plans import PlannedPlay
from broker.contract.words import Seat
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.session.yakuman import EIGHT
from broker.rules.riichi.wall import wall_of
from kiosk.counting.as_said import AsSaid
from kiosk.counting.mcr import OfMcr
from kiosk.counting.riichi import Known, OfRiichi
from kiosk.counting.state import Counting
from kiosk.entry import Form
from kiosk.riichi_entry import WinForm
from kiosk.riichi_keys import RiichiForm
from kiosk.sight import Winner
from kiosk.table.state import Phase, Table

AnyForm = Form | RiichiForm

INDICATORS: Final = -1
"""The row of the last wall that has the ten indicators (docs/riichi-session.md)."""


def winner_asked(state: Table, form: AnyForm | None) -> Winner | None:
    """Give whose value the form asks for: never before the claim window has closed and somebody has declared."""
    if state.phase is not Phase.DECLARED or state.play is None or state.paused:
        return None
    seat = _seat(form)
    return None if seat is None else Winner(state.play, seat)


def _seat(form: AnyForm | None) -> Seat | None:
    match form:
        case Form():
            return form.seat
        case WinForm(asked="han"):
            return form.seat
    return None


def begun(winner: Winner, state: Table) -> Counting:
    """Begin to count a hand."""
    rules = state.profile
    if isinstance(rules, RiichiProfile):
        return Counting(winner, OfRiichi(_known(winner, state, rules)))
    return Counting(winner, OfMcr(None if _are_read(state) else AsSaid()))


def _are_read(state: Table) -> bool:
    """Say whether a device has read the walls: who drew a tile is known by nobody's word."""
    return bool(state.work.by) and state.work.verifier != "hand"


def _known(winner: Winner, state: Table, rules: RiichiProfile) -> Known:
    play, session = winner.play, state.session
    return Known(
        round_wind=play.prevalent_wind,
        dealer=play.dealer,
        deposit=None if session is None else winner.seat in session.riichi,
        open_riichi=rules.hand.open_riichi.value,
        red_fives=rules.hand.red_fives.value,
        any_hand=_needs_no_yaku(state, rules),
        dead_wall=_indicators(play) if session is None and _are_read(state) else (),
    )


def _indicators(play: PlannedPlay) -> tuple[int, ...]:
    """Give the indicators of a planned deal: the five that may be turned, then those under them."""
    return play.order[wall_of(play.dealer)[-1]][INDICATORS]


def _needs_no_yaku(state: Table, rules: RiichiProfile) -> bool:
    after_eight = state.session is not None and state.session.state.counters >= EIGHT
    return after_eight and rules.hand.paarenchan.value == "any_hand"
