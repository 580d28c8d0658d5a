"""What the stages of a reading hand to one another: tiles detected, marks read, and where each tile lies."""

from dataclasses import dataclass, replace

import numpy as np

from vision.geometry import Picture, Points, Quad
from vision.reading import HALF_TURN, PlaceState


@dataclass(frozen=True, slots=True, eq=False)
class DetectedTile:
    """A tile that the finder sees, before anybody has read it.

    `quad`, shape (4, 2), pixels, clockwise in the picture: corners 0-1 and 2-3 are the short ends. Which end is the
    tile's top is not known yet. `likelihood` is 0..1: how sure the finder is that a tile is there.
    """

    quad: Quad
    face_up: bool
    likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """All tiles of a picture. `hands` is the share, 0..255, of each cell (`cell` pixels square) that hands cover."""

    tiles: tuple[DetectedTile, ...]
    hands: Picture  # shape (rows, columns)
    cell: float


@dataclass(frozen=True, slots=True, eq=False)
class LabelKind:
    """How a picture's labels look: modules, and spot and size in shares of the tile's width and height.

    `spot`, shape (2,), is the DataMatrix's middle from the tile's centre, right and down as it stands itself; `size`,
    shape (2,), are its sides. `askew`, degrees, clockwise: labels are stuck on so, in the middle of their tiles.
    """

    count: int
    spot: Points
    size: Points
    askew: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TileMark:
    """What a back says.

    `serial` is 1..136, None where it was not read; `set_text` is the set's letter or two digits, None where the mark
    names no set. `turned` tells whether the mark stands upside down in its `DetectedTile.quad` (then the tile's own
    top-left is corner 2); None if that is not known. `confidence` is 0..1, calibrated. `spot`, shape (2,), is where
    the mark's middle lies on the tile: shares of its width and height from its own centre, right and down as the mark
    itself stands (as the quad stands where `turned` is None). `either` is set where the mark reads as a serial both
    ways up and does not tell which: the serial if it stands as the quad does, and the one if it is turned; `way_odds`
    are then the log-odds that it stands as the quad does, by what the mark alone seems to show. `clash`
    is the serial that was taken from a mark because another tile of the picture says the same. `pitch` is how far
    apart the digits of a printed number stand, shares of the tile's width; not a number for labels. `likeness`, -1..1,
    is that with the tile's own picture, where the set is enrolled and the picture says the same. `label` is how a label
    that was read looks, so that others of the picture may be found by it. `rivals` are serials, a digit of which is
    another, that a reader does not rule out for a printed number that is not beyond doubt.
    """

    serial: int | None
    set_text: str | None
    turned: bool | None
    confidence: float
    spot: Points
    either: tuple[int, int] | None = None
    clash: int | None = None
    pitch: float = float("nan")
    way_odds: float = 0.0
    likeness: float | None = None
    label: LabelKind | None = None
    rivals: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TilePosition:
    """How one tile lies.

    `quad`, shape (4, 2), pixels, begins at the tile's own top-left as far as its mark or its tray tells; `rotation` is
    that of its own left-to-right, degrees 0..360, clockwise on the screen. `row` and `col` are None where no tray is
    known to hold it, `seat` also in a tray that stands alone. `turn` is the tile's against its tray: 0, 90, 180 or
    270; `sideways` tells that it lies askew by 15 degrees and more. `covered` is the share, 0..1, under hands;
    `strange` tells that its colour is clearly that of no other back.
    """

    quad: Quad
    rotation: float
    seat: str | None = None
    row: int | None = None
    col: int | None = None
    turn: int = 0
    sideways: bool = False
    covered: float = 0.0
    strange: bool = False

    def is_turned(self, tile: DetectedTile) -> bool:
        """Return whether the tile stands upside down in the outline that the finder gave."""
        return bool((self.quad[0] != tile.quad[0]).any())

    def turned_over(self) -> "TilePosition":
        """Return how the tile lies if it stands the other way up."""
        turn = self.turn if self.row is None else (self.turn + HALF_TURN) % 360
        quad, rotation = np.roll(self.quad, 2, axis=0), (self.rotation + HALF_TURN) % 360
        return replace(self, quad=quad, rotation=rotation, turn=turn)


@dataclass(frozen=True, slots=True, eq=False)
class LaidOutPlace:
    """A place of a tray: what it holds, the number of the tile there in `Detections.tiles`, and its `quad`, (4, 2)."""

    row: int
    col: int
    state: PlaceState
    tile: int | None
    quad: Quad


@dataclass(frozen=True, slots=True, eq=False)
class LaidOutTray:
    """One tray: its seat (None where it stands alone), its 34 places, and its own left-to-right in degrees 0..360."""

    seat: str | None
    sites: tuple[LaidOutPlace, ...]
    rotation: float


@dataclass(frozen=True, slots=True, eq=False)
class TableLayout:
    """A picture, laid out.

    `lies` has a `TilePosition` for each of `Detections.tiles`, in their order; `trays` are in the order E S W N.
    `ghosts` are the numbers of tiles that turned out to be none: empty places, the floor of a tray, a card. `unlike`
    are those that say a serial beside a tray without being like its tiles; where there are very many, all tiles.
    """

    lies: tuple[TilePosition, ...]
    trays: tuple[LaidOutTray, ...]
    ghosts: frozenset[int] = frozenset()
    unlike: frozenset[int] = frozenset()
