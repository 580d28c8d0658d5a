"""What lies at a place, as far as it is known."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from broker.rules.deal import ROWS
from kiosk.table.events import TrayChecked
from kiosk.table.restoring.places import PLACES, Place


class What(Enum):
    """What kind of thing is known of a place."""

    TILE = "tile"  # a tile of this set, and which
    EMPTY = "empty"
    FOREIGN = "foreign"  # a tile of another set
    FACE_UP = "face-up"  # nobody can tell which: its back is underneath
    UNREAD = "unread"  # a back that the camera cannot read
    COVERED = "covered"  # a hand or a sleeve is over it
    UNSEEN = "unseen"  # its tray has not been shown yet


@dataclass(frozen=True, slots=True)
class Lying:
    """What lies at a place; `serial` with a TILE alone. `well`: back up, the right way round, straight."""

    what: What
    serial: int | None = None
    well: bool = True


Carrier = Mapping[Place, Lying]
"""What is known of each of the 136 places."""

EMPTY: Final = Lying(What.EMPTY)

BLANK: Final[Carrier] = dict.fromkeys(PLACES, Lying(What.UNSEEN))
"""Nothing has been shown yet."""

_KINDS: Final = {
    "missing": EMPTY,
    "foreign": Lying(What.FOREIGN),
    "face-up": Lying(What.FACE_UP, well=False),
    "occluded": Lying(What.COVERED),
}
_BADLY: Final = ("upside-down", "sideways")


def is_foreign(look: TrayChecked, at: tuple[int, int]) -> bool:
    """Say whether a tile of another set lies at a place of a tray, row and column."""
    return any((wrong.row, wrong.col) == at and wrong.kind == "foreign" for wrong in look.wrong)


def tray(look: TrayChecked) -> dict[Place, Lying]:
    """Give what one look has told of the 34 places of its tray; all unread where no tray was found."""
    kinds = {(wrong.row, wrong.col): wrong.kind for wrong in look.wrong if wrong.kind in _KINDS}
    badly = {(wrong.row, wrong.col) for wrong in look.wrong if wrong.kind in _BADLY}
    if tuple(map(len, look.rows)) != ROWS:
        return {place: Lying(What.UNREAD) for place in PLACES if place.seat == look.seat}
    return {
        Place(look.seat, row, col): _KINDS[kinds[row, col]] if (row, col) in kinds else _lies(serial, (row, col), badly)
        for row, line in enumerate(look.rows)
        for col, serial in enumerate(line)
    }


def _lies(serial: int | None, at: tuple[int, int], badly: set[tuple[int, int]]) -> Lying:
    return Lying(What.UNREAD if serial is None else What.TILE, serial, well=at not in badly)


def remembered(carrier: Carrier, look: TrayChecked) -> dict[Place, Lying]:
    """Put a look at one tray beside what was known of the others.

    A tile that lies here now lies nowhere else: where it was remembered, nobody knows what lies there now.
    """
    now = tray(look)
    here = {lying.serial for lying in now.values() if lying.serial is not None}
    stale = Lying(What.UNREAD)
    kept = {place: stale if lying.serial in here else lying for place, lying in carrier.items()}
    return without_doubles({**kept, **now})


def without_doubles(carrier: Carrier) -> dict[Place, Lying]:
    """Believe neither of two tiles that seem to have one serial: a set has each once."""
    first: dict[int, Place] = {}
    doubles = {
        lying.serial
        for place, lying in carrier.items()
        if lying.serial is not None and first.setdefault(lying.serial, place) != place
    }
    unread = Lying(What.UNREAD)
    return {place: unread if lying.serial in doubles else lying for place, lying in carrier.items()}


def where(carrier: Carrier) -> dict[int, Place]:
    """Give where each serial lies that is known to lie anywhere."""
    return {lying.serial: place for place, lying in carrier.items() if lying.serial is not None}


def laid_well(lying: Lying) -> Lying:
    """Give a tile as a hand puts it down elsewhere: the right way round; a face stays one till it is turned over."""
    return lying if lying.what is What.FACE_UP else replace(lying, well=True)


def turned(lying: Lying) -> Lying:
    """Give a tile that was laid right where it lies; the back of a face is still to be read."""
    return Lying(What.UNREAD) if lying.what is What.FACE_UP else replace(lying, well=True)
