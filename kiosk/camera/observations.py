"""What the camera sees of a table now: for the screen, and kept nowhere."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from broker.protocol import CarrierCode, LaidSeat, PlannedPlay, Seat
from kiosk.table import events

if TYPE_CHECKING:
    from vision.geometry import Picture


@dataclass(frozen=True, slots=True)
class SeenTile:
    """One tile in view; `serial` None where it was not read, or is of another set."""

    serial: int | None
    face_up: bool = False
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class CameraView:
    """A picture for the screen, BGR, shape (height, width, 3), uint8; two are equal when they have one number."""

    number: int
    picture: "Picture" = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TableObservation:
    """How many places a hand covers, what lies in no tray."""

    covered: int = 0
    in_view: tuple[SeenTile, ...] = ()
    """Tiles in view that lie in no tray."""
    view: CameraView | None = None
    """The picture with destinations drawn into it; None while a tray is in view."""
    listed: CameraView | None = None
    """While a tray is in view: its tiles as they were cut out, each with its serial, the doubtful first."""
    sheet: CarrierCode | None = None
    """The carrier whose sheet lies in view."""
    print_to_blame: bool = False
    """Whether the print of a set that is not enrolled seems to be what keeps its backs from being read."""


@dataclass(frozen=True, slots=True)
class Winner:
    """Whose hand is looked at: who has declared in this play."""

    play: PlannedPlay
    seat: Seat


LaidPart = Literal["river", "hand"]


@dataclass(frozen=True, slots=True)
class LaidTiles:
    """What is looked at after a play: the river of a seat, or its hand and melds."""

    play: PlannedPlay
    seat: Seat
    part: LaidPart


@dataclass(frozen=True, slots=True)
class WholePicture:
    """Nothing is looked for: the picture itself is, and whether a tray could be read in it."""


CameraTarget = PlannedPlay | Winner | LaidTiles | WholePicture
"""What is looked for: the trays of a play, a winner's hand, what lies after a play, or the camera's picture itself."""


@dataclass(frozen=True, slots=True)
class PictureObservation:
    """The whole picture, and codes of what is wrong with it (`homologue camera` has the same), the worst first."""

    view: CameraView | None = None
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandObservation:
    """A winner's hand as it lies: its groups in reading order, and whether it has been looked at long enough."""

    groups: tuple[tuple[SeenTile, ...], ...] = ()
    still: bool = False
    view: CameraView | None = None
    """The picture with the groups drawn into it."""
    rows: tuple[int, ...] = ()
    """How many groups lie in each row, from above."""


@dataclass(frozen=True, slots=True)
class LaidObservation:
    """A river, or a hand and its melds, as it lies; None, with the code of why, where it is none that can be read."""

    of: LaidTiles | None = None
    laid: LaidSeat | None = None
    winning: int | None = None
    """The tile that lies apart from hand and melds."""
    problem: str | None = None
    still: bool = False
    view: CameraView | None = None

    @property
    def unread(self) -> int:
        """How many tiles were not read."""
        if self.laid is None:
            return 0
        return sum(row.count(None) for row in (self.laid.river, self.laid.hand or (), *self.laid.melds))


HIGH: Final = 0.61
"""Share of the screen's height that a picture of a heap has: what is left under two lines, so that it is not made
smaller once more where there is nothing else to say."""


def picture_room(screen: tuple[int, int]) -> tuple[int, int]:
    """Return how large a picture is shown at most on a screen of this size, pixels."""
    return screen[0], round(HIGH * screen[1])


LIST_SHARE: Final = 0.36
"""Of the room under the lines of a tray: its tiles as they were cut out and read."""

DEFAULT_VIEW: Final = picture_room((800, 480))


@dataclass(frozen=True, slots=True)
class CameraHealth:
    """What is wrong with the camera; None if all is well."""

    code: str | None


Observation = TableObservation | HandObservation | LaidObservation | PictureObservation
CameraReport = events.TrayChecked | CameraHealth | Observation
