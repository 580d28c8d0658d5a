"""A deal that was not verified is not played, and one wrong place is enough."""

from dataclasses import replace as replace_state

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.facts import Confirmed, Restored
from broker.contract.words import SEATS, Seat
from broker.rules.deal import ROWS, form_hash
from kiosk.table.events import ButtonPressed, Misplaced, RowTicked, TrayChecked
from kiosk.table.restoring.moves import Swap
from kiosk.table.restoring.places import Place
from kiosk.table.state import Check, Phase
from tests.kiosk.tables import SETTLE, Sitting, play, right, sitting_in, swapped


def test_four_right_trays_in_any_order_are_a_restored_deal() -> None:
    sitting = Sitting()
    sitting.lay(["west", "east", "north"])
    assert (sitting.facts, sitting.table.phase) == ([], Phase.RESTORING)
    assert sitting.table.unverified == ("south",)
    sitting.lay(["south"])
    form = form_hash(play(1).order)
    assert sitting.facts == [Restored(round=1, deal=1, verified=True, form=form, refusals=0)]
    assert sitting.table.phase is Phase.SEATING


@given(st.sampled_from(SEATS), st.integers(0, 33), st.one_of(st.none(), st.integers(1, 136)))
def test_any_single_place_that_differs_refuses_the_tray(seat: Seat, at: int, found: int | None) -> None:
    sitting = Sitting()
    places: list[int | None] = [serial for row in play(1).order[seat] for serial in row]
    places[at] = found if found != places[at] else None
    rows = (tuple(places[: ROWS[0]]), tuple(places[ROWS[0] : -ROWS[2]]), tuple(places[-ROWS[2] :]))
    sitting.take(TrayChecked(at=sitting.wait(), seat=seat, rows=rows))
    assert sitting.table.verified == frozenset()
    assert sitting.table.check == Check(seat, (), unread=places.count(None))


def test_right_serials_that_lie_wrong_refuse_the_tray_too() -> None:
    """A tile that lies askew or upside down is read, and still wrong."""
    sitting = Sitting()
    sideways = replace(swapped(play(1), "east", 1).wrong[0], kind="sideways", other=None)
    sitting.take(TrayChecked(at=sitting.wait(), seat="east", rows=play(1).order["east"], wrong=(sideways,)))
    assert sitting.table.verified == frozenset()


def test_rows_that_are_missing_or_too_many_refuse_the_tray() -> None:
    for rows in ((), play(1).order["east"][:2], (*play(1).order["east"], ())):
        sitting = Sitting()
        sitting.take(TrayChecked(at=sitting.wait(), seat="east", rows=rows))
        assert sitting.table.verified == frozenset()


def test_another_seats_tray_refuses_the_tray() -> None:
    sitting = Sitting()
    sitting.take(TrayChecked(at=sitting.wait(), seat="east", rows=play(1).order["south"]))
    assert sitting.table.verified == frozenset()


def test_a_tray_that_was_right_and_is_seen_wrong_is_right_no_more() -> None:
    sitting = Sitting()
    sitting.restore(["east", "south", "west"])
    sitting.take(swapped(play(1), "south", sitting.wait()))
    sitting.restore(["north"])
    assert sitting.table.unverified == ("south",)
    sitting.restore(["south"])
    assert sitting.table.phase is Phase.CONFIRMING


def test_a_right_tray_takes_the_complaint_away() -> None:
    sitting = Sitting()
    sitting.take(swapped(play(1), "south", sitting.wait()))
    assert sitting.table.check is not None
    sitting.restore(["south"])
    assert sitting.table.check is None


def test_the_same_wrong_look_again_changes_nothing_and_counts_once() -> None:
    sitting = Sitting()
    sitting.take(swapped(play(1), "south", sitting.wait()))
    before = sitting.table
    sitting.take(swapped(play(1), "south", sitting.wait()))
    assert sitting.table == before
    sitting.restore()
    assert [fact.refusals for fact in sitting.facts if isinstance(fact, Restored)] == [1]


def test_a_tray_under_a_flickering_lamp_gives_no_fact_that_cannot_be_read() -> None:
    sitting = Sitting()
    sitting.table = replace_state(sitting.table, refusals=9998)
    for seat in ("east", "south", "west"):
        sitting.take(swapped(play(1), seat, sitting.wait()))
    assert sitting.table.refusals == 9999


def test_the_fourth_confirmation_begins_the_play_and_one_seat_cannot_confirm_for_another() -> None:
    sitting = sitting_in(Phase.CONFIRMING)
    sitting.press("east", "east", "north", "west", "north")
    assert sitting.table.phase is Phase.CONFIRMING
    assert sitting.table.agreed == {"east", "north", "west"}
    told = sitting.take(ButtonPressed(at=sitting.wait(), seat="south"))
    assert told == (Confirmed(round=1, deal=1),)
    assert (sitting.table.phase, sitting.table.agreed) == (Phase.PLAYING, frozenset())


def test_a_push_while_the_screen_changes_confirms_nothing() -> None:
    sitting = sitting_in(Phase.CONFIRMING)
    changed = sitting.table.since
    assert sitting.refusal(ButtonPressed(at=changed + SETTLE - 1, seat="east")) == "press_too_soon"
    sitting.take(ButtonPressed(at=changed + SETTLE, seat="east"))
    assert sitting.table.agreed == {"east"}


def test_a_tray_is_looked_at_only_while_walls_are_restored() -> None:
    sitting = sitting_in(Phase.PLAYING)
    assert sitting.refusal(right(play(1), "east", sitting.wait())) == "not_now"


def of_another_tray(seat: Seat, other: Seat, at: int) -> TrayChecked:
    """Look at a tray whose first tile is another seat's."""
    (_, *hand), *walls = play(1).order[seat]
    stray = play(1).order[other][0][0]
    wrong = Misplaced(kind="wrong-hand", row=0, col=0, expected=play(1).order[seat][0][0], found=stray)
    return TrayChecked(at=at, seat=seat, rows=((stray, *hand), *walls), wrong=(wrong,))


def test_a_tray_that_was_right_is_so_no_more_when_a_tile_of_it_is_seen_in_another() -> None:
    sitting = Sitting()
    sitting.restore(["east", "south"])
    sitting.take(of_another_tray("west", "south", sitting.wait()))
    assert sitting.table.verified == {"east"}


def test_the_next_move_is_told_and_ticked_off_when_it_is_seen_done() -> None:
    sitting = Sitting()
    first, second, third = (Place("south", 0, col) for col in range(3))
    (one, two, three, *hand), *walls = play(1).order["south"]
    sitting.take(TrayChecked(at=sitting.wait(), seat="south", rows=((two, three, one, *hand), *walls)))
    assert (sitting.table.work.move, sitting.table.work.left) == (Swap(first, third), 2)
    sitting.take(TrayChecked(at=sitting.wait(), seat="south", rows=((one, three, two, *hand), *walls)))
    work = sitting.table.work
    assert (work.move, work.left, work.done, work.ticked) == (Swap(second, third), 1, 1, True)
    sitting.restore(["south"])
    work = sitting.table.work
    assert (work.move, work.left, work.done, work.ticked) == (None, 0, 2, True)


def test_who_does_something_else_is_told_moves_from_there() -> None:
    sitting = Sitting()
    sitting.take(swapped(play(1), "south", sitting.wait()))
    sitting.take(of_another_tray("south", "north", sitting.wait()))
    work = sitting.table.work
    assert (work.move, work.ticked, work.done) == (Swap(Place("south", 0, 0), Place("north", 0, 0)), False, 0)


def tick(sitting: Sitting, seat: Seat, *rows: int, right: bool = True) -> None:
    for row in rows:
        sitting.take(RowTicked(at=sitting.wait(), seat=seat, row=row, right=right))


def test_a_deal_of_which_one_tray_was_ticked_by_hand_is_told_as_not_verified() -> None:
    sitting = Sitting()
    sitting.restore(["east", "south", "west"])
    tick(sitting, "north", 2, 0)
    assert sitting.table.unverified == ("north",)
    tick(sitting, "north", 1)
    form = form_hash(play(1).order)
    assert sitting.facts == [Restored(round=1, deal=1, verified=False, by="hand", form=form, refusals=0)]


def test_a_deal_that_a_scanner_has_read_is_verified_and_told_so() -> None:
    sitting = Sitting()
    sitting.restore(["east", "south", "west"])
    sitting.take(replace(right(play(1), "north", sitting.wait()), by="scanner"))
    form = form_hash(play(1).order)
    assert sitting.facts == [Restored(round=1, deal=1, verified=True, by="scanner", form=form, refusals=0)]


def test_a_tick_can_be_taken_back() -> None:
    sitting = Sitting()
    tick(sitting, "north", 0, 1, 2)
    tick(sitting, "north", 1, right=False)
    assert sitting.table.unverified == SEATS


def test_what_the_camera_sees_stands_above_what_was_ticked() -> None:
    sitting = Sitting()
    tick(sitting, "north", 0, 1, 2)
    sitting.take(swapped(play(1), "north", sitting.wait()))
    assert sitting.table.unverified == SEATS
    assert sitting.table.work.rows == frozenset()
    sitting.restore(["north"])
    assert sitting.refusal(RowTicked(at=sitting.wait(), seat="north", row=0)) == "tray_is_right"
