"""Who has had a coming deal at another table is heard between plays, before the next deal's tiles are touched."""

from pathlib import Path

import msgspec

from kiosk.table import guards
from kiosk.table.state import Phase
from tests.kiosk.journals import receipt
from tests.kiosk.standing import standing
from tests.kiosk.tables import plan, play


def test_a_plan_that_says_nothing_else_new_stops_the_next_play(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RECORDED)
        table.program._uplink.settle(receipt())
        table.program._plan_came(msgspec.structs.replace(plan(play(1), play(2)), repeats={2: ("p03",)}))
        table.program.step(timeout=0)
        table.type("enter")
        assert guards.standing(table.program.state) == ("player_played_deal",)
        assert table.program.shown().repeating == ("Tom Beck",)
