import json
from collections.abc import Callable
from pathlib import Path

import pytest

from vision.errors import ExpectedDealError
from vision.expected import load_expected, parse_expected

ROWS = [list(range(1, 14)), list(range(14, 25)), list(range(25, 35))]
CARRIER = {seat: [[34 * number + one for one in row] for row in ROWS] for number, seat in enumerate("ESWN")}


def frozen(rows: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in rows)


@pytest.mark.parametrize("wrap", [lambda content: content, lambda content: {"schema": "x", "expected": content}])
def test_a_tray_or_a_carrier_is_taken_bare_or_from_a_truth_file(
    wrap: Callable[[object], object],
) -> None:
    assert parse_expected(wrap({"tray": ROWS})) == frozen(ROWS)
    assert parse_expected(wrap(CARRIER)) == {seat: frozen(rows) for seat, rows in CARRIER.items()}


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"expected": None},
        {"tray": None},
        {"tray": ROWS[:2]},
        {"tray": [[True, *ROWS[0][1:]], *ROWS[1:]]},
        {"tray": [["1", *ROWS[0][1:]], *ROWS[1:]]},
        {seat: rows for seat, rows in CARRIER.items() if seat != "N"},
        {**CARRIER, "N": CARRIER["E"]},
        {**CARRIER, "N": [row[:-1] for row in ROWS]},
    ],
)
def test_what_no_set_of_136_tiles_can_lie_as_is_refused(content: object) -> None:
    with pytest.raises(ExpectedDealError):
        parse_expected(content)


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "deal.json"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(ExpectedDealError):
        load_expected(file)


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "deal.json"
    file.write_text(json.dumps({"expected": CARRIER}), encoding="utf-8")
    assert load_expected(file) == {seat: frozen(rows) for seat, rows in CARRIER.items()}
