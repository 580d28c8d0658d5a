"""Lists are read from CSV and workbooks of any origin, and written so that spreadsheets misread nothing."""

import base64
import csv
import io
import zipfile
from datetime import date, datetime
from datetime import time as clock
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final

import openpyxl
import pytest

from broker.event import ListedPlayer, players_csv, read_players
from broker.event.file_io import read_csv
from broker.event.setup import player_list_of
from broker.protocol import Player
from broker.rules import RuleError
from broker.spreadsheet import (
    BadRow,
    as_workbook,
    columns,
    csv_text,
    decimal,
    encode_output,
    for_excel,
    read_grid,
    sent_content,
    sent_text,
)

ROWS = [["Nom", "Pays", "Club"], ["Anne Lefèvre", "FRA", "Les Bambous"], ["Émile Noël", "BEL", "Ça va"]]


def text(separator: str, rows: list[list[str]] = ROWS) -> str:
    return "".join(separator.join(row) + "\r\n" for row in rows)


def workbook(rows: list[list[object]], title: str = "Joueurs") -> bytes:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = title
    for row in rows:
        sheet.append(row)
    book.create_sheet("other").append(["this is not read"])
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


def cells(content: bytes) -> list[list[str]]:
    return [row for _, row in read_grid(content).rows]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"])
def test_csv_is_read_in_every_encoding_and_with_every_separator(encoding: str, separator: str) -> None:
    assert cells(text(separator).encode(encoding)) == ROWS


def test_characters_of_windows_1252_are_read() -> None:
    assert cells("Nom\r\nL’Œil – 5 €\r\n".encode("cp1252")) == [["Nom"], ["L’Œil – 5 €"]]


def test_a_chinese_list_of_excel_is_read() -> None:
    rows = [["姓名", "国家"], ["李伟", "CHN"]]
    assert cells(text(",", rows).encode("gb18030")) == rows


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_excels_separator_line_is_not_a_heading(separator: str) -> None:
    grid = read_grid(f"sep={separator}\r\n{text(separator)}".encode("utf-8-sig"))
    assert [*grid.rows] == [*enumerate(ROWS, 2)]


def test_a_comma_in_quotes_is_not_a_separator() -> None:
    assert cells(b'"Nom, usuel, ou autre";Pays\r\n"Roy, Anne";FRA\r\n') == [
        ["Nom, usuel, ou autre", "Pays"],
        ["Roy, Anne", "FRA"],
    ]


def test_empty_columns_at_the_end_are_dropped() -> None:
    assert cells(b"name;country;;\r\nAnne;FRA;;\r\n;;;\r\nBo;;;\r\n") == [
        ["name", "country"],
        ["Anne", "FRA"],
        ["Bo", ""],
    ]
    assert cells(b"name;country;;\r\nAnne;FRA;;x\r\n")[1] == ["Anne", "FRA", "", "x"]


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u3000", "  ", "\n"])
def test_any_white_space_in_a_name_becomes_one_space(blank: str, tmp_path: Path) -> None:
    written = {
        "players.csv": f'name\n"Anne{blank}Roy{blank}"\n'.encode(),
        "players.xlsx": workbook([[f"Anne{blank}Roy"]]),
    }
    for name, content in written.items():
        (tmp_path / name).write_bytes(content)
    assert [read_players(tmp_path / name)[0].player.name for name in written] == ["Anne Roy"] * 2


NOON: Final = datetime.combine(date(2026, 4, 3), clock(12))
"""A date and time without a time zone, as in a cell."""


@pytest.mark.parametrize("value", [date(2026, 4, 3), NOON, clock(1, 2), "#N/A", "#REF!"])
def test_a_date_or_a_spreadsheet_error_in_a_cell_is_refused_with_its_place(value: object) -> None:
    with pytest.raises(BadRow, match=r"^column B: ") as refused:
        cells(workbook([["name", "team"], ["Anne", value]]))
    assert (refused.value.code, refused.value.row) == ("malformed", 2)


def test_a_spreadsheet_error_is_refused_in_csv_too() -> None:
    with pytest.raises(BadRow, match=r"^column A: #NAME\?"):
        cells(b"name\n#NAME?\n")


def test_two_columns_of_the_same_name_are_reported(tmp_path: Path) -> None:
    (tmp_path / "players.csv").write_text("name,Name,shoe\nAnne,Bo,38\n")
    with pytest.raises(RuleError, match=r"line 1: unknown columns: 'shoe'; two columns are called 'name'$"):
        read_players(tmp_path / "players.csv")


def test_headings_are_understood_in_three_languages() -> None:
    english = ["name", "country", "club", "team", "first_name", "last_name", "ema"]
    assert columns(["Name", "Country", "CLUB", "Team", "First name", "last_name", "EMA number"]) == english
    assert columns(["Joueur", "Pays", "Club", "Équipe", "Prénom", "Nom de famille", "N° EMA"]) == english
    assert columns(["姓名", "国家", "俱乐部", "队伍", "名", "姓", "EMA 编号"]) == english


def test_nom_is_the_family_name_where_there_is_a_first_name() -> None:
    assert columns(["Nom", "Prénom"]) == ["last_name", "first_name"]
    assert columns(["Nom"]) == ["name"]


def test_a_workbooks_first_sheet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "players.xlsx"
    path.write_bytes(
        workbook([["Nom", "Pays", "EMA"], ["Anne", "FRA", 4010023], [None, None, None], ["Bo", "SWE", None]])
    )
    assert [(one.player.name, one.further[0], one.further[3]) for one in read_players(path)] == [
        ("Anne", "FRA", "4010023"),
        ("Bo", "SWE", ""),
    ]


def test_a_mistake_in_a_workbook_is_located_by_sheet_row_and_column(tmp_path: Path) -> None:
    path = tmp_path / "players.xlsx"
    path.write_bytes(workbook([["Nom", "Pays"], ["Anne", "FRA"], ["Bo", "Sverige"]]))
    with pytest.raises(ExceptionGroup) as refused:
        read_players(path)
    assert [str(one).startswith("line Joueurs!B3: ") for one in refused.value.exceptions] == [True]


def test_a_formula_without_a_stored_result_is_reported() -> None:
    with pytest.raises(BadRow, match="column B: the formula"):
        cells(workbook([["Nom", "Pays"], ["Anne", '=CONCAT("F","RA")']]))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"PK\x03\x04 and nothing", "bad_workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "bad_workbook"),
        (b"name\n\x01\n", "not_text"),
        (b"\xff\xfe\x00", "not_text"),
    ],
)
def test_content_that_is_not_a_list_is_refused(content: bytes, code: str) -> None:
    with pytest.raises(RuleError) as refused:
        read_grid(content)
    assert refused.value.code == code


def test_a_workbook_that_would_unpack_to_too_much_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/workbook.xml", b"0" * 70 * 2**20)
    with pytest.raises(RuleError) as refused:
        read_grid(packed.getvalue())
    assert refused.value.code == "too_large"


def test_a_cell_far_outside_the_list_is_ignored(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["name"])
    book.worksheets[0].cell(1_048_576, 16_384, "far away")
    path = tmp_path / "far.xlsx"
    book.save(path)
    assert read_csv(path, ["name"]) == ([], 1)


NAMES = ["=cmd|'/c calc'!A1", "+1", "-1", "@SUM(1)", "Anne", "04010023", "'s Gravenhage"]


def test_for_excel_decimals_have_a_comma_and_no_text_is_a_formula() -> None:
    written = for_excel(csv_text(["name", "imp"], [*((name, Decimal("-8.6")) for name in NAMES)]))
    assert written.startswith(b"\xef\xbb\xbfname;imp\r\n")
    rows = list(csv.reader(io.StringIO(written.decode("utf-8-sig"), newline=""), delimiter=";"))[1:]
    assert [imp for _, imp in rows] == ["-8,6"] * len(NAMES)
    assert [name for name, _ in rows if name[0] in "=+-@"] == []


@pytest.mark.parametrize("mark", ["=", "+", "-", "@", "＝"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "; "])
def test_no_text_becomes_a_formula_when_it_is_split_at_another_separator(separator: str, mark: str) -> None:
    name = f"Anne{separator}{mark}1+1{separator}x"
    for made in (csv_text(["name", "club"], [(name, "")]).encode(), for_excel(csv_text(["name"], [(name,)]))):
        for read_with in ",;\t":
            rows = csv.reader(io.StringIO(made.decode("utf-8-sig"), newline=""), delimiter=read_with)
            assert [cell for row in rows for cell in row if cell.strip().startswith(mark)] == []
    again = as_workbook(csv_text(["name"], [(name,)]), "cup")
    assert openpyxl.load_workbook(io.BytesIO(again)).worksheets[0]["A2"].value == name


def test_a_written_workbook_has_numbers_as_numbers_and_names_unchanged(tmp_path: Path) -> None:
    content = encode_output(
        csv_text(["name", "imp"], [(name, Decimal("-8.6")) for name in NAMES]), tmp_path / "cup.XLSX"
    )
    rows = list(openpyxl.load_workbook(io.BytesIO(content)).worksheets[0].iter_rows(min_row=2))
    assert [(name.value, name.data_type, imp.value) for name, imp in rows] == [(name, "s", -8.6) for name in NAMES]


def test_a_list_of_players_survives_a_workbook_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "players.csv"
    path.write_text(
        csv_text(["id", "name", "country", "ema"], [("p01", "=1+1", "FRA", "04010023"), ("p02", "Bo", "", "")])
    )
    players = read_players(path)
    again = tmp_path / "players.xlsx"
    again.write_bytes(as_workbook(players_csv(players), "players"))
    assert read_players(again) == players


@pytest.mark.parametrize("name", ["'Abd al-Rahman", "'t Hart", "=1+1", "Go, -Club", "A; =b"])
def test_a_list_of_players_is_read_as_written_whatever_a_name_begins_with(tmp_path: Path, name: str) -> None:
    path = tmp_path / "players.csv"
    player = ListedPlayer(Player(id="p01", name=name), ("", name, "", ""), first_name="Maarten", last_name=name)
    path.write_text(players_csv([player]), encoding="utf-8")
    assert read_players(path) == (player,)


def test_a_page_may_send_a_workbook_of_players() -> None:
    sent = base64.b64encode(workbook([["姓名", "国家"], ["李伟", "CHN"]])).decode()
    assert [(one.player.name, one.country) for one in player_list_of(f"data:;base64,{sent}")] == [("李伟", "CHN")]


@pytest.mark.parametrize("heading", ["", "name\n", "Nom\n", "姓名\n"])
def test_a_list_may_have_names_only(heading: str) -> None:
    assert [one.player.name for one in player_list_of(f"{heading}Anne Roy\n\n李伟\n")] == ["Anne Roy", "李伟"]


@pytest.mark.parametrize(
    "content", ["Zoé Roy\r\nÉmile Roy\r\n".encode("cp1252"), workbook([["Zoé Roy"], ["Émile Roy"]])]
)
def test_a_list_of_names_only_may_be_windows_text_or_a_workbook(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "names").write_bytes(content)
    assert [one.player.name for one in read_players(tmp_path / "names")] == ["Zoé Roy", "Émile Roy"]


def test_a_page_sends_text_unchanged_and_other_files_in_base64() -> None:
    listed = base64.b64encode(workbook([["姓名", "国家"], ["李伟", "CHN"]])).decode()
    assert sent_text(f"data:;base64,{listed}").splitlines() == ["姓名,国家", "李伟,CHN"]
    assert sent_content("name\nÉmile\n") == "name\nÉmile\n".encode()
    assert sent_content("data:;base64,UEsDBA==") == b"PK\x03\x04"
    with pytest.raises(RuleError, match="not a file"):
        sent_content("data:;base64,?")


@pytest.mark.parametrize(
    ("number", "written"),
    [(7, 7), ("-7/3", Decimal("-2.333")), (Fraction(169, 5), Decimal("33.800")), ("6/3", 2), (Fraction(0), 0)],
)
def test_a_fraction_becomes_a_decimal_unless_it_is_whole(number: int | str | Fraction, written: object) -> None:
    assert (decimal(number), type(decimal(number))) == (written, type(written))


def test_texts_that_look_like_numbers_are_marked_as_text_and_numbers_are_not() -> None:
    assert csv_text(("a", "b", "c", "d"), [(-3, Decimal("-0.500"), "-3", None)]) == "a,b,c,d\r\n-3,-0.500,'-3,\r\n"
