"""Any title can be written, in the room that there is."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from broker.organiser.deals.lettering import ELLIPSIS, Run, fitted, runs, width, write

TITLES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=100)


@given(TITLES, st.booleans())
def test_a_title_in_any_script_fits_and_is_drawn(title: str, bold: bool) -> None:  # noqa: FBT001 - hypothesis fills it in
    text, size = fitted(title, 400, 16, 9, bold=bold)
    assert width(text, size, bold=bold) <= 400
    assert 9 <= size <= 16
    assert write(Canvas(io.BytesIO()), (0, 0), text, size, bold=bold) == pytest.approx(width(text, size, bold=bold))


def test_a_short_title_is_written_large_and_whole() -> None:
    assert fitted("A small cup", 400, 16, 9) == ("A small cup", 16)


def test_a_longer_title_is_written_smaller_and_only_then_cut() -> None:
    title = "Open European MCR Duplicate Championship, individual event"
    text, size = fitted(title, 300, 16, 9)
    assert (text, 9 < size < 16) == (title, True)
    cut, smallest = fitted(title * 3, 300, 16, 9)
    assert (cut[-1], smallest, (title * 3).startswith(cut.removesuffix(ELLIPSIS))) == (ELLIPSIS, 9, True)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Élan – n° 1…", [Run("Helvetica", "Élan – n° 1…")]),
        ("Łódź č", [Run("Roboto", "Łódź"), Run("Helvetica", " "), Run("Roboto", "č")]),
        ("Žofie Dvořák", [Run("Helvetica", "Žofie "), Run("Roboto", "Dvořák")]),
        ("Nguyễn Λάμπρος", [Run("Roboto", "Nguyễn"), Run("Helvetica", " "), Run("Roboto", "Λάμπρος")]),
        ("杯 2026", [Run("STSong-Light", "杯"), Run("Helvetica", " 2026")]),
        ("č杯", [Run("Roboto", "č"), Run("STSong-Light", "杯")]),
        ("Ж", [Run("Roboto", "Ж")]),
        ("ő", [Run("Roboto", "ő")]),
        ("e\u0301", [Run("Helvetica", "é")]),
        ("a\tb\x00", [Run("Helvetica", "a b?")]),
        ("😀", [Run("Helvetica", "?")]),
    ],
)
def test_each_word_is_written_in_the_first_font_that_has_it(text: str, written: list[Run]) -> None:
    assert runs(text) == written


def test_every_letter_of_extended_latin_is_written_as_it_is() -> None:
    latin = [chr(code) for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)) if chr(code).isalpha()]
    assert [letter for letter in latin if "".join(run.text for run in runs(letter)) != letter] == []


def test_bold_letters_are_bold() -> None:
    assert runs("Dvořák", bold=True) == [Run("Roboto-Bold", "Dvořák")]
    assert runs("12 杯", bold=True) == [Run("Helvetica-Bold", "12 "), Run("STSong-Light", "杯")]
