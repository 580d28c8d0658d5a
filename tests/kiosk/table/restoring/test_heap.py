"""What is told of a heap: where tiles go, what has not been seen, and by what staff sort now."""

from kiosk.table.restoring.heap import Heap, Sighted, sighted, stage, unseen
from kiosk.table.restoring.places import PLACES, homes
from tests.kiosk.table.restoring.carriers import DEAL

HOMES = homes(DEAL)


def of(seat: str, count: int) -> list[int]:
    return [DEAL[place] for place in PLACES if place.seat == seat][:count]


def test_what_was_seen_once_counts_also_when_it_is_out_of_view() -> None:
    heap = sighted(sighted(Heap(), [Sighted(7), Sighted(8)]), [Sighted(9)])
    assert heap.seen == {7, 8, 9}
    assert unseen(heap, laid=range(10, 130)) == (1, 2, 3, 4, 5, 6, *range(130, 137))


def test_faces_strange_tiles_and_backs_that_are_not_read_are_counted_and_not_seen() -> None:
    heap = sighted(Heap(), [Sighted(None, face_up=True), Sighted(5, foreign=True), Sighted(None), Sighted(None)])
    assert (heap.seen, heap.count(face_up=True), heap.count(foreign=True), heap.unread) == (frozenset(), 1, 1, 2)


def test_staff_sort_by_seat_until_nearly_all_in_view_are_of_one_seat() -> None:
    assert stage([*of("east", 10), *of("south", 10)], HOMES) == ("seat", None)
    assert stage([*of("east", 2), *of("south", 8)], HOMES) == ("place", "south")
    assert stage([*of("east", 3), *of("south", 8)], HOMES) == ("seat", None)
    assert stage(of("east", 4), HOMES) == ("seat", None)
