"""`homologue camera`: helps to mount a camera. What it sees, how well, and what to change."""

import json
import re
from collections.abc import Iterator
from itertools import islice

import click

from vision.errors import VisionError
from vision.live.cameras import check_address
from vision.live.feed import CameraLost
from vision.live.mount.hints import hints
from vision.live.mount.looks import Shot, folder_shots, live_shots, one_shot
from vision.live.mount.measures import Setup, measure
from vision.live.mount.needs import CARRIER, TRAY, Mark
from vision.live.mount.report import Look, error_line, figures, look_line, look_text
from vision.live.mount.words import CATALOGUE, Words
from vision.live.outlines import outlines

_TILE_MM = (5.0, 100.0)  # no mahjong tile has a shorter or a longer side
_TILE = re.compile(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)")


def _tile_size(_context: click.Context, _option: click.Parameter, value: str) -> tuple[float, float]:
    """Read `22x30`: a tile's sides of 5 to 100 mm, the shorter one first."""
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
    help="A tile's size in mm.",
)
@click.option(
    "--mark", type=click.Choice(["label", "digits"]), default="label", show_default=True, help="What is on the backs."
)
@click.option(
    "--places", type=click.Choice([str(TRAY), str(CARRIER)]), default=str(TRAY), show_default=True,
    help="How many places should be in the picture: a tray's or a carrier's.",
)  # fmt: skip
@click.option("--view", type=click.FloatRange(10, 150), help="Horizontal angle of the lens in degrees, if known.")
@click.option("--language", type=click.Choice(sorted(CATALOGUE)), default="en", show_default=True)
@click.option("--every", type=click.FloatRange(0, 60), default=1.0, show_default=True, help="Seconds between lines.")
@click.option("--frames", type=click.IntRange(1), help="End after so many lines.")
@click.option("--once", is_flag=True, help="One picture, and end.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--window", "in_window", is_flag=True, help="Show it in a window; Escape ends.")
def camera(  # noqa: PLR0913 -- one parameter an option: click wants it so
    address: str, *, tile: tuple[float, float], mark: str, places: str, view: float | None, language: str,
    every: float, frames: int | None, once: bool, as_json: bool, in_window: bool,
) -> None:  # fmt: skip
    """Look through the camera at ADDRESS and say how it stands and what to change, a line a second.

    Lay a full tray under it, backs up. ADDRESS is written as in a table's configuration; a folder of pictures will do.

    \b
        homologue camera v4l2:/dev/v4l/by-id/usb-camera-index0 --tile 28x38
        homologue camera pictures:shots --once --json
    """  # noqa: D301 -- \b is click's sign that lines stay as they are
    setup = Setup(tile, Mark[mark.upper()], int(places), view)
    try:
        check_address(address)
        shots = islice(_shots(address, 0.0 if in_window else every, once=once), frames)
        if in_window:
            _in_window(shots, setup, language, every if address.startswith("pictures:") else 0.0)
        else:
            for shot in shots:
                click.echo(_line(shot, setup, Words(language), as_json=as_json))
    except VisionError as error:
        refused = {"error": {"code": error.code, "message": str(error)}}
        click.echo(json.dumps(refused) if as_json else f"{error.code}: {error}", err=not as_json)
        raise click.exceptions.Exit(1) from error


def _shots(address: str, every: float, *, once: bool) -> Iterator[Shot]:
    if once:
        yield one_shot(address)
    elif address.startswith("pictures:"):
        yield from folder_shots(address)
    else:
        yield from live_shots(address, every)


def _line(shot: Shot, setup: Setup, words: Words, *, as_json: bool) -> str:
    if isinstance(shot.picture, CameraLost):
        lost = shot.picture
        return json.dumps(error_line(shot.name, lost)) if as_json else f"{shot.name}: {lost.code}: {lost.message}"
    seen = measure(shot.picture, outlines(shot.picture), setup)
    look = Look(shot.name, seen, hints(seen, setup, shot.unmet))
    return json.dumps(look_line(look, setup, words)) if as_json else look_text(look, setup, words)


def _in_window(shots: Iterator[Shot], setup: Setup, language: str, pause: float) -> None:
    from vision.live.mount.window import Window  # noqa: PLC0415 -- text mode needs no display, nor what draws on one

    words, window = Words(language), Window(language)
    try:
        for shot in shots:
            if isinstance(shot.picture, CameraLost):
                window.show(None, (), f"{shot.picture.code}: {shot.picture.message}", ())
            else:
                quads = outlines(shot.picture)
                seen = measure(shot.picture, quads, setup)
                told = hints(seen, setup, shot.unmet)
                line = figures(Look(shot.name, seen, told), setup, words)
                window.show(shot.picture, quads, line, [words.hint(hint) for hint in told] or [words("good")])
            if window.closed(pause):
                return
    finally:
        window.close()
