"""Labels that zxing decodes in the whole picture, and on which tile each lies: quick, and most labels of most pictures.

A chance decode is out of the question: Reed-Solomon accepts one random grid in 600,000 (10 modules; far fewer with 12
and 14), and one in 1,200 of those says a set and a serial of 1..136: 1 in 700 million a try.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import zxingcpp

from vision.geometry import UNIT_SQUARE, Picture, Quad, diagonal_crossing, project
from vision.marks.label_patch import Kind
from vision.payload import Payload, module_count, parse_payload

_GLOBAL = zxingcpp.Binarizer.GlobalHistogram
_LOCAL = zxingcpp.Binarizer.LocalAverage
_ENOUGH = 3  # decodes that tell how a picture's labels look


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """A decoded label on its tile: `turned` None where it stands on its side."""

    payload: Payload
    kind: Kind
    turned: bool | None


def as_grey(picture: Picture) -> Picture:
    """Give a picture, BGR or grey, in grey."""
    colours = picture.shape[2:]
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8) if colours else picture


def find_hits(grey: Picture, quads: Sequence[Quad]) -> tuple[dict[int, Hit], set[int]]:
    """Decode a whole grey picture; give hits by their quad's place in `quads`, and the quads that hold two labels."""
    decoded = decode_labels(grey, local=False)
    if len(decoded) < min(_ENOUGH, len(quads)):
        decoded += decode_labels(grey, local=True)
    return _assign(decoded, quads)


def decode_labels(grey: Picture, *, local: bool) -> list[tuple[Payload, int, Quad]]:
    """Decode a grey picture by a global or a local threshold; give what each label says, its modules and corners."""
    found = zxingcpp.read_barcodes(
        np.ascontiguousarray(grey),
        formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.DataMatrix),
        try_downscale=False,
        try_invert=False,
        binarizer=_LOCAL if local else _GLOBAL,
    )
    decoded = []
    for barcode in found:
        payload = parse_payload(barcode.text)
        if payload is not None:
            at = barcode.position
            corners = [[p.x, p.y] for p in (at.top_left, at.top_right, at.bottom_right, at.bottom_left)]
            decoded.append((payload, module_count(barcode.text), np.array(corners, dtype=np.float64)))
    return decoded


def _assign(decoded: list[tuple[Payload, int, Quad]], quads: Sequence[Quad]) -> tuple[dict[int, Hit], set[int]]:
    hits: dict[int, Hit] = {}
    refuted = set()
    centres = np.array([diagonal_crossing(quad) for quad in quads])
    for payload, count, corners in decoded:
        nearest = int(np.argmin(np.linalg.norm(centres - corners.mean(axis=0), axis=1)))
        hit = _on_tile(payload, count, corners, quads[nearest])
        if hit is None:
            continue
        if nearest in hits and hits[nearest].payload != payload:
            refuted.add(nearest)
        hits[nearest] = hit
    return {at: hit for at, hit in hits.items() if at not in refuted}, refuted


def _on_tile(payload: Payload, count: int, corners: Quad, quad: Quad) -> Hit | None:
    """See where a decoded DataMatrix lies on a tile; None where it lies beside it."""
    to_tile = cv2.getPerspectiveTransform(quad.astype(np.float32), UNIT_SQUARE.astype(np.float32))
    on_tile = project(np.asarray(to_tile, dtype=np.float64), corners) - 0.5
    if not np.all(np.abs(on_tile) <= 0.5):  # noqa: PLR2004 - a tile reaches half its width from its centre
        return None
    right, down = on_tile[1] + on_tile[2] - on_tile[0] - on_tile[3], on_tile[2] + on_tile[3] - on_tile[0] - on_tile[1]
    size = np.array([np.abs(right[0]), np.abs(down[1])]) / 2
    if abs(right[0]) < abs(right[1]):
        return Hit(payload, Kind(count, np.full(2, np.nan), size), None)
    turned = bool(right[0] < 0)
    middle = on_tile.mean(axis=0)
    return Hit(payload, Kind(count, -middle if turned else middle, size), turned)
