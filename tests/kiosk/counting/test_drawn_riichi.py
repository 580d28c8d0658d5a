"""A hand of riichi with its indicators: drawn as a picture, read, sent to the scorer and counted."""

from dataclasses import replace
from typing import Final

import msgspec
from msgspec.structs import replace as changed

from broker.protocol import Counted, CountRequest, RiichiValue, RiichiWin, RiichiWinDetails
from kiosk.camera.loop import HandWatcher, read_hand
from kiosk.camera.observations import HandObservation
from kiosk.counting.desk import CountDesk
from kiosk.counting.questions import serials_by_group
from kiosk.input import WinForm
from kiosk.input.forms import press_win_key
from kiosk.table.events import DepositLaid
from tests.broker.scorer.small import NAME
from tests.broker.scorer.test_counting_riichi import BOOKED, LAID, TABLE, answer_to, declared
from tests.kiosk.riichi_tables import RiichiSitting, session_plan
from vision.cameras.addresses import open_camera
from vision.live.watcher import Stillness, WatchedTable
from vision.sim.scene import lay_hand
from vision.sim.table import SimulatedTable, SimulatedTile

FORM: Final = WinForm(("east",))


def in_riichi() -> RiichiSitting:
    """A session with the scorer's set, in which East is in riichi and has won."""
    given = session_plan()
    assert given.session is not None
    sitting = RiichiSitting(changed(given, session=changed(given.session, set=BOOKED.set)))
    sitting.begin()
    sitting.take(DepositLaid(at=sitting.wait(), seat="east", laid=True))
    sitting.declare("east")
    return sitting


def drawn() -> HandObservation:
    """Draw the hand on the mat with the indicator in a row below it, and read the picture as the kiosk does."""
    world = SimulatedTable()
    groups = [[SimulatedTile(BOOKED.set, serial) for serial in group] for group in LAID.groups]
    world.spread(lay_hand(groups, [[SimulatedTile(BOOKED.set, serial) for serial in LAID.under[0]]]))
    with open_camera("sim://tray?seed=3", world=world) as camera:
        reading = read_hand(camera.frame())
    sitting, desk = in_riichi(), CountDesk(NAME, TABLE, lambda _: None)
    desk.key("b", sitting.table, FORM, 0)
    assert desk.camera_target is not None
    watched = WatchedTable(0.0, Stillness.SETTLED, shown=reading)
    (sight,) = HandWatcher(desk.camera_target, (800, 480)).see(watched, None, 0)
    return sight


def test_a_drawn_hand_of_riichi_is_read_counted_and_entered() -> None:
    sight, sitting = drawn(), in_riichi()
    assert (sight.rows, serials_by_group(sight)) == ((1, 1, 1), (*LAID.groups, LAID.under[0]))
    asked = list[CountRequest]()
    desk = CountDesk(NAME, TABLE, asked.append)
    desk.key("b", sitting.table, FORM, 0)
    desk.observe(sight)
    for key in ("t", "t", "enter"):
        desk.key(key, sitting.table, FORM, 0)
    (request,) = asked
    assert request.said == msgspec.convert(
        {"kind": "riichi", "laid": {"self_drawn": False}, "round_wind": "east", "dealer": "east", "riichi": "riichi"}
        | {"dora": LAID.under[0]},
        type=RiichiWinDetails,
    )
    answer = answer_to(request, declared())
    assert isinstance(answer, RiichiValue)
    desk.take(Counted(id="answer-01", event=NAME, seq=1, table=TABLE, asked=request.id, answer=answer))
    form = replace(FORM, digits="9")
    for key in desk.key("enter", sitting.table, FORM, 0) or ():
        filled = press_win_key(form, key)
        assert isinstance(filled, WinForm)
        form = filled
    assert form.wins == (RiichiWin(han=4, fu=30),)
