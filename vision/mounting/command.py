"""The command `homologue camera`: help with mounting a camera by showing measurements and what to change."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click

from broker.console import ANY, EXISTING_FILE, json_option, language_option
from broker.i18n import N_, Message, Translator
from vision.cameras.addresses import check_camera_address
from vision.cameras.feed import CameraLost, CameraShot, folder_shots, live_shots, one_shot
from vision.enrolled.file import EnrolledSet, read_complete
from vision.errors import VisionError
from vision.geometry import Picture
from vision.mounting.measure import (
    CARRIER,
    TRAY,
    MarkKind,
    MountingHint,
    MountingMeasures,
    MountingSetup,
    judge_focus,
    measure_mounting,
    mounting_hints,
    print_hints,
    room_for,
)
from vision.overlay import checked_picture, write_overlay
from vision.reader import read_picture, tile_outlines
from vision.reading import PictureReading
from vision.verdict import ENROL_SET

FOCUS: Final[Mapping[str | None, Message]] = {
    "good": N_("focus good"),
    "soft": N_("focus soft"),
    None: N_("focus unknown"),
}

HINTS: Final[Mapping[str, Message]] = {
    "camera_setting": N_(
        "The camera did not accept {setting}={wanted} (it uses {taken}): correct the setting or leave it out."
    ),
    "camera_no_tiles": N_(
        "Fewer than three tiles are visible: put a full tray under the camera, face down, and light it."
    ),
    "camera_too_coarse": N_(
        "Too few pixels for {places} places: use a camera of at least {width} x {height}, or larger marks."
    ),
    "camera_too_near": N_("Not all {places} places are in the picture: move the camera about {cm} cm away."),
    "camera_too_far": N_("The marks are too small: move the camera about {cm} cm closer."),
    "camera_tilted": N_("The camera is tilted by {degrees} degrees: point it straight down."),
    "camera_soft": N_("The picture is blurred (edges of {pixels} pixels): focus on the tile backs and lock the focus."),
    "camera_glare": N_(
        "A lamp is reflected {where} ({percent} % of the tiles): move or turn the lamp, or shade it with paper."
    ),
    "camera_bright": N_("The tiles are overexposed: use less light or a shorter exposure."),
    "camera_dark": N_("The tiles are too dark: use more light or a longer exposure."),
    "camera_noisy": N_("The picture is noisy: more light helps most."),
    "camera_print": ENROL_SET,
    "camera_enrolled": N_("Many tiles are not like their pictures: is it this set? If so, enrol it again."),
}

WHERE: Final[Mapping[str, Message]] = {
    "top_left": N_("at the top left"),
    "top": N_("at the top"),
    "top_right": N_("at the top right"),
    "left": N_("on the left"),
    "middle": N_("in the middle"),
    "right": N_("on the right"),
    "bottom_left": N_("at the bottom left"),
    "bottom": N_("at the bottom"),
    "bottom_right": N_("at the bottom right"),
}


def hint_text(_: Translator, hint: MountingHint) -> str:
    """Return the sentence of a hint."""
    names = dict(hint.names)
    if "where" in names:
        names["where"] = WHERE[str(names["where"])]
    return _(HINTS[hint.code], **names)


@dataclass(frozen=True, slots=True)
class MountingReport:
    """The report on one picture: its name or number, the measurements, and what to change."""

    name: str
    measures: MountingMeasures
    hints: tuple[MountingHint, ...]


def mounting_line(report: MountingReport, setup: MountingSetup, _: Translator) -> dict[str, Any]:
    """Return the object that `homologue camera --json` prints for one report."""
    seen, pose = report.measures, report.measures.pose
    return {
        "picture": report.name,
        "size": list(seen.size),
        "tiles": seen.tiles,
        "pixels_per_mm": _round(pose.pixels_per_mm if pose else None, 2),
        "tilt": _round(pose.tilt if pose else None, 1),
        "distance_mm": _round(pose.distance_mm if pose else None, 0),
        "edge_px": _round(seen.edge, 2),
        "focus": judge_focus(seen, setup),
        "glare": _round(seen.glare.share, 4),
        "glare_at": [_round(share, 3) for share in seen.glare.at] if seen.glare.at else None,
        "level": _round(seen.light.level, 0),
        "noise": _round(seen.light.noise, 2),
        "fits": {str(places): fits_in_picture(seen, setup, places) for places in (TRAY, CARRIER)},
        "hints": [{"code": hint.code, "message": hint_text(_, hint)} for hint in report.hints],
    }


def mounting_error_line(name: str, lost: CameraLost) -> dict[str, Any]:
    """Return the object that `homologue camera --json` prints if there is no picture."""
    return {"picture": name, "error": {"code": lost.code, "message": lost.message}}


def mounting_text(report: MountingReport, setup: MountingSetup, _: Translator) -> str:
    """Return a line of figures, and a line for each thing to change."""
    hints = [f"  {hint.code}: {hint_text(_, hint)}" for hint in report.hints]
    return "\n".join([f"{report.name}: {mounting_figures(report, setup, _)}", *(hints or ["  " + _("all fine")])])


def mounting_figures(report: MountingReport, setup: MountingSetup, _: Translator) -> str:
    """Return all figures in one line, with a dash for those that could not be measured."""
    seen, pose = report.measures, report.measures.pose
    parts = [
        f"{pose.pixels_per_mm:.1f} px/mm" if pose else "- px/mm",
        f"{pose.tilt:.0f}°" if pose else "-°",
        _(FOCUS[judge_focus(seen, setup)]) + (f" ({seen.edge:.1f} px)" if seen.edge else ""),
        _("glare {percent} %", percent=f"{100 * seen.glare.share:.1f}"),
        _("light {level}, noise {noise}", level=round(seen.light.level), noise=f"{seen.light.noise:.1f}"),
    ]
    fits = [
        _(N_("{places} fit") if fits_in_picture(seen, setup, places) else N_("{places} do not fit"), places=places)
        for places in ((TRAY, CARRIER) if pose else ())
    ]
    return " | ".join([*parts, *fits])


def fits_in_picture(measures: MountingMeasures, setup: MountingSetup, places: int) -> bool | None:
    """Return whether this many places fit into the picture at its scale; None if the scale is not known."""
    return room_for(places, setup.tile_mm).fits(measures.pose.field_mm) if measures.pose else None


def _round(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


_TILE_MM = (5.0, 100.0)  # no mahjong tile has a shorter or a longer side
_TILE = re.compile(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)")


def _tile_size(_context: click.Context, _option: click.Parameter, value: str) -> tuple[float, float]:
    """Parse a tile's size such as `22x30`: sides of 5 to 100 mm, the shorter one first."""
    found = _TILE.fullmatch(value)
    sides = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    if not _TILE_MM[0] <= sides[0] <= sides[1] <= _TILE_MM[1]:
        raise click.BadParameter(f"{value} is not a tile's width and height in millimetres, such as 22x30")
    return sides


@click.command(short_help="Help to mount a camera: scale, focus, glare, tilt, and what to change.")
@click.argument("address")
@click.option(
    "--tile",
    metavar="WIDTHxHEIGHT",
    default="22x30",
    show_default=True,
    callback=_tile_size,
    help="Size of a tile in mm.",
)
@click.option(
    "--mark", type=click.Choice(["label", "digits"]), default="label", show_default=True, help="Marks on the backs."
)
@click.option(
    "--places", type=click.Choice([str(TRAY), str(CARRIER)]), default=str(TRAY), show_default=True,
    help="Number of places in the picture: those of a tray or of a carrier.",
)  # fmt: skip
@click.option(
    "--set",
    "enrolled_file",
    type=EXISTING_FILE,
    help="File of the set's own pictures: check that it is read with them.",
)
@click.option("--view", type=click.FloatRange(10, 150), help="Horizontal angle of view in degrees, if known.")
@language_option("the messages")
@click.option("--every", type=click.FloatRange(0, 60), default=1.0, show_default=True, help="Seconds between lines.")
@click.option("--frames", type=click.IntRange(1), help="Exit after this many lines.")
@click.option("--once", is_flag=True, help="Take one picture and exit.")
@json_option("Print one JSON object per line.")
@click.option(
    "--overlay",
    type=ANY,
    help="Write each picture with its tiles' serials to this PNG or JPEG file, as `homologue read --overlay` does.",
)
@click.option(
    "--window",
    "in_window",
    is_flag=True,
    help="Show the picture in a window, and the most doubtful tiles with their serials; Escape closes it.",
)
def camera(  # noqa: PLR0913 -- click passes one parameter per option
    address: str, *, tile: tuple[float, float], mark: str, places: str, enrolled_file: Path | None, view: float | None,
    language: str, every: float, frames: int | None, once: bool, as_json: bool, overlay: Path | None, in_window: bool,
) -> None:  # fmt: skip
    """Check how the camera at ADDRESS is mounted: print a line per second with measurements and what to change.

    Put a full tray under it, backs up. ADDRESS is written as in a table's configuration; a folder of pictures works
    too.

    \b
        homologue camera v4l2:/dev/v4l/by-id/usb-camera-index0 --tile 28x38
        homologue camera pictures:shots --once --json
    """
    setup = MountingSetup(tile, MarkKind[mark.upper()], int(places), view)
    try:
        enrolled = read_complete(enrolled_file) if enrolled_file else None
        check_camera_address(address)
        shots = islice(_shots(address, 0.0 if in_window else every, once=once), frames)
        if in_window:
            _in_window(shots, setup, enrolled, language, every if address.startswith("pictures:") else 0.0)
        else:
            for shot in shots:
                click.echo(_line(shot, setup, enrolled, overlay, Translator(language), as_json=as_json))
    except VisionError as error:
        failure = {"error": {"code": error.code, "message": str(error)}}
        click.echo(json.dumps(failure) if as_json else f"{error.code}: {error}", err=not as_json)
        raise click.exceptions.Exit(1) from error


def _shots(address: str, every: float, *, once: bool) -> Iterator[CameraShot]:
    if once:
        yield one_shot(address)
    elif address.startswith("pictures:"):
        yield from folder_shots(address)
    else:
        yield from live_shots(address, every)


def _line(
    shot: CameraShot,
    setup: MountingSetup,
    enrolled: EnrolledSet | None,
    overlay: Path | None,
    _: Translator,
    *,
    as_json: bool,
) -> str:
    if isinstance(shot.picture, CameraLost):
        lost = shot.picture
        text = f"{shot.name}: {lost.code}: {lost.message}"
        return json.dumps(mounting_error_line(shot.name, lost)) if as_json else text
    report, reading = _report_on(shot, shot.picture, setup, enrolled)
    if overlay is not None:
        write_overlay(overlay, shot.name, checked_picture(shot.picture, reading))
    return json.dumps(mounting_line(report, setup, _)) if as_json else mounting_text(report, setup, _)


def _report_on(
    shot: CameraShot, picture: Picture, setup: MountingSetup, enrolled: EnrolledSet | None
) -> tuple[MountingReport, PictureReading]:
    """Measure a picture, and read it."""
    reading = read_picture(picture, enrolled=enrolled)
    seen = measure_mounting(picture, tile_outlines(reading), setup)
    hints = mounting_hints(seen, setup, shot.unmet)
    if not hints and reading.print_to_blame:
        hints = print_hints(setup, enrolled=enrolled is not None)
    return MountingReport(shot.name, seen, hints), reading


def _in_window(
    shots: Iterator[CameraShot], setup: MountingSetup, enrolled: EnrolledSet | None, language: str, pause: float
) -> None:
    from vision.mounting.window import MountingWindow  # noqa: PLC0415 -- text mode needs neither a display nor pygame

    _, window = Translator(language), MountingWindow(language)
    try:
        for shot in shots:
            if isinstance(shot.picture, CameraLost):
                window.show(None, f"{shot.picture.code}: {shot.picture.message}", ())
            else:
                report, reading = _report_on(shot, shot.picture, setup, enrolled)
                hints = [hint_text(_, hint) for hint in report.hints] or [_("all fine")]
                window.show((shot.picture, reading), mounting_figures(report, setup, _), hints)
            if window.closed(pause):
                return
    finally:
        window.close()
