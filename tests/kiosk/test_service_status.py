"""A device whose table is served by another does nothing, keeps everything, and goes on when it is admitted."""

import time
from collections.abc import Iterator
from dataclasses import replace as replaced
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.protocol import SEATS, LogMessage, Served, TableState, decode_on_topic, encode, topics
from kiosk.screens import CallView, ElsewhereView
from kiosk.server import ServiceStatus
from kiosk.table import Phase
from kiosk.table.events import Assigned
from tests.kiosk.connected import Table, begin, connected, restore
from tests.kiosk.tables import EVENT, TABLE, S, plan, play
from tests.patience import PATIENCE_S

OURS, OTHER = "kiosk-ours-1", "kiosk-other-1"


def served(device: str | None, **more: object) -> Served:
    return Served(id="served-00000001", event=EVENT, seq=1, table=TABLE, device=device, **more)  # type: ignore[arg-type]  # any of its fields


def test_a_device_serves_its_table_until_it_is_told_otherwise() -> None:
    status = ServiceStatus(OURS)
    assert (status.served_elsewhere, status.calls_before) == (False, None)
    assert [status.take(served(None)), status.take(served(OURS)), status.take(served(OTHER))] == ["", "", ""]
    assert status.served_elsewhere
    assert [status.take(served(OTHER)), status.take(served(OURS)), status.served_elsewhere] == ["", "back", False]


def test_the_serving_device_repeats_its_state_once_for_each_refused_device() -> None:
    status = ServiceStatus(OURS)
    said = [status.take(served(OURS, refused=one)) for one in (None, OTHER, OTHER, "kiosk-third-1", OURS)]
    assert said == ["", "repeat_state", "", "repeat_state", ""]


def test_the_serving_device_repeats_its_state_as_often_as_asked() -> None:
    status = ServiceStatus(OURS)
    asked = [served(OURS, unseen=True), served(None, unseen=True), served(OURS), served(OTHER, unseen=True)]
    assert [status.take(one) for one in asked] == ["repeat_state", "repeat_state", "", ""]


def test_a_refused_device_greets_once() -> None:
    status = ServiceStatus(OURS)
    status.take(served(OTHER))
    assert [status.may_greet(), status.may_greet()] == [True, False]
    status.take(served(OURS))
    assert status.may_greet()


def test_the_progress_of_a_call_is_reported_only_for_our_own() -> None:
    status = ServiceStatus(OURS)
    status.take(served(OURS, calls_before=2, arbiter_coming=True))
    assert (status.calls_before, status.arbiter_coming) == (2, True)
    status.take(served(OTHER, calls_before=2, arbiter_coming=True))
    assert (status.calls_before, status.arbiter_coming) == (None, False)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with connected(tmp_path) as made:
        yield made


def tell(table: Table, message: Served) -> None:
    """Deliver a message of the scorer to the table."""
    before = table.program._server.service._served
    table._scorer.say(topics.SERVED.at(EVENT, table=TABLE), encode(message), retain=True)
    last = time.monotonic() + PATIENCE_S
    while table.program._server.service._served is before:
        assert time.monotonic() < last, f"the table has not heard {message}"
        table.program.step(timeout=0.01)


def heard(table: Table) -> list[object]:
    """Return what the arbiter has received from the table, in order."""
    return [decode_on_topic(one.topic, one.payload)[1] for one in table.hear_until_marked()]


def test_while_another_device_serves_nothing_is_done_or_lost_and_then_everything_goes_on(
    table: Table,
) -> None:
    restore(table)
    device = table.program._table.journal.device
    tell(table, served(OTHER))
    seen, phase = table.program.view(), table.program.state.phase
    assert (seen.phase, seen.players) == (ElsewhereView("confirming"), {})
    heard(table)
    table.press(*SEATS)
    table.program.key("c")
    table.time.now += 10 * S
    table.program.step(timeout=0)
    assert (table.program.state.phase, table.program.state.calling) == (phase, False)
    assert heard(table) == []
    kept = table.program._table.journal.unsent()
    table.program.key("enter")  # somebody asks
    assert [type(one) for one in heard(table)] == [TableState] * 2
    tell(table, served(device))
    assert table.program.view().state == "confirming"
    assert table.program.view().players
    said = heard(table)
    assert [replace(one, sender=None) for one in said if isinstance(one, LogMessage)] == [*kept]
    assert {
        one.sender if isinstance(one, LogMessage) else one.device
        for one in said
        if isinstance(one, LogMessage | TableState)
    } == {device}
    table.press(*SEATS)
    table.until(Phase.PLAYING)


def test_trays_are_checked_by_the_serving_device_and_again_when_it_serves_anew(table: Table) -> None:
    device = table.program._table.journal.device
    table.program._apply(Assigned(at=table.time.wait(), assignment=plan(play(1))))
    for serving, target in ((device, play(1)), (OTHER, None), (device, play(1))):
        tell(table, served(serving))
        assert table.program.camera_target == target


def test_the_place_in_the_queue_is_shown_only_with_a_call_that_the_table_sees(table: Table) -> None:
    begin(table)
    device = table.program._table.journal.device
    tell(table, served(device, calls_before=1, arbiter_coming=True))
    assert table.program.view().call is None
    table.program.key("c")
    assert table.program.view().call == CallView(1, arbiter_coming=True)
    core = table.program._table
    core.state = replaced(core.state, discreet=True)  # as after a long press
    assert table.program.view().call is None
