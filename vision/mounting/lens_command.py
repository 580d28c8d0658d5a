"""The command `homologue lens`: measure a camera's lens step by step, so that its pictures can be straightened."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import cv2

from broker.console import FILE, json_option, language_option, report
from broker.errors import reason
from broker.files import write_file
from broker.i18n import N_, Translator
from vision.cameras.addresses import check_camera_address
from vision.cameras.feed import CameraLost, CameraShot, folder_shots, one_shot
from vision.cameras.lens import MeasuredLens, draw_chart, find_chart, measure_lens, split_lens, unseen_ninths, with_lens
from vision.errors import CameraUnpluggedError, LensChartError, TableFileError, UnwritableError
from vision.geometry import Points
from vision.mounting.command import WHERE

PUT = N_("Picture {number}: put the chart flat and whole into the picture, {where}.")
READY = N_("Press Enter when nothing moves.")
MEASURED = N_("Lens measured: straight lines were {before} pixels off, and are now {after}.")
WRITTEN = N_("Written to {file}. Restart the table’s program.")
COPY = N_("Write this address as `camera` into the table’s configuration: {address}")
CHART = N_("Chart written to {file}: print it at any size, or show it on a flat screen.")

_CAMERA = re.compile(r"""^(\s*camera\s*=\s*)(?:"[^"\n]*"|'[^'\n]*')""", re.MULTILINE)
_MOST = 60  # pictures


@click.command(short_help="Measure a camera's lens once, so that its pictures are straightened.")
@click.argument("address", required=False)
@click.option("--table", type=FILE, help="Configuration of a table: measure its camera, and write the lens there.")
@click.option("--chart", type=FILE, help="Write the chart to this PNG file, and exit.")
@language_option("the messages")
@json_option("Print one JSON object.")
def lens(address: str | None, *, table: Path | None, chart: Path | None, language: str, as_json: bool) -> None:
    """Measure how the lens of the camera at ADDRESS bends straight lines, from pictures of a chart.

    Stop the table's program first. Move the chart where the command says until it has covered the whole picture.
    Measure again if the lens, its focus or its zoom changes. A folder of such pictures works too.

    \b
    homologue lens --chart chart.png
    homologue lens --table /etc/homologue/table.toml
    homologue lens v4l2:/dev/video0
    """
    if sum(one is not None for one in (address, table, chart)) != 1:
        raise click.UsageError("give one of: an address, --table, --chart")
    _ = Translator(language)
    if chart is not None:
        _write_chart(chart)
        click.echo(json.dumps({"chart": str(chart)}) if as_json else _(CHART, file=chart))
        return
    camera = split_lens(check_camera_address(table_camera(table) if table is not None else str(address)))[0]
    found = _measure(camera, _, as_json=as_json)
    address = with_lens(camera, found.lens)
    if table is not None:
        content = with_table_camera(table.read_text(encoding="utf-8"), address).encode()
        write_file(table, content, table.stat().st_mode & 0o777, exactly=True)
    _report(found, address, table, _, as_json=as_json)


def _report(found: MeasuredLens, address: str, table: Path | None, _: Translator, *, as_json: bool) -> None:
    if as_json:
        line = {"address": address, "lens": str(found.lens), "before_px": found.before, "after_px": found.after}
        click.echo(json.dumps(line | {"table": None if table is None else str(table)}))
        return
    click.echo(_(MEASURED, before=f"{found.before:.1f}", after=f"{found.after:.1f}"))
    click.echo(_(COPY, address=address) if table is None else _(WRITTEN, file=table))


def _write_chart(path: Path) -> None:
    """Write the chart. Raises UnwritableError."""
    try:
        written = path.suffix.lower() == ".png" and cv2.imwrite(str(path), draw_chart())
    except cv2.error as error:
        raise UnwritableError(f"{path}: {reason(error)}") from error
    if not written:
        raise UnwritableError(f"{path}: the chart must be written to a .png file in an existing folder")


def _measure(address: str, _: Translator, *, as_json: bool) -> MeasuredLens:
    """Take pictures until the chart was seen in all parts of the picture, and measure the lens.

    Raises CameraError, LensChartError, LensUnclearError.
    """
    views: list[Points] = []
    size, unseen = (1, 1), list(WHERE)
    guided = _guided_shots(address, unseen, _, as_json=as_json)
    for shot in folder_shots(address) if address.startswith("pictures:") else guided:
        if isinstance(shot.picture, CameraLost):
            raise CameraUnpluggedError(shot.picture.message)
        here = (shot.picture.shape[1], shot.picture.shape[0])
        if views and here != size:
            raise LensChartError(f"picture {shot.name} has {here[0]} x {here[1]} pixels, others {size[0]} x {size[1]}")
        chart = find_chart(shot.picture)
        if chart is None:
            report(LensChartError("not the whole chart is seen, or not clearly"), shot.name)
            continue
        views, size = [*views, chart], here
        unseen[:] = unseen_ninths(views, size)
    if unseen:
        raise LensChartError(f"the chart was not seen {', '.join(WHERE[where] for where in unseen)} of the picture")
    return measure_lens(views, size)


def _guided_shots(address: str, unseen: list[str], _: Translator, *, as_json: bool) -> Iterator[CameraShot]:
    """Tell where to put the chart and take a picture, until `unseen` is empty."""
    for number in range(1, _MOST + 1):
        click.echo(_(PUT, number=number, where=_(WHERE[unseen[0]])), err=as_json)
        click.prompt(_(READY), default="", show_default=False, prompt_suffix="", err=as_json)
        yield one_shot(address)
        if not unseen:
            return


def table_camera(path: Path) -> str:
    """Return the camera's address in a table's configuration. Raises TableFileError."""
    try:
        devices = tomllib.loads(path.read_text(encoding="utf-8")).get("devices")
    except (OSError, ValueError, RecursionError) as error:
        raise TableFileError(f"{path}: {reason(error)}") from error
    address = devices.get("camera") if isinstance(devices, dict) else None
    if not isinstance(address, str):
        raise TableFileError(f"{path} has no camera in [devices]")
    return address


def with_table_camera(text: str, address: str) -> str:
    """Return a table's configuration with this camera, and nothing else changed. Raises TableFileError."""
    wanted = tomllib.loads(text)
    wanted["devices"]["camera"] = address
    for line in _CAMERA.finditer(text):
        changed = f"{text[: line.start()]}{line[1]}{json.dumps(address)}{text[line.end() :]}"
        if tomllib.loads(changed) == wanted:
            return changed
    raise TableFileError(f"the camera does not stand in a line by itself: write {address!r} there")
