"""A label has its code with a white margin, and the number, and nothing near the edge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.errors import LabelTooSmallError
from vision.marks.label_code import MODULE_COUNTS, Payload, module_count, parse_payload, payload_text
from vision.sheets.label import (
    DIGIT_HEIGHT,
    NUMBER_SIZES,
    SMALLEST_MODULE,
    TOLERANCE,
    NumberSize,
    code_modules,
    lay_out_label,
    needs_bar,
    number_width,
    usual_modules,
)

SIDES = st.floats(8, 40)
NEAR = 1e-6


@given(SIDES, SIDES, st.sampled_from(MODULE_COUNTS), st.sampled_from(NUMBER_SIZES))
def test_code_with_margin_and_number_are_inside_and_apart(
    width: float, height: float, modules: int, number: NumberSize
) -> None:
    try:
        layout = lay_out_label(width, height, modules, number)
    except LabelTooSmallError:
        return
    left, top = (at - layout.module for at in layout.code)
    side = (modules + 2) * layout.module
    assert layout.module >= SMALLEST_MODULE
    assert min(left, top) >= TOLERANCE - NEAR
    assert left + side <= width - TOLERANCE + NEAR
    assert top + side <= height - TOLERANCE + NEAR
    if layout.number is None:
        return
    middle, foot = layout.number
    half = number_width(layout.digit) / 2
    assert layout.digit == DIGIT_HEIGHT[number]
    assert middle - half >= left + side - NEAR or foot - layout.digit >= top + side - NEAR
    assert middle - half >= TOLERANCE - NEAR
    assert middle + half <= width - TOLERANCE + NEAR
    assert foot + 0.25 * layout.digit <= height - TOLERANCE + NEAR


@pytest.mark.parametrize("number", NUMBER_SIZES)
def test_codes_too_fine_for_a_camera_are_refused(number: NumberSize) -> None:
    with pytest.raises(LabelTooSmallError):
        lay_out_label(7.0, 7.0, 14, number)


@pytest.mark.parametrize(("side", "modules"), [(7.0, 10), (9.39, 10), (9.4, 12), (40, 12)])
def test_a_label_has_twelve_modules_if_they_are_large_enough(side: float, modules: int) -> None:
    assert usual_modules(side, side, "none") == modules


@pytest.mark.parametrize("modules", MODULE_COUNTS)
def test_a_code_contains_the_tile_and_has_the_modules_of_its_text(modules: int) -> None:
    text = payload_text(Payload(3, 17), modules)
    assert code_modules(Payload(3, 17), modules).shape == (modules, modules)
    assert (module_count(text), parse_payload(text)) == (modules, Payload(3, 17))


@pytest.mark.parametrize(
    ("text", "bar"),
    [("006", True), ("068", True), ("001", True), ("100", True), ("090", True),
     ("111", False), ("101", False), ("088", True), ("017", False), ("136", False), ("096", True), ("069", True)],
)  # fmt: skip
def test_a_number_that_is_another_upside_down_has_a_bar(*, text: str, bar: bool) -> None:
    assert needs_bar(text) == bar
