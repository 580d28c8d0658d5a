"""Tesseract, in this process through tesserocr, with its English network (LSTM).

Whole pictures: sparse text (page segmentation 11); words of the form 117 or C117 count. Crops: one line (7), digits and
capitals only, the mark enlarged to 48 pixels per line with a margin; the last three digits count.
"""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

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
_PER_INCH: Final = 300  # else Tesseract guesses, and logs that for each crop

Line = tuple[str, float]  # and Tesseract's confidence, 0..100


class Tesseract:
    """A configured Tesseract: `mode` names a page segmentation, `signs` the allowed characters."""

    def __init__(self, mode: str, signs: str) -> None:
        try:
            self._library = import_module("tesserocr")
        except ImportError as error:
            raise NotHereError("Tesseract: the package tesserocr is not installed") from error
        trained = sorted(_FOLDER.glob("*/tessdata/eng.traineddata"))
        if not trained:
            raise NotHereError("Tesseract: its English network is missing (sudo apt-get install tesseract-ocr-eng)")
        self._reader = self._library.PyTessBaseAPI(path=str(trained[-1].parent), lang="eng")
        self._reader.SetPageSegMode(getattr(self._library.PSM, mode))
        self._reader.SetVariable("tessedit_char_whitelist", signs)

    def whole(self, scene: Scene) -> list[Told]:
        """Read a whole picture."""
        self._show(scene.picture)
        self._reader.Recognize()
        words = [(serial_of(text), box) for text, box in self._words()]
        return [Told(serial, np.array(box).reshape(2, 2).mean(axis=0)) for serial, box in words if serial is not None]

    def upright(self, scene: Scene) -> list[Told]:
        """Read each crop as it is."""
        return _told(scene, self._line)

    def surer(self, scene: Scene) -> list[Told]:
        """Read each crop both ways up; prefer a serial, then the higher confidence."""
        return _told(scene, lambda crop: max(self._line(crop), self._line(upside_down(crop)), key=_rank))

    def _words(self) -> list[tuple[str, tuple[int, int, int, int]]]:
        level = self._library.RIL.WORD
        found = self._library.iterate_level(self._reader.GetIterator(), level)
        return [(word.GetUTF8Text(level), word.BoundingBox(level)) for word in found if not word.Empty(level)]

    def _line(self, crop: Picture) -> Line:
        self._show(crop)
        return self._reader.GetUTF8Text(), self._reader.MeanTextConf()

    def _show(self, picture: Picture) -> None:
        grey = np.ascontiguousarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))
        self._reader.SetImageBytes(grey.tobytes(), grey.shape[1], grey.shape[0], 1, grey.shape[1])
        self._reader.SetSourceResolution(_PER_INCH)


def contestants() -> list[Contestant]:
    """Return Tesseract's contestants; raises NotHereError."""
    sparse, line = Tesseract("SPARSE_TEXT", ""), Tesseract("SINGLE_LINE", _SIGNS)
    return [
        Contestant("Tesseract", PRINTED, sparse.whole),
        Contestant("Tesseract, told which way up", PRINTED, line.upright, on_crops=True),
        Contestant("Tesseract, both ways up", PRINTED, line.surer, on_crops=True),
    ]


def _told(scene: Scene, read: Callable[[Picture], Line]) -> list[Told]:
    pairs = [(tile, _serial(read(crop))) for tile, crop in zip(scene.marked, cut_lines(scene), strict=True)]
    return [Told(serial, tile.middle) for tile, serial in pairs if serial is not None]


def _rank(line: Line) -> tuple[bool, float]:
    return _serial(line) is not None, line[1]


def _serial(line: Line) -> int | None:
    tail = _TAIL.search("".join(line[0].split()))
    return serial_of(tail[0]) if tail else None
