"""What lies and is scanned at the practice table: a deal's own tiles, which the reader and the scanner's rules know."""

from itertools import combinations
from math import dist
from random import Random

from broker.contract.words import SEATS
from broker.rules.deal import TRAY
from firmware.scan_codes import CodeSettings, read_code
from kiosk.bench import Bench
from kiosk.practice.plan import plan
from kiosk.practice.staff import any_code, heap, next_code, tray
from kiosk.table.restoring.scans import Run, Scans
from vision.live.cameras import open_camera
from vision.reader import read_picture
from vision.twins.world import TrayTwin

PLAY = plan().plays[1]


def serials(number: int) -> set[int]:
    return {loose.tile.serial for loose in heap(PLAY, number)}


def test_four_times_turned_out_are_all_tiles_then_comes_a_pile_of_each_seat_and_then_all_again() -> None:
    assert set().union(*(serials(number) for number in range(4))) == set(range(1, 4 * TRAY + 1))
    piles = [{serial for row in PLAY.order[seat] for serial in row} for seat in SEATS]
    assert [serials(number) for number in range(4, 8)] == piles
    assert heap(PLAY, 8) == heap(PLAY, 0)


def test_loose_tiles_lie_beside_one_another() -> None:
    for number in range(8):
        tiles = heap(PLAY, number)
        assert min(dist(one.at, other.at) for one, other in combinations(tiles, 2)) > 37  # a tile's diagonal, mm


def test_a_heap_that_was_turned_out_is_read() -> None:
    world = TrayTwin()
    world.spread(heap(PLAY, 0))
    with open_camera("sim://tray", world=world) as camera:
        read = {one.serial for one in read_picture(camera.frame()).reads if one.serial is not None}
    assert read - serials(0) == set()
    assert len(read) >= TRAY - 2
    world.lay(tray(PLAY, "east", wrong=False))
    assert world.view.loose == ()


def test_a_tray_is_scanned_in_its_order_and_the_next_one_after_it() -> None:
    def after(run: Run | None) -> str:
        return next_code(PLAY, "south", Bench(scans=Scans(run=run)))

    rows = {seat: [serial for row in PLAY.order[seat] for serial in row] for seat in SEATS}
    codes = [after(None), after(Run("west", 1)), after(Run("west", 33)), after(Run("west", 34))]
    first, second, last = rows["south"][0], rows["west"][1], rows["west"][33]
    assert codes == [f"HM1-01-{serial:03d}" for serial in (first, second, last, first)]
    assert read_code(any_code(PLAY, Random(7)), CodeSettings()) is not None
