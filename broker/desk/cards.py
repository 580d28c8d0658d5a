"""Which tables' cards are on one page of the room: a phone draws sixty, and a hall may have a thousand. Pure."""

from typing import Final, NamedTuple

from broker.desk.sheets import Leaf
from broker.scorer.view import TableView, View

CARDS: Final = 60
"""Cards on a page."""

SHOWN_PLACES: Final = 4 * CARDS
"""Lines of the standings beside them: everybody, where all tables have their cards on one page."""


class Wanted(NamedTuple):
    """What the address asks for: a page of cards, or whichever page has a table's."""

    page: str = ""
    table: str = ""


FIRST: Final = Wanted()


class Cards(NamedTuple):
    """The cards of one page."""

    leaf: Leaf
    shown: tuple[TableView, ...]

    @classmethod
    def of(cls, view: View, wanted: Wanted) -> "Cards":
        """Give the page that is wanted, or the nearest that there is."""
        numbers = [str(table.table) for table in view.tables] if wanted.table else []
        page = str(numbers.index(wanted.table) // CARDS + 1) if wanted.table in numbers else wanted.page
        leaf = Leaf.at(page, len(view.tables), CARDS)
        return cls(leaf, view.tables[leaf.lines(CARDS)])

    def way(self, table: int, language: str) -> str:
        """Give the address of a table's card, as seen from this page."""
        here = self.leaf.of == 1 or any(one.table == table for one in self.shown)
        return f"#table-{table}" if here else f"/?table={table}&lang={language}#table-{table}"
