"""Read models about plays: travellers, players' and teams' sheets, receipts. Pure functions of a `Snapshot`."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct

from broker.protocol import (
    SEATS,
    Imp,
    LogMessage,
    Result,
    RiichiWin,
    Seat,
    TeamStanding,
    Wind,
    WinKind,
    confirmed_text,
    receipt_code,
    receipt_digest,
)
from broker.rulings import StandIn, riichi_win_of
from broker.scorer.snapshot import Snapshot
from broker.scorer.standings_view import StandingsRow, StandingsTable
from broker.scoring import ComparisonGroup, Lineup, ScoredPlay, exact_quotient, json_imp, lineup_points, team_result

Data = Mapping[Seat, Fraction]
"""The datum of each seat."""


class SeatLine(Struct, frozen=True):
    """One player's line in a play. `points` is None if the play has none because it is void or adjusted."""

    player: str
    name: str
    points: int | None
    datum: Imp | None
    """What the points were compared with. None if with nothing, or one by one (cross-IMP)."""
    imp: Imp | None
    """The IMPs from the comparison. None while there is nothing to compare with."""
    fine: int
    award: int
    hand_value: int | None
    worth: RiichiWin | None = None
    """The value of a winner's hand of riichi."""
    sat: str | None = None
    """The substitute who actually sat there. The seat's score still belongs to the player."""
    country: str = ""
    """The player's country, or empty if not given."""
    without_standing: bool = False

    @property
    def net(self) -> Imp | None:
        """The player's IMPs after award and fine, or None while they are not known."""
        if self.imp is None and not (self.award or self.fine):
            return None
        return json_imp(Fraction(self.imp or 0) + self.award - self.fine)


class PlayLine(Struct, frozen=True):
    """One table's play."""

    table: int
    round: int
    at: int | None
    """When the fourth seat accepted (wall clock of the table), or when a ruling replaced that. Ms since 1970 (UTC)."""
    win: WinKind | None
    discarder: Seat | None
    seats: dict[Seat, SeatLine]


class GroupSheet(Struct, frozen=True):
    """Plays that are compared with each other."""

    form: str
    """Hash of the arrangement of the tiles."""
    as_dealt: bool
    section: str | None
    datum: dict[Seat, Imp] | None
    """None if each play has its own, or if plays are compared one by one."""
    plays: tuple[PlayLine, ...]


class DealSheet(Struct, frozen=True):
    """All plays of a deal that may be shown."""

    deal: int
    prevalent_wind: Wind
    dealer: Seat
    expected: int
    complete: bool
    """Whether every table has played the deal, so that only rulings can change it."""
    groups: tuple[GroupSheet, ...]
    unplayed: tuple[PlayLine, ...]
    missing: tuple[int, ...]
    """Tables whose result is not in this snapshot."""

    @property
    def plays_in(self) -> int:
        """The number of plays in this sheet."""
        return sum(len(group.plays) for group in self.groups) + len(self.unplayed)

    @property
    def has_forms(self) -> bool:
        """Whether the tiles lay in more than one arrangement. Sections are separate groups in any case."""
        return len({group.form for group in self.groups}) > 1


def deal_sheet(snapshot: Snapshot, deal: int) -> DealSheet:
    """Return a deal's traveller. Raises KeyError if the event has no such deal."""
    planned = snapshot.plays_with(deal)
    if deal not in snapshot.event.expected:
        raise KeyError(deal)
    groups = tuple(_group(snapshot, row.group) for row in snapshot.by_deal.get(deal, ()))
    unplayed = tuple(_line(snapshot, play) for play in snapshot.unplayed.get(deal, ()))
    present = {(play.table, play.round) for group in groups for play in group.plays}
    present |= {(play.table, play.round) for play in unplayed}
    wind, dealer = snapshot.event.winds(deal)
    return DealSheet(
        deal=deal,
        prevalent_wind=wind,
        dealer=dealer,
        expected=len(planned),
        complete=deal in snapshot.complete,
        groups=tuple(sorted(groups, key=lambda group: (not group.as_dealt, -len(group.plays), group.form))),
        unplayed=unplayed,
        missing=tuple(sorted({table for table, _ in planned - present})),
    )


def play_line(snapshot: Snapshot, deal: int, table: int) -> PlayLine | None:
    """Return one play of a traveller without computing the others, or None if it is not in this snapshot."""
    for row in snapshot.by_deal.get(deal, ()):
        if row.of_table(table):
            at = [play.table for play in row.group.members].index(table)
            return _ComparedGroup.of(snapshot, row.group).line(at)
    return next((_line(snapshot, play) for play in snapshot.unplayed.get(deal, ()) if play.table == table), None)


def _group(snapshot: Snapshot, group: ComparisonGroup) -> GroupSheet:
    compared = _ComparedGroup.of(snapshot, group)
    return GroupSheet(
        form=group.form or "",
        as_dealt=group.form in {None, snapshot.event.form(group.deal)},
        section=group.section,
        datum={seat: json_imp(compared.shared[seat]) for seat in SEATS} if compared.shared else None,
        plays=tuple(compared.line(at) for at in range(len(group.members))),
    )


class _ComparedGroup(NamedTuple):
    """A comparison group with its data. A play is not shown alone while others may join it."""

    snapshot: Snapshot
    group: ComparisonGroup
    shown: bool
    shared: Data | None
    own: Sequence[Data] | None

    @classmethod
    def of(cls, snapshot: Snapshot, group: ComparisonGroup) -> "_ComparedGroup":
        shown = group.deal in snapshot.complete or len(group.members) > 1
        crossed = group.profile.imp.method.value == "cross"
        shared = None if group.has_own_datums or crossed or group.small or not shown else group.datum
        return cls(snapshot, group, shown, shared, group.own_datums() if group.has_own_datums and shown else None)

    def line(self, at: int) -> PlayLine:
        group, imps = self.group, self.group.imps[at].tolist()
        imp = {seat: json_imp(exact_quotient(one, group.divisor)) for seat, one in zip(SEATS, imps, strict=True)}
        datum = self.own[at] if self.own else self.shared
        return _line(self.snapshot, group.members[at], imp if self.shown else {}, datum or {})


def _line(
    snapshot: Snapshot,
    play: ScoredPlay,
    imp: Mapping[Seat, Imp] = MappingProxyType({}),
    datum: Data = MappingProxyType({}),
) -> PlayLine:
    key = snapshot.place(play)
    message, counted = snapshot.results.get(key), snapshot.ruled.get(key)
    outcome = counted[0] if counted else message.fact if message and isinstance(message.fact, Result) else None
    outcome = outcome if play.points is not None else None
    return PlayLine(
        table=key[0],
        round=key[1],
        at=_at(snapshot, key) if outcome else None,
        win=outcome.win if outcome else None,
        discarder=outcome.discarder if outcome else None,
        seats={
            seat: SeatLine(
                player=play.players[seat],
                name=snapshot.event.name_of(play.players[seat]),
                points=play.points[seat] if play.points is not None else None,
                datum=json_imp(datum[seat]) if datum else None,
                imp=imp.get(seat),
                fine=play.fines.get(seat, 0),
                award=play.awards.get(seat, 0),
                hand_value=outcome.winners.get(seat) if outcome else None,
                worth=riichi_win_of(outcome.winners, outcome.hand, seat) if outcome else None,
                sat=snapshot.sat(play.players[seat], key[1]),
                country=snapshot.event.origin_of(play.players[seat]).country,
                without_standing=snapshot.event.is_guest(play.players[seat]),
            )
            for seat in SEATS
        },
    )


def _at(snapshot: Snapshot, key: tuple[int, int]) -> int | None:
    """Return when a play was accepted at its table, or replaced by a ruling."""
    message = snapshot.results.get(key)
    return message.at if message else snapshot.instead.get(key)


class PlayOfPlayer(Struct, frozen=True):
    """One play, from one seat."""

    round: int
    table: int
    deal: int
    seat: Seat
    line: SeatLine
    provisional: bool
    code: str | None
    """The code of the play's receipt."""


class PlayerSheet(Struct, frozen=True):
    """All plays of a player that may be shown, by rounds."""

    player: str
    name: str
    rung: StandingsRow | None
    """The player's line in the standings, or None if not ranked."""
    final: bool
    plays: tuple[PlayOfPlayer, ...]
    to_come: int
    """Number of plays that are not here: not played, not received, or under embargo."""
    country: str = ""
    club: str = ""
    stand_ins: tuple[StandIn, ...] = ()
    """Substitutes who have sat, or are to sit, for the player."""
    without_standing: bool = False


def player_sheet(snapshot: Snapshot, standings: StandingsTable, player: str) -> PlayerSheet:
    """Return a player's sheet. Raises KeyError if the event has no such player."""
    known, origin = snapshot.event.players[player], snapshot.event.origin_of(player)
    plays = tuple(sorted(_plays(snapshot, player), key=lambda play: play.round))
    return PlayerSheet(
        player=player,
        name=known.name,
        rung=next((row for row in standings.rungs if row.player == player), None),
        final=standings.final,
        plays=plays,
        to_come=max(0, len(snapshot.event.bookings_of[player]) - len(plays)),
        country=origin.country,
        club=origin.club,
        stand_ins=tuple(one for one in snapshot.stand_ins if one.player == player),
        without_standing=known.without_standing,
    )


def _plays(snapshot: Snapshot, player: str) -> Iterator[PlayOfPlayer]:
    for scored in snapshot.plays_of(player):
        play = play_line(snapshot, scored.deal, scored.table)
        if play is None:
            continue
        message = snapshot.results.get(snapshot.place(scored))
        code = receipt_code(message) if message else None
        provisional = scored.deal not in snapshot.complete
        for seat in SEATS:
            if scored.entry(seat) == player:
                line = play.seats[seat]
                yield PlayOfPlayer(play.round, play.table, scored.deal, seat, line, provisional, code)


class Member(Struct, frozen=True):
    """A player of a team, with the line in the individual standings (None if not ranked)."""

    player: str
    name: str
    rung: StandingsRow | None


class SeatOfTeam(Struct, frozen=True):
    """Who sat for the team at one wind of a deal."""

    player: str
    name: str
    table: int
    points: int | None
    sat: str | None = None
    """The substitute who actually sat there."""


class DealOfTeam(Struct, frozen=True):
    """One deal, compared with the other teams. The IMPs include awards and are net of fines."""

    deal: int
    points: int
    imp: Imp
    fines: int
    seats: dict[Seat, SeatOfTeam]


class TeamSheet(Struct, frozen=True):
    """Everything about a team that may be shown, without deals that some table has yet to play."""

    number: int
    """The team's number in the event's list, from 1."""
    team: str
    standing: TeamStanding | None
    """None until the first deal counts."""
    final: bool
    deals_expected: int
    deals: tuple[DealOfTeam, ...]
    left_out: tuple[int, ...]
    """Deals that count for no team until an arbiter has ruled who sat where."""
    members: tuple[Member, ...]
    beside: Imp
    """IMPs in the standing that belong to no deal: an arbiter gave or took them."""
    carried: Imp = 0
    """IMPs in the standing that come from an earlier event."""


def team_sheet(snapshot: Snapshot, standings: StandingsTable, number: int) -> TeamSheet:
    """Return a team's sheet. Raises KeyError if the event has no such team."""
    listed = list(snapshot.event.plan.teams.items())
    if not 1 <= number <= len(listed):
        raise KeyError(number)
    team, players = listed[number - 1]
    deals = tuple(_deals(snapshot, team))
    standing = next((row for row in snapshot.teams if row.team == team and row.deals), None)
    rows = {line.player: line for line in standings.rungs}
    brought = snapshot.event.brought("team").adjustments if standing else ()
    carried = sum((Fraction(one.imp) for one in brought if one.name == team), Fraction())
    of_deals = sum((Fraction(one.imp) for one in deals), Fraction())
    return TeamSheet(
        number=number,
        team=team,
        standing=standing,
        final=standings.final,
        deals_expected=len(snapshot.event.expected),
        deals=deals,
        left_out=snapshot.left_out,
        members=tuple(Member(one, snapshot.event.name_of(one), rows.get(one)) for one in players),
        beside=json_imp(Fraction(standing.imp) - of_deals - carried) if standing else 0,
        carried=json_imp(carried),
    )


def _deals(snapshot: Snapshot, team: str) -> Iterator[DealOfTeam]:
    for deal, found in snapshot.lineups:
        if team not in found:
            continue
        imp, fines = team_result(team, found, snapshot.event.profile)
        seats = {seat: _seat(snapshot, found[team], seat) for seat in SEATS}
        yield DealOfTeam(deal, lineup_points(found[team]), json_imp(Fraction(imp)), fines, seats)


def _seat(snapshot: Snapshot, lineup: Lineup, seat: Seat) -> SeatOfTeam:
    play = lineup[seat]
    points = play.points[seat] if play.points is not None else None
    player, (table, round_) = play.players[seat], snapshot.place(play)
    return SeatOfTeam(player, snapshot.event.name_of(player), table, points, snapshot.sat(player, round_))


class ReceiptSheet(Struct, frozen=True):
    """What may be shown of a confirmed result. Under embargo, only that it is stored: the rest is None."""

    code: str
    table: int
    round: int
    deal: int
    play: PlayLine | None = None
    """The play as published, including rulings."""
    equal: bool | None = None
    """Whether players, points and fines are those that the four seats confirmed."""
    text: str | None = None
    """The text that was hashed."""
    digest: str | None = None
    objections_until: int | None = None
    """End of the correction period, ms since 1970, or None if none is set."""


class ReceiptIndex:
    """Finds a confirmed result by its code. New results are indexed on the next lookup."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        self._seen = 0

    def find(self, snapshot: Snapshot, code: str) -> LogMessage | None:
        """Return the result with a code."""
        fresh = snapshot.results.since(self._seen)
        self._seen += len(fresh)
        self._places.update((receipt_code(message), place) for place, message in fresh)
        place = self._places.get(code)
        found = snapshot.results.get(place) if place else None
        return found if found is not None and receipt_code(found) == code else None


def receipt_sheet(snapshot: Snapshot, message: LogMessage) -> ReceiptSheet:
    """Return what a snapshot shows of a result, which may be under embargo."""
    fact = message.fact
    code = receipt_code(message)
    stored = ReceiptSheet(code=code, table=message.table, round=fact.round, deal=fact.deal)
    if (
        not isinstance(fact, Result)
        or (found := snapshot.result(fact.deal, message.table)) is None
        or found[0] != message
    ):
        return stored
    play = play_line(snapshot, fact.deal, message.table)
    if play is None:  # ruled to be of another deal, which may be under embargo
        return stored
    return ReceiptSheet(
        code=code,
        table=message.table,
        round=fact.round,
        deal=fact.deal,
        play=play,
        equal=_equal(play, fact),
        text=confirmed_text(message),
        digest=receipt_digest(message),
        objections_until=snapshot.deadline,
    )


def _equal(play: PlayLine, fact: Result) -> bool:
    fines = {seat: fine.imp for seat, fine in fact.fines.items()}
    return all(
        (line.player, line.points, line.fine, line.award)
        == (fact.players[seat], fact.points[seat], fines.get(seat, 0), 0)
        for seat in SEATS
        for line in (play.seats[seat],)
    )
