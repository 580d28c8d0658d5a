"""RapidOCR with the networks in its wheel, on ONNX Runtime with all cores and default settings.

Whole pictures: detection, orientation, recognition. It joins the numbers of neighbouring tiles to one line, so its
signs are split again at the gaps. Crops: recognition only, all marks of a picture at once.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Final

import numpy as np

from tests.benchmarks.vision.contest import PRINTED, Contestant, NotHereError, serial_of
from tests.benchmarks.vision.crops import cut_lines, upside_down
from tests.benchmarks.vision.judging import Told
from tests.benchmarks.vision.scenes import Scene
from vision.geometry import Picture, Points

_SURE: Final = 0.5  # RapidOCR's own threshold for a text (`text_score`)
_GAP: Final = 1.35  # multiples of the usual step from sign to sign, from which the next tile begins
_SIGNS: Final = 3

Sign = tuple[str, Points]  # and its middle in the picture, shape (2,), pixels
Line = tuple[str, float]  # and RapidOCR's confidence, 0..1


class Rapid:
    """RapidOCR, with its networks loaded on first use."""

    def __init__(self) -> None:
        try:
            self._reader = import_module("rapidocr").RapidOCR(params={"Global.log_level": "error"})
        except ImportError as error:
            raise NotHereError("RapidOCR: the packages rapidocr and onnxruntime are not installed") from error

    def whole(self, scene: Scene) -> list[Told]:
        """Read a whole picture."""
        seen = self._reader(scene.picture, return_word_box=True, return_single_char_box=True)
        told = []
        for line in seen.word_results or ():
            for word in _words([(text, np.mean(box, axis=0)) for text, _, box in line]):
                serial = serial_of("".join(text for text, _ in word))
                if serial is not None:
                    told.append(Told(serial, np.mean([spot for _, spot in word], axis=0)))
        return told

    def upright(self, scene: Scene) -> list[Told]:
        """Read each crop as it is."""
        return _told(scene, self._lines(cut_lines(scene)))

    def surer(self, scene: Scene) -> list[Told]:
        """Read each crop both ways up; prefer a serial, then the higher confidence."""
        crops = cut_lines(scene)
        lines = self._lines([*crops, *map(upside_down, crops)])
        pairs = zip(lines[: len(crops)], lines[len(crops) :], strict=True)
        return _told(scene, [max(pair, key=_rank) for pair in pairs])

    def _lines(self, crops: list[Picture]) -> list[Line]:
        if not crops:
            return []
        seen = self._reader.recognize_txt(crops)
        return list(zip(seen.txts, seen.scores, strict=True))


def contestants() -> list[Contestant]:
    """Return RapidOCR's contestants; raises NotHereError."""
    rapid = Rapid()
    return [
        Contestant("RapidOCR", PRINTED, rapid.whole),
        Contestant("RapidOCR, told which way up", PRINTED, rapid.upright, on_crops=True),
        Contestant("RapidOCR, both ways up", PRINTED, rapid.surer, on_crops=True),
    ]


def _words(signs: Sequence[Sign]) -> list[list[Sign]]:
    """Split a line of signs at gaps wider than usual."""
    spots = np.array([spot for _, spot in signs])
    steps = np.linalg.norm(np.diff(spots, axis=0), axis=1)
    usual = float(np.median(steps)) if len(signs) >= _SIGNS else np.inf
    words: list[list[Sign]] = [[]]
    for sign, step in zip(signs, [0.0, *steps], strict=True):
        if step > _GAP * usual:
            words.append([])
        words[-1].append(sign)
    return words


def _told(scene: Scene, lines: Sequence[Line]) -> list[Told]:
    pairs = zip(scene.marked, map(_serial, lines), strict=True)
    return [Told(serial, tile.middle) for tile, serial in pairs if serial is not None]


def _rank(line: Line) -> tuple[bool, float]:
    return _serial(line) is not None, line[1]


def _serial(line: Line) -> int | None:
    text, sure = line
    return serial_of("".join(text.split())) if sure >= _SURE else None
