"""What a scan is answered with, and a tray that was scanned in its order."""

from hypothesis import given
from hypothesis import strategies as st

from broker.contract.words import SEATS, Seat
from kiosk.table.restoring.places import PLACES, Place
from kiosk.table.restoring.scans import Answer, Run, Scans, not_scanned, scanned
from tests.kiosk.table.restoring.carriers import DEAL
from tests.kiosk.tables import play

PLAY = play(1)


def tray(seat: Seat) -> list[int]:
    return [DEAL[place] for place in PLACES if place.seat == seat]


def scan(*serials: int, scans: Scans | None = None, set_text: str | None = "01") -> Scans:
    scans = scans or Scans()
    for serial in serials:
        scans = scanned(scans, PLAY, serial, set_text)
    return scans


def test_a_scan_is_answered_with_where_the_tile_goes() -> None:
    place = Place("west", 1, 4)
    assert scan(DEAL[place]).answer == Answer(DEAL[place], place)


def test_a_tile_that_is_scanned_twice_is_answered_alike_and_marked() -> None:
    place = Place("west", 1, 4)
    scans = scan(DEAL[place], DEAL[place])
    assert (scans.answer, scans.seen) == (Answer(DEAL[place], place, again=True), frozenset({DEAL[place]}))


def test_a_tile_of_another_set_goes_nowhere() -> None:
    assert scan(5, set_text="02").answer == Answer(5, code="scan_foreign_set", text="02")
    lettered = scan(5, set_text="C")
    assert (lettered.answer and lettered.answer.code, lettered.letter) == (None, "C")
    assert scan(6, scans=lettered, set_text="D").answer == Answer(6, code="scan_foreign_set", text="D")


def test_what_is_no_tile_is_answered_with_its_code_and_loses_nothing() -> None:
    before = scan(*tray("south")[:5])
    after = not_scanned(before, "scan_unknown", "4006381333931")
    assert after.answer == Answer(code="scan_unknown", text="4006381333931")
    assert (after.run, after.seen) == (before.run, before.seen)


@given(st.sampled_from(SEATS), st.lists(st.integers(0, 33), max_size=6))
def test_a_tray_is_complete_when_all_its_places_were_scanned_in_order_whatever_came_between(
    seat: Seat, strays: list[int]
) -> None:
    others, scans = [DEAL[Place(other, 1, 3)] for other in SEATS if other != seat], Scans()
    for at, serial in enumerate(tray(seat)):
        assert scans.complete is None
        if at > 1 and at in strays:
            scans = scan(others[at % 3], scans=scans)
            assert scans.answer is not None
            assert scans.answer.astray == [place for place in PLACES if place.seat == seat][at]
        scans = scan(serial, scans=scans)
        scans = scan(serial, scans=scans)
    assert scans.complete == seat


def test_two_tiles_that_have_changed_places_never_make_a_tray_complete() -> None:
    one, two, three, four, *rest = tray("east")
    scans = scan(one, two, four, three, *rest)
    assert (scans.complete, scans.run) == (None, Run("east", 3))
