import cv2
import numpy as np

from tests.vision.marks.drawn_labels import Drawn, lay, spoil
from vision.geometry import Picture, Quad
from vision.marks.label_style import is_labelled, is_labelled_closely
from vision.payload import Payload


def _labelled() -> tuple[Picture, list[Quad]]:
    return lay([Drawn(Payload(8, serial), turned=serial % 3 == 0) for serial in range(1, 35)])


def _printed() -> tuple[Picture, list[Quad]]:
    picture, quads = lay([None] * 34)
    for serial, quad in enumerate(quads, start=1):
        middle = quad.mean(axis=0)
        at = (round(middle[0]) - 32, round(middle[1]) + 12)
        cv2.putText(picture, f"{serial:03d}", at, cv2.FONT_HERSHEY_SIMPLEX, 1.1, (240, 240, 240), 3, cv2.LINE_AA)
    return picture, quads


def test_labels_are_told_from_printed_numbers() -> None:
    assert is_labelled(*_labelled())
    assert not is_labelled(*_printed())


def test_a_closer_look_tells_labels_that_blur_hides() -> None:
    picture, quads = _labelled()
    blurred = spoil(picture, blur=2.0)
    assert not is_labelled(blurred, quads)
    assert is_labelled_closely(blurred, quads)
    assert not is_labelled_closely(*_printed())


def test_without_tiles_there_are_no_labels() -> None:
    nothing = np.zeros((4, 4), dtype=np.uint8)
    assert not is_labelled(nothing, [])
    assert not is_labelled_closely(nothing, [])
