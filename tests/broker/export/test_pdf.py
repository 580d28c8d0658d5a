"""Printed pages: any title fits, no line is lost or cut, and a deal stays on one page if a page holds it."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from broker.export.pdf import (
    ELLIPSIS,
    GAP,
    LINE_HEIGHT,
    FontRun,
    PageBlock,
    PageCell,
    PageLine,
    draw_text,
    fit_text,
    font_runs,
    paginate,
    text_width,
)

TITLES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=100)


@given(TITLES, st.booleans())
def test_a_title_in_any_script_fits_and_is_drawn(title: str, bold: bool) -> None:  # noqa: FBT001 - hypothesis fills it in
    text, size = fit_text(title, 400, 16, 9, bold=bold)
    assert text_width(text, size, bold=bold) <= 400
    assert 9 <= size <= 16
    assert draw_text(Canvas(io.BytesIO()), (0, 0), text, size, bold=bold) == pytest.approx(
        text_width(text, size, bold=bold)
    )


def test_a_short_title_is_written_large_and_whole() -> None:
    assert fit_text("A small cup", 400, 16, 9) == ("A small cup", 16)


def test_a_longer_title_is_written_smaller_and_only_then_cut() -> None:
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
        ("😀", [FontRun("Helvetica", "?")]),
    ],
)
def test_each_word_is_written_in_the_first_font_that_has_it(text: str, written: list[FontRun]) -> None:
    assert font_runs(text) == written


def test_every_letter_of_extended_latin_is_written_as_it_is() -> None:
    latin = [chr(code) for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)) if chr(code).isalpha()]
    assert [letter for letter in latin if "".join(run.text for run in font_runs(letter)) != letter] == []


def test_bold_letters_are_bold() -> None:
    assert font_runs("Dvořák", bold=True) == [FontRun("Roboto-Bold", "Dvořák")]
    assert font_runs("12 杯", bold=True) == [FontRun("Helvetica-Bold", "12 "), FontRun("STSong-Light", "杯")]


HIGH = 10 * LINE_HEIGHT


def block(name: int, count: int) -> PageBlock:
    return PageBlock(
        (PageLine("columns", (PageCell(f"head {name}"),)),),
        tuple(PageLine("row", (PageCell(f"{name}.{at}"),)) for at in range(count)),
    )


BLOCKS = st.lists(st.integers(1, 30), max_size=8).map(lambda counts: [block(at, c) for at, c in enumerate(counts)])


def said(lines: list[PageLine | None]) -> list[str]:
    return [line.cells[0].text for line in lines if line]


@given(BLOCKS)
def test_every_row_is_there_once_in_order_and_no_page_is_too_full(blocks: list[PageBlock]) -> None:
    laid = paginate(blocks, HIGH)
    rows = [text for lines in laid for text in said(lines) if not text.startswith("head")]
    assert rows == [line.cells[0].text for one in blocks for line in one.lines]
    assert [lines for lines in laid if sum(line.high if line else GAP for line in lines) > HIGH + 1e-6] == []


@given(BLOCKS)
def test_what_a_page_holds_stays_on_one_page(blocks: list[PageBlock]) -> None:
    laid = paginate(blocks, HIGH)
    for at, one in enumerate(blocks):
        if one.high <= HIGH:
            assert sum(f"head {at}" in said(lines) for lines in laid) == 1


@given(BLOCKS)
def test_each_page_begins_with_a_head(blocks: list[PageBlock]) -> None:
    assert [said(lines)[0] for lines in paginate(blocks, HIGH) if lines and not said(lines)[0].startswith("head")] == []
