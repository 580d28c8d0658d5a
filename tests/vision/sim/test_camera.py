"""The simulated camera behaves like a camera, and the real reader reads its pictures."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from vision.cameras.addresses import open_camera
from vision.errors import CameraUnpluggedError
from vision.reader import read_picture
from vision.reading import ROW_LENGTHS, TrayFaultType
from vision.sim.camera import SimulatedCamera
from vision.sim.table import SimulatedTable, SimulatedTile
from vision.verdict import compare

Deal = list[list[int]]
Tray = list[list[SimulatedTile | None]]


def deal_of(seed: int) -> Deal:
    serials = iter(random.Random(seed).sample(range(1, 137), 34))
    return [[next(serials) for _ in range(length)] for length in ROW_LENGTHS]


def laid(deal: Deal, number: int = 3) -> Tray:
    return [[SimulatedTile(number, serial) for serial in row] for row in deal]


def faults_in(tray: Tray, deal: Deal, address: str = "sim://tray?seed=7") -> set[tuple[TrayFaultType, int, int]]:
    with open_camera(address, world=SimulatedTable(tray)) as camera:
        return {(fault.type, fault.row, fault.col) for fault in compare(read_picture(camera.frame()), deal)}


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_the_reader_reads_what_is_laid(seed: int) -> None:
    deal = deal_of(seed)
    address = f"sim://tray?seed={seed}&tilt={seed * 3}&noise={seed}&blur={seed * 0.15}"
    with open_camera(address, world=SimulatedTable(laid(deal, number=seed))) as camera:
        assert read_picture(camera.frame()).rows == tuple(map(tuple, deal))


@pytest.mark.parametrize("turn", [0, 2, 4])
def test_each_kind_of_fault_is_named_at_its_place(turn: int) -> None:
    """Every picture has one fault of each kind; they move from picture to picture until each was in each row."""
    deal = deal_of(11)
    stranger = next(serial for serial in range(1, 137) if all(serial not in line for line in deal))
    wrong: dict[TrayFaultType, Callable[[SimulatedTile], SimulatedTile | None]] = {
        TrayFaultType.MISSING: lambda _: None,
        TrayFaultType.FACE_UP: lambda own: replace(own, face_up=True),
        TrayFaultType.UPSIDE_DOWN: lambda own: replace(own, upside_down=True),
        TrayFaultType.FOREIGN: lambda own: replace(own, set=4),
        TrayFaultType.WRONG_HAND: lambda own: replace(own, serial=stranger),
    }
    places = [(0, 0), (0, 12), (1, 5), (1, 10), (2, 0), (2, 9)]
    tray, named = laid(deal), set[tuple[TrayFaultType, int, int]]()
    for (row, col), (fault, spoilt) in zip([*places[turn:], *places[:turn]], wrong.items(), strict=False):
        tray[row][col] = spoilt(SimulatedTile(3, deal[row][col]))
        named.add((fault, row, col))
    assert faults_in(tray, deal) == named


def test_exchanged_tiles_are_named_once() -> None:
    deal = deal_of(12)
    tray = laid(deal)
    tray[0][3], tray[2][4] = tray[2][4], tray[0][3]
    assert faults_in(tray, deal) == {(TrayFaultType.SWAPPED, 0, 3)}


def test_a_hand_over_the_tray_does_not_make_tiles_missing() -> None:
    deal = deal_of(13)
    world = SimulatedTable(laid(deal))
    world.cover()
    with open_camera("sim://tray?seed=2", world=world) as camera:
        named = {fault.type for fault in compare(read_picture(camera.frame()), deal)}
    assert named == {TrayFaultType.OCCLUDED}


def test_an_empty_tray_has_no_reads() -> None:
    with open_camera("sim://tray?seed=1") as camera:
        assert read_picture(camera.frame()).reads == ()


def test_the_camera_sees_tiles_laid_while_it_runs() -> None:
    first, second = deal_of(1), deal_of(2)
    world = SimulatedTable(laid(first))
    with open_camera("sim://tray?seed=3", world=world) as camera:
        camera.frame()
        world.lay(laid(second))
        assert read_picture(camera.frame()).rows == tuple(map(tuple, second))


def test_frames_differ_as_those_of_a_real_camera() -> None:
    with open_camera("sim://tray?seed=3&width=320&height=180") as camera:
        assert (camera.frame() != camera.frame()).any()


def test_the_same_seed_gives_the_same_frames() -> None:
    one, other = (open_camera("sim://tray?seed=3&width=320&height=180") for _ in range(2))
    assert np.array_equal(one.frame(), other.frame())


def test_an_unplugged_cable_is_reported_and_plugged_in_again() -> None:
    world = SimulatedTable()
    with open_camera("sim://tray?width=320&height=180", world=world) as camera:
        world.unplug()
        with pytest.raises(CameraUnpluggedError):
            camera.frame()
        world.unplug(unplugged=False)
        assert camera.frame().shape == (180, 320, 3)


def test_without_light_frames_are_black() -> None:
    world = SimulatedTable()
    world.darken()
    with open_camera("sim://tray?width=320&height=180", world=world) as camera:
        assert not camera.frame().any()


def test_a_camera_without_a_table_gets_its_own() -> None:
    with SimulatedCamera("sim://tray?width=320&height=180") as camera:
        assert camera.world.view.rows == ((None,) * 13, (None,) * 11, (None,) * 10)


@pytest.mark.parametrize("tile", [(100, 1), (-1, 1), (1, 0), (1, 137)])
def test_an_invalid_tile_cannot_be_laid(tile: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no tile"):
        SimulatedTile(*tile)


def test_a_tray_has_thirty_four_places() -> None:
    with pytest.raises(ValueError, match="rows of 13, 11 and 10"):
        SimulatedTable().lay([[None]])


def test_a_requested_exposure_comes_some_frames_later_and_overexposes_less() -> None:
    with open_camera("sim://tray?seed=7&glare=300&noise=0") as camera:
        own = camera.frame()
        assert camera.expose(-1)
        levels = [float(camera.frame().mean()) for _ in range(camera.settling + 1)]
        shorter = camera.frame()
    assert max(levels[:-1]) > 1.5 * levels[-1]
    assert min(levels[:-1]) > 1.5 * levels[-1]
    assert (own == 255).mean() > 2 * (shorter == 255).mean()
