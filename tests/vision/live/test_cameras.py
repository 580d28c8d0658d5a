from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.errors import (
    CameraAddressError,
    CameraClosedError,
    CameraError,
    CameraMissingError,
    PictureError,
    VisionError,
)
from vision.live.cameras import open_camera


def save(folder: Path, name: str, level: int) -> None:
    cv2.imwrite(str(folder / name), np.full((4, 6, 3), level, dtype=np.uint8))


def test_pictures_come_in_the_order_of_their_names_and_the_last_one_stays(tmp_path: Path) -> None:
    save(tmp_path, "b.png", 20)
    save(tmp_path, "a.png", 10)
    with open_camera(f"pictures:{tmp_path}") as camera:
        assert [int(camera.frame()[0, 0, 0]) for _ in range(4)] == [10, 20, 20, 20]


def test_a_bad_picture_is_told_and_the_next_one_comes(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"rubbish")
    save(tmp_path, "b.png", 20)
    with open_camera(f"pictures:{tmp_path}") as camera:
        with pytest.raises(PictureError):
            camera.frame()
        assert camera.frame().shape == (4, 6, 3)


@pytest.mark.parametrize("address", ["pictures:no-such-folder", "v4l2:/dev/no-such-camera", "picamera:0"])
def test_a_camera_that_is_not_there_has_a_code(address: str) -> None:
    with pytest.raises(CameraMissingError) as caught:
        open_camera(address)
    assert caught.value.code == "camera_missing"


def test_a_folder_without_pictures_is_no_camera(tmp_path: Path) -> None:
    with pytest.raises(CameraMissingError):
        open_camera(f"pictures:{tmp_path}")


@pytest.mark.parametrize(
    "address",
    ["", "tray", "pictures:", "v4l2:", "picamera:", "picamera:left", "http://camera", "sim://heap", "sim://tray/x",
     "sim://tray?zoom=2", "sim://tray?width=abc", "sim://tray?width=9", "sim://tray?noise=-1", "sim://tray?tilt=nan",
     "sim://tray?seed"],
)  # fmt: skip
def test_an_address_of_no_camera_is_refused(address: str) -> None:
    with pytest.raises(CameraAddressError):
        open_camera(address)


def test_close_may_be_called_twice_and_then_no_frame_comes() -> None:
    camera = open_camera("sim://tray?width=320&height=180")
    camera.close()
    camera.close()
    with pytest.raises(CameraClosedError):
        camera.frame()


def test_every_error_of_a_camera_is_one_of_the_room_and_one_of_the_system() -> None:
    assert issubclass(CameraError, VisionError)
    assert issubclass(CameraError, OSError)
