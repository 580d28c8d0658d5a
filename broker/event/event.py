"""An event as the organiser set it up: validated as a whole, with lookups for the scorer."""

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
    """The plays of a plan as arrays.

    `players` has shape (plays, 4) in turn order; its values are indices into the event's list of players.
    """

    deals: NDArray[np.int64]
    tables: NDArray[np.int64]
    players: NDArray[np.int64]


def play_columns(plays: Sequence[MovementPlay], players: Iterable[str]) -> PlayColumns:
    """Return plays as columns. `players` is the event's list."""
    number = {player: at for at, player in enumerate(players)}
    seated = chain.from_iterable(in_turn_order(play.players) for play in plays)
    return PlayColumns(
        np.fromiter((play.deal for play in plays), np.int64, len(plays)),
        np.fromiter((play.table for play in plays), np.int64, len(plays)),
        np.fromiter((number[str(player)] for player in seated), np.int64, 4 * len(plays)).reshape(-1, 4),
    )


class PlanVersion(NamedTuple):
    """The version of a plan whose seating was changed during the event."""

    number: int
    at: int
    """When it was changed, ms since 1970."""


class Event:
    """A validated event, with the lookups that the scorer needs."""

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
        """Validate the event. Raises BadEvent, naming every problem, if it cannot be played.

        `rules` are the event's own profiles. `opener` decrypts sealed deals and sets when they are needed.
        `among_halls` is set if other halls play the same deals; the centre then decides which deals are over.
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
        """Plays of stages seated by rank, by table and round. Their players are known once the stage before is over."""
        self.players = {player.id: player for player in plan.players}
        self.corrections: Mapping[str, PlayerCorrected] = {}
        """Corrections made to players during the event, by player id."""
        self.bookings = {(play.table, play.round): play for play in named}
        self.riichi = {(booking.table, booking.round): booking for booking in plan.riichi}
        self.known: Mapping[str, Player] = self.players
        """All players ever entered, including those who left without playing."""
        self.version: PlanVersion | None = None
        """None if the plan is still the organiser's original."""
        self.seated: frozenset[str] = frozenset()
        """Names of the stages seated by rank whose players have been decided."""
        self.dropped: frozenset[tuple[int, int]] = frozenset()
        """Table and round of plays that a change of the plan dropped, and of plays in stages not yet seated."""

    def session_rules(self, booking: RiichiBooking) -> RiichiProfile:
        """Return the rules of a riichi session."""
        return self.own_rules.of_session(booking.profile)

    @cached_property
    def tables(self) -> tuple[int, ...]:
        """All table numbers of the event, in order."""
        return tuple(sorted({table for table, _ in self.places} | {booking.table for booking in self.plan.riichi}))

    @cached_property
    def expected(self) -> Mapping[int, int]:
        """The number of plays planned for each deal.

        If the seating of a stage was retracted after a table had begun it, the stage's other plays still count as
        planned.
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
        """Return the table and round of each play planned for a deal."""
        return self._plays_with.get(deal, ())

    @cached_property
    def expected_at(self) -> Mapping[int, int]:
        """The number of plays planned for each table."""
        return Counter(play.table for play in self.plan.plays)

    def under(self, profile: Rules) -> "Event":
        """Return a copy of the event that is scored by another profile."""
        other = copy(self)
        other.profile = profile
        return other

    def saying(self, plan: Plan, corrections: Mapping[str, PlayerCorrected]) -> "Event":
        """Return a copy with corrected names, clubs, title or clocks. `plan` must have the same plays as this event."""
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
        """Return a copy with the players and plays of a changed plan, at the event's existing tables.

        `entered` lists everybody who was ever entered, including players who have left.
        """
        other = copy(self)
        for name in [name for name in vars(self) if isinstance(getattr(Event, name, None), cached_property)]:
            del other.__dict__[name]
        other.__dict__["tables"] = self.tables  # including tables that the new plan leaves empty
        other.plan = replace(self.plan, players=players, plays=plays)
        other.version, other.seated = version, seated
        other.players = {player.id: player for player in players}
        other.known = {player.id: player for player in (*entered, *self.known.values(), *players)}
        other.bookings = {(play.table, play.round): play for play in plays}
        other.dropped = frozenset(self.places.keys() - other.bookings.keys())
        return other

    @property
    def whole_plan(self) -> Plan:
        """The plan with the plays of all stages, as `write_plan` stores it."""
        return replace(self.plan, plays=(*self.plan.plays, *self.later.values()))

    @cached_property
    def places(self) -> Mapping[tuple[int, int], BookedPlay]:
        """All plays of the event by table and round, including stages seated by rank (with players once seated)."""
        return {**self.bookings, **self.later, **self.bookings} if self.later else self.bookings

    def rounds_of(self, table: int) -> set[int]:
        """Return the rounds in which a table may have a play, including stages not yet seated."""
        return {*self.rounds_at.get(table, ()), *(round_ for at, round_ in self.later if at == table)}

    def is_seated(self, stage: int) -> bool:
        """Return whether the players of a stage (numbered from 0) are known.

        A play already begun in the stage is no evidence, since the seating may have been retracted since.
        """
        return not self.plan.stages[stage].cut or self.plan.stages[stage].name in self.seated

    @property
    def all_seated(self) -> bool:
        """Whether the players of every stage are known."""
        return all(map(self.is_seated, range(len(self.plan.stages))))

    def section_at(self, table: int, round_: int) -> str | None:
        """Return the name of the section in which a table plays a round; None if there is no section."""
        at = stage_at(self.plan.stages, round_) if self.plan.stages else None
        return None if at is None else self.plan.stages[at].section_of(table)

    @cached_property
    def stage_of_deal(self) -> Mapping[int, int]:
        """The stage of each deal, numbered from 0."""
        stages = self.plan.stages
        return {play.deal: stage_at(stages, play.round) or 0 for play in self.plan.plays}

    @cached_property
    def sections(self) -> Mapping[tuple[int, str], frozenset[str]]:
        """The players in each section of each seated stage, by stage number and section name."""
        numbers = {stage.name: at for at, stage in enumerate(self.plan.stages)}
        return {
            (numbers[stage.name], section): frozenset(str(player) for play in plays for player in play.players.values())
            for stage, section, plays in section_plays(self.plan)
            if plays
        }

    @cached_property
    def team_sections(self) -> Mapping[tuple[int, str], Mapping[str, tuple[str, ...]]]:
        """The teams in each section of each seated stage, by stage number and section name."""
        return {
            key: {team: members for team, members in self.plan.teams.items() if here.intersection(members)}
            for key, here in self.sections.items()
        }

    def teams_of_deal(self, deal: int) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Return the teams that play a deal, by section name (empty if the event has no stages)."""
        if not self.plan.stages:
            return {"": self.plan.teams}
        at = self.stage_of_deal.get(deal)
        return {section: teams for (of, section), teams in self.team_sections.items() if of == at}

    @cached_property
    def rounds(self) -> Mapping[tuple[int, int], int]:
        """The round in which a deal is played, by deal and table."""
        return {(play.deal, play.table): play.round for play in self.plan.plays}

    @cached_property
    def rounds_at(self) -> Mapping[int, dict[int, int]]:
        """The deal played in each round, by table and then round."""
        found: dict[int, dict[int, int]] = {table: {} for table in self.tables}
        for play in self.plan.plays:
            found[play.table][play.round] = play.deal
        return found

    @cached_property
    def columns(self) -> PlayColumns:
        """All planned plays as columns."""
        return play_columns(self.plan.plays, self.players)

    @cached_property
    def plays_planned(self) -> Mapping[str, int]:
        """The number of plays planned for each player."""
        counts = np.bincount(self.columns.players.ravel(), minlength=len(self.players))
        return dict(zip(self.players, counts.tolist(), strict=True))

    @cached_property
    def row_of(self) -> Mapping[tuple[int, int], int]:
        """The index of each play in the plan and in `columns`, by table and round."""
        return {(play.table, play.round): at for at, play in enumerate(self.plan.plays)}

    @cached_property
    def bookings_of(self) -> Mapping[str, tuple[BookedPlay, ...]]:
        """Each player's plays, in order of rounds."""
        found: dict[str, list[BookedPlay]] = {player: [] for player in self.players}
        for play in sorted(self.plan.plays, key=lambda play: play.round):
            for player in play.players.values():
                found[player].append(play)
        return {player: tuple(plays) for player, plays in found.items()}

    def onward(self, table: int) -> dict[int, dict[str, NextSeat | None]]:
        """Return, for each round of a table after which somebody changes seats, where its players sit next.

        A player's next seat is None if no play is left, or if the next stage is not seated yet.
        """
        found: dict[int, dict[str, NextSeat | None]] = {}
        for round_ in self.rounds_at.get(table, ()):
            players = self.bookings[table, round_].players
            then = {player: self._next_seat(player, round_) for player in players.values()}
            here = {player: (table, seat) for seat, player in players.items()}
            stay = all(new and (new.table, new.seat) == here[player] for player, new in then.items())
            if any(then.values()) and not stay:
                found[round_] = then
        return found

    def _next_seat(self, player: str, round_: int) -> NextSeat | None:
        plays = self.bookings_of[player]
        at = bisect_right(plays, round_, key=ROUND)
        if at == len(plays):
            return None
        seat = next(seat for seat, sitting in plays[at].players.items() if sitting == player)
        return NextSeat(round=plays[at].round, table=plays[at].table, seat=seat)

    def name_of(self, player: str) -> str:
        """Return a player's name, or the id if the player is not in the list."""
        known = self.players.get(player)
        return known.name if known else player

    def origin_of(self, player: str) -> Origin:
        """Return a player's country and club; unknown ones are empty."""
        return self.listing_of(player).origin

    def listing_of(self, player: str) -> Listing:
        """Return a player's details other than the name: as corrected, else as in the list of players."""
        if correction := self.corrections.get(player):
            return Listing(
                Origin(correction.country, correction.club), spelling(correction.first_name, correction.last_name)
            )
        return self._listings.get(player, Listing())

    def brought(self, kind: Kind) -> Brought:
        """Return what players, or teams, carry over from the earlier event; nothing if there was none."""
        earlier = self.plan.earlier
        if not isinstance(earlier, Earlier):
            return Brought()
        listed, here = (earlier.players, self.players) if kind == "individual" else (earlier.teams, self.plan.teams)
        return brought((place.ranked() for place in listed if place.name in here), self.profile, earlier.carry_over)

    def is_guest(self, player: str) -> bool:
        """Return whether a player is a guest, who takes no place in the standings."""
        known = self.players.get(player)
        return known is not None and known.without_standing

    @property
    def guests(self) -> tuple[Player, ...]:
        """The players without standing. Their plays are compared, but they take no place in the standings."""
        return tuple(player for player in self.players.values() if player.without_standing)

    @property
    def without_standing(self) -> frozenset[str]:
        """The ids of players without standing, and the names of teams that consist of such players only."""
        players = frozenset(player.id for player in self.guests)
        return players | {team for team, members in self.plan.teams.items() if players.issuperset(members)}

    @property
    def unranked_names(self) -> tuple[str, ...]:
        """The names of teams without standing, and of further players without standing who are in none of them."""
        teams = [team for team in self.plan.teams if team in self.without_standing]
        inside = {player for team in teams for player in self.plan.teams[team]}
        return (*teams, *(player.name for player in self.guests if player.id not in inside))

    @property
    def has_origins(self) -> bool:
        """Whether any player's country or club is known."""
        return any(any(self.origin_of(player)) for player in (*self._listings, *self.corrections))

    def winds(self, deal: int) -> tuple[Wind, Seat]:
        """Return a deal's prevalent wind and dealer, as printed on its carrier."""
        record = self._deals[deal]
        return record.prevalent_wind, record.dealer

    def form(self, deal: int) -> str:
        """Return the hash of a deal's serials in their intended order."""
        return self._forms[deal]

    def order(self, deal: int) -> Mapping[Seat, SerialTray]:
        """Return the order of a deal's serials in the tray of each seat."""
        return self._orders[deal]

    def open_deal(self, deal: int) -> Deal:
        """Return a deal with its faces. A sealed deal is decrypted, but not cached. Raises RuleError."""
        return self._opener.deal(self._deals[deal]).deal()

    def set_faces(self, number: int) -> SetFaces:
        """Return the faces of a set by serial; empty if the set was never registered. Raises RuleError."""
        return self._opener.set_faces(number, self._registry)

    def faces(self, deal: int) -> Mapping[int, str]:
        """Return the face of each serial of a deal. Faces never leave the scorer. Raises as `open_deal`."""
        order, faces = self._orders[deal], self.open_deal(deal).faces
        return {
            serial: face
            for seat in SEATS
            for serial, face in zip(chain.from_iterable(order[seat]), faces[seat], strict=True)
        }

    def plays_of(self, table: int, replanned: Mapping[int, int] = MappingProxyType({})) -> tuple[PlannedPlay, ...]:
        """Return a table's assignment by round, with serials but no faces.

        `replanned` gives the new deal of each round whose deal was changed.
        """
        plays = self.plays_at(table)
        return tuple(self._planned(replace(play, deal=replanned.get(play.round, play.deal))) for play in plays)

    def minutes_of(self, table: int) -> dict[int, int]:
        """Return the time limit of each of a table's plays, in minutes by round, where its session sets one."""
        of = {
            round_: session.play_minutes
            for session in self.plan.sessions
            if session.play_minutes is not None
            for round_ in range(session.first_round, session.last_round + 1)
        }
        return {play.round: of[play.round] for play in self.plays_at(table) if play.round in of}

    def plays_at(self, table: int) -> tuple[BookedPlay, ...]:
        """Return a table's plays as planned, in order of rounds."""
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
    """Raise RuleError `red_fives_unknown` if deals have red fives and the rules are not riichi."""
    red = [deal.number for deal in deals if deal.has_red]
    if red and not isinstance(rules, RiichiProfile):
        raise RuleError(
            "red_fives_unknown",
            N_("deal {deal} has red fives, which {rules} does not use", deal=red[0], rules=rules.id),
        )


@gc_paused()
def open_event(folder: Path) -> Event:
    """Read and validate an event's folder. Raises BadEvent."""
    plan = read_plan(folder)
    rules = read_own_rules(folder, (booking.profile for booking in plan.riichi))
    return Event(
        plan,
        read_deals(folder),
        read_registry(folder),
        rules,
        read_listings(folder),
        Opener(folder),
        among_halls=(folder / HALL).exists(),
    )
