"""What a place holds where no back was found, and which back is of another colour."""

import numpy as np
import pytest

from tests.vision.tray_scenes import BACK, FACE, Lying, Pose, Scene, Seen, see, tray_scene
from vision.geometry import rectangle
from vision.layout import strange_backs
from vision.reading import PlaceState, RowCol, tray_places

POSE = Pose(tilt=15, azimuth=5, noise=0.02)
BLUE, SHADED = (150, 90, 30), (36, 80, 24)


def others(seen: Seen) -> dict[RowCol, PlaceState]:
    """Return the places that hold anything but a back."""
    (tray,) = seen.lay_out().trays
    return {(site.row, site.col): site.state for site in tray.sites if site.state is not PlaceState.BACK}


def middle(scene: Scene, where: RowCol) -> tuple[float, float]:
    x, y = scene.at(where).quad.mean(axis=0)
    return float(x), float(y)


def test_a_tray_of_backs_holds_backs_alone() -> None:
    assert others(see(tray_scene(POSE))) == {}


@pytest.mark.parametrize("where", [(0, 0), (1, 5), (2, 9)])
def test_an_overlooked_back_is_no_empty_place(where: RowCol) -> None:
    assert others(see(tray_scene(POSE).changed(where, found=False))) == {}


def test_a_tile_found_face_up_is_face_up() -> None:
    assert others(see(tray_scene(POSE).changed((1, 2), face_up=True))) == {(1, 2): PlaceState.FACE_UP}


@pytest.mark.parametrize("found", [True, False])
def test_a_place_under_a_hand_is_covered_whether_its_tile_was_found_or_not(found: bool) -> None:  # noqa: FBT001 - a parameter of the test
    scene = tray_scene(POSE).changed((1, 6), found=found)
    x, y = middle(scene, (1, 6))
    assert others(see(Scene(POSE, scene.tiles, ((x, y, 11.0),)))) == {(1, 6): PlaceState.OCCLUDED}


def test_a_hand_that_only_touches_an_edge_covers_nothing() -> None:
    scene = tray_scene(POSE)
    x, y = middle(scene, (0, 6))
    assert others(see(Scene(POSE, scene.tiles, ((x, y - 26, 8.0),)))) == {}


def test_a_place_outside_of_the_picture_is_claimed_to_be_nothing() -> None:
    assert others(see(tray_scene(Pose()).without((0, 0)), scale=2.85)) == {}


def test_floor_of_the_backs_own_colour_is_told_by_the_missing_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.vision.tray_scenes.FLOOR", (60, 130, 40))
    assert others(see(tray_scene(POSE).without((1, 4)))) == {(1, 4): PlaceState.EMPTY}


@pytest.mark.parametrize(("colour", "strange"), [(BLUE, True), (FACE, True), (BACK, False), (SHADED, False)])
def test_another_hue_is_strange_and_shade_is_not(colour: tuple[int, int, int], strange: bool) -> None:  # noqa: FBT001 - a parameter of the test
    seen = see(tray_scene(POSE).changed((1, 4), colour=colour))
    named = [one.where for one, lie in zip(seen.shown, seen.lay_out().lies, strict=True) if lie.strange]
    assert named == ([(1, 4)] if strange else [])


def test_glare_on_most_of_a_back_makes_it_no_strange_one() -> None:
    rims = np.tile(np.array([50.0, -30.0, 20.0], dtype=np.float32), (12, 40, 1))
    rims[3, :28] = [96.0, 0.0, 2.0]
    middles = np.column_stack([np.arange(12.0), np.zeros(12)])
    assert not strange_backs(rims, middles, np.ones(12, dtype=bool), np.zeros(12, dtype=bool)).any()


def test_a_back_that_glare_has_turned_white_is_no_strange_one() -> None:
    rims = np.tile(np.array([50.0, -30.0, 20.0], dtype=np.float32), (12, 40, 1))
    rims[3] = [99.0, 0.0, 1.0]
    middles = np.column_stack([np.arange(12.0), np.zeros(12)])
    assert not strange_backs(rims, middles, np.ones(12, dtype=bool), np.zeros(12, dtype=bool)).any()


def test_what_may_be_the_floor_of_an_empty_tray_makes_no_neighbour_strange() -> None:
    rims = np.tile(np.array([45.0, 12.0, 30.0], dtype=np.float32), (20, 40, 1))
    rims[:8] = [50.0, -5.0, -35.0]
    middles = np.column_stack([np.arange(20.0), np.zeros(20)])
    floor = np.arange(20) >= 8
    backs = np.ones(20, dtype=bool)
    assert strange_backs(rims, middles, backs, np.zeros(20, dtype=bool))[:8].any()
    assert not strange_backs(rims, middles, backs, floor)[:8].any()


def test_a_face_is_never_a_strange_back() -> None:
    seen = see(tray_scene(POSE).changed((1, 4), face_up=True))
    assert not any(lie.strange for lie in seen.lay_out().lies)


def test_the_states_are_given_for_every_place_in_reading_order() -> None:
    (tray,) = see(tray_scene(POSE)).lay_out().trays
    assert [(site.row, site.col) for site in tray.sites] == list(tray_places())


def beside(colour: tuple[int, int, int], *, count: int = 1, grow: float = 1.0) -> Scene:
    """A tray, and things below it that say serials 101 and on."""
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
def test_a_thing_of_another_colour_or_size_beside_a_tray_is_no_tile(colour: tuple[int, int, int], grow: float) -> None:
    assert unlike(see(beside(colour, grow=grow))) == [101]


def test_what_is_unlike_is_a_ghost_and_a_tile_in_the_tray_never_is() -> None:
    seen = see(beside(BLUE, count=22))
    layout = seen.lay_out()
    assert len(layout.unlike) == len(seen.shown)  # clutter: nothing is believed
    assert {seen.shown[number].where for number in layout.ghosts} == {None}


def test_a_tray_is_found_among_print_of_another_colour_that_would_hide_it() -> None:
    """Cells of a cloth, in the pitch of tiles, all about the tray: nothing of one colour alone is a tray's shape."""
    chance = np.random.default_rng(4)
    tray = tray_scene(POSE)
    cells = [
        Lying(rectangle(np.array([x, y]) + chance.uniform(-3, 3, 2), 28.0, 38.0), colour=BLUE, told=False)
        for x in range(-240, 241, 31)
        for y in (*range(-230, -60, 41), *range(80, 240, 41))
    ]
    seen = see(Scene(POSE, (*tray.tiles, *cells)))
    trays = seen.lay_out().trays
    assert [{seen.shown[site.tile].serial for site in one.sites if site.tile is not None} for one in trays] == [
        set(range(1, 35))
    ]
