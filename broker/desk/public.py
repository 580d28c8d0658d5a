"""What a view shows to those who are not arbiters: nothing of a deal before all its tables have played it. Pure."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from msgspec.structs import replace

from broker.contract.messages import Standing
from broker.contract.words import Imp
from broker.scorer.arrivals import Arrivals
from broker.scorer.moment import Embargo, Moment
from broker.scorer.view import PlayView, SeatView, TableView, View
from broker.scoring.written import written

TELLING: Final = ("declared", "accepting")
"""States in which a table has an outcome, and lets it be seen in which way it came."""


def public(view: View) -> View:
    """Give the view without what is under embargo and without what is the arbiters' alone."""
    return Public().of(view)


class Public:
    """Gives the public part of views as they follow each other: what has not changed is not made anew.

    For one thread alone.
    """

    def __init__(self) -> None:
        self._embargo = Embargo()
        self._kept: tuple[Moment, Arrivals] | None = None
        self._tables: dict[int, tuple[TableView, TableView]] = {}

    def of(self, view: View) -> View:
        """Give the public part of a view.

        The teams' standings are of complete deals only (`TeamRoom.follow`), and so are under no embargo.
        """
        plays, standings = self._open(view)
        return replace(
            view,
            plays=plays,
            standings=view.standings if view.plays_in == view.plays_expected else standings,
            alerts=(),
            follow_ups=0,
            tables=tuple(self._table(table) for table in view.tables),
        )

    def _open(self, view: View) -> tuple[Sequence[PlayView], Sequence[Standing]]:
        if not isinstance(view.plays, Arrivals):  # a view that no scorer has made
            plays = tuple(play for play in view.plays if not play.provisional)
            return plays, _standings(view, plays)
        open_part, kept = self._embargo.open_part(view.plays.moment), self._kept
        if kept is None or kept[0] is not open_part:
            kept = self._kept = open_part, view.plays.of_complete_deals()
        return kept[1], open_part.standings

    def _table(self, table: TableView) -> TableView:
        had = self._tables.get(table.table)
        if had is None or had[0] is not table:
            had = self._tables[table.table] = table, _table(table)
        return had[1]


def _table(table: TableView) -> TableView:
    """Leave out what the arbiters alone know. That somebody has declared tells of a deal that is under embargo."""
    state = "playing" if table.state in TELLING else table.state
    quiet = replace(table, health={}, gaps=(), unsent=0, obeyed={}, calling=False, state=state)
    timeless = replace(quiet, calling_since=None, playing_since=None, pausing_since=None, played_ms=None)
    return replace(timeless, attended=None, walls=None)


def _standings(view: View, plays: Iterable[PlayView]) -> tuple[Standing, ...]:
    """Add up the deals that are complete: the standings of the room would tell of those that are not."""
    lines: dict[str, list[SeatView]] = {row.player: [] for row in view.standings}
    for play in plays:
        for seat in play.seats.values():
            lines.setdefault(seat.player, []).append(seat)
    totals = {player: sum((_exact(one.imp) for one in of), Fraction()) for player, of in lines.items()}
    fines = {player: sum(one.fine for one in of) for player, of in lines.items()}
    for beside in view.beside:
        totals[beside.player] += beside.imp
        fines[beside.player] += beside.fine
    names = {row.player: row.name for row in view.standings}
    ordered = sorted(lines, key=lambda player: (-totals[player], names.get(player, player), player))
    place: dict[Fraction, int] = {}
    for at, player in enumerate(ordered, 1):
        place.setdefault(totals[player], at)  # equal IMPs share a place
    return tuple(
        Standing(
            place=place[totals[player]],
            player=player,
            name=names.get(player, player),
            imp=written(totals[player]),
            fines=fines[player],
            plays=len(lines[player]),
        )
        for player in ordered
    )


def _exact(imp: Imp | None) -> Fraction:
    return Fraction(imp or 0)
