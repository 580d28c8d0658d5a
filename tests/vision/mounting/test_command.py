"""`homologue camera` and `homologue read --overlay`, as people call them."""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from vision.mounting.window import shown
from vision.overlay import list_serials
from vision.reading import PictureReading, TileRead

HERE = Path(__file__).parents[1] / "pictures"
SIM = "sim://tray?deal=3&seed=1"


def call(*arguments: str) -> Result:
    return CliRunner().invoke(homologue, ["camera", *arguments])


def lines_of(*arguments: str) -> list[dict[str, Any]]:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def folder_of(tmp_path: Path, name: str) -> str:
    """Return the address of a folder with one of the rendered pictures, whose camera's tilt is known."""
    (tmp_path / f"{name}.jpg").symlink_to(HERE / f"{name}.jpg")
    return f"pictures:{tmp_path}"


def test_one_picture_gives_one_line_with_every_measurement(tmp_path: Path) -> None:
    (line,) = lines_of(folder_of(tmp_path, "dev2_028_tray-faulty"), "--tile", "28x38")
    assert list(line) == [
        "picture", "size", "tiles", "pixels_per_mm", "tilt", "distance_mm", "edge_px", "focus", "glare", "glare_at",
        "level", "noise", "fits", "hints",
    ]  # fmt: skip
    assert (line["tiles"], line["size"], line["fits"], line["hints"]) == (
        34,
        [1920, 1080],
        {"34": True, "136": False},
        [],
    )


def test_a_tilted_camera_gets_a_hint(tmp_path: Path) -> None:
    (line,) = lines_of(folder_of(tmp_path, "dev_005_tray-faulty"), "--tile", "28x38")
    assert abs(line["tilt"] - 27.9) <= 6
    hints = {hint["code"] for hint in line["hints"]}
    assert hints - {"camera_soft"} == {"camera_too_far", "camera_tilted"}  # its sharpness is at the threshold


def test_an_empty_table_is_reported_without_invented_figures() -> None:
    (line,) = lines_of("sim://tray?width=640&height=360", "--once")
    assert (line["tiles"], line["pixels_per_mm"], line["focus"], line["fits"]["34"]) == (0, None, None, None)
    assert [hint["code"] for hint in line["hints"]] == ["camera_no_tiles"]


def test_lines_continue_while_the_camera_works() -> None:
    assert [line["tiles"] for line in lines_of(SIM, "--frames", "2", "--every", "0")] == [34, 34]


def test_a_lost_camera_is_reported_and_reopened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.feed._PATIENCE_S", 60.0)  # however long that takes
    first, second = lines_of(f"{SIM}&unplugged=0&fps=100", "--frames", "2", "--every", "0")
    assert (first["error"]["code"], second["tiles"]) == ("camera_unplugged", 34)


def test_a_camera_that_stays_lost_is_reported_repeatedly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.feed._PATIENCE_S", 0.01)
    lines = lines_of(f"{SIM}&unplugged=0-100000", "--frames", "3", "--every", "0")
    assert [line["error"]["code"] for line in lines] == ["camera_unplugged"] * 3


def test_a_folder_gives_one_line_per_picture_and_continues_after_a_bad_one(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"rubbish")
    cv2.imwrite(str(tmp_path / "b.png"), np.zeros((90, 160, 3), dtype=np.uint8))
    bad, good = lines_of(f"pictures:{tmp_path}")
    assert (bad["picture"], bad["error"]["code"], good["picture"], good["level"]) == (
        "a.png", "picture_unreadable", "b.png", 0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "code"), [("v4l2:/dev/no-such-camera", "camera_missing"), ("camera", "camera_address")]
)
def test_a_missing_camera_ends_the_command_with_its_code(address: str, code: str) -> None:
    result = call(address, "--once", "--json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (1, code)


@pytest.mark.parametrize("tile", ["22", "30x22", "1x2", "ax30", "22x300"])
def test_an_impossible_tile_size_is_refused(tile: str) -> None:
    assert call(SIM, "--once", "--tile", tile).exit_code == 2


def test_hints_are_in_the_chosen_language(tmp_path: Path) -> None:
    address = folder_of(tmp_path, "dev_005_tray-faulty")
    assert "La caméra est inclinée" in call(address, "--tile", "28x38", "--language", "fr").stdout


def test_the_window_shows_pictures_and_ends_with_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    assert call(f"{SIM}&tilt=22", "--window", "--frames", "1").exit_code == 0


def test_the_window_lists_tiles_below_the_picture_if_there_is_room() -> None:
    picture = np.full((300, 600, 3), 90, dtype=np.uint8)
    corners = ((100.0, 100.0), (150.0, 100.0), (150.0, 170.0), (100.0, 170.0))
    reading = PictureReading((TileRead(35, None, corners, 0.96, 0.0),), ())
    tall, low = shown(picture, reading, 440), shown(picture, reading, 180)
    listed = list_serials(picture, reading, 800)
    assert (tall.shape, low.shape) == ((440, 800, 3), (180, 800, 3))
    assert np.array_equal(tall[-len(listed) :], listed)
    assert not np.array_equal(low[-len(listed) :], listed)


def test_an_overlay_of_the_cameras_picture_is_written(tmp_path: Path) -> None:
    assert len(lines_of(SIM, "--once", "--overlay", str(tmp_path / "seen.png"))) == 1
    overlay = cv2.imread(str(tmp_path / "seen.png"))
    assert overlay is not None
    assert overlay.shape[0] > 1080  # with the list of tiles


def test_a_window_without_a_display_has_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no-such-driver")
    result = call(SIM, "--window", "--frames", "1", "--json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (1, "window_missing")


def test_an_overlay_is_written_to_a_file_or_into_a_folder(tmp_path: Path) -> None:
    faulty = str(HERE / "dev_008_tray-faulty.jpg")
    for target, written in ((tmp_path / "out.png", "out.png"), (tmp_path, "dev_008_tray-faulty-overlay.png")):
        result = CliRunner().invoke(homologue, ["read", faulty, "--overlay", str(target)])
        assert result.exit_code == 0
        overlay = cv2.imread(str(tmp_path / written))
        assert overlay is not None
        assert overlay.shape[0] > 1080  # with the list of tiles
        assert overlay.shape[1:] == (1920, 3)


def test_several_overlays_need_a_folder(tmp_path: Path) -> None:
    result = CliRunner().invoke(homologue, ["read", "a.jpg", "b.jpg", "--overlay", str(tmp_path / "out.png")])
    assert result.exit_code == 2
