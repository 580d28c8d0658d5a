import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vision.synthetic import lay_marks, tilted
from vision.geometry import project
from vision.lattice import Lattice, first_steps, fit_steps, places, settle
from vision.old_marks import Mark
from vision.plane import fit_plane
from vision.rows import find_rows

Place = tuple[int, int]
PLACES = list(places())


def lay_out(marks: dict[Place, Mark]) -> tuple[Lattice, dict[Place, Place]] | None:
    """Give the lattice, and where each mark was found to lie by where it was laid."""
    plane = fit_plane(tuple(marks.values()))
    if plane is None:
        return None
    centres = np.array([mark.centre for mark in marks.values()])
    rows = find_rows(project(plane.to_plane, centres))
    steps = fit_steps(centres, rows) if rows else None
    if rows is None or steps is None:
        return None
    found = [(int(row), int(step)) for row, step in zip(rows.row, rows.step, strict=True)]
    starts = first_steps(rows, dict.fromkeys(found, True))
    if len(starts) != 1:
        return None
    indents = (0, 1, 1) if rows.half else (0, 0, 0)
    columns = {at: (row, step - starts[0] - indents[row]) for at, (row, step) in zip(marks, found, strict=True)}
    return settle(steps, starts[0]), columns


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("roll", [0.0, 5.0, 90.0, 180.0, 200.0])
def test_a_full_tray_is_laid_out_from_any_side(roll: float, *, centred: bool) -> None:
    laid = lay_out(lay_marks(tilted(20, roll), centred=centred))
    assert laid is not None
    assert laid[1] == {at: at for at in PLACES}


@settings(deadline=None, max_examples=60)
@given(
    tilt=st.floats(-28, 28),
    roll=st.floats(0, 360),
    seed=st.integers(0, 2**20),
    centred=st.booleans(),
    gone=st.frozensets(st.sampled_from(PLACES), max_size=3),
    turned=st.frozensets(st.sampled_from(PLACES), max_size=3),
)
def test_every_label_gets_its_own_place_whatever_is_missing_or_turned(
    tilt: float, roll: float, seed: int, gone: frozenset[Place], turned: frozenset[Place], *, centred: bool
) -> None:
    marks = lay_marks(tilted(tilt, roll), centred=centred, without=gone, turned=turned, play=0.12, seed=seed)
    laid = lay_out(marks)
    if laid is None:  # all rows lack their last tile, so nothing tells where they end
        assert len(gone) == 3
    else:
        assert laid[1] == {at: at for at in marks}


def test_an_empty_place_is_found_where_its_label_would_be() -> None:
    camera, empty = tilted(25, 3), (1, 6)
    laid = lay_out(lay_marks(camera, without=frozenset({empty})))
    assert laid is not None
    assert np.abs(laid[0].pixel(*empty) - lay_marks(camera)[empty].centre).max() < 1.0


def test_without_the_last_tile_of_every_row_no_layout_is_guessed() -> None:
    assert lay_out(lay_marks(tilted(10, 0), without=frozenset({(0, 12), (1, 10), (2, 9)}))) is None


def test_half_the_labels_are_enough_when_they_span_the_tray() -> None:
    gone = frozenset(at for at in PLACES if at[1] % 2 and at not in {(0, 1), (1, 9), (2, 9), (2, 1)})
    marks = lay_marks(tilted(15, 0), without=gone)
    laid = lay_out(marks)
    assert laid is not None
    assert laid[1] == {at: at for at in marks}


def test_a_heap_is_no_tray() -> None:
    chance = np.random.default_rng(5)
    heap = {
        at: Mark(mark.payload, project(tilted(0, float(chance.uniform(0, 360))), np.asarray(mark.quad) / 45), 0.999)
        for at, mark in lay_marks(tilted(0, 0)).items()
    }
    assert lay_out(heap) is None


def test_five_labels_are_no_tray() -> None:
    assert lay_out(lay_marks(tilted(0, 0), without=frozenset(PLACES[5:]))) is None
