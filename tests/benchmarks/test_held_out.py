"""The held-out pictures have the right truth, and the promised error rates follow from the counts."""

from dataclasses import replace

import numpy as np
import pytest

from tests.benchmarks.vision.held_out.backs import SIZE, TILE_MM, Look, labelled_back, wear_off
from tests.benchmarks.vision.held_out.judged import at_most_in_a_million
from tests.benchmarks.vision.held_out.kinds import KINDS, ROWS, draw
from tests.benchmarks.vision.held_out.table import Camera, Shot, Standing, mark_on, picture_of
from vision.geometry import project
from vision.marks.label import as_grey, decode_labels
from vision.marks.label_code import Payload
from vision.training.fonts import FOLDERS


@pytest.mark.parametrize(
    ("wrong", "tried", "most"),
    [(0, 3000, 999), (0, 1_000_000, 3), (1, 4744, 1000), (0, 0, 1_000_000), (5, 5, 1_000_000)],
)
def test_no_errors_in_n_tries_promise_three_in_n_at_95_percent(wrong: int, tried: int, most: int) -> None:
    assert at_most_in_a_million(wrong, tried) == pytest.approx(most, abs=1)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_wear_removes_about_the_stated_share_of_ink(share: float) -> None:
    ink = np.zeros((100, 100), dtype=np.float32)
    ink[20:80, 30:70] = 1.0
    left = np.mean([wear_off(ink, share, np.random.default_rng(seed)).sum() for seed in range(40)]) / ink.sum()
    assert 1 - left == pytest.approx(share, abs=0.06)
    assert wear_off(ink, 0.0, np.random.default_rng(0)) is ink


def test_a_camera_straight_above_has_a_uniform_scale() -> None:
    camera = Camera.over(Shot(tilt=0.0, fill=1.0), 400.0)
    assert project(camera.plane(0), np.array([[0.0, 0.0], [200.0, 0.0], [0.0, 100.0]])) == pytest.approx(
        np.array([[960.0, 540.0], [1920.0, 540.0], [960.0, 1020.0]])
    )


def test_the_lens_distorts_points_and_pictures_alike() -> None:
    camera = Camera.over(Shot(lens=0.25), 400.0)
    straight = np.zeros((1080, 1920), dtype=np.float32)
    straight[150:156, 300:306] = 1.0
    rows, cols = np.nonzero(camera.bend(straight) > 0.5)
    assert camera.bent(np.array([[303.0, 153.0]]))[0] == pytest.approx([cols.mean() + 0.5, rows.mean() + 0.5], abs=0.6)


def _font() -> Look:
    files = sorted(path for folder in FOLDERS for path in folder.rglob("*.tt[fc]"))
    if not files:
        pytest.skip("no font is installed")
    return Look((files[0],), colours=(0, 0))


@pytest.mark.parametrize(
    ("turn", "tilt", "inverted"), [(0.0, 0.0, False), (30.0, 0.0, False), (0.0, 45.0, False), (0.0, 0.0, True)]
)
def test_labels_are_where_the_truth_says(turn: float, tilt: float, *, inverted: bool) -> None:
    chance = np.random.default_rng(3)
    back = labelled_back(Payload(8, 117), replace(_font(), tilt=tilt, inverted=inverted), chance)
    tile = Standing(np.array([20.0, -15.0]), turn, back)
    shot = Shot(size=(900, 700), tilt=10.0, lens=0.1)
    camera = Camera.over(shot, 150.0)
    grey = as_grey(picture_of(camera, np.full((1050, 1750, 3), 0.4, dtype=np.float32), [], [tile], chance))
    (payload, _, corners), *others = decode_labels(255 - grey if inverted else grey, local=True)
    quad, mark = mark_on(camera, tile)
    assert (payload, others) == (Payload(8, 117), [])
    width = float(np.linalg.norm(quad[1] - quad[0]))
    assert np.linalg.norm(corners.mean(axis=0) - mark.mean(axis=0)) < 0.03 * width
    assert width / float(np.linalg.norm(quad[3] - quad[0])) == pytest.approx(TILE_MM[0] / TILE_MM[1], rel=0.05)
    assert back.art.shape == (SIZE[1], SIZE[0], 3)


@pytest.mark.parametrize("name", ["years", "unpadded", "labels, inverted"])
def test_a_tray_has_34_tiles_and_only_numbers_from_1_to_136_are_serials(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fonts = _font().fonts
    monkeypatch.setattr("tests.benchmarks.vision.held_out.kinds.families_kept_back", lambda *_: (fonts,))
    scene, again = draw(KINDS[name], 5), draw(KINDS[name], 5)
    assert len(scene.tiles) == sum(ROWS)
    serials = {tile.serial for tile in scene.tiles}
    assert serials == {0} if name == "years" else 0 not in serials
    assert {tile.readable for tile in scene.tiles if tile.serial == 0} <= {False}
    assert np.array_equal(scene.picture, again.picture)
