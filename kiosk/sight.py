"""What the camera sees of a table now: for the screen, and kept nowhere."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from broker.contract.carrier_sheet import CarrierSheet
from broker.contract.plans import PlannedPlay
from broker.contract.words import Seat
from kiosk.table.restoring.heap import Sighted

if TYPE_CHECKING:  # OpenCV is loaded when the first screen is shown already
    from vision.geometry import Picture


@dataclass(frozen=True, slots=True)
class View:
    """A picture for the screen, BGR, shape (height, width, 3), uint8; two are equal when they have one number."""

    number: int
    picture: "Picture" = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sight:
    """How many places a hand covers, what lies in no tray."""

    covered: int = 0
    in_view: tuple[Sighted, ...] = ()
    """Tiles in view that lie in no tray."""
    view: View | None = None
    """The picture with destinations drawn into it; None while a tray is in view."""
    sheet: CarrierSheet | None = None
    """The carrier whose sheet lies in view."""


@dataclass(frozen=True, slots=True)
class Winner:
    """Whose hand is looked at: who has declared in this play."""

    play: PlannedPlay
    seat: Seat


@dataclass(frozen=True, slots=True)
class WholePicture:
    """Nothing is looked for: the picture itself is, and whether a tray could be read in it."""


Wanted = PlannedPlay | Winner | WholePicture
"""What is looked for: the trays of a play, a winner's hand, or the camera's picture itself."""


@dataclass(frozen=True, slots=True)
class PictureSight:
    """The whole picture, and codes of what is wrong with it (`homologue camera` has the same), the worst first."""

    view: View | None = None
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HandSight:
    """A winner's hand as it lies: its groups in reading order, and whether it has been looked at long enough."""

    groups: tuple[tuple[Sighted, ...], ...] = ()
    still: bool = False
    view: View | None = None
    """The picture with the groups drawn into it."""
    rows: tuple[int, ...] = ()
    """How many groups lie in each row, from above."""
