"""The command `homologue labels`: print sheets of labels for the backs of a set."""

import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import click

from broker.console import FILE, json_lines, language_option, say, working
from vision.errors import FileNameError, SerialsInvalidError
from vision.marks.label_code import MODULE_COUNTS
from vision.reading import LAST_SERIAL, LAST_SET
from vision.sheets import registry
from vision.sheets.formats import USUAL_FORMAT, sheet_formats, with_margins
from vision.sheets.label import NUMBER_SIZES, NumberSize
from vision.sheets.registry import RegisteredSet, locked_folder, private_file, registry_bytes
from vision.sheets.sheet import LabelOrder, format_list, labels_pdf

REGISTRY: Final = "sets.json"
MARGIN: Final = click.FloatRange(0, 100)
SCALE: Final = click.FloatRange(95, 105)


def _list_formats(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click passes it by position
    if wanted:
        click.echo(format_list())
        context.exit()


@click.command(short_help="Print labels for the backs of a set.")
@click.option("--set", "number", type=click.IntRange(0, LAST_SET), required=True, help="Number of the set, 0 to 99.")
@click.option("--output", type=FILE, required=True, help="PDF file to write.")
@click.option(
    "--registry",
    type=FILE,
    help=f"Registry of tile sets; a set in it is printed again.  [default: {REGISTRY} beside the PDF]",
)
@click.option("--only", metavar="SERIALS", help="Print only these labels of a registered set: 17,93.")
@click.option(
    "--force", is_flag=True, help="Assign new serials to a registered set; all its existing labels become worthless."
)
@click.option(
    "--format",
    "name",
    type=click.Choice([*sheet_formats()], case_sensitive=False),
    default=USUAL_FORMAT,
    show_default=True,
    help="Sticker sheet to print on.",
)
@click.option(
    "--list-formats",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_formats,
    help="List the formats with their sizes, and exit.",
)
@click.option("--margin-left", type=MARGIN, help="Left edge to first label, in mm [default: the format's].")
@click.option("--margin-top", type=MARGIN, help="Top edge to first label, in mm [default: the format's].")
@click.option("--scale", type=SCALE, default=100, show_default=True, help="Scale in percent, to correct the printer.")
@click.option("--start", type=click.IntRange(1), default=1, show_default=True, help="First unused label on the sheet.")
@click.option(
    "--modules",
    type=click.Choice(MODULE_COUNTS),
    help="Modules across the code; fewer modules are larger.  [default: 12, or 10 on small labels]",
)
@click.option(
    "--number",
    "printed",
    type=click.Choice(NUMBER_SIZES),
    default="small",
    show_default=True,
    help="Printed number. A large one can be read across the table.",
)
@language_option("the sheets")
@json_lines
def labels(  # noqa: PLR0913 - click passes one parameter per option
    *,
    number: int,
    output: Path,
    registry: Path | None,
    only: str | None,
    force: bool,
    name: str,
    margin_left: float | None,
    margin_top: float | None,
    scale: float,
    start: int,
    modules: int | None,
    printed: NumberSize,
    language: str,
) -> None:
    """Print labels for the backs of a set, each face before the labels of its four tiles.

    A set that is not in the registry gets random serials, which are secret. Registry and PDF are readable by their
    owner only. Keep a copy of the registry: without it the labels are worthless.

    \b
    homologue labels --set 3 --output sheet.pdf
    homologue labels --set 3 --output lost.pdf --registry sets.json --only 17,93 --start 171
    homologue labels --list-formats
    """
    if only is not None and force:
        raise click.UsageError("--only prints labels of a set again, --force draws it anew: one or the other.")
    path = registry or output.parent / REGISTRY
    serials = _serials(only)
    _refuse_names(output, path)
    sheet = with_margins(sheet_formats()[name], margin_left, margin_top, scale / 100)
    with locked_folder(path.parent), ExitStack() as written:
        known = _registered(path, number, must_exist=registry is not None, only=bool(serials), force=force)
        faces = {serial: face for serial, face in known.faces.items() if serial in serials or not serials}
        with working("Drawing labels"):
            pdf = labels_pdf(LabelOrder(number, faces, sheet, modules, printed, language, start, scale / 100))
        written.enter_context(private_file(output, pdf))
        if known.registry is not None:
            written.enter_context(private_file(path, registry_bytes(known.registry)))
    say(_announce(number, path, output, known), set=number, file=output, registry=path, new=known.registry is not None)


def _refuse_names(output: Path, registry: Path) -> None:
    """Raise FileNameError unless the suffixes are right, so that the PDF never overwrites the registry."""
    if output.suffix.lower() != ".pdf" or registry.suffix.lower() == ".pdf":
        raise FileNameError("the labels must be written to a .pdf file, and the registry to another kind of file")


def _serials(only: str | None) -> frozenset[int]:
    """Parse serials such as `17,93`; none if `only` is None. Raises SerialsInvalidError."""
    if only is None:
        return frozenset()
    words = [word.strip() for word in only.split(",")]
    serials = {str(serial): serial for serial in range(1, LAST_SERIAL + 1)}
    wrong = [word[:12] for word in words if word.lstrip("0") not in serials]
    if wrong:
        raise SerialsInvalidError(f"{', '.join(map(repr, wrong))}: serials are 1 to {LAST_SERIAL}, with commas between")
    return frozenset(serials[word.lstrip("0")] for word in words)


def _registered(path: Path, number: int, *, must_exist: bool, only: bool, force: bool) -> RegisteredSet:
    if only or (must_exist and not force and registry.has_set(path, number)):
        return registry.registered_set(path, number)
    return registry.draw_new_set(path, number, secrets.SystemRandom(), force=force)


def _announce(number: int, registry: Path, output: Path, registered: RegisteredSet) -> str:
    if registered.registry is None:
        return f"Labels of set {number}, as {registry} has them: {output}. Secret."
    keep = "Both are secret. Copy the registry: if it is lost, these labels are worthless."
    return f"Set {number} is new, drawn at random into {registry}; its labels: {output}. {keep}"
