"""Spread work over the cores. Results keep their order, so they do not depend on the number of cores."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from multiprocessing import get_context
from multiprocessing.pool import Pool
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

Job = TypeVar("Job")
Result = TypeVar("Result")
Drawn = dict[str, NDArray[Any]]
"""Drawn pictures and their truths: arrays with one entry per picture."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def drawing_pool(processes: int) -> Pool:
    """Return a pool of processes for drawing, each on one core."""
    return get_context("spawn").Pool(processes, initializer=_one_thread)


def _one_thread() -> None:
    cv2.setNumThreads(1)


def in_order(pool: Pool, work: Callable[[Job], Result], jobs: Iterable[Job], ahead: int) -> Generator[Result]:
    """Yield the results of jobs in order. `jobs` may be endless, as at most `ahead` are started early."""
    waiting = iter(jobs)
    begun = deque(pool.apply_async(work, (job,)) for job in islice(waiting, ahead))
    while begun:
        done = begun.popleft().get()
        begun.extend(pool.apply_async(work, (job,)) for job in islice(waiting, 1))
        yield done


def draw_chunks(draw: Callable[[int], Drawn], chunks: int, processes: int) -> Drawn:
    """Draw the chunks 0, 1, ..., each from its own seed, and join them."""
    with drawing_pool(processes) as pool:
        drawn = list(in_order(pool, draw, range(chunks), 2 * processes))
    return {key: np.concatenate([chunk[key] for chunk in drawn]) for key in drawn[0]}
