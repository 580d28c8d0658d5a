"""A traveller: all plays of a deal side by side, each comparison group with its datum."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct

from broker.contract.facts import Result
from broker.contract.riichi import RiichiWin
from broker.contract.words import SEATS, Imp, Seat, Wind, WinKind
from broker.scorer.moment import Moment
from broker.scorer.rulings.laying import worth
from broker.scoring.compare import Group, exact
from broker.scoring.plays import ScoredPlay
from broker.scoring.written import written

Data = Mapping[Seat, Fraction]
"""A datum a seat."""


class SeatLine(Struct, frozen=True):
    """One player's line in a play. `points` is None in a play without points (void, awarded)."""

    player: str
    name: str
    points: int | None
    datum: Imp | None
    """What the points were compared with; None where they were compared with nothing, or one by one (cross-IMP)."""
    imp: Imp | None
    """What the comparison gave; None while there is nothing to compare with."""
    fine: int
    award: int
    hand_value: int | None
    worth: RiichiWin | None = None
    """What a winner's hand of riichi is worth."""
    sat: str | None = None
    """The substitute who really sat there; what the seat scores is the player's all the same."""
    country: str = ""
    """Of the player; empty: not said."""

    @property
    def net(self) -> Imp | None:
        """What the player got: after award and fine. None while it cannot be said."""
        if self.imp is None and not (self.award or self.fine):
            return None
        return written(Fraction(self.imp or 0) + self.award - self.fine)


class PlayLine(Struct, frozen=True):
    """One table's play."""

    table: int
    round: int
    at: int | None
    """When the fourth seat accepted (wall clock of the table), or was ruled in its place, ms since 1970 (UTC)."""
    win: WinKind | None
    discarder: Seat | None
    seats: dict[Seat, SeatLine]


class GroupSheet(Struct, frozen=True):
    """Plays that are compared with each other."""

    form: str
    """Hash of how the tiles lay."""
    as_dealt: bool
    section: str | None
    datum: dict[Seat, Imp] | None
    """None where each play has one of its own, or plays are compared one by one."""
    plays: tuple[PlayLine, ...]


class DealSheet(Struct, frozen=True):
    """All plays of a deal that may be told."""

    deal: int
    prevalent_wind: Wind
    dealer: Seat
    expected: int
    complete: bool
    """Final, but for rulings: every table has played it."""
    groups: tuple[GroupSheet, ...]
    unplayed: tuple[PlayLine, ...]
    missing: tuple[int, ...]
    """Tables that have no result of it in this moment."""

    @property
    def plays_in(self) -> int:
        """How many plays are here."""
        return sum(len(group.plays) for group in self.groups) + len(self.unplayed)

    @property
    def has_groups(self) -> bool:
        """Whether the deal was played in more than one form or section."""
        return len(self.groups) > 1


def deal_sheet(moment: Moment, deal: int) -> DealSheet:
    """Give a deal's traveller. Raises KeyError where the event has no such deal."""
    planned = moment.plays_with(deal)
    if deal not in moment.event.expected:
        raise KeyError(deal)
    groups = tuple(_group(moment, row.group) for row in moment.by_deal.get(deal, ()))
    unplayed = tuple(_line(moment, play) for play in moment.unplayed.get(deal, ()))
    there = {(play.table, play.round) for group in groups for play in group.plays}
    there |= {(play.table, play.round) for play in unplayed}
    wind, dealer = moment.event.winds(deal)
    return DealSheet(
        deal=deal,
        prevalent_wind=wind,
        dealer=dealer,
        expected=len(planned),
        complete=deal in moment.complete,
        groups=tuple(sorted(groups, key=lambda group: (not group.as_dealt, -len(group.plays), group.form))),
        unplayed=unplayed,
        missing=tuple(sorted({table for table, _ in planned - there})),
    )


def play_line(moment: Moment, deal: int, table: int) -> PlayLine | None:
    """Give one play of a traveller, without the work for the others; None where it is not in this moment."""
    for row in moment.by_deal.get(deal, ()):
        if row.of_table(table):
            at = [play.table for play in row.group.members].index(table)
            return _Compared.of(moment, row.group).line(at)
    return next((_line(moment, play) for play in moment.unplayed.get(deal, ()) if play.table == table), None)


def _group(moment: Moment, group: Group) -> GroupSheet:
    compared = _Compared.of(moment, group)
    return GroupSheet(
        form=group.form or "",
        as_dealt=group.form in {None, moment.event.form(group.deal)},
        section=group.section,
        datum={seat: written(compared.shared[seat]) for seat in SEATS} if compared.shared else None,
        plays=tuple(compared.line(at) for at in range(len(group.members))),
    )


class _Compared(NamedTuple):
    """A group and its data. One play alone says nothing while others may join it: then nothing is told."""

    moment: Moment
    group: Group
    told: bool
    shared: Data | None
    own: Sequence[Data] | None

    @classmethod
    def of(cls, moment: Moment, group: Group) -> "_Compared":
        told = group.deal in moment.complete or len(group.members) > 1
        crossed = group.profile.imp.method.value == "cross"
        shared = None if group.apart or crossed or group.small or not told else group.datum
        return cls(moment, group, told, shared, group.own_data() if group.apart and told else None)

    def line(self, at: int) -> PlayLine:
        group, imps = self.group, self.group.imps[at].tolist()
        imp = {seat: written(exact(one, group.over)) for seat, one in zip(SEATS, imps, strict=True)}
        datum = self.own[at] if self.own else self.shared
        return _line(self.moment, group.members[at], imp if self.told else {}, datum or {})


def _line(
    moment: Moment,
    play: ScoredPlay,
    imp: Mapping[Seat, Imp] = MappingProxyType({}),
    datum: Data = MappingProxyType({}),
) -> PlayLine:
    key = moment.place(play)
    message, laid = moment.results.get(key), moment.ruled.get(key)
    told = laid[0] if laid else message.fact if message and isinstance(message.fact, Result) else None
    told = told if play.points is not None else None
    return PlayLine(
        table=key[0],
        round=key[1],
        at=_at(moment, key) if told else None,
        win=told.win if told else None,
        discarder=told.discarder if told else None,
        seats={
            seat: SeatLine(
                player=play.players[seat],
                name=moment.event.name_of(play.players[seat]),
                points=play.points[seat] if play.points is not None else None,
                datum=written(datum[seat]) if datum else None,
                imp=imp.get(seat),
                fine=play.fines.get(seat, 0),
                award=play.awards.get(seat, 0),
                hand_value=told.winners.get(seat) if told else None,
                worth=worth(told.winners, told.hand, seat) if told else None,
                sat=moment.sat(play.players[seat], key[1]),
                country=moment.event.origin_of(play.players[seat]).country,
            )
            for seat in SEATS
        },
    )


def _at(moment: Moment, key: tuple[int, int]) -> int | None:
    """Say when a play was accepted at its table, or ruled in its place."""
    message = moment.results.get(key)
    return message.at if message else moment.instead.get(key)
