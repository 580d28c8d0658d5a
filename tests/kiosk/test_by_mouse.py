"""The main path of a play, with the real window, real mouse events and the four buttons, up to the next deal."""

from pathlib import Path

import pytest

from broker.i18n import Translator
from broker.protocol import SEATS
from kiosk.config import ScreenSettings
from kiosk.screens import ScreenWindow
from kiosk.screens.drawing import Hand
from kiosk.screens.window import SEEN_NS
from kiosk.table import Phase
from kiosk.table.events import ArbiterAdmitted
from tests.kiosk.screens.test_window import touched
from tests.kiosk.standing import Standing, standing
from tests.kiosk.tables import S


class Hands:
    """A finger on a table's screen that finds buttons by their labels."""

    def __init__(self, table: Standing, window: ScreenWindow, _: Translator) -> None:
        self.table, self._window, self._ = table, window, _

    def touch(self, *names: str) -> None:
        """Touch buttons one after the other, each named by its text or its digit."""
        for name in names:
            label = self._(name)
            shown = self.table.program.view()
            self._window.show(shown)
            offered = {one.label.partition("\n")[0]: one.box for one in self._window._screen.targets(shown)}
            assert label in offered
            self.table.time.wait(SEEN_NS)
            for key in touched(self._window, offered[label].center):
                self.table.program.key(key)


@pytest.mark.parametrize(("language", "hand"), [("en", "right"), ("fr", "left"), ("zh", "right")])
def test_a_play_is_valued_corrected_accepted_and_followed_by_the_next_by_touch_alone(
    tmp_path: Path, language: str, hand: Hand
) -> None:
    _ = Translator(language)
    with standing(tmp_path) as table, ScreenWindow(ScreenSettings(driver="dummy", hand=hand), _, table.time) as window:
        hands = Hands(table, window, _)
        table.come_to(Phase.PLAYING)
        hands.touch("Call the arbiter", "Cancel the call")
        table.press("west", "north")
        table.pass_time(9 * S)
        hands.touch("East", "Back", "East", "East")  # on whose tile West declared, then North
        hands.touch("1", "2", "Clear", "9", "Delete", "1", "8", "Enter")  # West's value
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        hands.touch("False hu", "Back", "Leave")  # it was not false after all
        assert table.program.state.arbiter is None
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        hands.touch("False hu", "8 IMP", "hand not valid")  # North's: 8 IMP
        hands.touch("2", "4", "Enter", "Back", "2", "4", "Enter")  # asked again, for West alone
        hands.touch("East")
        assert table.is_in(Phase.ACCEPTING)
        hands.touch("Wrong: correct it", "1", "8", "Enter", "Self-drawn")
        outcome = table.program.state.outcome
        assert outcome is not None
        assert (outcome.win, dict(outcome.winners), table.program.state.fines["north"].imp) == (
            "self_drawn",
            {"west": 18},
            8,
        )
        table.press(*SEATS)
        assert table.is_in(Phase.RECORDED)
        hands.touch("Next deal")
        assert (table.phase, table.program.state.index) == (Phase.RESTORING, 1)


def test_nobody_won_can_be_reported_by_touch(tmp_path: Path) -> None:
    _ = Translator()
    with standing(tmp_path) as table, ScreenWindow(ScreenSettings(driver="dummy"), _, table.time) as window:
        table.come_to(Phase.PLAYING)
        table.time.wait()
        Hands(table, window, _).touch("Wall empty, no hu")
        table.pass_time(9 * S)
        outcome = table.program.state.outcome
        assert (table.phase, outcome and outcome.win) == (Phase.ACCEPTING, "draw")
