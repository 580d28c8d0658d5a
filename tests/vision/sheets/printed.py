"""Printed sheets as pictures: PDFs rendered, read and measured."""

import io
import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
import pypdfium2

from vision.geometry import Picture, Points, Quad
from vision.marks.label import decode_labels
from vision.sheets.formats import sheet_formats
from vision.sheets.registry import draw_faces
from vision.sheets.sheet import LabelOrder

MM: Final = 72 / 25.4
"""Points per millimetre."""

PRINTED_FACES: Final = draw_faces(random.Random(4))


def labels(name: str = "avery-l4730", **changed: Any) -> LabelOrder:  # noqa: ANN401 - any field
    """Return labels of set 3, all of them by default."""
    return LabelOrder(**{"set": 3, "faces": PRINTED_FACES, "sheet": sheet_formats()[name], **changed})


def pages(pdf: bytes) -> int:
    """Count pages."""
    with pypdfium2.PdfDocument(io.BytesIO(pdf)) as document:
        return len(document)


def render(pdf: bytes, page: int, dots: float = 200) -> Picture:
    """Render a page, counted from 0, in grey, shape (height, width), with this many dots per inch."""
    with pypdfium2.PdfDocument(io.BytesIO(pdf)) as document:
        drawn = document[page].render(scale=dots / 72).to_numpy()
    return np.asarray(cv2.cvtColor(drawn, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


@dataclass(frozen=True)
class Label:
    """A label that was read: its number of modules, and its corners, pixels."""

    modules: int
    quad: Quad

    @property
    def centre(self) -> Points:
        """The middle of the DataMatrix, shape (2,), pixels."""
        return np.asarray(self.quad.mean(axis=0))


def read(picture: Picture) -> dict[int, Label]:
    """Read a rendered page with our own reader; return the labels of set 3 by serial."""
    decoded = [one for one in decode_labels(picture, local=False) if one[0].set == 3]
    assert len({payload for payload, _, _ in decoded}) == len(decoded)
    return {payload.serial: Label(modules, quad) for payload, modules, quad in decoded}


def texts_in(pdf: bytes, page: int, boxes: Iterable[tuple[float, float, float, float]]) -> list[str]:
    """Return the text inside boxes: left, top, width, height in millimetres from the page's top left corner."""
    with pypdfium2.PdfDocument(io.BytesIO(pdf)) as document:
        height = document[page].get_height()
        text = document[page].get_textpage()
        return [
            text.get_text_bounded(MM * left, height - MM * (top + high), MM * (left + wide), height - MM * top)
            for left, top, wide, high in boxes
        ]
