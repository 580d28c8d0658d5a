from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.errors import CameraAddressError
from vision.live.cameras import check_address
from vision.live.settings import Settings, parse_settings, split_query
from vision.twins.optics import parse_optics


def settings_of(query: str) -> Settings:
    return parse_settings(split_query(f"x?{query}")[1])


def test_what_is_not_told_is_left_as_the_camera_has_it() -> None:
    assert settings_of("") == Settings(width=1920, height=1080, fps=None, focus=None, exposure=None)


def test_every_setting_is_read() -> None:
    told = settings_of("width=1280&height=720&fps=15&focus=2.5&exposure=8")
    assert told == Settings(width=1280, height=720, fps=15.0, focus=2.5, exposure=8.0)


def test_focus_and_exposure_may_be_left_to_the_camera() -> None:
    assert settings_of("focus=auto&exposure=auto") == Settings(focus="auto", exposure="auto")


@pytest.mark.parametrize("kind", ["v4l2:/dev/video0", "picamera:0"])
@pytest.mark.parametrize(
    "query",
    ["width=10", "width=auto", "fps=0", "fps=nan", "focus=-1", "focus=near", "exposure=0", "exposure=inf", "zoom=2",
     "width", "width=", "width=640&width=800", "=3"],
)  # fmt: skip
def test_a_setting_that_no_camera_has_is_refused_before_anything_is_opened(kind: str, query: str) -> None:
    with pytest.raises(CameraAddressError):
        check_address(f"{kind}?{query}")


@pytest.mark.parametrize("address", ["pictures:x?loop=2", "pictures:x?fps=0", "pictures:x?seed=1", "picamera:٣"])
def test_each_kind_of_camera_has_its_own_settings(address: str) -> None:
    with pytest.raises(CameraAddressError):
        check_address(address)


@given(st.text())
def test_whatever_is_written_is_an_address_or_is_refused_with_a_code(text: str) -> None:
    for kind in ("", "v4l2:", "picamera:", "pictures:", "sim://tray?", "sim:", "sim://["):
        with suppress(CameraAddressError):  # anything else that is raised is a defect
            assert check_address(kind + text) == kind + text


def test_what_happens_to_a_simulated_camera_is_told_in_frames() -> None:
    optics = parse_optics("sim://tray?unplugged=3&dark=5-7&covered=0-1&deal=4&fps=20")
    assert (optics.unplugged, optics.dark, optics.covered, optics.deal, optics.fps) == (
        range(3, 4), range(5, 8), range(2), 4, 20.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    "query", ["dark=7-5", "dark=a", "dark=1-b", "dark=-3", "dark=1.5", "deal=1.5", "seed=x", "fps=0"]
)
def test_a_mishap_that_cannot_be_is_refused(query: str) -> None:
    with pytest.raises(CameraAddressError):
        parse_optics(f"sim://tray?{query}")
