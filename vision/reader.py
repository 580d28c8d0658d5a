"""Read a picture: the entry point, which runs the stages in order and returns a `PictureReading`.

Tiles that could not be read, or that seem to lie askew, get a second look along other outlines. The finder's outlines
are worst at the ends of rows, where a tile has a neighbour on one side only, and in heaps, where it may mistake a long
side for a short one. In a tray, the tray itself tells where each of its tiles should lie. Elsewhere the outline is
refined again, once as it is and once turned on its side.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from vision import finder
from vision.enrolled.check import check_marks
from vision.enrolled.file import EnrolledSet
from vision.finder import DetectedTile, Detections, find_tiles
from vision.geometry import HEIGHT, UNIT_SQUARE, Picture, Points, Quad, homography_between, project, quad_area
from vision.layout import LaidOutTray, TableLayout, TilePosition, is_clutter, lay_out_table, stand_tiles_up
from vision.marks import TileMark
from vision.marks.read import (
    CheckMarks,
    FirstLooks,
    TileMarks,
    decide_ambiguous,
    drop_duplicate_tiles,
    first_looks,
    is_sure,
    read_again,
    read_marks,
    restore_alike,
    withhold_if_few_read,
    withhold_print_on_paper,
    withhold_prints,
    withhold_repeated_serials,
    withhold_strays,
    withhold_unlike,
    withhold_unsure,
    withhold_upside_down,
)
from vision.picture import check_picture
from vision.reading import HALF_TURN, Corners, PictureReading, PlaceState, TileRead, TrayPlace

_TILE = 0.9  # least likelihood that a refined outline encloses a tile
_STRAIGHT = np.cos(np.radians(10.0))
_MOST = 12  # tiles to try along other outlines; in a picture out of focus all would be tried, in vain
_ALIKE = 1.6  # factor by which an outline's area may exceed the usual area, or fall short of it
_MOVED = 0.3  # how far an outline's middle may move, in tile sides
_MARK_SEEN = 0.3  # least likelihood of a number or label in an outline for it to be read
_INSIDE = 0.4  # distance from a quad's middle, in its sides, up to which a point is well inside
_CONTRADICTED = 0.3  # confidence from which a different serial rules out a sure one
_STEADY = 0.9  # least mean confidence over all outlines that give this serial: of 82 sure ones three were wrong


def take_second_look(
    picture: Picture, found: Detections, marks: TileMarks, layout: TableLayout, check: CheckMarks | None = None
) -> tuple[Detections, TileMarks] | None:
    """Return tiles and marks after a second look at tiles that were not read or seem to lie askew.

    Return None if the second look changes nothing.
    """
    tiles, new_marks = list(found.tiles), list(marks)
    _read_in_place(picture, tiles, new_marks, layout, check)
    _read_along_other_outlines(picture, tiles, new_marks, _still_unread(new_marks, layout), check)
    return (replace(found, tiles=tuple(tiles)), tuple(new_marks)) if tiles != list(found.tiles) else None


def _read_in_place(
    picture: Picture,
    tiles: list[DetectedTile],
    marks: list[TileMark | None],
    layout: TableLayout,
    check: CheckMarks | None,
) -> None:
    """Read a tray's unread and overlooked tiles at the places where they should lie; straighten tiles that seem askew.

    Changes `tiles` and `marks` in place.
    """
    overlooked = _overlooked_places(layout)
    for quad, mark in zip(
        overlooked, read_again(picture, first_looks(picture, overlooked), tuple(marks), check), strict=True
    ):
        if is_sure(mark):
            tiles.append(DetectedTile(quad, face_up=False, likelihood=1.0))
            marks.append(mark)
    places = {place.tile: place.quad for tray in layout.trays for place in tray.places if place.tile is not None}
    askew = {number for number in places if layout.positions[number].sideways}
    unread = [
        number for number in places if not is_sure(marks[number]) or (number in askew and _is_across(marks[number]))
    ]
    looks = first_looks(picture, [places[number] for number in unread])
    again = read_again(picture, looks, tuple(marks), check) if unread else []
    for number, mark in zip(unread, again, strict=True):
        if mark is None or is_sure(mark):
            tiles[number], marks[number] = DetectedTile(places[number], face_up=mark is None, likelihood=1.0), mark
    for number, quad in _straightened(picture, {number: places[number] for number in askew.difference(unread)}).items():
        tiles[number] = replace(tiles[number], quad=_same_start(quad, tiles[number].quad))


def _overlooked_places(layout: TableLayout) -> list[Quad]:
    """Return the outlines of places that show a back for which the finder reported no tile, or not a single one."""
    places = (place for tray in layout.trays for place in tray.places)
    return [place.quad for place in places if place.tile is None and place.state is PlaceState.BACK]


def _is_across(mark: TileMark | None) -> bool:
    """Return whether it is unknown which way up a mark is: the outline's short and long sides may be exchanged."""
    return mark is not None and mark.turned is None


def _straightened(picture: Picture, quads: dict[int, Quad]) -> dict[int, Quad]:
    """Refine outlines from where the tiles should lie, and return those of tiles that lie straight after all."""
    starts = np.array(list(quads.values())).reshape(-1, 4, 2)
    judged = finder.refine_again(picture, starts)
    return {
        number: quad
        for number, quad, start, tile in zip(quads, judged.quads, starts, judged.tile, strict=True)
        if tile > _TILE and _cosine(quad[1] - quad[0], start[1] - start[0]) > _STRAIGHT
    }


def _cosine(one: Quad, other: Quad) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def _same_start(quad: Quad, before: Quad) -> Quad:
    """Return the quad starting at the same end as `before`, because a mark's `turned` refers to that end."""
    return quad if (quad[1] - quad[0]) @ (before[1] - before[0]) > 0 else np.roll(quad, 2, axis=0)


def _still_unread(marks: list[TileMark | None], layout: TableLayout) -> list[int]:
    """Return the numbers of up to `_MOST` tiles that are still unread; if there is a tray, only tiles in trays."""
    positions = enumerate(layout.positions)
    there = [
        number
        for number, position in positions
        if not layout.trays or (position.row is not None and number not in layout.false_detections)
    ]
    return [number for number in there if not is_sure(marks[number])][:_MOST]


def _read_along_other_outlines(
    picture: Picture,
    tiles: list[DetectedTile],
    marks: list[TileMark | None],
    left: list[int],
    check: CheckMarks | None,
) -> None:
    """Read tiles that are still unread along a few other outlines.

    Of each tile the surest look counts, if no other look contradicts it and the mean confidence of all looks that give
    the same serial is at least `_STEADY`. Without that, the surest of several looks is wrong too often.
    """
    owners, outlines = _other_outlines(picture, tiles, marks, left)
    again = read_again(picture, outlines, tuple(marks), check) if owners else []
    for number in left:
        looks = [(mark, at) for at, mark in enumerate(again) if owners[at] == number and mark is not None]
        mark, best = max(looks, key=lambda look: look[0].confidence, default=(None, 0))
        others = [marks[number], *(other for other, _ in looks)]
        same = [one.confidence for one in others if mark and one and one.possible_serials == mark.possible_serials]
        if (
            mark
            and is_sure(mark)
            and np.mean(same) >= _STEADY
            and not any(_contradicts(mark, other) for other in others)
        ):
            tiles[number], marks[number] = DetectedTile(outlines.quads[best], face_up=False, likelihood=1.0), mark


def _other_outlines(
    picture: Picture, tiles: list[DetectedTile], marks: list[TileMark | None], left: list[int]
) -> tuple[list[int], FirstLooks]:
    """Return the tile number of each other outline, and the outlines that may hold a mark, cut out.

    Four are tried per tile: refined, refined on its side, the first one on its side, and the original on its side.
    """
    usual = _usual_area(tiles, marks)
    before = np.array([tiles[number].quad for number in left]).reshape(-1, 4, 2)
    new = finder.refine_again(picture, np.concatenate([before, np.roll(before, 1, axis=1)])).quads
    quads = [*new, *np.roll(new[: len(left)], 1, axis=1), *np.roll(before, 1, axis=1)]
    owners = 4 * left
    likely = [at for at, number in enumerate(owners) if _is_of_one_tile(quads[at], tiles[number].quad, usual)]
    first = first_looks(picture, [quads[at] for at in likely])
    good = [at for at, share in enumerate(first.shares_of_marks) if share > _MARK_SEEN]
    return [owners[likely[at]] for at in good], first.select(good)


def _usual_area(tiles: list[DetectedTile], marks: list[TileMark | None]) -> float | None:
    """Return the median area of the tiles that were read; None if there are none."""
    areas = [quad_area(tile.quad) for tile, mark in zip(tiles, marks, strict=True) if is_sure(mark)]
    return float(np.median(areas)) if areas else None


def _is_of_one_tile(quad: Quad, before: Quad, usual: float | None) -> bool:
    """Return whether an outline still encloses the same tile and nothing more."""
    moved = np.linalg.norm(quad.mean(axis=0) - before.mean(axis=0))
    return (
        moved < _MOVED * np.sqrt(quad_area(quad))
        and 1 / _ALIKE < quad_area(quad) / (usual or quad_area(before)) < _ALIKE
    )


def _contradicts(mark: TileMark, other: TileMark | None) -> bool:
    """Return whether another look at the same tile gives a different number with enough confidence."""
    return other is not None and other.confidence >= _CONTRADICTED and mark.possible_serials != other.possible_serials


def to_reading(found: Detections, marks: tuple[TileMark | None, ...], layout: TableLayout) -> PictureReading:
    """Return the reading: places tray by tray, reads in the order of their places, tiles outside trays last.

    Marks are used as they are; doubts, such as two tiles with one serial, must be settled before.
    """
    usual = _usual_set(marks)
    reads = [
        _read(position, mark, usual, face_up=tile.face_up)
        for tile, mark, position in zip(found.tiles, marks, layout.positions, strict=True)
    ]
    places = [place for tray in layout.trays for place in _places(tray, reads)]
    inside = [place.read for place in places if place.read is not None]
    outside = [read for number, read in enumerate(reads) if read.row is None and number not in layout.false_detections]
    return PictureReading((*inside, *outside), tuple(places))


def _usual_set(marks: tuple[TileMark | None, ...]) -> str | None:
    """Return the set that more than half of the marks with a set name; None if there is no such set."""
    named = Counter(mark.set_text for mark in marks if mark is not None and mark.set_text is not None)
    (name, times) = named.most_common(1)[0] if named else (None, 0)
    return name if 2 * times > named.total() else None


def _read(position: TilePosition, mark: TileMark | None, usual: str | None, *, face_up: bool) -> TileRead:
    named = mark.set_text if mark is not None else None
    return TileRead(
        serial=mark.serial if mark is not None else None,
        set=named,
        quad=quad_corners(position.quad),
        confidence=round(mark.confidence, 4) if mark is not None else 0.0,
        rotation=round(position.rotation, 2),
        row=position.row,
        col=position.col,
        seat=position.seat,
        face_up=face_up,
        turn=position.turn,
        sideways=position.sideways,
        foreign=position.odd_colour if named is None else usual is not None and named != usual,
        clash=mark.clash if mark is not None else None,
        likeness=mark.likeness if mark is not None and mark.serial is not None else None,
    )


def _places(tray: LaidOutTray, reads: list[TileRead]) -> list[TrayPlace]:
    return [
        TrayPlace(
            place.row,
            place.col,
            place.state,
            None if place.tile is None else reads[place.tile],
            tray.seat,
            quad_corners(place.quad),
        )
        for place in tray.places
    ]


def quad_corners(quad: Quad) -> Corners:
    """Return a quad as plain floats, rounded to hundredths of a pixel."""
    a, b, c, d = ((round(x, 2), round(y, 2)) for x, y in quad.tolist())
    return a, b, c, d


def tile_outlines(reading: PictureReading) -> tuple[Quad, ...]:
    """Return the outlines of all visible tiles, each of shape (4, 2), pixels; corners 0-1 and 2-3 are the short ends.

    If there is a tray, these are the outlines of its occupied places: they are fitted to all its tiles together, which
    is more accurate than each tile's own outline.
    """
    outlines = [place.quad for place in reading.places if place.state is PlaceState.BACK and place.quad is not None]
    return tuple(np.array(quad) for quad in outlines or [read.quad for read in reading.reads])


def read_picture(picture: Picture, *, close: bool = True, enrolled: EnrolledSet | None = None) -> PictureReading:
    """Read every tile in a picture (BGR, shape (height, width, 3), uint8), and where it lies in its tray.

    Only the picture is used; the expected deal never helps a read. Stateless and thread-safe. `close`: whether single
    tiles may fill the picture. `enrolled`: the set's own pictures; a serial then counts only if the picture of that
    tile agrees. Raises PictureError if the array is not a picture.
    """
    check_picture(picture)
    check = partial(check_marks, enrolled) if enrolled is not None else None
    found, all_marks = drop_duplicate_tiles(*read_marks(picture, find_tiles(picture, close=close), check))
    marks = withhold_unsure(all_marks)
    layout = lay_out_table(picture, found, marks)
    clear = not is_clutter(len(layout.unlike))
    second = clear and _needs_second_look(marks, layout)
    if second and (again := take_second_look(picture, found, all_marks, layout, check)):
        found, all_marks = drop_duplicate_tiles(*again)
        marks = withhold_unsure(all_marks)
        layout = lay_out_table(picture, found, marks)
    if clear and layout.trays and (again := look_beside_trays(picture, found, all_marks, layout, check)):
        found, all_marks = drop_duplicate_tiles(*again)
        marks = withhold_unsure(all_marks)
        layout = lay_out_table(picture, found, marks)
    marks = withhold_strays(marks, layout.unlike)
    upright = decide_ambiguous(picture, found, marks, layout)
    final = withhold_repeated_serials(upright, [position.odd_colour for position in layout.positions])
    if not layout.trays:
        final = withhold_prints(final)
    if enrolled is None:
        against = frozenset(number for number, position in enumerate(layout.positions) if position.turn == HALF_TURN)
        loose = frozenset(number for number, position in enumerate(layout.positions) if position.row is None)
        final = withhold_print_on_paper(picture, found, final, loose)
        final = withhold_unlike(picture, found, withhold_if_few_read(withhold_upside_down(final, against)), loose)
        final = restore_alike(picture, found, all_marks, final, layout.false_detections | layout.unlike | against)
    return to_reading(found, final, stand_tiles_up(found, upright, layout))


def look_beside_trays(
    picture: Picture, found: Detections, marks: TileMarks, layout: TableLayout, check: CheckMarks | None = None
) -> tuple[Detections, TileMarks] | None:
    """Return tiles and marks after a closer look at tiles beside the trays that were not read or do not match them.

    The finder may have taken the side of a turned tile for its back, or outlined a lone tile too large. The tray tells
    how large the outline should be, and where on it the number should stand. A tile gets such an outline if it reads
    the same along it, or was not read before. A tile that reads differently along two outlines is left as it was.
    Return None if nothing changes.
    """
    owners, expected = _outlines_beside(found, marks, layout)
    judged = finder.refine_again(picture, np.array(expected).reshape(-1, 4, 2))
    likely = [at for at, tile in enumerate(judged.tile) if tile > _TILE]
    first = first_looks(picture, [judged.quads[at] for at in likely])
    good = [at for at, share in enumerate(first.shares_of_marks) if share > _MARK_SEEN]
    likely, again = [likely[at] for at in good], read_again(picture, first.select(good), marks, check)
    tiles, new_marks = list(found.tiles), list(marks)
    sure = [
        (owners[at], judged.quads[at], mark)
        for at, mark in zip(likely, again, strict=True)
        if mark is not None and is_sure(mark) and not _contradicts(mark, marks[owners[at]])
    ]
    for number, quad, mark in sorted(sure, key=lambda candidate: candidate[2].confidence):
        if not any(_contradicts(mark, other) for owner, _, other in sure if owner == number):
            tiles[number] = DetectedTile(quad, face_up=False, likelihood=tiles[number].likelihood)
            new_marks[number] = mark
    return (replace(found, tiles=tuple(tiles)), tuple(new_marks)) if tiles != list(found.tiles) else None


def _outlines_beside(found: Detections, marks: TileMarks, layout: TableLayout) -> tuple[list[int], list[Quad]]:
    """Return the tile number of each outline, and outlines for tiles beside trays, as large as those in the trays."""
    places = [place for tray in layout.trays for place in tray.places if place.tile is not None]
    spot = usual_spot([marks[place.tile] for place in places if place.tile is not None])
    middles = np.array([place.quad.mean(axis=0) for place in places]).reshape(-1, 2)
    beside = [number for number, position in enumerate(layout.positions) if position.row is None and places]
    owners, expected = list[int](), list[Quad]()
    for number in sorted(beside, key=lambda tile: not is_sure(marks[tile])):  # read ones first; others are mostly print
        if len(owners) >= 2 * _MOST:
            break
        tile, mark = found.tiles[number], marks[number]
        if not is_sure(mark) and _encloses_any(tile.quad, middles):
            continue  # the finder has joined several tiles of the tray, or parts of them
        near = places[int(np.linalg.norm(middles - tile.quad.mean(axis=0), axis=1).argmin())].quad
        if mark is not None and is_sure(mark):
            known = spot if number in layout.unlike else None
            quads = [] if known is None else [expected_outline(tile.quad, mark, near, known)]
        else:
            quads = [outline_as_large(quad, near) for quad in (tile.quad, np.roll(tile.quad, 1, axis=0))]
        owners += [number] * len(quads)
        expected += quads
    return owners, expected


def _encloses_any(quad: Quad, spots: Points) -> bool:
    """Return whether any of the `spots`, shape (n, 2), pixels, lies well inside the quad."""
    inside = project(homography_between(quad, UNIT_SQUARE), spots)
    return bool((np.abs(inside - 0.5) < _INSIDE).all(axis=1).any())


def usual_spot(marks: Sequence[TileMark | None]) -> Points | None:
    """Return where numbers usually stand, shape (2,), as shares of a tile from its middle; None without numbers."""
    spots = [mark.spot for mark in marks if mark is not None and np.isfinite(mark.pitch)]
    return np.asarray(np.median(spots, axis=0)) if spots else None


def expected_outline(quad: Quad, mark: TileMark, near: Quad, spot: Points) -> Quad:
    """Return the outline, as large as the place `near` it, of a tile whose number stands on the `spot`.

    `mark` was read along `quad`. Quads are of shape (4, 2), pixels; the spot is in shares of the tile from its middle.
    """
    direction = -1 if mark.turned else 1
    line = 0.5 + direction * (mark.spot + np.array([[0.0, 0.0], [0.1, 0.0]]))
    start, end = project(homography_between(UNIT_SQUARE, quad), line)
    return _tile_outline(start, end - start, near, spot)


def outline_as_large(quad: Quad, near: Quad) -> Quad:
    """Return an outline as large as the place `near` it, with the centre and the direction of `quad`."""
    return _tile_outline(quad.mean(axis=0), quad[1] - quad[0] + quad[2] - quad[3], near, np.zeros(2))


def _tile_outline(at: Points, right: Points, near: Quad, spot: Points) -> Quad:
    """Return the outline, as large as `near`, of a tile with its `spot` at the pixel `at` and its top along `right`.

    Computed in the plane in which `near` is a rectangle of a tile's proportions, which holds close to `near`.
    """
    across, down = near[1] + near[2] - near[0] - near[3], near[2] + near[3] - near[0] - near[1]
    plane = np.column_stack([across, down / HEIGHT]) / 2  # pixels of a tile's width, either way
    start, direction = np.linalg.solve(plane, np.column_stack([at, right])).T
    direction = direction / np.linalg.norm(direction)
    sides = np.array([direction, HEIGHT * np.array([-direction[1], direction[0]])])
    return np.asarray((start + (UNIT_SQUARE - 0.5 - spot) @ sides) @ plane.T)


def _needs_second_look(marks: TileMarks, layout: TableLayout) -> bool:
    """Return whether any back was overlooked or not read, or any tile of a tray lies face up or askew.

    If there is a tray, tiles beside it do not count.
    """
    return bool(_overlooked_places(layout)) or any(
        (mark is not None and not is_sure(mark) and (position.row is not None or not layout.trays))
        or (position.row is not None and (mark is None or position.sideways))
        for position, mark in zip(layout.positions, marks, strict=True)
    )
