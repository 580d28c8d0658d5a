"""A page with secret words, for a share of a key or one's own words for a draw: numbered, and as a QR code."""

from collections.abc import Sequence
from typing import Final

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from broker.export.pdf import draw_fitted, draw_qr, draw_text, drawn_pdf

LEFT: Final = 22 * mm
RIGHT: Final = A4[0] - LEFT
QR: Final = 62 * mm
COLUMNS: Final = 3
COLUMN: Final = (RIGHT - LEFT) / COLUMNS
LINE: Final = 9 * mm


def words_page(title: str, instructions: Sequence[str], words: str, language: str) -> bytes:
    """Return an A4 page (PDF). `instructions`: lines under the title that explain what to do with it."""

    def draw(canvas: Canvas) -> None:
        draw_fitted(canvas, (LEFT, 262 * mm), title, RIGHT - LEFT, (22, 10), bold=True)
        for at, line in enumerate(instructions):
            draw_fitted(canvas, (LEFT, 250 * mm - at * 7 * mm), line, RIGHT - LEFT, (12, 7))
        top = 240 * mm - len(instructions) * 7 * mm
        for at, word in enumerate(words.split()):
            row, column = divmod(at, COLUMNS)
            draw_text(canvas, (LEFT + column * COLUMN, top - row * LINE), f"{at + 1}. {word}", 14)
        draw_qr(canvas, words, (LEFT, 22 * mm), QR)

    return drawn_pdf([draw], title, language)
