"""The main path of a play with the real window, real mouse events and the four buttons, to the next deal."""

from pathlib import Path

import pytest

from broker.protocol import SEATS
from kiosk.config import ScreenSettings
from kiosk.screens import SEEN_NS, Hand, ScreenWindow, Translations
from kiosk.table import ArbiterAdmitted, Phase
from tests.kiosk.screens.test_window import touched
from tests.kiosk.standing import Standing, standing
from tests.kiosk.tables import S


class Hands:
    """Somebody with a finger on a table's screen, who finds a button by what is written on it."""

    def __init__(self, table: Standing, window: ScreenWindow, words: Translations) -> None:
        self.table, self._window, self._words = table, window, words

    def touch(self, *names: str) -> None:
        """Touch one button after the other, named by its sentence, or by a digit that stands on it."""
        for name in names:
            label = self._words(name) if name in self._words else name
            shown = self.table.program.shown()
            self._window.show(shown)
            offered = {one.label: one.box for one in self._window._screen.targets(shown)}
            assert label in offered
            self.table.time.wait(SEEN_NS)
            for key in touched(self._window, offered[label].center):
                self.table.program.key(key)


@pytest.mark.parametrize(("language", "hand"), [("en", "right"), ("fr", "left"), ("zh", "right")])
def test_a_play_is_valued_corrected_accepted_and_followed_by_the_next_with_a_finger_alone(
    tmp_path: Path, language: str, hand: Hand
) -> None:
    words = Translations(language)
    with (
        standing(tmp_path) as table,
        ScreenWindow(ScreenSettings(driver="dummy", hand=hand), words, table.time) as window,
    ):
        hands = Hands(table, window, words)
        table.come_to(Phase.PLAYING)
        hands.touch("do_call", "do_uncall")
        table.press("west", "north")
        table.pass_time(9 * S)
        hands.touch("1", "2", "do_clear", "9", "do_back", "1", "8", "do_enter")  # west's value
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        hands.touch("do_false_hu", "do_back", "do_leave")  # that was nothing after all
        assert table.program.state.arbiter is None
        table.program._apply(ArbiterAdmitted(at=table.time.wait(), by="Anne"))
        hands.touch("do_false_hu", "8 IMP", "reason_1")  # north's: 8 IMP
        hands.touch("2", "4", "do_enter", "do_back", "2", "4", "do_enter")  # asked anew, for west alone
        hands.touch("east")
        assert table.is_in(Phase.ACCEPTING)
        hands.touch("do_refuse", "do_back", "1", "8", "do_enter", "do_self_drawn")
        outcome = table.program.state.outcome
        assert outcome is not None
        assert (outcome.win, dict(outcome.winners), table.program.state.fines["north"].imp) == (
            "self_drawn",
            {"west": 18},
            8,
        )
        table.press(*SEATS)
        assert table.is_in(Phase.RECORDED)
        hands.touch("do_next")
        assert (table.phase, table.program.state.index) == (Phase.RESTORING, 1)


def test_nobody_won_is_said_with_a_finger(tmp_path: Path) -> None:
    words = Translations()
    with standing(tmp_path) as table, ScreenWindow(ScreenSettings(driver="dummy"), words, table.time) as window:
        table.come_to(Phase.PLAYING)
        table.time.wait()
        Hands(table, window, words).touch("do_draw")
        table.pass_time(9 * S)
        outcome = table.program.state.outcome
        assert (table.phase, outcome and outcome.win) == (Phase.ACCEPTING, "draw")
