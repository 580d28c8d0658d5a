"""Lists of deals are imported as a whole, or refused with each faulty line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from broker.event import DealRecord, file_io, read_deals
from broker.protocol import SEATS
from tests.broker.event.deals.asking import HEADING, Rows, codes, contents, csv_file, done, made, put, refused, rows_of


def as_listed(*numbers: int) -> list[dict[str, Any]]:
    """Return deals as entries of a JSON list."""
    records = (DealRecord(n, n, made(n).prevalent_wind, made(n).dealer, dict(made(n).faces)) for n in numbers)
    return msgspec.json.decode(msgspec.json.encode(list(records)), type=list[dict[str, Any]])


def take(tmp_path: Path, rows: Rows) -> list[str]:
    """Import a CSV list that must be refused, writing nothing; return the errors."""
    said = refused("import", csv_file(tmp_path / "list.csv", rows), tmp_path / "cup", "--event", "cup")
    assert contents(tmp_path / "cup") == {}
    return said


def take_json(tmp_path: Path, listed: object) -> list[str]:
    """Import a JSON list that must be refused, writing nothing; return the errors."""
    path = tmp_path / "list.json"
    path.write_text(json.dumps(listed))
    said = refused("import", path, tmp_path / "cup", "--event", "cup")
    assert contents(tmp_path / "cup") == {}
    return said


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_an_imported_list_is_saved_with_a_commitment(tmp_path: Path, delimiter: str) -> None:
    path = csv_file(tmp_path / "list.csv", rows_of(made(2), made(1)), delimiter)
    done("import", path, tmp_path / "cup", "--event", "cup")
    assert [deal.deal() for deal in read_deals(tmp_path / "cup")] == [made(1), made(2)]
    assert sorted(contents(tmp_path / "cup")) == ["commitment.json", "deals.json"]
    done("reveal", tmp_path / "cup", "--output", tmp_path / "revealed.json")


def test_a_list_saved_by_a_spreadsheet_is_read(tmp_path: Path) -> None:
    heading, *lines = rows_of(made(1))
    untidy = [[name.upper() for name in heading], [f" {cell.upper()} " for cell in lines[0]], [""], *lines[1:]]
    path = csv_file(tmp_path / "list.csv", untidy)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    done("import", path, tmp_path / "cup", "--event", "cup")
    assert [deal.deal() for deal in read_deals(tmp_path / "cup")] == [made(1)]


def test_columns_may_come_in_any_order(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "list.csv", [row[::-1] for row in rows_of(made(1))])
    done("import", path, tmp_path / "cup", "--event", "cup")
    assert [deal.deal() for deal in read_deals(tmp_path / "cup")] == [made(1)]


def test_a_deal_without_a_set_number_uses_the_set_with_its_own_number(tmp_path: Path) -> None:
    sets = ["set", *["7"] * 4, *[""] * 4]
    rows = [[*row, cell] for row, cell in zip(rows_of(made(1), made(2)), sets, strict=True)]
    done("import", csv_file(tmp_path / "list.csv", rows), tmp_path / "cup", "--event", "cup")
    assert [deal.set for deal in read_deals(tmp_path / "cup")] == [7, 2]


def test_deals_json_is_imported_without_its_salts(tmp_path: Path) -> None:
    done("new", "--event", "cup", "--deals", 3, "--sets", "7-9", tmp_path / "one")
    done("import", tmp_path / "one" / "deals.json", tmp_path / "two", "--event", "cup")
    one, two = read_deals(tmp_path / "one"), read_deals(tmp_path / "two")
    assert [deal.deal() for deal in two] == [deal.deal() for deal in one]
    assert [deal.set for deal in two] == [7, 8, 9]
    assert {deal.salt for deal in one} & {deal.salt for deal in two} == set()


def changed(change: Callable[[Rows], Any], *numbers: int) -> Rows:
    """Return a list with a mistake. Line 2 is east's tray of the first deal."""
    rows = [list(row) for row in rows_of(*(made(number) for number in numbers or (1,)))]
    change(rows)
    return rows


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put(3, 3, "up"), "seat_unknown: line 3: seat is 'up'; it must be one of east, south, west, north"),
        (put(3, 1, ""), "seat_unknown: line 3: prevalent_wind is ''; it must be one of east, south, west, north"),
        (put(3, 2, "E"), "seat_unknown: line 3: dealer is 'e'; it must be one of east, south, west, north"),
        (put(3, 4, "0z"), "not_a_tile: line 3, tile 1: '0z' is not a tile"),
        (put(3, 37, "8z"), "not_a_tile: line 3, tile 34: '8z' is not a tile"),
        (put(3, 37, ""), "not_a_tile: line 3, tile 34: missing"),
        (lambda rows: rows[2].pop(), "line_incomplete: fields in line 3: 37; in the header: 38"),
        (lambda rows: rows[2].append("1m"), "line_incomplete: fields in line 3: 39; in the header: 38"),
        (lambda rows: rows.pop(2), "seat_missing: deal 1: the line for south is missing"),
        (put(3, 2, "south"), "deal_contradicts_itself: deal 1 (lines 2 to 5): dealer is north and south"),
        (lambda rows: rows.append(rows[2]), "deal_twice: line 6: deal 1 has a tray for south in line 3"),
    ],
)  # fmt: skip
def test_each_mistake_is_reported_with_its_line(tmp_path: Path, change: Callable[[Rows], Any], said: str) -> None:
    assert take(tmp_path, changed(change)) == [said]


@pytest.mark.parametrize("number", ["0", "-1", "10000", "1.5", "x", "", "１", "9" * 5000])
def test_a_deal_number_outside_1_to_9999_is_refused(tmp_path: Path, number: str) -> None:
    rows = [[number, *row[1:]] if at else row for at, row in enumerate(rows_of(made(1)))]
    said = f"number_wrong: line {{}}: deal is {number[:20]!r}; it must be a number from 1 to 9999"
    assert take(tmp_path, rows) == [said.format(line) for line in (2, 3, 4, 5)]


def test_a_wrong_number_of_a_tile_is_reported_with_deal_and_lines(tmp_path: Path) -> None:
    rows = rows_of(made(3))
    rows[1][4], rows[1][5] = "1m", "1m"
    counted = [tile for row in rows[1:] for tile in row[4:]]
    wrong = [
        f"{counted.count(face)} of {face}, not 4" for face in sorted({*counted}, key=order) if counted.count(face) != 4
    ]
    assert wrong[0] in {"5 of 1m, not 4", "6 of 1m, not 4"}
    assert take(tmp_path, rows) == [f"not_a_deal: deal 3 (lines 2 to 5): {fault}" for fault in wrong]


def order(face: str) -> tuple[str, str]:
    return face[1], face[0]


def test_a_deal_listed_twice_is_reported_for_each_tray(tmp_path: Path) -> None:
    again = rows_of(made(1))[1:]
    assert take(tmp_path, [*rows_of(made(1), made(2)), *again]) == [
        f"deal_twice: line {line}: deal 1 has a tray for {seat} in line {line - 8}"
        for line, seat in enumerate(SEATS, 10)
    ]


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    def change(rows: Rows) -> None:
        rows[1][0:6] = ["01", "up", "down", "left", "?", "0x"]
        rows[7].pop()
        rows[12][3] = "south"

    assert take(tmp_path, changed(change, 1, 2, 3)) == [
        "seat_unknown: line 2: prevalent_wind is 'up'; it must be one of east, south, west, north",
        "seat_unknown: line 2: dealer is 'down'; it must be one of east, south, west, north",
        "seat_unknown: line 2: seat is 'left'; it must be one of east, south, west, north",
        "not_a_tile: line 2, tile 1: '?' is not a tile",
        "not_a_tile: line 2, tile 2: '0x' is not a tile",
        "line_incomplete: fields in line 8: 37; in the header: 38",
        "deal_twice: line 13: deal 3 has a tray for south in line 11",
        "seat_missing: deal 3: the line for north is missing",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put(1, 3, "chair"), "there is no column seat; unknown columns: 'chair'"),
        (put(1, 37, "33"), "there is no column 34; two columns are called '33'"),
        (lambda rows: rows.clear(), f"there is no column {', '.join(HEADING)}"),
    ],
)
def test_a_wrong_heading_is_refused(tmp_path: Path, change: Callable[[Rows], Any], said: str) -> None:
    assert take(tmp_path, changed(change)) == [f"heading_wrong: list.csv, line 1: {said}"]


def test_an_empty_list_is_refused(tmp_path: Path) -> None:
    assert take(tmp_path, rows_of()) == ["no_deal: list.csv contains no deals"]
    assert take_json(tmp_path, []) == ["no_deal: list.json contains no deals"]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (b"\xff\xfe\x00", "not_text"),
        (b"PK\x03\x04", "bad_workbook"),
        (b'deal,"seat\n1', "malformed"),
        (b"deal\x00", "not_text"),
        (b'"' + b"x" * 200_000 + b'"', "malformed"),
    ],
)
def test_a_file_that_is_not_a_list_is_refused(tmp_path: Path, written: bytes, code: str) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(written)
    assert codes("import", path, tmp_path / "cup", "--event", "cup") == [code]


def test_a_line_that_is_not_text_is_reported_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(b"deal,seat\n1,east\n2,\x01st\n")
    assert refused("import", path, tmp_path / "cup", "--event", "cup") == [
        "not_text: list.csv: line 3: this is neither text nor a workbook"
    ]


@pytest.mark.parametrize("name", ["list.csv", "list.json"])
def test_a_huge_file_is_refused(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(file_io.MAX_FILE_BYTES + 1)
    assert codes("import", tmp_path / name, tmp_path / "cup", "--event", "cup") == ["too_large"]


def test_a_list_longer_than_all_possible_deals_is_refused(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "list.csv", [rows_of()[0], *[["x"]] * (file_io.MAX_CSV_LINES + 1)])
    assert codes("import", path, tmp_path / "cup", "--event", "cup") == ["too_large"]
    (tmp_path / "list.json").write_text("[" + "0," * 10_000 + "0]")
    assert codes("import", tmp_path / "list.json", tmp_path / "cup", "--event", "cup") == ["too_large"]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    said = f"file_missing: {tmp_path / 'no.csv'}: there is no such file"
    assert refused("import", tmp_path / "no.csv", tmp_path / "cup", "--event", "cup") == [said]


@pytest.mark.parametrize(
    "written", [b"", b"{}", b"[", b"[" * 100_000, b"null", b'["', b"\xff", b"9" * 5000, b'[{"number": 1, "number": 2}]']
)
def test_malformed_json_is_refused(tmp_path: Path, written: bytes) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(written)
    assert codes("import", path, tmp_path / "cup", "--event", "cup") == ["malformed"]


def test_each_wrong_deal_of_a_json_list_is_reported_with_its_position(tmp_path: Path) -> None:
    listed = as_listed(1, 2, 3)
    listed[0]["dealer"] = "up"
    listed[2]["number"] = 0
    assert take_json(tmp_path, listed) == [
        "malformed: deal in place 1 of the list: dealer: 'up' is not allowed here",
        "malformed: deal in place 3 of the list: number: a whole number of at least 1 is needed",
    ]


def test_incomplete_deals_of_a_json_list_are_reported(tmp_path: Path) -> None:
    listed = as_listed(1, 1, 2)
    last = listed[2]["faces"]["south"].pop()
    listed[1]["faces"]["west"][0] = "0z"
    gone = made(1).faces["west"][0]
    assert take_json(tmp_path, listed) == [
        "deal_twice: deal 1 is listed 2 times",
        "not_a_deal: deal 1: '0z' is not a tile",
        f"not_a_deal: deal 1: 3 of {gone}, not 4",
        "not_a_deal: deal 2: south has 33 tiles, not 34",
        f"not_a_deal: deal 2: 3 of {last}, not 4",
    ]


def test_a_second_list_does_not_replace_the_first(tmp_path: Path) -> None:
    path = csv_file(tmp_path / "list.csv", rows_of(made(1)))
    done("import", path, tmp_path / "cup", "--event", "cup")
    before = contents(tmp_path / "cup")
    assert codes("import", path, tmp_path / "cup", "--event", "cup") == ["deals_exist"]
    assert contents(tmp_path / "cup") == before
