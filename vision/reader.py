"""The public entry of the room: a picture in, a reading out. The stages run in order, and values go one way."""

from collections import Counter

import numpy as np

from vision.detections import Detections, LaidOutTray, TableLayout, TileMark, TilePosition
from vision.errors import PictureError
from vision.finder import find_tiles
from vision.geometry import Picture, Quad
from vision.layout import lay_out_table
from vision.marks.read import (
    TileMarks,
    drop_duplicate_tiles,
    is_sure,
    read_marks,
    withhold_repeated_serials,
    withhold_unsure,
)
from vision.marks.way_up import decide_ambiguous
from vision.reading import Corners, PictureReading, PlaceState, TileRead, TrayPlace
from vision.second_look import take_second_look


def to_reading(found: Detections, marks: tuple[TileMark | None, ...], layout: TableLayout) -> PictureReading:
    """Return the reading: places tray by tray, reads in the order of their places, tiles outside of trays last.

    Marks are taken as they are: doubt, such as two of one serial, is the reader's to settle before.
    """
    usual = _usual_set(marks)
    reads = [
        _read(lie, mark, usual, face_up=tile.face_up)
        for tile, mark, lie in zip(found.tiles, marks, layout.lies, strict=True)
    ]
    held = [place for tray in layout.trays for place in _places(tray, reads)]
    inside = [place.read for place in held if place.read is not None]
    loose = [read for number, read in enumerate(reads) if read.row is None and number not in layout.ghosts]
    return PictureReading((*inside, *loose), tuple(held))


def _usual_set(marks: tuple[TileMark | None, ...]) -> str | None:
    """Return the set that more than half of the marks name; None where none is."""
    named = Counter(mark.set_text for mark in marks if mark is not None and mark.set_text is not None)
    (name, times) = named.most_common(1)[0] if named else (None, 0)
    return name if 2 * times > named.total() else None


def _read(lie: TilePosition, mark: TileMark | None, usual: str | None, *, face_up: bool) -> TileRead:
    named = mark.set_text if mark is not None else None
    return TileRead(
        serial=mark.serial if mark is not None else None,
        set=named,
        quad=quad_corners(lie.quad),
        confidence=round(mark.confidence, 4) if mark is not None else 0.0,
        rotation=round(lie.rotation, 2),
        row=lie.row,
        col=lie.col,
        seat=lie.seat,
        face_up=face_up,
        turn=lie.turn,
        sideways=lie.sideways,
        foreign=lie.strange if named is None else usual is not None and named != usual,
        clash=mark.clash if mark is not None else None,
    )


def _places(tray: LaidOutTray, reads: list[TileRead]) -> list[TrayPlace]:
    return [
        TrayPlace(
            site.row,
            site.col,
            site.state,
            None if site.tile is None else reads[site.tile],
            tray.seat,
            quad_corners(site.quad),
        )
        for site in tray.sites
    ]


def quad_corners(quad: Quad) -> Corners:
    """Return a quad as plain numbers, hundredths of a pixel."""
    a, b, c, d = ((round(float(x), 2), round(float(y), 2)) for x, y in quad)
    return a, b, c, d


def tile_outlines(picture: Picture) -> tuple[Quad, ...]:
    """Return the quads, shape (4, 2), pixels, of the tiles that are seen; corners 0-1 and 2-3 are the short ends.

    In a tray those of its places: they follow from all its tiles together, which is surer than each tile's own.
    """
    reading = read_picture(picture)
    held = [place.quad for place in reading.places if place.state is PlaceState.BACK and place.quad is not None]
    return tuple(np.array(quad) for quad in held or [read.quad for read in reading.reads])


_AXES, _CHANNELS = 3, 3


def read_picture(picture: Picture, *, close: bool = True) -> PictureReading:
    """Read a picture, BGR, shape (height, width, 3), uint8: every tile in it, and where it lies in its tray.

    Only the picture is asked: no deal helps a read. Holds no state, so any thread may call it. `close`: whether single
    tiles may fill the picture. Raises PictureError for an array that is no picture.
    """
    if picture.dtype != np.uint8 or picture.ndim != _AXES or picture.shape[2] != _CHANNELS or picture.size == 0:
        raise PictureError("a picture is an array of uint8 with three channels")
    found, said = drop_duplicate_tiles(*read_marks(picture, find_tiles(picture, close=close)))
    marks = withhold_unsure(said)
    layout = lay_out_table(picture, found, marks)
    if _needs_second_look(marks, layout) and (again := take_second_look(picture, found, said, layout)):
        found, said = drop_duplicate_tiles(*again)
        marks = withhold_unsure(said)
        layout = lay_out_table(picture, found, marks)
    upright = decide_ambiguous(picture, found, marks, layout)
    settled = withhold_repeated_serials(upright, [lie.strange for lie in layout.lies])
    if upright != marks:
        layout = lay_out_table(picture, found, settled)
    return to_reading(found, settled, layout)


def _needs_second_look(marks: TileMarks, layout: TableLayout) -> bool:
    """Return whether there are backs that were not read, or faces or tiles askew in a tray."""
    return any(
        (mark is not None and not is_sure(mark)) or (lie.row is not None and (mark is None or lie.sideways))
        for lie, mark in zip(layout.lies, marks, strict=True)
    )
