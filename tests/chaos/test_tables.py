"""The people at the tables of a run: at which pace they act."""

from kiosk.table import DOUBTFUL_NS, Phase
from kiosk.table.events import ClaimWindowElapsed
from tests.chaos.tables import REACTION, Pace
from tests.kiosk.tables import S, Sitting, sitting_in


def let_window_close(sitting: Sitting) -> None:
    """Let a window run out that asks about presses of the first seconds."""
    assert sitting.table.closes_at is not None
    sitting.take(ClaimWindowElapsed(at=sitting.table.closes_at, asks=True))


def test_people_who_were_asked_too_late_whether_they_meant_hu_press_when_nobody_asks_any_more() -> None:
    pace, sitting = Pace(), sitting_in(Phase.PLAYING)
    assert pace.next(sitting.table, sitting.now) == sitting.now + REACTION
    sitting.press("east")
    let_window_close(sitting)
    assert sitting.table.doubt == "asked"
    let_window_close(sitting)  # a busy machine has called nobody meanwhile
    due = pace.next(sitting.table, sitting.now)
    assert due == sitting.table.since + DOUBTFUL_NS
    sitting.now = due - 2 * S  # `press` lets two seconds pass
    sitting.press("east")
    let_window_close(sitting)
    assert sitting.table.phase is Phase.DECLARED
