"""Tiles and scans at the practice table: a deal's own tiles, as the reader and the scanner's rules expect them."""

from itertools import combinations
from math import dist
from random import Random

from broker.protocol import SEATS
from broker.rules import TRAY
from firmware.scan_reader import CodeSettings, parse_tile_code
from kiosk.practice.deals import practice_plan
from kiosk.practice.hands import any_code, laid_tray, next_code, tipped_out_tiles
from kiosk.restoring import Restoring, Scans, TrayRun
from vision.cameras.addresses import open_camera
from vision.reader import read_picture
from vision.sim.table import SimulatedTable

PLAY = practice_plan().plays[1]


def serials(number: int) -> set[int]:
    return {loose.tile.serial for loose in tipped_out_tiles(PLAY, number)}


def test_tipping_out_gives_all_tiles_in_four_heaps_then_a_pile_of_each_seat_and_starts_over() -> None:
    assert set().union(*(serials(number) for number in range(4))) == set(range(1, 4 * TRAY + 1))
    piles = [{serial for row in PLAY.order[seat] for serial in row} for seat in SEATS]
    assert [serials(number) for number in range(4, 8)] == piles
    assert tipped_out_tiles(PLAY, 8) == tipped_out_tiles(PLAY, 0)


def test_loose_tiles_do_not_overlap() -> None:
    for number in range(8):
        tiles = tipped_out_tiles(PLAY, number)
        assert min(dist(one.at, other.at) for one, other in combinations(tiles, 2)) > 37  # a tile's diagonal, in mm


def test_a_tipped_out_heap_can_be_read() -> None:
    world = SimulatedTable()
    world.spread(tipped_out_tiles(PLAY, 0))
    with open_camera("sim://tray", world=world) as camera:
        read = {one.serial for one in read_picture(camera.frame()).reads if one.serial is not None}
    assert read - serials(0) == set()
    assert len(read) >= TRAY - 2
    world.lay(laid_tray(PLAY, "east", wrong=False))
    assert world.view.loose == ()


def test_a_tray_is_scanned_in_order_and_then_the_next_one() -> None:
    def after(run: TrayRun | None) -> str:
        return next_code(PLAY, "south", Restoring(scans=Scans(run=run)))

    rows = {seat: [serial for row in PLAY.order[seat] for serial in row] for seat in SEATS}
    codes = [after(None), after(TrayRun("west", 1)), after(TrayRun("west", 33)), after(TrayRun("west", 34))]
    first, second, last = rows["south"][0], rows["west"][1], rows["west"][33]
    assert codes == [f"HM1-01-{serial:03d}" for serial in (first, second, last, first)]
    assert parse_tile_code(any_code(PLAY, Random(7)), CodeSettings()) is not None
