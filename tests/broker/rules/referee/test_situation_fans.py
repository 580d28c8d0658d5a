"""What the way of winning adds to a hand."""

from typing import Final

import pytest

from broker.rules.referee.actions import Action
from broker.rules.referee.turns import Turns, begin
from tests.broker.rules.referee.turning import FULL, did
from tests.broker.rules.variants import seats

LATE: Final = seats(5, 0, 5, 5)
"""East is in LTW."""

KONG: Final = Action("concealed_kong", "east")


@pytest.mark.parametrize(
    ("state", "actions", "fans"),
    [
        (begin(FULL, "east"), [Action("draw", "east"), Action("self_hu", "east")], ()),
        (begin(FULL, "east", "hold"), [Action("self_hu", "east")], ()),
        (begin(FULL, "east", "claim"), [Action("hu_on_discard", seats=("west",))], ()),
        (begin(LATE, "east"), [Action("draw", "east"), Action("self_hu", "east")], ("Last Tile Draw",)),
        (begin(LATE, "east", "claim"), [Action("hu_on_discard", seats=("west", "south"))], ("Last Tile Claim",)),
        (
            begin(FULL, "east", "hold"),
            [KONG, Action("draw", "east"), Action("self_hu", "east")],
            ("Out with Replacement Tile",),
        ),
        (
            begin(FULL, "east", "hold"),
            [Action("added_kong", "east"), Action("draw", "east"), Action("self_hu", "east")],
            ("Out with Replacement Tile",),
        ),
        (
            begin(LATE, "west", "claim"),
            [Action("melded_kong", "east"), Action("draw", "east"), Action("self_hu", "east")],
            ("Last Tile Draw", "Out with Replacement Tile"),
        ),
        (
            begin(FULL, "east", "hold"),
            [Action("added_kong", "east"), Action("hu_on_discard", "south")],
            ("Robbing the Kong",),
        ),
        (
            begin(FULL, "east", "hold"),
            [KONG, Action("draw", "east"), Action("discard", "east"), Action("hu_on_discard", "south")],
            (),
        ),
        (
            begin(FULL, "north", "claim"),
            [
                Action("melded_kong", "east"),
                Action("draw", "east"),
                Action("discard", "east"),
                Action("no_claim"),
                Action("draw", "south"),
                Action("self_hu", "south"),
            ],
            (),
        ),
    ],
)
def test_a_win_has_its_situation_fans(state: Turns, actions: list[Action], fans: tuple[str, ...]) -> None:
    end = did(state, *actions)
    assert (end.over, end.situation_fans) == ("win", fans)
