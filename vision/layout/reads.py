"""A layout and its marks to the room's reading: plain values that flow out."""

from collections import Counter

from vision.geometry import Quad
from vision.layout.values import Layout, Lie, Tray
from vision.reading import Corners, Place, Read, Reading
from vision.sight import Found, Mark


def to_reading(found: Found, marks: tuple[Mark | None, ...], layout: Layout) -> Reading:
    """Give the reading: places tray by tray, reads in the order of their places, tiles outside of trays last.

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
    return Reading((*inside, *loose), tuple(held))


def _usual_set(marks: tuple[Mark | None, ...]) -> str | None:
    """Give the set that more than half of the marks name; None where none is."""
    named = Counter(mark.set_text for mark in marks if mark is not None and mark.set_text is not None)
    (name, times) = named.most_common(1)[0] if named else (None, 0)
    return name if 2 * times > named.total() else None


def _read(lie: Lie, mark: Mark | None, usual: str | None, *, face_up: bool) -> Read:
    named = mark.set_text if mark is not None else None
    return Read(
        serial=mark.serial if mark is not None else None,
        set=named,
        quad=corners(lie.quad),
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


def _places(tray: Tray, reads: list[Read]) -> list[Place]:
    return [
        Place(
            site.row,
            site.col,
            site.state,
            None if site.tile is None else reads[site.tile],
            tray.seat,
            corners(site.quad),
        )
        for site in tray.sites
    ]


def corners(quad: Quad) -> Corners:
    """Give a quad as plain numbers, hundredths of a pixel."""
    a, b, c, d = ((round(float(x), 2), round(float(y), 2)) for x, y in quad)
    return a, b, c, d
