"""The memory that scorers use does not grow from day to day."""

import gc
import tracemalloc
from pathlib import Path

import pytest

from tests.benchmarks.scorer.soak import days

FULL_AFTER = 4
"""Days after which everything that stores the latest items is full, such as alerts and the log of messages."""

MORE = 1.01


@pytest.mark.slow
def test_memory_of_halls_and_centre_does_not_grow_from_day_to_day(tmp_path: Path) -> None:
    held = list[int]()
    for _ in days(tmp_path, FULL_AFTER + 2):
        gc.unfreeze()
        gc.collect()
        held.append(tracemalloc.get_traced_memory()[0])
    assert held[-1] < MORE * held[FULL_AFTER - 1], held
