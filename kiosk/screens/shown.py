"""Whether what is drawn can be seen: what the graphics hold, and whether a display is plugged in.

A driver may take every picture and show none (desktop OpenGL, SDL's first choice, does so on some displays), so
the first picture is read back from where the display takes it.
"""

import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal

import pygame

DRM: Final = Path("/sys/class/drm")

SECOND_NS: Final = 1_000_000_000
EACH_NS: Final = 5 * SECOND_NS
"""Between two looks at the plugs."""

ScreenFault = Literal["screen_black", "screen_unplugged"]

SCREEN_CODES: Final = frozenset({"screen_black", "screen_unplugged"})
"""What the desk is told of a screen."""


class ScreenCheck:
    """One display without a desktop; with one, whatever draws the desktop looks after it."""

    def __init__(self, driver: str | None, plugs: Path = DRM) -> None:
        """`plugs`: where the kernel says what is plugged in."""
        self._there, self._plugs = driver == "kmsdrm", plugs
        self._black: bool | None = None
        self._next = 0
        self._fault: ScreenFault | None = None

    def fault(self, surface: pygame.Surface, now: int) -> ScreenFault | None:
        """Return what is wrong; `surface` was shown."""
        if self._there and now >= self._next:
            self._next = now + EACH_NS
            if is_unplugged(self._plugs):
                self._fault = "screen_unplugged"
            else:
                self._black = is_black(surface) if self._black is None else self._black
                self._fault = "screen_black" if self._black else None
        return self._fault


def is_unplugged(plugs: Path = DRM) -> bool:
    """Return whether the kernel knows of plugs for displays and of nothing in any of them."""
    told = {path.read_text(encoding="utf-8").strip() for path in plugs.glob("card*-*/status")}
    return bool(told) and told <= {"disconnected"}


def is_black(surface: pygame.Surface) -> bool:
    """Return whether the graphics hold black where the picture is not; a driver that cannot say is believed."""
    video = _renderers()
    at = _bright(surface)
    if at is None:
        return False
    try:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # pygame has no other way yet
            renderer = video.Renderer.from_window(video.Window.from_display_module())
        for _ in range(2):  # both buffers are to hold this picture: which of them is read is the driver's choice
            pygame.display.flip()
        read = renderer.to_surface(area=pygame.Rect(at, (1, 1))).get_at((0, 0))
    except pygame.error:
        return False
    return not any(read[:3])


def _bright(surface: pygame.Surface) -> tuple[int, int] | None:
    """Return a place of the picture that is nearly white, as letters are, if it has one."""
    far = pygame.mask.from_threshold(surface, (255, 255, 255), (155, 155, 155, 255))
    found: list[tuple[int, int]] = far.connected_component().outline()
    return found[0] if found else None


def _renderers() -> Any:  # noqa: ANN401 - pygame has no types for it
    """Return pygame's module of SDL's renderers alone: its package would bring sound along, which no kiosk has."""
    package = ModuleType("pygame._sdl2")
    package.__path__ = [str(Path(pygame.__file__).parent / "_sdl2")]
    sys.modules.setdefault(package.__name__, package)
    return import_module("pygame._sdl2.video")
