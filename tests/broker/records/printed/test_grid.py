"""Lines on pages: none is lost, none is cut, and a deal stays on one page if a page holds it."""

from hypothesis import given
from hypothesis import strategies as st

from broker.records.printed.grid import GAP, LINE, Block, Cell, Line, pages

HIGH = 10 * LINE


def block(name: int, count: int) -> Block:
    return Block(
        (Line("columns", (Cell(f"head {name}"),)),),
        tuple(Line("row", (Cell(f"{name}.{at}"),)) for at in range(count)),
    )


BLOCKS = st.lists(st.integers(1, 30), max_size=8).map(lambda counts: [block(at, c) for at, c in enumerate(counts)])


def said(lines: list[Line | None]) -> list[str]:
    return [line.cells[0].text for line in lines if line]


@given(BLOCKS)
def test_every_row_is_there_once_in_order_and_no_page_is_too_full(blocks: list[Block]) -> None:
    laid = pages(blocks, HIGH)
    rows = [text for lines in laid for text in said(lines) if not text.startswith("head")]
    assert rows == [line.cells[0].text for one in blocks for line in one.lines]
    assert [lines for lines in laid if sum(line.high if line else GAP for line in lines) > HIGH + 1e-6] == []


@given(BLOCKS)
def test_what_a_page_holds_stays_on_one_page(blocks: list[Block]) -> None:
    laid = pages(blocks, HIGH)
    for at, one in enumerate(blocks):
        if one.high <= HIGH:
            assert sum(f"head {at}" in said(lines) for lines in laid) == 1


@given(BLOCKS)
def test_each_page_begins_with_a_head(blocks: list[Block]) -> None:
    assert [said(lines)[0] for lines in pages(blocks, HIGH) if lines and not said(lines)[0].startswith("head")] == []
