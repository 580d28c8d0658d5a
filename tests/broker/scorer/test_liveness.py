"""Which tables are silent, by a monotonic clock that counts only the time in which the scorer listened."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import BEAT_S, SILENT_S, Lifecycle, ScorerState
from broker.scorer.devices import LONGEST_S, Liveness
from broker.scorer.grid import grid
from broker.web.render import card_state
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import beat, fact, restored, state

YEAR_MS = 365 * 86_400_000


class Seconds:
    """A monotonic clock that advances when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Room:
    """A scorer connected to the broker, whose time advances when told to."""

    def __init__(self, hall: Hall, seconds: Seconds) -> None:
        self.hall, self.seconds = hall, seconds
        hall.clock.read = lambda: NOW + int(seconds.now * 1000)
        hall.connect(up=True)

    def wait(self, seconds: float) -> None:
        """Let time pass while the scorer works."""
        for _ in range(int(seconds)):
            self.seconds.now += 1
            self.hall.scorer.step(timeout=0)

    def card(self, table: int) -> Any:  # noqa: ANN401 - a word of the page
        """Return what the card of a table shows."""
        return card_state(self.hall.scorer.feed.current.tables[table - 1])


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    seconds = Seconds()
    with open_journal(tmp_path) as journal:
        yield Room(make_hall(tmp_path, journal, seconds=seconds), seconds)


def new(table: int, **more: Any) -> Any:  # noqa: ANN401 - any of a state's fields
    """Return the state of a table whose program sends beats."""
    return replace(state(table), version="0.1.0", **more)


def test_a_table_without_a_message_for_three_beats_is_silent(room: Room) -> None:
    room.hall.hear(new(1), new(2))
    for _ in range(5):
        room.wait(BEAT_S)
        room.hall.hear(beat(2))
    assert (room.card(1), room.card(2)) == ("silent", "playing")
    assert room.hall.alerts() == [("table_silent", 1)]


def test_a_silent_table_is_reported_once_and_again_after_it_was_heard(room: Room) -> None:
    room.hall.hear(new(1))
    room.wait(3 * SILENT_S)
    room.hall.hear(beat(1))
    assert room.card(1) == "playing"
    room.wait(SILENT_S - 1)
    assert room.hall.alerts() == [("table_silent", 1)]
    room.wait(1)
    assert room.hall.alerts() == [("table_silent", 1)] * 2


def test_a_program_that_sends_no_beats_is_never_silent(room: Room) -> None:
    room.hall.hear(state(1))
    room.wait(3 * SILENT_S)
    assert (room.card(1), room.hall.alerts()) == ("playing", [])


@pytest.mark.parametrize("end", ["lost", "disconnected"])
def test_a_table_known_to_be_gone_is_not_silent(room: Room, end: Lifecycle) -> None:
    room.hall.hear(new(1), new(1, lifecycle=end, count=2))
    room.hall.ear.forget()
    room.wait(3 * SILENT_S)
    assert (room.card(1), room.hall.alerts()) == (end, [])


def test_no_table_becomes_silent_while_the_broker_is_away(room: Room) -> None:
    room.hall.hear(new(1))
    room.hall.connect(up=False)
    room.wait(3 * SILENT_S)
    room.hall.connect(up=True)
    room.wait(SILENT_S - 1)
    assert room.card(1) == "playing"
    room.wait(1)
    assert room.card(1) == "silent"


def test_a_scorer_that_was_frozen_takes_no_table_for_silent(room: Room) -> None:
    room.hall.hear(new(1))
    room.seconds.now += 3600
    room.wait(SILENT_S - LONGEST_S - 1)
    assert room.card(1) == "playing"


def test_the_wall_clock_makes_no_table_silent(room: Room) -> None:
    room.hall.hear(new(1))
    room.hall.clock.read = lambda: NOW + 10 * YEAR_MS
    room.wait(BEAT_S)
    room.hall.clock.read = lambda: NOW - 10 * YEAR_MS
    room.wait(BEAT_S)
    assert room.hall.alerts() == []


def test_after_a_restart_a_table_known_only_from_the_broker_becomes_silent(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        Room(make_hall(tmp_path, journal, seconds=Seconds()), Seconds()).hall.hear(new(1), fact(1, 1, restored(1)))
    seconds = Seconds()
    with open_journal(tmp_path) as journal:
        room = Room(make_hall(tmp_path, journal, seconds=seconds), seconds)
        room.hall.hear(new(1))  # as retained by the broker
        room.wait(SILENT_S)
        assert room.card(1) == "silent"


@pytest.mark.parametrize("had", [None, "lost"])
def test_a_table_without_a_known_state_is_asked_for_it_at_each_beat(room: Room, had: Lifecycle | None) -> None:
    """Its state arrived while the scorer was subscribing."""
    if had:
        room.hall.hear(new(1, count=1), new(1, count=1, lifecycle=had))
    for _ in range(2):
        room.hall.ear.forget()
        room.hall.hear(beat(1))
        assert room.hall.ear.told("served/1")["unseen"]
    room.hall.hear(new(1, count=2))
    assert not room.hall.ear.told("served/1")["unseen"]
    room.hall.ear.forget()
    room.hall.hear(beat(1))
    assert room.hall.ear.heard("served/1") == []
    assert room.card(1) == "playing"


def test_a_device_that_is_not_admitted_is_not_asked_for_its_state(room: Room) -> None:
    room.hall.ear.forget()
    room.hall.hear(beat(1, device="kiosk-0009"))
    assert room.hall.ear.heard("served/1") == []


def test_another_device_replaces_a_silent_one_but_not_one_heard_again(room: Room) -> None:
    room.hall.hear(new(1), new(2))
    room.wait(SILENT_S)
    room.hall.hear(beat(2))
    for table in (1, 2):
        room.hall.hear(new(table, device="kiosk-0002"))
    devices = [room.hall.ear.told(f"served/{table}")["device"] for table in (1, 2)]
    assert devices == ["kiosk-0002", "kiosk-0001"]


@pytest.mark.parametrize("alive", [False, True])
def test_a_device_not_heard_since_a_restart_gives_way_unless_it_sends_a_beat(tmp_path: Path, *, alive: bool) -> None:
    """The broker retains only the second device's state."""
    seconds = Seconds()
    with open_journal(tmp_path) as journal:
        Room(make_hall(tmp_path, journal, seconds=seconds), seconds).hall.hear(new(1))
        again = Room(make_hall(tmp_path, journal, seconds=seconds), seconds)
        second = new(1, device="kiosk-0002")
        again.hall.hear(second)
        for _ in range(4):
            again.wait(BEAT_S)
            if alive:
                again.hall.hear(beat(1))
        again.hall.hear(second)
        serves = again.hall.scorer.live.devices.serving.of(1)[0]
        assert serves == ("kiosk-0001" if alive else "kiosk-0002")


def test_an_old_state_after_the_last_will_does_not_block_another_device(room: Room) -> None:
    room.hall.hear(new(1, count=5), new(1, count=5, lifecycle="lost"), new(1, count=4))
    room.hall.hear(new(1, device="kiosk-0002"))
    assert room.hall.scorer.live.devices.serving.of(1)[0] == "kiosk-0002"


def test_beats_of_a_device_that_does_not_serve_the_table_are_ignored(room: Room) -> None:
    room.hall.hear(new(1))
    for _ in range(4):
        room.wait(BEAT_S)
        room.hall.hear(beat(1, device="kiosk-0002"))
    assert room.card(1) == "silent"


def test_the_grid_shows_a_silent_table_as_lost(room: Room) -> None:
    room.hall.hear(new(1), new(2, unsent=3))
    room.wait(SILENT_S)
    rows = grid(room.hall.scorer.snapshot, room.hall.scorer.feed.current.tables).rows
    assert [row.needs(NOW)[0] for row in rows[:2]] == ["lost", "offline_unsent"]


def test_the_scorer_publishes_its_state_every_ten_seconds_and_when_it_ends(room: Room) -> None:
    room.hall.ear.forget()
    room.wait(3 * BEAT_S)
    room.hall.scorer.publisher.close()
    said = [one for one in room.hall.ear.heard("cup/scorer") if isinstance(one, ScorerState)]
    assert [one.lifecycle for one in said] == ["active", "active", "active", "gone"]
    assert len({one.run for one in said}) == 1


def test_beats_are_not_in_the_message_log(room: Room) -> None:
    room.hall.hear(new(1), beat(1))
    assert [one.kind for one in room.hall.scorer.wire.newest() if one.way == "in"] == ["state"]


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.booleans()), max_size=40))
def test_a_table_is_silent_after_enough_listening_time_in_any_steps(steps: list[tuple[int, bool, bool]]) -> None:
    """A model: seconds one by one."""
    liveness, now, listened = Liveness(), 0.0, 0.0
    liveness.check(now, listening=False)
    liveness.heard(1)
    for passed, listening, speaks in steps:
        now += passed
        liveness.check(now, listening=listening)
        if listening and passed >= 1:
            listened += min(passed, LONGEST_S)
        assert (1 in liveness.silent) == (listened >= SILENT_S)
        if speaks:
            liveness.heard(1)
            listened = 0.0
