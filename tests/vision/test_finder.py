"""Tiles are found, frames are exact, and votes are counted."""

from functools import cache

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.vision.drawn_scenes import found_share, scenes
from vision import finder
from vision.finder import (
    CLOSEUP_SQUARE,
    CellMaps,
    DetectedTile,
    Detections,
    RefinedTiles,
    Votes,
    _corrected,
    _misfit,
    _of_one_size,
    _scaled,
    _shrunk,
    _tiles,
    _without_duplicates,
    as_blob,
    cast_votes,
    count_votes,
    cut_square,
    find_tiles,
    frame_sizes,
    half_axes,
    is_noisy,
    is_turn_sure,
    quads_of_frames,
    refine_again,
    refine_tiles,
    square_to_pixels,
)
from vision.geometry import Picture, Points, Quad, rectangle
from vision.training.finder_examples import frames_of
from vision.training.measure_finder import corner_error
from vision.training.scene_layout import outline
from vision.training.scene_paint import Pinhole, _about_x, _about_z, at_height

SIDE = st.integers(1, 90)


@cache
def _tray() -> Picture:
    return next(scene.picture for scene in scenes(range(40, 80)) if len(scene.quads) > 15)


def _same(one: Detections, other: Detections) -> bool:
    quads = [[tile.quad.tolist() for tile in found.tiles] for found in (one, other)]
    return quads[0] == quads[1] and bool((one.hands == other.hands).all())


def test_three_of_four_tiles_of_drawn_pictures_are_found_with_their_corners() -> None:
    """Drawn pictures are much harder than real ones; this only checks that models and code match."""
    share, corners = found_share(scenes(range(24)))
    assert (share > 0.75, corners < 0.12) == (True, True), (share, corners)


@pytest.mark.parametrize("grey", [0, 90, 255])
@pytest.mark.parametrize("size", [(1, 1), (17, 2000), (480, 640), (3000, 4000)])
def test_a_uniform_picture_has_no_tiles(size: tuple[int, int], grey: int) -> None:
    assert find_tiles(np.full((*size, 3), grey, np.uint8)).tiles == ()


def test_noise_has_no_tiles() -> None:
    noise = np.random.default_rng(3).integers(0, 256, (480, 640, 3)).astype(np.uint8)
    assert find_tiles(noise).tiles == ()


@pytest.mark.parametrize(("noise", "noisy"), [(5.5, False), (6.5, True), (29.0, True), (32.0, False)])
def test_a_picture_is_noisy_between_six_and_thirty_levels(noise: float, *, noisy: bool) -> None:
    grains = np.random.default_rng(3).normal(0, noise, (360, 640, 1))
    assert is_noisy(np.clip(120 + grains, 0, 255).astype(np.uint8).repeat(3, axis=2)) == noisy


def test_large_and_small_tiles_are_found_in_noise() -> None:
    small = _tray()
    large = np.asarray(cv2.resize(small, (640, 512), interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    for tray, noise in ((small, 14), (large, 24)):
        night = np.clip(tray + np.random.default_rng(3).normal(0, noise, tray.shape), 0, 255).astype(np.uint8)
        assert len(find_tiles(night).tiles) > 0.8 * len(find_tiles(tray).tiles)


def test_refining_shrinks_only_the_surroundings_of_the_tiles() -> None:
    tray = _tray()
    there = np.array([tile.quad for tile in find_tiles(tray).tiles])
    wide = np.asarray(cv2.copyMakeBorder(tray, 300, 500, 400, 200, cv2.BORDER_REPLICATE), dtype=np.uint8)
    moved = np.array([400, 300])
    near, far = refine_again(tray, there), refine_again(wide, there + moved)
    assert np.abs(far.quads - moved - near.quads).max() < 1.0
    assert np.abs(far.tile - near.tile).max() < 0.05


@pytest.mark.parametrize("away", [-1e4, 1e4])
def test_refining_outside_the_picture_finds_no_tile(away: float) -> None:
    quad = rectangle(np.full(2, away), 30.0, 40.0)
    assert refine_again(_tray(), quad[None]).tile[0] < 0.5


@pytest.mark.parametrize("size", [(1520, 2028), (1080, 1920)])
def test_a_shrunk_picture_has_the_means_of_its_pixels(size: tuple[int, int]) -> None:
    rows, columns = np.mgrid[: size[0], : size[1]]
    waves = 128 + 60 * np.sin(columns / 40) + 60 * np.cos(rows / 30)
    picture = cv2.merge([waves.astype(np.uint8)] * 3)
    small = _shrunk(picture, 640)
    means = cv2.resize(waves, (small.shape[1], small.shape[0]), interpolation=cv2.INTER_AREA)
    assert max(small.shape) == 640
    assert np.abs(small[..., 0] - means).max() < 2


def test_an_empty_picture_has_no_tiles() -> None:
    assert find_tiles(np.zeros((0, 7, 3), np.uint8)).tiles == ()


def test_the_same_picture_gives_the_same_tiles() -> None:
    picture = _tray()
    assert _same(find_tiles(picture), find_tiles(picture))


def test_a_view_of_an_array_is_read_like_its_copy() -> None:
    picture = _tray()
    wide = np.repeat(np.repeat(picture, 2, axis=0), 2, axis=1)[::2, ::2]
    assert _same(find_tiles(wide), find_tiles(picture))


def test_a_picture_is_not_changed() -> None:
    picture = _tray()
    before = picture.copy()
    find_tiles(picture)
    assert (picture == before).all()


@given(picture=st.tuples(SIDE, SIDE).flatmap(lambda size: arrays(np.uint8, (*size, 3))))
def test_any_picture_gives_clockwise_quads_and_likelihoods_between_0_and_1(picture: Picture) -> None:
    for tile in find_tiles(picture).tiles:
        right, down = tile.quad[1] - tile.quad[0], tile.quad[3] - tile.quad[0]
        assert right[0] * down[1] - right[1] * down[0] > 0
        assert 0 <= tile.likelihood <= 1


def test_hands_are_given_for_the_whole_picture() -> None:
    found = find_tiles(np.zeros((1080, 1920, 3), np.uint8))
    rows, columns = found.hands.shape
    assert rows * found.cell >= 1080 - found.cell
    assert columns * found.cell >= 1920 - found.cell


ANGLES = st.floats(0, 6.28)


def _camera(tilt: float, roll: float) -> Pinhole:
    return Pinhole(_about_z(roll) @ _about_x(tilt), 600.0, 900.0, np.array([300.0, 200.0]))


def _tile(camera: Pinhole, x: float, y: float, angle: float) -> Quad:
    return camera.project(at_height(outline(x, y, 26, 35, angle), 20))


@given(angle=ANGLES, roll=ANGLES, tilt=st.floats(0, 0.5))
def test_a_quad_survives_the_round_trip_through_a_frame(angle: float, roll: float, tilt: float) -> None:
    quad = _tile(_camera(tilt, roll), 0, 0, angle)
    (back,) = quads_of_frames(frames_of(quad[None]).astype(float))
    assert corner_error(back, quad) < 0.02 * np.hypot(*(quad[1] - quad[0]))


@given(angle=ANGLES, roll=ANGLES)
def test_the_frame_does_not_depend_on_which_end_is_the_top(angle: float, roll: float) -> None:
    quad = _tile(_camera(0.4, roll), 20, 10, angle)
    one, other = frames_of(np.array([quad, np.roll(quad, 2, axis=0)]))
    assert np.allclose(one, other, atol=1e-4)


@given(numbers=st.lists(st.floats(-3, 3), min_size=7, max_size=7))
def test_any_frame_gives_a_clockwise_quad_with_its_short_ends_first(numbers: list[float]) -> None:
    frame = np.array([[100.0, 100.0, *numbers]])
    (quad,) = quads_of_frames(frame)
    right, down = quad[1] - quad[0], quad[3] - quad[0]
    assert right[0] * down[1] - right[1] * down[0] > 0


def thing(x: float, likelihood: float, large: float = 1.0) -> DetectedTile:
    """Return detections with these multiples of the usual area."""
    return DetectedTile(
        rectangle(np.array([x, 50.0]), 22 * large**0.5, 30 * large**0.5), face_up=False, likelihood=likelihood
    )


ROW = [thing(100.0 * at, 0.95) for at in range(1, 8)]


@pytest.mark.parametrize(
    ("lead", "large", "kept"),
    [(0.01, 3.0, 1.0), (0.01, 0.4, 1.0), (0.1, 3.0, 1.0), (0.12, 3.0, 3.0), (0.2, 0.4, 0.4), (-0.01, 3.0, 1.0)],
)
def test_of_two_outlines_with_one_middle_the_usual_size_wins_unless_the_other_is_much_surer(
    lead: float, large: float, kept: float
) -> None:
    alone = thing(900.0, 0.75)
    rival = thing(902.0, 0.75 + lead, large)
    for both in ([alone, rival], [rival, alone]):
        left = [tile for tile in _of_one_size([*ROW, *both]) if tile.quad[:, 0].mean() > 800]
        assert left == [alone if kept == 1.0 else rival]


@pytest.mark.parametrize(("large", "kept"), [(4.4, True), (4.6, False), (1 / 4.4, True), (1 / 4.6, False)])
def test_a_detection_far_from_the_usual_size_is_dropped(large: float, *, kept: bool) -> None:
    odd = thing(900.0, 0.9, large)
    assert (odd in _of_one_size([*ROW, odd])) == kept


def test_detections_of_many_sizes_in_wood_do_not_outweigh_a_tray() -> None:
    """A tray before a wide-angle camera: 34 tiles, and the areas that the coarse look found in the grain of a table."""
    tray = [thing(100.0 * at, 1.0) for at in range(34)]
    grain = [
        thing(5000.0 + 500 * at, 0.95, large) for at, large in enumerate((2.3, 3.2, 4.1, 6.8, 8.0, 17, 27, 34, 43))
    ]
    assert [tile for tile in _of_one_size([*tray, *grain]) if tile in tray] == tray


def frame(x: float = 100.0, y: float = 80.0, wide: float = 16.0, high: float = 16.0, degrees: float = 0.0) -> Points:
    """Return the frame of a tile with these half sides, rotated if they are equal."""
    angle = np.radians(degrees)
    turn = [np.cos(4 * angle), np.sin(4 * angle), np.cos(2 * angle), np.sin(2 * angle)]
    return np.array([x, y, np.log(wide / 16), 0.0, np.log(high / 16), *turn])


def test_a_frame_s_half_axes_are_its_half_sides() -> None:
    axes = half_axes(np.array([frame(wide=8.0, high=32.0), frame(degrees=30.0), frame(degrees=120.0)]))
    assert axes[0] == pytest.approx(np.array([[8.0, 0.0], [0.0, 32.0]]))
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    assert axes[1] == pytest.approx(16 * np.array([[c, s], [-s, c]]))
    assert np.abs(axes[2, 0]) == pytest.approx([16 * s, 16 * c])
    turned = half_axes(frame()[None], np.pi / 4)
    assert turned[0, 0] == pytest.approx([16 * np.sqrt(0.5)] * 2)


def test_a_sheared_frame_is_the_exponential_of_its_logarithm() -> None:
    told = frame()
    told[3] = 0.5
    axes = half_axes(told[None])[0]
    assert axes == pytest.approx(16 * np.array([[np.cosh(0.5), np.sinh(0.5)], [np.sinh(0.5), np.cosh(0.5)]]))


def test_a_frame_is_a_quad_about_its_middle_with_the_mean_of_its_sides() -> None:
    tall = frame(wide=8.0, high=32.0)[None]
    assert quads_of_frames(tall)[0] == pytest.approx(rectangle(np.array([100.0, 80.0]), 16.0, 64.0))
    assert frame_sizes(tall) == pytest.approx([16.0])


@pytest.mark.parametrize(("length", "sure"), [(0.74, False), (0.76, True)])
def test_a_rotation_is_sure_if_the_votes_agree(length: float, *, sure: bool) -> None:
    told = frame(degrees=20.0)
    told[5:7] *= length
    assert is_turn_sure(told[None]).tolist() == [sure]


def test_a_likely_cell_votes_for_a_middle_near_it() -> None:
    frames = np.zeros((9, 5, 6), dtype=np.float32)
    frames[0, 2, 3], frames[1, 2, 3], frames[2, 2, 3] = 0.5, -0.25, 7.0
    back, face = np.zeros((5, 6), dtype=np.float32), np.zeros((5, 6), dtype=np.float32)
    back[2, 3], face[2, 3], back[4, 4], face[4, 4], back[0, 0] = 0.2, 0.11, 0.2, 0.09, 0.3
    votes = cast_votes(CellMaps(back, face, np.zeros((5, 6), dtype=np.float32), frames))
    assert votes.frames[:, :5].tolist() == [[4 * 3.5 + 8.0, 4 * 2.5 - 4.0, 3.0, 0.0, 0.0]]
    assert votes.likelihood == pytest.approx([0.31])


def votes(*cast: tuple[float, float, float]) -> Votes:
    """Return the tiles that votes elect: their positions, and how sure they are."""
    frames = np.array([frame(x, y) for x, y, _ in cast])
    return count_votes(Votes(frames, np.array([sure for *_, sure in cast]), np.zeros(len(cast))))


def test_votes_within_half_a_half_size_are_averaged_to_one_tile() -> None:
    """The frames have a half size of 16 pixels: eight are half of it."""
    (tile,) = votes((100.0, 80.0, 0.9), (107.9, 80.0, 0.3)).frames
    assert tile[:2] == pytest.approx([(90 + 0.3 * 107.9) / 1.2, 80.0])
    assert len(votes((100.0, 80.0, 0.9), (108.1, 80.0, 0.4)).frames) == 0  # neither has enough support alone


@pytest.mark.parametrize(("second", "tiles"), [(0.29, 0), (0.31, 1)])
def test_a_tile_needs_more_than_one_vote(second: float, tiles: int) -> None:
    assert len(votes((100.0, 80.0, 0.9), (101.0, 80.0, second)).frames) == tiles


@pytest.mark.parametrize(("apart", "tiles"), [(14.3, 1), (14.5, 2)])
def test_a_tile_in_the_middle_of_a_surer_one_is_dropped(apart: float, tiles: int) -> None:
    """Within nine tenths of a half size."""
    pairs = [(100.0, 80.0, 0.9), (100.0, 80.0, 0.9), (100.0 + apart, 80.0, 0.8), (100.0 + apart, 80.0, 0.8)]
    found = votes(*pairs)
    assert (len(found.frames), found.back[0]) == (tiles, pytest.approx(0.9))


def tile(x: float, side: float = 40.0, likelihood: float = 0.9) -> DetectedTile:
    return DetectedTile(rectangle(np.array([x, 100.0]), side, side), face_up=False, likelihood=likelihood)


@pytest.mark.parametrize(("apart", "kept"), [(13.9, 1), (14.1, 2)])
def test_of_tiles_with_one_middle_the_surest_is_kept(apart: float, kept: int) -> None:
    """Within 35 percent of a side."""
    found = _without_duplicates([tile(100.0, likelihood=0.8), tile(100.0 + apart)])
    assert (len(found), found[0].likelihood) == (kept, 0.9)
    assert len(_without_duplicates([tile(100.0), tile(100.0 + apart, side=20.0)])) == 2 - (apart < 7)


@pytest.mark.parametrize(("times", "kept"), [(4.4, 5), (4.6, 4), (1 / 4.4, 5), (1 / 4.6, 4)])
def test_a_detection_of_quite_another_size_is_dropped(times: float, kept: int) -> None:
    tiles = [tile(100.0 * at) for at in range(4)]
    assert len(_of_one_size([*tiles, tile(900.0, side=40.0 * np.sqrt(times))])) == kept
    assert _of_one_size([]) == []


def test_a_tile_that_fills_the_picture_outweighs_its_print_but_not_a_tray() -> None:
    large = tile(100.0, side=400.0)
    assert _of_one_size([large, *[tile(10.0 * at) for at in range(15)]]) == [large]
    assert large not in _of_one_size([large, *[tile(10.0 * at) for at in range(17)]])


def test_tiles_of_a_shrunk_picture_are_scaled_back() -> None:
    picture = np.zeros((300, 600, 3), dtype=np.uint8)
    small = _shrunk(picture, 150)
    assert small.shape == (75, 150, 3)
    assert [_shrunk(small, longest).shape for longest in (150, 200)] == [(75, 150, 3)] * 2
    assert _scaled([tile(100.0)], small, picture)[0].quad.tolist() == (4 * tile(100.0).quad).tolist()


def test_a_cut_out_shows_a_tile_with_its_surroundings() -> None:
    """48 pixels show 1.6 times a tile, so the tile itself reaches from 9 to 39."""
    picture = np.zeros((200, 200, 3), dtype=np.uint8)
    quad = rectangle(np.array([100.0, 90.0]), 30.0, 30.0)
    picture[75:105, 85:115] = 200
    seen = cut_square(picture, quad)[:, :, 0] > 100
    assert (np.flatnonzero(seen.any(axis=0)).tolist(), np.flatnonzero(seen.any(axis=1)).tolist()) == (
        list(range(9, 39)), list(range(9, 39)),
    )  # fmt: skip


def told(corners: Points, exchanged: float = -1.0) -> Points:
    return np.array([*corners.ravel(), 3.0, -3.0, exchanged])


def test_corners_move_as_predicted_but_by_less_than_a_half_side() -> None:
    quad = rectangle(np.array([100.0, 90.0]), 30.0, 40.0)
    move = np.array([[0.1, 0.2], [0.0, 0.0], [-0.5, 0.0], [2.0, 0.0]])
    moved, exchanged = _corrected(np.array([quad, quad]), np.array([told(move), told(move, 1.0)]))
    assert moved == pytest.approx(quad + np.array([[1.5, 4.0], [0.0, 0.0], [-7.5, 0.0], [0.95 * 15.0, 0.0]]), abs=1e-3)
    assert exchanged == pytest.approx(np.roll(moved, 1, axis=0), abs=1e-4)
    there = square_to_pixels(quad) @ np.array([*CLOSEUP_SQUARE[0], 1.0])
    assert there[:2] / there[2] == pytest.approx(quad[0] - 0.5, abs=1e-4)


def test_the_better_of_two_alternatives_is_refined() -> None:
    near, likely = told(np.full((4, 2), 0.1)), told(np.full((4, 2), 0.3))
    likely[8] += 5.0
    assert _misfit(np.array([near, likely])) == pytest.approx([0.1 - 3.0 / 20, 0.3 - 8.0 / 20])


def test_networks_get_grey_levels_around_the_middle() -> None:
    blob = as_blob(np.array([[[[0, 128, 255]]]], dtype=np.uint8))
    assert blob.ravel().tolist() == [-1.0, 0.0, 127 / 128]


def test_refining_returns_likelihoods_of_tiles_and_faces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network that always moves every corner a tenth to the right, and is sure of a tile, but not of a face."""
    answer = np.array([*np.tile([0.1, 0.0], 4), 2.0, -1.0, -1.0])
    monkeypatch.setattr(finder, "run_network", lambda _, blob: [np.tile(answer, (len(blob), 1))])
    quads = np.stack([rectangle(np.array([100.0, 90.0]), 40.0, 40.0)] * 2)
    found = refine_tiles(np.zeros((200, 200, 3), dtype=np.uint8), quads, quads + 50.0, np.array([True, False]))
    assert found.quads == pytest.approx(
        quads + np.array([4.0, 0.0]), abs=1e-3
    )  # two pixels, twice; the alternatives are no better
    assert (found.tile[0], found.face[0]) == (pytest.approx(1 / (1 + np.exp(-2))), pytest.approx(1 / (1 + np.exp(1))))
    again = refine_again(np.zeros((400, 400, 3), dtype=np.uint8), 2 * quads)
    assert again.quads == pytest.approx(2 * (quads + np.array([4.0, 0.0])), abs=0.2)
    none = refine_again(np.zeros((4, 4, 3), dtype=np.uint8), quads[:0])
    assert [len(part) for part in (none.quads, none.tile, none.face)] == [0, 0, 0]


def test_large_tiles_are_refined_in_a_smaller_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """As wide as the network needs, cut to 130 pixels (the longer side) around the tile."""
    asked: list[Points] = []

    def note(small: Picture, quads: Points, *_: object) -> RefinedTiles:
        asked.extend([np.array(small.shape[:2]), quads])
        return RefinedTiles(quads + 1.0, np.ones(1), np.zeros(1))

    monkeypatch.setattr(finder, "refine_tiles", note)
    quads = rectangle(np.array([300.0, 200.0]), 96.0, 130.0)[None]
    wide = finder._WIDE_TILE / 96
    found = refine_again(np.zeros((400, 600, 3), dtype=np.uint8), quads)
    assert asked[0].tolist() == [round(391 * wide), round(357 * wide)]
    assert asked[1] == pytest.approx((quads - [122, 5]) * wide, abs=0.5)
    assert found.quads == pytest.approx(quads + 1 / wide, abs=0.02)


@pytest.mark.parametrize(("likelihood", "kept"), [(0.74, 0), (0.76, 1)])
def test_a_tile_counts_from_a_likelihood_of_three_quarters(
    monkeypatch: pytest.MonkeyPatch, likelihood: float, kept: int
) -> None:
    cast = Votes(np.array([frame()]), np.array([0.9]), np.zeros(1))
    monkeypatch.setattr(finder, "cast_votes", lambda _: cast)
    monkeypatch.setattr(finder, "count_votes", lambda _: cast)
    judged = RefinedTiles(rectangle(np.array([100.0, 80.0]), 32.0, 32.0)[None], np.array([likelihood]), np.array([0.1]))
    monkeypatch.setattr(finder, "refine_tiles", lambda *_: judged)
    empty = np.zeros((2, 2), dtype=np.float32)
    maps = CellMaps(empty, empty, empty, np.zeros((9, 2, 2), dtype=np.float32))
    assert len(_tiles(np.zeros((200, 200, 3), dtype=np.uint8), maps, (5.0, 46.0))) == kept


@pytest.mark.parametrize(
    ("longest", "close", "looks"),
    [
        (600, True, [(10, 600), (2, 150)]),  # not enlarged
        (640, True, [(10, 640), (2, 160)]),
        (2200, True, [(3, 640), (1, 160)]),
        (2201, True, [(4, 864), (1, 216)]),  # a whole carrier may be in it
        (2201, False, [(4, 864)]),
    ],
)
def test_a_picture_is_searched_shrunk_and_for_large_tiles_four_times_smaller(
    monkeypatch: pytest.MonkeyPatch, longest: int, looks: list[tuple[int, int]], *, close: bool
) -> None:
    asked: list[tuple[int, ...]] = []

    def see(small: Picture) -> CellMaps:
        asked.append(small.shape[:2])
        plain = np.zeros((2, 2), dtype=np.float32)
        return CellMaps(plain, plain, plain + np.float32(0.6), np.zeros((9, 2, 2), dtype=np.float32))

    monkeypatch.setattr(finder, "cell_maps", see)
    found = find_tiles(np.zeros((10, longest, 3), dtype=np.uint8), close=close)
    assert asked == looks
    assert found.cell == pytest.approx(4 * longest / looks[0][1])
    assert (found.tiles, found.hands.tolist()) == ((), [[153, 153], [153, 153]])
