"""Whether what is drawn can be seen."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pygame
import pytest

from kiosk.screens.window import CHECK_EVERY_NS, ScreenCheck, is_unplugged

READ_BACK: Final = """
import pygame
from kiosk.screens.window import is_black

pygame.display.init()
surface = pygame.display.set_mode((320, 200))
surface.fill((0, 0, 0))
surface.fill((230, 220, 220), (200, 150, 40, 20))
pygame.display.flip()
print("shown:", is_black(surface))
pygame.display.flip = lambda: None  # a driver that takes pictures and shows none
from kiosk.screens.window import _renderers
video = _renderers()
renderer = video.Renderer.from_window(video.Window.from_display_module())
renderer.draw_color = (0, 0, 0, 255)
renderer.clear()
print("lost:", is_black(surface))
"""
"""SDL draws with OpenGL as it does without a desktop, except for the display itself."""


def test_a_picture_is_read_back_from_where_the_display_takes_it() -> None:
    environment = {
        "SDL_VIDEODRIVER": "offscreen",
        "SDL_FRAMEBUFFER_ACCELERATION": "opengles2",
        "PYTHONWARNINGS": "ignore",
    }
    done = subprocess.run(
        [sys.executable, "-c", READ_BACK], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-2:] == ["shown: False", "lost: True"], done.stderr


@pytest.mark.parametrize(
    ("plugs", "unplugged"),
    [
        ({}, False),
        ({"card1-HDMI-A-1": "disconnected"}, True),
        ({"card1-HDMI-A-1": "disconnected", "card1-DSI-1": "connected"}, False),
        ({"card0-Virtual-1": "unknown"}, False),
    ],
)
def test_a_display_is_missing_if_no_connector_has_one(
    tmp_path: Path, plugs: dict[str, str], *, unplugged: bool
) -> None:
    lay(tmp_path, plugs)
    assert is_unplugged(tmp_path) is unplugged


def lay(folder: Path, plugs: dict[str, str]) -> None:
    """Write the kernel's list of connectors."""
    for name, status in plugs.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "status").write_text(f"{status}\n", encoding="utf-8")


def test_unplugging_and_plugging_in_a_display_is_reported(tmp_path: Path) -> None:
    check, surface = ScreenCheck("kmsdrm", tmp_path), pygame.Surface((8, 8))
    told = []
    for at, status in enumerate(("connected", "disconnected", "connected")):
        lay(tmp_path, {"card0-HDMI-A-1": status})
        told.append(check.fault(surface, at * CHECK_EVERY_NS))
    assert told == [None, "screen_unplugged", None]


def test_with_a_desktop_nothing_is_checked(tmp_path: Path) -> None:
    lay(tmp_path, {"card0-HDMI-A-1": "disconnected"})
    assert ScreenCheck(None, tmp_path).fault(pygame.Surface((8, 8)), 0) is None
