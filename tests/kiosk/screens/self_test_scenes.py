"""Scenes of the hardware self-test."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from firmware.presses import MS
from firmware.reports import SEATS, Health, NotScanned, Pressed, Report, Scanned, TooShort
from kiosk.camera.observations import CameraView, PictureObservation
from kiosk.screens import ScreenView, StatusLine
from kiosk.screens.views import IdleView
from kiosk.self_test import HardwareFinding, SelfTestRun
from tests.kiosk.tables import TABLE

PICTURE: Final = CameraView(1, np.full((293, 520, 3), 96, dtype=np.uint8))

Steps = Callable[[SelfTestRun], object]


def walked(*reports: Report | TooShort, keys: str = "", then: Steps = lambda _: None) -> ScreenView:
    """Show a test after these reports and keys."""
    walk = SelfTestRun(0, {}, tuple, scanner=True)
    for report in reports:
        walk.take(report, 0)
    for key in keys:
        walk.key(key, 3)
    then(walk)
    line = StatusLine(up=True, clock="09:05", version="0.1.0")
    return ScreenView(TABLE, IdleView(), line, self_test=walk.view)


ALL: Final = tuple(Pressed(seat, 1) for seat in SEATS)


def found(*wrong: tuple[str, str]) -> ScreenView:
    """Show the findings of a test."""
    passed = replace(walked(*ALL).self_test, step="found", found=tuple(HardwareFinding(*one) for one in wrong))  # type: ignore[type-var]  # there is one
    return replace(walked(), self_test=passed)


SELF_TEST: Final[dict[str, Callable[[], ScreenView]]] = {
    "self-test, buttons": walked,
    "self-test, half": lambda: walked(*ALL[:2]),
    "self-test, one does not come": lambda: walked(ALL[0], keys="x"),
    "self-test, another came": lambda: walked(ALL[0], Pressed("north", 1)),
    "self-test, too short": lambda: walked(ALL[0], TooShort("north", 1, 2 * MS)),
    "self-test, stuck": lambda: walked(Health("button-north", "button_stuck", "for 30 s")),
    "self-test, box": lambda: walked(Health("buttons", "box_silent", "nothing comes")),
    "self-test, scan": lambda: walked(*ALL),
    "self-test, scanned": lambda: walked(*ALL, Scanned(117, "02", 1)),
    "self-test, scanned nothing": lambda: walked(*ALL, NotScanned("scan_unknown", "?", 1)),
    "self-test, no picture": lambda: walked(*ALL, keys="x"),
    "self-test, picture": lambda: walked(*ALL, keys="x", then=lambda walk: walk.observe(PictureObservation(PICTURE))),
    "self-test, glare": lambda: walked(
        *ALL, keys="x", then=lambda walk: walk.observe(PictureObservation(PICTURE, ("camera_glare",)))
    ),
    "self-test, passed": found,
    "self-test, one fault": lambda: found(("button-north", "button_silent")),
    "self-test, many faults": lambda: found(
        *(("button-north", "button_chatters"), ("scanner", "scanner_beeps"), ("camera", "camera_soft")),
        *(("board", "undervoltage"), ("board", "clock_unset")),
    ),
}
