"""A heap as its screen shows it, without a camera: tiles turned out, seen from straight above."""

import cv2
import numpy as np

from broker.contract.plans import PlannedPlay
from kiosk.eyes import VIEW
from kiosk.heap_view import HeapView
from kiosk.practice.staff import heap
from kiosk.table.restoring.places import deal_of, homes
from vision.geometry import Picture, rectangle
from vision.layout.reads import corners
from vision.reading import Corners, Read, Reading
from vision.twins.scene import draw_scene
from vision.twins.stamps import SCALE, TILE
from vision.twins.world import Loose, View


def drawn_heap(play: PlannedPlay, number: int, size: tuple[int, int] = VIEW) -> Picture:
    """Give what is turned out the so many-th time of a play's tiles (`heap`), with their destinations, BGR.

    `size` (width, height) is the largest, pixels.
    """
    tiles = tuple(heap(play, number))
    reads = tuple(
        Read(one.tile.serial, f"{play.set:02d}", _about(one), 1.0, one.turn, None, None, None) for one in tiles
    )
    ground = draw_scene(View(loose=tiles), seed=1)
    view = HeapView(ground, Reading(reads, ()), homes(deal_of(play.order)), size)
    return view.on(ground, [True for _ in reads])


def _about(one: Loose) -> Corners:
    """Give the corners of a tile, pixels."""
    x, y = (SCALE * at for at in one.at)
    box = rectangle(np.array([x, y]), SCALE * TILE[0], SCALE * TILE[1])
    turned = cv2.transform(box[None], cv2.getRotationMatrix2D((x, y), -one.turn, 1.0))
    return corners(np.asarray(turned[0]))
