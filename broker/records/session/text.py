"""The sheet of a session as text."""

from collections.abc import Iterator

from broker.records.session.rows import Row, Sheet

LONGEST_NAME = 12


def text(sheet: Sheet) -> str:
    """Give the sheet in columns of one width of letters."""
    return "".join(f"{line.rstrip()}\n" for line in _lines(sheet))


def _lines(sheet: Sheet) -> Iterator[str]:
    words = sheet.words
    what = max([len(row.what) for row in sheet.rows] + [len(words["what"])])
    names = [name[:LONGEST_NAME] for name in sheet.players]
    yield f"{words['title']}: {sheet.title}"
    yield ""
    yield f"{'':{5 + 4 + what}}" + "".join(f"{name:>16}" for name in names) + f"  {words['table']}"
    yield f"{words['start']:{5 + 4 + what}}" + "".join(f"{score:>16}" for score in sheet.start)
    yield from (_row(row, what) for row in sheet.rows)
    yield ""
    if sheet.places:
        yield f"{words['final']:{5 + 4 + what}}" + "".join(f"{place:>16}" for place in sheet.places)
    else:
        yield f"{words['going_on']} {sheet.next_hand}"


def _row(row: Row, what: int) -> str:
    """Write a row: the sign says what the hand brought, the score stands behind it."""
    moved = "".join(f"{_signed(delta):>8}{score:>8}" for delta, score in zip(row.deltas, row.scores, strict=True))
    counters = f"+{row.counters}" if row.counters else ""
    return f"{row.hand:<5}{counters:<4}{row.what:<{what}}{moved}  {row.table or ''}"


def _signed(delta: int) -> str:
    return f"{delta:+}" if delta else ""
