"""What the camera loop reports: real pictures of a simulated tray, and a carrier's sheet."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import pytest
import zxingcpp

from broker.protocol import CarrierCode, PlannedPlay, Seat, carrier_code_text
from kiosk.camera.loop import TrayWatcher, find_carrier_sheet, loose_tiles, run_camera, tray_looks
from kiosk.camera.observations import CameraHealth, CameraReport, SeenTile, TableObservation
from kiosk.camera.overlay import unmoved_tiles
from kiosk.camera.thread import CameraThread
from kiosk.table.events import TrayChecked
from tests.kiosk.tables import EVENT, play
from tests.patience import PATIENCE_S
from tests.vision.live.tables import corners, heap, stray
from vision.cameras.addresses import open_camera
from vision.cameras.camera import Camera
from vision.cameras.feed import CameraFrame
from vision.geometry import Picture
from vision.live.watcher import Sketch, Stillness, WatchedTable
from vision.reading import PictureReading, PlaceState, TileRead, TrayPlace
from vision.sim.table import SimulatedTable, SimulatedTile

PLAY: Final = play(1)


def laid(seat: Seat, of: PlannedPlay = PLAY) -> list[list[SimulatedTile | None]]:
    return [[SimulatedTile(of.set, serial) for serial in row] for row in of.order[seat]]


class Watching:
    """A camera over a tray, and its reports."""

    def __init__(self, trays: SimulatedTable) -> None:
        self.trays = trays
        self.told: queue.SimpleQueue[CameraReport] = queue.SimpleQueue()
        self.camera = CameraThread(lambda: open_camera("sim://tray?fps=20", world=trays), self.told.put, lambda: 7)

    def look(self) -> TrayChecked:
        """Wait for the next check of a tray."""
        while not isinstance(seen := self.told.get(timeout=PATIENCE_S), TrayChecked):
            pass
        return seen

    def health(self) -> str | None:
        """Wait for the next report of the camera's health."""
        while not isinstance(seen := self.told.get(timeout=PATIENCE_S), CameraHealth):
            pass
        return seen.code


@contextmanager
def watching() -> Iterator[Watching]:
    made = Watching(SimulatedTable())
    made.camera.start()
    try:
        yield made
    finally:
        made.camera.stop()


def test_trays_are_reported_once_settled_and_a_lost_camera_at_once() -> None:
    with watching() as made:
        assert made.health() is None
        made.trays.lay(laid("south"))
        made.camera.look_for(PLAY)
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


class GlaringCamera(Camera):
    """A camera that always gives the same overexposed picture, and records the exposures it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.frames, self.pause = list[int](), 0, 0.01

    def expose(self, stops: int) -> bool:
        self.asked.append(stops)
        return True

    def frame(self) -> Picture:
        self.frames += 1
        return np.where(np.arange(1280)[None, :, None] < 640, np.uint8(255), np.uint8(90)).repeat(960, 0).repeat(3, 2)


def test_the_camera_is_asked_for_a_shorter_exposure_when_glare_hides_a_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    unread = tuple(tile(None, 0, col) for col in range(13))
    tray = PictureReading(tuple(place.read for place in unread if place.read), unread)
    monkeypatch.setattr("kiosk.camera.loop.reader.read_picture", lambda _, **__: tray)
    camera = GlaringCamera()
    run_camera(
        lambda: camera, PLAY, (800, 290), lambda: 7, lambda _: None, lambda: bool(camera.asked) or camera.frames > 9_999
    )
    assert camera.asked == [-1]


def test_the_last_picture_of_a_folder_stays_in_view(tmp_path: Path) -> None:
    """Practice without a camera: a folder with a picture of a tray."""
    with open_camera("sim://tray", world=SimulatedTable(laid("north"))) as camera:
        cv2.imwrite(str(tmp_path / "tray.png"), camera.frame())
    told: queue.SimpleQueue[CameraReport] = queue.SimpleQueue()
    thread = CameraThread(lambda: open_camera(f"pictures:{tmp_path}"), told.put, lambda: 7)
    thread.start()
    try:
        thread.look_for(PLAY)
        while not isinstance(seen := told.get(timeout=PATIENCE_S), TrayChecked):
            pass
    finally:
        thread.stop()
    assert seen == TrayChecked(at=7, seat="north", rows=PLAY.order["north"])


def tile(serial: int | None, row: int, col: int, seat: str | None = None) -> TrayPlace:
    quad = corners(col * 24.0, row * 34.0)
    read = TileRead(serial, "01" if serial else None, quad, 0.9, 0.0, row, col, seat)
    return TrayPlace(row, col, PlaceState.BACK, read, seat, quad)


def carrier(*order: tuple[str, Seat]) -> PictureReading:
    """Read four trays, each with its position and the seat whose tiles are in it."""
    places = tuple(
        tile(serial, row, col, at)
        for at, seat in order
        for row, line in enumerate(PLAY.order[seat])
        for col, serial in enumerate(line)
    )
    return PictureReading(tuple(place.read for place in places if place.read), places)


def test_a_whole_carrier_gives_four_checks_each_for_the_seat_of_its_tiles() -> None:
    reading = carrier(("E", "west"), ("S", "east"), ("W", "south"), ("N", "north"))
    assert {look.seat: (look.rows, look.wrong) for look in tray_looks(reading, PLAY, 1)} == {
        seat: (rows, ()) for seat, rows in PLAY.order.items()
    }


def test_a_tray_without_readable_tiles_belongs_to_no_seat() -> None:
    reading = carrier(("E", "west"))
    blank = tuple(replace(place, read=place.read and replace(place.read, serial=None)) for place in reading.places)
    assert [*tray_looks(replace(reading, places=blank), PLAY, 1)] == []


def test_tiles_beside_the_trays_are_reported_with_their_faults() -> None:
    other = replace(stray(9, 80.0, 0.0), set="02")
    face = replace(stray(None, 120.0, 0.0), face_up=True)
    lettered = replace(stray(11, 160.0, 0.0), set="C")
    own = replace(stray(7, 0.0, 0.0), set="01")
    assert loose_tiles(heap(own, other, face, lettered), PLAY) == (
        SeenTile(7),
        SeenTile(9, foreign=True),
        SeenTile(None, face_up=True),
        SeenTile(11),
    )


@pytest.mark.parametrize(("changed", "left"), [(0, (True, True)), (120, (False, True))])
def test_a_tile_that_was_removed_or_is_covered_is_no_longer_drawn(changed: int, left: tuple[bool, ...]) -> None:
    then: Sketch = np.full((100, 200), 60, dtype=np.uint8)
    now = then.copy()
    now[0:30, 0:22] += np.uint8(changed)
    reads = (stray(7, 0.0, 0.0), stray(8, 60.0, 40.0))
    assert unmoved_tiles(reads, then, now, width=200) == left


OURS = CarrierCode(EVENT, 1)


def lying(*texts: str, turned: float = 30) -> Picture:
    """Photograph sheets that lie askew on a dark table, each with a code."""
    picture = np.full((960, 1280), 60, np.uint8)
    for at, text in enumerate(texts):
        code = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
        square = np.asarray(zxingcpp.write_barcode_to_image(code, scale=4))
        picture[400 : 400 + len(square), 400 + 300 * at : 400 + 300 * at + len(square)] = square
    turn = cv2.getRotationMatrix2D((640, 480), turned, 1)
    grey = cv2.warpAffine(picture, turn, (1280, 960), borderValue=60)
    return np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), np.uint8)


def test_a_sheet_is_read_at_any_angle() -> None:
    assert [find_carrier_sheet(lying(carrier_code_text(OURS), turned=turned)) for turned in (0, 30, 180)] == [OURS] * 3


def test_two_different_sheets_or_other_codes_give_no_carrier() -> None:
    two = lying(carrier_code_text(OURS), carrier_code_text(CarrierCode(EVENT, 2)))
    assert (find_carrier_sheet(two), find_carrier_sheet(lying("https://example.org"))) == (None, None)


def test_a_sheet_is_reported_before_the_trays_beside_it_and_when_it_is_removed() -> None:
    looking = TrayWatcher(play(1), (800, 290))
    settled = WatchedTable(1.0, Stillness.SETTLED, carrier(("E", "east")))
    sight, *looks = looking.see(settled, CameraFrame(1, 1.0, lying(carrier_code_text(OURS))), 7)
    assert isinstance(sight, TableObservation)
    assert (sight.sheet, [look.seat for look in looks if isinstance(look, TrayChecked)]) == (OURS, ["east"])
    assert looking.see(settled, CameraFrame(2, 2.0, lying()), 8) == ()
    (gone, *_) = looking.see(
        WatchedTable(3.0, Stillness.SETTLED, PictureReading((), ())), CameraFrame(3, 3.0, lying()), 9
    )
    assert isinstance(gone, TableObservation)
    assert gone.sheet is None


@pytest.mark.parametrize("enrolled", [False, True])
def test_an_unreadable_tray_asks_for_enrolment_unless_the_set_is_enrolled(*, enrolled: bool) -> None:
    looking = TrayWatcher(play(1), (800, 290), enrolled=enrolled)
    read = carrier(("E", "east"))
    blank = tuple(replace(place, read=place.read and replace(place.read, serial=None)) for place in read.places)
    unread = PictureReading(tuple(place.read for place in blank if place.read), blank)
    seen = looking.see(WatchedTable(1.0, Stillness.SETTLED, unread), CameraFrame(1, 1.0, lying()), 7)
    assert [one.print_to_blame for one in seen if isinstance(one, TableObservation)] == [not enrolled]


def greys(reading: PictureReading) -> Picture:
    """Draw the tiles of a reading, each in its own shade of grey."""
    picture = np.zeros((960, 1280, 3), np.uint8)
    for at, read in enumerate(reading.reads):
        (left, top), (right, bottom) = np.array(read.quad)[[0, 2]].astype(int)
        picture[top:bottom, left:right] = 20 + 6 * at
    return picture


def test_listed_tiles_begin_with_faults_and_unread_ones_and_a_heap_lists_none() -> None:
    looking = TrayWatcher(play(1), (800, 290))
    read = carrier(("E", "east"))
    places = [replace(place, seat=None, read=place.read and replace(place.read, seat=None)) for place in read.places]
    one, *_, other = places
    assert one.read is not None
    assert other.read is not None
    places[0] = replace(one, read=replace(one.read, serial=other.read.serial))
    places[-1] = replace(other, read=replace(other.read, serial=None, confidence=0.0))
    tray = PictureReading(tuple(place.read for place in places if place.read), tuple(places))
    (seen, _) = looking.see(WatchedTable(1.0, Stillness.SETTLED, tray), CameraFrame(1, 1.0, greys(tray)), 7)
    assert isinstance(seen, TableObservation)
    assert seen.listed is not None
    listed = seen.listed.picture
    assert listed.shape == (148, 13 * 92, 3)
    assert [int(listed[60, 46 + 92 * at, 0]) for at in range(3)] == [20 + 6 * 33, 20, 20 + 6 * 1]
    strays = heap(stray(7, 0.0, 0.0))
    (seen, *_) = looking.see(WatchedTable(2.0, Stillness.SETTLED, strays), CameraFrame(2, 2.0, greys(strays)), 8)
    assert isinstance(seen, TableObservation)
    assert seen.listed is None
