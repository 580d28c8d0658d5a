"""One label drawn: the code, and the number with a bar where it could be read upside down."""

import numpy as np
from numpy.typing import NDArray

from vision.sheets.label import EM, LabelLayout, needs_bar, number_width
from vision.sheets.page import Page


def draw_label(page: Page, at: tuple[float, float], layout: LabelLayout, serial: int, code: NDArray[np.bool_]) -> None:
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
