import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.i18n import Translator
from tests.vision.mounting.drawn_pictures import TILE, Shot, draw, quads
from vision.cameras.camera import UnmetSetting
from vision.mounting import measure
from vision.mounting.command import HINTS, MountingReport, hint_text, mounting_line, mounting_text
from vision.mounting.measure import (
    CARRIER,
    TRAY,
    Glare,
    Light,
    MarkKind,
    MountingHint,
    MountingMeasures,
    MountingSetup,
    fit_camera_pose,
    judge_focus,
    measure_mounting,
    mounting_hints,
    picture_region,
    print_hints,
    room_for,
)

SETUP = MountingSetup(TILE, MarkKind.LABEL, TRAY, 55.0)


def told(shot: Shot, setup: MountingSetup = SETUP, glare: tuple[int, ...] = ()) -> tuple[MountingHint, ...]:
    return mounting_hints(measure_mounting(draw(shot, glare), quads(shot), setup), setup)


def codes(shot: Shot, setup: MountingSetup = SETUP, glare: tuple[int, ...] = ()) -> list[str]:
    return [hint.code for hint in told(shot, setup, glare)]


def test_a_well_mounted_camera_gets_no_hint() -> None:
    assert codes(Shot(distance=400, blur=0.6, noise=1.5, tilt=5)) == []


@pytest.mark.parametrize(
    ("shot", "code"),
    [
        (Shot(distance=600), "camera_too_far"),
        (Shot(distance=250), "camera_too_near"),
        (Shot(size=(1000, 562), distance=350), "camera_too_coarse"),
        (Shot(tilt=25, distance=390), "camera_tilted"),
        (Shot(blur=3.0), "camera_soft"),
        (Shot(light=0.2), "camera_dark"),
        (Shot(light=1.5), "camera_bright"),
        (Shot(noise=12), "camera_noisy"),
    ],
)
def test_each_fault_of_a_mounting_has_its_code(shot: Shot, code: str) -> None:
    assert codes(shot) == [code]


def test_a_reflection_is_reported_with_its_place() -> None:
    assert told(Shot(), glare=(0,)) == (MountingHint("camera_glare", {"percent": 3, "where": "left"}),)


def test_missing_tiles_are_the_first_hint() -> None:
    picture = draw(Shot())
    assert [hint.code for hint in mounting_hints(measure_mounting(picture, (), SETUP), SETUP)] == ["camera_no_tiles"]


@pytest.mark.parametrize(
    ("mark", "enrolled", "code"),
    [
        (MarkKind.DIGITS, False, ["camera_print"]),
        (MarkKind.DIGITS, True, ["camera_enrolled"]),
        (MarkKind.LABEL, True, ["camera_enrolled"]),
        (MarkKind.LABEL, False, []),
    ],
)
def test_unread_numbers_suggest_enrolment(mark: MarkKind, code: list[str], *, enrolled: bool) -> None:
    setup = MountingSetup(TILE, mark, TRAY, 55.0)
    assert [hint.code for hint in print_hints(setup, enrolled=enrolled)] == code


def distance_hints(distance: float) -> tuple[MountingHint, ...]:
    shot = Shot(distance=distance)
    pose = fit_camera_pose(quads(shot), TILE, shot.size, shot.view)
    return mounting_hints(MountingMeasures(shot.size, 34, pose, None, Glare(0.0, 0.0, None), Light(120.0, 1.0)), SETUP)


@given(st.floats(200, 1200))
def test_following_the_distance_hint_once_is_enough(distance: float) -> None:
    for hint in distance_hints(distance):
        step = 10 * int(str(hint.names["cm"]))
        assert distance_hints(distance - step if hint.code == "camera_too_far" else distance + step) == ()


@pytest.mark.parametrize(("blur", "verdict"), [(0.3, "good"), (1.0, "good"), (2.0, "soft")])
def test_focus_is_judged_by_the_finest_line_of_the_mark(blur: float, verdict: str) -> None:
    shot = Shot(distance=400, blur=blur)
    assert judge_focus(measure_mounting(draw(shot), quads(shot), SETUP), SETUP) == verdict


def test_without_a_scale_the_focus_is_unknown() -> None:
    shot = Shot()
    assert judge_focus(measure_mounting(draw(shot), quads(shot)[:2], SETUP), SETUP) is None


@pytest.mark.parametrize("tile", [(22.0, 30.0), (28.0, 38.0)])
def test_a_carrier_is_as_wide_as_a_trays_width_and_depth(tile: tuple[float, float]) -> None:
    tray, carrier = room_for(TRAY, tile), room_for(CARRIER, tile)
    assert carrier.long_mm == carrier.short_mm == tray.long_mm + tray.short_mm
    assert tray.fits((tray.short_mm, tray.long_mm))
    assert not tray.fits((tray.long_mm, tray.short_mm - 1))


@pytest.mark.parametrize("mark", MarkKind)
def test_larger_marks_are_read_from_farther_away(mark: MarkKind) -> None:
    assert mark.fine_mm * mark.pixels_per_mm == pytest.approx(mark.value[1])
    assert MarkKind.DIGITS.pixels_per_mm < MarkKind.LABEL.pixels_per_mm


@pytest.mark.parametrize(
    ("at", "name"),
    [((0.1, 0.1), "top_left"), ((0.5, 0.1), "top"), ((0.5, 0.5), "middle"), ((0.9, 0.5), "right"),
     ((0.9, 0.9), "bottom_right")],
)  # fmt: skip
def test_each_ninth_of_the_picture_has_a_name(at: tuple[float, float], name: str) -> None:
    assert picture_region(at) == name


def test_every_hint_has_a_sentence_with_its_values() -> None:
    source = (Path(measure.__file__ or "")).read_text(encoding="utf-8")
    named = set(re.findall(r'Hint\("(\w+)"', source))
    assert named == HINTS.keys()


def test_a_setting_that_was_not_accepted_is_the_first_hint() -> None:
    shot = Shot(blur=3.0)
    seen = measure_mounting(draw(shot), quads(shot), SETUP)
    first, *_ = mounting_hints(seen, SETUP, (UnmetSetting("focus", 3.0, None), UnmetSetting("width", 1920, 1280.0)))
    assert hint_text(Translator("en"), first).startswith("The camera did not accept focus=3.0 (it uses -)")


def test_a_report_has_figures_and_sentences() -> None:
    shot = Shot(tilt=25, distance=390)
    seen = measure_mounting(draw(shot), quads(shot), SETUP)
    look = MountingReport("a.jpg", seen, mounting_hints(seen, SETUP))
    line = mounting_line(look, SETUP, Translator("en"))
    assert (line["tiles"], line["focus"], line["fits"]) == (34, "good", {"34": True, "136": False})
    assert [hint["code"] for hint in line["hints"]] == ["camera_tilted"]
    assert mounting_text(look, SETUP, Translator("en")).splitlines()[1:] == [
        "  camera_tilted: The camera is tilted by 25 degrees: point it straight down."
    ]
