"""What the camera currently sees of a table. It is shown on the screen and never stored."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from broker.protocol import CarrierCode, LaidSeat, PlannedPlay, Seat
from kiosk.table import events

if TYPE_CHECKING:
    from vision.geometry import Picture


@dataclass(frozen=True, slots=True)
class SeenTile:
    """One tile in view; `serial` is None if it was not read, or belongs to another set."""

    serial: int | None
    face_up: bool = False
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class CameraView:
    """A picture for the screen, BGR, shape (height, width, 3), uint8. Two with the same number are equal."""

    number: int
    picture: "Picture" = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TableObservation:
    """The number of places that a hand covers, and the tiles outside the trays."""

    covered: int = 0
    in_view: tuple[SeenTile, ...] = ()
    """Tiles in view that lie in no tray."""
    view: CameraView | None = None
    """The picture with destinations drawn onto it; None while a tray is in view."""
    listed: CameraView | None = None
    """While a tray is in view: cut-outs of its tiles, each with its serial, the doubtful ones first."""
    sheet: CarrierCode | None = None
    """The carrier whose sheet is in view."""
    print_to_blame: bool = False
    """Whether the backs of a set that is not enrolled seem to be unreadable because of their print."""


@dataclass(frozen=True, slots=True)
class Winner:
    """The winner of a play whose hand is to be read."""

    play: PlannedPlay
    seat: Seat


LaidPart = Literal["river", "hand"]


@dataclass(frozen=True, slots=True)
class LaidTiles:
    """The tiles to read after a play: the river of a seat, or its hand and melds."""

    play: PlannedPlay
    seat: Seat
    part: LaidPart


@dataclass(frozen=True, slots=True)
class WholePicture:
    """Only the picture itself, and whether a tray could be read in it."""


CameraTarget = PlannedPlay | Winner | LaidTiles | WholePicture
"""The camera's target: a play's trays, a winner's hand, tiles after a play, or the whole picture."""


@dataclass(frozen=True, slots=True)
class PictureObservation:
    """The whole picture, and the codes of its problems (the same as in `homologue camera`), the worst first."""

    view: CameraView | None = None
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandObservation:
    """A winner's hand as it lies: its groups in reading order, and whether it has come to rest."""

    groups: tuple[tuple[SeenTile, ...], ...] = ()
    still: bool = False
    view: CameraView | None = None
    """The picture with the groups drawn onto it."""
    rows: tuple[int, ...] = ()
    """Number of groups in each row, from the top."""


@dataclass(frozen=True, slots=True)
class LaidObservation:
    """A river, or a hand and its melds, as laid; `laid` is None, with a code in `problem`, if it cannot be read."""

    target: LaidTiles | None = None
    laid: LaidSeat | None = None
    winning: int | None = None
    """The serial of the tile that lies apart from hand and melds."""
    problem: str | None = None
    still: bool = False
    view: CameraView | None = None

    @property
    def unread(self) -> int:
        """Number of tiles that were not read."""
        if self.laid is None:
            return 0
        return sum(row.count(None) for row in (self.laid.river, self.laid.hand or (), *self.laid.melds))


HEAP_SHARE: Final = 0.61
"""Share of the screen's height for the picture of a heap: what two lines of text leave, so it is scaled once."""


def picture_room(screen: tuple[int, int]) -> tuple[int, int]:
    """Return the largest size of a picture on a screen of this size, in pixels."""
    return screen[0], round(HEAP_SHARE * screen[1])


LIST_SHARE: Final = 0.36
"""Share of the screen's height for the cut-outs of a tray's tiles."""

DEFAULT_VIEW: Final = picture_room((800, 480))


@dataclass(frozen=True, slots=True)
class CameraHealth:
    """The code of the camera's fault; None if all is well."""

    code: str | None


Observation = TableObservation | HandObservation | LaidObservation | PictureObservation
CameraReport = events.TrayChecked | CameraHealth | Observation
