"""The marks of all tiles of a picture, whichever kind they are: one picture shows one set, so one kind."""

from collections.abc import Sequence

from vision.geometry import Picture, Quad
from vision.marks.decide import SURE, Marks
from vision.marks.digits import read_digits
from vision.marks.label import read_labels
from vision.marks.label_style import is_labelled, is_labelled_closely
from vision.sight import Found, Mark

_FEW = 0.2  # share of the backs: fewer numbers than these, and what is there may be labels that are hard to see


def read_marks(picture: Picture, found: Found) -> Marks:
    """Read the backs among `found.tiles`; gives a mark for each tile in their order, None for those face up."""
    backs = [number for number, tile in enumerate(found.tiles) if not tile.face_up]
    marks: list[Mark | None] = [None] * len(found.tiles)
    for number, mark in zip(backs, _read(picture, [found.tiles[back].quad for back in backs]), strict=True):
        marks[number] = mark
    return tuple(marks)


def _read(picture: Picture, quads: Sequence[Quad]) -> list[Mark]:
    if not quads:
        return []
    if is_labelled(picture, quads):
        return read_labels(picture, quads)
    numbers = read_digits(picture, quads)
    if _sure(numbers) < _FEW * len(quads) and is_labelled_closely(picture, quads):
        return max(numbers, read_labels(picture, quads), key=_sure)
    return numbers


def _sure(marks: list[Mark]) -> int:
    return sum(mark.serial is not None and mark.confidence >= SURE for mark in marks)
