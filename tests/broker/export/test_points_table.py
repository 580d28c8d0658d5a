"""The points table shows the payments that the rules give, as text and as PDF."""

from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.export.points_table import FU, HAN, limit_rows, points_rows, points_table_pdf, points_table_text
from broker.rules.riichi import LANGUAGES, Language, PaidWin, riichi_payments
from tests.broker.rules.riichi.hands import MONTREAL, with_setting


def text_of(pdf: bytes) -> tuple[int, str]:
    """Return the number of pages and all the text of a PDF."""
    document = pypdfium2.PdfDocument(pdf)
    return len(document), "\n".join(page.get_textpage().get_text_range() for page in document)


@pytest.mark.parametrize("dealer", [True, False])
def test_each_cell_is_what_the_payment_function_returns(*, dealer: bool) -> None:
    for fu, cells in points_rows(MONTREAL, dealer=dealer):
        for han, cell in zip(HAN, cells, strict=True):
            ron = riichi_payments(PaidWin(han, fu, dealer, self_drawn=False), MONTREAL.points).discarder_pays
            assert cell.on_discard in {ron, None}


def test_only_cells_that_no_hand_reaches_are_empty() -> None:
    found = {fu: [str(cell) for cell in cells] for fu, cells in points_rows(MONTREAL, dealer=False)}
    assert found[20] == ["- (-)", "- (400/700)", "- (700/1300)", "- (1300/2600)"]
    assert found[25] == ["- (-)", "1600 (-)", "3200 (800/1600)", "6400 (1600/3200)"]
    assert [fu for fu in FU if any("-" in cell for cell in found[fu])] == [20, 25]


def test_limits_are_named_with_their_han() -> None:
    assert [(limit, han, str(cell)) for limit, han, cell in limit_rows(MONTREAL, dealer=True)] == [
        ("mangan", "5", "12000 (4000)"),
        ("haneman", "6-7", "18000 (6000)"),
        ("baiman", "8-10", "24000 (8000)"),
        ("sanbaiman", "11-12", "36000 (12000)"),
        ("counted_yakuman", "13+", "48000 (16000)"),
        ("yakuman", "", "48000 (16000)"),
    ]


def test_without_counted_yakuman_a_sanbaiman_has_no_upper_limit() -> None:
    uncounted = with_setting(MONTREAL, "points", "counted_yakuman", "sanbaiman")
    assert [han for _, han, _ in limit_rows(uncounted, dealer=False)] == ["5", "6-7", "8-10", "11+", ""]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pdf_is_one_page_with_every_number_of_the_text(language: Language) -> None:
    pages, text = text_of(points_table_pdf(MONTREAL, language))
    numbers = {
        str(number)
        for dealer in (True, False)
        for _, cells in points_rows(MONTREAL, dealer=dealer)
        for cell in cells
        for number in (cell.on_discard, *(cell.self_drawn or ()))
        if number is not None and not cell.mangan
    }
    assert pages == 1
    assert sorted(number for number in numbers if number not in text.split()) == []


def test_the_same_table_gives_the_same_bytes() -> None:
    assert points_table_pdf(MONTREAL, "fr") == points_table_pdf(MONTREAL, "fr")


def test_kiriage_mangan_shows_in_the_table() -> None:
    rounding = with_setting(MONTREAL, "points", "kiriage", setting=True)
    changed = {
        (fu, han)
        for (fu, one), (_, other) in zip(
            points_rows(MONTREAL, dealer=False), points_rows(rounding, dealer=False), strict=True
        )
        for han, before, after in zip(HAN, one, other, strict=True)
        if before != after
    }
    assert changed == {(30, 4), (60, 3)}


def test_the_command_prints_the_table_and_writes_the_pdf(tmp_path: Path) -> None:
    shown = CliRunner().invoke(homologue, ["riichi", "table", "--language", "fr"])
    assert (shown.exit_code, shown.stdout) == (0, points_table_text(MONTREAL, "fr") + "\n")
    path = tmp_path / "table.pdf"
    written = CliRunner().invoke(homologue, ["riichi", "table", "--output", str(path)])
    assert (written.exit_code, path.read_bytes()) == (0, points_table_pdf(MONTREAL, "ja"))


def test_an_unwritable_output_path_is_reported(tmp_path: Path) -> None:
    told = CliRunner().invoke(homologue, ["riichi", "table", "--output", str(tmp_path / "gone" / "table.pdf")])
    assert (told.exit_code, "[file_missing]" in told.stderr) == (1, True)
