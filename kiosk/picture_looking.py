"""What the self-test sees of the camera: its whole picture as it comes, and once a second what is wrong with it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from kiosk.heap_picture import Cut
from kiosk.sight import PictureSight, View
from vision.geometry import Picture
from vision.live.feed import Frame
from vision.live.mount.hints import hints
from vision.live.mount.measures import Setup, measure
from vision.live.outlines import outlines

SETUP: Final = Setup()
"""The size of the set's tiles is not known here, so that distances are not told: the installer's command does that."""

TOLD: Final = (
    *("camera_no_tiles", "camera_dark", "camera_bright", "camera_glare", "camera_soft", "camera_tilted"),
    "camera_noisy",
)
"""What can be told without knowing the tiles."""

PICTURE_S: Final = 0.2
"""Between two pictures: nothing in them moves that anybody has to follow."""

MEASURED_S: Final = 1.0


def look_at_picture(
    frames: Iterable[Frame | None], size: tuple[int, int], tell: Callable[[PictureSight], None]
) -> None:
    """Tell of frames what the screen is to show; nothing where there are none."""
    shown_at = measured_at = float("-inf")
    wrong: tuple[str, ...] = ()
    for frame in frames:
        if frame is None:
            shown_at = measured_at = float("-inf")
            tell(PictureSight())
            continue
        if frame.at < shown_at + PICTURE_S:
            continue
        if frame.at >= measured_at + MEASURED_S:
            wrong, measured_at = (*troubles(frame.picture),), frame.at
        shown_at = frame.at
        tell(PictureSight(View(frame.number, _whole(frame.picture, size)), wrong))


def troubles(picture: Picture) -> Iterator[str]:
    """Give the codes of what is wrong with a picture, shape (height, width, 3), BGR."""
    told = hints(measure(picture, outlines(picture), SETUP), SETUP)
    yield from (hint.code for hint in told if hint.code in TOLD)


def _whole(picture: Picture, size: tuple[int, int]) -> Picture:
    height, width = picture.shape[:2]
    return Cut((0, 0), (width, height), min(size[0] / width, size[1] / height)).of(picture)
