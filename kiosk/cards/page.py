"""A card as PDF: pictures with their sentences in two columns, then what else to know; always one A4 page."""

import io
from typing import Final

import pygame
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph

from kiosk.cards.contents import Card
from kiosk.cards.moments import SIZE
from kiosk.errors import BadConfiguration
from kiosk.screens.shown import Shown
from kiosk.screens.style import HAN, HINT, chinese_font
from kiosk.screens.table import TableScreen
from kiosk.screens.words import Words

MARGIN: Final = 14 * mm
GAP: Final = 8 * mm
WIDE: Final = (A4[0] - 2 * MARGIN - GAP) / 2
HIGH: Final = WIDE * SIZE[1] / SIZE[0]
FEW: Final = 4
"""So many pictures leave room for larger letters."""


def page(card: Card, words: Words) -> bytes:
    """Give the page. Raises BadConfiguration where the language has no font here."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, invariant=1, lang=words.language)
    canvas.setTitle(words(f"card_{card.name}"))
    plain, bold = _fonts(words.language)
    size, room = (13.5, 42 * mm) if len(card.moments) <= FEW else (11, 22.5 * mm)
    title = ParagraphStyle("title", fontName=bold, fontSize=20, leading=24)
    text = ParagraphStyle("text", fontName=plain, fontSize=size, leading=size * 1.3, wordWrap=_wrapping(words.language))
    y = A4[1] - MARGIN - _write(canvas, words(f"card_{card.name}"), title, (MARGIN, A4[1] - MARGIN))
    y -= 5 * mm
    for at, (sentence, shown) in enumerate(card.moments):
        x, top = MARGIN + at % 2 * (WIDE + GAP), y - at // 2 * (HIGH + room)
        canvas.drawImage(_picture(words, shown() if callable(shown) else shown), x, top - HIGH, WIDE, HIGH)
        _write(canvas, f"<b>{at + 1}</b>  {words(sentence)}", text, (x, top - HIGH - 1.5 * mm), WIDE)
    y -= -(-len(card.moments) // 2) * (HIGH + room)
    for sentence in card.besides:
        y -= _write(canvas, words(sentence), text, (MARGIN, y)) + 2 * mm
    canvas.showPage()
    canvas.save()
    return file.getvalue()


def _write(
    canvas: Canvas, text: str, style: ParagraphStyle, at: tuple[float, float], width: float = A4[0] - 2 * MARGIN
) -> float:
    """Write a paragraph down from a place, and give its height."""
    paragraph = Paragraph(text, style)
    _, height = paragraph.wrap(width, A4[1])
    paragraph.drawOn(canvas, at[0], at[1] - height)
    return float(height)


def _picture(words: Words, shown: Shown) -> ImageReader:
    pygame.font.init()
    surface = pygame.Surface(SIZE)
    TableScreen(words, SIZE).draw(surface, shown)
    return ImageReader(Image.frombytes("RGB", SIZE, pygame.image.tobytes(surface, "RGB")))


def _wrapping(language: str) -> str | None:
    return "CJK" if language[:2] in HAN else None


def _fonts(language: str) -> tuple[str, str]:
    """Give the names of a plain and a bold font with the language's letters; both go into the file."""
    if language[:2] not in HAN:
        for name, file in (("Vera", "Vera.ttf"), ("VeraBd", "VeraBd.ttf")):
            pdfmetrics.registerFont(TTFont(name, file))
        pdfmetrics.registerFontFamily("Vera", normal="Vera", bold="VeraBd", italic="Vera", boldItalic="VeraBd")
        return "Vera", "VeraBd"
    if (path := chinese_font()) is None:
        raise BadConfiguration(HINT.format(language=language))
    pdfmetrics.registerFont(TTFont("Han", str(path)))
    pdfmetrics.registerFontFamily("Han", normal="Han", bold="Han", italic="Han", boldItalic="Han")
    return "Han", "Han"
