"""What should lie in a tray, from a file: the `expected` object of the truth files, or a whole truth file."""

import json
from pathlib import Path
from typing import Any

from vision.errors import ExpectedDealError
from vision.verdict import check_deal

Rows = tuple[tuple[int, ...], ...]


def load_expected(path: Path) -> Rows:
    """Load the three rows of serials that belong in a tray; raises ExpectedDealError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ExpectedDealError(f"{path.name} cannot be read as JSON") from error
    return parse_expected(content)


def parse_expected(content: Any) -> Rows:  # noqa: ANN401 -- JSON may hold anything
    """Give the rows of `{"tray": [[13], [11], [10]]}`, bare or under the key `expected`; raises ExpectedDealError."""
    if isinstance(content, dict) and "expected" in content:
        content = content["expected"]
    rows = content.get("tray") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ExpectedDealError('expected is not {"tray": [[13 serials], [11 serials], [10 serials]]}')
    if not all(type(serial) is int for row in rows for serial in row):
        raise ExpectedDealError("serials are whole numbers")
    check_deal(rows)
    return tuple(tuple(row) for row in rows)
