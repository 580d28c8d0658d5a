"""The window: pygame's screen, keyboard and touch, how often they are polled, and the display's backlight.

It makes no sound. A touch counts when the finger is lifted from the target on which it came down. The screen dims when
nothing new has been shown for a while, and nobody has touched or typed.

A driver may accept pictures without showing any (SDL's first choice, desktop OpenGL, does so on some displays), so the
first picture is read back from where the display takes it.
"""

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal

import pygame

from broker.closing import Closing
from broker.i18n import Translator
from broker.logs import get_logger
from firmware import keyboards, reports, scanners
from kiosk.config import DeviceSettings, ScreenSettings
from kiosk.errors import ScreenMissing
from kiosk.screens import drawing, layout, table
from kiosk.screens.views import PairingView, ScreenView
from kiosk.table import Light

DRM: Final = Path("/sys/class/drm")
SECOND_NS: Final = 1_000_000_000
CHECK_EVERY_NS: Final = 5 * SECOND_NS
"""Interval between two checks of the connectors."""

ScreenFault = Literal["screen_black", "screen_unplugged"]

SCREEN_CODES: Final = frozenset({"screen_black", "screen_unplugged"})
"""The same codes, where the page of codes looks for them."""


class ScreenCheck:
    """Checks the display if there is no desktop; otherwise the desktop takes care of it."""

    def __init__(self, driver: str | None, connectors: Path = DRM) -> None:
        """`connectors`: where the kernel lists the connectors."""
        self._enabled, self._connectors = driver == "kmsdrm", connectors
        self._black: bool | None = None
        self._next = 0
        self._fault: ScreenFault | None = None

    def fault(self, surface: pygame.Surface, now: int) -> ScreenFault | None:
        """Return what is wrong with the display; `surface` is the picture shown."""
        if self._enabled and now >= self._next:
            self._next = now + CHECK_EVERY_NS
            if is_unplugged(self._connectors):
                self._fault = "screen_unplugged"
            else:
                self._black = is_black(surface) if self._black is None else self._black
                self._fault = "screen_black" if self._black else None
        return self._fault


def is_unplugged(connectors: Path = DRM) -> bool:
    """Return whether the kernel lists display connectors, and none of them is connected."""
    statuses = {path.read_text(encoding="utf-8").strip() for path in connectors.glob("card*-*/status")}
    return bool(statuses) and statuses <= {"disconnected"}


def is_black(surface: pygame.Surface) -> bool:
    """Return whether the graphics hold black where the picture is bright; False if the driver cannot tell."""
    video = _renderers()
    at = _bright(surface)
    if at is None:
        return False
    try:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # pygame offers no other way yet
            renderer = video.Renderer.from_window(video.Window.from_display_module())
        for _ in range(2):  # fill both buffers, as the driver chooses which one is read
            pygame.display.flip()
        read = renderer.to_surface(area=pygame.Rect(at, (1, 1))).get_at((0, 0))
    except pygame.error:
        return False
    return not any(read[:3])


def _bright(surface: pygame.Surface) -> tuple[int, int] | None:
    """Return a point of the picture that is nearly white, as letters are, or None."""
    bright = pygame.mask.from_threshold(surface, (255, 255, 255), (155, 155, 155, 255))
    found: list[tuple[int, int]] = bright.connected_component().outline()
    return found[0] if found else None


def _renderers() -> Any:  # noqa: ANN401 - pygame has no types for it
    """Return pygame's module of SDL renderers by itself: its package would load sound, which a kiosk must not have."""
    package = ModuleType("pygame._sdl2")
    package.__path__ = [str(Path(pygame.__file__).parent / "_sdl2")]
    sys.modules.setdefault(package.__name__, package)
    return import_module("pygame._sdl2.video")


KEYS: Final = {
    pygame.K_RETURN: "enter",
    pygame.K_KP_ENTER: "enter",
    pygame.K_BACKSPACE: "back",
    pygame.K_ESCAPE: "back",
    pygame.K_DELETE: "clear",
    **{getattr(pygame, f"K_KP{digit}"): str(digit) for digit in range(10)},
}
TYPED: Final = pygame.event.custom_type()
"""A key from elsewhere than the window: from a keyboard named in the configuration, or from simulated people."""

ROUND_S: Final = 1 / 60
QUICK_S: Final = 1 / 200
QUICK_FOR_NS: Final = 3_000_000_000
"""Seconds between two rounds while nobody is at the screen, and for a while after somebody has touched it."""

QUIT: Final = "quit"
LARGER: Final = {"normal": 1.0, "large": 1.2, "largest": 1.4}


class ScreenWindow(Closing):
    """The window of one table. Context-managed; `close` may be called twice."""

    def __init__(
        self, settings: ScreenSettings, _: Translator, clock: Callable[[], int] = time.monotonic_ns, *, below: int = 0
    ) -> None:
        """Open the window, leaving this many pixels `below` the table's screen for other uses.

        Raise ScreenMissing, or BadConfiguration if there is no font for the language.
        """
        if settings.driver:
            os.environ["SDL_VIDEODRIVER"] = settings.driver
        if settings.driver == "kmsdrm":
            # SDL would try desktop OpenGL first, whose pictures are black on virtio-gpu. OpenGL ES is what its driver
            # itself asks for, and the first choice of a Pi's drivers.
            os.environ.setdefault("SDL_FRAMEBUFFER_ACCELERATION", "opengles2")
        size = layout.drawn_size((settings.width, settings.height))
        whole = (settings.width, settings.height + below)
        try:
            pygame.display.init()
            self._whole = pygame.display.set_mode(whole, pygame.FULLSCREEN if settings.fullscreen else 0)
        except pygame.error as error:
            raise ScreenMissing(str(error)) from None
        self._surface = self._whole if whole == size else self._whole.subsurface((0, 0), size)
        pygame.font.init()
        pygame.display.set_caption("Homologue")
        pygame.mouse.set_visible(not settings.fullscreen)
        self._look = drawing.Appearance(
            settings.hand, LARGER[settings.text], settings.light == "quiet", settings.near, settings.turned
        )
        self._ = _
        self._screen = table.TableScreen(_, size, self._look)
        self._clock, self._finger, self._dimming = clock, Finger(), Dimming(settings.dim_after_s)
        self._light = Backlight(Path(settings.backlight)) if settings.backlight else None
        self._check, self._quick_until = ScreenCheck(settings.driver), 0
        self._configured: Light = settings.light
        self._ordered: Light | None = None
        self.ignores_keys = False
        """Whether to ignore the window's own keys, which come from any keyboard that is plugged in."""
        self._drawn: tuple[ScreenView, layout.TouchTarget | None, bool] | None = None

    def show(self, view: ScreenView) -> bool:
        """Draw a view if it is new, and return whether it is; otherwise not a pixel is touched."""
        known, now = self._drawn is not None and self._drawn[0] == view, self._clock()
        if view.light != self._ordered:  # the latest wins: the desk's order, or a touch of the clock since
            self._ordered = view.light
            self._set_light(quiet=(view.light or self._configured) == "quiet")
        if not known:
            self._finger.offer(self._screen.targets(view), now)
            self._dimming.shown(view, now)
        # During a play not even a finger on the screen shows, so that the picture depends on the play alone.
        finger = None if view.state == "playing" else self._finger.on
        drawn = view, finger, self._must_darken(dark=self._dimming.dark(now))
        if drawn != self._drawn:
            self._draw(*drawn)
            self._drawn = drawn
        return not known

    def _must_darken(self, *, dark: bool) -> bool:
        """Dim the backlight; return whether the picture itself must be darkened instead."""
        lowered = self._light is not None and self._light.lower(dark=dark)
        return dark and not lowered and not self._look.quiet

    def _draw(self, view: ScreenView, finger: layout.TouchTarget | None, dark: bool) -> None:  # noqa: FBT001 - one of three that make a picture
        self._screen.draw(self._surface, view, finger)
        if dark:
            self._surface.fill(drawing.DIMMED, special_flags=pygame.BLEND_MULT)
        pygame.display.flip()

    @property
    def fault(self) -> ScreenFault | None:
        """What keeps people from seeing the screen, as far as known."""
        return self._check.fault(self._whole, self._clock())

    @property
    def pause(self) -> float:
        """Seconds until the window should be polled again."""
        return QUICK_S if self._clock() < self._quick_until else ROUND_S

    def picture(self, path: str) -> None:
        """Save the picture on the screen for remote viewing; a failure is logged, and the table plays on."""
        try:
            pygame.image.save(self._surface, path)
        except pygame.error as error:
            log.warning("picture_not_saved", why=str(error))

    def pressed(self) -> Iterator[str]:
        """Yield the keys pressed or touched: `a`..`z`, `0`..`9`, SIGNS, `enter`, `back`, `clear`, `quit`."""
        for event in pygame.event.get():
            if self.ignores_keys and event.type == pygame.KEYDOWN:
                continue
            if event.type in WAKING:
                self._dimming.woken(self._clock())
                self._quick_until = self._clock() + QUICK_FOR_NS
            if (key := self._key(event)) == table.LIGHT_KEY and not self._is_letter(event):
                self._change_light()
            elif key:
                yield key

    def _is_letter(self, event: pygame.event.Event) -> bool:
        """Return whether a key is a letter of the desk's address; only a touch of the clock changes the light then."""
        types = self._drawn is not None and isinstance(self._drawn[0].phase, PairingView)
        return types and event.type not in TOUCHES

    def _change_light(self) -> None:
        if self._drawn is not None and self._drawn[0].state != "playing":
            self._set_light(quiet=not self._look.quiet)

    def _set_light(self, *, quiet: bool) -> None:
        if quiet != self._look.quiet:
            self._look = self._look._replace(quiet=quiet)
            self._screen, self._drawn = table.TableScreen(self._, self._surface.get_size(), self._look), None

    def _key(self, event: pygame.event.Event) -> str | None:
        return self._touched(event) if event.type in TOUCHES else _typed(event)

    def _touched(self, event: pygame.event.Event) -> str | None:
        """Handle a finger. SDL reports one on a touch screen as a mouse."""
        if event.button != pygame.BUTTON_LEFT:
            return None
        if event.type == pygame.MOUSEBUTTONUP:
            return self._finger.up(event.pos)
        self._finger.down(event.pos, self._clock())
        return None

    def close(self) -> None:
        """Close the window."""
        if self._light is not None:
            self._light.close()
        pygame.display.quit()


WAKING: Final = (TYPED, pygame.KEYDOWN, pygame.MOUSEMOTION, pygame.MOUSEBUTTONDOWN)
TOUCHES: Final = (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP)


def _typed(event: pygame.event.Event) -> str | None:
    """Return the key of an event, or None."""
    if event.type == pygame.QUIT:
        return QUIT
    if event.type == TYPED:
        return str(event.key)
    return KEYS.get(event.key) or keyboards.key_of(event.unicode) if event.type == pygame.KEYDOWN else None


def type_key(key: str) -> None:
    """Put a key into the window's queue, as a keyboard would. May be called from any thread."""
    with suppress(pygame.error):  # the queue is full: more keys than anybody types
        pygame.event.post(pygame.event.Event(TYPED, key=key))


def open_keyboards(devices: DeviceSettings, window: ScreenWindow, tell: reports.OnReport) -> keyboards.TableKeyboards:
    """Open the keyboards named in the configuration; the window's own keys are then ignored. Raises BadAddress."""
    scanner = scanners.parse_scanner(devices.scanner) if devices.scanner else None
    also = [scanner.place] if scanner and scanner.kind == "evdev" else []
    window.ignores_keys = bool(devices.keyboards)
    return keyboards.TableKeyboards(devices.keyboards, type_key, tell, also_known=also)


SEEN_NS: Final = 400_000_000
"""How long a target must have been on the screen before a touch of it can be meant."""


class Finger:
    """A finger on the screen: the targets, and the one it is on."""

    def __init__(self) -> None:
        self._offered: list[tuple[layout.TouchTarget, int]] = []
        """The targets, each with the time at which it appeared."""
        self.on: layout.TouchTarget | None = None
        """The target on which the finger came down and from which it was not lifted."""

    def offer(self, targets: Iterable[layout.TouchTarget], now: int) -> None:
        """Replace the targets. One that has disappeared can no longer be touched."""
        since = self._offered
        self._offered = [(one, next((at for old, at in since if old == one), now)) for one in targets]
        if self.on not in [one for one, _ in self._offered]:
            self.on = None

    def down(self, at: tuple[int, int], now: int) -> None:
        """Note where the finger comes down."""
        under = (one for one, since in self._offered if one.box.collidepoint(at) and now - since >= SEEN_NS)
        self.on = next(under, None)

    def up(self, at: tuple[int, int]) -> str | None:
        """Lift the finger; return the key if that completes a touch."""
        on, self.on = self.on, None
        return on.key if on is not None and on.box.collidepoint(at) else None


class Dimming:
    """When one screen is dimmed. `after_s`: seconds until it is; 0: never."""

    def __init__(self, after_s: int) -> None:
        self._after = after_s * SECOND_NS
        self._since = 0
        self._last: ScreenView | None = None

    def shown(self, view: ScreenView, now: int) -> None:
        """Note what is shown; a change of the clock alone does not count as new."""
        untimed = replace(view, line=replace(view.line, clock=""))
        if untimed != self._last:
            self._last, self._since = untimed, now

    def woken(self, now: int) -> None:
        """Note that somebody touched the screen or a key."""
        self._since = now

    def dark(self, now: int) -> bool:
        """Return whether the screen should be dark now."""
        return 0 < self._after <= now - self._since


log = get_logger("homologue.kiosk")

DIMMED_SHARE: Final = 0.3
"""Share of full brightness when dimmed, at which the screen can still be read from a chair."""


class Backlight:
    """The backlight of one display. `folder` holds its files, or folders with them: the first by name is used."""

    def __init__(self, folder: Path) -> None:
        """Read the brightness. If there is no backlight, or none that can be set, `lower` reports it."""
        self._file: Path | None = None
        try:
            place = next(
                iter(sorted(path.parent for path in [*folder.glob("brightness"), *folder.glob("*/brightness")]))
            )
            most, now = (int((place / name).read_text()) for name in ("max_brightness", "brightness"))
        except (StopIteration, OSError, ValueError) as error:
            log.warning("backlight_missing", folder=str(folder), why=str(error or "nothing is there"))
            return
        self._low = max(1, round(DIMMED_SHARE * most))
        self._bright = now if now > self._low else most  # a power cut may have left it low
        self._file, self._lowered = place / "brightness", now <= self._low
        self.lower(dark=False)

    def lower(self, *, dark: bool) -> bool:
        """Dim the backlight, or restore it. Return whether that worked; if not, darken the picture instead."""
        if self._file is None:
            return not dark
        if dark != self._lowered:
            try:
                self._file.write_text(str(self._low if dark else self._bright))
            except OSError as error:
                log.warning("backlight_not_set", why=str(error))
                self._file = None
                return not dark
            self._lowered = dark
        return True

    def close(self) -> None:
        """Restore the brightness; may be called twice."""
        self.lower(dark=False)
