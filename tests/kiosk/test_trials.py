"""The timed trials: their results are those in docs/restoring.md."""

from pathlib import Path

import pytest

from tests.kiosk.trials import CARRIERS, WAYS, outcome, table_row

PAGE = Path(__file__).parents[2] / "docs" / "restoring.md"


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_page_says_how_long_each_way_takes(way: str) -> None:
    assert table_row(way, CARRIERS) in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("way", "taps", "verified"), [("camera", 0, True), ("scanner", 0, True), ("hand", 13, False)])
def test_only_without_camera_and_scanner_does_anybody_touch_the_screen(way: str, taps: int, *, verified: bool) -> None:
    found = outcome(way, 0)
    assert (found.taps, found.verified) == (taps, verified)
    assert found.slips > 0
    assert not found.left
