"""What became of an order, by what its tables say of themselves. Pure.

The number alone does not tell: a table that is past it may have obeyed another desk's order, or a later one only.
"""

from collections.abc import Mapping
from typing import Final, Literal, get_args

from broker.contract.messages import MOST_OBEYED
from broker.people.orders import KeptOrder
from broker.scorer.view import TableView

Fate = Literal["done", "waiting", "passed", "forgotten"]
"""Of an order at one table. `passed`: the table has obeyed a later one and not this, and never will."""

FATES: Final[tuple[Fate, ...]] = get_args(Fate)


def fates(kept: KeptOrder, said: Mapping[int, TableView]) -> dict[Fate, list[int]]:
    """Give the tables of an order by what became of it there; a table of which nothing is known has yet to hear it."""
    found: dict[Fate, list[int]] = {fate: [] for fate in FATES}
    for number in kept.given.tables:
        table = said.get(number)
        found[_fate(kept, table) if table else "waiting"].append(number)
    return found


def _fate(kept: KeptOrder, table: TableView) -> Fate:
    if table.obeyed.get(kept.seq) == kept.id_at(table.table):
        return "done"
    if kept.seq > table.ordered:
        return "waiting"
    # A table remembers its last orders only: of one before them it cannot be said.
    remembers_all = 0 < len(table.obeyed) < MOST_OBEYED
    return "passed" if remembers_all or kept.seq > min(table.obeyed, default=table.ordered) else "forgotten"
