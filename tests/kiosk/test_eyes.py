"""What the kiosk is told of what lies under its camera: real pictures of a simulated tray, really read."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import pytest

from broker.contract.plans import PlannedPlay
from broker.contract.words import Seat
from kiosk.eyes import CameraHealth, Eyes, Seen
from kiosk.heap_view import in_place
from kiosk.looks import looks, strays
from kiosk.table.events import TrayChecked
from kiosk.table.restoring.heap import Sighted
from tests.kiosk.tables import play
from tests.vision.live.tables import corners, heap, stray
from vision.live.cameras import open_camera
from vision.live.motion import Sketch
from vision.reading import Place, Read, Reading, State
from vision.twins.world import Laid, TrayTwin

PLAY: Final = play(1)
LONG_S: Final = 120.0


def laid(seat: Seat, of: PlannedPlay = PLAY) -> list[list[Laid | None]]:
    return [[Laid(of.set, serial) for serial in row] for row in of.order[seat]]


class Watching:
    """Eyes over a tray, and what they tell."""

    def __init__(self, trays: TrayTwin) -> None:
        self.trays = trays
        self.told: queue.SimpleQueue[Seen] = queue.SimpleQueue()
        self.eyes = Eyes(lambda: open_camera("sim://tray?fps=20", world=trays), self.told.put, lambda: 7)

    def look(self) -> TrayChecked:
        """Wait for the next look at a tray."""
        while not isinstance(seen := self.told.get(timeout=LONG_S), TrayChecked):
            pass
        return seen

    def health(self) -> str | None:
        """Wait for news of the camera."""
        while not isinstance(seen := self.told.get(timeout=LONG_S), CameraHealth):
            pass
        return seen.code


@contextmanager
def watching() -> Iterator[Watching]:
    made = Watching(TrayTwin())
    made.eyes.start()
    try:
        yield made
    finally:
        made.eyes.stop()


def test_trays_are_told_when_they_are_settled_and_a_lost_camera_when_it_is_lost() -> None:
    with watching() as made:
        assert made.health() is None
        made.trays.lay(laid("south"))
        made.eyes.look_for(PLAY)
        assert made.look() == TrayChecked(at=7, seat="south", rows=PLAY.order["south"])
        rows = laid("west")
        rows[1][2], rows[1][3] = rows[1][3], rows[1][2]
        made.trays.lay(rows)
        look = made.look()
        assert (look.seat, [(wrong.kind, wrong.row, wrong.col) for wrong in look.wrong]) == (
            "west",
            [("swapped", 1, 2)],
        )
        made.trays.unplug()
        assert made.health() == "camera_unplugged"


def test_the_last_picture_of_a_folder_stays_under_the_eyes(tmp_path: Path) -> None:
    """Practice without a camera: a folder with a picture of a tray."""
    with open_camera("sim://tray", world=TrayTwin(laid("north"))) as camera:
        cv2.imwrite(str(tmp_path / "tray.png"), camera.frame())
    told: queue.SimpleQueue[Seen] = queue.SimpleQueue()
    eyes = Eyes(lambda: open_camera(f"pictures:{tmp_path}"), told.put, lambda: 7)
    eyes.start()
    try:
        eyes.look_for(PLAY)
        while (seen := told.get(timeout=LONG_S)) == CameraHealth(None):
            pass
    finally:
        eyes.stop()
    assert seen == TrayChecked(at=7, seat="north", rows=PLAY.order["north"])


def tile(serial: int | None, row: int, col: int, seat: str | None = None) -> Place:
    quad = corners(col * 24.0, row * 34.0)
    read = Read(serial, "01" if serial else None, quad, 0.9, 0.0, row, col, seat)
    return Place(row, col, State.BACK, read, seat, quad)


def carrier(*order: tuple[str, Seat]) -> Reading:
    """Read four trays, each named by where it lies, and whose tiles are in it."""
    places = tuple(
        tile(serial, row, col, at)
        for at, seat in order
        for row, line in enumerate(PLAY.order[seat])
        for col, serial in enumerate(line)
    )
    return Reading(tuple(place.read for place in places if place.read), places)


def test_a_whole_carrier_is_four_looks_and_whose_a_tray_is_its_tiles_say() -> None:
    reading = carrier(("E", "west"), ("S", "east"), ("W", "south"), ("N", "north"))
    assert {look.seat: (look.rows, look.wrong) for look in looks(reading, PLAY, 1)} == {
        seat: (rows, ()) for seat, rows in PLAY.order.items()
    }


def test_a_tray_of_which_nothing_was_read_is_nobodys() -> None:
    reading = carrier(("E", "west"))
    blank = tuple(replace(place, read=place.read and replace(place.read, serial=None)) for place in reading.places)
    assert [*looks(replace(reading, places=blank), PLAY, 1)] == []


def test_tiles_beside_the_trays_are_told_with_what_is_wrong_with_them() -> None:
    other = replace(stray(9, 80.0, 0.0), set="02")
    face = replace(stray(None, 120.0, 0.0), face_up=True)
    lettered = replace(stray(11, 160.0, 0.0), set="C")
    own = replace(stray(7, 0.0, 0.0), set="01")
    assert strays(heap(own, other, face, lettered), PLAY) == (
        Sighted(7),
        Sighted(9, foreign=True),
        Sighted(None, face_up=True),
        Sighted(11),
    )


@pytest.mark.parametrize(("changed", "left"), [(0, (True, True)), (120, (False, True))])
def test_a_tile_that_was_taken_away_or_is_under_a_hand_is_drawn_no_more(changed: int, left: tuple[bool, ...]) -> None:
    then: Sketch = np.full((100, 200), 60, dtype=np.uint8)
    now = then.copy()
    now[0:30, 0:22] += np.uint8(changed)
    reads = (stray(7, 0.0, 0.0), stray(8, 60.0, 40.0))
    assert in_place(reads, then, now, width=200) == left
