"""zxing-cpp on labels: the whole picture once, and the DataMatrix of each tile along its true corners.

Crops have a white margin of two modules. One try: six pixels per module and the local binariser. Five tries: two to
eight pixels per module and both binarisers, until one decodes. Texts count that are our payloads.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import cv2
import numpy as np
import zxingcpp

from tests.benchmarks.vision.contest import LABELS, Contestant
from tests.benchmarks.vision.crops import cut_flat
from tests.benchmarks.vision.judging import Told
from tests.benchmarks.vision.scenes import Scene, Tile
from vision.geometry import Picture, Points
from vision.marks.label_code import parse_payload

_MODULES: Final = 14  # most modules of our labels; smaller labels are enlarged a little
_AIR: Final = 2
_LOCAL: Final = zxingcpp.Binarizer.LocalAverage
_GLOBAL: Final = zxingcpp.Binarizer.GlobalHistogram
_ONCE: Final = ((6, _LOCAL),)  # pixels per module, binariser
_FIVE: Final = (*_ONCE, (4, _GLOBAL), (8, _LOCAL), (2, _GLOBAL), (8, _GLOBAL))

Try = tuple[int, zxingcpp.Binarizer]


def contestants() -> list[Contestant]:
    """Return zxing-cpp's contestants."""
    return [
        Contestant("zxing-cpp", LABELS, _whole),
        Contestant("zxing-cpp, one try", LABELS, partial(_crops, _ONCE), on_crops=True),
        Contestant("zxing-cpp, five tries", LABELS, partial(_crops, _FIVE), on_crops=True),
    ]


def _whole(scene: Scene) -> list[Told]:
    return _decode(_grey(scene.picture), _LOCAL)


def _crops(tries: Sequence[Try], scene: Scene) -> list[Told]:
    grey = _grey(scene.picture)
    told = []
    for tile in scene.marked:
        found = next(filter(None, (_try(grey, tile, one) for one in tries)), [])
        told += [Told(one.serial, tile.middle) for one in found[:1]]
    return told


def _try(grey: Picture, tile: Tile, one: Try) -> list[Told]:
    pixels, binariser = one
    quad = tile.mark_quad if tile.mark_quad is not None else tile.quad
    return _decode(cut_flat(grey, quad, (_MODULES * pixels, _MODULES * pixels), _AIR * pixels), binariser)


def _decode(grey: Picture, binariser: zxingcpp.Binarizer) -> list[Told]:
    formats = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.DataMatrix)
    found = zxingcpp.read_barcodes(grey, formats=formats, binarizer=binariser)
    payloads = [(parse_payload(code.text), code.position) for code in found]
    return [Told(payload.serial, _middle(position)) for payload, position in payloads if payload is not None]


def _middle(position: zxingcpp.Position) -> Points:
    corners = (position.top_left, position.top_right, position.bottom_right, position.bottom_left)
    return np.asarray(np.mean([[corner.x, corner.y] for corner in corners], axis=0))


def _grey(picture: Picture) -> Picture:
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
