"""The CSV file."""

import csv
import io

import pytest
from msgspec.structs import replace

from broker.desk.standings import as_csv, text_cell
from tests.broker.desk import sample


def test_the_file_has_one_row_a_player_in_order_of_place() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(sample.view()).decode("utf-8-sig"))))
    assert rows[:3] + rows[-1:] == [
        ["place", "player", "name", "imp", "fines", "plays"],
        ["1", "p02", "欧阳修竹", "17", "0", "2"],
        ["2", "p11", "司马相如", "5", "0", "2"],
        ["16", "p06", "Søren Kjær", "-10", "8", "2"],
    ]


def test_the_file_begins_with_the_mark_by_which_excel_knows_utf_8() -> None:
    assert as_csv(sample.view()).startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " =", "\r", "＝", "＋", "－", "＠"])
def test_a_name_that_a_spreadsheet_would_run_is_kept_as_text(start: str) -> None:
    assert text_cell(f"{start}1+1") == f"'{start}1+1"


def test_an_ordinary_name_is_left_alone() -> None:
    assert text_cell("O’Neill - Tom") == "O’Neill - Tom"


def test_names_are_guarded_in_the_file() -> None:
    view = sample.view()
    evil = replace(view, standings=(replace(view.standings[0], name='=HYPERLINK("http://x")'),))
    assert as_csv(evil).decode("utf-8-sig").splitlines()[1] == '1,p02,"\'=HYPERLINK(""http://x"")",17,0,2'
