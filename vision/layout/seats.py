"""Which seat's tray is which: in a carrier the trays lie in a square, each a quarter further than its neighbour.

Convention (that of the truth files): East's player sits at the bottom of the picture, so East's tiles stand upright;
South's at the right, West's at the top, North's at the left. A camera that stands between two seats sees no bottom:
from 40 degrees on no seat is named.
"""

import numpy as np

from vision.layout.tray import SEATS

_ASIDE = 40.0  # degrees by which East may stand off the picture's bottom


def name_seats(rotations: list[float], held: list[int]) -> dict[str, int] | None:
    """Give the number of each seat's tray, by the trays' rotations in degrees and how many tiles each holds.

    Of two trays that lie alike the fuller one has the seat. None when the picture does not tell.
    """
    aside = np.degrees(np.angle(np.exp(4j * np.radians(rotations)).mean())) / 4  # four-fold: the same for all seats
    if abs(aside) > _ASIDE:
        return None
    seats: dict[str, int] = {}
    for tray in sorted(range(len(held)), key=lambda tray: -held[tray]):
        seats.setdefault(SEATS[round((aside - rotations[tray]) / 90) % 4], tray)
    return {seat: seats[seat] for seat in SEATS if seat in seats}
