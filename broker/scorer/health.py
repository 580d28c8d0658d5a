"""How the tables' devices are: an arbiter is told once when one is unwell, and once when it is well again."""

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Final

from broker.contract.messages import TableState
from broker.scorer.alerts import Concern

TOLD_HERE: Final = frozenset({"device_unwell", "device_well"})

TOLD_OTHERWISE: Final = "refused"
"""What the scorer refuses of a table it tells of itself."""

Health = Mapping[str, str]
"""What is wrong, by part of the table's device."""


class HealthWatch:
    """What was told of each table's health, beside what the table says of it.

    A table says its health with each of its states. What came and went between two looks was told as neither.
    """

    def __init__(self) -> None:
        self._told: dict[int, Health] = {}
        self._news: dict[int, Health] = {}
        """How tables are whose health is another than was told."""
        self._changes = count(1)

    def hear(self, state: TableState) -> None:
        """Take in what a table says of itself."""
        health = {part: code for part, code in state.health.items() if part != TOLD_OTHERWISE}
        self._news.pop(state.table, None)
        if health != self._told.get(state.table, {}):
            self._news[state.table] = health

    def concerns(self) -> list[Concern]:
        """Give what is news, one concern a table; the same again until `told` has taken it."""
        return [self._concern(table, health) for table, health in self._news.items()]

    def told(self, concerns: Iterable[Concern]) -> None:
        """Take in which concerns were told, among others: what was too much for one batch is told with a later one."""
        for concern in concerns:
            if concern.code in TOLD_HERE and concern.table in self._news:
                self._told[concern.table] = self._news.pop(concern.table)

    def _concern(self, table: int, health: Health) -> Concern:
        before = self._told.get(table, {})
        unwell = [f"{part}: {code}" for part, code in health.items() if before.get(part) != code]
        mended = [part for part in before if part not in health]
        text = f"table {table}: {'; '.join((*unwell, *(f'{part} is well again' for part in mended)))}"
        about, values = next(self._changes), {"what": "; ".join(unwell or mended)}
        if unwell:
            return Concern("device_unwell", text, table, about=about, values=values)
        return Concern("device_well", text, table, about=about, values=values)
