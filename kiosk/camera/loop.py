"""The camera's loop: from frames to observations of trays, of a winner's hand, or of the whole picture.

It loads OpenCV and the networks, so it is imported on the camera's thread.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from broker.logs import get_logger
from broker.protocol import SEATS, CarrierCode, LaidSeat, PlannedPlay, Seat, read_carrier_code
from kiosk.camera.observations import (
    LIST_SHARE,
    CameraHealth,
    CameraReport,
    CameraTarget,
    CameraView,
    HandObservation,
    LaidObservation,
    LaidTiles,
    PictureObservation,
    SeenTile,
    TableObservation,
    WholePicture,
    Winner,
)
from kiosk.camera.overlay import HandOverlay, HeapOverlay, OverlayCache, PictureCrop
from kiosk.table import Misplaced, TilePlace, events, place_by_serial, serial_by_place
from vision import errors, geometry, overlay, reader, rivers, verdict
from vision.cameras.camera import Camera
from vision.cameras.feed import CameraEvent, CameraFeed, CameraFrame, CameraLost
from vision.enrolled.file import EnrolledSet, enrolled_file, read_complete
from vision.live.stream import BackgroundStream
from vision.live.watcher import Stillness, WatchedTable
from vision.mounting.measure import MountingSetup, measure_mounting, mounting_hints
from vision.reading import PictureReading, SerialRows, TileRead, TrayFault

log = get_logger("homologue.camera")

WAIT_S: Final = 0.5
"""A camera without a frame for so long is considered lost."""

REPEAT_S: Final = 0.1
"""Seconds between two looks at the last picture of a camera that has ended."""

LISTED: Final = 13
"""Tiles of a tray listed side by side: as many as in its longest row."""


def run_camera(
    camera: Callable[[], Camera],
    target: CameraTarget | None,
    size: tuple[int, int],
    clock: Callable[[], int],
    tell: Callable[[CameraReport], None],
    over: Callable[[], bool],
    enrolled: Path | None = None,
) -> None:
    """Open a camera and report what it sees of the target until `over`; without a target, only the camera's health.

    Serials of a set with photographs in the folder `enrolled` are checked against these.
    """

    def report_health(event: CameraEvent) -> None:
        tell(CameraHealth(event.code if isinstance(event, CameraLost) else None))

    if isinstance(target, WholePicture):
        with CameraFeed(camera, report_health) as feed:
            watch_picture(_frames(feed, over), size, tell)
        return
    enrolled_set = load_enrolled_set(enrolled, _play(target).set) if target is not None else None
    watcher = _watcher(target, size, enrolled_set)
    read = partial(read_hand if isinstance(target, Winner | LaidTiles) else reader.read_picture, enrolled=enrolled_set)
    drawn: CameraFrame | None = None  # never one of another exposure, which would flicker
    with CameraFeed(camera, report_health) as feed, BackgroundStream(read) as stream:
        for frame in _frames(feed, over):
            if watcher is None:
                continue
            watched = stream.lose() if frame is None else stream.see(frame.at, frame.picture, frame.exposure)
            feed.expose(stream.exposure)
            drawn = frame if frame is None or frame.exposure == 0 else drawn
            for report in watcher.see(watched, drawn, clock()):
                tell(report)


def _play(target: PlannedPlay | Winner | LaidTiles) -> PlannedPlay:
    return target if isinstance(target, PlannedPlay) else target.play


def load_enrolled_set(folder: Path | None, number: int) -> EnrolledSet | None:
    """Return the photographs of a set; None if it is not enrolled, or they cannot be used."""
    try:
        return read_complete(enrolled_file(folder, number)) if folder is not None else None
    except errors.EnrolledMissingError:
        log.info("set_not_enrolled", set=number)
    except errors.EnrolError as error:
        log.warning("set_pictures_unused", set=number, why=str(error))
    return None


def _watcher(
    target: PlannedPlay | Winner | LaidTiles | None, size: tuple[int, int], enrolled_set: EnrolledSet | None
) -> "TrayWatcher | HandWatcher | LaidWatcher | None":
    if isinstance(target, Winner):
        return HandWatcher(target, size)
    if isinstance(target, LaidTiles):
        return LaidWatcher(target, size)
    return None if target is None else TrayWatcher(target, size, enrolled=enrolled_set is not None)


def _frames(feed: CameraFeed, over: Callable[[], bool]) -> Iterator[CameraFrame | None]:
    """Yield frames as they come, and None when none does. A folder's last picture repeats, as a tray stays put."""
    last: CameraFrame | None = None
    while not over():
        frame = feed.wait(last.number if last else 0, WAIT_S)
        if frame is None and feed.ended:
            time.sleep(REPEAT_S)
            frame = last and replace(last, at=last.at + REPEAT_S)
        last = frame or last
        yield frame


class TrayWatcher:
    """Watches the trays of one play, and reports what is new about them."""

    def __init__(self, play: PlannedPlay, size: tuple[int, int], *, enrolled: bool = False) -> None:
        self._play, self._enrolled = play, enrolled
        homes: dict[int, TilePlace] = place_by_serial(serial_by_place(play.order))
        self._compared: PictureReading | None = None
        self._searched: PictureReading | None = None
        self._sheet: CarrierCode | None = None
        self._listed: CameraView | None = None
        self._size = size
        self._drawing = OverlayCache(lambda picture, reading: HeapOverlay(picture, reading, homes, size))
        self._reported = TableObservation()

    def see(self, watched: WatchedTable, frame: CameraFrame | None, now: int) -> tuple[CameraReport, ...]:
        """Return what is new: the observation for the screen, then the checks of trays that have come to rest.

        Carrier sheets are looked for, and tiles listed, once for each picture that was read, which is often enough for
        things that do not move.
        """
        shown = watched.shown
        if shown is not self._searched and shown is not None and frame is not None:
            self._searched, self._sheet = shown, find_carrier_sheet(frame.picture)
            self._listed = self._list_tiles(shown, frame)
        reports: list[CameraReport] = []
        observation = self._observe(watched, frame)
        if observation != self._reported:
            self._reported = observation
            reports.append(observation)
        if watched.stillness is Stillness.SETTLED and shown is not None and shown is not self._compared:
            self._compared = shown
            reports.extend(tray_looks(shown, self._play, now))
        return tuple(reports)

    def _observe(self, watched: WatchedTable, frame: CameraFrame | None) -> TableObservation:
        shown = watched.shown
        if shown is None:
            return TableObservation()
        blamed = not self._enrolled and not watched.covered and shown.print_to_blame
        loose = loose_tiles(shown, self._play)
        observation = TableObservation(len(watched.covered), loose, sheet=self._sheet, print_to_blame=blamed)
        if shown.places or frame is None:
            return replace(observation, listed=self._listed)
        return replace(observation, view=self._drawing.view(watched, shown, frame))

    def _list_tiles(self, shown: PictureReading, frame: CameraFrame) -> CameraView | None:
        """Return cut-outs of the trays' tiles, as many as fit: faults, unread and doubtful tiles come first."""
        if not shown.places:
            return None
        width = LISTED * overlay.COLUMN_WIDTH
        rows = max(1, int(LIST_SHARE * self._size[1] / overlay.ROW_HEIGHT * width / self._size[0]))
        faults = [fault for _, _, wrong in _compared(shown, self._play) for fault in wrong]
        listed = overlay.list_serials(frame.picture, shown, width, faults)[: rows * overlay.ROW_HEIGHT]
        return CameraView(frame.number, listed)


def tray_looks(reading: PictureReading, play: PlannedPlay, now: int) -> Iterator[events.TrayChecked]:
    """Compare each tray of a reading with the play. Trays without any readable tile are left out."""
    for seat, rows, faults in _compared(reading, play):
        yield events.TrayChecked(at=now, seat=seat, rows=rows, wrong=tuple(map(_misplaced, faults)))


def _compared(reading: PictureReading, play: PlannedPlay) -> Iterator[tuple[Seat, SerialRows, list[TrayFault]]]:
    """Yield the seat of each tray, its serials and its faults; the faults name the tray's position in the picture.

    A tray belongs to the seat of most of its tiles, wherever it lies. If two trays belong to one seat, the one with
    more of its tiles counts.
    """
    found: dict[Seat, tuple[int, str | None, PictureReading]] = {}
    for position, tray in _trays(reading):
        read = {serial for row in tray.rows for serial in row if serial is not None}
        seat = max(SEATS, key=lambda candidate: len(read & _serials(play, candidate)))
        own = len(read & _serials(play, seat))
        if read and own >= found.get(seat, (0, None, tray))[0]:
            found[seat] = own, position, tray
    for seat, (_, position, tray) in found.items():
        faults = verdict.compare(tray, play.order[seat], play.set)
        yield seat, tray.rows, [replace(fault, seat=position) for fault in faults]


def _trays(reading: PictureReading) -> Iterator[tuple[str | None, PictureReading]]:
    """Yield each tray as if it were alone, with its position in the picture."""
    for seat in reading.seats:
        places = tuple(
            replace(place, seat=None, read=place.read and replace(place.read, seat=None))
            for place in reading.places
            if place.seat == seat
        )
        yield seat, PictureReading(tuple(place.read for place in places if place.read is not None), places)


def loose_tiles(reading: PictureReading, play: PlannedPlay) -> tuple[SeenTile, ...]:
    """Return the tiles outside the trays. A mark that names another set by number makes a tile foreign."""
    return tuple(seen_tile(read, play.set) for read in reading.strays)


def seen_tile(read: TileRead, number: int) -> SeenTile:
    """Return a tile as seen where tiles of one set are expected."""
    return SeenTile(read.serial, read.face_up, read.foreign or _is_other_set(read.set, number))


def _is_other_set(named: str | None, number: int) -> bool:
    return named is not None and named.isdecimal() and int(named) != number


def _serials(play: PlannedPlay, seat: Seat) -> set[int]:
    return {serial for row in play.order[seat] for serial in row}


def _misplaced(fault: TrayFault) -> Misplaced:
    return Misplaced(
        kind=fault.type, row=fault.row, col=fault.col, expected=fault.expected, found=fault.found, other=fault.with_
    )


def find_carrier_sheet(picture: "geometry.Picture") -> CarrierCode | None:
    """Return the carrier whose sheet is in a picture (BGR, shape (height, width, 3), uint8), or None.

    With sheets of different carriers in view, the result is None as well, as either could be meant.
    """
    import zxingcpp  # noqa: PLC0415 - numpy: on the camera's thread

    found = zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
    sheets = {sheet for code in found if (sheet := read_carrier_code(code.text)) is not None}
    return sheets.pop() if len(sheets) == 1 else None


read_hand = partial(reader.read_picture, close=False)
"""A hand is a few tiles on a wide mat; none of them fills the picture."""


class HandWatcher:
    """Watches the hand of one winner."""

    def __init__(self, winner: Winner, size: tuple[int, int]) -> None:
        self._set = winner.play.set
        self._drawing = OverlayCache(lambda picture, reading: HandOverlay(picture, reading, size))
        self._reported = HandObservation()

    def see(self, watched: WatchedTable, frame: CameraFrame | None, now: int) -> tuple[HandObservation, ...]:  # noqa: ARG002 - as of trays
        """Return what is new on the mat."""
        observation = self._observe(watched, frame)
        if observation == self._reported:
            return ()
        self._reported = observation
        return (observation,)

    def _observe(self, watched: WatchedTable, frame: CameraFrame | None) -> HandObservation:
        shown = watched.shown
        if shown is None:
            return HandObservation()
        rows = rivers.hand_rows(shown.reads)
        groups = tuple(tuple(seen_tile(read, self._set) for read in group) for row in rows for group in row)
        view = self._drawing.view(watched, shown, frame) if frame is not None else None
        return HandObservation(groups, watched.stillness is Stillness.SETTLED, view, tuple(map(len, rows)))


class LaidWatcher:
    """Watches one river, or one hand with its melds, after a play."""

    def __init__(self, target: LaidTiles, size: tuple[int, int]) -> None:
        self._target = target
        self._drawing = OverlayCache(lambda picture, reading: HandOverlay(picture, reading, size))
        self._read: PictureReading | None = None
        self._reported = self._current = LaidObservation(target)

    def see(self, watched: WatchedTable, frame: CameraFrame | None, now: int) -> tuple[LaidObservation, ...]:  # noqa: ARG002 - as of trays
        """Return what is new on the table."""
        shown = watched.shown
        if shown is None:
            self._read, self._current = None, LaidObservation(self._target)
        elif frame is not None and shown is not self._read:
            self._read, self._current = shown, laid_tiles(self._target, frame.picture, shown.reads)
        view = self._drawing.view(watched, shown, frame) if shown is not None and frame is not None else None
        observation = replace(self._current, still=watched.stillness is Stillness.SETTLED, view=view)
        if observation == self._reported:
            return ()
        self._reported = observation
        return (observation,)


def laid_tiles(target: LaidTiles, picture: geometry.Picture, reads: Sequence[TileRead]) -> LaidObservation:
    """Read the tiles laid before a seat. They belong to the seat to which most of them were dealt."""
    seen = [seen_tile(read, target.play.set) for read in reads]
    if any(tile.face_up for tile in seen):
        return LaidObservation(target, problem="hand_face_up")
    if any(tile.foreign and tile.serial is not None for tile in seen):  # a gap may look like a tile of another colour
        return LaidObservation(target, problem="hand_foreign")
    read = {tile.serial for tile in seen if tile.serial is not None}
    if 2 * len(read & _serials(target.play, target.seat)) <= len(read) and read:
        return LaidObservation(target, problem="laid_of_another")
    try:
        laid, winning = _laid_seat(target, picture, reads)
    except errors.RiverUnclearError as unclear:
        return LaidObservation(target, problem=unclear.code if read else "hand_not_seen")
    return LaidObservation(target, laid, winning)


def _laid_seat(target: LaidTiles, picture: geometry.Picture, reads: Sequence[TileRead]) -> tuple[LaidSeat, int | None]:
    """Return what lies before a seat, and the winning tile. Raises RiverUnclearError, also for too many tiles.

    The scorer would refuse tiles that do not fit into a message, and the table could not read its own journal again.
    """
    if target.part == "river":
        river = rivers.read_river(picture, reads)
        laid, winning = LaidSeat(river=river.serials, gaps=river.gaps, either_end=river.either_end), None
    else:
        held = rivers.read_hand(picture, reads)
        laid, winning = LaidSeat(melds=held.melds, hand=held.hand), held.winning
    try:
        return msgspec.convert(msgspec.to_builtins(laid), LaidSeat), winning
    except msgspec.ValidationError:
        raise errors.RiverUnclearError("more lies there than before one player") from None


SETUP: Final = MountingSetup()
"""The tiles' size is not known here, so no distances are given; the installer's command does that."""

REPORTED_PROBLEMS: Final = (
    *("camera_no_tiles", "camera_dark", "camera_bright", "camera_glare", "camera_soft", "camera_tilted"),
    "camera_noisy",
)
"""Problems that can be found without knowing the tiles."""

PICTURE_EVERY_S: Final = 0.2
"""Seconds between two pictures: nothing in them moves that anybody has to follow."""

MEASURE_EVERY_S: Final = 1.0


def watch_picture(
    frames: Iterable[CameraFrame | None], size: tuple[int, int], tell: Callable[[PictureObservation], None]
) -> None:
    """Report frames for the screen, and an empty observation when there are none."""
    shown_at = measured_at = float("-inf")
    wrong: tuple[str, ...] = ()
    for frame in frames:
        if frame is None:
            shown_at = measured_at = float("-inf")
            tell(PictureObservation())
            continue
        if frame.at < shown_at + PICTURE_EVERY_S:
            continue
        if frame.at >= measured_at + MEASURE_EVERY_S:
            wrong, measured_at = (*picture_problems(frame.picture),), frame.at
        shown_at = frame.at
        tell(PictureObservation(CameraView(frame.number, _whole(frame.picture, size)), wrong))


def picture_problems(picture: geometry.Picture) -> Iterator[str]:
    """Yield the codes of a picture's problems. Its shape is (height, width, 3), BGR."""
    hints = mounting_hints(measure_mounting(picture, reader.tile_outlines(reader.read_picture(picture)), SETUP), SETUP)
    yield from (hint.code for hint in hints if hint.code in REPORTED_PROBLEMS)


def _whole(picture: geometry.Picture, size: tuple[int, int]) -> geometry.Picture:
    height, width = picture.shape[:2]
    return PictureCrop((0, 0), (width, height), min(size[0] / width, size[1] / height)).of(picture)
