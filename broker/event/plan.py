"""The plan of an event: its structure, its validation, and how it is read and written.

`event.toml` holds everything except the plays. These are in `movement.csv`, because there may be many thousands of
them, and parsing those as TOML takes half a minute on a Raspberry Pi.
"""

import stat
import tomllib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, TypeVar

import msgspec
import tomli_w
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from broker.errors import BadEvent, RuleError, reason
from broker.event.earlier import Earlier, earlier_problems
from broker.event.files import DealRecord, OwnRules, Registry, read_file, write_deals, write_registry
from broker.event.movement import MovementPlay, check_movement, check_teams, decode_movement, movement_csv
from broker.event.stages import Stage, parted_plays, ranks_of, section_plays, stage_problems
from broker.files import EVENT, MOVEMENT, PRIVATE, make_folder, write_file
from broker.i18n import N_, Message
from broker.protocol import (
    LAST_TABLE,
    SEATS,
    DealNo,
    EventName,
    Name,
    Player,
    PlayerId,
    ProfileId,
    PublicAddress,
    RoundNo,
    Seat,
    Session,
    SetNo,
    TableNo,
)
from broker.rules import RiichiProfile

LARGEST_TEAM: Final = 99

MOST_PROBLEMS: Final = 20
"""How many faulty lines are reported when a file is refused."""

T = TypeVar("T")

PLAYERS, DEAL, TABLE_AND_ROUND = attrgetter("players"), attrgetter("deal"), attrgetter("table", "round")


class BookedPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """One play of the movement."""

    round: RoundNo
    table: TableNo
    deal: DealNo
    players: dict[Seat, PlayerId]


Keying = Annotated[Literal["single", "double"], Meta(description="how many people key each paper sheet")]


class RiichiBooking(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A riichi session: one table plays hand after hand in this round, by a built-in or own profile."""

    round: RoundNo
    table: TableNo
    profile: ProfileId
    players: dict[Seat, PlayerId]
    set: SetNo = 1
    """The tile set in use, so that a hand can be counted from the backs of its tiles."""


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """The plan of an event: the content of `event.toml`, and its plays."""

    name: EventName
    title: Name
    profile: ProfileId
    players: tuple[Player, ...]
    plays: tuple[BookedPlay, ...] = ()
    teams: dict[Name, Annotated[tuple[PlayerId, ...], Meta(min_length=4, max_length=LARGEST_TEAM)]] = {}
    """The players of each team; empty in an individual event."""
    sessions: tuple[Session, ...] = ()
    stages: tuple[Stage, ...] = ()
    """Empty if the event is one stage without sections."""
    earlier: Earlier | UnsetType = UNSET
    """The standings of an earlier event from which this one begins."""
    copies: Annotated[int, Meta(ge=1, le=LAST_TABLE, description="carriers of each deal")] = 1
    riichi: tuple[RiichiBooking, ...] = ()
    prizes: Annotated[tuple[Name, ...], Meta(max_length=99, description="by place, from the first on")] = ()
    keying: Keying = "single"
    public_address: PublicAddress = ""
    keep_plays: Annotated[bool, Meta(description="tables offer to read rivers after each play, for replays")] = False
    uncompared: Annotated[bool, Meta(description="it is meant that every deal is played at one table only")] = False


def plan_problems(plan: Plan, deals: Container[int], rules: OwnRules) -> Iterable[RuleError]:
    """Yield every problem with a plan. `deals` are the numbers of the deals that exist."""
    known = {player.id for player in plan.players}
    if len(known) != len(plan.players):
        yield RuleError("player_listed_twice", N_("a player is listed twice"))
    if not plan.plays and not plan.riichi:
        yield RuleError("no_plays", N_("the plan has no plays"))
    yield from riichi_problems(plan.riichi, known, (play.table for play in plan.plays), rules.of_session)
    yield from (RuleError(fault.code, fault.text) for fault in check_movement(plan.plays, plan.copies))
    yield from _unknown_in_plays(plan, known, deals)
    yield from _team_problems(plan)
    yield from stage_problems(plan)
    yield from session_problems(plan)
    yield from earlier_problems(plan.earlier, known, plan.teams)
    for table, round_ in duplicates(map(TABLE_AND_ROUND, plan.plays)):
        yield RuleError(
            "two_plays_at_once", N_("table {table} has two plays in round {round}", table=table, round=round_)
        )


def _unknown_in_plays(plan: Plan, known: AbstractSet[str], deals: Container[int]) -> Iterable[RuleError]:
    """Yield an error for each play with an unlisted player or an unknown deal."""
    seating = [*map(PLAYERS, plan.plays)]
    fours = dict(zip(map(id, seating), seating, strict=True))  # many plays share one dictionary of players
    any_unknown = any(not known >= {*four.values()} for four in fours.values())
    for play in parted_plays(plan)[0] if any_unknown else ():
        for player in set(play.players.values()) - known:
            yield RuleError(
                "player_not_listed",
                N_("{where}: player {who} is not in the player list", where=_where(play), who=player),
            )
    for play in plan.plays if any(deal not in deals for deal in set(map(DEAL, plan.plays))) else ():
        if play.deal not in deals:
            yield RuleError("deal_unknown", N_("{where}: there is no deal {deal}", where=_where(play), deal=play.deal))


def _where(play: BookedPlay) -> str:
    return f"round {play.round} table {play.table}"


def _team_problems(plan: Plan) -> Iterable[RuleError]:
    """Yield what keeps a team event from being scored.

    One member of each team has to sit at each wind of each deal (MIL).
    """
    if not plan.teams:
        return
    known, members = {player.id for player in plan.players}, [one for team in plan.teams.values() for one in team]
    for one in sorted(set(members) - known):
        yield RuleError("player_not_listed", N_("player {who} is in a team, but not in the player list", who=one))
    for one in duplicates(members):
        yield RuleError("player_in_two_teams", N_("player {who} is listed in teams more than once", who=one))
    if loose := sorted(known - set(members)):
        yield RuleError(
            "teams_do_not_fit",
            N_("players without a team, {count}: {names}", count=len(loose), names=", ".join(loose[:5])),
        )
    elif len(set(members)) == len(members):
        faults = (check_teams(plays, teams) for plays, teams in _plays_of_teams(plan))
        yield from (RuleError(fault.code, fault.text) for one in faults for fault in one)


def _plays_of_teams(plan: Plan) -> Iterable[tuple[Sequence[MovementPlay], Mapping[str, Sequence[int | str]]]]:
    """Yield each group of plays that are compared with each other, with its teams.

    In a stage seated by rank, a team is called by its rank, and its members are the ranks in the movement.
    """
    if not plan.stages:
        yield plan.plays, plan.teams
    for stage, _, plays in section_plays(plan):
        teams: dict[str, list[int | str]] = {}
        if stage.cut:
            for player, (rank, _member) in ranks_of(stage, plays).items():
                teams.setdefault(str(rank), []).append(player)
        else:
            here = {player for play in plays for player in play.players.values()}
            teams = {team: list(members) for team, members in plan.teams.items() if here.intersection(members)}
        yield plays, teams


def session_problems(plan: Plan) -> Iterable[RuleError]:
    """Yield the problems with the sessions. If there are any, each round of the movement must be in exactly one."""
    yield from (RuleError("session_rounds_wrong", text) for text in _rounds_of_sessions(plan))


def _rounds_of_sessions(plan: Plan) -> Iterable[Message]:
    last = max((play.round for play in plan.plays), default=0)
    of: Counter[int] = Counter()
    for session in plan.sessions:
        if not session.first_round <= session.last_round <= last:
            yield N_(
                "session {session} cannot have rounds {first} to {until}: the movement has rounds 1 to {last}",
                session=session.name,
                first=session.first_round,
                until=session.last_round,
                last=last,
            )
        of.update(range(session.first_round, session.last_round + 1))
    if plan.sessions:
        yield from (
            N_("round {round} is in no session", round=round_) for round_ in range(1, last + 1) if not of[round_]
        )
    yield from (
        N_("round {round} is in two sessions", round=round_) for round_, count in sorted(of.items()) if count > 1
    )


def duplicates(named: Iterable[T]) -> Iterable[T]:
    """Return the values that occur more than once."""
    return (value for value, count in Counter(named).items() if count > 1)


def save_event(folder: Path, plan: Plan, deals: Iterable[DealRecord], registry: Registry) -> None:
    """Write an event's folder. Its secret files are readable by their owner only."""
    make_folder(folder)
    write_plan(folder, plan)
    write_deals(folder, deals)
    write_registry(folder, registry)


def write_plan(folder: Path, plan: Plan) -> None:
    """Write `event.toml` and `movement.csv`, each atomically and with its present file mode. Raises OSError."""
    movement, rest = folder / MOVEMENT, msgspec.to_builtins(replace(plan, plays=()))
    del rest["plays"]
    if plan.plays:
        _write(movement, movement_csv(plan.plays))
    else:
        movement.unlink(missing_ok=True)
    _write(folder / EVENT, tomli_w.dumps(rest))


def _write(path: Path, text: str) -> None:
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else PRIVATE
    write_file(path, text.encode(), mode, exactly=True)


def read_plan(folder: Path) -> Plan:
    """Read a plan without checking that it can be played. Raises BadEvent.

    The plays are in `movement.csv`, or in older events in `event.toml`.
    """
    plan = read_file(folder / EVENT, _decode_plan)
    path = folder / MOVEMENT
    if not path.exists():
        return plan
    try:
        plays, _, problems = decode_movement(path.read_bytes(), BookedPlay)
    except OSError as error:
        unreadable = RuleError("malformed", N_("{where}: {problem}", where=MOVEMENT, problem=reason(error)))
        raise BadEvent.of(unreadable) from None
    wrong = [
        RuleError(
            problem.code, N_("{file}, line {line}: {problem}", file=MOVEMENT, line=problem.line, problem=problem.text)
        )
        for problem in problems[:MOST_PROBLEMS]
    ]
    if plan.plays:
        both = N_("{file} and {other} both hold plays: remove those that do not count", file=MOVEMENT, other=EVENT)
        wrong.append(RuleError("plays_twice", both))
    if wrong:
        raise BadEvent.of(*wrong)
    return replace(plan, plays=tuple(plays))


def _decode_plan(content: bytes) -> Plan:
    """Decode `event.toml`. Unknown fields of a session are refused here, although messages may contain them."""
    plan = msgspec.toml.decode(content, type=Plan)
    for row in tomllib.loads(content.decode())["sessions"] if plan.sessions else ():
        if unknown := row.keys() - {*Session.__struct_fields__}:
            raise msgspec.ValidationError(f"Object contains unknown field `{min(unknown)}` - at `$.sessions`")
    return plan


SessionKey = tuple[int, int]
"""Table and round of a riichi session."""


def riichi_problems(
    booked: Iterable[RiichiBooking],
    known: Iterable[PlayerId],
    tables_with_plays: Iterable[int],
    rules_of: Callable[[str], RiichiProfile],
) -> Iterable[RuleError]:
    """Yield every problem with the riichi sessions of a plan. `rules_of` returns a profile by its id."""
    players, taken, with_plays = set(known), set[SessionKey](), set(tables_with_plays)
    for booking in booked:
        where = f"riichi in round {booking.round} at table {booking.table}"
        if booking.table in with_plays:
            yield RuleError(
                "riichi_misplanned", N_("{where}: the table has plays with carriers in this event", where=where)
            )
        if (booking.table, booking.round) in taken:
            yield RuleError("riichi_misplanned", N_("{where}: it is listed twice", where=where))
        taken.add((booking.table, booking.round))
        if set(booking.players) != set(SEATS) or len(set(booking.players.values())) < len(SEATS):
            yield RuleError("riichi_misplanned", N_("{where}: it needs four players, one a seat", where=where))
        for player in set(booking.players.values()) - players:
            yield RuleError(
                "player_not_listed", N_("{where}: player {who} is not in the player list", where=where, who=player)
            )
        try:
            rules_of(booking.profile)
        except RuleError as error:
            yield RuleError(error.code, N_("{where}: {problem}", where=where, problem=error.text))


MINUTE_MS: Final = 60_000
ASSUMED_MS: Final = 25 * MINUTE_MS
"""Length of a play if none has been measured and the plan does not give it."""


class SeatingPlace(NamedTuple):
    """One player's seat in one round. `session` contains the round; None if the plan has no sessions."""

    round: int
    table: int
    seat: Seat
    session: Session | None


class TableOfRound(NamedTuple):
    """The players at one table in one round."""

    round: int
    table: int
    players: Mapping[Seat, PlayerId]


def seating_of(plan: Plan) -> Mapping[PlayerId, tuple[SeatingPlace, ...]]:
    """Return each player's seats by round, including riichi sessions; empty for a player without any."""
    found: dict[PlayerId, list[SeatingPlace]] = {player.id: [] for player in plan.players}
    sessions = _sessions_by_round(plan)
    for sitting in tables_of_rounds(plan):
        for seat, player in sitting.players.items():
            found[player].append(SeatingPlace(sitting.round, sitting.table, seat, sessions.get(sitting.round)))
    return {player: tuple(places) for player, places in found.items()}


def places_of(plan: Plan, player: PlayerId) -> tuple[SeatingPlace, ...]:
    """Return one player's seats by round, without computing those of all other players."""
    sessions = _sessions_by_round(plan)
    return tuple(
        sorted(
            SeatingPlace(booking.round, booking.table, seat, sessions.get(booking.round))
            for booking in _booked(plan)
            for seat, sitting in booking.players.items()
            if sitting == player
        )
    )


def _booked(plan: Plan) -> tuple[BookedPlay | RiichiBooking, ...]:
    return (*plan.plays, *plan.riichi)


def _sessions_by_round(plan: Plan) -> Mapping[int, Session]:
    return {
        round_: session for session in plan.sessions for round_ in range(session.first_round, session.last_round + 1)
    }


def tables_of_rounds(plan: Plan) -> list[TableOfRound]:
    """Return all tables of all rounds, in order, including riichi sessions."""
    listed = [TableOfRound(booking.round, booking.table, booking.players) for booking in _booked(plan)]
    return sorted(listed, key=lambda booking: (booking.round, booking.table))


def seating_rounds(plan: Plan) -> tuple[int, ...]:
    """Return the rounds in which something is played, including riichi sessions."""
    return tuple(sorted({sitting.round for sitting in tables_of_rounds(plan)}))


def by_round(places: Iterable[SeatingPlace]) -> Mapping[int, SeatingPlace]:
    """Return seats by round."""
    return {place.round: place for place in places}
