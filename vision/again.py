"""A second look at tiles of a tray, along the outlines that their neighbours give.

The finder's outlines are worst at the ends of rows, where a tile has a neighbour on one side only. Once a tray is
known, so is where each of its tiles should lie: what could not be read is read again there, and what seems to lie askew
is looked at again.
"""

from dataclasses import replace

import numpy as np

from vision.finder.closeup import look_closer
from vision.geometry import Picture, Quad
from vision.layout.values import Layout
from vision.marks.decide import Marks, is_sure
from vision.marks.read import read_again
from vision.sight import Found, Mark, Tile

_TILE = 0.9  # likelihood from which the closer look believes in an outline
_STRAIGHT = np.cos(np.radians(10.0))


def look_again(picture: Picture, found: Found, marks: Marks, layout: Layout) -> tuple[Found, Marks] | None:
    """Give tiles and marks after a second look at those of a tray that were not read or seem to lie askew.

    None where that look tells nothing new.
    """
    there = {site.tile: site.quad for tray in layout.trays for site in tray.sites if site.tile is not None}
    unread = [
        number for number in there if not is_sure(marks[number]) or _is_on_its_side(marks[number], layout, number)
    ]
    askew = [number for number in there if layout.lies[number].sideways and number not in unread]
    tiles, settled = list(found.tiles), list(marks)
    again = read_again(picture, [there[number] for number in unread], marks) if unread else []
    for number, mark in zip(unread, again, strict=True):
        if mark is None or is_sure(mark):
            tiles[number], settled[number] = Tile(there[number], face_up=mark is None, likelihood=1.0), mark
    for number, quad in _straightened(picture, {number: there[number] for number in askew}).items():
        tiles[number] = replace(tiles[number], quad=_as_before(quad, tiles[number].quad))
    return (replace(found, tiles=tuple(tiles)), tuple(settled)) if tiles != list(found.tiles) else None


def _is_on_its_side(mark: Mark | None, layout: Layout, number: int) -> bool:
    """Tell whether outline and mark lie across: then the outline has its short and long ends exchanged."""
    return layout.lies[number].sideways and mark is not None and mark.turned is None


def _straightened(picture: Picture, quads: dict[int, Quad]) -> dict[int, Quad]:
    """Give the outlines of tiles that, looked at where they should lie, lie straight after all."""
    if not quads:
        return {}
    starts = np.array(list(quads.values()))
    judged = look_closer(picture, starts, starts, np.ones(len(starts), dtype=bool))
    return {
        number: quad
        for number, quad, start, tile in zip(quads, judged.quads, starts, judged.tile, strict=True)
        if tile > _TILE and _cosine(quad[1] - quad[0], start[1] - start[0]) > _STRAIGHT
    }


def _cosine(one: Quad, other: Quad) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def _as_before(quad: Quad, before: Quad) -> Quad:
    """Begin a quad at the same end as before, for its mark's way up was told by that."""
    return quad if (quad[1] - quad[0]) @ (before[1] - before[0]) > 0 else np.roll(quad, 2, axis=0)
