"""What to change about a camera's mounting: measurements against what the reader needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from vision.cameras.camera import UnmetSetting
from vision.mounting.measure import CameraPose, MarkKind, MountingMeasures, MountingSetup, room_for

TILT: Final = 15.0
"""Degrees from the vertical up to which rows are about equally sharp and large."""

GLARE: Final = 0.02
"""Share of the tiles' area that may be burnt out."""

BRIGHT: Final = 0.04
"""Share of a usual tile that may be burnt out: above it is not a reflection but too much light."""

DARK: Final = 45.0
"""Levels of 255 below which marks drown in noise."""

NOISY: Final = 7.0
"""Levels: standard deviation of a pixel from which fine marks are lost."""

SHARP: Final = 1.15
"""Widths of a mark's finest line over which an edge may spread."""

SHARPEST: Final = 2.5
"""Pixels: no edge is narrower than two, and a camera's own sharpening adds to it."""

_THIRDS = (1 / 3, 2 / 3)


@dataclass(frozen=True, slots=True)
class MountingHint:
    """One thing to change: a stable code, and what its sentence names."""

    code: str
    names: dict[str, object] = field(default_factory=dict)


def mounting_hints(
    measures: MountingMeasures, setup: MountingSetup, unmet: Sequence[UnmetSetting] = ()
) -> tuple[MountingHint, ...]:
    """Return what to change, the most important first; nothing where all is well."""
    return (*_of_settings(unmet), *_of_place(measures, setup), *_of_light(measures), *_of_focus(measures, setup))


def print_hints(setup: MountingSetup, *, enrolled: bool) -> tuple[MountingHint, ...]:
    """Return what to do where nothing else is wrong and many backs are not read, by the set's own pictures or not."""
    if enrolled:
        return (MountingHint("camera_enrolled"),)
    return (MountingHint("camera_print"),) if setup.mark is MarkKind.DIGITS else ()


def judge_focus(measures: MountingMeasures, setup: MountingSetup) -> str | None:
    """Return `good` or `soft`, for the marks that are to be read; None where nothing shows it."""
    if measures.edge is None or measures.pose is None:
        return None
    line = setup.mark.fine_mm * measures.pose.pixels_per_mm
    return "good" if measures.edge <= max(SHARPEST, SHARP * line) else "soft"


def _of_settings(unmet: Sequence[UnmetSetting]) -> Iterator[MountingHint]:
    for miss in unmet:
        taken = "-" if miss.taken is None else f"{miss.taken:g}"
        yield MountingHint("camera_setting", {"setting": miss.setting, "wanted": miss.wanted, "taken": taken})


def _of_place(measures: MountingMeasures, setup: MountingSetup) -> Iterator[MountingHint]:
    pose = measures.pose
    if pose is None:
        yield MountingHint("camera_no_tiles")
        return
    yield from _of_distance(pose, measures, setup)
    if pose.tilt > TILT:
        yield MountingHint("camera_tilted", {"degrees": round(pose.tilt)})


def _of_distance(pose: CameraPose, measures: MountingMeasures, setup: MountingSetup) -> Iterator[MountingHint]:
    """A picture must be near enough for the marks and far enough for all places; some cameras cannot have both."""
    wanted = setup.mark.pixels_per_mm
    room = room_for(setup.places, setup.tile_mm)
    nearest = (measures.size[0] / wanted, measures.size[1] / wanted)  # millimetres in the picture at that scale
    if room.fits(pose.field_mm) and pose.pixels_per_mm >= wanted:
        return
    if not room.fits(nearest):
        pixels = (round(room.long_mm * wanted), round(room.short_mm * wanted))
        yield MountingHint("camera_too_coarse", {"places": setup.places, "width": pixels[0], "height": pixels[1]})
    elif not room.fits(pose.field_mm):
        away = pose.distance_mm * (room.excess(pose.field_mm) - 1)
        yield MountingHint("camera_too_near", {"places": setup.places, "cm": _centimetres(away)})
    else:
        closer = pose.distance_mm * (1 - pose.pixels_per_mm / wanted)
        yield MountingHint("camera_too_far", {"cm": _centimetres(closer)})


def _of_light(measures: MountingMeasures) -> Iterator[MountingHint]:
    glare, light = measures.glare, measures.light
    if glare.usual > BRIGHT:
        yield MountingHint("camera_bright")
    elif glare.share > GLARE and glare.at is not None:
        yield MountingHint("camera_glare", {"percent": round(100 * glare.share), "where": picture_region(glare.at)})
    if light.level < DARK:
        yield MountingHint("camera_dark")
    if light.noise > NOISY:
        yield MountingHint("camera_noisy")


def _of_focus(measures: MountingMeasures, setup: MountingSetup) -> Iterator[MountingHint]:
    if judge_focus(measures, setup) == "soft" and measures.edge is not None:
        yield MountingHint("camera_soft", {"pixels": f"{measures.edge:.1f}"})


def picture_region(at: tuple[float, float]) -> str:
    """Name a ninth of the picture: `top_left` to `bottom_right`, `middle` in the middle."""
    column = ("left", "", "right")[sum(at[0] > third for third in _THIRDS)]
    row = ("top", "", "bottom")[sum(at[1] > third for third in _THIRDS)]
    return "_".join(part for part in (row, column) if part) or "middle"


def _centimetres(millimetres: float) -> int:
    return max(1, ceil(millimetres / 10))
