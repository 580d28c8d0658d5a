"""What staff work with while walls are restored: heap, scans, rows ticked by hand, and who may vouch for a tray."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS, CarrierCode, Restored, Seat
from firmware.reports import NotScanned, Scanned
from kiosk.camera.observations import CameraHealth, SeenTile, TableObservation
from kiosk.restoring import (
    Heap,
    ScanAnswer,
    ScannedSheet,
    Scans,
    TrayRun,
    restoring_from_draft,
    sorting_stage,
    unseen_serials,
    with_serial,
    with_tiles_in_view,
    with_unreadable,
)
from kiosk.screens import RestoringView
from kiosk.table import (
    PLACES,
    Phase,
    TilePlace,
    place_by_serial,
)
from kiosk.table.events import TrayChecked
from tests.kiosk.judging import tell_pin
from tests.kiosk.standing import Standing, phase_view, standing
from tests.kiosk.table.carriers import DEAL
from tests.kiosk.tables import EVENT, play, right, strange, swapped


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Standing]:
    with standing(tmp_path) as made:
        yield made.come_to(Phase.RESTORING)


def scan(table: Standing, *serials: int, set_text: str = "01") -> None:
    for serial in serials:
        table.program.report(Scanned(serial, set_text, table.time.wait()))
    table.program.step(timeout=0)


def sheet_on(table: Standing) -> ScannedSheet | None:
    restoring = phase_view(table.program.view(), RestoringView).restoring
    return restoring.sheet


def answer(table: Standing) -> tuple[int | None, str | None]:
    restoring = phase_view(table.program.view(), RestoringView).restoring
    assert restoring.scans.answer is not None
    return restoring.scans.answer.serial, restoring.scans.answer.code


def restored(table: Standing) -> list[Restored]:
    return [message.fact for message in table.journal.unsent() if isinstance(message.fact, Restored)]


def break_camera(table: Standing) -> None:
    table.program.observe(CameraHealth("camera_unplugged"))
    table.program.step(timeout=0)


def test_a_deal_scanned_tray_by_tray_in_order_is_verified_by_the_scanner(table: Standing) -> None:
    for seat in SEATS:
        scan(table, *(serial for row in play(1).order[seat] for serial in row))
    assert [(fact.verified, fact.by) for fact in restored(table)] == [(True, "scanner")]


def test_a_scan_out_of_order_verifies_nothing_and_is_answered(table: Standing) -> None:
    scan(table, *(serial for seat in SEATS for row in reversed(play(1).order[seat]) for serial in row))
    assert table.phase is Phase.RESTORING
    assert answer(table) == (play(1).order["north"][0][-1], None)


def test_scans_of_foreign_tiles_and_other_codes_are_answered_and_change_nothing(table: Standing) -> None:
    before = table.happened()
    scan(table, 7, set_text="09")
    assert answer(table) == (7, "scan_foreign_set")
    table.program.report(NotScanned("scan_unknown", "4006381333931", 1))
    table.program.step(timeout=0)
    assert answer(table) == (None, "scan_unknown")
    assert table.happened() == before


@pytest.mark.parametrize(
    ("text", "sheet"),
    [
        (f"homologue:deal:{EVENT}:1", ScannedSheet(1)),
        (f"]Q1homologue:deal:{EVENT}:7", ScannedSheet(7)),
        ("homologue:deal:spring-open:1", ScannedSheet(None)),
    ],
)
def test_a_scanned_sheet_names_its_carrier_until_a_tray_is_shown(
    table: Standing, text: str, sheet: ScannedSheet
) -> None:
    before = table.happened()
    table.program.report(NotScanned("scan_unknown", text, 1))
    table.program.step(timeout=0)
    assert (sheet_on(table), table.happened()) == (sheet, before)
    table.program.observe(right(play(1), "east", table.time.wait()))
    table.program.step(timeout=0)
    assert sheet_on(table) is None


def test_a_sheet_under_the_camera_is_shown_once_and_stays_while_it_hides_the_trays(table: Standing) -> None:
    lying = TableObservation(sheet=CarrierCode(EVENT, 9))
    table.program.observe(lying)
    (first, *_), *_ = play(1).order["east"]
    rows = ((first, *(None,) * 12), (None,) * 11, (None,) * 10)
    table.program.observe(TrayChecked(at=table.time.wait(), seat="east", rows=rows))
    table.program.step(timeout=0)
    assert sheet_on(table) == ScannedSheet(9)
    table.type("back")
    table.program.observe(replace(lying, covered=1))
    table.program.step(timeout=0)
    assert sheet_on(table) is None


def test_a_sheet_on_the_screen_is_still_there_after_a_power_cut(table: Standing) -> None:
    table.program.report(NotScanned("scan_unknown", f"homologue:deal:{EVENT}:7", 1))
    table.program.step(timeout=0)
    assert restoring_from_draft(table.journal.restoring_draft, table.program.state.play).sheet == ScannedSheet(7)


def test_tiles_of_an_unknown_carrier_are_laid_as_this_deal_if_staff_say_so(table: Standing) -> None:
    table.program.observe(strange(play(1), "east", table.time.wait()))
    table.program.step(timeout=0)
    table.type("enter", "enter")
    assert table.program.state.work.left == 0
    table.type("back", "y")
    assert table.program.state.work.left == 0
    table.type("enter", "y")
    assert table.program.state.work.left > 0


def test_the_question_about_laying_tiles_again_outlasts_a_power_cut_and_goes_with_the_tray(
    table: Standing,
) -> None:
    table.program.observe(strange(play(1), "east", table.time.wait()))
    table.program.step(timeout=0)
    table.type("enter")
    assert restoring_from_draft(table.journal.restoring_draft, table.program.state.play).showing == "anew"
    table.program.observe(right(play(1), "south", table.time.wait()))
    table.program.step(timeout=0)
    assert phase_view(table.program.view(), RestoringView).restoring.showing == "camera"


def test_a_scan_in_a_play_shows_nothing(table: Standing) -> None:
    table.come_to(Phase.PLAYING)
    before = table.program.view()
    scan(table, 7)
    assert (table.phase, table.program.view()) == (Phase.PLAYING, before)


def test_nobody_vouches_for_a_tray_that_the_camera_can_read(table: Standing) -> None:
    table.type("h", "1", "2", "3")
    assert table.program.view().problem == "camera_reads"
    assert table.program.state.work.rows == frozenset()


def test_without_a_camera_rows_are_ticked_and_the_play_is_reported_as_not_verified(table: Standing) -> None:
    break_camera(table)
    table.type("h", *("1", "2", "3") * 4)
    assert [(fact.verified, fact.by) for fact in restored(table)] == [(False, "hand")]
    assert table.phase is Phase.SEATING


def test_ticks_are_taken_back_one_by_one_from_the_last(table: Standing) -> None:
    break_camera(table)
    table.type("h", "1", "2", "3", "2")
    assert table.program.state.work.rows == {("east", 0), ("east", 1), ("east", 2), ("south", 1)}
    table.type("back", "back")
    assert table.program.state.work.rows == {("east", 0), ("east", 1)}
    table.type("1")
    assert table.program.state.work.rows == {("east", 1)}


def test_the_heap_is_forgotten_with_the_next_play(table: Standing) -> None:
    table.program.observe(TableObservation(in_view=(SeenTile(7), SeenTile(8))))
    table.program.step(timeout=0)
    restoring = phase_view(table.program.view(), RestoringView).restoring
    assert restoring.heap.seen == {7, 8}
    table.come_to(Phase.PLAYING)
    table.time.wait()
    table.type("d")
    table.pass_time(9_000_000_000)
    table.press(*SEATS)
    table.type("enter")
    fresh = phase_view(table.program.view(), RestoringView).restoring
    assert (table.phase, fresh.heap.seen) == (Phase.RESTORING, frozenset())


def test_a_tray_under_the_camera_replaces_a_scan_on_the_screen(table: Standing) -> None:
    scan(table, 7)
    table.program.observe(swapped(play(1), "east", table.time.wait()))
    table.program.step(timeout=0)
    assert phase_view(table.program.view(), RestoringView).restoring.showing == "camera"


def test_after_a_power_cut_ticks_and_trays_are_as_they_were(tmp_path: Path) -> None:
    with standing(tmp_path) as table:
        table.come_to(Phase.RESTORING)
        table.program.observe(right(play(1), "south", table.time.wait()))
        table.program.step(timeout=0)
        break_camera(table)
        table.type("h", "1")
        before = table.program.state.work
    with standing(tmp_path) as again:
        assert again.program.state.work == before


PLAY = play(1)


def tray(seat: Seat) -> list[int]:
    return [DEAL[place] for place in PLACES if place.seat == seat]


def scanned(*serials: int, scans: Scans | None = None, set_text: str | None = "01") -> Scans:
    scans = scans or Scans()
    for serial in serials:
        scans = with_serial(scans, PLAY, serial, set_text)
    return scans


def test_a_scan_is_answered_with_the_place_of_the_tile() -> None:
    place = TilePlace("west", 1, 4)
    assert scanned(DEAL[place]).answer == ScanAnswer(DEAL[place], place)


def test_a_tile_scanned_twice_gets_the_same_answer_with_a_mark() -> None:
    place = TilePlace("west", 1, 4)
    scans = scanned(DEAL[place], DEAL[place])
    assert (scans.answer, scans.seen) == (ScanAnswer(DEAL[place], place, again=True), frozenset({DEAL[place]}))


def test_a_tile_of_another_set_has_no_place() -> None:
    assert scanned(5, set_text="02").answer == ScanAnswer(5, code="scan_foreign_set", text="02")
    lettered = scanned(5, set_text="C")
    assert (lettered.answer and lettered.answer.code, lettered.letter) == (None, "C")
    assert scanned(6, scans=lettered, set_text="D").answer == ScanAnswer(6, code="scan_foreign_set", text="D")


def test_a_scan_that_is_no_tile_is_answered_with_its_code_and_loses_nothing() -> None:
    before = scanned(*tray("south")[:5])
    after = with_unreadable(before, "scan_unknown", "4006381333931")
    assert after.answer == ScanAnswer(code="scan_unknown", text="4006381333931")
    assert (after.run, after.seen) == (before.run, before.seen)


@given(st.sampled_from(SEATS), st.lists(st.integers(0, 33), max_size=6))
def test_a_tray_is_complete_once_all_its_places_were_scanned_in_order_whatever_came_between(
    seat: Seat, strays: list[int]
) -> None:
    others, scans = [DEAL[TilePlace(other, 1, 3)] for other in SEATS if other != seat], Scans()
    for at, serial in enumerate(tray(seat)):
        assert scans.complete is None
        if at > 1 and at in strays:
            scans = scanned(others[at % 3], scans=scans)
            assert scans.answer is not None
            assert scans.answer.astray == [place for place in PLACES if place.seat == seat][at]
        scans = scanned(serial, scans=scans)
        scans = scanned(serial, scans=scans)
    assert scans.complete == seat


def test_two_exchanged_tiles_never_complete_a_tray() -> None:
    one, two, three, four, *rest = tray("east")
    scans = scanned(one, two, four, three, *rest)
    assert (scans.complete, scans.run) == (None, TrayRun("east", 3))


HOMES = place_by_serial(DEAL)


def of(seat: str, count: int) -> list[int]:
    return [DEAL[place] for place in PLACES if place.seat == seat][:count]


def test_tiles_seen_once_also_count_when_they_are_out_of_view() -> None:
    heap = with_tiles_in_view(with_tiles_in_view(Heap(), [SeenTile(7), SeenTile(8)]), [SeenTile(9)])
    assert heap.seen == {7, 8, 9}
    assert unseen_serials(heap, in_trays=range(10, 130)) == (1, 2, 3, 4, 5, 6, *range(130, 137))


def test_faces_foreign_tiles_and_unread_backs_are_counted_but_not_as_seen() -> None:
    heap = with_tiles_in_view(
        Heap(), [SeenTile(None, face_up=True), SeenTile(5, foreign=True), SeenTile(None), SeenTile(None)]
    )
    assert (heap.seen, heap.count(face_up=True), heap.count(foreign=True), heap.unread) == (frozenset(), 1, 1, 2)


def test_staff_sort_by_seat_until_nearly_all_tiles_in_view_are_of_one_seat() -> None:
    assert sorting_stage([*of("east", 10), *of("south", 10)], HOMES) == ("seat", None)
    assert sorting_stage([*of("east", 2), *of("south", 8)], HOMES) == ("place", "south")
    assert sorting_stage([*of("east", 3), *of("south", 8)], HOMES) == ("seat", None)
    assert sorting_stage(of("east", 4), HOMES) == ("seat", None)


def test_keys_at_the_arbiters_panel_tick_no_rows_and_answer_no_question_behind_it(tmp_path: Path) -> None:
    tell_pin(tmp_path)
    with standing(tmp_path) as table:
        table.come_to(Phase.RESTORING)
        table.program.observe(strange(play(1), "east", table.time.wait()))
        break_camera(table)
        table.type("h", "a", "1", "2", "3", "h")
        panel = table.program.view().panel
        assert panel is not None
        assert panel.digits == "***"
        assert table.program.state.work.rows == frozenset()
        table.type("back", "back", "back", "back", "h", "enter", "a", "y")
        assert not table.program.state.taken_apart
        table.type("back", "y")
        assert table.program.state.taken_apart
