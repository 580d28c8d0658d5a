"""The grid of tables and rounds, with the stage of each play."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, get_args

from msgspec import Struct

from broker.scorer.snapshot import Snapshot
from broker.scorer.view import TableView, time_left_ms

MOST_ROUNDS: Final = 12
"""Most columns shown; more do not fit. Results missing in earlier rounds are listed in the row."""

Stage = Literal["in", "now", "missing", "to_come", "none"]
"""Of a play: its result is in, the table is at it, the table went on without a result, or has not come to it yet."""


Need = Literal["calling", "walls", "offline_unsent", "over", "lost", "missing", "gaps", "unwell"]
"""Reasons to attend to a table. `walls`: those of its play are not as dealt, or were not verified."""

NEEDS: Final[tuple[Need, ...]] = get_args(Need)
"""The reasons, most urgent first."""


class GridCell(Struct, frozen=True):
    """One play of the plan. `deal` is None if the table has none in this round."""

    round: int
    deal: int | None
    stage: Stage


class GridRow(Struct, frozen=True):
    """One table."""

    view: TableView
    cells: tuple[GridCell, ...]
    missing: tuple[int, ...]
    """Rounds that the table has left without a result here."""

    @property
    def offline_unsent(self) -> bool:
        """Whether the table is offline and has facts that have not arrived."""
        return self.view.away and self.view.unsent > 0

    def needs(self, now: int) -> tuple[Need, ...]:
        """Return the reasons to attend to the table at `now` (ms since 1970), most urgent first."""
        view, left = self.view, time_left_ms(self.view, now)
        applies: dict[Need, object] = {
            "calling": view.calling,
            "walls": view.walls,
            "offline_unsent": self.offline_unsent,
            "over": left is not None and left <= 0,
            "lost": (view.silent or view.lifecycle == "lost") and not self.offline_unsent,
            "missing": self.missing,
            "gaps": view.gaps,
            "unwell": view.health,
        }
        return tuple(need for need in NEEDS if applies[need])


class Grid(Struct, frozen=True):
    """Rows by table; `rounds` are the columns."""

    rounds: tuple[int, ...]
    rows: tuple[GridRow, ...]

    @property
    def tables(self) -> frozenset[int]:
        """The tables that have a row."""
        return frozenset(row.view.table for row in self.rows)


def grid(snapshot: Snapshot, tables: Sequence[TableView]) -> Grid:
    """Return the grid of these tables."""
    plan = {table.table: _deals(snapshot, table.table) for table in tables}
    every = {round_ for table in tables for round_ in plan[table.table]}
    rounds = _window(every, [_next(snapshot, table, plan[table.table]) for table in tables])
    return Grid(rounds, tuple(_row(snapshot, table, plan[table.table], rounds) for table in tables))


def urgent(rows: Iterable[GridRow], now: int) -> list[tuple[GridRow, tuple[Need, ...]]]:
    """Return the rows that need attention, with reasons: the most urgent first, led by the longest waiting call.

    Rows of equal urgency are in the order of the tables, so that none moves while its reader looks for it.
    """
    found = [(row, needs) for row in rows if (needs := row.needs(now))]
    return sorted(found, key=lambda one: (NEEDS.index(one[1][0]), _waited(one[0]), one[0].view.table))


def _waited(row: GridRow) -> tuple[bool, int]:
    """Return the sort key of calls: those that nobody is going to come first, by the time they were opened."""
    view = row.view
    return (view.attended is not None, view.calling_since or 0) if view.calling else (False, 0)


def _deals(snapshot: Snapshot, table: int) -> dict[int, int]:
    """Return, by round, the deal that a table has actually played or is to play."""
    planned = snapshot.event.rounds_at.get(table, {})
    ruled = {round_: snapshot.ruled.get((table, round_)) for round_ in planned}
    return {round_: counted[0].deal if (counted := ruled[round_]) else deal for round_, deal in planned.items()}


def _next(snapshot: Snapshot, table: TableView, plan: Iterable[int]) -> int | None:
    """Return the round that a table is in. For a table not heard from, it is the first without a result here."""
    if table.round is not None:
        return table.round
    return min((round_ for round_ in plan if not snapshot.settled((table.table, round_))), default=None)


def _window(rounds: Iterable[int], at: Iterable[int | None]) -> tuple[int, ...]:
    """Return the rounds to show: around the earliest that a table is in, or the last ones once the event is over."""
    every = sorted(rounds)
    earliest = min((round_ for round_ in at if round_ is not None), default=None)
    begin = len(every) if earliest is None else sum(one < earliest for one in every) - 1
    begin = max(0, min(begin, len(every) - MOST_ROUNDS))
    return tuple(every[begin : begin + MOST_ROUNDS])


def _row(snapshot: Snapshot, table: TableView, plan: dict[int, int], rounds: tuple[int, ...]) -> GridRow:
    stages = {round_: _stage(snapshot, table, round_) for round_ in plan}
    return GridRow(
        table,
        tuple(GridCell(round_, plan.get(round_), stages.get(round_, "none")) for round_ in rounds),
        tuple(sorted(round_ for round_, stage in stages.items() if stage == "missing")),
    )


def _stage(snapshot: Snapshot, table: TableView, round_: int) -> Stage:
    if snapshot.settled((table.table, round_)):
        return "in"
    if table.round is None and table.state != "finished":
        return "to_come"
    if table.state == "finished" or (table.round is not None and round_ < table.round):
        return "missing"
    return "now" if round_ == table.round else "to_come"
