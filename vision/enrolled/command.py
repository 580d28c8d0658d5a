"""The command `homologue set enrol`: take the pictures of a set from files, or step by step with a camera."""

import json
from pathlib import Path

import click

from broker.console import EXISTING, EXISTING_FOLDER, json_option, language_option, report
from broker.i18n import N_, Translator
from vision.cameras.addresses import check_camera_address
from vision.cameras.feed import CameraLost, one_shot
from vision.enrolled.enrolment import TRAYS, Doubt, enrol_tray, serials_of_tray
from vision.enrolled.file import EnrolledSet, enrolled_file, read_enrolled, write_enrolled
from vision.errors import CameraUnpluggedError, EnrolError, EnrolledInvalidError, EnrolledMissingError
from vision.picture import load_picture
from vision.reading import LAST_SET, TILES

LAY = N_("Tray {tray}: lay serials {first} to {last} in order, backs up: rows of 13, 11 and 10, each from its left.")
READY = N_("Press Enter when nothing covers the tray.")
AGAIN = N_("Tray {tray}: these tiles (row-place) were not seen well; photograph the tray again: {tiles}")
DONE = N_("Tray {tray}: all 34 tiles are enrolled.")
MISSING = N_("These serials have no picture yet: {serials}")
COMPLETE = N_("Set {set} is enrolled: {file}. Open it: is each serial below its own tile?")


@click.command(name="enrol", short_help="Photograph a set's tiles once, so that reads are checked against them.")
@click.argument("number", metavar="SET", type=click.IntRange(0, LAST_SET))
@click.argument("pictures", metavar="[PICTURE...]", nargs=-1, type=EXISTING)
@click.option(
    "--folder",
    type=EXISTING_FOLDER,
    default=Path(),
    help="Folder in which set-NN.jpg is written or continued [default: current folder].",
)
@click.option(
    "--tray", "first", type=click.IntRange(1, TRAYS), default=1, show_default=True, help="Tray of the first picture."
)
@click.option(
    "--camera", "address", help="Take the pictures with this camera, step by step; complete trays are skipped."
)
@language_option("the messages")
@json_option("Print one JSON object per tray.")
def enrol_set(
    number: int,
    pictures: tuple[Path, ...],
    *,
    folder: Path,
    first: int,
    address: str | None,
    language: str,
    as_json: bool,
) -> None:
    """Photograph all 136 tiles of a set once: afterwards each read is checked against the tile's own picture.

    Numbers that are worn, unusual, handwritten or without leading zeros can then be read. Lay the tiles in order of
    their serials, backs up: 1 to 34 in the first tray (rows of 13, 11 and 10), 35 to 68 in the second, and so on.
    Finished trays are kept; a tray that is photographed again gets new pictures. The exit code is 0 only if all 136
    tiles are enrolled.

    \b
    homologue set enrol 3 tray-1.jpg tray-2.jpg tray-3.jpg tray-4.jpg --folder my-cup
    homologue set enrol 3 again.jpg --tray 2 --folder my-cup
    homologue set enrol 3 --camera v4l2:/dev/video0 --folder my-cup
    """
    if bool(pictures) == bool(address):
        raise click.UsageError("give pictures, or --camera")
    if first + len(pictures) - 1 > TRAYS:
        raise click.UsageError(f"a set has {TRAYS} trays")
    progress = _Progress(enrolled_file(folder, number), Translator(language), as_json=as_json)
    enrolled = _read_or_new(progress.path, number)
    if address:
        enrolled = _guided(enrolled, address, progress)
    for tray, picture in enumerate(pictures, start=first):
        enrolled, doubts = enrol_tray(enrolled, load_picture(picture), tray)
        progress.tray(enrolled, tray, doubts)
    progress.summary(enrolled)
    raise click.exceptions.Exit(1 if enrolled.missing else 0)


def _read_or_new(path: Path, number: int) -> EnrolledSet:
    """Return the set as far as it is enrolled. Raises EnrolledInvalidError for a file of another kind or set."""
    try:
        enrolled = read_enrolled(path)
    except EnrolledMissingError:
        return EnrolledSet(number, None, {})
    if enrolled.number != number:
        raise EnrolledInvalidError(f"{path.name} holds pictures of set {enrolled.number}")
    return enrolled


def _guided(enrolled: EnrolledSet, address: str, progress: "_Progress") -> EnrolledSet:
    """Ask for each tray that lacks pictures until it is complete. Raises CameraError."""
    check_camera_address(address)
    for tray in range(1, TRAYS + 1):
        while set(serials_of_tray(tray).values()) & set(enrolled.missing):
            progress.ask(tray)
            picture = one_shot(address).picture
            if isinstance(picture, CameraLost):
                raise CameraUnpluggedError(picture.message)
            try:
                enrolled, doubts = enrol_tray(enrolled, picture, tray)
            except EnrolError as error:
                report(error, f"tray {tray}")
                continue
            progress.tray(enrolled, tray, doubts)
    return enrolled


class _Progress:
    """Saves the set as it is enrolled, and reports progress as text or JSON."""

    def __init__(self, path: Path, _: Translator, *, as_json: bool) -> None:
        self.path, self._, self._json = path, _, as_json

    def ask(self, tray: int) -> None:
        """Tell which tiles to lay in the tray, and wait for Enter."""
        serials = list(serials_of_tray(tray).values())
        click.echo(self._(LAY, tray=tray, first=f"{serials[0]:03d}", last=f"{serials[-1]:03d}"), err=self._json)
        click.prompt(self._(READY), default="", show_default=False, prompt_suffix="", err=self._json)

    def tray(self, enrolled: EnrolledSet, tray: int, doubts: tuple[Doubt, ...]) -> None:
        """Save a tray, and list the tiles that must be photographed again."""
        write_enrolled(self.path, enrolled)
        if self._json:
            again = [{"serial": doubt.serial, "row": doubt.row, "col": doubt.col} for doubt in doubts]
            click.echo(json.dumps({"tray": tray, "enrolled": TILES - len(doubts), "again": again}))
            return
        _, tiles = self._, ", ".join(f"{doubt.serial:03d} ({doubt.row + 1}-{doubt.col + 1})" for doubt in doubts)
        click.echo(_(AGAIN, tray=tray, tiles=tiles) if doubts else _(DONE, tray=tray))

    def summary(self, enrolled: EnrolledSet) -> None:
        """Report whether the set is complete."""
        if self._json:
            done = {"set": enrolled.number, "file": str(self.path), "missing": list(enrolled.missing)}
            click.echo(json.dumps(done))
            return
        _, serials = self._, ", ".join(f"{serial:03d}" for serial in enrolled.missing)
        complete = _(COMPLETE, set=enrolled.number, file=self.path)
        click.echo(_(MISSING, serials=serials) if enrolled.missing else complete)
