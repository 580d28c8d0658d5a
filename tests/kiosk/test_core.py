"""A full card stops no play silently: the table says so, loses nothing, and goes on once there is room."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from broker.protocol import SEATS, Seat, Served
from firmware.reports import Pressed, Released
from kiosk.errors import JournalFull
from kiosk.journal import TableJournal
from kiosk.table import Phase
from kiosk.table.events import CallToggled, ClaimWindowElapsed
from tests.kiosk.journals import OURS, receipt
from tests.kiosk.standing import Standing, standing
from tests.kiosk.tables import EVENT, MS, TABLE, S, right


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Standing]:
    with standing(tmp_path) as made:
        yield made


def fill(table: Standing) -> None:
    """Let the file grow no further, as on a full disk, and use up the space left in it."""
    store = table.journal._store
    (pages,) = store.execute("PRAGMA page_count").fetchone()
    store.execute(f"PRAGMA max_page_count={pages}")
    while (
        table.program._apply(called := CallToggled(at=table.time.wait(MS), open=not table.program.state.calling))
        is None
    ):
        pass
    assert table.program._apply(called) == "journal_full"
    with suppress(JournalFull):  # smaller writes than a call may still have had room
        while True:
            table.journal.record(ClaimWindowElapsed(at=1), (), wall=1)


def make_room(table: Standing) -> None:
    table.journal._store.execute("PRAGMA max_page_count=1000000")


def noticed(table: Standing) -> tuple[str, ...]:
    """Let the table check its card, as it does by the clock."""
    table.pass_time(31 * S)
    return table.program.view().line.health


def tap(table: Standing, seat: Seat) -> int:
    """Press and let go; return when."""
    edge = table.time.wait(10 * MS)
    table.program.report(Pressed(seat, edge))
    table.program.report(Released(seat, edge + 5 * MS))
    table.program.step(timeout=0)
    return edge


def test_presses_that_could_not_be_written_count_by_their_edges_once_there_is_room(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    table.time.wait()
    fill(table)
    edges = [(seat, tap(table, seat)) for seat in ("west", "north")]
    assert (table.is_in(Phase.PLAYING), table.program.state.declarations) == (True, ())
    assert noticed(table) == ("disk: journal_full",)
    make_room(table)
    table.pass_time(1 * S)
    assert [(one.seat, one.at) for one in table.program.state.declarations] == edges
    assert (table.is_in(Phase.DECLARED), table.program.view().line.health) == (True, ())


def test_trays_checked_on_a_full_card_need_not_be_touched_again(table: Standing) -> None:
    """A camera does not check again what lies still."""
    table.come_to(Phase.RESTORING)
    fill(table)
    play = table.program.state.play
    assert play is not None
    for seat in SEATS:
        table.program.observe(right(play, seat, table.time.wait(MS)))
    table.program.step(timeout=0)
    make_room(table)
    noticed(table)
    assert table.phase is Phase.SEATING


def serves(table: Standing, device: str) -> None:
    """Let the scorer announce which device serves the table."""
    table.program._server.take_served(
        Served(id="served-00000001", event=EVENT, seq=1, table=TABLE, device=device), table.time.now
    )


def test_presses_waiting_for_room_outlast_another_devices_turn(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    table.time.wait()
    fill(table)
    edges = [(seat, tap(table, seat)) for seat in ("west", "north")]
    serves(table, "kiosk-other-1")
    make_room(table)
    noticed(table)
    assert table.is_in(Phase.PLAYING)
    serves(table, table.journal.device)
    table.pass_time(31 * S)
    assert [(one.seat, one.at) for one in table.program.state.declarations] == edges


def test_repeatable_input_is_refused_and_no_receipt_stops_the_kiosk(table: Standing) -> None:
    table.come_to(Phase.RECORDED)
    fill(table)
    table.type("enter")
    assert (table.is_in(Phase.RECORDED), table.program.view().problem) == (True, "journal_full")
    sent = table.journal.unsent()
    table.program._server.facts.apply_receipt(receipt(taken={one.seq: one.id for one in sent}), table.time.now)
    table.program._server.facts.reconnected(table.time.now)
    make_room(table)
    table.type("enter")
    assert table.phase is Phase.RESTORING
    table.program._server.facts.apply_receipt(receipt(taken={one.seq: one.id for one in sent}), table.time.now)
    assert table.journal.unsent() == ()


def test_the_message_about_the_card_reveals_no_press(table: Standing, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The card is checked by the clock alone: the same shows whether or not somebody has pressed."""
    seen = []
    with standing(tmp_path_factory.mktemp("other")) as other:
        for one, pressing in ((table, True), (other, False)):
            one.come_to(Phase.PLAYING)
            fill(one)
            one.pass_time(31 * S)
            before = one.program.view()
            if pressing:
                tap(one, "south")
            else:
                one.time.wait(10 * MS)
            seen.append((before, one.program.view()))
    assert seen[0] == seen[1]
    assert seen[0][0] == seen[0][1]


def test_pressing_again_on_a_full_card_declares_no_hu(table: Standing) -> None:
    table.come_to(Phase.CONFIRMING)
    fill(table)
    table.press(*SEATS)
    table.press(*SEATS)
    make_room(table)
    assert noticed(table) == ()
    assert (table.phase, table.program.state.declarations) == (Phase.PLAYING, ())


def test_every_hu_in_one_claim_window_on_a_full_card_counts(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    fill(table)
    table.time.wait()
    edges = {seat: tap(table, seat) for seat in ("west", "south")}
    make_room(table)
    noticed(table)
    assert {one.seat: one.at for one in table.program.state.declarations} == edges


def test_a_kiosk_that_starts_on_a_full_card_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(_: object, __: str, ___: str) -> None:
        raise filled()

    monkeypatch.setattr(TableJournal, "_set_about", no_room)
    with pytest.raises(JournalFull):
        TableJournal(tmp_path / "table.sqlite", OURS)


def filled() -> sqlite3.OperationalError:
    """Return SQLite's error when a file cannot grow."""
    store = sqlite3.connect(":memory:")
    store.execute("PRAGMA max_page_count=1")
    try:
        store.execute("CREATE TABLE one (x)")
    except sqlite3.OperationalError as error:
        return error
    raise AssertionError("there was room")
