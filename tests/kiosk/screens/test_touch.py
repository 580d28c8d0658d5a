"""Whatever a key does at a table can be touched: in every state of the machine, and at every step of staff's work."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed
from pygame import Surface
from pygame.image import tobytes

from broker.i18n import Translator
from firmware.reports import NotScanned, Scanned
from kiosk.camera.observations import CameraHealth
from kiosk.input import ArbiterPanel
from kiosk.input.panel import PanelStep, opened_panel, possible_acts, press_panel_key
from kiosk.input.what_happened import press_scene_key, scene_of
from kiosk.restoring import Restoring, may_tick, press_restoring_key
from kiosk.screens import RestoringView, ScreenView, StatusLine, TableScreen, screen_view, with_riichi
from kiosk.table import Phase
from kiosk.table.events import ButtonPressed, ClaimWindowElapsed
from kiosk.table.machine import RIICHI, RULES
from tests.kiosk.keyed import Keyed
from tests.kiosk.riichi_tables import RiichiSitting
from tests.kiosk.standing import Standing, standing
from tests.kiosk.tables import S, Sitting, sitting_in, strange, swapped

KEYS: Final = [*"abcdefghijklmnopqrstuvwxyz0123456789", "enter", "back", "clear"]

SIZE: Final = (800, 480)
SCREEN: Final = TableScreen(Translator("en"), SIZE)

ELSEWHERE: Final = {"a": "an arbiter is called first, with C; then there is a button"}


def touched(view: ScreenView) -> set[str]:
    return {target.key for target in SCREEN.targets(view)}


def drawn(view: ScreenView) -> bytes:
    surface = Surface(SIZE)
    SCREEN.draw(surface, view)
    return tobytes(surface, "RGB")


def view_of(desk: Keyed[Sitting]) -> ScreenView:
    keys, table = desk.keys, desk.sitting.table
    return with_riichi(
        screen_view(3, table, keys.form, StatusLine(), None, keys.panel), table, keys.riichi.form, "always"
    )


PHASES: Final = sorted({phase for rule in RULES for phase in rule.phases}, key=lambda one: one.value)
"""All phases of the machine."""


def check(sitting: Sitting, typed: tuple[str, ...]) -> None:
    """Press each key at a table of its own."""

    def all_of(desk: Keyed[Sitting]) -> tuple[object, ...]:
        return desk.sitting.table, desk.keys.filled_in, desk.keys.panel

    offered: set[str] = {*ELSEWHERE}
    for key in KEYS:
        desk = Keyed(copy(sitting))
        desk.type(*typed)
        if key == KEYS[0]:
            offered |= touched(view_of(desk))
        before = all_of(desk)
        desk.type(key)
        assert key in offered or all_of(desk) == before, key


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("typed", [(), ("1", "8"), ("1", "8", "enter")], ids=["", "a value", "the discarder"])
def test_every_key_can_be_touched_in_every_phase(phase: Phase, typed: tuple[str, ...]) -> None:
    check(sitting_in(phase), typed)


def riichi_in(phase: Phase) -> RiichiSitting | None:
    """Return a riichi table in a phase, if a hand can reach it."""
    sitting = RiichiSitting()
    steps = (
        sitting.begin,
        lambda: sitting.press("south"),
        sitting.close_window,
        lambda: sitting.tell("tsumo", wins={"south": {"han": 5}}),
        sitting.record,
    )
    for step in steps:
        if sitting.table.phase is phase:
            return sitting
        step()
    return sitting if sitting.table.phase is phase else None


@pytest.mark.parametrize("sitting", [Sitting, RiichiSitting])
def test_every_key_can_be_touched_while_a_press_is_questioned(sitting: type[Sitting]) -> None:
    made = sitting_in(Phase.PLAYING) if sitting is Sitting else sitting()
    if isinstance(made, RiichiSitting):
        made.begin()
    made.take(ButtonPressed(at=made.table.since + S, seat="south"))
    assert made.table.closes_at is not None
    made.take(ClaimWindowElapsed(at=made.table.closes_at, asks=True))
    check(made, ())
    assert "n" in touched(view_of(Keyed(copy(made))))
    check(made, ("n",))


@pytest.mark.parametrize("typed", [(), ("e",), ("e", "d", "1"), ("e", "d")], ids="-".join)
def test_back_is_offered_if_there_is_something_to_go_back_to(typed: tuple[str, ...]) -> None:
    desk = Keyed(sitting_in(Phase.DECLARED))
    desk.type(*typed)
    assert ("back" in touched(view_of(desk))) == bool(typed)


RIICHI_PHASES: Final = sorted({phase for rule in RIICHI for phase in rule.phases}, key=lambda one: one.value)


@pytest.mark.parametrize("phase", RIICHI_PHASES)
@pytest.mark.parametrize("typed", [(), ("d",), ("d", "enter"), ("i",)], ids=["", "drawn", "a value", "riichi"])
def test_every_key_can_be_touched_in_every_phase_of_a_riichi_session(phase: Phase, typed: tuple[str, ...]) -> None:
    if (sitting := riichi_in(phase)) is not None:
        check(sitting, typed)


def test_after_a_recorded_hand_only_a_minor_fault_is_offered() -> None:
    """A chombo would end the hand otherwise, so it must be taken back first."""
    offered = []
    for phase in (Phase.PLAYING, Phase.RECORDED):
        sitting = riichi_in(phase)
        assert sitting is not None
        desk = Keyed[Sitting](sitting)
        desk.type("f", "n")
        offered.append({"1", "2", "3"} & touched(view_of(desk)))
        before = sitting.table, desk.keys.filled_in
        if phase is Phase.RECORDED:
            desk.type("1", "3")
            assert (sitting.table, desk.keys.filled_in) == before
    assert offered == [{"1", "2", "3"}, {"2"}]


def test_every_key_can_be_touched_at_every_step_of_the_arbiters_panel() -> None:
    walls = view_of(Keyed(sitting_in(Phase.RESTORING)))
    acts = tuple({act for phase in PHASES for act in possible_acts(sitting_in(phase).table)} - {"what_happened"})
    offences = opened_panel(sitting_in(Phase.RESTORING).table).offences[:6]
    seen, new = set[ArbiterPanel](), [ArbiterPanel("pin"), ArbiterPanel("act", acts, fines=(8,), offences=offences)]
    while new:
        seen.add(panel := new.pop())
        offered, results = touched(replace(walls, panel=panel)), {key: press_panel_key(panel, key) for key in KEYS}
        assert {key for key, result in results.items() if result != panel} <= offered, panel
        new += {one for one in results.values() if isinstance(one, ArbiterPanel) and len(one.digits) < 2} - seen
    assert {panel.ask for panel in seen} == {*get_args(PanelStep)} - {"checking", "scene"}


@given(typed=st.lists(st.sampled_from([*"12ewk", "enter", "back"]), max_size=40))
def test_every_key_can_be_touched_in_the_questions_to_the_rules(typed: list[str]) -> None:
    playing = sitting_in(Phase.PLAYING)
    form, walls = scene_of(playing.table), view_of(Keyed(playing))
    assert form is not None
    for key in typed:
        form = press_scene_key(form, key)
    offered = touched(replace(walls, panel=ArbiterPanel("scene", scene=form)))
    assert {key for key in KEYS if press_scene_key(form, key) != form} <= offered


# ---- while walls are restored ---------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Standing]:
    with standing(tmp_path) as made:
        yield made.come_to(Phase.RESTORING)


def seen_by(table: Standing, look: str) -> None:
    """Report an observation of the camera."""
    play, now = table.program.state.play, table.time.wait()
    assert play is not None
    trays = {
        "wrong": lambda: swapped(play, "south", now),
        "strange": lambda: strange(play, "west", now),
        "strange, asked": lambda: strange(play, "west", now),
        "strange, unread": lambda: strange(play, "west", now, unread=3),
    }
    if look in trays:
        table.program.observe(trays[look]())
    if look == "unread":
        hand, *walls = play.order["north"]
        table.program.observe(changed(swapped(play, "north", now), rows=((None, *hand[1:]), *walls), wrong=()))
    table.program.step(timeout=0)
    if look == "strange, asked":
        table.type("enter")


@pytest.mark.parametrize("camera", [None, "camera_unplugged"])
@pytest.mark.parametrize("look", ["", "wrong", "unread", "strange", "strange, asked", "strange, unread"])
def test_every_key_can_be_touched_while_walls_are_restored(table: Standing, camera: str | None, look: str) -> None:
    table.program.observe(CameraHealth(camera))
    seen_by(table, look)
    check_restoring_keys(table, camera)
    for report in Scanned(7, "01", table.time.wait()), NotScanned("scan_unknown", "4006381333931", table.time.wait()):
        table.program.report(report)
        table.program.step(timeout=0)
        check_restoring_keys(table, camera)
    for key in "h1":
        table.type(key)
        check_restoring_keys(table, camera)


def check_restoring_keys(table: Standing, camera: str | None) -> None:
    """Keys that change nothing on the screen, or that are refused as the camera reads the tray, need no button."""
    state, restoring, view = table.program.state, table.program._tasks.restoring.now, table.program.view()
    for key in KEYS:
        result = press_restoring_key(restoring, key, state, table.time.now)
        if isinstance(result, Restoring) and result.showing == "hand" and not may_tick(state, camera):
            continue
        shown = result if isinstance(result, Restoring) else restoring
        if result is not None and (result is not shown or drawn(with_restoring(view, shown)) != drawn(view)):
            assert key in touched(view), key


def with_restoring(view: ScreenView, restoring: Restoring) -> ScreenView:
    assert isinstance(view.phase, RestoringView)
    return replace(view, phase=replace(view.phase, restoring=restoring))


def test_without_a_camera_the_screen_does_not_ask_for_trays_under_it(table: Standing) -> None:
    assert "h" not in touched(table.program.view())
    table.program.observe(CameraHealth("camera_missing"))
    table.program.step(timeout=0)
    assert "h" in touched(table.program.view())


def test_only_lasting_bad_pictures_are_reported_and_only_once(table: Standing) -> None:
    def told(code: str | None) -> tuple[str, ...]:
        table.program.observe(CameraHealth(code))
        table.pass_time(S // 4)
        return table.program.view().line.health

    assert {told(code) for _ in range(16) for code in ("picture_unreadable", None, None, None)} == {()}
    lasting = [told("picture_unreadable") for _ in range(16)]
    assert lasting == sorted(lasting)
    assert lasting[-1] == ("camera: picture_unreadable",)
    back = [told(None) for _ in range(16)]
    assert (back[0], back[-1]) == (lasting[-1], ())
