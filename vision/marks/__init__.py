"""Marks: what stands on a tile's back, a printed number or a label."""

from dataclasses import dataclass

from vision.geometry import Points


@dataclass(frozen=True, slots=True, eq=False)
class LabelKind:
    """How a picture's labels look. Shares are of the tile's width and height."""

    count: int  # modules across the DataMatrix
    spot: Points  # its middle, shape (2,), shares from the tile's centre, right and down as it stands itself
    size: Points  # its sides, shape (2,), shares
    askew: float = 0.0  # degrees, clockwise, of labels that are stuck on so, in the middle of their tiles


@dataclass(frozen=True, slots=True, eq=False)
class TileMark:
    """What a back says."""

    serial: int | None  # 1..136; None if it was not read
    set_text: str | None  # the set's letter or two digits; None if the mark names no set
    turned: bool | None  # upside down in its `DetectedTile.quad`, whose corner 2 is then the tile's own top-left
    confidence: float  # 0..1, calibrated
    spot: Points
    """The mark's middle, shape (2,): shares of the tile's width and height from its centre, right and down as the mark
    itself stands, or as the quad does where `turned` is None (not known)."""
    either: tuple[int, int] | None = None
    """Of a mark that reads as a serial both ways up: the serial if it stands as the quad does, and if it is turned."""
    clash: int | None = None  # the serial that was taken from it because another tile of the picture says the same
    pitch: float = float("nan")  # between the digits of a printed number, shares of the tile's width; NaN for labels
    way_odds: float = 0.0  # where it reads `either` way: log-odds, by the mark alone, that it stands as the quad does
    likeness: float | None = None  # -1..1, to the tile's own picture, where the set is enrolled and they agree
    label: LabelKind | None = None  # how a label that was read looks: others of the picture may be found by it
    rivals: tuple[int, ...] = ()  # of a number in doubt: serials with one other digit that a reader does not rule out

    @property
    def said(self) -> frozenset[int]:
        """The serial that it says, or the two of which it leaves open which; empty if it was not read."""
        return frozenset(self.either or (() if self.serial is None else (self.serial,)))
