"""The pace of the players at the tables of a run."""

from kiosk.table import DOUBTFUL_NS, Phase
from kiosk.table.events import ClaimWindowElapsed
from tests.chaos.tables import REACTION, Pace
from tests.kiosk.tables import S, Sitting, sitting_in


def let_window_close(sitting: Sitting) -> None:
    """Let the time run out in which the table asks about an early press."""
    assert sitting.table.closes_at is not None
    sitting.take(ClaimWindowElapsed(at=sitting.table.closes_at, asks=True))


def test_players_who_miss_the_question_about_hu_press_again_later() -> None:
    pace, sitting = Pace(), sitting_in(Phase.PLAYING)
    assert pace.next(sitting.table, sitting.now) == sitting.now + REACTION
    sitting.press("east")
    let_window_close(sitting)
    assert sitting.table.doubt == "asked"
    let_window_close(sitting)  # a busy machine has not run the thread meanwhile
    due = pace.next(sitting.table, sitting.now)
    assert due == sitting.table.since + DOUBTFUL_NS
    sitting.now = due - 2 * S  # `press` lets two seconds pass
    sitting.press("east")
    let_window_close(sitting)
    assert sitting.table.phase is Phase.DECLARED
