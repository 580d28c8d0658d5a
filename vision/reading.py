"""The dimensions of a set and a tray, and the results of a reading, as the kiosk and the commands use them.

Imported at start-up, so it must not import NumPy or OpenCV.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

LAST_SET = 99  # labels name a set by two digits
LAST_SERIAL = 136  # tiles of a set

ROW_LENGTHS = (13, 11, 10)  # a player's hand, then the two rows of the wall
ROWS = len(ROW_LENGTHS)
TILES = sum(ROW_LENGTHS)
SEATS = ("E", "S", "W", "N")
HALF_TURN = 180

Indents = tuple[float, float, float]  # offset of each row's column 0 from that of row 0, in pitches
LEFT: Indents = (0.0, 0.0, 0.0)  # every row begins at the tray's left end
CENTRED: Indents = (0.0, 1.0, 1.5)  # the short rows are centred

RowCol = tuple[int, int]  # row, col


def tray_places() -> Iterator[RowCol]:
    """Return every (row, col) of a tray, in reading order."""
    return ((row, col) for row, length in enumerate(ROW_LENGTHS) for col in range(length))


Corners = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]
SerialRows = tuple[tuple[int | None, ...], ...]


class TrayFaultType(StrEnum):
    """The kinds of fault at a place; the values are those of the truth files."""

    MISSING = "missing"
    SWAPPED = "swapped"
    FACE_UP = "face-up"
    UPSIDE_DOWN = "upside-down"
    FOREIGN = "foreign"
    WRONG_HAND = "wrong-hand"
    OCCLUDED = "occluded"
    SIDEWAYS = "sideways"


class PlaceState(StrEnum):
    """What the picture shows at a place of a tray."""

    BACK = "back"  # a tile back, read or not
    FACE_UP = "face-up"
    EMPTY = "empty"
    OCCLUDED = "occluded"  # something covers the place


@dataclass(frozen=True, slots=True)
class TileRead:
    """One tile in the picture, and what was read on it."""

    serial: int | None  # 1..136; None if it could not be read
    set: str | None  # the set's letter or two digits; None if the mark names none
    quad: Corners  # pixels: top-left, top-right, bottom-right, bottom-left as the tile itself stands
    confidence: float  # 0..1
    rotation: float  # degrees 0..360, clockwise on the screen
    row: int | None = None  # 0..2, 0 farthest from the player; row and column are None if no tray was found
    col: int | None = None
    seat: str | None = None  # E, S, W or N in a carrier
    face_up: bool = False
    turn: int = 0  # against its tray: 0, 90, 180 or 270
    sideways: bool = False  # askew by 15 degrees or more
    foreign: bool = False  # of another set than most tiles: by the mark, or by colour if the mark names no set
    clash: int | None = None  # the serial read here, withheld because another tile has it too
    likeness: float | None = None  # -1..1, correlation with the serial's enrolled picture; None if unread or unenrolled


@dataclass(frozen=True, slots=True)
class TrayPlace:
    """What a place of a tray holds; `read` is None if there is no tile.

    `seat` is the tray's seat, None if it stands alone; `quad` is the outline of a tile at this place, pixels.
    """

    row: int
    col: int
    state: PlaceState
    read: TileRead | None
    seat: str | None = None
    quad: Corners | None = None


_MANY_UNREAD, _SHARE_UNREAD = 4, 0.25  # number and share of backs; fewer may be due to a finger or a lamp


@dataclass(frozen=True, slots=True, eq=False)
class PictureReading:
    """The result of reading a picture: every tile, and the 34 places of each tray, trays in the order E S W N."""

    reads: tuple[TileRead, ...]
    places: tuple[TrayPlace, ...]

    @property
    def rows(self) -> SerialRows:
        """The serials of a tray that stands alone, in rows of 13, 11 and 10, None for unread places; () without one."""
        return self.seats.get(None, ())

    @property
    def seats(self) -> dict[str | None, SerialRows]:
        """The rows of each tray by its seat; the seat of a tray that stands alone is None."""
        present = {place.seat for place in self.places}
        return {seat: self._rows_of(seat) for seat in (None, *SEATS) if seat in present}

    @property
    def strays(self) -> tuple[TileRead, ...]:
        """The tiles that lie outside every tray."""
        placed = {id(place.read) for place in self.places}
        return tuple(read for read in self.reads if id(read) not in placed)

    @property
    def print_to_blame(self) -> bool:
        """Whether so many backs are unread that their print is probably to blame, and the set should be enrolled.

        An enrolled set can be read even if its numbers are worn, handwritten, in an unusual font or without leading
        zeros.
        """
        backs = [read for read in self.reads if not read.face_up and read.clash is None]
        unread = sum(read.serial is None for read in backs)
        return unread >= max(_MANY_UNREAD, _SHARE_UNREAD * len(backs))

    def _rows_of(self, seat: str | None) -> SerialRows:
        here = [place for place in self.places if place.seat == seat]
        return tuple(
            tuple(place.read.serial if place.read else None for place in here if place.row == row)
            for row in range(ROWS)
        )


@dataclass(frozen=True, slots=True)
class TrayFault:
    """One fault at one place: `expected` belongs there, `found` lies there, and `with_` is the place of `found`.

    `seat` is the tray's seat in a carrier. `with_` is always a place (row, col) of the same tray.
    """

    type: TrayFaultType
    row: int
    col: int
    expected: int
    found: int | None = None
    with_: tuple[int, int] | None = None
    seat: str | None = None
