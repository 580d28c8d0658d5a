"""Scenes of a play that is kept after its result."""

from collections.abc import Callable
from dataclasses import replace

from broker.protocol import SEATS, LaidSeat, PlayFound
from kiosk.camera.observations import CameraView, LaidObservation
from kiosk.keeping import STEPS, Keeping
from kiosk.screens import ScreenView, with_keeping
from tests.kiosk.screens.counting_scenes import drawn
from tests.kiosk.tables import play

RIVER = LaidSeat(river=(*range(20, 26), 0, *range(27, 32), None, 33), gaps=True)
HAND = LaidSeat(hand=tuple(range(40, 50)), melds=((60, 61, 62),))


def keeping_scenes(recorded: Callable[[], ScreenView]) -> dict[str, Callable[[], ScreenView]]:
    """Return the scenes; `recorded` gives the screen that offers it."""

    def looking(at: int, laid: LaidSeat | None = None, problem: str | None = None, *, still: bool = True) -> ScreenView:
        keeping = Keeping(play(1), at)
        view = CameraView(1, drawn()) if laid else None
        seen = LaidObservation(keeping.target, laid, problem=problem, still=still, view=view)
        return with_keeping(recorded(), replace(keeping, observation=seen), offered=False)

    def told(answer: PlayFound | None, *, whole: bool = True) -> ScreenView:
        seats = {seat: LaidSeat(river=(1,), hand=(2,)) for seat in SEATS if whole}
        return with_keeping(recorded(), Keeping(play(1), len(STEPS), seats, answer=answer), offered=False)

    return {
        "recorded, play may be kept": lambda: with_keeping(recorded(), None, offered=True),
        "keep, river": lambda: looking(0),
        "keep, river read": lambda: looking(0, RIVER),
        "keep, moving": lambda: looking(2, RIVER, still=False),
        "keep, hand": lambda: looking(7),
        "keep, hand read": lambda: looking(7, HAND),
        "keep, unclear": lambda: looking(4, problem="river_unclear"),
        "keep, of another": lambda: looking(4, problem="laid_of_another"),
        "keep, told": lambda: told(None),
        "keep, found": lambda: told(PlayFound(round=1, steps=84, proved=79)),
        "keep, scorer fails": lambda: told(PlayFound(round=1, code="play_not_kept")),
        "keep, not all shown": lambda: told(PlayFound(round=1, code="no_play_fits"), whole=False),
        "keep, nothing fits": lambda: told(PlayFound(round=1, code="no_play_fits")),
    }
