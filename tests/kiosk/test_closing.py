"""When a claim window is closed: not before those are heard who pressed in time, and not never."""

from hypothesis import given
from hypothesis import strategies as st

from kiosk.closing import BACK_NS, GRACE_NS, MS, PATIENCE_NS, Closing

OVER = 1_000_000 * MS


def test_edges_that_are_on_their_way_are_waited_for() -> None:
    closing = Closing()
    assert not closing.may_close(OVER, OVER + GRACE_NS - 1)
    assert closing.may_close(OVER, OVER + GRACE_NS)


def test_where_one_is_heard_of_late_others_may_be_on_their_way_too() -> None:
    closing = Closing()
    closing.heard(OVER + 100 * MS)
    assert not closing.may_close(OVER, OVER + 100 * MS + GRACE_NS - 1)
    assert closing.may_close(OVER, OVER + 100 * MS + GRACE_NS)


def test_a_box_that_is_away_is_waited_for_and_then_what_it_has_kept() -> None:
    closing = Closing()
    closing.health("device_unplugged", OVER - 1)
    assert not closing.may_close(OVER, OVER + 5_000 * MS)
    closing.health("box_silent", OVER + 5_000 * MS)
    closing.health(None, OVER + 6_000 * MS)
    assert not closing.may_close(OVER, OVER + 6_000 * MS + BACK_NS - 1)
    assert closing.may_close(OVER, OVER + 6_000 * MS + BACK_NS)


def test_a_box_that_was_never_away_is_waited_for_no_longer_than_pins_are() -> None:
    closing = Closing()
    closing.health(None, OVER)
    assert closing.may_close(OVER, OVER + GRACE_NS)


@given(
    st.lists(
        st.tuples(st.sampled_from(["heard", "gone", "back"]), st.integers(0, 2 * PATIENCE_NS)),
        max_size=20,
    )
)
def test_whatever_happens_it_is_closed_when_patience_has_an_end(happened: list[tuple[str, int]]) -> None:
    closing = Closing()
    for what, after in sorted(happened, key=lambda one: one[1]):
        if what == "heard":
            closing.heard(OVER + after)
        else:
            closing.health("box_silent" if what == "gone" else None, OVER + after)
    assert closing.may_close(OVER, OVER + PATIENCE_NS)
    assert not closing.may_close(OVER, OVER + GRACE_NS - 1)
