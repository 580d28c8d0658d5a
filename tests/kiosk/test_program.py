"""What a table's program makes of a slow device and of the scorer's messages, on a real broker."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from broker.contract.words import SEATS
from firmware.reports import Pressed, Released
from kiosk.table.state import Phase
from tests.kiosk.connected import Table, begin, connected, restore
from tests.kiosk.journals import receipt
from tests.kiosk.tables import MS, S, plan, play


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with connected(tmp_path) as made:
        yield made


def test_a_second_push_at_a_confirmation_is_no_hu_however_slow_the_device(table: Table) -> None:
    """The four presses lie in the queue while the device hangs; somebody pushes again, having seen nothing happen."""
    restore(table)
    table.time.now += 2 * S
    for seat in SEATS:
        table.program.tell(Pressed(seat, table.time.now))
        table.program.tell(Released(seat, table.time.now + MS))
    again = table.time.now + 3 * S
    table.time.now += 5 * S
    table.program.step(timeout=0)
    assert table.program.state.phase is Phase.PLAYING
    table.program.tell(Pressed("north", again))
    table.program.step(timeout=0)
    assert table.program.state.declarations == ()


def test_a_plan_waits_for_the_receipt_of_its_own_store(table: Table) -> None:
    """A broker may keep the plan of a store that is gone."""
    table.hello()
    table.tell(receipt(store="store-of-today"))
    table.tell(plan(play(1), store="store-of-yesterday"))
    table.tell(msgspec.structs.replace(plan(play(1, deal=7)), store="store-of-today"))
    table.until(Phase.RESTORING)
    assert table.program.state.play == play(1, deal=7)


def test_a_plan_of_another_store_is_played_though_its_rounds_were_played_here_in_a_rehearsal(table: Table) -> None:
    begin(table)
    table.time.now += 2 * S
    table.program.key("d")
    table.time.now += 6 * S
    table.until(Phase.ACCEPTING)
    table.press(*SEATS)
    table.until(Phase.RECORDED)
    table.tell(receipt(store="store-of-today"))
    table.tell(plan(play(1, deal=7), play(2, deal=8), store="store-of-today"))
    table.until(Phase.RESTORING)
    assert table.program.state.play == play(1, deal=7)


def test_what_was_refused_is_told_again_when_the_plan_has_been_put_right(table: Table) -> None:
    begin(table)
    table.said("Restored", "Confirmed")
    journal = table.program._journal
    table.tell(receipt(refused={one.seq: (one.id, "not_planned") for one in journal.unsent()}))
    while len(journal.refused()) < 2:
        table.program.step(timeout=0.01)
    table.tell(plan(play(1), play(2)))
    while journal.refused():
        table.program.step(timeout=0.01)
    assert set(table.said("Restored", "Confirmed")) >= {"Restored", "Confirmed"}
