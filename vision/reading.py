"""What a set and a tray are, and what a picture shows: the values that the kiosk and the command get.

Needed at once, so without numpy and OpenCV.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

LAST_SET = 99  # labels name a set by two digits
LAST_SERIAL = 136  # tiles of a set

ROW_LENGTHS = (13, 11, 10)  # a player's hand, and the two rows of the wall
ROWS = len(ROW_LENGTHS)
TILES = sum(ROW_LENGTHS)
SEATS = ("E", "S", "W", "N")
HALF_TURN = 180

Indents = tuple[float, float, float]  # where column 0 of each row stands, in pitches from row 0's
LEFT: Indents = (0.0, 0.0, 0.0)  # every row begins at the tray's left end
CENTRED: Indents = (0.0, 1.0, 1.5)  # the short rows stand in the middle

RowCol = tuple[int, int]  # row, col


def tray_places() -> Iterator[RowCol]:
    """Return every (row, col) of a tray, in reading order."""
    return ((row, col) for row, length in enumerate(ROW_LENGTHS) for col in range(length))


Corners = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]
SerialRows = tuple[tuple[int | None, ...], ...]


class TrayFaultType(StrEnum):
    """What can be wrong at a place; the names are those of the truth files."""

    MISSING = "missing"
    SWAPPED = "swapped"
    FACE_UP = "face-up"
    UPSIDE_DOWN = "upside-down"
    FOREIGN = "foreign"
    WRONG_HAND = "wrong-hand"
    OCCLUDED = "occluded"
    SIDEWAYS = "sideways"


class PlaceState(StrEnum):
    """What the picture shows at a place of the tray."""

    BACK = "back"  # a tile back, read or not
    FACE_UP = "face-up"
    EMPTY = "empty"
    OCCLUDED = "occluded"  # something lies over it


@dataclass(frozen=True, slots=True)
class TileRead:
    """One tile that was seen, and what its mark says."""

    serial: int | None  # 1..136; None if it could not be read
    set: str | None  # the set's letter or two digits; None if the mark names none
    quad: Corners  # pixels, the tile's own top-left, top-right, bottom-right, bottom-left
    confidence: float  # 0..1
    rotation: float  # degrees 0..360, clockwise on the screen
    row: int | None = None  # 0..2, 0 farthest from the player; row and column are None if no tray was found
    col: int | None = None
    seat: str | None = None  # E, S, W or N in a carrier
    face_up: bool = False
    turn: int = 0  # against its tray: 0, 90, 180 or 270
    sideways: bool = False  # askew by 15 degrees or more
    foreign: bool = False  # of another set than most, by its mark, or by its back's colour if the mark names none
    clash: int | None = None  # the serial that was taken from it because another tile seems to have it too
    likeness: float | None = None  # -1..1, to the serial's own picture, where the set is enrolled and the serial counts


@dataclass(frozen=True, slots=True)
class TrayPlace:
    """What a place of a tray holds: `read` is None if no tile is seen there.

    `seat` is that of the tray, None where it stands alone; `quad` is where a tile would lie there, pixels.
    """

    row: int
    col: int
    state: PlaceState
    read: TileRead | None
    seat: str | None = None
    quad: Corners | None = None


_MANY_UNREAD, _SHARE_UNREAD = 4, 0.25  # backs of a picture: fewer are a finger's or a lamp's fault


@dataclass(frozen=True, slots=True, eq=False)
class PictureReading:
    """What was read in a picture: every tile, and the 34 places of each tray found, trays in the order E S W N."""

    reads: tuple[TileRead, ...]
    places: tuple[TrayPlace, ...]

    @property
    def rows(self) -> SerialRows:
        """The serials of a tray that stands alone, rows of 13, 11 and 10, None where nothing was read; else empty."""
        return self.seats.get(None, ())

    @property
    def seats(self) -> dict[str | None, SerialRows]:
        """The rows of each tray found, by its seat; a tray that stands alone has the seat None."""
        held = {place.seat for place in self.places}
        return {seat: self._rows_of(seat) for seat in (None, *SEATS) if seat in held}

    @property
    def strays(self) -> tuple[TileRead, ...]:
        """The tiles that lie at no place of a tray."""
        placed = {id(place.read) for place in self.places}
        return tuple(read for read in self.reads if id(read) not in placed)

    @property
    def print_to_blame(self) -> bool:
        """Whether so many backs are unread that their print may be to blame: then the set should be enrolled.

        Worn, written by hand, in an unusual font, without leading zeros: an enrolled set is read all the same.
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
    """One thing wrong at one place: `expected` belongs there, `found` lies there, `with_` is where that belongs.

    `seat` is that of the tray in a carrier; `with_` is always in the same tray.
    """

    type: TrayFaultType
    row: int
    col: int
    expected: int
    found: int | None = None
    with_: tuple[int, int] | None = None
    seat: str | None = None
