"""What the room says of a picture: values that flow out, for the kiosk and for the command."""

from dataclasses import dataclass
from enum import StrEnum

from vision.lattice import Lattice

Corners = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]


class FaultType(StrEnum):
    """What can be wrong at a place; the names are those of the truth files."""

    MISSING = "missing"
    SWAPPED = "swapped"
    FACE_UP = "face-up"
    UPSIDE_DOWN = "upside-down"
    FOREIGN = "foreign"
    WRONG_HAND = "wrong-hand"
    OCCLUDED = "occluded"
    SIDEWAYS = "sideways"


class State(StrEnum):
    """What the picture shows at a place of the tray."""

    BACK = "back"  # a tile back, read or not
    FACE_UP = "face-up"
    EMPTY = "empty"
    OCCLUDED = "occluded"  # something lies over it


@dataclass(frozen=True, slots=True)
class Read:
    """One tile that was seen, and what its label says.

    `serial` is 1..136, None when it could not be read; `set` the set's two digits. `quad` holds the back's corners in
    pixels, the tile's own top-left, top-right, bottom-right, bottom-left; `rotation` is in degrees 0..360, clockwise
    on the screen. `row` 0..2 (0 farthest from the player) and `col` 0.. are None where no tray was found; `seat` is
    one of E S W N in a carrier, None otherwise. `turn` is how the tile lies against the others: 0, 90, 180 or 270.
    """

    serial: int | None
    set: str | None
    quad: Corners
    confidence: float
    rotation: float
    row: int | None = None
    col: int | None = None
    seat: str | None = None
    face_up: bool = False
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """What a place of the tray holds: `read` is None when nothing of a tile is seen there."""

    row: int
    col: int
    state: State
    read: Read | None


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A picture, read: every tile seen, and the tray's 34 places (none, and no lattice, where no tray was found)."""

    reads: tuple[Read, ...]
    places: tuple[Place, ...]
    lattice: Lattice | None

    @property
    def rows(self) -> tuple[tuple[int | None, ...], ...]:
        """The serials in order, rows of 13, 11 and 10 with None where nothing was read; empty without a tray."""
        return tuple(
            tuple(place.read.serial if place.read else None for place in self.places if place.row == row)
            for row in range(3 if self.places else 0)
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong at one place: `expected` belongs there, `found` lies there, `with_` is where that belongs."""

    type: FaultType
    row: int
    col: int
    expected: int
    found: int | None = None
    with_: tuple[int, int] | None = None
    seat: str | None = None
