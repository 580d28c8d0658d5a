"""What the layout gives: where each tile lies, and what each place of each tray holds."""

from dataclasses import dataclass

from vision.geometry import Quad
from vision.reading import State


@dataclass(frozen=True, slots=True, eq=False)
class Lie:
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


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A place of a tray: what it holds, the number of the tile there in `Found.tiles`, and its `quad`, (4, 2)."""

    row: int
    col: int
    state: State
    tile: int | None
    quad: Quad


@dataclass(frozen=True, slots=True, eq=False)
class Tray:
    """One tray: its seat (None where it stands alone), its 34 places, and its own left-to-right in degrees 0..360."""

    seat: str | None
    sites: tuple[Site, ...]
    rotation: float


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A picture, laid out: a `Lie` for each of `Found.tiles`, in their order, and the trays in the order E S W N.

    `ghosts` are the numbers of tiles that turned out to be none: empty places, the floor of a tray, a card.
    """

    lies: tuple[Lie, ...]
    trays: tuple[Tray, ...]
    ghosts: frozenset[int] = frozenset()
