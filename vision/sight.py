"""What the stages of a reading hand to one another: tiles found, marks read, and where they lie."""

from dataclasses import dataclass

from vision.geometry import Picture, Points, Quad


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A tile that the finder sees, before anybody has read it.

    `quad`, shape (4, 2), pixels, clockwise in the picture: corners 0-1 and 2-3 are the short ends. Which end is the
    tile's top is not known yet. `likelihood` is 0..1: how sure the finder is that a tile is there.
    """

    quad: Quad
    face_up: bool
    likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """All tiles of a picture. `hands` is the share, 0..255, of each cell (`cell` pixels square) that hands cover."""

    tiles: tuple[Tile, ...]
    hands: Picture  # shape (rows, columns)
    cell: float


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """What a back says.

    `serial` is 1..136, None where it was not read; `set_text` is the set's letter or two digits, None where the mark
    names no set. `turned` tells whether the mark stands upside down in its `Tile.quad` (then the tile's own top-left
    is corner 2); None where that is not known. `confidence` is 0..1, calibrated. `spot`, shape (2,), is where the
    mark's middle lies on the tile: shares of its width and height from its own centre, right and down as the mark
    itself stands (as the quad stands where `turned` is None). `either` is set where the mark reads as a serial both
    ways up and does not tell which: the serial if it stands as the quad does, and the one if it is turned. `clash`
    is the serial that was taken from a mark because another tile of the picture says the same.
    """

    serial: int | None
    set_text: str | None
    turned: bool | None
    confidence: float
    spot: Points
    either: tuple[int, int] | None = None
    clash: int | None = None
