"""What one look tells of a tray, and what is remembered of the trays that are not under the camera now."""

from kiosk.table.events import Misplaced, TrayChecked
from kiosk.table.restoring.lying import BLANK, EMPTY, Lying, What, remembered, tray, where
from kiosk.table.restoring.moves import PutIn, Shift, Swap, Turn, after, is_done
from kiosk.table.restoring.places import PLACES, Place
from tests.kiosk.table.restoring.carriers import DEAL, RIGHT
from tests.kiosk.tables import play, right, swapped

A, B = PLACES[0], PLACES[1]


def wrong(kind: str, row: int = 0, col: int = 0) -> Misplaced:
    return Misplaced(kind=kind, row=row, col=col, expected=DEAL[Place("east", row, col)])


def look(*wrongs: Misplaced) -> TrayChecked:
    return TrayChecked(at=1, seat="east", rows=play(1).order["east"], wrong=wrongs)


def test_each_kind_of_fault_is_a_kind_of_lying() -> None:
    kinds = {kind: tray(look(wrong(kind)))[A] for kind in ("missing", "foreign", "face-up", "occluded", "upside-down")}
    assert kinds == {
        "missing": EMPTY,
        "foreign": Lying(What.FOREIGN),
        "face-up": Lying(What.FACE_UP, well=False),
        "occluded": Lying(What.COVERED),
        "upside-down": Lying(What.TILE, DEAL[A], well=False),
    }


def test_a_look_in_which_no_tray_was_found_tells_nothing_of_its_places() -> None:
    unread = tray(TrayChecked(at=1, seat="south", rows=()))
    assert set(unread.values()) == {Lying(What.UNREAD)}
    assert {place.seat for place in unread} == {"south"}


def test_trays_that_are_not_under_the_camera_are_as_they_were_seen_last() -> None:
    seen = remembered(remembered(BLANK, swapped(play(1), "south", 1)), right(play(1), "east", 2))
    assert {place: seen[place] for place in PLACES if place.seat == "east"} == {
        place: lying for place, lying in RIGHT.items() if place.seat == "east"
    }
    assert seen[Place("south", 0, 0)] == Lying(What.TILE, DEAL[Place("south", 0, 1)])
    assert seen[Place("west", 0, 0)] == Lying(What.UNSEEN)


def test_a_tile_that_has_turned_up_in_another_tray_is_remembered_in_none() -> None:
    moved = DEAL[Place("south", 0, 0)]
    hand = (moved, *play(1).order["east"][0][1:])
    with_it = TrayChecked(at=2, seat="east", rows=(hand, *play(1).order["east"][1:]))
    seen = remembered(remembered(BLANK, right(play(1), "south", 1)), with_it)
    assert where(seen)[moved] == A
    assert seen[Place("south", 0, 0)] == Lying(What.UNREAD)


def test_of_two_tiles_with_one_serial_neither_is_believed() -> None:
    one, _, *hand = play(1).order["east"][0]
    twice = TrayChecked(at=2, seat="east", rows=((one, one, *hand), *play(1).order["east"][1:]))
    seen = remembered(BLANK, twice)
    assert (seen[A], seen[B]) == (Lying(What.UNREAD), Lying(What.UNREAD))


def test_a_move_is_done_when_all_its_places_are_seen_so() -> None:
    mixed = {**RIGHT, A: RIGHT[B], B: RIGHT[A]}
    swap = Swap(A, B)
    assert is_done(swap, mixed, RIGHT)
    assert not is_done(swap, mixed, mixed)
    assert not is_done(swap, mixed, {**RIGHT, B: EMPTY})
    gap = {**RIGHT, A: EMPTY}
    assert is_done(PutIn(A, DEAL[A]), gap, RIGHT)
    assert is_done(Shift(B, A), gap, after(gap, Shift(B, A)))


def test_a_face_that_was_turned_over_is_done_whether_or_not_its_back_is_read_already() -> None:
    face = {**RIGHT, A: Lying(What.FACE_UP, well=False)}
    assert is_done(Turn(A), face, RIGHT)
    assert is_done(Turn(A), face, {**RIGHT, A: Lying(What.UNREAD)})
    assert not is_done(Turn(A), face, face)
