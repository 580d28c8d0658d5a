"""The screen gets darker when nothing is new, and tells of no press by it."""

from dataclasses import replace

from kiosk.screens.dimming import Dimming, S
from kiosk.screens.shown import Line, Shown

PLAYING = Shown(table=3, state="playing", line=Line(clock="14:05"))


def dark_at(dimming: Dimming, *seconds: float) -> list[bool]:
    return [dimming.dark(round(second * S)) for second in seconds]


def test_it_is_darker_when_nothing_was_new_for_so_long() -> None:
    dimming = Dimming(10)
    dimming.shown(PLAYING, 5 * S)
    assert dark_at(dimming, 5, 14.9, 15, 1000) == [False, False, True, True]


def test_a_minute_that_passes_is_nothing_new() -> None:
    dimming = Dimming(10)
    dimming.shown(PLAYING, 0)
    dimming.shown(replace(PLAYING, line=Line(clock="14:06")), 9 * S)
    assert dark_at(dimming, 10) == [True]


def test_what_is_new_on_the_screen_wakes_it_and_so_does_a_touch() -> None:
    dimming = Dimming(10)
    dimming.shown(PLAYING, 0)
    dimming.shown(replace(PLAYING, ended=True), 20 * S)
    assert dark_at(dimming, 20, 30) == [False, True]
    dimming.woken(40 * S)
    assert dark_at(dimming, 40, 49.9, 50) == [False, False, True]


def test_nought_is_never() -> None:
    dimming = Dimming(0)
    dimming.shown(PLAYING, 0)
    assert dark_at(dimming, 1_000_000) == [False]
