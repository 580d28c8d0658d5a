"""Labels are read, and distinguished from print."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import COSTLY
from tests.vision.marks.drawn_labels import Drawn, lay, spoil
from vision.geometry import Picture, Quad, rectangle
from vision.marks import LabelKind, label
from vision.marks.label import (
    _LABEL_SIDES,
    DECODED_CONFIDENCE,
    NO_MARK,
    LabelHit,
    _evenly_chosen,
    _likelier_candidate,
    _likeliest_frames,
    _odds_if_framed,
    _on_tile,
    _part_about,
    _search_along,
    _search_kind,
    _search_one_by_one,
    _usual_set,
    as_grey,
    find_hits,
    is_certain,
    is_labelled,
    is_labelled_closely,
    is_seen,
    label_confidence,
    label_odds,
    read_labels,
    search_label,
    usual_kind,
)
from vision.marks.label_code import MODULE_COUNTS, LabelGuess, Payload
from vision.marks.label_fit import LabelCandidate, LabelPatch, LabelPose

SET = 8


def _tiles(*serials: int, count: int = 14, number: int = SET) -> list[Drawn]:
    return [Drawn(Payload(number, serial), count, turned=serial % 2 == 0) for serial in serials]


def _read(picture: Picture, quads: list[Quad]) -> list[tuple[str | None, int | None]]:
    return [(mark.set_text, mark.serial) for mark in read_labels(picture, quads)]


@pytest.mark.parametrize("count", MODULE_COUNTS)
@pytest.mark.parametrize(("blur", "step"), [(0.0, 5), (1.5, 9)], ids=["sharp", "blurred"])
def test_labels_of_a_set_are_read_either_way_up(count: int, blur: float, step: int) -> None:
    tiles = _tiles(*range(1, 137, step), count=count)
    picture, quads = lay(tiles)
    marks = read_labels(spoil(picture, blur=blur, noise=4), quads)
    assert [(mark.serial, mark.set_text, mark.turned) for mark in marks] == [
        (tile.payload.serial, "08", tile.turned) for tile in tiles
    ]


@COSTLY
@given(
    serials=st.lists(st.integers(1, 136), min_size=1, max_size=5, unique=True),
    count=st.sampled_from(MODULE_COUNTS),
    width=st.integers(50, 140),
    play=st.floats(0, 0.04),
    damage=st.tuples(st.floats(0, 4), st.floats(0, 70), st.floats(0, 250)),
    seed=st.integers(0, 2**31),
)
def test_degraded_pictures_never_give_a_wrong_serial(
    serials: list[int], count: int, width: int, play: float, damage: tuple[float, float, float], seed: int
) -> None:
    tiles = _tiles(*serials, count=count)
    picture, quads = lay(tiles, width=width, play=play, seed=seed)
    blur, noise, glare = damage
    marks = read_labels(spoil(picture, blur=blur, noise=noise, glare=glare, seed=seed), quads)
    for mark, tile in zip(marks, tiles, strict=True):
        assert mark.serial in {None, tile.payload.serial}
        assert mark.set_text in {None, tile.payload.set_text}
        assert mark.turned in {None, tile.turned}
        assert (mark.serial is None) == (mark.confidence == 0)


def test_labels_that_zxing_does_not_decode_are_read() -> None:
    tiles = _tiles(*range(1, 10))
    picture, quads = lay(tiles, width=80)
    blurred = spoil(picture, blur=1.1, noise=4)
    grey = np.asarray(cv2.cvtColor(blurred, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    assert find_hits(grey, quads).hits == {}
    assert _read(blurred, quads) == [("08", tile.payload.serial) for tile in tiles]


@pytest.mark.parametrize("count", MODULE_COUNTS)
def test_labels_of_little_more_than_a_pixel_per_module_are_read(count: int) -> None:
    """With modules this small, a frame of ten modules seems as likely as one of fourteen."""
    tiles = _tiles(*range(1, 137, 8), count=count)
    picture, quads = lay(tiles, width=41)
    blurred = spoil(picture, blur=0.95, noise=2)
    assert _read(blurred, quads) == [("08", tile.payload.serial) for tile in tiles]


def test_white_labels_on_black_are_read() -> None:
    tiles = _tiles(*range(1, 18))
    picture, quads = lay(tiles)
    inverted = np.asarray(255 - picture, dtype=np.uint8)
    assert find_hits(as_grey(inverted), quads).inverted
    assert not find_hits(as_grey(picture), quads).inverted
    assert is_labelled(inverted, quads)
    assert _read(inverted, quads) == [("08", tile.payload.serial) for tile in tiles]


def test_white_labels_on_black_that_zxing_does_not_decode_are_read() -> None:
    tiles = _tiles(*range(1, 35))
    picture, quads = lay(tiles, width=100)
    inverted = spoil(np.asarray(255 - picture, dtype=np.uint8), blur=0.0)
    for quad in quads[:3]:  # these three are out of focus
        left, top, right, bottom = (int(part) for part in (*quad.min(axis=0), *quad.max(axis=0)))
        piece = inverted[top:bottom, left:right]
        piece[:] = cv2.GaussianBlur(piece, (0, 0), 2.0)
    assert set(find_hits(as_grey(inverted), quads).hits) == set(range(3, 34))
    assert _read(inverted, quads) == [("08", tile.payload.serial) for tile in tiles]


def _spun(picture: Picture, degrees: float) -> tuple[Picture, np.ndarray]:
    """A picture rotated about its middle, on a larger canvas, and how points move."""
    side = int(np.hypot(*picture.shape[:2])) + 2
    middle = (picture.shape[1] / 2, picture.shape[0] / 2)
    spin = cv2.getRotationMatrix2D(middle, -degrees, 1.0)
    spin[:, 2] += [side / 2 - middle[0], side / 2 - middle[1]]
    turned = cv2.warpAffine(picture, spin, (side, side), borderValue=(60, 60, 60))
    return np.asarray(turned, dtype=np.uint8), spin


@pytest.mark.parametrize("degrees", [20, 45, 70, 135])
def test_labels_are_read_at_any_angle(degrees: float) -> None:
    tiles = _tiles(*range(1, 10))
    picture, quads = lay(tiles)
    turned, spin = _spun(picture, degrees)
    moved = [quad @ spin[:, :2].T + spin[:, 2] for quad in quads]
    assert _read(turned, moved) == [("08", tile.payload.serial) for tile in tiles]


@pytest.mark.parametrize(
    ("degrees", "turned"), [(0, False), (20, False), (30, None), (45, None), (90, None), (180, True), (160, True)]
)
def test_a_label_stuck_on_askew_does_not_show_its_tiles_way_up(degrees: float, *, turned: bool | None) -> None:
    picture, quads = lay([Drawn(Payload(SET, 117), 14, turned=False)], width=120, play=0.0)
    spun, spin = _spun(picture, degrees)
    middle = quads[0].mean(axis=0) @ spin[:, :2].T + spin[:, 2]
    upright = quads[0] - quads[0].mean(axis=0) + middle
    hit = find_hits(as_grey(spun), [upright]).hits[0]
    assert (hit.payload.serial, hit.turned) == (117, turned)


@pytest.mark.parametrize("blur", [0.0, 1.5])
def test_the_labels_position_is_given_in_its_own_orientation(blur: float) -> None:
    tiles = _tiles(*range(1, 10))
    picture, quads = lay(tiles, play=0.0)
    for mark in read_labels(spoil(picture, blur=blur), quads):
        assert np.abs(mark.spot - [0.0, -0.08]).max() < 0.035


@pytest.mark.parametrize("blur", [0.0, 1.5])
def test_a_tile_of_another_set_is_read_with_its_own_set_and_format(blur: float) -> None:
    tiles = [*_tiles(*range(1, 11)), *_tiles(117, count=10, number=35)]
    picture, quads = lay(tiles)
    assert _read(spoil(picture, blur=blur), quads)[-1] == ("35", 117)


def test_labels_of_the_usual_kind_are_found_though_only_another_kind_decodes() -> None:
    tiles = [*_tiles(*range(1, 9)), *_tiles(117, count=10, number=35)]
    picture, quads = lay(tiles, width=80)
    blurred = spoil(picture, blur=1.1, noise=4)
    grey = np.asarray(cv2.cvtColor(blurred, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    hits = find_hits(grey, quads).hits
    assert {hit.payload for hit in hits.values()} == {Payload(35, 117)}
    assert _read(blurred, quads) == [(tile.payload.set_text, tile.payload.serial) for tile in tiles]


def test_a_label_on_its_side_is_read_without_a_way_up() -> None:
    picture, quads = lay(_tiles(1, 3, 5))
    marks = read_labels(picture, [np.roll(quad, 1, axis=0) for quad in quads])
    assert [(mark.serial, mark.turned) for mark in marks] == [(1, None), (3, None), (5, None)]


def test_bare_backs_have_no_mark() -> None:
    picture, quads = lay([*_tiles(1, 2, 3, 4), None, None])
    bare = read_labels(spoil(picture, noise=8), quads)[-2:]
    assert [(mark.serial, mark.set_text, mark.turned, mark.confidence) for mark in bare] == 2 * [(None, None, None, 0)]


def test_a_label_too_blurred_to_read_gives_at_most_its_way_up() -> None:
    tiles = _tiles(*range(1, 35))
    sharp, quads = lay(tiles, width=60)
    for mark, tile in zip(read_labels(spoil(sharp, blur=2.2, noise=8), quads), tiles, strict=True):
        assert mark.serial is None
        assert mark.turned in {None, tile.turned}


def test_a_label_beside_the_tiles_is_ignored() -> None:
    picture, quads = lay(_tiles(1, 2, 3))
    assert _read(picture, quads[1:]) == [("08", 2), ("08", 3)]


def test_a_tile_with_two_labels_is_not_read() -> None:
    picture, quads = lay(_tiles(1, 3), play=0.0)
    both = np.array([quads[0][0], quads[1][1], quads[1][2], quads[0][3]])
    assert [mark.serial for mark in read_labels(picture, [both])] == [None]


def test_a_half_hidden_label_is_right_or_unread() -> None:
    tiles = _tiles(*range(1, 4))
    picture, quads = lay(tiles)
    for at, quad in enumerate(quads):
        middle = quad.mean(axis=0)
        cv2.circle(picture, (round(middle[0]) - 25 + 24 * at, round(middle[1])), 24, (140, 170, 220), -1)
    for mark, tile in zip(read_labels(picture, quads), tiles, strict=True):
        assert mark.serial in {None, tile.payload.serial}


def test_grey_and_colour_pictures_read_the_same() -> None:
    picture, quads = lay(_tiles(5, 6, 7))
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    assert _read(grey, quads) == _read(picture, quads) == [("08", 5), ("08", 6), ("08", 7)]


def test_a_large_label_close_up_is_read() -> None:
    picture, quads = lay(_tiles(77), width=700)
    assert _read(spoil(picture, blur=9), quads) == [("08", 77)]


def test_no_tiles_give_no_marks() -> None:
    assert read_labels(np.zeros((4, 4, 3), dtype=np.uint8), []) == []


@COSTLY
@given(st.integers(0, 2**31), st.floats(-300, 300))
def test_rubbish_is_not_read_and_raises_nothing(seed: int, shift: float) -> None:
    chance = np.random.default_rng(seed)
    noise = np.asarray(cv2.resize(chance.integers(0, 255, (40, 60), dtype=np.uint8), (240, 160)), dtype=np.uint8)
    quads = [chance.uniform(0, 200, (4, 2)) + shift for _ in range(3)]
    assert [mark.serial for mark in read_labels(noise, quads)] == [None] * 3


def _labelled() -> tuple[Picture, list[Quad]]:
    return lay([Drawn(Payload(8, serial), turned=serial % 3 == 0) for serial in range(1, 35)])


def _printed() -> tuple[Picture, list[Quad]]:
    picture, quads = lay([None] * 34)
    for serial, quad in enumerate(quads, start=1):
        middle = quad.mean(axis=0)
        at = (round(middle[0]) - 32, round(middle[1]) + 12)
        cv2.putText(picture, f"{serial:03d}", at, cv2.FONT_HERSHEY_SIMPLEX, 1.1, (240, 240, 240), 3, cv2.LINE_AA)
    return picture, quads


def test_labels_are_distinguished_from_printed_numbers() -> None:
    assert is_labelled(*_labelled())
    assert not is_labelled(*_printed())


def test_a_closer_look_finds_blurred_labels() -> None:
    picture, quads = _labelled()
    blurred = spoil(picture, blur=2.0)
    assert not is_labelled(blurred, quads)
    assert is_labelled_closely(blurred, quads)
    assert not is_labelled_closely(*_printed())


def test_without_tiles_there_are_no_labels() -> None:
    nothing = np.zeros((4, 4), dtype=np.uint8)
    assert not is_labelled(nothing, [])
    assert not is_labelled_closely(nothing, [])


def candidate(
    *,
    likeness: float = 0.95,
    rival: float = 0.1,
    frame: float = 0.9,
    other: float = -1.0,
    count: int = 12,
    named: int = 8,
) -> LabelCandidate:
    """Return a label that seems to show 117 of a set, with its likeness and that of the likeliest other word."""
    kind = LabelKind(count, np.zeros(2), np.full(2, 0.4))
    patch = LabelPatch(np.zeros((4, 4), np.float32), kind, turned=False, margin=3.0)
    look = LabelCandidate(patch, LabelPose(np.eye(2, 3), frame), frame, other)
    look.__dict__["guess"] = LabelGuess(Payload(named, 117), np.zeros((14, 14), np.float32), likeness, rival)
    return look


def likeness_of_odds(odds: float, rival: float, count: int = 12) -> float:
    """Return the likeness that gives a word these odds against its rival."""
    return float(np.sqrt(1 - (1 - rival**2) * np.exp(-2 * odds / (count - 2) ** 2)))


def test_the_odds_of_a_label_grow_with_its_modules_and_shrink_with_the_unexplained_rest() -> None:
    assert label_odds(candidate(likeness=0.9, rival=0.5)) == pytest.approx(50 * np.log(0.75 / 0.19))
    assert label_odds(candidate(likeness=0.9, rival=0.5, count=14)) == pytest.approx(72 * np.log(0.75 / 0.19))
    assert label_odds(candidate(likeness=-0.9, rival=-0.5)) == 0.0


def test_a_guessed_labels_confidence_follows_a_tenth_of_its_odds_up_to_that_of_decoded_ones() -> None:
    assert label_confidence(candidate(likeness=likeness_of_odds(20.0, 0.5), rival=0.5)) == pytest.approx(0.99)
    assert label_confidence(candidate(likeness=0.999, rival=0.1)) == DECODED_CONFIDENCE


@pytest.mark.parametrize(("usual", "odds"), [(8, 28.0), (None, 40.0), (9, 45.0)])
def test_a_label_needs_better_odds_if_its_set_is_unknown_or_unusual(usual: int | None, odds: float) -> None:
    above, below = (candidate(likeness=likeness_of_odds(odds + off, 0.5), rival=0.5) for off in (1e-6, -1e-6))
    assert is_certain(above, usual)
    assert not is_certain(below, usual)


def test_a_label_is_certain_only_with_a_frame_and_a_similar_word() -> None:
    assert is_certain(candidate(frame=0.4), 8)
    assert not is_certain(candidate(frame=0.4 - 1e-6), 8)
    assert is_certain(candidate(likeness=0.65, rival=0.0), 8) == (label_odds(candidate(likeness=0.65, rival=0.0)) >= 28)
    assert not is_certain(candidate(likeness=0.65 - 1e-6, rival=0.0, count=14), 8)
    assert is_certain(candidate(likeness=0.65, rival=0.0, count=14), 8)


@pytest.mark.parametrize(
    ("frame", "other", "seen"),
    [(0.6, 0.4 - 1e-6, True), (0.6 - 1e-6, 0.3, False), (0.7, 0.5 + 1e-6, False), (0.9, 0.2, True)],
)
def test_a_label_is_seen_if_its_frame_is_clearly_one_way_up(frame: float, other: float, *, seen: bool) -> None:
    assert is_seen(candidate(frame=frame, other=other)) == seen


def test_tiles_dismissed_after_the_first_look_are_not_searched() -> None:
    tiles = _tiles(*range(1, 18))
    picture, quads = lay(tiles)
    grey = as_grey(picture)
    nowhere = [rectangle(np.array([-500.0, -500.0]), 40.0, 55.0), rectangle(np.array([5000.0, 5000.0]), 40.0, 55.0)]
    asked: list[list[int]] = []

    def dismiss(left: list[int]) -> set[int]:
        asked.append(left)
        return set(left)

    found = find_hits(grey, [*quads, *nowhere], dismiss)
    assert (len(found.hits), asked) == (17, [[17, 18]])


@pytest.mark.parametrize("many", [1, 12, 13])
def test_few_tiles_are_decoded_in_their_own_parts_and_many_in_the_whole_picture(many: int) -> None:
    tiles = _tiles(*range(1, 18))
    picture, quads = lay(tiles)
    hits = find_hits(as_grey(picture), quads[:many]).hits
    assert [hits[at].payload.serial for at in range(many)] == [tile.payload.serial for tile in tiles[:many]]


@pytest.mark.parametrize(
    ("middle", "part"),
    [
        ((100.0, 80.0), (76, 53, 124, 106)),  # 40 by 44 pixels, and a tenth around it
        ((10.0, 10.0), (0, 0, 34, 36)),
        ((190.0, 140.0), (166, 113, 200, 150)),
    ],
)
def test_a_tile_is_decoded_in_its_own_part_of_the_picture(
    middle: tuple[float, float], part: tuple[int, int, int, int]
) -> None:
    assert _part_about(rectangle(np.array(middle), 40.0, 44.0), 200, 150) == part


def test_the_usual_kind_is_that_of_most_labels_at_their_median_spot() -> None:
    def kind(count: int, spot: float, size: float) -> LabelKind:
        return LabelKind(count, np.array([spot, 0.0]), np.full(2, size))

    askew = LabelKind(10, np.full(2, np.nan), np.full(2, 0.4))
    usual = usual_kind(
        [askew, askew, askew, kind(12, 0.1, 0.4), kind(14, 0.0, 0.3), kind(12, 0.2, 0.5), kind(12, 0.9, 0.6)]
    )
    assert usual is not None
    assert (usual.count, usual.spot.tolist(), usual.size.tolist()) == (12, [0.2, 0.0], [0.5, 0.5])
    assert usual_kind([askew]) is None


def test_a_decoded_label_has_its_position_on_the_tile() -> None:
    tile = rectangle(np.array([100.0, 100.0]), 60.0, 80.0)
    hit = _on_tile(Payload(8, 5), 14, rectangle(np.array([106.0, 92.0]), 24.0, 24.0), tile)
    assert hit is not None
    assert (hit.turned, hit.kind.count) == (False, 14)
    assert hit.kind.spot == pytest.approx([0.1, -0.1])
    assert hit.kind.size == pytest.approx([0.4, 0.3])
    over = _on_tile(Payload(8, 5), 14, np.roll(rectangle(np.array([106.0, 92.0]), 24.0, 24.0), 2, axis=0), tile)
    assert over is not None
    assert over.turned
    assert over.kind.spot == pytest.approx([-0.1, 0.1])
    assert _on_tile(Payload(8, 5), 14, rectangle(np.array([117.9, 100.0]), 24.0, 24.0), tile) is not None
    assert _on_tile(Payload(8, 5), 14, rectangle(np.array([119.0, 100.0]), 24.0, 24.0), tile) is None
    uneven = rectangle(np.array([100.0, 100.0]), 24.0, 24.0) + np.array([[0, 0], [0, 4], [6, 0], [0, 0]])
    seen = _on_tile(Payload(8, 5), 14, uneven, tile)
    assert seen is not None
    assert seen.kind.size == pytest.approx([27 / 60, 22 / 80])  # the means of opposite sides


@pytest.mark.parametrize(("degrees", "told"), [(24.5, True), (25.7, False), (-24.5, True), (-25.7, False)])
def test_a_label_shows_the_way_up_if_askew_by_less_than_25_degrees(degrees: float, *, told: bool) -> None:
    spin = np.array(
        [
            [np.cos(np.radians(degrees)), np.sin(np.radians(degrees))],
            [-np.sin(np.radians(degrees)), np.cos(np.radians(degrees))],
        ]
    )
    tile = rectangle(np.array([100.0, 100.0]), 60.0, 60.0 * 1.36)
    hit = _on_tile(Payload(8, 5), 14, rectangle(np.zeros(2), 24.0, 24.0) @ spin + 100.0, tile)
    assert hit is not None
    assert (hit.turned, bool(np.isnan(hit.kind.spot).any())) == (False if told else None, not told)


def test_tiles_are_chosen_evenly() -> None:
    quads = [np.full((4, 2), float(at)) for at in range(10)]
    assert [int(quad[0, 0]) for quad in _evenly_chosen(quads, 4)] == [0, 3, 6, 9]
    assert [int(quad[0, 0]) for quad in _evenly_chosen(quads[:2], 4)] == [0, 1]
    assert _evenly_chosen([], 4) == []


@pytest.mark.parametrize("named", [2, 3])
def test_three_labels_determine_the_usual_set(named: int) -> None:
    looks = [candidate(named=35)]
    hits = {
        at: LabelHit(Payload(8, at + 1), LabelKind(14, np.zeros(2), np.full(2, 0.4)), turned=False)
        for at in range(named)
    }
    assert _usual_set(hits, looks) == (8 if named == 3 else None)


def test_no_other_kind_is_searched_if_the_pictures_labels_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second look at one tile: three labels read before show how it should look, two do not."""
    asked: list[Quad] = []
    monkeypatch.setattr(label, "_likelier_candidate", lambda *_: of_odds(10.0))
    monkeypatch.setattr(label, "search_label", lambda _, quad, **__: asked.append(quad))
    before = [label._mark_of_candidate(of_odds(46.0), None)] * 3
    assert [mark.label is not None for mark in before] == [True] * 3
    looks = _search_one_by_one(GREY, {0: TILES[0]}, {}, before)
    assert [label_odds(look) for look in looks.values()] == pytest.approx([10.0])
    assert not asked
    _search_one_by_one(GREY, {0: TILES[0]}, {}, before[:2])
    assert len(asked) == 2


def test_labels_read_before_determine_the_usual_set() -> None:
    before = [label._mark_of_candidate(of_odds(46.0), None)]
    assert _usual_set({}, [], before * 2) is None
    assert _usual_set({}, [], before * 3) == 8


def on_a_corner(picture: Picture, quads: list[Quad], degrees: float) -> tuple[Picture, list[Quad]]:
    """Rotate a picture but keep the tiles upright, so that their labels are stuck on at an angle."""
    spun, spin = _spun(picture, degrees)
    middles = [quad.mean(axis=0) @ spin[:, :2].T + spin[:, 2] for quad in quads]
    return spun, [quad - quad.mean(axis=0) + middle for quad, middle in zip(quads, middles, strict=True)]


@pytest.mark.parametrize("degrees", [45.0, -42.0])
def test_labels_on_a_corner_that_zxing_does_not_decode_are_read_without_a_way_up(degrees: float) -> None:
    tiles = _tiles(*range(1, 5))
    picture, quads = on_a_corner(*lay([replace(one, turned=False) for one in tiles], width=66, across=4), degrees)
    blurred = spoil(picture, blur=1.0, noise=4)
    assert find_hits(as_grey(blurred), quads).hits == {}
    assert is_labelled_closely(blurred, quads, askew=True)
    look = search_label(as_grey(blurred), quads[0], askew=True)
    assert look is not None
    assert abs(look.kind.askew) == 45.0
    assert not is_labelled_closely(blurred, quads)
    marks = read_labels(blurred, quads)
    assert [(mark.serial, mark.turned) for mark in marks] == [(tile.payload.serial, None) for tile in tiles]
    assert all(np.isnan(mark.spot).all() for mark in marks)


def test_print_is_never_a_label_on_a_corner() -> None:
    assert not is_labelled_closely(*_printed(), askew=True)


@pytest.mark.parametrize("blur", [0.0, 1.5])
def test_a_set_with_older_labels_of_more_modules_is_read_with_its_new_ones(blur: float) -> None:
    tiles = _tiles(*range(1, 13)) + _tiles(13, 14, 15, count=12)
    picture, quads = lay(tiles)
    assert _read(spoil(picture, blur=blur, noise=4), quads) == [("08", serial) for serial in range(1, 16)]


GREY = np.zeros((4, 4), dtype=np.uint8)
TILES = [rectangle(np.array([50.0 * at, 50.0]), 30.0, 40.0) for at in range(60)]


def of_odds(odds: float, frame: float = 0.9) -> LabelCandidate:
    """Return a label with these odds."""
    return candidate(likeness=likeness_of_odds(odds, 0.5), rival=0.5, frame=frame)


@pytest.mark.parametrize(
    ("upright", "over", "refitted", "asked", "told"),
    [
        ((46.0, 0.67), (50.0, 0.9), 60.0, 1, 46.0),  # beyond doubt: the other way up is not tried
        ((46.0, 0.65), (50.0, 0.9), 60.0, 2, 50.0),
        ((44.0, 0.67), (30.0, 0.6), 60.0, 2, 60.0),
        ((44.0, 0.67), (30.0, 0.6), 40.0, 2, 44.0),  # the second fit is worse
        ((30.0, 0.6), (44.0, 0.67), 43.0, 2, 44.0),
        ((46.0, 0.6), (20.0, 0.5), 60.0, 2, 46.0),  # certain for any set: no second fit
        ((20.0, 0.39), (10.0, 0.3), 60.0, 2, 20.0),  # hardly a frame: not fitted again
        ((20.0, 0.41), (10.0, 0.3), 60.0, 2, 60.0),
    ],
)
def test_a_tile_is_searched_both_ways_up_until_a_label_is_beyond_doubt(
    monkeypatch: pytest.MonkeyPatch,
    upright: tuple[float, float],
    over: tuple[float, float],
    refitted: float,
    asked: int,
    told: float,
) -> None:
    asked_ways: list[bool] = []

    def of(odds: float, frame: float) -> LabelCandidate:
        return replace(candidate(frame=frame), pose=LabelPose(np.eye(2, 3), odds))

    def look(*_: object, turned: bool, margin: float) -> LabelCandidate:
        asked_ways.append(turned)
        assert margin == 3.5
        return of(*ways[turned])

    ways = (upright, over)
    monkeypatch.setattr(label, "look_for_label", look)
    monkeypatch.setattr(label, "label_odds", lambda look: look.pose.likeness)
    monkeypatch.setattr(label, "refit_label", lambda look: of(refitted, look.frame))
    found = _likelier_candidate(GREY, TILES[0], candidate().patch.kind, 3.5)
    assert asked_ways == [False, True][:asked]
    assert found.pose.likeness == told
    if asked == 2 and told != refitted:
        assert (found.frame, found.other_frame) == (max(upright[1], over[1]), min(upright[1], over[1]))


def test_a_word_without_a_frame_has_no_odds() -> None:
    assert [_odds_if_framed(of_odds(20.0, frame)) for frame in (0.4, 0.39)] == [pytest.approx(20.0), -1.0]


@pytest.mark.parametrize(
    ("tiles", "found", "asked"),
    [(0, None, []), (3, None, [0, 1, 2]), (7, None, [0, 1, 2, 3]), (9, None, [0, 2, 4, 6]), (9, 2, [0, 2])],
)
def test_up_to_four_tiles_are_searched_until_one_shows_the_kind(
    monkeypatch: pytest.MonkeyPatch, tiles: int, found: int | None, asked: list[int]
) -> None:
    searched: list[int] = []

    def search(_: Picture, quad: Quad, *, askew: bool) -> LabelCandidate | None:
        searched.append(round(float(quad[:, 0].mean()) / 50))
        return candidate(count=14) if askew and searched[-1] == found else None

    monkeypatch.setattr(label, "search_label", search)
    kind = _search_kind(GREY, TILES[:tiles], askew=True)
    assert (searched, None if kind is None else kind.count) == (asked, None if found is None else 14)


@pytest.mark.parametrize(
    ("frames", "fitted", "likeliest"),
    [
        ([0.25, 0.26, 0.5], 2, [0.5]),  # up to a quarter there is no frame
        ([0.9, 0.8, 0.7, 0.6], 3, [0.9, 0.8]),
        ([0.39] * 4, 3, []),  # a word is guessed from 0.4
        ([0.3, 0.41, 0.42], 3, [0.42, 0.41]),
    ],
)
def test_the_likeliest_frames_with_one_number_of_modules_are_fitted(
    monkeypatch: pytest.MonkeyPatch, frames: list[float], fitted: int, likeliest: list[float]
) -> None:
    fits: list[float] = []
    found = iter([*frames, *[0.0] * 99])

    def fit(look: LabelCandidate) -> LabelCandidate:
        fits.append(look.frame)
        return look

    monkeypatch.setattr(label, "find_label", lambda *_, **__: candidate(frame=next(found)))
    monkeypatch.setattr(label, "fit_label", fit)
    looks = _likeliest_frames(GREY, TILES[0], 14, 0.0)
    assert fits == sorted(frames, reverse=True)[:fitted]
    assert [look.frame for look in looks] == likeliest


def test_a_word_is_guessed_for_each_number_of_modules_in_order_of_likelihood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames: dict[int, list[float]] = {14: [0.5], 12: [], 10: [0.9, 0.8]}
    odds, guessed = {0.5: 40.1, 0.8: 39.9, 0.9: 39.9}, list[float]()

    def likeliest(_grey: Picture, _quad: Quad, count: int, _lean: float) -> list[LabelCandidate]:
        return [candidate(frame=frame) for frame in frames[count]]

    def refit(look: LabelCandidate) -> LabelCandidate:
        guessed.append(look.frame)
        return of_odds(odds[look.frame], look.frame)

    monkeypatch.setattr(label, "_likeliest_frames", likeliest)
    monkeypatch.setattr(label, "refit_label", refit)
    look = _search_along(GREY, TILES[0], 0.0)
    assert (guessed, look.frame if look else None) == ([0.9, 0.8, 0.5], 0.5)
    odds[0.5] = 39.9
    assert _search_along(GREY, TILES[0], 0.0) is None


def test_labels_are_searched_in_all_sizes_and_ways_up_around_their_usual_spot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sizes are within five hundredths of one that is tried; the search reaches 17 hundredths of a tile's width."""
    asked: list[tuple[LabelKind, bool, float]] = []

    def find(_: Picture, __: Quad, kind: LabelKind, *, turned: bool, margin: float, angles: object) -> LabelCandidate:
        assert angles == (0.0,)
        asked.append((kind, turned, margin))
        return candidate(frame=0.0)

    monkeypatch.setattr(label, "find_label", find)
    assert _search_along(GREY, TILES[0], 0.0) is None
    assert len(asked) == 3 * 2 * len(_LABEL_SIDES)
    assert np.diff(np.log(_LABEL_SIDES)) == pytest.approx(np.full(5, 0.08), abs=0.01)
    assert (_LABEL_SIDES[0], _LABEL_SIDES[-1]) == (0.32, 0.47)
    for kind, _, margin in asked:
        assert kind.spot.tolist() == [0.0, -0.04]
        assert kind.size[0] / kind.size[1] == pytest.approx(1.36)
        assert margin * kind.size[0] / kind.count == pytest.approx(0.17)
    asked.clear()
    assert _search_along(GREY, TILES[0], 45.0) is None
    assert {(kind.askew, *kind.spot.tolist()) for kind, *_ in asked} == {(45.0, 0.0, 0.0)}


@pytest.mark.parametrize(("unread", "again", "searched"), [(3, 3, 3), (24, 24, 4), (30, 24, 4)])
def test_few_tiles_are_searched_again_and_fewer_for_any_kind(
    monkeypatch: pytest.MonkeyPatch, unread: int, again: int, searched: int
) -> None:
    looked: list[float] = []
    asked: list[int] = []

    def look(_: Picture, quad: Quad, __: LabelKind, margin: float) -> LabelCandidate:
        looked.append(margin)
        return of_odds(46.0 if quad is TILES[40] else 10.0)

    def search(_: Picture, quad: Quad) -> None:
        asked.append(round(float(quad[:, 0].mean()) / 50))

    monkeypatch.setattr(label, "_likelier_candidate", look)
    monkeypatch.setattr(label, "search_label", search)
    hits = {at: LabelHit(Payload(8, at + 1), candidate().patch.kind, turned=False) for at in range(50, 53)}
    _search_one_by_one(GREY, {at: TILES[at] for at in (40, *range(unread))}, hits, ())
    assert (looked, asked) == ([3.5] * (unread + 1) + [6.0] * again, list(range(searched)))


def test_an_unread_mark_has_no_spot() -> None:
    assert (NO_MARK.spot.shape, bool(np.isnan(NO_MARK.spot).all())) == ((2,), True)
