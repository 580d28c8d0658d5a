"""The table's end of the line, tested against the flashed program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.box.codec import FRAME_FIELDS, LOST, VERSION, FrameSplitter, encode_frame
from firmware.box.link import BoxSession
from firmware.reports import SEATS, Health, Held, Pressed, Released, Report, TooShort
from tests.firmware.box.world import MILLISECOND, Start, World, good

MS = 1_000_000
EAST, SOUTH = 0, 1
CLOSED, OPEN = 1, 0


def ready(*, wrong_by_ns: int = 0) -> BoxSession:
    """Return a session whose clock is ready and wrong by this much, as after queries that are slow in one direction."""
    session = BoxSession(7, 0)
    for us in (0, 100, 200, 300):
        session.clock.add(us, us * 1000, us * 1000 + 2 * wrong_by_ns)
    return session


def sent(session: BoxSession) -> list[tuple[str, list[int]]]:
    """Return and clear the frames that the session wants to send."""
    frames = FrameSplitter().feed(b"".join(session.outgoing))
    session.outgoing.clear()
    return frames


def test_presses_keep_their_order_if_the_time_mapping_changes_between_them() -> None:
    session = ready(wrong_by_ns=900_000)
    session.edge(0, EAST, CLOSED, 10_000, 0)
    session.edge(1, SOUTH, CLOSED, 10_500, 0)
    first = session.heartbeat(0, 2, 13_200, 0)
    session.clock.add(13_300, 13_300_000, 13_300_000)
    second = session.heartbeat(0, 2, 14_000, 0)
    assert first == [Pressed("east", 10_900_000)]
    assert second == [Pressed("south", 10_900_001)]


def test_an_edge_is_acknowledged_only_after_its_press_was_reported() -> None:
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


def test_a_missing_edge_is_requested_every_fifty_milliseconds() -> None:
    session = ready()
    for now in (0, 49 * MS, 50 * MS):
        session.edge(1, EAST, OPEN, 10_000, now)
        session.heartbeat(0, 2, 20_000, now)
    assert sent(session) == [("N", [7, 0]), ("N", [7, 0])]


def test_time_does_not_pass_while_an_edge_is_missing() -> None:
    session = ready()
    session.edge(0, EAST, CLOSED, 10_000, 0)
    assert session.heartbeat(0, 2, 5_000_000, 0) == []


def test_a_short_pulse_is_reported_with_this_machines_time() -> None:
    session = ready(wrong_by_ns=400_000)
    session.edge(0, EAST, CLOSED, 10_000, 0)
    session.edge(1, EAST, OPEN, 10_200, 0)
    assert session.heartbeat(0, 2, 50_000, 0) == [TooShort("east", 10_400_000, 200_000)]


def test_edges_wait_in_the_box_until_the_clock_is_ready() -> None:
    session = BoxSession(7, 0)
    assert session.edge(0, EAST, CLOSED, 10_000, 0) == []
    session.heartbeat(0, 1, 20_000, 0)
    assert sent(session) == []
    for _ in range(4):
        session.clock.add(20_000, 0, 0)
    session.heartbeat(0, 1, 21_000, 0)
    assert sent(session) == [("N", [7, 0])]


def test_edges_acknowledged_by_another_program_are_reported_as_lost() -> None:
    session = ready()
    lost = Health("buttons", "box_overflow", "the box had no room for more edges: presses may be missing")
    assert session.heartbeat(5, 5, 20_000, 0) == [lost]
    assert session.edge(5, LOST, OPEN, 30_000, 0) == [lost]
    assert session.edge(6, EAST, CLOSED, 40_000, 0) == []
    assert session.heartbeat(5, 7, 43_000, 0) == [Pressed("east", 43_000_000 - 3 * MS)]


@pytest.fixture
def world(start: Start) -> World:
    made = World(start=start, ppm=60)
    made.settle()
    return made


def presses(world: World) -> list[str]:
    """Return the seats of the reported presses."""
    return [report.seat for report in world.reports if isinstance(report, Pressed)]


def near(report: Report, at: int) -> bool:
    """Return whether a report has this time, to within the promised millisecond."""
    assert isinstance(report, Pressed | Released | Held)
    return abs(report.at - at) <= MILLISECOND


def test_a_press_is_reported_with_its_seat_and_the_times_of_its_edges(world: World) -> None:
    at = world.press("west", 80)
    world.run(100)
    first, second = world.reports
    assert (type(first), type(second)) == (Pressed, Released)
    assert near(first, at)
    assert near(second, at + 80 * MILLISECOND)


def test_a_press_is_reported_within_seven_milliseconds_on_a_good_line(world: World) -> None:
    """Three of them for the finger, one for the line, the rest for turns of the loops."""
    world.touch("east", closed=True)
    world.run(7)
    assert presses(world) == ["east"]


def test_a_bouncing_contact_is_one_press_at_its_first_edge(world: World) -> None:
    at = world.touch("north", closed=True)
    for closed in (False, True, False, True):
        world.run(1)
        world.touch("north", closed=closed)
    world.run(50)
    world.touch("north", closed=False)
    world.run(100)
    assert [type(report) for report in world.reports] == [Pressed, Released]
    assert near(world.reports[0], at)


def test_a_pulse_too_short_for_a_finger_is_ignored(world: World) -> None:
    world.press("south", 2)
    world.run(400)
    assert world.reports == []


def test_a_long_press_has_the_time_of_its_press(world: World) -> None:
    world.press("east", 2200)
    world.run(100)
    pressed, held, released = world.reports
    assert isinstance(pressed, Pressed)
    assert held == Held("east", pressed.at)
    assert isinstance(released, Released)


def test_presses_a_millisecond_apart_keep_their_order(world: World) -> None:
    for first, second in zip(SEATS, SEATS[1:] + SEATS[:1], strict=True):
        world.touch(first, closed=True)
        world.run(1)
        world.touch(second, closed=True)
        world.run(50)
        world.touch(first, closed=False)
        world.touch(second, closed=False)
        world.run(100)
    assert presses(world) == ["east", "south", "south", "west", "west", "north", "north", "east"]
    times = [report.at for report in world.reports if isinstance(report, Pressed)]
    assert times == sorted(times)


def test_presses_while_unplugged_arrive_later_once_and_with_their_times(world: World) -> None:
    world.unplug()
    at = [world.press(seat, 90) for seat in ("south", "east")]
    world.run(1500)
    world.plug()
    world.run(500)
    told = world.told(Pressed, Released)
    assert [(type(report), report.seat) for report in told if isinstance(report, Pressed | Released)] == [
        (Pressed, "south"),
        (Released, "south"),
        (Pressed, "east"),
        (Released, "east"),
    ]
    assert near(told[0], at[0])
    assert near(told[2], at[1])
    assert world.told(Health) == [Health("buttons", "device_unplugged", "gone"), Health("buttons", None)]


def test_a_press_after_an_hour_without_the_table_has_the_right_time() -> None:
    """The crystals have drifted apart by a third of a second, so edges wait for new queries."""
    world = World(ppm=90)
    world.settle()
    world.unplug()
    world.hours(1)
    at = world.press("west", 90)
    world.plug()
    world.to_box = lambda chunk, now: [] if b"!Q" in chunk else good(chunk, now)
    world.run(300)
    assert world.told(Pressed) == []
    world.to_box = good
    world.run(500)
    assert near(world.told(Pressed)[0], at)


def test_a_silent_line_does_not_turn_a_press_into_a_hold(world: World) -> None:
    world.touch("east", closed=True)
    world.run(50)
    world.unplug()
    world.run(500)
    world.touch("east", closed=False)
    world.run(4000)
    world.plug()
    world.run(500)
    assert world.told(Held) == []
    assert len(world.told(Released)) == 1


def test_lost_edges_are_requested_again(world: World) -> None:
    lost: list[bytes] = []

    def losing(chunk: bytes, now: int) -> list[tuple[int, bytes]]:
        if b"!E" in chunk and len(lost) < 3:
            lost.append(chunk)
            return []
        return good(chunk, now)

    world.to_table = losing
    at = world.press("east", 100)
    world.run(400)
    assert len(lost) == 3
    assert presses(world) == ["east"]
    assert near(world.reports[0], at)


def test_reordered_edges_are_sorted(world: World) -> None:
    world.to_table = lambda chunk, now: [(now + (20 if b"!E" in chunk else 1) * MILLISECOND, chunk)]
    world.press("east", 100)
    world.press("south", 100)
    world.run(400)
    assert presses(world) == ["east", "south"]


def test_requesting_an_edge_acknowledges_none_before_it(start: Start) -> None:
    """The next program needs them if this one ends before it has reported them."""
    ticks = iter(range(0, 1_000_000, 5000))
    box = start(lambda: next(ticks), 77, ())
    for closed in (1, 0, 1):
        box.touch(0, closed)
    box.turn()
    again = FrameSplitter().feed(box.turn(encode_frame("N", 77, 2)))
    assert [numbers[1] for kind, numbers in again if kind == "E"] == [2]
    assert [numbers[1:3] for kind, numbers in again if kind == "H"] == [[0, 3]]


def test_a_reply_to_another_programs_query_is_ignored() -> None:
    """The reply may be old: it may have waited in the cable."""
    world = World()
    world.settle()
    assert world.link._session is not None
    clock = world.link._session.clock
    before = clock.to_ns(10**6)
    world._take(world.link.received(encode_frame("R", world.now - 100, 10**9), world.now))
    assert clock.to_ns(10**6) == before


def test_lost_acknowledgements_cause_no_second_press(world: World) -> None:
    world.to_box = lambda chunk, now: [] if b"!A" in chunk else good(chunk, now)
    world.press("east", 100)
    world.run(1500)
    assert presses(world) == ["east"]


def test_a_restarted_box_is_reported_and_works_without_inventing_a_press(world: World) -> None:
    world.press("east", 100)
    world.run(300)
    world.reports.clear()
    world.power_on()
    world.run(1000)
    assert world.reports == [Health("buttons", "box_reset", "the box has restarted"), Health("buttons", None)]
    at = world.press("south", 100)
    world.run(300)
    assert presses(world) == ["south"]
    assert near(world.told(Pressed)[0], at)


def test_a_restarted_box_releases_pressed_buttons(world: World) -> None:
    world.touch("west", closed=True)
    world.run(100)
    world.power_on(closed=(2,))
    world.run(300)
    assert [type(report) for report in world.reports[:2]] == [Pressed, Released]
    assert world.told(Health) == [
        Health("buttons", "box_reset", "the box has restarted"),
        Health("button-west", "button_stuck", "it was closed at the start"),
        Health("buttons", None),
    ]
    world.touch("west", closed=False)
    world.run(300)
    assert world.reports[-1] == Health("button-west", None)
    assert presses(world) == ["west"]


def test_a_restarted_table_receives_unacknowledged_edges(world: World) -> None:
    world.press("east", 100)
    world.run(300)
    world.unplug()
    at = world.press("north", 100)
    world.run(300)
    world.reports.clear()
    world.plugged = True
    world.restart_table()
    world.run(500)
    assert presses(world) == ["north"]
    assert near(world.told(Pressed)[0], at)


def test_a_press_that_lasts_while_the_table_restarts_is_reported(world: World) -> None:
    world.unplug()
    at = world.touch("east", closed=True)
    world.run(500)
    world.plugged = True
    world.restart_table()
    world.run(500)
    world.touch("east", closed=False)
    world.run(100)
    assert presses(world) == ["east"]
    assert near(world.told(Pressed)[0], at)
    assert len(world.told(Released)) == 1


def test_a_restarted_table_does_not_report_an_old_press_again(world: World) -> None:
    world.touch("east", closed=True)
    world.run(300)
    world.reports.clear()
    world.restart_table()
    world.run(300)
    assert world.reports == [
        Health("button-east", "button_stuck", "it was closed at the start"),
        Health("buttons", None),
    ]
    world.touch("east", closed=False)
    world.run(300)
    assert world.reports[2:] == [Health("button-east", None)]


def test_a_silent_box_is_reported_within_two_seconds_and_recovers(world: World) -> None:
    world.to_table = lambda *_: []
    world.run(1900)
    assert world.reports == [Health("buttons", "box_silent", "nothing is received from the box: is it flashed?")]
    world.to_table = good
    world.press("east", 100)
    world.run(1500)
    assert world.reports[1] == Health("buttons", None)
    assert presses(world) == ["east"]


def test_lamps_are_off_on_or_blinking_as_set(world: World) -> None:
    world.link.lamps = 1 | 2 << 4
    shown = []
    for _ in range(20):
        world.run(100)
        shown.append(tuple(world.box.lamps()))
    assert set(shown[2:]) == {(1, 0, 0, 0), (1, 0, 1, 0)}
    world.link.lamps = 0
    world.run(300)
    assert world.box.lamps() == [0, 0, 0, 0]


def test_lamps_go_out_while_the_table_is_silent(world: World) -> None:
    world.link.lamps = 1 << 2
    world.run(300)
    assert world.box.lamps() == [0, 1, 0, 0]
    world.unplug()
    world.run(3500)
    assert world.box.lamps() == [0, 0, 0, 0]
    world.plug()
    world.run(300)
    assert world.box.lamps() == [0, 1, 0, 0]


def test_times_stay_right_when_the_boxs_ticks_wrap(start: Start) -> None:
    world = World(start=start, ppm=-60, boot_ticks=(1 << 30) - 2_000_000)
    world.settle()
    world.run(1500)
    at = world.press("east", 1000)
    world.run(300)
    assert near(world.reports[0], at)
    assert near(world.reports[1], at + 1000 * MILLISECOND)


def test_an_overflow_is_reported_and_makes_no_press(start: Start) -> None:
    world = World(start=start)
    world.settle()
    world.unplug()
    for _ in range(80):
        world.press("east", 3)
        world.run(3)
        world.press("north", 3)
        world.run(3)
    world.touch("west", closed=True)
    world.run(100)
    world.reports.clear()
    world.plug()
    world.run(4000)
    assert world.told(Health) == [
        Health("buttons", None),
        Health("buttons", "box_overflow", "the box had no room for more edges: presses may be missing"),
        Health("buttons", None),
    ]
    assert world.told(Held) == []
    assert "west" not in presses(world)  # pressed while the store was full
    world.touch("west", closed=False)
    world.run(100)
    world.press("west", 50)
    world.run(100)
    assert presses(world)[-1] == "west"


def test_a_box_of_another_version_is_refused_and_keeps_its_edges() -> None:
    world = World()
    world.settle()
    world.to_table = lambda _, now: good(encode_frame("B", VERSION + 1, 77) + encode_frame("E", 77, 0, 0, 1, 5), now)
    world.run(100)
    assert world.reports == [
        Health("buttons", "box_version", f"the box has version {VERSION + 1}, this table {VERSION}: flash it again")
    ]
    world.to_table = good
    world.run(600)
    assert world.reports[-1] == Health("buttons", None)


def test_cpython_and_micropython_send_the_same_bytes(start: Start) -> None:
    """Every test here checks this (fixture `start`); in this one the box sends every kind of frame."""
    world = World(start=start, ppm=35, boot_ticks=(1 << 30) - 400_000)
    world.run(200)
    for seat in SEATS:
        world.press(seat, 7)
        world.run(3)
    world.link.lamps = 0b10_01_10_01
    world.unplug()
    world.press("east", 30)
    world.plug()
    world.run(700)
    kinds = [kind for kind, _ in FrameSplitter().feed(world.bytes_seen)]
    assert {*kinds} == {"B", "H", "E", "R"}


well_formed = st.sampled_from(sorted(FRAME_FIELDS)).flatmap(
    lambda kind: st.lists(
        st.one_of(st.integers(0, 5), st.just(1000), st.integers(0, 2**45)),
        min_size=FRAME_FIELDS[kind],
        max_size=FRAME_FIELDS[kind],
    ).map(lambda numbers: encode_frame(kind, *numbers))
)


@given(st.lists(well_formed, max_size=60))
def test_nonsensical_frames_stop_neither_side(frames: list[bytes]) -> None:
    """Frames with a valid CRC, as another program might send them."""
    world = World()
    world.settle()
    for frame in frames:
        world.now += MILLISECOND
        world._take(world.link.received(frame, world.now))
        world.box.turn(frame)
    world.power_on()
    world.run(1000)
    world.reports.clear()
    world.press("east")
    world.run(300)
    assert presses(world) == ["east"]


def test_a_lost_edge_has_no_seat() -> None:
    assert len(SEATS) == LOST
