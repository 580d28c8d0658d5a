"""A press while walls are restored checks its player in: it shows at once, and is neither a confirmation nor hu."""

from pathlib import Path

from broker.protocol import SEATS
from kiosk.loop import lamps_shown
from kiosk.screens import RestoringView
from kiosk.table import Phase
from tests.kiosk.standing import phase_view, standing


def test_each_press_marks_its_seat_and_lights_its_lamp(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RESTORING)
        table.press("west", "west", "north")
        view = table.program.view()
        assert phase_view(view, RestoringView).arrived == {"west", "north"}
        assert lamps_shown(view) == {"east": "off", "south": "off", "west": "on", "north": "on"}


def test_presses_while_walls_are_restored_confirm_nothing_and_declare_nothing(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RESTORING)
        table.press(*SEATS, *SEATS)
        table._restore()
        state = table.program.state
        assert (state.phase, state.agreed, state.declarations) == (Phase.CONFIRMING, frozenset(), ())


def test_an_extra_press_of_each_player_as_the_play_begins_makes_no_false_hu(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.CONFIRMING)
        table.press(*SEATS)
        assert table.is_in(Phase.PLAYING)
        table.time.wait()
        table.press_now(*SEATS)
        for _ in range(2):
            table.pass_time(9 * 10**9)
        state = table.program.state
        assert (state.phase, state.declarations, state.fines, state.doubt) == (Phase.PLAYING, (), {}, None)
