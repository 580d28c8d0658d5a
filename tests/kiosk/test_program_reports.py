"""Reports of devices, as handled by a table's program: presses, holds, health, and late reports of a box."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker.protocol import SEATS, Call, Declared, Result, Seat
from firmware.reports import Health, Held, NotScanned, Pressed, Released, Scanned
from kiosk.journal import SequenceWatch
from kiosk.table import Phase
from kiosk.table.events import ButtonPressed
from kiosk.table.state import Declaration
from tests.kiosk.standing import Standing, Time, standing
from tests.kiosk.tables import HOLD, MS, WINDOW, S


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Standing]:
    with standing(tmp_path) as made:
        yield made


def facts(table: Standing) -> list[object]:
    return [message.fact for message in table.journal.unsent()]


def test_a_hold_at_a_result_calls_and_does_not_accept_it(table: Standing) -> None:
    table.come_to(Phase.ACCEPTING)
    table.press("east", "south", "west")
    table.hold("north")
    assert table.is_in(Phase.ACCEPTING)
    assert sorted(table.program.state.agreed) == ["east", "south", "west"]
    assert facts(table)[-1] == Call(round=1, deal=1, open=True)
    table.press("north")
    assert isinstance(facts(table)[-1], Result)


def test_a_press_in_a_play_is_in_the_journal_before_the_finger_lets_go(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    at = table.time.wait()
    table.program.report(Pressed("west", at))
    table.program.step(timeout=0)
    assert table.happened()[-1] == ButtonPressed(at=at, seat="west")


def test_reports_out_of_the_order_of_their_edges_make_the_same_declarations(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    first = table.time.wait()
    presses: list[tuple[Seat, int]] = [("north", 400), ("east", 399), ("south", 0)]
    for seat, after in presses:
        table.program.report(Pressed(seat, first + after * MS))
    table.time.wait(S)
    table.program.step(timeout=0)
    for seat, _ in presses:
        table.program.report(Released(seat, table.time.wait(MS)))
    table.pass_time(WINDOW)
    (declared,) = [fact for fact in facts(table) if isinstance(fact, Declared)]
    assert [(press.seat, press.after_ms) for press in declared.presses] == [("south", 0), ("east", 399), ("north", 400)]


def test_a_call_in_a_play_is_sent_when_its_window_is_over_and_shows_nowhere_at_the_table(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    before, told = table.program.view(), facts(table)
    table.hold("south")
    assert (table.program.view(), facts(table)) == (before, told)
    table.pass_time(WINDOW)
    later = table.program.view()  # its clock may have gone on by a minute
    assert (table.phase, replace(later, line=before.line)) == (Phase.PLAYING, before)
    assert facts(table) == [*told, Call(round=1, deal=1, open=True)]


# ---- health -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["buttons", "lamps", "scanner"])
@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.FINISHED])
def test_a_faulty_part_is_shown_and_reported_in_every_phase_until_it_works(
    table: Standing, phase: Phase, part: str
) -> None:
    table.come_to(phase)
    before = table.program.view()
    table.program.report(Health(part, "device_unplugged", "/dev/ttyACM0 is gone"))
    table.program.step(timeout=0)
    assert table.program.view().line.health == (f"{part}: device_unplugged",)
    told = table.program._server.state_message()
    assert (told.lifecycle, told.health) == ("alert", {part: "device_unplugged"})
    table.program.report(Health(part, None))
    table.program.step(timeout=0)
    assert table.program.view() == before
    assert (table.program._server.state_message().lifecycle, table.program._server.state_message().health) == (
        "ready",
        {},
    )


@pytest.mark.parametrize("phase", [Phase.PLAYING, Phase.CLAIMING])
def test_a_button_that_stays_down_in_a_play_is_reported_to_the_arbiter_and_shown_after_the_play(
    table: Standing, phase: Phase
) -> None:
    """One player's finger stays down: shown at once, it would reveal whose."""
    table.come_to(phase)
    before = table.program.view()
    table.program.report(Health("button-east", "button_stuck", "for 30 s"))
    table.program.step(timeout=0)
    assert table.program.view() == before
    assert table.program._server.state_message().health == {"button-east": "button_stuck"}
    table.time.wait()
    table.program.key("d")
    table.pass_time(9 * S)
    assert table.program.view().line.health == ("button-east: button_stuck",)


@pytest.mark.parametrize("phase", [Phase.PLAYING, Phase.CLAIMING])
def test_a_contact_that_chatters_in_a_play_is_not_reported_until_the_play_is_over(
    table: Standing, phase: Phase
) -> None:
    """Its pulses come when a finger moves."""
    table.come_to(phase)
    before = table.program.view()
    table.program.report(Health("contact-east", "button_chatters", "5 pulses in 0.1 s"))
    table.program.step(timeout=0)
    assert (table.program.view(), table.program._server.state_message().health) == (before, {})
    table.time.wait()
    table.program.key("d")
    table.pass_time(9 * S)
    assert table.program._server.state_message().health == {"contact-east": "button_chatters"}


def test_a_late_press_and_the_health_of_its_button_do_not_hide_each_other(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    first = table.time.wait()
    table.program.report(Pressed("west", first))
    table.program.report(Released("west", first + MS))
    table.pass_time(WINDOW + S)
    table.program.report(Pressed("north", first + S))
    table.program.report(Health("button-north", "button_disconnected"))
    table.program.step(timeout=0)
    both = {"press-north": "press_told_late", "button-north": "button_disconnected"}
    assert table.program._server.state_message().health == both
    table.program.report(Health("button-north", None))
    table.program.step(timeout=0)
    assert table.program._server.state_message().health == {"press-north": "press_told_late"}


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in (Phase.RESTORING, Phase.FINISHED)])
def test_scans_matter_only_while_walls_are_restored(table: Standing, phase: Phase) -> None:
    table.come_to(phase)
    before, happened = table.program.view(), table.happened()
    table.program.report(Scanned(117, "C", table.time.wait()))
    table.program.report(NotScanned("scan_foreign", "D117", table.time.now))
    table.program.step(timeout=0)
    assert (table.program.view(), table.happened()) == (before, happened)


# ---- late reports of a box ------------------------------------------------------------------------------


def test_a_window_stays_open_for_an_unplugged_box_and_accepts_its_stored_presses(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    first = table.time.wait()
    table.program.report(Pressed("west", first))
    table.program.report(Released("west", first + 80 * MS))
    table.program.report(Health("buttons", "device_unplugged"))
    table.pass_time(8 * S)
    assert table.is_in(Phase.CLAIMING)
    table.program.report(Health("buttons", None))
    table.pass_time(200 * MS)
    kept: list[tuple[Seat, int]] = [("north", WINDOW - 1), ("south", WINDOW), ("east", 500 * MS)]
    for seat, after in kept:
        table.program.report(Pressed(seat, first + after))
        table.program.report(Released(seat, first + after + 80 * MS))
    table.pass_time(2 * S)
    assert table.program.state.declarations == (
        Declaration("west", first),
        Declaration("east", first + 500 * MS),
        Declaration("north", first + WINDOW - 1),
    )
    assert table.is_in(Phase.DECLARED)


def test_a_box_that_does_not_come_back_keeps_the_window_open_for_ten_seconds(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    table.press("west")
    table.program.report(Health("buttons", "device_unplugged"))
    table.pass_time(WINDOW + 9 * S)
    assert table.is_in(Phase.CLAIMING)
    table.pass_time(1 * S)
    assert table.is_in(Phase.DECLARED)


def test_a_press_too_late_for_its_window_is_reported_until_trays_are_laid_again(
    table: Standing,
) -> None:
    table.come_to(Phase.PLAYING)
    first = table.time.wait()
    table.program.report(Pressed("west", first))
    table.program.report(Released("west", first + MS))
    table.pass_time(WINDOW + S)
    assert table.is_in(Phase.DECLARED)
    table.program.report(Pressed("north", first + S))
    table.program.step(timeout=0)
    assert table.program._server.state_message().health == {"press-north": "press_told_late"}
    for key in ("1", "8", "enter", "e"):
        table.program.key(key)
    table.press(*SEATS)
    assert table.is_in(Phase.RECORDED)
    table.program.key("enter")
    assert (table.phase, table.program._server.state_message().health) == (Phase.RESTORING, {})


def test_presses_stored_by_a_box_during_a_restart_count_by_their_edges(tmp_path: Path) -> None:
    time = Time()
    with standing(tmp_path, time) as table:
        table.come_to(Phase.PLAYING)
        first = time.wait()
        table.program.report(Pressed("west", first))
        table.program.report(Released("west", first + 80 * MS))
        table.program.step(timeout=0)
    time.wait(4 * S)
    with standing(tmp_path, time) as table:
        assert table.is_in(Phase.CLAIMING)
        table.program.report(Pressed("east", first - 1))
        table.program.report(Released("east", first + 90 * MS))
        table.pass_time(WINDOW + S)
        assert table.program.state.declarations == (Declaration("east", first - 1), Declaration("west", first))


def test_a_hold_across_a_restart_still_withdraws_its_press(tmp_path: Path) -> None:
    time = Time()
    with standing(tmp_path, time) as table:
        table.come_to(Phase.PLAYING)
        at = time.wait()
        table.program.report(Pressed("west", at))
        table.program.step(timeout=0)
    time.wait(HOLD)
    with standing(tmp_path, time) as table:
        table.program.report(Held("west", at))
        table.pass_time(WINDOW + S)
        assert (table.phase, table.program.state.declarations) == (Phase.PLAYING, ())


def test_a_fact_out_of_sequence_is_sent_and_reported_until_a_later_play_has_its_result(
    table: Standing, caplog: pytest.LogCaptureFixture
) -> None:
    table.come_to(Phase.ACCEPTING)
    told = len(table.journal.unsent())
    table.program._table.sequence = SequenceWatch()  # it knows nothing of earlier reports
    table.press(*SEATS)
    assert table.is_in(Phase.RECORDED)
    (sent,) = table.journal.unsent()[told:]
    assert isinstance(sent.fact, Result)
    assert table.program._server.state_message().health == {"facts": "fact_unexpected"}
    assert table.program.view().line.health == ("facts: fact_unexpected",)
    (told_once,) = [one.msg for one in caplog.records if one.levelname == "ERROR"]
    assert isinstance(told_once, dict)
    asked = {"event": "fact_unexpected", "fact": "result", "round": 1, "deal": 1, "code": "play_not_restored"}
    assert told_once | asked == told_once
    table.type("enter")
    table._restore()
    while not table.is_in(Phase.PLAYING):
        table.press(*SEATS)
    table.time.wait()
    table.type("d")
    table.pass_time(9 * S)
    table.press(*SEATS)
    assert table.is_in(Phase.RECORDED)
    assert table.program._server.state_message().health == {}


def test_after_a_restart_all_facts_are_found_in_sequence(tmp_path: Path) -> None:
    time = Time()
    with standing(tmp_path, time) as table:
        table.come_to(Phase.ACCEPTING)
    with standing(tmp_path, time) as table:
        table.press(*SEATS)
        assert (table.phase, table.program._table.sequence.unexpected) == (Phase.RECORDED, None)
