"""However many processes draw, the same is drawn, in the same order."""

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


def test_two_processes_draw_what_one_draws(drawn_alone: Drawn) -> None:
    together = draw_chunks(_picture, 3, processes=2)
    assert [key for key in drawn_alone if not np.array_equal(drawn_alone[key], together[key])] == []


def test_a_chunk_follows_from_its_number_alone(drawn_alone: Drawn) -> None:
    assert np.array_equal(drawn_alone["pixels"][2], _picture(2)["pixels"][0])


@given(jobs=st.lists(st.integers()), threads=st.integers(1, 4), ahead=st.integers(1, 9))
def test_what_is_done_comes_back_in_order_and_once(jobs: list[int], threads: int, ahead: int) -> None:
    with ThreadPool(threads) as pool:
        assert list(in_order(pool, str, jobs, ahead)) == [str(job) for job in jobs]


@given(ahead=st.integers(1, 9), taken=st.integers(0, 20))
def test_work_without_end_is_begun_only_a_little_ahead(ahead: int, taken: int) -> None:
    jobs = count()
    with ThreadPool(1) as pool:
        assert list(islice(in_order(pool, str, jobs, ahead), taken)) == [str(job) for job in range(taken)]
    assert next(jobs) <= ahead + taken


def _fails(_: int) -> None:
    raise ZeroDivisionError


def test_a_failure_while_drawing_ends_the_training() -> None:
    with drawing_pool(1) as pool, pytest.raises(ZeroDivisionError):
        list(in_order(pool, _fails, range(3), 2))
