"""One label: its DataMatrix and number, their sizes and positions, and how it is drawn.

The code is as large as the sticker allows, with the number beside or below it.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import zxingcpp
from numpy.typing import NDArray

from vision.errors import LabelTooSmallError
from vision.marks.label_code import MODULE_COUNTS, Payload, payload_text
from vision.sheets.page import LabelPage

NumberSize = Literal["none", "small", "large"]
NUMBER_SIZES: Final[tuple[NumberSize, ...]] = get_args(NumberSize)

DIGIT_HEIGHT: Final[dict[NumberSize, float]] = {"small": 1.8, "large": 3.0}
"""Millimetres. A small number can be read in the hand, but not across the table.

Someone who knows the serials of a set knows its faces.
"""

EM: Final = 1 / 0.71
"""Font size of Helvetica-Bold for digits of height 1; each digit is 0.556 of it wide."""

TOLERANCE: Final = 0.5
"""Millimetres by which printer and punch may be off. Beyond the label's edge is the back, which may be dark."""

SMALLEST_MODULE: Final = 0.5
GOOD_MODULE: Final = 0.6
"""Millimetres. The development pictures of trays mostly have 4.4 pixels per millimetre (all pictures: 2.3 to 5.6), so
that a good module is 2.6 pixels wide. A module below the smallest size can only be read from nearby."""

USUAL_MODULES: Final = 12
"""Modules across the code. Stuck on as diamonds, in a picture 640 pixels wide, all codes with 12 modules are read, but
only half of those with 14; with 10, fewer codewords protect against a misread. See docs/marks.md."""

_QUIET: Final = 1  # white modules around the code: ISO/IEC 16022
_GAP: Final = 0.3


@dataclass(frozen=True, slots=True)
class LabelLayout:
    """Sizes and positions, in millimetres: `code` is the modules' top left, `number` the middle of the baseline."""

    module: float
    code: tuple[float, float]
    digit: float
    number: tuple[float, float] | None


def lay_out_label(width: float, height: float, modules: int, number: NumberSize) -> LabelLayout:
    """Lay out a label of this size. Raises LabelTooSmallError if the code would be too fine for a camera."""
    room = width - 2 * TOLERANCE, height - 2 * TOLERANCE
    digit = DIGIT_HEIGHT.get(number, 0.0)
    across = number_width(digit)
    ways = [(min(room), False)]
    if digit:
        ways = [
            (min(room[0] - _GAP - across, room[1]), True),
            (min(room[0], room[1] - _GAP - 1.3 * digit) if across <= room[0] else 0.0, False),
        ]
    block, beside = max(ways)
    if block / (modules + 2 * _QUIET) < SMALLEST_MODULE:
        text = f"a code of {modules} modules and number {number!r} do not fit on a label of {width:g} x {height:g} mm"
        raise LabelTooSmallError(text)
    return _laid(width, height, block, block / (modules + 2 * _QUIET), digit, beside=beside)


def usual_modules(width: float, height: float, number: NumberSize) -> int:
    """Return `USUAL_MODULES` if modules are then large enough on a label of this size, else the smallest number."""
    try:
        good = lay_out_label(width, height, USUAL_MODULES, number).module >= GOOD_MODULE
    except LabelTooSmallError:
        good = False
    return USUAL_MODULES if good else min(MODULE_COUNTS)


def number_width(digit: float) -> float:
    """Return the width of three digits of this height."""
    return 3 * 0.556 * EM * digit


def _laid(width: float, height: float, block: float, module: float, digit: float, *, beside: bool) -> LabelLayout:
    """Centre code and number on the label, as one block."""
    across = _GAP + number_width(digit) if beside else 0.0
    below = _GAP + 1.3 * digit if digit and not beside else 0.0
    x, y = (width - block - across) / 2, (height - block - below) / 2
    code = x + _QUIET * module, y + _QUIET * module
    if not digit:
        return LabelLayout(module, code, 0.0, None)
    if beside:
        return LabelLayout(module, code, digit, (x + block + across / 2 + _GAP / 2, y + block / 2 + digit / 2))
    return LabelLayout(module, code, digit, (width / 2, y + block + _GAP / 2 + digit))


_TURNED: Final = str.maketrans("01689", "01986")


def needs_bar(text: str) -> bool:
    """Return whether a number reads as a different one upside down; it gets a bar below, like numbered balls."""
    turned = text[::-1].translate(_TURNED)
    return set(text) <= set("01689") and turned != text


def code_modules(payload: Payload, modules: int) -> NDArray[np.bool_]:
    """Return the modules of a label without the quiet zone, shape (modules, modules); True is black."""
    barcode = zxingcpp.create_barcode(payload_text(payload, modules), zxingcpp.BarcodeFormat.DataMatrix)
    picture = np.asarray(zxingcpp.write_barcode_to_image(barcode, add_quiet_zones=False))
    return np.asarray(picture < 128, dtype=np.bool_)  # noqa: PLR2004 - half of white


def draw_label(
    page: LabelPage, at: tuple[float, float], layout: LabelLayout, serial: int, code: NDArray[np.bool_]
) -> None:
    """Draw an upright label with its top left corner at `at`; `code` has shape (modules, modules), True is black."""
    x, y = at
    page.modules((x + layout.code[0], y + layout.code[1]), layout.module, code)
    if layout.number is None:
        return
    middle, foot = x + layout.number[0], y + layout.number[1]
    text = f"{serial:03d}"
    page.centred((middle, foot), text, layout.digit * EM, bold=True)
    if needs_bar(text):
        half = number_width(layout.digit) / 2
        below = foot + 0.2 * layout.digit
        page.line((middle - half, below), (middle + half, below), line_width=0.1 * layout.digit)
