"""Printed pages: any title fits, no line is lost, and a block that fits stays on one page."""

import io
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from starlette.requests import Request

from broker.cli.main import homologue
from broker.event import PLAYERS, Plan, RiichiBooking, open_event, read_players
from broker.export.archive import BY_NAME, ExportSource
from broker.export.pdf import (
    ELLIPSIS,
    Columns,
    FontRun,
    PageBlock,
    PageCell,
    PageLine,
    draw_name,
    draw_text,
    fit_text,
    font_runs,
    is_printable,
    printed_spellings,
    spelling_notes,
    striped_rows,
    tables_pdf,
    text_width,
    unprintable_names,
)
from broker.export.seating import seating_pdf
from broker.i18n import Translator
from broker.protocol import SEATS
from broker.scorer import open_stored_event
from broker.scorer.tables import RiichiSessions
from broker.web.results.sessions import SessionsNow, SessionsPage
from tests.broker.scorer.folders import declare, event_folder
from tests.broker.scorer.small import NAME, plan

TITLES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=100)


@given(TITLES, st.booleans())
def test_a_title_in_any_script_fits_and_is_drawn(title: str, bold: bool) -> None:  # noqa: FBT001 - hypothesis fills it in
    text, size = fit_text(title, 400, 16, 9, bold=bold)
    assert text_width(text, size, bold=bold) <= 400
    assert 9 <= size <= 16
    assert draw_text(Canvas(io.BytesIO()), (0, 0), text, size, bold=bold) == pytest.approx(
        text_width(text, size, bold=bold)
    )


def test_a_short_title_keeps_the_largest_size() -> None:
    assert fit_text("A small cup", 400, 16, 9) == ("A small cup", 16)


def test_a_long_title_is_reduced_before_it_is_cut() -> None:
    title = "Open European MCR Duplicate Championship, individual event"
    text, size = fit_text(title, 300, 16, 9)
    assert (text, 9 < size < 16) == (title, True)
    cut, smallest = fit_text(title * 3, 300, 16, 9)
    assert (cut[-1], smallest, (title * 3).startswith(cut.removesuffix(ELLIPSIS))) == (ELLIPSIS, 9, True)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Élan – n° 1…", [FontRun("Helvetica", "Élan – n° 1…")]),
        ("Łódź č", [FontRun("Roboto", "Łódź"), FontRun("Helvetica", " "), FontRun("Roboto", "č")]),
        ("Žofie Dvořák", [FontRun("Helvetica", "Žofie "), FontRun("Roboto", "Dvořák")]),
        ("Nguyễn Λάμπρος", [FontRun("Roboto", "Nguyễn"), FontRun("Helvetica", " "), FontRun("Roboto", "Λάμπρος")]),
        ("杯 2026", [FontRun("STSong-Light", "杯"), FontRun("Helvetica", " 2026")]),
        ("č杯", [FontRun("Roboto", "č"), FontRun("STSong-Light", "杯")]),
        ("Ж", [FontRun("Roboto", "Ж")]),
        ("ő", [FontRun("Roboto", "ő")]),
        ("e\u0301", [FontRun("Helvetica", "é")]),
        ("a\tb\x00", [FontRun("Helvetica", "a b?")]),
        ("Zoé 😀", [FontRun("Helvetica", "Zoé")]),
        ("Ana 👩🏽‍🎓 Ruiz", [FontRun("Helvetica", "Ana Ruiz")]),
        ("🐉", [FontRun("Helvetica", "dragon")]),
        ("© Ж★", [FontRun("Helvetica", "© "), FontRun("Roboto", "Ж"), FontRun("STSong-Light", "★")]),
        ("ไ", [FontRun("Helvetica", "?")]),
    ],
)
def test_each_word_uses_the_first_font_that_covers_it(text: str, written: list[FontRun]) -> None:
    assert font_runs(text) == written


def test_every_extended_latin_letter_is_printed_unchanged() -> None:
    latin = [chr(code) for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)) if chr(code).isalpha()]
    assert [letter for letter in latin if "".join(run.text for run in font_runs(letter)) != letter] == []


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("Zoë \N{MAHJONG TILE RED DRAGON}\ufe0f Ming", "Zoë Ming"),
        ("Ann \N{TROPHY}", "Ann"),
        ("\N{REGIONAL INDICATOR SYMBOL LETTER F}\N{REGIONAL INDICATOR SYMBOL LETTER R} Jean", "Jean"),
        ("\N{WOMAN}\u200d\N{ROCKET} Ann", "Ann"),
        ("\N{SHRUG}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}\u200d\N{FEMALE SIGN}\ufe0f Ann", "Ann"),
        ("1\ufe0f\u20e3 Ann", "1 Ann"),
        ("\u200bAnn\u2060", "Ann"),
        ("\N{SOCCER BALL}", "soccer ball"),
        ("ʻOkina Kaʻahumanu", "ʻOkina Kaʻahumanu"),
        ("김한국 李伟 Łódź", "김한국 李伟 Łódź"),
    ],
)
def test_pictographs_are_omitted_and_rare_letters_printed(name: str, printed: str) -> None:
    assert "".join(run.text for run in font_runs(name)) == printed
    (page,) = pages([PageBlock((), (PageLine("row", (PageCell(name), PageCell("4"))),))])
    assert "".join(page).replace(" ", "") == f"{printed}41of1".replace(" ", "")


def test_bold_letters_are_bold() -> None:
    assert font_runs("Dvořák", bold=True) == [FontRun("Roboto-Bold", "Dvořák")]
    assert font_runs("12 杯", bold=True) == [FontRun("Helvetica-Bold", "12 "), FontRun("STSong-Light", "杯")]


SIZE = (100 * mm, 100 * mm)
"""A page with room for sixteen lines."""

COLUMNS: Columns = ((40 * mm, "left"), (20 * mm, "right"))


def pages(blocks: list[PageBlock]) -> list[list[str]]:
    """Return the lines of each page, ending with its number."""

    def number(canvas: Canvas, page: int, total: int) -> None:
        draw_text(canvas, (20 * mm, 2 * mm), f"{page} of {total}", 8)

    content = tables_pdf(
        blocks, COLUMNS, number, size=SIZE, margins=(20 * mm, 5 * mm, 5 * mm), title="T", language="en"
    )
    return [page.get_textpage().get_text_bounded().split("\r\n") for page in pypdfium2.PdfDocument(content)]


def block(name: int, count: int) -> PageBlock:
    rows = striped_rows((PageCell(f"{name}.{at}"), PageCell("")) for at in range(count))
    return PageBlock((PageLine("columns", (PageCell(f"head {name}"), PageCell(""))),), rows)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_rows_are_complete_and_in_order_with_a_head_and_number_on_each_page(counts: list[int]) -> None:
    found = pages([block(at, count) for at, count in enumerate(counts)])
    rows = [line for page in found for line in page[:-1] if not line.startswith("head")]
    assert rows == [f"{at}.{row}" for at, count in enumerate(counts) for row in range(count)]
    assert [page[0] for page in found if not page[0].startswith("head")] == []
    assert [page[-1] for page in found] == [f"{at} of {len(found)}" for at in range(1, len(found) + 1)]


@given(st.lists(st.integers(1, 14), min_size=1, max_size=8))
def test_a_block_that_fits_stays_on_one_page(counts: list[int]) -> None:
    found = pages([block(at, count) for at, count in enumerate(counts)])
    assert [sum(f"head {at}" in page for page in found) for at in range(len(counts))] == [1] * len(counts)


@pytest.mark.parametrize("name", ["Élodie Château-Thierry de Montmorency-Laval", "欧阳修竹" * 8, "Dvořák" * 12])
def test_a_long_name_wraps_to_the_next_line(name: str) -> None:
    row = PageLine("row", (PageCell(name), PageCell("4")))
    (page,) = pages([PageBlock((), (row,))])
    assert sorted("".join(page).replace(" ", "")) == sorted(f"{name}41of1".replace(" ", ""))


def test_a_long_word_wraps_at_its_hyphen() -> None:
    row = PageLine("row", (PageCell("Marie-Hélène Beauregard-Desrosiers-Sarrazin"), PageCell("4")))
    (page,) = pages([PageBlock((), (row,))])
    told = "|".join(page).replace("\x02", "-|")  # pdfium marks a hyphen at a line break in this way
    assert told.startswith("Marie-Hélène|Beauregard-Desrosiers-|Sarrazin")


def test_a_reduced_name_has_no_space_after_its_hyphens() -> None:
    name = "Anne Beauregard-Desrosiers-Sarrazin"
    for wide, high in product(range(60, 121, 10), (8, 10, 12, 15, 20)):
        out = io.BytesIO()
        canvas = Canvas(out)
        draw_name(canvas, (50, 50), name, (wide, high), 12)
        canvas.save()
        assert "- " not in pypdfium2.PdfDocument(out.getvalue())[0].get_textpage().get_text_bounded()


def test_a_cell_may_span_several_columns() -> None:
    wide = "a text that is wider than its column"
    (page,) = pages([PageBlock((), (PageLine("row", (PageCell(wide, columns=2),)),))])
    assert page[0] == wide


ARABIC, HEBREW, THAI = "محمد العلي", "דוד לוי", "สมชาย ใจดี"
NAMES = {"p01": ARABIC, "p02": HEBREW, "p03": THAI, "p04": "Zoë Žižka?"}
LISTED = f"""\
id,name,first_name,last_name
p01,{ARABIC},Muhammad,Al-Ali
p02,{HEBREW},דוד,לוי
p03,{THAI},,
p04,Zoë Žižka?,Other,Name
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of an event that is over, with three names that cannot be printed."""
    players = tuple(replace(one, name=NAMES.get(one.id, one.name)) for one in plan().players)
    made = declare(event_folder(tmp_path / "cup", of=replace(plan(), players=players)))
    (made / PLAYERS).write_text(LISTED, encoding="utf-8")
    return made


def text_of(content: bytes) -> str:
    return "\n".join(page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(content))


@pytest.mark.parametrize("name", [one.name for one in BY_NAME.values() if one.name.endswith(".pdf")])
def test_exports_print_the_listed_spelling_or_question_marks(folder: Path, name: str) -> None:
    stored = open_stored_event(folder)
    source = ExportSource(folder, stored, Translator("en"), datetime(2026, 5, 1, tzinfo=UTC))
    text = text_of(BY_NAME[name].content(source))
    assert ("Al-Ali" in text, "Other" in text, "????" in text) == (True, False, True)


def test_seating_plan_and_cards_print_the_listed_spelling(folder: Path) -> None:
    event = open_event(folder)
    with printed_spellings(event):
        texts = [text_of(seating_pdf(event, kind, Translator("en"))) for kind in ("names", "tables", "cards")]
    assert ["Muhammad" in text for text in texts] == [True] * 3
    assert "Muhammad" not in text_of(seating_pdf(event, "names", Translator("en")))


def test_riichi_session_sheets_print_the_listed_spelling(tmp_path: Path) -> None:
    booked = RiichiBooking(1, 7, "riichi-montreal", dict(zip(SEATS, ("p01", "p02", "p03", "p04"), strict=True)))
    players = tuple(replace(one, name=NAMES.get(one.id, one.name)) for one in plan().players)
    club = Plan(name=NAME, title="Club", profile="oedmc-2020", players=players, riichi=(booked,))
    folder = event_folder(tmp_path / "cup", [], of=club)
    (folder / PLAYERS).write_text(LISTED, encoding="utf-8")
    event = open_event(folder)
    shown = SessionsPage(SessionsNow(lambda: event, RiichiSessions(event.session_rules)))
    request = Request({"type": "http", "query_string": b"", "headers": [], "path_params": {"table": 7, "round": 1}})
    done = CliRunner().invoke(
        homologue, ["rules", "sheet", "--event", str(folder), "--table", "7", "--pdf", str(tmp_path / "sheet.pdf")]
    )
    for content in (shown.printed(request).body, (tmp_path / "sheet.pdf").read_bytes()):
        text = text_of(bytes(content))
        assert ("Al-Ali" in text, "Other" in text, "????" in text) == (True, False, True)
    assert (done.exit_code, [name in done.stderr for name in (ARABIC, HEBREW, THAI)]) == (0, [False, True, True])


def test_unprintable_names_are_reported_by_list_event_and_commands(folder: Path) -> None:
    assert unprintable_names(open_event(folder)) == (("p02", HEBREW), ("p03", THAI))
    assert [code for code, _text in spelling_notes(read_players(folder / PLAYERS))] == ["name_unprintable"] * 2
    for said in (["export", "certificates"], ["event", "seating"]):
        done = CliRunner().invoke(homologue, [*said, str(folder), "--output", str(folder / f"{said[1]}.pdf")])
        assert (done.exit_code, [name in done.stderr for name in (ARABIC, HEBREW, THAI)]) == (0, [False, True, True])


@pytest.mark.parametrize(
    ("text", "printable"),
    [("Ada?", True), ("Łódź 杯 김", True), ("Žižka", True), (ARABIC, False), (f"Ada {THAI}", False)],
)
def test_a_name_with_its_own_question_mark_is_printable(text: str, *, printable: bool) -> None:
    assert is_printable(text) == printable
