"""What a reader needs of a picture: pixels for the finest line of a mark, and room for all places."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from vision.layout.tray import ROW_LENGTHS

_GAP = 0.055  # of a tile's width: what is left free between tiles of a row
_ROW_GAP = 0.15  # of a tile's height, between rows


class Mark(Enum):
    """A kind of mark: its finest line in millimetres, and how many pixels that line needs."""

    DIGITS = (1.0, 2.2)
    LABEL = (0.7, 3.0)

    @property
    def fine_mm(self) -> float:
        """The finest line: a digit's stroke, a DataMatrix's module."""
        return self.value[0]

    @property
    def pixels_per_mm(self) -> float:
        """The least scale at which the mark is read."""
        return self.value[1] / self.value[0]


@dataclass(frozen=True, slots=True)
class Need:
    """How much of a table must be in the picture, in millimetres, the longer side first."""

    long_mm: float
    short_mm: float

    def fits(self, field_mm: tuple[float, float]) -> bool:
        """Tell whether it fits into a field, either way round."""
        return self.long_mm <= max(field_mm) and self.short_mm <= min(field_mm)

    def excess(self, field_mm: tuple[float, float]) -> float:
        """Give how many times longer the field's sides would have to be; at most 1 where it fits."""
        return max(self.long_mm / max(field_mm), self.short_mm / min(field_mm))


TRAY: Final = 34
CARRIER: Final = 136


def room_for(places: int, tile_mm: tuple[float, float]) -> Need:
    """Give the room of a tray's 34 places, or of a carrier's 136: four trays about a square, each beside the next."""
    width = ROW_LENGTHS[0] * tile_mm[0] * (1 + _GAP)
    height = len(ROW_LENGTHS) * tile_mm[1] * (1 + _ROW_GAP)
    return Need(width, height) if places == TRAY else Need(width + height, width + height)
