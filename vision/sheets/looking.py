"""From a picture to what `set check` counts: the one place that asks the reader."""

from pathlib import Path

from vision.picture import load_picture
from vision.reader import read_picture
from vision.sheets.completeness import Look, Tile


def look_at(path: Path) -> Look:
    """Read a picture of any part of a set. Raises PictureError."""
    reads = read_picture(load_picture(path)).reads
    said = [(read, read.serial or read.clash) for read in reads]  # two tiles of one serial are what is looked for here
    told = tuple(Tile(read.set, serial) for read, serial in said if serial is not None)
    unread = sum(serial is None and not read.face_up for read, serial in said)
    return Look(told, unread, sum(read.face_up for read in reads))
