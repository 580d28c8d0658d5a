"""A play that arbiters have settled before it was played is left out, and comes back when they take that back."""

from pathlib import Path

import msgspec

from kiosk.table.state import Phase
from tests.kiosk.journals import receipt
from tests.kiosk.standing import standing
from tests.kiosk.tables import plan, play


def test_its_trays_are_laid_no_further_and_it_is_played_after_all_when_it_is_not_settled_any_more(
    tmp_path: Path,
) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RECORDED)
        table.program._uplink.settle(receipt())
        whole = plan(play(1), play(2), play(3), recorded=(1,))
        table.program._plan_came(whole)
        table.program.step(timeout=0)
        table.type("enter")
        assert table.program.state.play == play(2)
        table.program._plan_came(msgspec.structs.replace(whole, recorded=(1, 2), settled=(2,)))
        table.program.step(timeout=0)
        assert (table.program.state.phase, table.program.state.play) == (Phase.RESTORING, play(3))
        table.program._plan_came(msgspec.structs.replace(whole, recorded=(1, 2, 3), settled=(2, 3)))
        table.program.step(timeout=0)
        assert table.program.state.phase is Phase.FINISHED
        table.program._plan_came(msgspec.structs.replace(whole, recorded=(1, 3), settled=(3,)))
        table.program.step(timeout=0)
        assert (table.program.state.phase, table.program.state.play) == (Phase.RESTORING, play(2))
