"""Sheets are given as they are at the moment in which somebody asks."""

from broker.contract.rulings import Deadline
from broker.desk.access import Visitor
from broker.desk.sheets import Sheets
from tests.broker.scorer.rulings.ruled import AT, room_of, ruling


def test_every_sheet_turns_final_by_itself_when_the_correction_period_ends() -> None:
    room, clock = room_of(), [AT]
    room.apply(ruling(room, Deadline(at=AT)))
    sheets, anyone = Sheets(room.moment, lambda: clock[0]), Visitor()
    found = []
    for clock[0] in (AT, AT + 1, AT):
        found.append((sheets.ladder(anyone).final, sheets.player(anyone, "p01").final))
    assert found == [(False, False), (True, True), (False, False)]
