"""One label: its DataMatrix, what is on it and how large, and how it is drawn.

The code is as large as the sticker allows, the number beside or below it.
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
"""Small is read in the hand and not across a table: who knows the serials of a set knows its faces."""

EM: Final = 1 / 0.71
"""Size of Helvetica-Bold for a digit's height of one; each digit is 0.556 of it wide."""

TOLERANCE: Final = 0.5
"""What printer and punch may be off by. Beyond the label's edge begins the back, and that may be dark."""

SMALLEST_MODULE: Final = 0.5
GOOD_MODULE: Final = 0.6
"""Millimetres. Of most trays among the development pictures a camera shows 4.4 pixels a millimetre (2.3 to 5.6 of all
pictures): a good module has 2.6 of them. One below the smallest is read from nearby only."""

USUAL_MODULES: Final = 12
"""Across the code. On a corner, in a picture 640 pixels wide, all of these are read and half of those with 14 modules;
with 10 fewer code words speak against a misread. docs/marks.md"""

_QUIET: Final = 1  # modules about the code that stay white: ISO/IEC 16022
_GAP: Final = 0.3


@dataclass(frozen=True, slots=True)
class LabelLayout:
    """Where code and number lie: `code` is the top left of the modules, `number` the middle of the digits' foot."""

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
    """Return `USUAL_MODULES` where they are good on a label of this size, else the fewest that there are."""
    try:
        good = lay_out_label(width, height, USUAL_MODULES, number).module >= GOOD_MODULE
    except LabelTooSmallError:
        good = False
    return USUAL_MODULES if good else min(MODULE_COUNTS)


def number_width(digit: float) -> float:
    """Return how wide three digits of this height are."""
    return 3 * 0.556 * EM * digit


def _laid(width: float, height: float, block: float, module: float, digit: float, *, beside: bool) -> LabelLayout:
    """Put code and number in the middle, as one block."""
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
    """Return whether a number turned by half a turn reads as another: it gets a bar below, as numbered balls do."""
    turned = text[::-1].translate(_TURNED)
    return set(text) <= set("01689") and turned != text


def code_modules(payload: Payload, modules: int) -> NDArray[np.bool_]:
    """Return the modules of a label, shape (modules, modules), True is black; without the quiet zone."""
    barcode = zxingcpp.create_barcode(payload_text(payload, modules), zxingcpp.BarcodeFormat.DataMatrix)
    picture = np.asarray(zxingcpp.write_barcode_to_image(barcode, add_quiet_zones=False))
    return np.asarray(picture < 128, dtype=np.bool_)  # noqa: PLR2004 - half of white


def draw_label(
    page: LabelPage, at: tuple[float, float], layout: LabelLayout, serial: int, code: NDArray[np.bool_]
) -> None:
    """Draw a label upright from its top left corner; `code` has shape (modules, modules), True is black."""
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
        page.line((middle - half, below), (middle + half, below), thick=0.1 * layout.digit)
