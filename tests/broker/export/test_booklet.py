"""The booklet, read back from the PDF: a page for each deal, and only once the standings are final."""

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from broker.export.archive import BY_NAME, ExportSource
from broker.export.booklet import DOT, SeatPoints, booklet_pdf
from broker.export.pmn.record import in_order
from broker.export.printed_results import MINUS, travellers_pdf
from broker.i18n import Translator, languages, tile_signs
from broker.protocol import SEATS
from broker.rules import ROWS, RuleError
from broker.scorer import deal_sheet, open_stored_event
from tests.broker.export.test_printed_results import text_of
from tests.broker.scorer.folders import declare
from tests.broker.web.results.test_views import with_par

NOON = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)


def signs(faces: tuple[str, ...]) -> str:
    """Return the printed signs of tiles, joined."""
    return "".join("".join(tile_signs(face)) for face in faces)


def test_each_deal_has_a_page_with_all_four_trays_in_the_order_of_drawing(declared: Path) -> None:
    stored = open_stored_event(declared)
    pages = ["".join(text.split()) for text in text_of(booklet_pdf(stored, Translator("en"), NOON))]
    assert len(pages) == 1 + len(stored.deals)
    for number, page in enumerate(pages[1:], 1):
        trays = stored.event.open_deal(number).faces.values()
        assert [tray for tray in trays if signs((*in_order(tray[: ROWS[0]]), *tray[ROWS[0] :])) not in page] == []
        assert f"Deal{number}" in page


def test_dots_grow_with_the_number_of_tables_and_each_datum_has_a_stroke(declared: Path) -> None:
    sheet = deal_sheet(open_stored_event(declared).state.snapshot(), 2)
    drawn = SeatPoints(sheet, {}, dict.fromkeys(SEATS, "A seat"))
    canvas = Canvas(BytesIO(), pageCompression=0)
    drawn.wrap(800, 800)
    drawn.drawOn(canvas, 0, 0)
    lines = canvas.getpdfdata().splitlines()
    points = [
        (seat, line.points) for group in sheet.groups for play in group.plays for seat, line in play.seats.items()
    ]
    ends = [float(line.split()[4]) for line in lines if line.endswith(b" c")]
    dots = [ends[at : at + 4] for at in range(0, len(ends), 4)]
    strokes = len(SEATS) * (2 if len(sheet.groups) == 1 else 1) + 1
    assert len(dots) == len(set(points)) < len(points)
    assert sum((max(dot) - min(dot)) ** 2 for dot in dots) == pytest.approx(len(points) * (2 * DOT) ** 2, rel=0.01)
    assert sum(line.endswith(b" l S") for line in lines) == strokes


@pytest.mark.parametrize("language", languages())
def test_the_booklet_is_reproducible_and_names_leaders_and_highlights(declared: Path, language: str) -> None:
    stored, _ = open_stored_event(declared), Translator(language)
    made = booklet_pdf(stored, _, NOON)
    assert made == booklet_pdf(stored, _, NOON)
    cover = text_of(made)[0]
    leader = stored.state.snapshot().standings[0].name
    assert [
        word for word in (leader, _("The most IMPs at one table"), _("Luck and strength")) if word not in cover
    ] == []


def test_the_booklet_is_refused_before_the_standings_are_final(over: Path) -> None:
    source = ExportSource(over, open_stored_event(over), Translator(), NOON)
    with pytest.raises(RuleError) as refused:
        BY_NAME["booklet.pdf"].content(source)
    assert refused.value.code == "not_final"


def test_par_is_printed_once_the_standings_are_final(over: Path) -> None:
    before = text_of(travellers_pdf(open_stored_event(with_par(over)), Translator("en"), NOON))
    assert "Par" not in "".join(before)
    stored = open_stored_event(declare(over))
    known = stored.par_of(1)
    assert known
    ends = [f"8 of 10: {one.least:+} to {one.most:+}".replace("-", MINUS) for one in known.seats().values()]
    for made in (booklet_pdf, travellers_pdf):
        pages = text_of(made(stored, Translator("en"), NOON))
        text = " ".join("".join(pages).split())
        assert [end for end in ends if end not in text] == []
        assert text.count("8 of 10: ") == len(ends)
        assert "counts in no ranking" in text
