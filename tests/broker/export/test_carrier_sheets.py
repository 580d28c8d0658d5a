"""A carrier sheet shows every serial and no face, in three languages."""

import csv
import io
import json
import re
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

import cv2
import pytest
import zxingcpp

from broker.event import read_deals
from broker.i18n import SEAT_NAMES, Translator, languages
from broker.protocol import SEATS
from broker.rules import FULL_SET, KINDS, form_hash, in_rows, serial_order
from tests.broker.event.deals.asking import codes, contents, done, sets_of

PAGE: Final = (595.0, 842.0)
LONG: Final = "Championnat d’Europe de mahjong MCR en duplicate, épreuve individuelle, séance du soir, salle B "[:100]
FACE: Final = re.compile(r"\b[0-9][mps]\b|\b[1-7]z\b|dragon|bamboo|bambou|character|caract|万|筒|条|索")


class Word(NamedTuple):
    """A word on a page, in points from the upper left."""

    left: float
    top: float
    right: float
    bottom: float
    text: str


def words_of(sheet: Path) -> list[Word]:
    """Return every word on a sheet."""
    html = subprocess.run(["pdftotext", "-bbox", sheet, "-"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r'xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">([^<]*)<', html)
    return [Word(float(a), float(b), float(c), float(d), text) for a, b, c, d, text in found]


def text_of(sheet: Path) -> str:
    """Return the text of a sheet."""
    return subprocess.run(["pdftotext", "-layout", sheet, "-"], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with deals, and their sheets in each language."""
    folder = tmp_path_factory.mktemp("cup")
    (folder / "event.toml").write_text(f'name = "cup"\ntitle = "{LONG}"\n', encoding="utf-8")
    done("new", "--deals", 5, folder)
    for language in languages():
        formats = ("--format", "pdf", "--format", "json", "--format", "csv")
        done("export", folder, "--deal", 5, "--language", language, *formats, "--output", folder / language)
    return folder


@pytest.mark.parametrize("language", languages())
def test_a_sheet_is_one_page_of_a4(cup: Path, language: str) -> None:
    said = subprocess.run(["pdfinfo", cup / language / "deal-0005.pdf"], capture_output=True, text=True, check=True)
    assert re.findall(r"^(?:Pages|Page size): +(.*)$", said.stdout, re.MULTILINE) == ["1", "595.276 x 841.89 pts (A4)"]


@pytest.mark.parametrize("language", languages())
def test_a_sheet_shows_every_serial_in_its_place(cup: Path, language: str) -> None:
    serials = [word for word in words_of(cup / language / "deal-0005.pdf") if word.bottom - word.top > 17]
    numbers = [word for word in serials if word.text.isdigit() and word.top > 160]
    rows = sorted({word.top for word in numbers})
    found = [tuple(int(w.text) for w in sorted(numbers) if w.top == top) for top in rows]
    deal = read_deals(cup)[4]
    order = serial_order(deal.deal(), sets_of(cup)[5])
    assert found == [row for seat in SEATS for row in order[seat]]


@pytest.mark.parametrize("language", languages())
def test_nothing_on_a_sheet_leaves_the_page_or_overlaps_the_qr_code(cup: Path, language: str) -> None:
    words = words_of(cup / language / "deal-0005.pdf")
    outside = [w for w in words if w.left < 30 or w.right > PAGE[0] - 30 or w.top < 20 or w.bottom > PAGE[1] - 10]
    on_the_code = [word for word in words if word.right > 465 and word.top < 128]
    assert (outside, on_the_code) == ([], [])


@pytest.mark.parametrize("language", languages())
def test_words_of_a_sheet_do_not_overlap(cup: Path, language: str) -> None:
    words = words_of(cup / language / "deal-0005.pdf")
    meeting = [
        (one.text, other.text)
        for at, one in enumerate(words)
        for other in words[at + 1 :]
        if min(one.right, other.right) - max(one.left, other.left) > 0.5
        and min(one.bottom, other.bottom) - max(one.top, other.top)
        > 0.3 * min(one.bottom - one.top, other.bottom - other.top)
    ]
    assert meeting == []


@pytest.mark.parametrize("language", languages())
def test_no_face_is_on_a_sheet_or_in_its_json_and_csv(cup: Path, language: str) -> None:
    assert FACE.findall(text_of(cup / language / "deal-0005.pdf")) == []
    for name in ("deal-0005.json", "deal-0005.csv"):
        assert FACE.findall((cup / language / name).read_text(encoding="utf-8").replace(LONG, "")) == []


def test_the_search_for_faces_would_find_one() -> None:
    assert [face for face in KINDS if not FACE.search(f"1 {face} 2")] == []


def test_no_salt_is_on_a_sheet(cup: Path) -> None:
    salts = [str(deal.salt) for deal in read_deals(cup)]
    shown = b"".join(contents(cup / "en").values()).decode("latin-1") + text_of(cup / "en" / "deal-0005.pdf")
    assert [salt for salt in salts if salt[:8] in shown] == []


@pytest.mark.parametrize("language", languages())
def test_a_sheet_shows_deal_winds_dealer_set_and_form(cup: Path, language: str) -> None:
    said, _ = text_of(cup / language / "deal-0005.pdf").replace(" ", ""), Translator(language)
    form = form_hash(serial_order(read_deals(cup)[4].deal(), sets_of(cup)[5]))
    expected = [
        _("Deal {number}", number=5),
        _("Prevalent wind: {wind}", wind=_("South")),
        _("Dealer: {seat}", seat=_("East")),
        _("Tile set: {number}", number=5),
        _("Form {start}", start=form[:12]),
        *(_("seat wind: {wind}", wind=_(SEAT_NAMES[seat])) for seat in SEATS),
    ]
    assert [text for text in expected if "".join(text.split()) not in said] == []
    assert said.count(_("DEALER")) == (2 if language == "zh" else 1)  # 庄家 is also in the heading


def test_the_qr_code_of_a_sheet_identifies_its_deal(cup: Path, tmp_path: Path) -> None:
    sheet = str(cup / "fr" / "deal-0005.pdf")
    subprocess.run(["pdftoppm", "-r", "100", "-gray", "-singlefile", sheet, str(tmp_path / "page")], check=True)
    picture = cv2.imread(str(tmp_path / "page.pgm"), cv2.IMREAD_GRAYSCALE)
    assert picture is not None
    assert [code.text for code in zxingcpp.read_barcodes(picture)] == ["homologue:deal:cup:5"]


def test_the_json_has_the_rows_and_form_that_a_table_receives(cup: Path) -> None:
    said = json.loads((cup / "en" / "deal-0005.json").read_text())
    deal = read_deals(cup)[4]
    order = serial_order(deal.deal(), sets_of(cup)[5])
    assert said == {
        "event": "cup", "title": LONG, "deal": 5, "set": 5, "prevalent_wind": "south", "dealer": "east",
        "form": form_hash(order), "order": {seat: [list(row) for row in order[seat]] for seat in SEATS},
    }  # fmt: skip


def test_the_csv_has_one_line_for_each_place(cup: Path) -> None:
    lines = list(csv.DictReader(io.StringIO((cup / "en" / "deal-0005.csv").read_text())))
    order = serial_order(read_deals(cup)[4].deal(), sets_of(cup)[5])
    for seat in SEATS:
        of_seat = [line for line in lines if line["seat"] == seat]
        assert in_rows([int(line["serial"]) for line in of_seat]) == order[seat]
        assert [(line["row"], line["place"]) for line in of_seat] == [
            (str(row), str(place)) for row, length in ((1, 13), (2, 11), (3, 10)) for place in range(1, length + 1)
        ]
    assert len(lines) == len(FULL_SET)


def test_exporting_again_gives_the_same_bytes(cup: Path, tmp_path: Path) -> None:
    done("export", cup, "--output", tmp_path)
    before = contents(tmp_path)
    (tmp_path / "deal-0003.pdf").unlink()
    done("export", cup, "--output", tmp_path)
    assert sorted(before) == [f"deal-000{number}.pdf" for number in range(1, 6)]
    assert contents(tmp_path) == before


def test_an_existing_file_is_not_overwritten(cup: Path, tmp_path: Path) -> None:
    (tmp_path / "deal-0002.pdf").write_text("something else")
    assert codes("export", cup, "--deal", 2, "--output", tmp_path) == ["file_exists"]
    assert contents(tmp_path) == {"deal-0002.pdf": b"something else"}


def test_missing_deals_and_unregistered_sets_are_all_reported(cup: Path, tmp_path: Path) -> None:
    assert codes("export", cup, "--deal", 7, "--deal", 8, "--output", tmp_path / "x") == ["deal_unknown"] * 2
    for name in ("event.toml", "deals.json"):
        (tmp_path / name).write_bytes((cup / name).read_bytes())
    done("set", "new", tmp_path, "--set", "1-3")
    assert codes("export", tmp_path, "--output", tmp_path / "x") == ["set_unknown"] * 2
    assert (tmp_path / "x").exists() is False
