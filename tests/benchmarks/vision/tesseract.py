"""Tesseract, in this process through tesserocr: its English network (LSTM), page segmentation as it is meant for the task.

Whole pictures: sparse text (11), words of the form 117 or C117 count. Crops: one line (7), digits and capitals only,
the mark enlarged to 48 pixels a line with air about it; the last three digits count.
"""

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from tests.benchmarks.vision.contest import PRINTED, Contestant, NotHereError, serial_of
from tests.benchmarks.vision.crops import cut_lines, upside_down
from tests.benchmarks.vision.judging import Told
from tests.benchmarks.vision.scenes import Scene
from vision.geometry import Picture

_FOLDER: Final = Path("/usr/share/tesseract-ocr")
_SIGNS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TAIL: Final = re.compile(r"[0-9]{3}$")

Word = tuple[str, float]  # and how sure Tesseract is of it, 0..100


def contestants() -> list[Contestant]:
    """Give Tesseract's entries; raises NotHereError."""
    sparse, line = _started("SPARSE_TEXT", ""), _started("SINGLE_LINE", _SIGNS)
    return [
        Contestant("Tesseract", PRINTED, partial(_whole, sparse)),
        Contestant("Tesseract, told which way up", PRINTED, partial(_crops, _upright(line)), on_crops=True),
        Contestant("Tesseract, both ways up", PRINTED, partial(_crops, _surer(line)), on_crops=True),
    ]


def _started(mode: str, signs: str) -> Any:
    try:
        tesserocr = import_module("tesserocr")
    except ImportError as error:
        raise NotHereError("Tesseract: the package tesserocr is not installed") from error
    trained = sorted(_FOLDER.glob("*/tessdata/eng.traineddata"))
    if not trained:
        raise NotHereError("Tesseract: its English network is missing (sudo apt-get install tesseract-ocr-eng)")
    reader = tesserocr.PyTessBaseAPI(path=str(trained[-1].parent), lang="eng")
    reader.SetPageSegMode(getattr(tesserocr.PSM, mode))
    reader.SetVariable("tessedit_char_whitelist", signs)
    return reader


def _whole(reader: Any, scene: Scene) -> list[Told]:
    _show(reader, scene.picture)
    reader.Recognize()
    words = [(serial_of(text), box) for text, box in _words(reader)]
    return [Told(serial, np.array(box).reshape(2, 2).mean(axis=0)) for serial, box in words if serial is not None]


def _words(reader: Any) -> list[tuple[str, tuple[int, int, int, int]]]:
    tesserocr = import_module("tesserocr")
    level = tesserocr.RIL.WORD
    found = tesserocr.iterate_level(reader.GetIterator(), level)
    return [(word.GetUTF8Text(level), word.BoundingBox(level)) for word in found if not word.Empty(level)]


def _crops(read: Callable[[Picture], Word], scene: Scene) -> list[Told]:
    told = []
    for tile, line in zip(scene.marked, cut_lines(scene), strict=True):
        text, _ = read(line)
        serial = _last_three(text)
        if serial is not None:
            told.append(Told(serial, tile.middle))
    return told


def _last_three(text: str) -> int | None:
    tail = _TAIL.search("".join(text.split()))
    return serial_of(tail[0]) if tail else None


def _upright(reader: Any) -> Callable[[Picture], Word]:
    return partial(_read_line, reader)


def _surer(reader: Any) -> Callable[[Picture], Word]:
    """Read a crop both ways up; what names a serial goes before what does not, then what Tesseract is surer of."""

    def read(crop: Picture) -> Word:
        words = (_read_line(reader, crop), _read_line(reader, upside_down(crop)))
        return max(words, key=lambda word: (_last_three(word[0]) is not None, word[1]))

    return read


def _read_line(reader: Any, crop: Picture) -> Word:
    _show(reader, crop)
    return reader.GetUTF8Text(), reader.MeanTextConf()


def _show(reader: Any, picture: Picture) -> None:
    grey = np.ascontiguousarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))
    reader.SetImageBytes(grey.tobytes(), grey.shape[1], grey.shape[0], 1, grey.shape[1])
    reader.SetSourceResolution(300)  # it would guess, and say so for each crop
