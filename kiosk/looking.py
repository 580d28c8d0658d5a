"""What is seen for one play: from what the camera's stream knows of the table to what is told of it.

OpenCV and the networks are loaded with this: on the eyes' thread, when the table's first picture is shown already.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from broker.contract.carrier_sheet import CarrierSheet
from broker.contract.plans import PlannedPlay
from kiosk.drawing import Drawing
from kiosk.eyes import CameraHealth, Seen
from kiosk.hand_looking import LookingAtHand, read_hand
from kiosk.heap_view import HeapView
from kiosk.looks import looks, strays
from kiosk.picture_looking import look_at_picture
from kiosk.sheet_seen import sheet_in
from kiosk.sight import Sight, Wanted, WholePicture, Winner
from kiosk.table.restoring.places import Place, deal_of, homes
from vision.live.background import BackgroundStream
from vision.live.camera import Camera
from vision.live.feed import CameraEvent, CameraLost, Feed, Frame
from vision.live.watcher import Stir, Watched
from vision.reader import read_picture
from vision.reading import Reading

WAIT_S: Final = 0.5
"""Without a frame for so long the camera is taken for lost."""

AGAIN_S: Final = 0.1
"""Between two looks at the last picture of a camera that has ended."""


def look(
    camera: Callable[[], Camera],
    wanted: Wanted | None,
    size: tuple[int, int],
    clock: Callable[[], int],
    tell: Callable[[Seen], None],
    over: Callable[[], bool],
) -> None:
    """Open a camera and tell what it sees of what is wanted, until that is over. Of nothing only how the camera is."""

    def changed(event: CameraEvent) -> None:
        tell(CameraHealth(event.code if isinstance(event, CameraLost) else None))

    if isinstance(wanted, WholePicture):
        with Feed(camera, changed) as feed:
            look_at_picture(_frames(feed, over), size, tell)
        return
    looking = _looking(wanted, size)
    read = read_hand if isinstance(wanted, Winner) else read_picture
    with Feed(camera, changed) as feed, BackgroundStream(read) as stream:
        for frame in _frames(feed, over):
            if looking is None:
                continue
            watched = stream.lose() if frame is None else stream.see(frame.at, frame.picture)
            for seen in looking.see(watched, frame, clock()):
                tell(seen)


def _looking(wanted: PlannedPlay | Winner | None, size: tuple[int, int]) -> "Looking | LookingAtHand | None":
    if isinstance(wanted, Winner):
        return LookingAtHand(wanted, size)
    return None if wanted is None else Looking(wanted, size)


def _frames(feed: Feed, over: Callable[[], bool]) -> Iterator[Frame | None]:
    """Give frames as they come, None where none does. The last picture of a folder stays, as a tray does."""
    last: Frame | None = None
    while not over():
        frame = feed.wait(last.number if last else 0, WAIT_S)
        if frame is None and feed.ended:
            time.sleep(AGAIN_S)
            frame = last and replace(last, at=last.at + AGAIN_S)
        last = frame or last
        yield frame


class Looking:
    """What is seen for one play: from what is known of the table to what is told of it."""

    def __init__(self, play: PlannedPlay, size: tuple[int, int]) -> None:
        self._play = play
        at_home: dict[int, Place] = homes(deal_of(play.order))
        self._judged: Reading | None = None
        self._looked_at: Reading | None = None
        self._sheet: CarrierSheet | None = None
        self._drawing = Drawing(lambda picture, reading: HeapView(picture, reading, at_home, size))
        self._told = Sight()

    def see(self, watched: Watched, frame: Frame | None, now: int) -> tuple[Seen, ...]:
        """Give what is new: what the screen is to show, then looks at trays that are settled.

        A carrier's sheet is looked for once in each picture that was read: often enough for what lies still.
        """
        shown = watched.shown
        if shown is not self._looked_at and frame is not None:
            self._looked_at, self._sheet = shown, sheet_in(frame.picture)
        told: list[Seen] = []
        sight = self._sight(watched, frame)
        if sight != self._told:
            self._told = sight
            told.append(sight)
        if watched.stir is Stir.SETTLED and shown is not None and shown is not self._judged:
            self._judged = shown
            told.extend(looks(shown, self._play, now))
        return tuple(told)

    def _sight(self, watched: Watched, frame: Frame | None) -> Sight:
        shown = watched.shown
        if shown is None:
            return Sight()
        sight = Sight(len(watched.covered), strays(shown, self._play), sheet=self._sheet)
        if shown.places or frame is None:
            return sight
        return replace(sight, view=self._drawing.view(watched, shown, frame))
