"""A lens is measured from pictures of a chart, drawn with a known lens."""

import json
import tomllib
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from vision.cameras.lens import COLUMNS, ROWS, Lens, draw_chart, find_chart, measure_lens, split_lens, unseen_ninths
from vision.errors import LensUnclearError, TableFileError
from vision.geometry import Homography, Picture, Points, inverse_homography, project
from vision.mounting.lens_command import with_table_camera

SIZE = (720, 405)
BARREL = Lens(0.22, 0.04, 0.51, 0.485)
CHART = draw_chart()
SQUARE = 140  # pixels of the chart
FIRST = (np.array(CHART.shape[::-1]) - SQUARE * np.array([COLUMNS + 1, ROWS + 1])) / 2 + SQUARE
CORNERS: Points = np.array([FIRST + SQUARE * np.array([col, row]) for row in range(ROWS) for col in range(COLUMNS)])


def view(x: float, y: float, turn: float = 0.0, lean: float = 0.0) -> Homography:
    """Return the map from a chart to undistorted pixels; its middle is at these shares of the picture."""
    scale = 0.42 * SIZE[0] / CHART.shape[1]
    c, s = scale * np.cos(turn), scale * np.sin(turn)
    middle = np.array(SIZE) * [x, y]
    centred = np.array([[1, 0, -CHART.shape[1] / 2], [0, 1, -CHART.shape[0] / 2], [0, 0, 1]])
    return np.asarray(np.array([[c, -s, middle[0]], [s, c, middle[1]], [lean * scale / 500, 0, 1]]) @ centred)


VIEWS = [view(x, y, 0.12 * (x - y), lean) for lean in (0.0, 0.3) for x in (0.2, 0.5, 0.8) for y in (0.27, 0.73)]


def seen(lens: Lens, noise: float = 0.0) -> list[Points]:
    """Return the chart's corners in each view, as a lens distorts them."""
    chance = np.random.default_rng(9)
    return [lens.distort(project(way, CORNERS), SIZE) + chance.normal(0, noise, CORNERS.shape) for way in VIEWS]


@cache
def soft() -> Picture:
    return np.asarray(cv2.GaussianBlur(CHART, (0, 0), 3), dtype=np.uint8)


def picture(lens: Lens, way: Homography) -> Picture:
    """Return a picture of the chart on a grey table through a lens."""
    rows, cols = np.indices((SIZE[1], SIZE[0]))
    pixels = np.asarray(np.column_stack([cols.ravel(), rows.ravel()]) + 0.5, dtype=np.float64)
    there = (
        (project(inverse_homography(way), lens.undistort(pixels, SIZE)) - 0.5)
        .astype(np.float32)
        .reshape(SIZE[1], SIZE[0], 2)
    )
    page = cv2.remap(soft(), there[..., 0], there[..., 1], cv2.INTER_LINEAR, borderValue=(120,))
    return np.repeat(np.asarray(page, dtype=np.uint8)[:, :, None], 3, axis=2)


@cache
def shot(number: int) -> Picture:
    """Return the chart in one of the views through the lens with most distortion."""
    return picture(BARREL, VIEWS[number])


def folder(tmp_path: Path, count: int) -> str:
    for number in range(count):
        cv2.imwrite(str(tmp_path / f"{number:02d}.png"), shot(number))
    return f"pictures:{tmp_path}"


def call(*arguments: str) -> Result:
    return CliRunner().invoke(homologue, ["lens", *arguments])


@pytest.mark.parametrize(
    "lens", [BARREL, Lens(-0.07, 0.01, 0.49, 0.51), Lens(0.05)], ids=["barrel", "pincushion", "slight"]
)
def test_a_lens_is_measured_exactly(lens: Lens) -> None:
    found = measure_lens(seen(lens), SIZE)
    numbers = [found.lens.k1, found.lens.k2, found.lens.x, found.lens.y]
    assert numbers == pytest.approx([lens.k1, lens.k2, lens.x, lens.y], abs=2e-3)
    assert found.after < 0.01
    assert found.before > 0.15


def test_a_lens_is_measured_though_corners_are_slightly_off() -> None:
    found = measure_lens(seen(BARREL, noise=0.15), SIZE).lens
    grid = np.stack(np.meshgrid(np.linspace(22, 698, 9), np.linspace(15, 390, 7)), axis=-1).reshape(-1, 2)
    true, told = BARREL.undistort(grid, SIZE), found.undistort(grid, SIZE)
    way = np.asarray(cv2.findHomography(told, true, 0)[0], dtype=np.float64)  # another view of the same straight lines
    assert np.abs(project(way, told) - true).max() < 0.5


def test_pictures_that_no_lens_explains_are_refused() -> None:
    views = seen(BARREL)
    views[3] = views[3] + 6 * np.sin(views[3][:, [1, 0]] / 40)  # a chart that is not flat
    with pytest.raises(LensUnclearError):
        measure_lens(views, SIZE)


def test_a_lens_that_is_invalid_in_an_address_is_refused_and_not_written() -> None:
    with pytest.raises(LensUnclearError, match="middle half"):
        measure_lens(seen(Lens(0.3, 0.05, 0.2, 0.5)), SIZE)


def test_the_chart_is_found_through_a_lens_to_half_a_pixel() -> None:
    for number, way in enumerate(VIEWS[:3]):
        corners = find_chart(shot(number))
        assert corners is not None
        true = BARREL.distort(project(way, CORNERS), SIZE)
        assert min(np.abs(corners - one).max() for one in (true, true[::-1])) < 0.5


def test_half_a_chart_is_not_found() -> None:
    assert find_chart(picture(BARREL, view(0.0, 0.5))) is None


def test_a_chart_at_one_end_leaves_the_other_missing() -> None:
    left = BARREL.distort(project(view(0.2, 0.5), CORNERS), SIZE)
    assert {"top_right", "right", "bottom_right"} <= set(unseen_ninths([left], SIZE))
    assert "left" not in unseen_ninths([left], SIZE)
    assert list(unseen_ninths(seen(BARREL), SIZE)) == []


def test_a_folder_of_pictures_gives_the_lens(tmp_path: Path) -> None:
    result = call(folder(tmp_path, 6), "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    lens = split_lens(told["address"])[1]
    assert lens is not None
    assert [lens.k1 + lens.k2, lens.x, lens.y] == pytest.approx([0.26, 0.51, 0.485], abs=0.01)
    assert told["table"] is None
    assert told["after_px"] < 0.3
    assert told["before_px"] > 0.5


def test_the_lens_replaces_the_previous_one_in_the_tables_configuration(tmp_path: Path) -> None:
    (tmp_path / "seen").mkdir()
    address = folder(tmp_path / "seen", 6)
    table = tmp_path / "table.toml"
    table.write_text(f'language = "en"  # ours\n\n[devices]\ncamera = "{address}?lens=0.3,0,0.5,0.5&loop=0"  # above\n')
    result = call("--table", str(table), "--language", "fr")
    assert (result.exit_code, "table.toml" in result.stdout) == (0, True), result.output
    written = table.read_text()
    camera = tomllib.loads(written)["devices"]["camera"]
    plain, lens = split_lens(camera)
    assert (plain, lens is not None and lens.k1 < 0.3) == (f"{address}?loop=0", True)
    assert written.replace(camera, "") == 'language = "en"  # ours\n\n[devices]\ncamera = ""  # above\n'


def test_a_chart_that_was_not_seen_everywhere_is_refused(tmp_path: Path) -> None:
    result = call(folder(tmp_path, 2), "--json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (1, "lens_chart")


def test_the_user_is_told_where_to_put_the_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    shots = iter([np.full((*reversed(SIZE), 3), 90, dtype=np.uint8), *map(shot, range(6))])
    monkeypatch.setattr("vision.sim.camera.SimulatedCamera._take", lambda _: next(shots))
    result = CliRunner().invoke(homologue, ["lens", "sim://tray"], input="\n" * 40)
    assert result.exit_code == 0, result.output
    asked = [line for line in result.stdout.splitlines() if line.startswith("Picture ")]
    assert asked[0] == "Picture 1: put the chart flat and whole into the picture, at the top left."
    assert asked[1].endswith("at the top left.")
    assert "lens_chart" in result.stderr
    assert "lens=" in result.stdout


def test_a_chart_is_written(tmp_path: Path) -> None:
    assert call("--chart", str(tmp_path / "chart.png")).exit_code == 0
    written = np.asarray(cv2.imread(str(tmp_path / "chart.png")), dtype=np.uint8)
    assert written.shape[:2] == CHART.shape
    corners = find_chart(np.asarray(cv2.resize(written, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)))
    assert corners is not None
    assert min(np.abs(corners - one / 4).max() for one in (CORNERS, CORNERS[::-1])) < 0.5


@pytest.mark.parametrize("name", ["chart.pdf", "none/chart.png"])
def test_a_chart_is_refused_where_it_cannot_be_written(tmp_path: Path, name: str) -> None:
    result = call("--chart", str(tmp_path / name), "--json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (1, "unwritable")


@pytest.mark.parametrize("content", ["camera = 'sim://tray'", "[devices]\ncamera = 3", "devices = 1", "[devices", ""])
def test_a_file_without_a_camera_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "table.toml").write_text(content)
    result = call("--table", str(tmp_path / "table.toml"), "--json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (1, "table_file")


def test_only_the_cameras_own_line_is_changed() -> None:
    text = '[other]\ncamera = "left"\n[devices]\n  camera = \'sim://tray\' # here\nscanner = "camera = 1"\n'
    changed = with_table_camera(text, "sim://tray?lens=0,0,0.5,0.5")
    assert changed == text.replace("'sim://tray'", '"sim://tray?lens=0,0,0.5,0.5"')
    with pytest.raises(TableFileError):
        with_table_camera('devices = {camera = "sim://tray"}', "sim://tray?seed=1")


def test_exactly_one_of_the_arguments_is_required() -> None:
    assert call().exit_code == call("sim://tray", "--chart", "chart.png").exit_code == 2
