"""Formats: every label on the page, and every page said no to that would not have them there."""

import math

import pytest

from vision.errors import LabelsOffPageError
from vision.sheets.format_list import format_list
from vision.sheets.formats import USUAL, adjusted, formats
from vision.sheets.label import lay_out


@pytest.mark.parametrize("name", formats())
def test_every_label_of_a_format_lies_on_its_page_and_on_no_other_label(name: str) -> None:
    sheet = formats()[name]
    assert adjusted(sheet, None, None, 1.0) == sheet
    assert sheet.across >= sheet.width
    assert sheet.down >= sheet.height


@pytest.mark.parametrize("name", formats())
def test_every_format_takes_the_usual_code_and_fits_on_a_tile(name: str) -> None:
    sheet = formats()[name]
    assert lay_out(*sheet.upright, 14, "none").module >= 0.5
    assert sheet.upright[0] <= 20
    assert sheet.upright[1] <= 26


@pytest.mark.parametrize(
    ("left", "top", "scale"),
    [(10.0, None, 1.0), (None, 28.0, 1.0), (None, None, 1.05), (-0.1, None, 1.0), (math.nan, None, 1.0),
     (None, math.nan, 1.0), (None, None, math.nan)],
)  # fmt: skip
def test_what_would_put_labels_off_the_page_is_refused(left: float | None, top: float | None, scale: float) -> None:
    with pytest.raises(LabelsOffPageError):
        adjusted(formats()[USUAL], left, top, scale)


def test_the_list_has_a_line_for_each_format() -> None:
    assert [line.split()[0] for line in format_list().splitlines()] == ["format", *formats()]
