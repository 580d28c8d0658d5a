"""A deal that was not verified is not played, and one wrong place is enough."""

from dataclasses import replace as replace_state

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.messages import Confirmed, Restored
from broker.contract.words import SEATS, Seat
from broker.rules.deal import ROWS, form_hash
from kiosk.table.events import ButtonPressed, TrayChecked
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
