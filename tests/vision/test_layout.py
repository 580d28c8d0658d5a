"""What each place holds, which backs have another colour, and how tiles lie; the measures behind that are exact."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.vision.test_rows import LATTICE
from tests.vision.tray_scenes import BACK, FACE, Lying, Pose, Scene, Seen, see, tray_scene, turned
from vision.finder import DetectedTile, Detections
from vision.geometry import Picture, Points, TablePlane, rectangle
from vision.layout import (
    GapEvidence,
    TilePosition,
    _detail,
    _tile_evidence,
    covered_share,
    finger_shares,
    gather_evidence,
    hand_near,
    inside_share,
    judge_gap,
    lay_out_table,
    oddly_coloured_backs,
    stand_tiles_up,
)
from vision.marks import TileMark
from vision.picture import CORE_SIDE, Colours
from vision.reading import CENTRED, LEFT, Indents, PlaceState, RowCol, tray_places

POSE = Pose(tilt=15, azimuth=5, noise=0.02)
BLUE, SHADED = (150, 90, 30), (36, 80, 24)


def others(seen: Seen) -> dict[RowCol, PlaceState]:
    """Return the places that hold anything but a back."""
    (tray,) = seen.lay_out().trays
    return {(place.row, place.col): place.state for place in tray.places if place.state is not PlaceState.BACK}


def middle(scene: Scene, where: RowCol) -> tuple[float, float]:
    x, y = scene.at(where).quad.mean(axis=0)
    return float(x), float(y)


def test_a_full_tray_holds_only_backs() -> None:
    assert others(see(tray_scene(POSE))) == {}


@pytest.mark.parametrize("where", [(0, 0), (1, 5), (2, 9)])
def test_an_overlooked_back_is_not_an_empty_place(where: RowCol) -> None:
    assert others(see(tray_scene(POSE).changed(where, found=False))) == {}


def test_a_tile_found_face_up_is_face_up() -> None:
    assert others(see(tray_scene(POSE).changed((1, 2), face_up=True))) == {(1, 2): PlaceState.FACE_UP}


@pytest.mark.parametrize("found", [True, False])
def test_a_place_under_a_hand_is_covered_whether_or_not_its_tile_was_found(*, found: bool) -> None:
    scene = tray_scene(POSE).changed((1, 6), found=found)
    x, y = middle(scene, (1, 6))
    assert others(see(Scene(POSE, scene.tiles, ((x, y, 11.0),)))) == {(1, 6): PlaceState.OCCLUDED}


def test_a_hand_that_only_touches_an_edge_does_not_cover() -> None:
    scene = tray_scene(POSE)
    x, y = middle(scene, (0, 6))
    assert others(see(Scene(POSE, scene.tiles, ((x, y - 26, 8.0),)))) == {}


def test_a_place_outside_the_picture_counts_as_a_back() -> None:
    assert others(see(tray_scene(Pose()).without((0, 0)), scale=2.85)) == {}


def test_a_floor_in_the_backs_colour_is_recognised_by_the_missing_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.vision.tray_scenes.FLOOR", (60, 130, 40))
    assert others(see(tray_scene(POSE).without((1, 4)))) == {(1, 4): PlaceState.EMPTY}


@pytest.mark.parametrize(("colour", "strange"), [(BLUE, True), (FACE, True), (BACK, False), (SHADED, False)])
def test_another_hue_is_an_odd_colour_and_shade_is_not(*, colour: tuple[int, int, int], strange: bool) -> None:
    seen = see(tray_scene(POSE).changed((1, 4), colour=colour))
    positions = seen.lay_out().positions
    named = [tile.where for tile, position in zip(seen.shown, positions, strict=True) if position.odd_colour]
    assert named == ([(1, 4)] if strange else [])


def test_a_back_mostly_under_glare_has_no_odd_colour() -> None:
    rims = np.tile(np.array([50.0, -30.0, 20.0], dtype=np.float32), (12, 40, 1))
    rims[3, :28] = [96.0, 0.0, 2.0]
    middles = np.column_stack([np.arange(12.0), np.zeros(12)])
    assert not oddly_coloured_backs(rims, middles, np.ones(12, dtype=bool), np.zeros(12, dtype=bool)).any()


def test_a_back_whitened_by_glare_has_no_odd_colour() -> None:
    rims = np.tile(np.array([50.0, -30.0, 20.0], dtype=np.float32), (12, 40, 1))
    rims[3] = [99.0, 0.0, 1.0]
    middles = np.column_stack([np.arange(12.0), np.zeros(12)])
    assert not oddly_coloured_backs(rims, middles, np.ones(12, dtype=bool), np.zeros(12, dtype=bool)).any()


def test_an_empty_trays_floor_does_not_make_its_neighbours_odd() -> None:
    rims = np.tile(np.array([45.0, 12.0, 30.0], dtype=np.float32), (20, 40, 1))
    rims[:8] = [50.0, -5.0, -35.0]
    middles = np.column_stack([np.arange(20.0), np.zeros(20)])
    floor = np.arange(20) >= 8
    backs = np.ones(20, dtype=bool)
    assert oddly_coloured_backs(rims, middles, backs, np.zeros(20, dtype=bool))[:8].any()
    assert not oddly_coloured_backs(rims, middles, backs, floor)[:8].any()


def test_a_face_never_has_an_odd_colour() -> None:
    seen = see(tray_scene(POSE).changed((1, 4), face_up=True))
    assert not any(position.odd_colour for position in seen.lay_out().positions)


def test_every_place_has_a_state_in_reading_order() -> None:
    (tray,) = see(tray_scene(POSE)).lay_out().trays
    assert [(place.row, place.col) for place in tray.places] == list(tray_places())


def beside(colour: tuple[int, int, int], *, count: int = 1, grow: float = 1.0) -> Scene:
    """A tray, and below it things with serials from 101 on."""
    scene = tray_scene(POSE)
    things = []
    for at in range(count):
        middle_of_it = np.array([-170.0 + 32 * (at % 11), 95.0 + 44 * (at // 11)])
        quad = rectangle(middle_of_it, 28 * grow, 38 * grow)
        things.append(Lying(quad, serial=101 + at, colour=colour))
    return Scene(POSE, (*scene.tiles, *things))


def unlike(seen: Seen) -> list[int]:
    return sorted(seen.shown[number].serial or 0 for number in seen.lay_out().unlike)


def test_a_tile_of_the_set_beside_its_tray_keeps_its_serial() -> None:
    assert unlike(see(beside(BACK))) == []


@pytest.mark.parametrize(("colour", "grow"), [(BLUE, 1.0), (FACE, 1.0), (BACK, 1.2), (BACK, 0.8)])
def test_a_thing_of_another_colour_or_size_beside_a_tray_is_not_a_tile(
    colour: tuple[int, int, int], grow: float
) -> None:
    assert unlike(see(beside(colour, grow=grow))) == [101]


def test_unlike_things_are_false_detections_and_tiles_in_the_tray_never_are() -> None:
    seen = see(beside(BLUE, count=22))
    layout = seen.lay_out()
    assert len(layout.unlike) == len(seen.shown)  # clutter: nothing is trusted
    assert {seen.shown[number].where for number in layout.false_detections} == {None}


def test_a_tray_is_found_among_print_of_another_colour() -> None:
    """Cells of a cloth with the pitch of tiles surround the tray; no group of one colour alone has a tray's shape."""
    chance = np.random.default_rng(4)
    tray = tray_scene(POSE)
    cells = [
        Lying(rectangle(np.array([x, y]) + chance.uniform(-3, 3, 2), 28.0, 38.0), colour=BLUE, told=False)
        for x in range(-240, 241, 31)
        for y in (*range(-230, -60, 41), *range(80, 240, 41))
    ]
    seen = see(Scene(POSE, (*tray.tiles, *cells)))
    trays = seen.lay_out().trays
    assert [{seen.shown[place.tile].serial for place in one.places if place.tile is not None} for one in trays] == [
        set(range(1, 35))
    ]


SQUARE = rectangle(np.array([50.0, 50.0]), 40.0, 40.0)


@pytest.mark.parametrize(("x", "share"), [(50.0, 1.0), (0.0, 0.5), (100.0, 0.5), (-30.0, 0.0), (12.0, 0.9)])
def test_the_share_of_a_tile_inside_the_picture_is_measured(x: float, share: float) -> None:
    picture = np.zeros((100, 100, 3), dtype=np.uint8)
    quads = np.stack([rectangle(np.array([x, 50.0]), 40.0, 40.0), rectangle(np.array([50.0, x]), 40.0, 40.0)])
    assert inside_share(picture, quads) == pytest.approx([share, share])


def hand(left: int, level: int = 255) -> Picture:
    cells = np.zeros((25, 25), dtype=np.uint8)
    cells[:, left:] = level
    return cells


def test_a_hand_covers_a_tile_by_its_share_and_is_near_within_half_a_tile() -> None:
    quads = SQUARE[None]
    assert covered_share(hand(12, 204), 4.0, quads) == pytest.approx([0.8 * 0.6])
    assert covered_share(hand(25), 4.0, quads) == pytest.approx([0.0])
    assert hand_near(hand(19, 51), 4.0, quads) == pytest.approx([0.2])  # 76 pixels; the tile ends at 70
    assert hand_near(hand(20), 4.0, quads) == pytest.approx([0.0])
    nothing = np.zeros((0, 0), dtype=np.uint8)
    assert (covered_share(nothing, 4.0, quads).tolist(), hand_near(nothing, 4.0, quads).tolist()) == ([0.0], [0.0])


USUAL = np.array([50.0, -30.0, 0.0], dtype=np.float32)


def rims_with(change: tuple[float, float, float], share: float = 1.0, count: int = 12) -> Colours:
    """Rims of 41 points each; `share` of the fourth back's points are changed."""
    rims = np.tile(USUAL, (count, 41, 1))
    rims[3, : round(41 * share)] += np.array(change, dtype=np.float32)
    return rims


def is_strange(rims: Colours, blank: int | None = None) -> bool:
    middles = np.column_stack([np.arange(float(len(rims))), np.zeros(len(rims))])
    flags = np.arange(len(rims)) == blank
    found = oddly_coloured_backs(rims, middles, np.ones(len(rims), dtype=bool), flags)
    assert not np.delete(found, 3).any()
    return bool(found[3])


@pytest.mark.parametrize(
    ("change", "strange"),
    [
        ((0.0, 0.0, 14.9), False), ((0.0, 0.0, 15.1), True), ((0.0, 0.0, -15.1), True),
        ((0.0, -11.4, 0.0), False), ((0.0, -26.6, 0.0), True),  # a quarter stronger, plus 4, is the same hue
        ((0.0, 30.0, 0.0), False), ((0.0, 44.9, 0.0), False), ((0.0, 45.1, 0.0), True),  # grey, and on the other side
        ((22.1, 19.9, 0.0), False), ((21.9, 20.1, 0.0), False), ((22.1, 20.1, 0.0), True),  # paler and lighter
        ((-44.9, 0.0, 0.0), False), ((-45.1, 0.0, 0.0), True),
        ((46.9, 30.0, 0.0), True), ((47.1, 30.0, 0.0), False),  # white from 97: glare
    ],
)  # fmt: skip
def test_a_back_of_another_hue_or_much_paler_or_darker_has_an_odd_colour(
    change: tuple[float, float, float], *, strange: bool
) -> None:
    assert is_strange(rims_with(change)) == strange


@pytest.mark.parametrize(("share", "strange"), [(0.72, False), (0.78, True)])
def test_three_quarters_of_a_rim_decide_its_hue(share: float, *, strange: bool) -> None:
    assert is_strange(rims_with((0.0, 0.0, 30.0), share)) == strange


@pytest.mark.parametrize(("count", "strange"), [(7, True), (6, False)])
def test_seven_backs_define_the_usual_colour(count: int, *, strange: bool) -> None:
    assert is_strange(rims_with((0.0, 0.0, 30.0), count=count)) == strange
    assert not is_strange(rims_with((0.0, 0.0, 30.0), count=7), blank=5)


@pytest.mark.parametrize(
    ("change", "share"),
    [((15.1, 0.0, 6.1), 0.5), ((-15.1, 0.0, -6.1), 0.5), ((14.9, 0.0, 9.0), 0.0), ((30.0, 0.0, 5.9), 0.0)],
)
def test_a_finger_differs_in_both_hue_and_lightness(change: tuple[float, float, float], share: float) -> None:
    rims = rims_with(change, 0.5)
    middles = np.column_stack([np.arange(12.0), np.zeros(12)])
    backs = np.arange(12) != 8
    shares = finger_shares(rims, middles, backs)
    assert shares[3] == pytest.approx(share, abs=0.02)
    assert np.delete(shares, 3).max() == 0
    assert finger_shares(rims, middles, np.arange(12) < 6).tolist() == [0.0] * 12


def test_detail_is_the_mean_step_in_lightness_between_neighbouring_points() -> None:
    light = np.zeros((CORE_SIDE, CORE_SIDE), dtype=np.float32)
    light[:, ::2] = 10.0
    cores = np.zeros((2, CORE_SIDE**2, 3), dtype=np.float32)
    cores[0, :, 0], cores[1, :, 0] = light.ravel(), (light + light.T).ravel()
    assert _detail(cores) == pytest.approx([10.0, 20.0])


GREEN, FELT = np.array([50.0, -30.0, 0.0]), np.array([30.0, 10.0, 0.0])
BACKS = np.array([place for place in range(34) if place != 5])


def evidence(rim: Points, detail: float = 0.0, inside: float = 1.0) -> GapEvidence:
    """A tray on felt whose place 5 looks like this."""
    rims = np.tile(GREEN.astype(np.float32), (34, 64, 1))
    rims[5] = rim
    details = np.full(34, 10.0)
    details[5] = detail
    shown = np.ones(34)
    shown[5] = inside
    return GapEvidence(shown, rims, details, np.tile(FELT.astype(np.float32), (40, 1)))


def mixed(backs: float) -> Points:
    """A rim with a share of the backs' colour and the rest of the floor's."""
    return np.where(np.arange(64)[:, None] < round(64 * backs), GREEN, FELT)


@pytest.mark.parametrize(
    ("rim", "detail", "state"),
    [
        (mixed(0.0), 0.0, PlaceState.EMPTY),
        (mixed(1.0), 10.0, PlaceState.BACK),
        (mixed(1.0), 3.9, PlaceState.EMPTY),  # the floor has the backs' colour: print decides
        (mixed(1.0), 4.1, PlaceState.BACK),
        (mixed(0.58), 6.4, PlaceState.EMPTY),
        (mixed(0.58), 6.6, PlaceState.BACK),  # colours do not decide
        (mixed(0.61), 4.1, PlaceState.BACK),
        (mixed(0.29), 9.0, PlaceState.EMPTY),
        (mixed(0.32), 9.0, PlaceState.BACK),
        (np.tile([20.0, -10.0, 40.0], (64, 1)), 9.0, PlaceState.BACK),  # neither: called a back
        (np.tile([54.0, 40.0, 10.0], (64, 1)), 9.0, PlaceState.BACK),
        (np.tile([56.0, 40.0, 10.0], (64, 1)), 0.0, PlaceState.OCCLUDED),  # unlike both, and lighter than the floor
        (np.tile([96.0, 40.0, 10.0], (64, 1)), 0.0, PlaceState.OCCLUDED),
        (np.tile([98.0, 40.0, 10.0], (64, 1)), 9.0, PlaceState.BACK),  # white: glare
        (np.tile([56.0, -30.0, 19.0], (64, 1)), 9.0, PlaceState.BACK),
    ],
)
def test_a_gap_is_judged_by_the_backs_and_the_floor(rim: Points, detail: float, state: PlaceState) -> None:
    assert judge_gap(evidence(rim, detail), 5, BACKS) is state


def test_missing_print_proves_nothing_where_a_tile_was_found() -> None:
    assert judge_gap(evidence(mixed(1.0)), 5, BACKS, found=True) is PlaceState.BACK
    assert judge_gap(evidence(mixed(0.0)), 5, BACKS, found=True) is PlaceState.EMPTY


@pytest.mark.parametrize(("inside", "state"), [(0.74, PlaceState.BACK), (0.76, PlaceState.EMPTY)])
def test_a_place_outside_the_picture_counts_as_a_back_whatever_it_shows(inside: float, state: PlaceState) -> None:
    assert judge_gap(evidence(mixed(0.0), inside=inside), 5, BACKS) is state
    assert judge_gap(evidence(mixed(0.0)), 5, np.array([], dtype=int)) is PlaceState.BACK


def test_a_gap_is_compared_with_the_five_nearest_backs() -> None:
    """Next to place 5 are 4, 6, 18 and 3, 7; a row counts as 1.4 columns."""
    ground = evidence(mixed(1.0), 10.0)
    for place in (4, 6, 18):
        ground.details[place] = 30.0
    assert judge_gap(ground, 5, BACKS) is PlaceState.EMPTY
    ground.details[18] = 10.0
    assert judge_gap(ground, 5, BACKS) is PlaceState.BACK


@pytest.mark.parametrize(("degrees", "sideways"), [(14.0, False), (16.0, True), (-14.0, False), (-16.0, True)])
def test_a_tile_is_sideways_from_fifteen_degrees(degrees: float, *, sideways: bool) -> None:
    scene = tray_scene(Pose())
    seen = see(scene.changed((1, 4), quad=turned(scene.at((1, 4)).quad, degrees)))
    own = tray_scene(Pose()).at((1, 4)).quad
    lean = np.degrees(np.arctan2(*(own[1] - own[0])[::-1]))  # tiles of the scene are slightly askew themselves
    positions = seen.lay_out().positions
    (position,) = (position for one, position in zip(seen.shown, positions, strict=True) if one.where == (1, 4))
    assert abs(lean) < 1
    assert (position.sideways, position.turn) == (sideways, 0)


@pytest.mark.parametrize("degrees", [0.0, 30.0, 90.0, 200.0])
def test_rotation_and_outline_begin_at_the_marks_own_top_left(degrees: float) -> None:
    """A mark that is upside down in its outline turns both by half."""
    seen = see(tray_scene(Pose(azimuth=degrees)))
    for one, own, position in zip(seen.shown, seen.quads, seen.lay_out().positions, strict=True):
        right = own[1] - own[0]
        assert position.quad == pytest.approx(own)
        away = (position.rotation - np.degrees(np.arctan2(right[1], right[0])) + 180) % 360 - 180
        assert (abs(away) < 1.5, position.turn, position.row) == (True, 0, one.where and one.where[0])


@pytest.mark.parametrize("upside_down", [False, True])
def test_a_way_up_decided_later_gives_the_same_layout(*, upside_down: bool) -> None:
    """Until then the tile is assumed to stand as its tray does; an undecided number is as certainly on a tile."""
    scene = tray_scene(Pose(azimuth=30.0))
    seen = see(scene.changed((1, 4), quad=np.roll(scene.at((1, 4)).quad, 2 if upside_down else 0, axis=0)))
    (at,) = (at for at, one in enumerate(seen.shown) if one.where == (1, 4))
    marks = list(seen.marks)
    marks[at] = TileMark(None, None, None, 0.99, np.zeros(2), either=(60, 90), pitch=0.2)
    before = replace(seen, marks=tuple(marks)).lay_out()
    then = stand_tiles_up(seen.found, seen.marks, before)
    assert (before.positions[at].turn, then.positions[at].turn) == (0, 180 if upside_down else 0)
    for position, known in zip(then.positions, seen.lay_out().positions, strict=True):
        assert position.quad == pytest.approx(known.quad)
        assert position.rotation == pytest.approx(known.rotation)
        assert (position.turn, position.row, position.col) == (known.turn, known.row, known.col)


def test_turning_over_a_tile_beside_a_tray_gives_it_no_turn() -> None:
    position = TilePosition(SQUARE, 200.0)
    over = position.turned_over()
    assert (over.rotation, over.turn, over.quad.tolist()) == (20.0, 0, SQUARE[[2, 3, 0, 1]].tolist())
    tile = DetectedTile(SQUARE, face_up=False, likelihood=0.9)
    assert (position.is_turned(tile), over.is_turned(tile)) == (False, True)


def test_trays_are_searched_with_the_pictures_height_and_width(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def note_size(_: Detections, __: tuple[TileMark | None, ...], size: tuple[int, int]) -> tuple[()]:
        asked.append(size)
        return ()

    monkeypatch.setattr("vision.layout.find_trays", note_size)
    found = Detections((DetectedTile(SQUARE, face_up=False, likelihood=0.9),), np.zeros((0, 0), np.uint8), 1.0)
    assert lay_out_table(np.zeros((100, 160, 3), dtype=np.uint8), found, (None,)).trays == ()
    assert asked == [(100, 160)]


@pytest.mark.parametrize(
    ("share", "near", "read", "under"),
    [(0.11, 1.0, False, False), (0.13, 0.11, False, True), (0.13, 0.09, False, False), (0.19, 0.0, False, False),
     (0.21, 0.0, False, True), (0.13, 0.39, True, False), (0.13, 0.41, True, True), (0.21, 0.0, True, False)],
)  # fmt: skip
def test_a_finger_is_found_by_the_rim_and_a_hand_nearby(
    monkeypatch: pytest.MonkeyPatch, share: float, near: float, *, read: bool, under: bool
) -> None:
    monkeypatch.setattr("vision.layout.finger_shares", lambda *_: np.array([share]))
    monkeypatch.setattr("vision.layout.hand_near", lambda *_: np.array([near]))
    found = Detections((DetectedTile(SQUARE, face_up=False, likelihood=0.9),), np.zeros((0, 0), np.uint8), 1.0)
    mark = TileMark(5, None, turned=False, confidence=1.0, spot=np.zeros(2)) if read else None
    seen = _tile_evidence(np.full((100, 100, 3), 128, dtype=np.uint8), found, (mark,))
    assert (seen.states == [PlaceState.OCCLUDED]) == under


@pytest.mark.parametrize(
    ("indents", "open_spots"),
    [
        (LEFT, [(1, 11), (1, 12), (2, 10), (2, 11), (2, 12)]),
        (CENTRED, [(1, -1), (1, 11), (2, -1), (2, 10)]),
    ],
)
def test_the_floor_is_sampled_beside_the_short_rows(indents: Indents, open_spots: list[RowCol]) -> None:
    """Forty pixels per width; each of these spots has another grey, and everything else is black."""
    plane = TablePlane(np.diag([0.025, 0.025, 1.0]), np.array([120.0, 60.0]), 1.0, 0.0)
    lattice = replace(LATTICE, plane=plane, indents=indents)
    picture = np.zeros((300, 760, 3), dtype=np.uint8)
    greys = np.linspace(100, 255, len(open_spots)).astype(np.uint8)
    for quad, grey in zip(lattice.quads(lattice.spots(*np.array(open_spots, dtype=float).T)), greys, strict=True):
        cv2.fillConvexPoly(picture, np.round(quad).astype(np.int32), (int(grey),) * 3)
    places = lattice.quads(lattice.spots(*np.array(list(tray_places()), dtype=float).T))
    ground = gather_evidence(picture, places, lattice)
    light = cv2.cvtColor(np.repeat(greys[None, :, None], 3, axis=2).astype(np.float32) / 255, cv2.COLOR_BGR2Lab)[
        0, :, 0
    ]
    assert ground.floor[:, 0] == pytest.approx(np.repeat(light, 64), abs=0.01)
    assert [float(part.max()) for part in (ground.rims[..., 0], ground.details)] == [0.0, 0.0]
    assert ground.inside.tolist() == [1.0] * 34
