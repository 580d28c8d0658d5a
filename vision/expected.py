"""What should lie in a tray or a carrier, from a file: the `expected` object of the truth files, or such a file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vision.errors import ExpectedDealError
from vision.layout.tray import ROW_LENGTHS, SEATS, Where
from vision.payload import LAST_SERIAL

Rows = tuple[tuple[int, ...], ...]
Expected = Rows | Mapping[str, Rows]  # a tray that stands alone, or the carrier's four by seat
Deal = dict[str | None, dict[Where, int]]  # seat, None for a tray that stands alone, to the serials of its places

_SHAPE = 'expected is not {"tray": [[13 serials], [11], [10]]} or {"E": ..., "S": ..., "W": ..., "N": ...}'


def load_expected(path: Path) -> Expected:
    """Load the serials that belong in a tray or a carrier; raises ExpectedDealError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ExpectedDealError(f"{path.name} cannot be read as JSON") from error
    return parse_expected(content)


def parse_expected(content: Any) -> Expected:  # noqa: ANN401 -- JSON may hold anything
    """Give what `{"tray": rows}` or `{"E": rows, ...}` says, bare or under the key `expected`.

    Raises ExpectedDealError.
    """
    if isinstance(content, dict) and "expected" in content:
        content = content["expected"]
    if not isinstance(content, dict):
        raise ExpectedDealError(_SHAPE)
    expected = _rows(content["tray"]) if "tray" in content else _carrier(content)
    check_expected(expected)
    return expected


def _carrier(content: dict[str, Any]) -> dict[str, Rows]:
    if not set(SEATS) <= set(content):
        raise ExpectedDealError(_SHAPE)
    return {seat: _rows(content[seat]) for seat in SEATS}


def _rows(rows: Any) -> Rows:  # noqa: ANN401 -- JSON may hold anything
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ExpectedDealError(_SHAPE)
    if not all(type(serial) is int for row in rows for serial in row):
        raise ExpectedDealError("serials are whole numbers")
    return tuple(tuple(row) for row in rows)


def check_expected(expected: Sequence[Sequence[int]] | Mapping[str, Sequence[Sequence[int]]]) -> Deal:
    """Give the serial of every place; raises ExpectedDealError when no set of 136 tiles can lie so."""
    if isinstance(expected, Mapping) and not set(expected) <= set(SEATS):
        raise ExpectedDealError("a carrier has the seats E, S, W and N")
    trays = expected.items() if isinstance(expected, Mapping) else [(None, expected)]
    deal: Deal = {seat: _by_place(rows) for seat, rows in trays}
    serials = [serial for held in deal.values() for serial in held.values()]
    if any(not 1 <= serial <= LAST_SERIAL for serial in serials) or len(set(serials)) != len(serials):
        raise ExpectedDealError(f"serials are different whole numbers from 1 to {LAST_SERIAL}")
    return deal


def _by_place(rows: Sequence[Sequence[int]]) -> dict[Where, int]:
    if [len(row) for row in rows] != list(ROW_LENGTHS):
        raise ExpectedDealError("a tray has rows of 13, 11 and 10 serials")
    return {(number, col): serial for number, row in enumerate(rows) for col, serial in enumerate(row)}
