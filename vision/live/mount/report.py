"""Measurements in one line for people, or as one JSON object for scripts."""

from dataclasses import dataclass
from typing import Any

from vision.live.feed import CameraLost
from vision.live.mount.hints import Hint, focus
from vision.live.mount.measures import Measures, Setup
from vision.live.mount.needs import CARRIER, TRAY, room_for
from vision.live.mount.words import Words


@dataclass(frozen=True, slots=True)
class Look:
    """One look through the camera: the picture's name or number, what was measured, and what to change."""

    name: str
    measures: Measures
    hints: tuple[Hint, ...]


def look_line(look: Look, setup: Setup, words: Words) -> dict[str, Any]:
    """Give the object that `homologue camera --json` prints for one look."""
    seen, pose = look.measures, look.measures.pose
    return {
        "picture": look.name,
        "size": list(seen.size),
        "tiles": seen.tiles,
        "pixels_per_mm": _round(pose.pixels_per_mm if pose else None, 2),
        "tilt": _round(pose.tilt if pose else None, 1),
        "distance_mm": _round(pose.distance_mm if pose else None, 0),
        "edge_px": _round(seen.edge, 2),
        "focus": focus(seen, setup),
        "glare": _round(seen.glare.share, 4),
        "glare_at": [_round(share, 3) for share in seen.glare.at] if seen.glare.at else None,
        "level": _round(seen.light.level, 0),
        "noise": _round(seen.light.noise, 2),
        "fits": {str(places): fits(seen, setup, places) for places in (TRAY, CARRIER)},
        "hints": [{"code": hint.code, "message": words.hint(hint)} for hint in look.hints],
    }


def error_line(name: str, lost: CameraLost) -> dict[str, Any]:
    """Give the object that `homologue camera --json` prints where there is no picture."""
    return {"picture": name, "error": {"code": lost.code, "message": lost.message}}


def look_text(look: Look, setup: Setup, words: Words) -> str:
    """Give a line of figures, and a line for each thing to change."""
    told = [f"  {hint.code}: {words.hint(hint)}" for hint in look.hints]
    return "\n".join([f"{look.name}: {figures(look, setup, words)}", *(told or [f"  {words('good')}"])])


def figures(look: Look, setup: Setup, words: Words) -> str:
    """Give all figures in one line; a dash where nothing could be measured."""
    seen, pose = look.measures, look.measures.pose
    parts = [
        f"{pose.pixels_per_mm:.1f} px/mm" if pose else "- px/mm",
        f"{pose.tilt:.0f}°" if pose else "-°",
        words(f"focus_{focus(seen, setup) or 'unknown'}") + (f" ({seen.edge:.1f} px)" if seen.edge else ""),
        words("glare", percent=f"{100 * seen.glare.share:.1f}"),
        words("light", level=round(seen.light.level), noise=f"{seen.light.noise:.1f}"),
    ]
    rooms = [
        words("fits" if fits(seen, setup, places) else "fits_not", places=places)
        for places in ((TRAY, CARRIER) if pose else ())
    ]
    return " | ".join([*parts, *rooms])


def fits(measures: Measures, setup: Setup, places: int) -> bool | None:
    """Tell whether so many places fit into the picture at its scale; None where the scale is not known."""
    return room_for(places, setup.tile_mm).fits(measures.pose.field_mm) if measures.pose else None


def _round(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
