"""Marks: what stands on a tile's back, a printed number or a label."""

from dataclasses import dataclass

from vision.geometry import Points


@dataclass(frozen=True, slots=True, eq=False)
class LabelKind:
    """How a picture's labels look: modules, and spot and size in shares of the tile's width and height.

    `spot`, shape (2,), is the DataMatrix's middle from the tile's centre, right and down as it stands itself; `size`,
    shape (2,), are its sides. `askew`, degrees, clockwise: labels are stuck on so, in the middle of their tiles.
    """

    count: int
    spot: Points
    size: Points
    askew: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TileMark:
    """What a back says.

    `serial` is 1..136, None where it was not read; `set_text` is the set's letter or two digits, None where the mark
    names no set. `turned` tells whether the mark stands upside down in its `DetectedTile.quad` (then the tile's own
    top-left is corner 2); None if that is not known. `confidence` is 0..1, calibrated. `spot`, shape (2,), is where
    the mark's middle lies on the tile: shares of its width and height from its own centre, right and down as the mark
    itself stands (as the quad stands where `turned` is None). `either` is set where the mark reads as a serial both
    ways up and does not tell which: the serial if it stands as the quad does, and the one if it is turned; `way_odds`
    are then the log-odds that it stands as the quad does, by what the mark alone seems to show. `clash`
    is the serial that was taken from a mark because another tile of the picture says the same. `pitch` is how far
    apart the digits of a printed number stand, shares of the tile's width; not a number for labels. `likeness`, -1..1,
    is that with the tile's own picture, where the set is enrolled and the picture says the same. `label` is how a label
    that was read looks, so that others of the picture may be found by it. `rivals` are serials, a digit of which is
    another, that a reader does not rule out for a printed number that is not beyond doubt.
    """

    serial: int | None
    set_text: str | None
    turned: bool | None
    confidence: float
    spot: Points
    either: tuple[int, int] | None = None
    clash: int | None = None
    pitch: float = float("nan")
    way_odds: float = 0.0
    likeness: float | None = None
    label: LabelKind | None = None
    rivals: tuple[int, ...] = ()
