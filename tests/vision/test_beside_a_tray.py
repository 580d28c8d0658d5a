"""Whole pictures: a tray of the simulated table, and print beside it."""

import cv2
import pytest

from vision.cameras.addresses import open_camera
from vision.geometry import Picture
from vision.reader import read_picture


def tray() -> Picture:
    with open_camera("sim://tray?deal=3") as camera:
        return camera.frame().copy()


def with_card(picture: Picture, text: str, *, paper: tuple[int, int, int]) -> Picture:
    """Lay a card of a tile's size into the free corner at the top left of the table."""
    card = picture.copy()
    cv2.rectangle(card, (20, 12), (108, 122), paper, -1)
    cv2.putText(card, text, (30, 78), cv2.FONT_HERSHEY_DUPLEX, 1.1, (20, 20, 20), 2, cv2.LINE_AA)
    return card


@pytest.mark.parametrize("paper", [(250, 250, 250), (90, 160, 60)])
def test_a_card_beside_a_tray_of_labels_says_no_serial(paper: tuple[int, int, int]) -> None:
    empty = tray()
    told, with_it = (read_picture(one) for one in (empty, with_card(empty, "117", paper=paper)))
    assert with_it.rows == told.rows
    assert sorted(read.serial or 0 for read in with_it.reads) == sorted(read.serial or 0 for read in told.reads)
    assert [read for read in told.reads if read.serial is None] == []
