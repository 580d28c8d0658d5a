"""The self-test, step by step: reports of devices, answers of staff, and findings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS
from firmware.presses import MS
from firmware.reports import Health, NotScanned, Pressed, Report, Scanned, Seat, TooShort
from kiosk.camera.observations import PictureObservation
from kiosk.self_test import SelfTestRun
from kiosk.table import Verdict
from kiosk.table.events import SelfTestEnded

TILE = Scanned(117, "02", 1)


def walking(*, scanner: bool = True, hides: bool = False) -> SelfTestRun:
    return SelfTestRun(0, {}, tuple, scanner=scanner, hides=hides)


def pressed(walk: SelfTestRun, *seats: Seat) -> SelfTestRun:
    for seat in seats:
        walk.take(Pressed(seat, 1), 1)
    return walk


def typed(walk: SelfTestRun, *keys: str) -> SelfTestEnded | None:
    over = None
    for key in keys:
        assert over is None
        done = walk.key(key, 1)
        over = done if isinstance(done, SelfTestEnded) else None
    return over


def outcome(verdict: Verdict, *found: str) -> SelfTestEnded:
    return SelfTestEnded(at=1, verdict=verdict, found=found)


def said(walk: SelfTestRun) -> str | None:
    """Return the last remark about the buttons."""
    return walk.view.remark.said if walk.view.remark else None


def ended(walk: SelfTestRun, health: dict[str, str] | None = None) -> SelfTestEnded:
    """End a test that is at its last step."""
    walk.follow(health or {})
    over = typed(walk, "enter")
    assert over is not None
    return over


def test_each_seat_is_asked_in_turn_and_shown_when_it_presses() -> None:
    walk = walking()
    for at, seat in enumerate(SEATS):
        assert (walk.view.step, walk.view.awaited, walk.view.right) == ("buttons", seat, frozenset(SEATS[:at]))
        pressed(walk, seat)
    assert (walk.view.step, walk.view.awaited, walk.view.wrong) == ("scanner", None, frozenset())


def test_a_table_on_which_everything_works_passes() -> None:
    walk = pressed(walking(), *SEATS)
    walk.take(TILE, 1)
    assert typed(walk, "n", "enter") is None
    assert ended(walk) == outcome("passed")


def test_without_a_scanner_there_is_no_scan() -> None:
    walk = pressed(walking(scanner=False), *SEATS)
    assert (walk.view.step, walk.view.scanner) == ("camera", False)


def test_a_silent_button_is_given_up_and_named() -> None:
    walk = pressed(walking(scanner=False), "east")
    typed(walk, "x")
    assert (walk.view.awaited, walk.view.wrong) == ("west", frozenset({"south"}))
    pressed(walk, "west", "north")
    typed(walk, "enter")
    assert ended(walk) == outcome("failed", "button-south: button_silent")


def test_exchanged_plugs_are_distinguished_from_a_dead_button() -> None:
    walk = pressed(walking(scanner=False), "east", "west")
    assert (walk.view.awaited, walk.view.remark and walk.view.remark.other) == ("south", "west")
    typed(walk, "x", "x")
    pressed(walk, "north")
    typed(walk, "enter")
    assert ended(walk).found == ("button-south: button_exchanged", "button-west: button_silent")


def test_after_the_wrong_button_the_right_one_can_still_be_pressed() -> None:
    walk = pressed(walking(scanner=False), "north", *SEATS)
    assert walk.view.remark is None
    typed(walk, "enter")
    assert ended(walk) == outcome("passed")


@pytest.mark.parametrize(
    ("told", "said"),
    [(TooShort("west", 1, MS), "too_short"), (Health("button-west", "button_stuck"), "ill")],
    ids=["too short", "stuck"],
)
def test_a_faulty_contact_is_named_as_it_is_reported(told: Report | TooShort, said: str) -> None:
    walk = walking()
    walk.take(told, 1)
    assert walk.view.remark is not None
    assert (walk.view.remark.said, walk.view.remark.other) == (said, "west")


@pytest.mark.parametrize(
    ("keys", "code"), [("y", "scanner_beeps"), ("x", "scanner_silent")], ids=["it beeps", "it reads nothing"]
)
def test_a_scanner_must_read_and_be_silent(keys: str, code: str) -> None:
    walk = pressed(walking(), *SEATS)
    assert typed(walk, "y", "n") is None  # nothing was scanned yet
    assert walk.view.step == "scanner"
    walk.take(TILE if keys == "y" else NotScanned("scan_garbled", "?", 1), 1)
    typed(walk, keys, "enter")
    assert ended(walk).found == (f"scanner: {code}",)


def test_the_picture_is_judged_by_the_person_who_sees_it() -> None:
    walk = pressed(walking(scanner=False), *SEATS)
    walk.observe(PictureObservation(wrong=("camera_dark",)))
    assert walk.view.picture.wrong == ("camera_dark",)
    typed(walk, "x")
    assert ended(walk).found == ("camera: picture_wrong",)


def test_known_faults_of_the_device_are_found_too_and_once() -> None:
    walk = pressed(walking(scanner=False), *SEATS)
    typed(walk, "x")
    known = {"camera": "picture_wrong", "disk": "disk_low", "plan": "not_now"}
    assert ended(walk, known) == outcome("failed", "camera: picture_wrong", "disk: disk_low")


@pytest.mark.parametrize("steps", range(4))
def test_the_test_can_be_skipped_at_any_step_and_its_findings_are_kept(steps: int) -> None:
    walk = pressed(walking(), *SEATS[:3])
    assert typed(walk, *("x",) * steps) is None
    over = typed(walk, "q")
    assert over is not None
    found = "button-north: button_silent", "scanner: scanner_silent", "camera: picture_wrong"
    assert over == outcome("skipped", *found[:steps])


def test_the_test_can_be_started_again() -> None:
    walk = pressed(walking(scanner=False), "east", "west")
    typed(walk, "x", "r")
    assert walk.view == walking(scanner=False).view
    pressed(walk, *SEATS)
    typed(walk, "enter")
    assert ended(walk) == outcome("passed")


def test_in_a_paused_play_a_contact_is_reported_only_after_a_press_for_the_test() -> None:
    """Otherwise it would reveal whose finger is down in a claim window that is stopped."""
    stuck = Health("button-west", "button_stuck")
    walk = walking(scanner=False, hides=True)
    walk.take(stuck, 1)
    walk.take(TooShort("west", 1, MS), 1)
    assert said(walk) is None
    pressed(walk, *SEATS[:3])
    walk.take(stuck, 1)
    assert said(walk) == "ill"
    pressed(walk, "north")
    typed(walk, "enter")
    health = {"contact-east": "button_chatters", "camera": "camera_dark"}
    assert ended(walk, health).found == ("camera: camera_dark",)


told = st.one_of(
    st.builds(Pressed, st.sampled_from(SEATS), st.just(1)),
    st.builds(TooShort, st.sampled_from(SEATS), st.just(1), st.integers(0, 3 * MS)),
    st.builds(Health, st.sampled_from(["button-east", "buttons", "camera"]), st.sampled_from([None, "button_stuck"])),
    st.just(TILE),
    st.sampled_from(["x", "y", "n", "enter", "r", "c", "1"]),
)


@given(st.lists(told, max_size=40))
def test_the_test_passes_only_if_all_four_buttons_came_and_nothing_was_found(
    steps: list[Report | TooShort | str],
) -> None:
    walk = walking()
    for one in steps:
        over = walk.key(one, 1) if isinstance(one, str) else walk.take(one, 1)
        if isinstance(over, SelfTestEnded):
            assert walk.view.step == "found"
            assert (over.verdict == "passed") == (walk.view.right == frozenset(SEATS) and over.found == ())
            return
        assert (walk.view.awaited is None) == (walk.view.step != "buttons")
