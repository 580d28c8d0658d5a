"""Drawn pictures and their order do not depend on the number of processes."""

from itertools import count, islice
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.training.parallel import Drawn, draw_chunks, drawing_pool, in_order
from vision.training.scene import draw_scene


def _picture(seed: int) -> Drawn:
    scene = draw_scene(seed)
    return {"pixels": scene.picture[None], "tiles": np.array([len(scene.quads)])}


@pytest.fixture(scope="module")
def drawn_alone() -> Drawn:
    return draw_chunks(_picture, 3, processes=1)


def test_two_processes_draw_the_same_as_one(drawn_alone: Drawn) -> None:
    together = draw_chunks(_picture, 3, processes=2)
    assert [key for key in drawn_alone if not np.array_equal(drawn_alone[key], together[key])] == []


def test_a_chunk_depends_on_its_number_alone(drawn_alone: Drawn) -> None:
    assert np.array_equal(drawn_alone["pixels"][2], _picture(2)["pixels"][0])


@given(jobs=st.lists(st.integers()), threads=st.integers(1, 4), ahead=st.integers(1, 9))
def test_results_come_in_order_and_once(jobs: list[int], threads: int, ahead: int) -> None:
    with ThreadPool(threads) as pool:
        assert list(in_order(pool, str, jobs, ahead)) == [str(job) for job in jobs]


@given(ahead=st.integers(1, 9), taken=st.integers(0, 20))
def test_endless_jobs_are_started_only_slightly_ahead(ahead: int, taken: int) -> None:
    jobs = count()
    with ThreadPool(1) as pool:
        assert list(islice(in_order(pool, str, jobs, ahead), taken)) == [str(job) for job in range(taken)]
    assert next(jobs) <= ahead + taken


def _fails(_: int) -> None:
    raise ZeroDivisionError


def test_an_error_while_drawing_ends_the_training() -> None:
    with drawing_pool(1) as pool, pytest.raises(ZeroDivisionError):
        list(in_order(pool, _fails, range(3), 2))
