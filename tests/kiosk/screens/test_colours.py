"""Colours for all eyes: distinctions remain visible with a colour vision deficiency; quiet light does not glare.

Simulated as by Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
Deficiency" (IEEE TVCG 15, 2009), at full severity; differences are of CIELAB (1976), where about 2.3 is just noticed
(Mahy, Van Eycken and Oosterlinck, 1994).
"""

from dataclasses import replace
from functools import cache
from itertools import combinations, product
from typing import Final

import cv2
import numpy as np
import pygame
import pytest

from broker.i18n import Translator
from broker.protocol import SEATS, Seat
from kiosk.screens import RestoringView, ScreenView, TableScreen, TextPen, drawing
from kiosk.screens.drawing import DIMMED, EDGE, GROUND, PANEL, Appearance, Colour
from tests.kiosk.screens.riichi_scenes import ALL_SCENES as SCENES
from tests.kiosk.screens.test_table import contrast, scene_of

EYES: Final = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}

TO_XYZ: Final = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
"""From linear sRGB, with D65 as white (IEC 61966-2-1)."""

WHITE: Final = np.array([0.95047, 1.0, 1.08883])

LEAST: Final = 9
"""Four times the just noticeable difference."""

SIZE: Final = (800, 480)

LIGHTS: Final = (False, True)
"""Whether the light is quiet."""


@cache
def table(*, quiet: bool) -> TableScreen:
    return TableScreen(Translator("en"), SIZE, Appearance(quiet=quiet))


def linear(colour: tuple[float, ...]) -> np.ndarray:
    share = np.array(colour) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(colour: tuple[float, ...], eyes: str) -> np.ndarray:
    """Return a colour in CIELAB as these eyes see it."""
    xyz = TO_XYZ @ np.clip(np.array(EYES[eyes]) @ linear(colour), 0, 1) / WHITE
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def alike(colours: dict[str, Colour], *, quiet: bool) -> list[tuple[str, str, str, float]]:
    """Return the pairs that some eyes cannot distinguish, with their differences."""
    found = []
    lit = {
        name: tuple(part * left / 255 for part, left in zip(one, DIMMED, strict=True)) if quiet else one
        for name, one in colours.items()
    }
    for eyes, (one, other) in product(EYES, combinations(lit, 2)):
        apart = float(np.linalg.norm(lab(lit[one], eyes) - lab(lit[other], eyes)))
        if apart < LEAST:
            found.append((eyes, one, other, round(apart, 1)))
    return found


def shape(seat: Seat, side: int = 100) -> pygame.Surface:
    surface = pygame.Surface((side, side))
    drawing.draw_shape(surface, surface.get_rect(), seat, TextPen("en", (side, side)))
    return surface


def pixels(surface: pygame.Surface) -> np.ndarray:
    width, height = surface.get_size()
    return np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8).reshape(height, width, 3)


def colour_of(seat: Seat) -> Colour:
    """Return the main colour of a seat's shape."""
    painted = pixels(shape(seat)).reshape(-1, 3)
    found, counts = np.unique(painted[painted.any(axis=1)], axis=0, return_counts=True)
    red, green, blue = (int(part) for part in found[counts.argmax()])
    return red, green, blue


@pytest.mark.parametrize("quiet", LIGHTS)
def test_seat_colours_are_distinct_for_all_eyes(*, quiet: bool) -> None:
    assert alike({seat: colour_of(seat) for seat in SEATS}, quiet=quiet) == []


@pytest.mark.parametrize("quiet", LIGHTS)
def test_text_colours_are_distinct_for_all_eyes(*, quiet: bool) -> None:
    """Text, quiet text, good, attention, danger, and a plain frame."""
    said = ("TEXT", "QUIET", "GOOD", "ATTENTION", "DANGER", "LINE")
    assert alike({name: getattr(drawing, name) for name in said}, quiet=quiet) == []


@pytest.mark.parametrize(("one", "other"), [*combinations(SEATS, 2)])
def test_seat_shapes_are_distinct_without_colour(one: Seat, other: Seat) -> None:
    """Two outlines differ in at least an eighth of the area that either covers."""
    covered = [pixels(shape(seat)).any(axis=2) for seat in (one, other)]
    assert (covered[0] ^ covered[1]).sum() >= (covered[0] | covered[1]).sum() / 8


LIGHT: Final = (linear(tuple(range(256)))[None, :, None] * TO_XYZ[1]).astype(np.float32)
"""Luminance of each level of red, green and blue."""


@cache
def luminance(scene: str, *, quiet: bool) -> tuple[float, float]:
    """Return the mean and the highest luminance of a screen; 1 is white."""
    view = glaring() if scene == GLARE else scene_of(scene)
    surface = pygame.Surface(SIZE)
    table(quiet=quiet).draw(surface, view)
    lit = cv2.transform(cv2.LUT(pixels(surface), LIGHT), np.ones((1, 3)))
    return float(lit.mean()), float(lit.max())


GLARE: Final = "a white picture"
"""The brightest picture that a camera can show."""


def glaring() -> ScreenView:
    view = scene_of("restoring, heap")
    assert isinstance(view.phase, RestoringView)
    restoring, observation = view.phase.restoring, view.phase.restoring.observation
    assert observation.view is not None
    white = replace(observation.view, picture=np.full_like(observation.view.picture, 255))
    restoring = replace(restoring, observation=replace(observation, view=white))
    return replace(view, phase=replace(view.phase, restoring=restoring))


def test_in_quiet_light_no_screen_is_bright_or_has_white() -> None:
    """At most 6 % of white in the mean, and no pixel above 30 %."""
    seen = {scene: luminance(scene, quiet=True) for scene in (*SCENES, GLARE)}
    assert {scene: round(mean, 3) for scene, (mean, _) in seen.items() if mean > 0.06} == {}
    assert [scene for scene, (_, most) in seen.items() if most > 0.3] == []


def test_in_quiet_light_brightness_never_jumps_between_screens() -> None:
    """Between any two screens by at most 4 % of white; usual light has 17 %."""
    means = {quiet: [luminance(scene, quiet=quiet)[0] for scene in SCENES] for quiet in LIGHTS}
    assert max(means[True]) - min(means[True]) <= 0.04
    assert max(means[False]) - min(means[False]) >= 0.1, "else quiet light is for nothing"


@pytest.mark.parametrize("ground", [GROUND, PANEL])
def test_in_quiet_light_text_is_legible_and_buttons_are_visible(ground: Colour) -> None:
    """3:1, WCAG's level for large letters; 2:1 for edges, beside which there is always a word."""

    def lit(colour: Colour) -> tuple[int, ...]:
        return tuple(part * left // 255 for part, left in zip(colour, DIMMED, strict=True))

    inks = (drawing.TEXT, drawing.QUIET, drawing.GOOD, drawing.ATTENTION)
    assert [ink for ink in inks if contrast(lit(ink), lit(ground)) < 3] == []
    assert contrast(lit(EDGE), lit(ground)) >= 2
