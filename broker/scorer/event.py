"""An event: what the organiser has settled before the first play, checked as a whole.

`event.toml` (name, profile, players, plays) is read here; rules of the event's own in `own_rules.py`, deals and sets,
the secrets, in `folder.py`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal, TypeVar

import msgspec
import numpy as np
import tomli_w
from msgspec import Meta, Struct
from msgspec.structs import replace

from broker.contract.plans import PlannedPlay, Player
from broker.contract.public_address import PublicAddress
from broker.contract.rulings import PlayerCorrected
from broker.contract.sessions import Session
from broker.contract.words import (
    SEATS,
    DealNo,
    EventName,
    Name,
    PlayerId,
    ProfileId,
    RoundNo,
    Seat,
    TableNo,
    Wind,
)
from broker.credentials import write_private
from broker.rules.deal import SerialTray, form_hash, order_of
from broker.rules.errors import RuleError
from broker.rules.movement import check, check_teams
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.rule_books import Rules
from broker.rules.tiles import has_red
from broker.scorer import written_plays
from broker.scorer.collecting import uncollected
from broker.scorer.columns import Columns, columns_of
from broker.scorer.errors import BadEvent
from broker.scorer.folder import DealRecord, Registry, read, read_deals, read_registry, write_deals, write_registry
from broker.scorer.origins import UNKNOWN, Origin, Origins, read_origins
from broker.scorer.own_rules import NONE, OwnRules, read_own
from broker.scorer.riichi import RiichiBooking
from broker.scorer.riichi import problems as riichi_problems

EVENT: Final = "event.toml"
LARGEST_TEAM: Final = 99

T = TypeVar("T")


class Booking(Struct, frozen=True, forbid_unknown_fields=True):
    """One play of the movement."""

    round: RoundNo
    table: TableNo
    deal: DealNo
    players: dict[Seat, PlayerId]


Keying = Annotated[Literal["single", "double"], Meta(description="how many people key each paper sheet")]


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """`event.toml`."""

    name: EventName
    title: Name
    profile: ProfileId
    players: tuple[Player, ...]
    plays: tuple[Booking, ...] = ()
    teams: dict[Name, Annotated[tuple[PlayerId, ...], Meta(min_length=4, max_length=LARGEST_TEAM)]] = {}
    """In a team event: whose players are whose."""
    sessions: tuple[Session, ...] = ()
    riichi: tuple[RiichiBooking, ...] = ()
    keying: Keying = "single"
    public_address: PublicAddress = ""
    uncompared: Annotated[bool, Meta(description="it is meant that every deal is played at one table only")] = False


class Event:
    """A checked event, with everything looked up that the scorer asks for."""

    def __init__(
        self,
        plan: Plan,
        deals: Iterable[DealRecord],
        registry: Registry,
        rules: OwnRules = NONE,
        origins: Origins = MappingProxyType({}),
    ) -> None:
        """Raise BadEvent, naming every problem, unless it can be played. `rules`: what it has of its own."""
        self.plan, self.own_rules, self.registry = plan, rules, registry
        self.name, self._origins = plan.name, origins
        listed = tuple(deals)
        self._deals = {deal.number: deal for deal in listed}
        problems = [
            *_problems(plan, self._deals, rules),
            *(RuleError("deal_twice", f"deal {number} is listed twice") for number in _twice(d.number for d in listed)),
        ]
        if problems:
            raise BadEvent("; ".join(one.text for one in problems), problems)
        try:
            self.profile: Rules = rules.of_plays(plan.profile)
            _check_faces(self._deals.values(), self.profile)
            self._orders = {number: _order(deal, registry) for number, deal in self._deals.items()}
        except RuleError as error:
            raise BadEvent(error.text, [error]) from None
        self._forms = {number: form_hash(order) for number, order in self._orders.items()}
        self.players = {player.id: player for player in plan.players}
        self.corrections: Mapping[str, PlayerCorrected] = {}
        """What the plan says otherwise of a player than it did before the event: by the player's id."""
        self.bookings = {(play.table, play.round): play for play in plan.plays}
        self.riichi = {(one.table, one.round): one for one in plan.riichi}

    def session_rules(self, booking: RiichiBooking) -> RiichiProfile:
        """Give the rules of a riichi session."""
        return self.own_rules.of_session(booking.profile)

    @cached_property
    def tables(self) -> tuple[int, ...]:
        """The tables that play, in order."""
        return tuple(sorted({play.table for play in self.plan.plays} | {one.table for one in self.plan.riichi}))

    @cached_property
    def expected(self) -> Mapping[int, int]:
        """How many plays each deal is to have."""
        return Counter(play.deal for play in self.plan.plays)

    @cached_property
    def _plays_with(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        found: dict[int, list[tuple[int, int]]] = {}
        for play in self.plan.plays:
            found.setdefault(play.deal, []).append((play.table, play.round))
        return {deal: tuple(keys) for deal, keys in found.items()}

    def plays_with(self, deal: int) -> tuple[tuple[int, int], ...]:
        """Give table and round of the plays for which a deal is planned."""
        return self._plays_with.get(deal, ())

    @cached_property
    def expected_at(self) -> Mapping[int, int]:
        """How many plays each table is to have."""
        return Counter(play.table for play in self.plan.plays)

    def under(self, profile: Rules) -> "Event":
        """Give the same event, counted by another profile."""
        other = copy(self)
        other.profile = profile
        return other

    def saying(self, plan: Plan, corrections: Mapping[str, PlayerCorrected]) -> "Event":
        """Give the same event with other names, clubs, title or clocks. The plays of `plan` must be those of ours."""
        other = copy(self)
        other.plan, other.corrections = plan, corrections
        other.players = {player.id: player for player in plan.players}
        return other

    @cached_property
    def rounds(self) -> Mapping[tuple[int, int], int]:
        """In which round a deal is played at a table: by deal and table."""
        return {(play.deal, play.table): play.round for play in self.plan.plays}

    @cached_property
    def rounds_at(self) -> Mapping[int, dict[int, int]]:
        """Each table's rounds, with the deal that it plays in them."""
        found: dict[int, dict[int, int]] = {table: {} for table in self.tables}
        for play in self.plan.plays:
            found[play.table][play.round] = play.deal
        return found

    @cached_property
    def columns(self) -> Columns:
        """All planned plays, as columns."""
        return columns_of(self.plan.plays, self.players)

    @cached_property
    def plays_planned(self) -> Mapping[str, int]:
        """How many plays each player is to have."""
        counts = np.bincount(self.columns.players.ravel(), minlength=len(self.players))
        return dict(zip(self.players, counts.tolist(), strict=True))

    @cached_property
    def row_of(self) -> Mapping[tuple[int, int], int]:
        """At which place of the plan, and row of `columns`, a play stands: by table and round."""
        return {(play.table, play.round): at for at, play in enumerate(self.plan.plays)}

    @cached_property
    def bookings_of(self) -> Mapping[str, tuple[Booking, ...]]:
        """Every player's plays, by rounds."""
        found: dict[str, list[Booking]] = {player: [] for player in self.players}
        for play in sorted(self.plan.plays, key=lambda play: play.round):
            for player in play.players.values():
                found[player].append(play)
        return {player: tuple(plays) for player, plays in found.items()}

    def name_of(self, player: str) -> str:
        """Give a player's name; of who is not in the list, the id."""
        known = self.players.get(player)
        return known.name if known else player

    def origin_of(self, player: str) -> Origin:
        """Give country and club of a player, as far as they are known."""
        said = self.corrections.get(player)
        return Origin(said.country, said.club) if said else self._origins.get(player, UNKNOWN)

    @property
    def has_origins(self) -> bool:
        """Whether anybody's country or club is known."""
        return bool(self._origins) or any(one.country or one.club for one in self.corrections.values())

    def winds(self, deal: int) -> tuple[Wind, Seat]:
        """Give a deal's prevalent wind and dealer: both stand on its carrier."""
        record = self._deals[deal]
        return record.prevalent_wind, record.dealer

    def form(self, deal: int) -> str:
        """Hash of a deal's serials as they should lie."""
        return self._forms[deal]

    def order(self, deal: int) -> Mapping[Seat, SerialTray]:
        """Give everybody's serials as a deal lays them."""
        return self._orders[deal]

    def faces(self, deal: int) -> Mapping[int, str]:
        """Give the face of each serial of the set in which a deal lies: it stays with the scorer."""
        laid, faces = self._orders[deal], self._deals[deal].faces
        return {
            serial: face
            for seat in SEATS
            for serial, face in zip(chain.from_iterable(laid[seat]), faces[seat], strict=True)
        }

    def plays_of(self, table: int, replanned: Mapping[int, int] = MappingProxyType({})) -> tuple[PlannedPlay, ...]:
        """What one table is to do, by rounds: serials, never a face. `replanned`: rounds that have another deal now."""
        plays = self.plays_at(table)
        return tuple(self._planned(replace(play, deal=replanned.get(play.round, play.deal))) for play in plays)

    def minutes_of(self, table: int) -> dict[int, int]:
        """Give the minutes that the plays of a table have, by round, where their session limits them."""
        of = {
            round_: session.play_minutes
            for session in self.plan.sessions
            if session.play_minutes is not None
            for round_ in range(session.first_round, session.last_round + 1)
        }
        return {play.round: of[play.round] for play in self.plays_at(table) if play.round in of}

    def plays_at(self, table: int) -> tuple[Booking, ...]:
        """What one table is to do, by rounds, as the movement has it."""
        return self._by_table.get(table, ())

    @cached_property
    def _by_table(self) -> Mapping[int, tuple[Booking, ...]]:
        found: dict[int, list[Booking]] = {}
        for play in sorted(self.plan.plays, key=lambda play: play.round):
            found.setdefault(play.table, []).append(play)
        return {table: tuple(plays) for table, plays in found.items()}

    def _planned(self, play: Booking) -> PlannedPlay:
        deal = self._deals[play.deal]
        return PlannedPlay(
            round=play.round,
            deal=play.deal,
            set=deal.set,
            prevalent_wind=deal.prevalent_wind,
            dealer=deal.dealer,
            players={seat: self.players[player] for seat, player in play.players.items()},
            order={seat: _tray(tray) for seat, tray in self._orders[play.deal].items()},
        )


def _tray(rows: SerialTray) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    hand, far, near = rows
    return hand, far, near


def _check_faces(deals: Iterable[DealRecord], rules: Rules) -> None:
    """Raise RuleError `red_fives_unknown` where deals have red fives in an event of the other rule book."""
    red = [deal.number for deal in deals if any(map(has_red, deal.faces.values()))]
    if red and not isinstance(rules, RiichiProfile):
        raise RuleError("red_fives_unknown", f"deal {red[0]} has red fives, which {rules.id} does not know")


def _order(record: DealRecord, registry: Registry) -> dict[Seat, SerialTray]:
    return order_of(record.deal(), registry.get(record.set, {}))


def _problems(plan: Plan, deals: Mapping[int, DealRecord], rules: OwnRules) -> Iterable[RuleError]:
    """Name everything that is wrong with a movement."""
    known = {player.id for player in plan.players}
    if len(known) != len(plan.players):
        yield RuleError("player_listed_twice", "a player is listed twice")
    if not plan.plays and not plan.riichi:
        yield RuleError("no_plays", "no play is planned")
    yield from riichi_problems(plan.riichi, known, (play.table for play in plan.plays), rules.of_session)
    yield from (RuleError(fault.code, fault.text) for fault in check(plan.plays))
    for play in plan.plays:
        if play.deal in deals and known.issuperset(play.players.values()):
            continue
        where = f"round {play.round} table {play.table}"
        for player in set(play.players.values()) - known:
            yield RuleError("player_not_listed", f"{where}: player {player} is not in the list")
        if play.deal not in deals:
            yield RuleError("deal_unknown", f"{where}: there is no deal {play.deal}")
    yield from _team_problems(plan)
    yield from session_problems(plan)
    for table, round_ in _twice((play.table, play.round) for play in plan.plays):
        yield RuleError("two_plays_at_once", f"table {table} has two plays in round {round_}")


def _team_problems(plan: Plan) -> Iterable[RuleError]:
    """Name what keeps a team event from being scored: one member of each team at each wind of each deal (MIL)."""
    if not plan.teams:
        return
    known, members = {player.id for player in plan.players}, [one for team in plan.teams.values() for one in team]
    for one in sorted(set(members) - known):
        yield RuleError("player_not_listed", f"player {one} of a team is not in the list")
    for one in _twice(members):
        yield RuleError("player_in_two_teams", f"player {one} is in two teams, or twice in one")
    if loose := sorted(known - set(members)):
        yield RuleError("teams_do_not_fit", f"{len(loose)} players are in no team: {', '.join(loose[:5])}")
    elif len(set(members)) == len(members):
        yield from (RuleError(fault.code, fault.text) for fault in check_teams(plan.plays, plan.teams))


def session_problems(plan: Plan) -> Iterable[RuleError]:
    """Name what is wrong with the sessions: each round of the movement is in one of them, if there are any."""
    yield from (RuleError("session_rounds_wrong", text) for text in _rounds_of_sessions(plan))


def _rounds_of_sessions(plan: Plan) -> Iterable[str]:
    last = max((play.round for play in plan.plays), default=0)
    of: Counter[int] = Counter()
    for session in plan.sessions:
        if not session.first_round <= session.last_round <= last:
            rounds = f"{session.first_round} to {session.last_round}"
            yield f"session {session.name}: rounds {rounds}, the movement has {last}"
        of.update(range(session.first_round, session.last_round + 1))
    if plan.sessions:
        yield from (f"round {round_} is in no session" for round_ in range(1, last + 1) if not of[round_])
    yield from (f"round {round_} is in two sessions" for round_, count in sorted(of.items()) if count > 1)


def _twice(named: Iterable[T]) -> Iterable[T]:
    return (one for one, count in Counter(named).items() if count > 1)


def save(folder: Path, plan: Plan, deals: Iterable[DealRecord], registry: Registry) -> None:
    """Write an event's folder; what is secret is readable by its owner alone."""
    folder.mkdir(parents=True, exist_ok=True)
    write_private(folder / EVENT, tomli_w.dumps(msgspec.to_builtins(plan)).encode())
    write_deals(folder, deals)
    write_registry(folder, registry)


def read_plan(folder: Path) -> Plan:
    """Read `event.toml`, as it is written: whether it can be played is not asked. Raises BadEvent."""
    return read(folder / EVENT, decode_plan, Plan)


def decode_plan(content: bytes, type: type[Plan] = Plan) -> Plan:  # noqa: A002 - as msgspec's decoders have it
    """Give the plan in an `event.toml`. Raises msgspec.DecodeError, UnicodeDecodeError."""
    rest, plays = written_plays.decode(content, Booking)
    try:
        plan = msgspec.convert(rest, type, str_keys=True)
    except msgspec.ValidationError:
        return msgspec.toml.decode(content, type=type)  # says which play is wrong, counted from the first of the file
    return replace(plan, plays=(*plays, *plan.plays))


@uncollected()
def open_event(folder: Path) -> Event:
    """Read an event's folder. Raises BadEvent."""
    plan = read_plan(folder)
    rules = read_own(folder, (one.profile for one in plan.riichi))
    return Event(plan, read_deals(folder), read_registry(folder), rules, read_origins(folder))
