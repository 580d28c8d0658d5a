"""The marks of all tiles of a picture, whichever kind they are, and what has no mark: faces, and nothing at all.

One picture shows one set, so its marks are of one kind. The finder sees tiles where a tray is empty and on cards, and
takes some faces for backs: where no mark was read, the network for numbers says what lies there.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vision.geometry import Picture, Quad
from vision.marks.cut import cut_backs
from vision.marks.decide import SURE, Marks, is_sure
from vision.marks.digits import conclude, look_twice
from vision.marks.digits_net import Look, look_at
from vision.marks.label import read_labels
from vision.marks.label_style import is_labelled, is_labelled_closely
from vision.marks.signs import FACE, LABEL, NOTHING, NUMBER
from vision.sight import Found, Mark, Tile

_FEW = 0.2  # share of the tiles: fewer numbers than these, and what is there may be labels that are hard to see
_SIDEWAYS = 6  # tiles of a picture that are tried on their side
_FACE_ALONE = 0.9  # share of a face from which one is believed where nothing else is made out
_BLANK = 0.3  # confidence below which nothing is made out at all
_TOLD_APART = 0.8  # share of a face or of nothing from which no label is looked for
_TOLD, _TOLD_TWICE = 0.5, 0.3  # share from which a face is a face and nothing nothing; less where the finder agrees


def read_marks(picture: Picture, found: Found) -> tuple[Found, Marks]:
    """Read all tiles; gives those that are there, and the mark of each, None for those face up."""
    quads = [tile.quad for tile in found.tiles]
    marks, looks = _read(picture, quads)
    if len(looks) == len(quads):
        _try_on_their_side(picture, quads, marks, looks)
    doubted = [number for number, mark in enumerate(marks) if not is_sure(mark)]
    looks |= _looks(picture, quads, [number for number in doubted if number not in looks])
    tiles = {
        number: Tile(quad, face_up=False, likelihood=found.tiles[number].likelihood)
        for number, quad in enumerate(quads)
    }
    alone = len(doubted) == len(tiles)
    for number in doubted:
        tiles[number] = replace(tiles[number], face_up=_is_face(found.tiles[number], looks[number]))
        if _is_nothing(found.tiles[number], looks[number], alone=alone):
            del tiles[number]
    there = tuple(None if tile.face_up else marks[number] for number, tile in tiles.items())
    return replace(found, tiles=tuple(tiles.values())), there


def read_again(picture: Picture, quads: Sequence[Quad], marks: Marks) -> list[Mark | None]:
    """Read some tiles along better outlines, as labels or as numbers, as the picture's `marks` are; None for a face."""
    labelled = any(mark is not None and (mark.set_text or "").isdigit() for mark in marks)
    looks = look_twice(cut_backs(picture, quads))
    again = read_labels(picture, quads) if labelled else [conclude(look) for look in looks]
    return [mark if is_sure(mark) or look.kind[FACE] < _TOLD else None for mark, look in zip(again, looks, strict=True)]


def shares_of_marks(picture: Picture, quads: Sequence[Quad]) -> list[float]:
    """Give for each outline how likely a number or a label stands in it, upright or upside down: one quick look."""
    return [float(look.kind[[NUMBER, LABEL]].sum()) for look in look_at(cut_backs(picture, quads))]


def _read(picture: Picture, quads: Sequence[Quad]) -> tuple[list[Mark], dict[int, Look]]:
    """Read labels or numbers; also what the network saw, where it was asked."""
    if is_labelled(picture, quads):
        looks: dict[int, Look] = {}

        def dismiss(numbers: list[int]) -> set[int]:
            looks.update(_looks(picture, quads, numbers))
            return {number for number in numbers if looks[number].kind[[FACE, NOTHING]].sum() > _TOLD_APART}

        return read_labels(picture, quads, dismiss), looks
    looks = _looks(picture, quads, list(range(len(quads))))
    numbers = [conclude(look) for look in looks.values()]
    if _sure(numbers) < _FEW * len(quads) and is_labelled_closely(picture, quads):
        numbers = max(numbers, read_labels(picture, quads), key=_sure)
    return numbers, looks


def _looks(picture: Picture, quads: Sequence[Quad], numbers: list[int]) -> dict[int, Look]:
    cuts = cut_backs(picture, [quads[number] for number in numbers])
    return dict(zip(numbers, look_twice(cuts), strict=True))


def _try_on_their_side(picture: Picture, quads: list[Quad], marks: list[Mark], looks: dict[int, Look]) -> None:
    """Read unread tiles with long and short ends exchanged, as the finder may have them."""
    left = [number for number, mark in enumerate(marks) if mark.confidence < _BLANK][:_SIDEWAYS]
    turned = [np.roll(quads[number], 1, axis=0) for number in left]
    for number, quad, look in zip(left, turned, look_twice(cut_backs(picture, turned)), strict=True):
        mark = conclude(look)
        if is_sure(mark):
            quads[number], marks[number], looks[number] = quad, mark, look


def _sure(marks: list[Mark]) -> int:
    return sum(mark.serial is not None and mark.confidence >= SURE for mark in marks)


def _is_face(tile: Tile, look: Look) -> bool:
    return bool(look.kind[FACE] > (_TOLD_TWICE if tile.face_up else _TOLD))


def _is_nothing(tile: Tile, look: Look, *, alone: bool) -> bool:
    """Tell whether no tile is there after all; where nothing at all was read, a blank thing is more likely no back."""
    if alone:
        return bool(look.kind[[NUMBER, LABEL]].sum() < _TOLD and look.kind[FACE] < _FACE_ALONE)
    return bool(look.kind[NOTHING] > _TOLD and not tile.face_up)
