"""The command `homologue set check`: check that each tile of a set is there exactly once."""

import json
from pathlib import Path

import click

from broker.console import EXISTING, EXISTING_FILE, json_option
from vision.enrolled.command import enrol_set
from vision.errors import RegistrySetMissingError, VisionError
from vision.picture import load_picture
from vision.reader import read_picture
from vision.sheets.completeness import (
    CheckedPicture,
    PictureTiles,
    SetTile,
    check_object,
    check_text,
    judge_set,
    picture_line,
)
from vision.sheets.registry import FacesBySerial, SetRegistry, read_set_registry


def tiles_in_picture(path: Path) -> PictureTiles:
    """Read a picture of some tiles of a set. Raises PictureError."""
    reads = read_picture(load_picture(path)).reads
    serials = [(read, read.serial or read.clash) for read in reads]  # with repeated serials, which are to be found here
    tiles = tuple(SetTile(read.set, serial) for read, serial in serials if serial is not None)
    unread = sum(serial is None and not read.face_up for read, serial in serials)
    return PictureTiles(tiles, unread, sum(read.face_up for read in reads))


def set_name(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Return a set's name as it is on the backs: two digits, or a letter. Raises BadParameter."""
    if value is None:
        return None
    if value.isascii() and value.isdecimal() and len(value) <= 2:  # noqa: PLR2004 - two digits
        return value.zfill(2)
    if value.isascii() and value.isalpha() and len(value) == 1:
        return value.upper()
    raise click.BadParameter(f"{value!r}: a number from 0 to 99, or a letter")


@click.group(name="set", short_help="Check that a tile set is complete; enrol how its tiles look.")
def set_commands() -> None:
    """Check tile sets, and enrol how their tiles look. Register sets with `homologue deal set` or `homologue labels`.

    \b
    homologue set check heap-1.jpg heap-2.jpg --set 3
    homologue set enrol 3 tray-1.jpg tray-2.jpg tray-3.jpg tray-4.jpg
    """


set_commands.add_command(enrol_set)


@set_commands.command(name="check", short_help="Find missing, double and foreign tiles.")
@click.argument("pictures", metavar="PICTURE...", nargs=-1, required=True, type=EXISTING)
@click.option(
    "--set",
    "named",
    metavar="NAME",
    callback=set_name,
    help="Number or letter of the set [default: the one on most tiles].",
)
@click.option(
    "--registry",
    type=EXISTING_FILE,
    help="Registry of tile sets, to show the (secret) faces of missing and double tiles too.",
)
@json_option()
def check_set(pictures: tuple[Path, ...], named: str | None, registry: Path | None, *, as_json: bool) -> None:
    """Find missing, double and foreign tiles of a set, from pictures of their backs.

    Several pictures may show the same tiles: a serial counts as double only if one picture shows it twice. If a picture
    cannot be read, its error is printed and the next one is read. The exit code is 0 only if all 136 tiles were read,
    none is double and none belongs to another set.

    \b
    homologue set check heap-1.jpg heap-2.jpg --set 3
    homologue set check table-*.jpg --set C --json
    """
    known = read_set_registry(registry) if registry else None
    checked = _checked_pictures(pictures)
    found = judge_set((one.result for one in checked if one.result), named)
    faces = _faces_of(known, found.set)
    click.echo(json.dumps(check_object(found, checked, faces)) if as_json else check_text(found, faces))
    raise click.exceptions.Exit(0 if found.complete else 1)


def _checked_pictures(pictures: tuple[Path, ...]) -> tuple[CheckedPicture, ...]:
    """Read each picture, and report progress on standard error."""
    checked = []
    for at, path in enumerate(pictures, start=1):
        try:
            checked.append(CheckedPicture(path.name, tiles_in_picture(path), None))
        except VisionError as error:
            checked.append(CheckedPicture(path.name, None, error))
        click.echo(f"{at}/{len(pictures)} {picture_line(checked[-1])}", err=True)
    return tuple(checked)


def _faces_of(registry: SetRegistry | None, name: str | None) -> FacesBySerial:
    if registry is None:
        return {}
    if name is None or not name.isdecimal() or int(name) not in registry:
        raise RegistrySetMissingError(f"set {name or 'without a number'} is not in the registry")
    return registry[int(name)]
