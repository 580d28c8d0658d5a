"""Blank sheets: one for each play, two on a page, with seats, names and key."""

from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from broker.cli.main import homologue
from broker.event import Event
from broker.export.paper_sheets import blank_sheets, blank_sheets_pdf
from broker.i18n import languages
from tests.broker.scorer import small
from tests.broker.scorer.folders import event_folder


def text_of(content: bytes) -> list[str]:
    return [page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(content)]


def made(language: str = "en", tables: tuple[int, ...] = (), rounds: tuple[int, ...] = ()) -> list[str]:
    deals = {deal.number: deal for deal in small.deals()}
    return text_of(blank_sheets_pdf(blank_sheets(small.event(), deals, tables=tables, rounds=rounds), language))


def ask(*words: object) -> Result:
    return CliRunner().invoke(homologue, ["event", "sheets", *map(str, words)])


def test_every_play_has_its_sheet_with_key_seats_and_names() -> None:
    pages = made()
    keys = [f"cup R{play.round} T{play.table} D{play.deal}" for play in small.plan().plays]
    text = "\n".join(pages)
    assert (len(pages), [key for key in keys if text.count(key) != 1]) == (8, [])
    assert text.count("Signature") == 16
    assert text.count("Player 7\r\n") == 4


@pytest.mark.parametrize("language", languages())
def test_sheets_are_printed_in_every_language(language: str) -> None:
    (page,) = made(language, tables=(2,), rounds=(1,))
    assert {"en": "Signature", "fr": "Défausseur", "zh": "点炮"}[language] in page


def test_the_title_of_the_document_is_translated() -> None:
    deals = {deal.number: deal for deal in small.deals()}
    document = pypdfium2.PdfDocument(blank_sheets_pdf(blank_sheets(small.event(), deals, tables=(2,)), "fr"))
    assert document.get_metadata_dict()["Title"] == "Feuilles vierges"


def test_the_command_prints_the_sheets_of_one_table(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "cup")
    assert ask(folder, "--table", 3, "--output", tmp_path / "3.pdf").exit_code == 0
    assert len(text_of((tmp_path / "3.pdf").read_bytes())) == 2


def test_a_table_without_plays_is_refused(tmp_path: Path) -> None:
    done = ask(event_folder(tmp_path / "cup"), "--table", 9)
    assert (done.exit_code, "no_plays" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    "name", ["Wilhelmina Alexandra von Reserve-Hohenstein-Schillingsfürst zu Waldenburg", "長" * 60]
)
def test_a_long_name_is_printed_whole_and_legibly(name: str) -> None:
    plan = small.plan()
    event = Event(
        replace(plan, players=tuple(replace(one, name=name) for one in plan.players)), small.deals(), small.registry()
    )
    deals = {deal.number: deal for deal in small.deals()}
    content = blank_sheets_pdf(blank_sheets(event, deals, tables=(1,), rounds=(1,)), "en")
    (page,) = pypdfium2.PdfDocument(content)
    letters = "".join(page.get_textpage().get_text_bounded().split())
    assert letters.count(name.replace(" ", "")) == 4
    sizes = {round(one.get_font_size(), 1) for one in page.get_objects() if isinstance(one, pypdfium2.PdfTextObj)}
    assert min(sizes) >= 6.5
