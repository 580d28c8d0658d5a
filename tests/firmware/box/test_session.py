"""One start of a box, seen from the table, event by event."""

from firmware.box.codec import LOST, Splitter
from firmware.box.session import Session
from firmware.contact import TooShort
from firmware.reports import Health, Pressed

MS = 1_000_000
EAST, SOUTH = 0, 1
CLOSED, OPEN = 1, 0


def ready(*, wrong_by_ns: int = 0) -> Session:
    """Give a session whose clock is ready, and as wrong as queries that are slow on one way make it."""
    session = Session(7, 0)
    for us in (0, 100, 200, 300):
        session.clock.add(us, us * 1000, us * 1000 + 2 * wrong_by_ns)
    return session


def sent(session: Session) -> list[tuple[str, list[int]]]:
    """Give the frames that the session wants to send, and forget them."""
    frames = Splitter().feed(b"".join(session.outgoing))
    session.outgoing.clear()
    return frames


def test_two_presses_keep_their_order_where_the_mapping_of_time_changes_between_them() -> None:
    session = ready(wrong_by_ns=900_000)
    session.edge(0, EAST, CLOSED, 10_000, 0)
    session.edge(1, SOUTH, CLOSED, 10_500, 0)
    first = session.heartbeat(0, 2, 13_200, 0)
    session.clock.add(13_300, 13_300_000, 13_300_000)
    second = session.heartbeat(0, 2, 14_000, 0)
    assert first == [Pressed("east", 10_900_000)]
    assert second == [Pressed("south", 10_900_001)]


def test_an_edge_is_acknowledged_only_when_what_it_meant_has_been_told() -> None:
    session = ready()
    session.edge(0, EAST, CLOSED, 10_000, 0)
    assert session.heartbeat(0, 1, 109_999, 0) == [Pressed("east", 10_000_000)]
    assert sent(session) == []
    session.heartbeat(0, 1, 110_000, 0)
    assert sent(session) == [("A", [7, 1])]
    session.heartbeat(0, 1, 120_000, 0)
    assert sent(session) == [("A", [7, 1])], "until the box says that it has heard it"
    session.heartbeat(1, 1, 130_000, 0)
    assert sent(session) == []


def test_a_missing_edge_is_asked_for_every_fifty_milliseconds() -> None:
    session = ready()
    for now in (0, 49 * MS, 50 * MS):
        session.edge(1, EAST, OPEN, 10_000, now)
        session.heartbeat(0, 2, 20_000, now)
    assert sent(session) == [("N", [7, 0]), ("N", [7, 0])]


def test_time_does_not_pass_while_an_edge_is_missing() -> None:
    session = ready()
    session.edge(0, EAST, CLOSED, 10_000, 0)
    assert session.heartbeat(0, 2, 5_000_000, 0) == []


def test_a_pulse_that_was_no_fingers_is_told_with_its_time_on_this_machines_clock() -> None:
    session = ready(wrong_by_ns=400_000)
    session.edge(0, EAST, CLOSED, 10_000, 0)
    session.edge(1, EAST, OPEN, 10_200, 0)
    assert session.heartbeat(0, 2, 50_000, 0) == [TooShort("east", 10_400_000, 200_000)]


def test_edges_wait_in_the_box_until_the_clock_is_ready() -> None:
    session = Session(7, 0)
    assert session.edge(0, EAST, CLOSED, 10_000, 0) == []
    session.heartbeat(0, 1, 20_000, 0)
    assert sent(session) == []
    for _ in range(4):
        session.clock.add(20_000, 0, 0)
    session.heartbeat(0, 1, 21_000, 0)
    assert sent(session) == [("N", [7, 0])]


def test_edges_that_somebody_else_has_taken_are_lost_to_us_and_that_is_told() -> None:
    session = ready()
    lost = Health("buttons", "box_overflow", "the box had no more room: presses may be missing")
    assert session.heartbeat(5, 5, 20_000, 0) == [lost]
    assert session.edge(5, LOST, OPEN, 30_000, 0) == [lost]
    assert session.edge(6, EAST, CLOSED, 40_000, 0) == []
    assert session.heartbeat(5, 7, 43_000, 0) == [Pressed("east", 43_000_000 - 3 * MS)]
