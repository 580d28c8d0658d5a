"""Keeping a play after its result: optional, read by the camera, sent once, and never in the way."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from msgspec import structs

from broker.protocol import SEATS, Command, Counted, LaidSeat, PlayFound, Script, ScriptedPlay, Seat, TilesLaid, WinKind
from broker.scorer.intake import MOST_LAID
from kiosk.camera.loop import laid_tiles, read_hand
from kiosk.camera.observations import CameraTarget, LaidObservation, LaidTiles
from kiosk.keeping import STEPS
from kiosk.program import TableProgram
from kiosk.screens import RecordedView
from kiosk.sim import MOST_LOOKS, People
from kiosk.status import CAMERA
from kiosk.table import Phase
from kiosk.table.events import Ordered, PlayKept
from kiosk.table.state import MOST_KEPT
from tests.kiosk.standing import Standing, phase_view, standing
from tests.kiosk.tables import EVENT, TABLE, plan, play, right
from vision.reader import quad_corners
from vision.reading import TileRead
from vision.sim.camera import SimulatedCamera
from vision.sim.scene import lay_hand, lay_river
from vision.sim.table import SimulatedTable, SimulatedTile

WISHED = structs.replace(plan(play(1), play(2)), keep_plays=True)


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Standing]:
    """A table whose play has its result, in an event that keeps plays."""
    with standing(tmp_path) as at:
        yield at.come_to(Phase.RECORDED, WISHED)


def seen(at: Standing, laid: LaidSeat | None, *, still: bool = True, winning: int | None = None) -> None:
    """Let the camera see the tiles that are asked for."""
    of = at.program.camera_target
    at.program.observe(LaidObservation(of, laid, winning, still=still))  # type: ignore[arg-type]  # what is asked after a play
    at.program.step(timeout=0)


def refused(at: Standing) -> None:
    """Let the camera fail to read the tiles that are asked for, if any are."""
    of = at.program.camera_target
    if isinstance(of, LaidTiles):
        at.program.observe(LaidObservation(of, problem="hand_not_seen", still=True))
        at.program.step(timeout=0)


def told(at: Standing) -> list[TilesLaid]:
    return [one.fact for one in at.journal.unsent() if isinstance(one.fact, TilesLaid)]


def offered(at: Standing) -> bool:
    return phase_view(at.program.view(), RecordedView).may_keep


def test_keeping_is_offered_if_the_event_wants_it_and_there_is_a_camera(tmp_path: Path, recorded: Standing) -> None:
    assert offered(recorded)
    recorded.program._health.set(CAMERA, "camera_missing")
    assert not offered(recorded)
    (tmp_path / "other").mkdir()
    with standing(tmp_path / "other") as plain:
        plain.come_to(Phase.RECORDED)
        assert not offered(plain)
        plain.type("k")
        assert plain.program.keeping is None


def test_everything_is_read_seat_by_seat_and_sent_once(recorded: Standing) -> None:
    recorded.type("k")
    for number, (seat, part) in enumerate(STEPS):
        target = recorded.program.camera_target
        assert (target.seat, target.part) == (seat, part)  # type: ignore[union-attr]  # what is asked after a play
        recorded.type("enter")
        assert recorded.program.keeping.at == number  # type: ignore[union-attr]  # nothing is seen yet
        river, hand = LaidSeat(river=(number + 1, 0, 77 + number), gaps=True), LaidSeat(hand=(50 + number,))
        seen(recorded, river if part == "river" else hand, winning=99 if (seat, part) == ("south", "hand") else None)
        recorded.type("enter")
    (laid,) = told(recorded)
    assert (laid.round, laid.deal, laid.winning, list(laid.seats)) == (1, 1, 99, list(SEATS))
    assert laid.seats["south"] == LaidSeat(river=(3, 0, 79), hand=(53,), gaps=True)
    assert recorded.program.camera_target is None
    recorded.type("enter")
    assert recorded.phase is Phase.RESTORING
    assert recorded.program.keeping is None


def test_gaps_can_be_ruled_out_and_parts_that_are_not_shown_are_skipped(recorded: Standing) -> None:
    recorded.type("k", "g")
    seen(recorded, LaidSeat(river=(5,), gaps=True))
    recorded.type("enter", *"n" * (len(STEPS) - 1))
    assert [one.seats for one in told(recorded)] == [{"east": LaidSeat(river=(5,))}]


def test_moving_or_earlier_tiles_are_not_accepted_and_without_any_nothing_is_sent(recorded: Standing) -> None:
    recorded.type("k")
    seen(recorded, LaidSeat(river=(5,)), still=False)
    recorded.type("enter")
    assert not recorded.program.keeping.seats  # type: ignore[union-attr]  # it is open
    seen(recorded, LaidSeat(river=(5,)))
    recorded.type("n", "enter")  # what was seen is the river of the step before
    assert not recorded.program.keeping.seats  # type: ignore[union-attr]  # it is open
    seen(recorded, LaidSeat(hand=(5, 6)))
    recorded.type("enter")
    seen(recorded, LaidSeat(river=(7, 5)))
    recorded.type("enter")
    assert recorded.program.keeping.seen.problem == "laid_taken"  # type: ignore[union-attr]  # it is open
    recorded.type("q", "k")
    assert not recorded.program.keeping.seats  # type: ignore[union-attr]  # it is open
    recorded.type(*"n" * len(STEPS))
    assert (recorded.program.keeping, told(recorded)) == (None, [])


def test_going_back_reads_one_part_again_and_loses_nothing_else(recorded: Standing) -> None:
    recorded.type("k")
    seen(recorded, LaidSeat(river=(5, None), gaps=True))
    recorded.type("enter")
    seen(recorded, LaidSeat(hand=(6, 7), melds=((8, 9, 10),)), winning=6)
    recorded.type("enter", "back", "back")
    seen(recorded, LaidSeat(river=(5, 11), gaps=True))
    recorded.type("enter")
    seen(recorded, LaidSeat(hand=(6, 7), melds=((8, 9, 10),)))
    recorded.type("enter", *"n" * 6)
    (laid,) = told(recorded)
    assert laid.seats == {"east": LaidSeat(river=(5, 11), hand=(6, 7), melds=((8, 9, 10),), gaps=True)}
    assert laid.winning is None
    assert not recorded.program.keeping.whole  # type: ignore[union-attr]  # it is open


def test_a_part_skipped_the_second_time_is_not_sent(recorded: Standing) -> None:
    recorded.type("k")
    seen(recorded, LaidSeat(river=(5,)))
    recorded.type("enter", "n")
    seen(recorded, LaidSeat(river=(40,)))
    recorded.type("enter", "back", "back", "back", *"n" * 8)
    assert (recorded.program.keeping, told(recorded)) == (None, [])


def test_keeping_can_be_left_at_any_time_and_the_next_play_ends_it(recorded: Standing) -> None:
    recorded.type("k", "back")
    assert (recorded.program.keeping, recorded.phase) == (None, Phase.RECORDED)
    recorded.type("k")
    recorded.program._apply(structs.replace(recorded.happened()[0], at=recorded.time.wait()))  # the plan comes again
    recorded.program.step(timeout=0)
    assert recorded.program.keeping is not None
    recorded.type("back", "enter")
    assert recorded.phase is Phase.RESTORING
    recorded.type("k")
    assert recorded.program.keeping is None


def test_in_a_pause_nothing_is_accepted(recorded: Standing) -> None:
    def order(seq: int, command: Command) -> None:
        recorded.program._apply(Ordered(at=recorded.time.wait(), seq=seq, command=command))

    order(1, "pause")
    recorded.type("k")
    begun = recorded.program.keeping
    assert begun is None
    order(2, "resume")
    recorded.type("k")
    seen(recorded, LaidSeat(river=(5,)))
    order(3, "pause")
    before = recorded.program.keeping
    recorded.type("enter", "n", "g", "back", "q")
    assert recorded.program.keeping == before is not None
    order(4, "resume")
    recorded.type("enter")
    assert recorded.program.keeping.at == 1  # type: ignore[union-attr]  # it is open


def test_a_ruling_on_the_play_ends_keeping(recorded: Standing) -> None:
    recorded.type("k")
    recorded.program._tasks.follow(replace(recorded.program.state, ruled="adjusted"), None, recorded.time.now)
    assert recorded.program.keeping is None


def test_a_play_is_kept_only_so_often_and_never_without_a_result(recorded: Standing) -> None:
    kept = PlayKept(at=recorded.time.wait(), seats={"east": LaidSeat(river=(5,))})
    assert MOST_KEPT < MOST_LAID
    assert [recorded.program._apply(kept) for _ in range(6)] == [None] * MOST_KEPT + ["not_kept_here"]
    assert not offered(recorded)
    recorded.type("enter")
    assert recorded.program._apply(kept) == "not_now"


def test_the_scorers_findings_are_shown_only_for_the_latest_attempt(recorded: Standing) -> None:
    for _ in range(2):
        recorded.type("k")
        seen(recorded, LaidSeat(river=(5,)))
        recorded.type("enter", *"n" * (len(STEPS) - 1))
        if len(told(recorded)) == 1:
            recorded.type("back")  # to read everything again

    def answer(asked: str) -> Counted:
        found = PlayFound(round=1, steps=80, proved=71)
        return Counted(id="answer-1", event=EVENT, seq=1, table=TABLE, asked=asked, answer=found)

    first, second = (one.id for one in recorded.journal.unsent() if isinstance(one.fact, TilesLaid))
    recorded.program._tasks.answered(answer(first))
    assert recorded.program.keeping.answer is None  # type: ignore[union-attr]  # it is open
    recorded.program._tasks.answered(answer(second))
    assert recorded.program.keeping.answer.proved == 71  # type: ignore[union-attr,attr-defined]  # it is open


def test_after_a_power_cut_the_journal_sends_the_same(tmp_path: Path) -> None:
    with standing(tmp_path) as at:
        at.come_to(Phase.RECORDED, WISHED)
        at.program._apply(PlayKept(at=at.time.wait(), seats={"east": LaidSeat(river=(5, None, 0, 7))}))
        before = told(at)
    with standing(tmp_path) as again:
        assert (again.phase, again.program.state.kept) == (Phase.RECORDED, 1)
        assert told(again) == before != []


def looked_at(trays: SimulatedTable, of: CameraTarget) -> LaidObservation:
    """Read the tiles on a simulated table."""
    assert isinstance(of, LaidTiles)
    with SimulatedCamera("sim://tray?width=1280&height=720&blur=0.5&tilt=3", world=trays) as camera:
        picture = camera.frame()
    return laid_tiles(of, picture, read_hand(picture).reads)


def test_more_tiles_than_a_journal_can_hold_are_not_taken_for_a_hand(recorded: Standing) -> None:
    present = recorded.program.state.play
    assert present is not None
    tray = [SimulatedTile(present.set, serial) for row in present.order["east"] for serial in row]
    of = LaidTiles(present, "east", "hand")
    melds, trays = [tray[at : at + 3] for at in range(0, 15, 3)], SimulatedTable()
    trays.spread(lay_hand([tray[15:17], *melds[:4]]))
    assert looked_at(trays, of).problem is None
    trays.spread(lay_hand([tray[15:17], *melds]))
    assert looked_at(trays, of).problem == "river_unclear"


def test_a_gap_taken_for_a_tile_of_another_colour_is_a_gap(recorded: Standing) -> None:
    present = recorded.program.state.play
    assert present is not None
    river = [serial for row in present.order["east"] for serial in row][:9]
    trays = SimulatedTable()
    trays.spread(
        lay_river([SimulatedTile(present.set, serial) if at != 7 else None for at, serial in enumerate(river)])
    )
    with SimulatedCamera("sim://tray?width=1280&height=720&blur=0.5&tilt=3", world=trays) as camera:
        picture = camera.frame()
    reads = {read.serial: read for read in read_hand(picture).reads if read.serial is not None}
    beside, further = (np.array(reads[river[at]].quad) for at in (6, 8))
    gap = quad_corners((beside + further) / 2)
    seen = (*reads.values(), TileRead(None, None, gap, 0.0, 0.0, foreign=True))
    found = laid_tiles(LaidTiles(present, "east", "river"), picture, seen)
    assert found.laid == LaidSeat((*river[:7], 0, river[8]), gaps=True), found.problem


class NoFingers:
    """Fingers that press nothing."""

    def press(self, seat: str) -> None:
        raise AssertionError(seat)


@pytest.mark.parametrize("win", ["self_drawn"])
def test_simulated_people_show_every_river_and_hand_to_the_camera(recorded: Standing, win: WinKind) -> None:
    chance, present = Random(4), recorded.program.state.play
    assert present is not None
    laid = {}
    for seat in SEATS:
        tray = [serial for row in present.order[seat] for serial in row]
        river = tuple(0 if at == 2 else serial for at, serial in enumerate(tray[13:20]))
        laid[seat] = LaidSeat(river, ((tray[0], tray[1], tray[2]),), tuple(chance.sample(tray[3:13], 10)), gaps=True)
    script = Script((ScriptedPlay(1, win, {"west": 18}, laid=laid),), reaction_ms=0)
    trays, keys = SimulatedTable(), list[str]()
    people = People(script, NoFingers(), trays, keys.append, "table 1")
    for _ in range(4 * len(STEPS)):
        people.see(recorded.program.state, recorded.program.keeping)
        people.step(recorded.program.state)
        recorded.type(*keys)
        keys.clear()
        if recorded.phase is not Phase.RECORDED:
            break
        if (target := recorded.program.camera_target) is not None and trays.view.loose:
            recorded.program.observe(replace(looked_at(trays, target), still=True))
            recorded.program.step(timeout=0)
    assert recorded.phase is Phase.RESTORING
    (one_told,) = told(recorded)
    assert {seat: structs.replace(one, hand=tuple(sorted(one.hand or ()))) for seat, one in one_told.seats.items()} == {
        seat: structs.replace(one, hand=tuple(sorted(one.hand or ()))) for seat, one in laid.items()
    }


def test_simulated_people_skip_what_cannot_be_read_and_play_on(recorded: Standing) -> None:
    laid = {seat: LaidSeat((5,)) for seat in SEATS}
    script = Script((ScriptedPlay(1, "self_drawn", {"west": 18}, laid=laid),), reaction_ms=0)
    keys = list[str]()
    people = People(script, NoFingers(), SimulatedTable(), keys.append, "table 1")
    for _ in range(len(STEPS) * (MOST_LOOKS + 2) + 2):
        refused(recorded)
        people.see(recorded.program.state, recorded.program.keeping)
        people.step(recorded.program.state)
        recorded.type(*keys)
        keys.clear()
    assert (recorded.phase, told(recorded)) == (Phase.RESTORING, [])


def test_simulated_people_wait_longer_for_a_camera_that_has_seen_nothing_yet(recorded: Standing) -> None:
    laid = {seat: LaidSeat((5,)) for seat in SEATS}
    script = Script((ScriptedPlay(1, "self_drawn", {"west": 18}, laid=laid),), reaction_ms=0)
    keys = list[str]()
    people = People(script, NoFingers(), SimulatedTable(), keys.append, "table 1")
    for _ in range(3 * MOST_LOOKS):
        people.see(recorded.program.state, recorded.program.keeping)
        people.step(recorded.program.state)
        recorded.type(*keys)
        keys.clear()
    assert recorded.program.keeping is not None
    assert recorded.program.keeping.at == 0


@pytest.mark.parametrize("laid", [{}, {"south": LaidSeat((5,))}], ids=["no camera", "one seat alone"])
def test_simulated_people_play_on_if_not_everything_can_be_shown(
    recorded: Standing, laid: dict[Seat, LaidSeat]
) -> None:
    if not laid:
        recorded.program._health.set(CAMERA, "camera_missing")
    course = ScriptedPlay(1, "self_drawn", {"west": 18}, laid=laid or {"east": LaidSeat((5,))})
    keys = list[str]()
    people = People(Script((course,), reaction_ms=0), NoFingers(), SimulatedTable(), keys.append, "table 1")
    for _ in range(len(STEPS) * (MOST_LOOKS + 2) + 2):
        refused(recorded)
        people.see(recorded.program.state, recorded.program.keeping)
        people.step(recorded.program.state)
        recorded.type(*keys)
        keys.clear()
    assert recorded.phase is Phase.RESTORING


def test_no_program_keeps_a_play_by_itself(recorded: Standing) -> None:
    program: TableProgram = recorded.program
    for seat in SEATS:
        program.observe(right(play(2), seat, recorded.time.wait()))
    program.step(timeout=0)
    assert (program.keeping, told(recorded)) == (None, [])
