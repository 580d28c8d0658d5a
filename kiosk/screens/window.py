"""The window: pygame's screen, keyboard and touch, how often they are asked, and the light behind the display.

Nothing in it makes a sound. A touch counts when the finger lets go on the target on which it came down. After a while
in which nothing new was shown and nobody touched or typed, the screen is dimmed.

A driver may take every picture and show none (desktop OpenGL, SDL's first choice, does so on some displays), so the
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
EACH_NS: Final = 5 * SECOND_NS
"""Between two looks at the plugs."""

ScreenFault = Literal["screen_black", "screen_unplugged"]

SCREEN_CODES: Final = frozenset({"screen_black", "screen_unplugged"})
"""The same, as the page of codes takes them from the source."""


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


KEYS: Final = {
    pygame.K_RETURN: "enter",
    pygame.K_KP_ENTER: "enter",
    pygame.K_BACKSPACE: "back",
    pygame.K_ESCAPE: "back",
    pygame.K_DELETE: "clear",
    **{getattr(pygame, f"K_KP{digit}"): str(digit) for digit in range(10)},
}
TYPED: Final = pygame.event.custom_type()
"""A key that does not come from the window: of a keyboard that the configuration names, or of simulated people."""

ROUND_S: Final = 1 / 60
QUICK_S: Final = 1 / 200
QUICK_FOR_NS: Final = 3_000_000_000
"""Between two rounds while nobody is at the screen, and for a while after somebody has touched it."""

QUIT: Final = "quit"
LARGER: Final = {"normal": 1.0, "large": 1.2, "largest": 1.4}


class ScreenWindow(Closing):
    """One window for one table. Context-managed; `close` may be called twice."""

    def __init__(
        self, settings: ScreenSettings, _: Translator, clock: Callable[[], int] = time.monotonic_ns, *, below: int = 0
    ) -> None:
        """Leave this many pixels `below` the table's screen to others.

        Raise ScreenMissing, and BadConfiguration where the language has no font here.
        """
        if settings.driver:
            os.environ["SDL_VIDEODRIVER"] = settings.driver
        if settings.driver == "kmsdrm":
            # SDL would take desktop OpenGL first, whose pictures are black on virtio-gpu. OpenGL ES is what its driver
            # itself asks for, and what a Pi's drivers speak first.
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
        self.deaf = False
        """Keys that reach the window are left unread: any keyboard that is plugged in types into it."""
        self._drawn: tuple[ScreenView, layout.TouchTarget | None, bool] | None = None

    def show(self, view: ScreenView) -> bool:
        """Draw what is to be seen, and return whether it is new; where nothing is, not a pixel is touched."""
        known, now = self._drawn is not None and self._drawn[0] == view, self._clock()
        if view.light != self._ordered:  # the last word counts: the desk's order, or whoever touched the clock since
            self._ordered = view.light
            self._set_light(quiet=(view.light or self._configured) == "quiet")
        if not known:
            self._finger.offer(self._screen.targets(view), now)
            self._dimming.shown(view, now)
        # In a play not even a finger on the screen shows: a picture there is the play's, and the play's alone.
        finger = None if view.state == "playing" else self._finger.on
        drawn = view, finger, self._darker(dark=self._dimming.dark(now))
        if drawn != self._drawn:
            self._draw(*drawn)
            self._drawn = drawn
        return not known

    def _darker(self, *, dark: bool) -> bool:
        """Lower the light behind the screen; return whether the picture, if it is not quiet, has to be darker."""
        lowered = self._light is not None and self._light.lower(dark=dark)
        return dark and not lowered and not self._look.quiet

    def _draw(self, view: ScreenView, finger: layout.TouchTarget | None, dark: bool) -> None:  # noqa: FBT001 - one of three that make a picture
        self._screen.draw(self._surface, view, finger)
        if dark:
            self._surface.fill(drawing.LOWERED, special_flags=pygame.BLEND_MULT)
        pygame.display.flip()

    @property
    def fault(self) -> ScreenFault | None:
        """What keeps people from seeing what is shown, as far as that can be known."""
        return self._check.fault(self._whole, self._clock())

    @property
    def pause(self) -> float:
        """The seconds until it is to be asked for touches again."""
        return QUICK_S if self._clock() < self._quick_until else ROUND_S

    def picture(self, path: str) -> None:
        """Save what is on the screen, for who looks from afar; where that cannot be, the table plays on."""
        try:
            pygame.image.save(self._surface, path)
        except pygame.error as error:
            log.warning("picture_not_saved", why=str(error))

    def pressed(self) -> Iterator[str]:
        """Return the keys that were pressed or touched: `a`..`z`, `0`..`9`, SIGNS, `enter`, `back`, `clear`, `quit`."""
        for event in pygame.event.get():
            if self.deaf and event.type == pygame.KEYDOWN:
                continue
            if event.type in WAKING:
                self._dimming.woken(self._clock())
                self._quick_until = self._clock() + QUICK_FOR_NS
            if (key := self._key(event)) == table.LIGHT_KEY and not self._is_letter(event):
                self._change_light()
            elif key:
                yield key

    def _is_letter(self, event: pygame.event.Event) -> bool:
        """Return whether a key is a letter of the desk's address: then the clock alone changes the light."""
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
        """Take a finger in; SDL tells of one on a touch screen as of a mouse."""
        if event.button != pygame.BUTTON_LEFT:
            return None
        if event.type == pygame.MOUSEBUTTONUP:
            return self._finger.up(event.pos)
        self._finger.down(event.pos, self._clock())
        return None

    def close(self) -> None:
        """Close it."""
        if self._light is not None:
            self._light.close()
        pygame.display.quit()


WAKING: Final = (TYPED, pygame.KEYDOWN, pygame.MOUSEMOTION, pygame.MOUSEBUTTONDOWN)
TOUCHES: Final = (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP)


def _typed(event: pygame.event.Event) -> str | None:
    """Return the key of an event, if it is one."""
    if event.type == pygame.QUIT:
        return QUIT
    if event.type == TYPED:
        return str(event.key)
    return KEYS.get(event.key) or keyboards.key_of(event.unicode) if event.type == pygame.KEYDOWN else None


def type_key(key: str) -> None:
    """Put a key into the window's own queue, as a keyboard would. From any thread."""
    with suppress(pygame.error):  # more keys than anybody types: the queue is full
        pygame.event.post(pygame.event.Event(TYPED, key=key))


def open_keyboards(devices: DeviceSettings, window: ScreenWindow, tell: reports.OnReport) -> keyboards.TableKeyboards:
    """Return the keyboards that a configuration names; the window's own is ignored then. Raises BadAddress."""
    scanner = scanners.parse_scanner(devices.scanner) if devices.scanner else None
    also = [scanner.place] if scanner and scanner.kind == "evdev" else []
    window.deaf = bool(devices.keyboards)
    return keyboards.TableKeyboards(devices.keyboards, type_key, tell, also_known=also)


SEEN_NS: Final = 400_000_000
"""So long something must have been on the screen before somebody can mean it."""


class Finger:
    """A finger on the screen: which targets there are, and which it is on."""

    def __init__(self) -> None:
        self._offered: list[tuple[layout.TouchTarget, int]] = []
        """With when each was first there."""
        self.on: layout.TouchTarget | None = None
        """The target on which it came down and from which it has not been taken."""

    def offer(self, targets: Iterable[layout.TouchTarget], now: int) -> None:
        """Take in what is on the screen now. What is no longer there cannot be touched."""
        since = self._offered
        self._offered = [(one, next((at for old, at in since if old == one), now)) for one in targets]
        if self.on not in [one for one, _ in self._offered]:
            self.on = None

    def down(self, at: tuple[int, int], now: int) -> None:
        """Come down somewhere."""
        under = (one for one, since in self._offered if one.box.collidepoint(at) and now - since >= SEEN_NS)
        self.on = next(under, None)

    def up(self, at: tuple[int, int]) -> str | None:
        """Let go somewhere; return the key if that was a touch."""
        on, self.on = self.on, None
        return on.key if on is not None and on.box.collidepoint(at) else None


class Dimming:
    """One screen. `after_s`: seconds until it is darker; 0: never."""

    def __init__(self, after_s: int) -> None:
        self._after = after_s * SECOND_NS
        self._since = 0
        self._last: ScreenView | None = None

    def shown(self, view: ScreenView, now: int) -> None:
        """Take in what is shown; that a minute has passed is nothing new."""
        untimed = replace(view, line=replace(view.line, clock=""))
        if untimed != self._last:
            self._last, self._since = untimed, now

    def woken(self, now: int) -> None:
        """Take in that somebody touched the screen or a key."""
        self._since = now

    def dark(self, now: int) -> bool:
        """Return whether it is to be darker now."""
        return 0 < self._after <= now - self._since


log = get_logger("homologue.kiosk")

LEFT: Final = 0.3
"""Share of the most that it can give which is left when it is lowered: it can still be read from a chair."""


class Backlight:
    """One display's light. `folder` holds the files, or folders that do, of which the first by name is taken."""

    def __init__(self, folder: Path) -> None:
        """Ask how bright it is. Where there is none, or none that may be set, `lower` says so."""
        self._file: Path | None = None
        try:
            place = next(
                iter(sorted(path.parent for path in [*folder.glob("brightness"), *folder.glob("*/brightness")]))
            )
            most, now = (int((place / name).read_text()) for name in ("max_brightness", "brightness"))
        except (StopIteration, OSError, ValueError) as error:
            log.warning("backlight_missing", folder=str(folder), why=str(error or "nothing is there"))
            return
        self._low = max(1, round(LEFT * most))
        self._bright = now if now > self._low else most  # a kiosk whose power was cut may have left it low
        self._file, self._lowered = place / "brightness", now <= self._low
        self.lower(dark=False)

    def lower(self, *, dark: bool) -> bool:
        """Lower it, or make it as bright as it was. Say whether it is as wished: else the picture must be darker."""
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
        """Leave it bright; may be called twice."""
        self.lower(dark=False)
