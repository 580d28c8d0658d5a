"""An event: what the organiser has settled before the first play, checked as a whole, with lookups for the scorer."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from broker.errors import BadEvent, RuleError
from broker.event.deals import NO_KEY, Opener
from broker.event.earlier import Brought, Earlier, Kind, brought
from broker.event.files import (
    HALL,
    NO_OWN_RULES,
    DealRecord,
    Listing,
    Origin,
    OwnRules,
    Registry,
    SetFaces,
    read_deals,
    read_listings,
    read_own_rules,
    read_registry,
    spelling,
)
from broker.event.movement import MovementPlay
from broker.event.plan import BookedPlay, Plan, RiichiBooking, duplicates, plan_problems, read_plan
from broker.event.stages import parted_plays, section_plays, stage_at
from broker.i18n import N_
from broker.protocol import SEATS, NextSeat, PlannedPlay, Player, PlayerCorrected, PlayerId, Seat, Wind
from broker.read_ahead import gc_paused
from broker.rules import Deal, RiichiProfile, Rules, SerialTray, form_hash
from broker.scoring import in_turn_order

ROUND: Final = attrgetter("round")


class PlayColumns(NamedTuple):
    """The plays of a plan; `players` is (plays, seats), the numbers of players in the event's list."""

    deals: NDArray[np.int64]
    tables: NDArray[np.int64]
    players: NDArray[np.int64]


def play_columns(plays: Sequence[MovementPlay], players: Iterable[str]) -> PlayColumns:
    """Return plays as columns; `players`: the event's list."""
    number = {player: at for at, player in enumerate(players)}
    seated = chain.from_iterable(in_turn_order(play.players) for play in plays)
    return PlayColumns(
        np.fromiter((play.deal for play in plays), np.int64, len(plays)),
        np.fromiter((play.table for play in plays), np.int64, len(plays)),
        np.fromiter((number[str(player)] for player in seated), np.int64, 4 * len(plays)).reshape(-1, 4),
    )


class PlanVersion(NamedTuple):
    """Which version of its plan an event is played by, since who sits where was changed."""

    number: int
    at: int
    """Ms since 1970."""


class Event:
    """A checked event, with everything looked up that the scorer asks for."""

    def __init__(
        self,
        plan: Plan,
        deals: Iterable[DealRecord],
        registry: Registry,
        rules: OwnRules = NO_OWN_RULES,
        listings: Mapping[PlayerId, Listing] = MappingProxyType({}),
        opener: Opener = NO_KEY,
        *,
        among_halls: bool = False,
    ) -> None:
        """Raise BadEvent, naming every problem, unless it can be played. `rules`: what it has of its own.

        `opener`: with it sealed deals and sets open, each when it is asked for. `among_halls`: other halls play the
        same deals, so that the centre says which are over.
        """
        self.among_halls = among_halls
        self.own_rules, self._registry, self._opener = rules, registry, opener
        self.name, self._listings = plan.name, listings
        listed = tuple(deals)
        self._deals = {deal.number: deal for deal in listed}
        problems = [
            *plan_problems(plan, self._deals, rules),
            *(
                RuleError("deal_twice", N_("deal {deal} is listed twice", deal=number))
                for number in duplicates(d.number for d in listed)
            ),
        ]
        if problems:
            raise BadEvent.of(*problems)
        try:
            self.profile: Rules = rules.of_plays(plan.profile)
            _check_faces(self._deals.values(), self.profile)
            self._orders = {number: deal.serials(self.set_faces) for number, deal in self._deals.items()}
        except RuleError as error:
            raise BadEvent.of(error) from None
        self._forms = {number: form_hash(order) for number, order in self._orders.items()}
        named, by_rank = parted_plays(plan)
        self.plan = replace(plan, plays=tuple(named)) if by_rank else plan
        self.later = {(play.table, play.round): play for play in by_rank}
        """The plays of stages by rank, by table and round: who plays in them is decided when the time has come."""
        self.players = {player.id: player for player in plan.players}
        self.corrections: Mapping[str, PlayerCorrected] = {}
        """What the plan says otherwise of a player than it did before the event: by the player's id."""
        self.bookings = {(play.table, play.round): play for play in named}
        self.riichi = {(one.table, one.round): one for one in plan.riichi}
        self.known: Mapping[str, Player] = self.players
        """With who has left without a play, and is no player any more."""
        self.version: PlanVersion | None = None
        """None: as the organiser settled it."""
        self.seated: frozenset[str] = frozenset()
        """The stages by rank of which it is decided who plays in them, by name."""
        self.dropped: frozenset[tuple[int, int]] = frozenset()
        """Table and round of the plays that a change of the plan has left out, and of stages that are not seated."""

    def session_rules(self, booking: RiichiBooking) -> RiichiProfile:
        """Return the rules of a riichi session."""
        return self.own_rules.of_session(booking.profile)

    @cached_property
    def tables(self) -> tuple[int, ...]:
        """The tables that play, in order."""
        return tuple(sorted({table for table, _ in self.places} | {one.table for one in self.plan.riichi}))

    @cached_property
    def expected(self) -> Mapping[int, int]:
        """How many plays each deal is to have.

        Where a table has begun a stage of which it was taken back who plays in it, the other plays are still to come.
        """
        planned = Counter(play.deal for play in self.plan.plays)
        unseated = {key for key in self.later if not self.is_seated(stage_at(self.plan.stages, key[1]) or 0)}
        to_come = (self.later[key].deal for key in unseated - self.bookings.keys())
        return planned + Counter(deal for deal in to_come if deal in planned)

    @cached_property
    def _plays_with(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        found: dict[int, list[tuple[int, int]]] = {}
        for play in self.plan.plays:
            found.setdefault(play.deal, []).append((play.table, play.round))
        return {deal: tuple(keys) for deal, keys in found.items()}

    def plays_with(self, deal: int) -> tuple[tuple[int, int], ...]:
        """Return table and round of the plays for which a deal is planned."""
        return self._plays_with.get(deal, ())

    @cached_property
    def expected_at(self) -> Mapping[int, int]:
        """How many plays each table is to have."""
        return Counter(play.table for play in self.plan.plays)

    def under(self, profile: Rules) -> "Event":
        """Return the same event, counted by another profile."""
        other = copy(self)
        other.profile = profile
        return other

    def saying(self, plan: Plan, corrections: Mapping[str, PlayerCorrected]) -> "Event":
        """Return the same event with other names, clubs, title or clocks. The plays of `plan` must be those of ours."""
        other = copy(self)
        other.plan, other.corrections = plan, corrections
        other.players = {player.id: player for player in plan.players}
        other.known = {**self.known, **other.players}
        return other

    def replanned(
        self,
        players: tuple[Player, ...],
        plays: tuple[BookedPlay, ...],
        version: PlanVersion,
        seated: frozenset[str] = frozenset(),
        entered: Iterable[Player] = (),
    ) -> "Event":
        """Return the same event with others at its tables: the plays of a changed plan, of tables that are here.

        `entered`: everybody who was ever entered, be it that they have left again.
        """
        other = copy(self)
        for name in [name for name in vars(self) if isinstance(getattr(Event, name, None), cached_property)]:
            del other.__dict__[name]
        other.__dict__["tables"] = self.tables  # one that stands empty is there
        other.plan = replace(self.plan, players=players, plays=plays)
        other.version, other.seated = version, seated
        other.players = {player.id: player for player in players}
        other.known = {player.id: player for player in (*entered, *self.known.values(), *players)}
        other.bookings = {(play.table, play.round): play for play in plays}
        other.dropped = frozenset(self.places.keys() - other.bookings.keys())
        return other

    @property
    def whole_plan(self) -> Plan:
        """The plan with the plays of all stages, as it is written."""
        return replace(self.plan, plays=(*self.plan.plays, *self.later.values()))

    @cached_property
    def places(self) -> Mapping[tuple[int, int], BookedPlay]:
        """All plays of the event, by table and round: those of stages by rank too, once seated with who plays there."""
        return {**self.bookings, **self.later, **self.bookings} if self.later else self.bookings

    def rounds_of(self, table: int) -> set[int]:
        """Return the rounds in which something may be played at a table."""
        return {*self.rounds_at.get(table, ()), *(round_ for at, round_ in self.later if at == table)}

    def is_seated(self, stage: int) -> bool:
        """Return whether it is known who plays in a stage, by its number from 0.

        A play of it that a table has begun does not tell, if who plays there was taken back.
        """
        return not self.plan.stages[stage].cut or self.plan.stages[stage].name in self.seated

    @property
    def all_seated(self) -> bool:
        """Whether it is known of every stage who plays in it."""
        return all(map(self.is_seated, range(len(self.plan.stages))))

    def section_at(self, table: int, round_: int) -> str | None:
        """Return the section in which a table plays a round; None if it is in none."""
        at = stage_at(self.plan.stages, round_) if self.plan.stages else None
        return None if at is None else self.plan.stages[at].section_of(table)

    @cached_property
    def stage_of_deal(self) -> Mapping[int, int]:
        """The number of the stage, from 0, to which each deal belongs."""
        stages = self.plan.stages
        return {play.deal: stage_at(stages, play.round) or 0 for play in self.plan.plays}

    @cached_property
    def sections(self) -> Mapping[tuple[int, str], frozenset[str]]:
        """Who plays in each section of each seated stage, by the number of the stage and the name of the section."""
        numbers = {stage.name: at for at, stage in enumerate(self.plan.stages)}
        return {
            (numbers[stage.name], section): frozenset(str(who) for play in plays for who in play.players.values())
            for stage, section, plays in section_plays(self.plan)
            if plays
        }

    @cached_property
    def team_sections(self) -> Mapping[tuple[int, str], Mapping[str, tuple[str, ...]]]:
        """The teams in each section of each seated stage."""
        return {
            key: {team: members for team, members in self.plan.teams.items() if here.intersection(members)}
            for key, here in self.sections.items()
        }

    def teams_of_deal(self, deal: int) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Return the teams that play a deal, by sections."""
        if not self.plan.stages:
            return {"": self.plan.teams}
        at = self.stage_of_deal.get(deal)
        return {section: teams for (of, section), teams in self.team_sections.items() if of == at}

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
    def columns(self) -> PlayColumns:
        """All planned plays, as columns."""
        return play_columns(self.plan.plays, self.players)

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
    def bookings_of(self) -> Mapping[str, tuple[BookedPlay, ...]]:
        """Every player's plays, by rounds."""
        found: dict[str, list[BookedPlay]] = {player: [] for player in self.players}
        for play in sorted(self.plan.plays, key=lambda play: play.round):
            for player in play.players.values():
                found[player].append(play)
        return {player: tuple(plays) for player, plays in found.items()}

    def onward(self, table: int) -> dict[int, dict[str, NextSeat | None]]:
        """Return after which rounds of a table somebody leaves their seat, and where its players sit next.

        None: no play is left, or it is not known who plays in the next stage.
        """
        found: dict[int, dict[str, NextSeat | None]] = {}
        for round_ in self.rounds_at.get(table, ()):
            players = self.bookings[table, round_].players
            then = {player: self._next_seat(player, round_) for player in players.values()}
            here = {player: (table, seat) for seat, player in players.items()}
            stay = all(one and (one.table, one.seat) == here[player] for player, one in then.items())
            if any(then.values()) and not stay:
                found[round_] = then
        return found

    def _next_seat(self, player: str, round_: int) -> NextSeat | None:
        plays = self.bookings_of[player]
        at = bisect_right(plays, round_, key=ROUND)
        if at == len(plays):
            return None
        seat = next(seat for seat, one in plays[at].players.items() if one == player)
        return NextSeat(round=plays[at].round, table=plays[at].table, seat=seat)

    def name_of(self, player: str) -> str:
        """Return a player's name; of who is not in the list, the id."""
        known = self.players.get(player)
        return known.name if known else player

    def origin_of(self, player: str) -> Origin:
        """Return country and club of a player, as far as they are known."""
        return self.listing_of(player).origin

    def listing_of(self, player: str) -> Listing:
        """Return what is known of a player beside the name: of the list, unless the plan was corrected."""
        if said := self.corrections.get(player):
            return Listing(Origin(said.country, said.club), spelling(said.first_name, said.last_name))
        return self._listings.get(player, Listing())

    def brought(self, kind: Kind) -> Brought:
        """Return what players, or teams, have of the event from whose standings this one begins."""
        earlier = self.plan.earlier
        if not isinstance(earlier, Earlier):
            return Brought()
        listed, here = (earlier.players, self.players) if kind == "individual" else (earlier.teams, self.plan.teams)
        return brought((one.ranked() for one in listed if one.name in here), self.profile, earlier.carry_over)

    def is_guest(self, player: str) -> bool:
        """Return whether a player has no standing."""
        known = self.players.get(player)
        return known is not None and known.without_standing

    @property
    def guests(self) -> tuple[Player, ...]:
        """The players without standing: their plays are compared, and they take no place."""
        return tuple(one for one in self.players.values() if one.without_standing)

    @property
    def without_standing(self) -> frozenset[str]:
        """The players without standing, and the teams all of whose players are."""
        players = frozenset(one.id for one in self.guests)
        return players | {team for team, members in self.plan.teams.items() if players.issuperset(members)}

    @property
    def unranked_names(self) -> tuple[str, ...]:
        """The names of teams without standing, and of the other players without."""
        teams = [team for team in self.plan.teams if team in self.without_standing]
        inside = {player for team in teams for player in self.plan.teams[team]}
        return (*teams, *(one.name for one in self.guests if one.id not in inside))

    @property
    def has_origins(self) -> bool:
        """Whether anybody's country or club is known."""
        return any(any(self.origin_of(player)) for player in (*self._listings, *self.corrections))

    def winds(self, deal: int) -> tuple[Wind, Seat]:
        """Return a deal's prevalent wind and dealer: both stand on its carrier."""
        record = self._deals[deal]
        return record.prevalent_wind, record.dealer

    def form(self, deal: int) -> str:
        """Hash of a deal's serials as they should lie."""
        return self._forms[deal]

    def order(self, deal: int) -> Mapping[Seat, SerialTray]:
        """Return everybody's serials as a deal lays them."""
        return self._orders[deal]

    def open_deal(self, deal: int) -> Deal:
        """Return a deal with its faces; one that is sealed is opened, and not kept. Raises RuleError."""
        return self._opener.deal(self._deals[deal]).deal()

    def set_faces(self, number: int) -> SetFaces:
        """Return what is on the tiles of a set; nothing of one that nobody has entered. Raises RuleError."""
        return self._opener.set_faces(number, self._registry)

    def faces(self, deal: int) -> Mapping[int, str]:
        """Return the face of each serial of the set in which a deal lies: it stays with the scorer.

        Raises as `open_deal`.
        """
        laid, faces = self._orders[deal], self.open_deal(deal).faces
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
        """Return the minutes that the plays of a table have, by round, where their session limits them."""
        of = {
            round_: session.play_minutes
            for session in self.plan.sessions
            if session.play_minutes is not None
            for round_ in range(session.first_round, session.last_round + 1)
        }
        return {play.round: of[play.round] for play in self.plays_at(table) if play.round in of}

    def plays_at(self, table: int) -> tuple[BookedPlay, ...]:
        """What one table is to do, by rounds, as the movement has it."""
        return self._by_table.get(table, ())

    @cached_property
    def _by_table(self) -> Mapping[int, tuple[BookedPlay, ...]]:
        found: dict[int, list[BookedPlay]] = {}
        for play in sorted(self.plan.plays, key=lambda play: play.round):
            found.setdefault(play.table, []).append(play)
        return {table: tuple(plays) for table, plays in found.items()}

    def _planned(self, play: BookedPlay) -> PlannedPlay:
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
    red = [deal.number for deal in deals if deal.has_red]
    if red and not isinstance(rules, RiichiProfile):
        raise RuleError(
            "red_fives_unknown",
            N_("deal {deal} has red fives, which {rules} does not use", deal=red[0], rules=rules.id),
        )


@gc_paused()
def open_event(folder: Path) -> Event:
    """Read an event's folder. Raises BadEvent."""
    plan = read_plan(folder)
    rules = read_own_rules(folder, (one.profile for one in plan.riichi))
    return Event(
        plan,
        read_deals(folder),
        read_registry(folder),
        rules,
        read_listings(folder),
        Opener(folder),
        among_halls=(folder / HALL).exists(),
    )
