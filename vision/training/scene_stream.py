"""Scenes drawn ahead in a process of their own, in the order of their seeds: the same whatever the machine's speed."""

from collections import deque
from collections.abc import Generator
from multiprocessing import get_context

import cv2

from vision.training.scene import Scene, draw_scene

_LOT = 16  # scenes handed over together
_AHEAD = 8  # lots drawn or being drawn beyond the one in use: they bound the memory


def stream(first: int, processes: int = 1) -> Generator[Scene]:
    """Give the scenes of the seeds `first`, `first` + 1, ... without end; closing it ends the processes."""
    with get_context("spawn").Pool(processes, initializer=_one_thread) as pool:
        lots = deque(pool.apply_async(_draw, (first + k * _LOT,)) for k in range(_AHEAD))
        following = first + _AHEAD * _LOT
        while True:
            lots.append(pool.apply_async(_draw, (following,)))
            following += _LOT
            yield from lots.popleft().get()


def _draw(first: int) -> list[Scene]:
    return [draw_scene(seed) for seed in range(first, first + _LOT)]


def _one_thread() -> None:
    cv2.setNumThreads(1)
