"""Marks: the printed number or label on a tile's back."""

from dataclasses import dataclass

from vision.geometry import Points


@dataclass(frozen=True, slots=True, eq=False)
class LabelKind:
    """The appearance of a picture's labels. Shares are of the tile's width and height."""

    count: int  # modules across the DataMatrix
    spot: Points  # middle of the DataMatrix, shape (2,), shares from the tile's centre, right and down in its own frame
    size: Points  # width and height of the DataMatrix, shape (2,), shares
    askew: float = 0.0  # degrees, clockwise, for labels stuck on at an angle, in the middle of their tiles


@dataclass(frozen=True, slots=True, eq=False)
class TileMark:
    """What was read on a back."""

    serial: int | None  # 1..136; None if it was not read
    set_text: str | None  # the set's letter or two digits; None if the mark names no set
    turned: bool | None  # whether it is upside down in its `DetectedTile.quad`, whose corner 2 is then its top-left
    confidence: float  # 0..1, calibrated
    spot: Points
    """The mark's middle, shape (2,): shares of the tile's width and height from its centre, right and down in the
    mark's own orientation, or in the quad's if `turned` is None (not known)."""
    either: tuple[int, int] | None = None
    """For a number that is a serial both ways up: the serial if it is upright in its quad, and if it is upside down."""
    clash: int | None = None  # the serial read here, withheld because another tile in the picture has it too
    pitch: float = float("nan")  # distance between printed digits, shares of the tile's width; NaN for labels
    upright_odds: float = 0.0  # with `either`: log-odds, from the mark alone, that it is upright in its quad
    likeness: float | None = None  # -1..1, correlation with the tile's enrolled picture, if there is one and it agrees
    label: LabelKind | None = None  # the appearance of a label that was read, which helps to find the others
    rivals: tuple[int, ...] = ()  # for a number in doubt: serials with one different digit that cannot be ruled out

    @property
    def possible_serials(self) -> frozenset[int]:
        """The serial that was read, or both if it is not known which way up it is; empty if nothing was read."""
        return frozenset(self.either or (() if self.serial is None else (self.serial,)))
