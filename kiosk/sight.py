"""What the camera sees of a table now: for the screen, and kept nowhere."""

from dataclasses import dataclass, field

from kiosk.table.restoring.heap import Sighted
from vision.geometry import Picture
from vision.live.watcher import Stir


@dataclass(frozen=True, slots=True)
class View:
    """A picture for the screen, BGR, shape (height, width, 3), uint8; two are equal when they have one number."""

    number: int
    picture: Picture = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sight:
    """How far the camera can be relied on, what lies in no tray, how many places a hand covers."""

    stir: Stir = Stir.BLIND
    covered: int = 0
    trays: int = 0
    """Trays in view."""
    in_view: tuple[Sighted, ...] = ()
    """Tiles in view that lie in no tray."""
    view: View | None = None
    """The picture with destinations drawn into it; None while a tray is in view."""
