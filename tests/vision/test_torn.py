"""Numbers that read both ways up: what the rest of the picture may decide, and what it may not."""

from dataclasses import replace

import numpy as np
import pytest

from tests.vision.layout.scene import Pose, Seen, carrier_scene, heap_scene, see, tray_scene
from vision.sight import Mark
from vision.torn import decide_torn

POSE = Pose(tilt=8, noise=0.015)


def numbered(seen: Seen) -> Seen:
    """Put every mark in the middle of its tile, where it tells nothing of the way up."""
    return replace(seen, marks=tuple(mark and replace(mark, spot=np.zeros(2)) for mark in seen.marks))


def torn(seen: Seen, serial: int, *, upside_down: bool = False) -> Seen:
    """Leave it open which of 060 and 090 a tile is, which is one of them."""
    pair = (serial, 150 - serial)
    marks = tuple(
        replace(mark, serial=None, turned=None, either=pair[::-1] if bool(mark.turned) != upside_down else pair)
        if mark and mark.serial == serial
        else mark
        for mark in seen.marks
    )
    return replace(seen, marks=marks)


def decided(seen: Seen, *serials: int) -> list[int | None]:
    """Give what was decided of tiles, by what they really are."""
    marks: tuple[Mark | None, ...] = decide_torn(seen.picture, seen.found, seen.marks, seen.lay_out())
    told = {one.serial: mark.serial for one, mark in zip(seen.shown, marks, strict=True) if mark}
    return [told[serial] for serial in serials]


def carrier() -> Seen:
    return numbered(see(carrier_scene(POSE), scale=0.8))


def test_a_tray_alone_does_not_decide_060() -> None:
    scene = tray_scene(POSE).changed((1, 4), serial=60)
    assert decided(torn(numbered(see(scene)), 60), 60) == [None]


def test_060_and_090_vouch_for_each_other_where_each_stands_as_its_tray() -> None:
    assert decided(torn(torn(carrier(), 60), 90), 60, 90) == [60, 90]


def test_neither_is_read_where_both_seem_to_be_the_same() -> None:
    assert decided(torn(torn(carrier(), 60), 90, upside_down=True), 60, 90) == [None, None]


@pytest.mark.parametrize(("torn_one", "read"), [(60, 90), (90, 60)])
def test_what_one_mark_tells_the_other_need_not(torn_one: int, read: int) -> None:
    assert decided(torn(carrier(), torn_one), torn_one, read) == [torn_one, read]


def test_in_a_heap_a_read_090_leaves_060_for_the_other() -> None:
    seen = numbered(see(heap_scene(POSE, 20)))
    renamed = {1: 60, 2: 90}
    marks = tuple(mark and replace(mark, serial=renamed.get(mark.serial or 0, mark.serial)) for mark in seen.marks)
    shown = tuple(replace(one, serial=renamed.get(one.serial or 0, one.serial)) for one in seen.shown)
    assert decided(torn(replace(seen, marks=marks, shown=shown), 60), 60) == [60]


def test_a_tile_of_another_set_vouches_for_nothing() -> None:
    seen = torn(torn(carrier(), 60), 90)
    layout = seen.lay_out()
    strange = tuple(replace(lie, strange=one.serial == 90) for lie, one in zip(layout.lies, seen.shown, strict=True))
    marks = decide_torn(seen.picture, seen.found, seen.marks, replace(layout, lies=strange))
    assert [mark.serial for mark in marks if mark and mark.either] == [None, None]
