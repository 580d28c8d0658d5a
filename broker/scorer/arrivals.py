"""Results as they arrived: a line is made when it is read, and kept while nothing that it tells of has changed."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any, NamedTuple, overload

from broker.contract.facts import Result
from broker.contract.messages import LogMessage
from broker.contract.words import SEATS, Imp, Seat
from broker.scorer.event import Event
from broker.scorer.moment import Moment
from broker.scorer.rulings.absences import StandIn
from broker.scorer.rulings.entry import PlayKey
from broker.scorer.rulings.laying import Laid, worth
from broker.scorer.view import PlayView, SeatView
from broker.scoring.compare import Group, exact
from broker.scoring.written import written

TABLE = attrgetter("table")


class Line(NamedTuple):
    """A line beside all that it was made from."""

    message: LogMessage
    group: Group | None
    provisional: bool
    named: tuple[tuple[StandIn, ...], Event]
    """Who sits there, and how they are called."""
    play: PlayView


Lines = dict[PlayKey, Line]
"""By table and round."""

Told = tuple[LogMessage | PlayKey, ...]
"""Results, and the plays that were settled without one."""


class Arrivals(Sequence[PlayView]):
    """All plays of one moment that are settled, newest first: results, before them what was ruled in their place.

    Equal to any sequence of equal lines; may be read from any thread.
    """

    def __init__(self, moment: Moment, lines: Lines, told: Told | None = None) -> None:
        """`lines` are shared between moments: what one has made, the next takes from there if it still holds.

        `told`: of all plays these alone.
        """
        self.moment, self._lines = moment, lines
        self._told: Told = (*moment.results.values(), *moment.instead) if told is None else told

    def of_complete_deals(self) -> "Arrivals":
        """Give those of deals that all their tables have played."""
        return Arrivals(
            self.moment, self._lines, tuple(told for told in self._told if self._deal(told) in self.moment.complete)
        )

    def places(self) -> set[PlayKey]:
        """Give table and round of each; no line is made for it."""
        return {(told.table, told.fact.round) if isinstance(told, LogMessage) else told for told in self._told}

    def _deal(self, told: LogMessage | PlayKey) -> int:
        key = (told.table, told.fact.round) if isinstance(told, LogMessage) else told
        if isinstance(told, LogMessage) and key not in self.moment.ruled:
            return told.fact.deal
        return self.moment.ruled[key][0].deal

    def __len__(self) -> int:
        return len(self._told)

    @overload
    def __getitem__(self, at: int) -> PlayView: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[PlayView, ...]: ...

    def __getitem__(self, at: int | slice) -> PlayView | tuple[PlayView, ...]:
        if isinstance(at, slice):
            return tuple(self[one] for one in range(len(self))[at])
        return self._play(self._told[-1 - range(len(self))[at]])

    def __iter__(self) -> Iterator[PlayView]:
        return map(self._play, reversed(self._told))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self._told)

    def _play(self, told: LogMessage | PlayKey) -> PlayView:
        return self._entered(told) if isinstance(told, LogMessage) else self._unentered(told)

    def _unentered(self, key: PlayKey) -> PlayView:
        """Give a play that was settled without a result of its table: keyed from paper, adjusted or void."""
        return self._as_ruled(self.moment.instead[key], None, *self.moment.ruled[key])

    def _entered(self, message: LogMessage) -> PlayView:
        fact = message.fact
        if not isinstance(fact, Result):
            raise TypeError(f"not a result: {message.id}")
        if ruled := self.moment.ruled.get((message.table, fact.round)):
            return self._as_ruled(message.at, fact, *ruled)
        group, provisional = self._group(message.table, fact), fact.deal not in self.moment.complete
        had = self._lines.get((message.table, fact.round))
        named = self.moment.stand_ins, self.moment.event
        if had and had.message is message and had.group is group and had[2:4] == (provisional, named):
            return had.play
        play = self._made(message, fact, group, provisional=provisional)
        self._lines[message.table, fact.round] = Line(message, group, provisional, named, play)
        return play

    def _as_ruled(self, at: int, entered: Result | None, laid: Laid, kinds: tuple[str, ...]) -> PlayView:
        """Give a play as it counts: what was entered is shown where its points do not count."""
        rows = (row for row in self.moment.by_deal.get(laid.deal, ()) if row.of_table(laid.line))
        group = next((row.group for row in rows if len(row.group.members) > 1), None)
        imp = _imps(group, laid.line, {}) if group and laid.points is not None else {}
        points = laid.points or (entered.points if entered else dict.fromkeys(SEATS, 0))
        name = self.moment.event.name_of
        return PlayView(
            at=at,
            table=laid.table,
            round=laid.round,
            deal=laid.deal,
            win=laid.win or (entered.win if entered else None),
            discarder=laid.discarder,
            provisional=laid.deal not in self.moment.complete,
            ruled=kinds,
            counts=laid.points is not None,
            seats={
                seat: SeatView(
                    player=player,
                    name=name(player),
                    points=points[seat],
                    hand_value=laid.winners.get(seat),
                    worth=worth(laid.winners, laid.hand, seat),
                    fine=laid.fines.get(player, 0),
                    imp=_in_all(laid, player, imp.get(seat)),
                    sat=self.moment.sat(player, laid.round),
                )
                for seat, player in laid.players.items()
            },
        )

    def _group(self, table: int, result: Result) -> Group | None:
        """Give what a play is compared with; None where there is nothing yet."""
        groups = (row.group for row in self.moment.by_deal.get(result.deal, ()) if row.of_table(table))
        return next((group for group in groups if len(group.members) > 1), None)

    def _made(self, message: LogMessage, result: Result, group: Group | None, *, provisional: bool) -> PlayView:
        fines = {seat: fine.imp for seat, fine in result.fines.items()}
        imp = _imps(group, message.table, fines) if group else {}
        return PlayView(
            at=message.at,
            table=message.table,
            round=result.round,
            deal=result.deal,
            win=result.win,
            discarder=result.discarder,
            provisional=provisional,
            seats={
                seat: SeatView(
                    player=player,
                    name=self.moment.event.players[player].name,
                    points=result.points[seat],
                    hand_value=result.winners.get(seat),
                    worth=worth(result.winners, result.hand, seat),
                    fine=fines.get(seat, 0),
                    imp=imp.get(seat),
                    sat=self.moment.sat(player, result.round),
                )
                for seat, player in result.players.items()
            },
        )


def _in_all(laid: Laid, player: str, compared: Imp | None) -> Imp | None:
    """Give what a play gives a player in all; None where it is compared with nothing, and nothing was given."""
    given = laid.awards.get(player, 0) + laid.instead.get(player, 0) - laid.fines.get(player, 0)
    if compared is None and laid.points is not None and not given:
        return None
    return written(Fraction(compared or 0) + given)


def _imps(group: Group, table: int, fines: dict[Seat, int]) -> dict[Seat, Imp]:
    """Give the IMPs of a play's seats, after fines."""
    row: list[Any] = group.imps[bisect_left(group.members, table, key=TABLE)].tolist()
    return {
        seat: written(exact(value, group.over) - fines.get(seat, 0)) for seat, value in zip(SEATS, row, strict=True)
    }
