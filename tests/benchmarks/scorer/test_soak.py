"""What scorers hold does not grow from day to day."""

import gc
import tracemalloc
from pathlib import Path

import pytest

from tests.benchmarks.scorer.soak import days

FULL_AFTER = 4
"""Days: by then all is full that keeps the latest of something, such as alerts and the log of the wire."""

MORE = 1.01


@pytest.mark.slow
def test_what_halls_and_their_centre_hold_does_not_grow_from_day_to_day(tmp_path: Path) -> None:
    held = list[int]()
    for _ in days(tmp_path, FULL_AFTER + 2):
        gc.unfreeze()
        gc.collect()
        held.append(tracemalloc.get_traced_memory()[0])
    assert held[-1] < MORE * held[FULL_AFTER - 1], held
