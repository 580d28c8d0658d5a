"""The plan of an event, `event.toml`: its structure, what can be wrong with it, and how it is read and written.

A plan may have many thousand plays, for which a TOML reader needs half a minute on a Raspberry Pi. Plays written the
way this program writes them are read by a regular expression; anything else (edited by hand, with comments, or wrong)
is left to the TOML reader, so its error messages stay the same.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
import tomli_w
from msgspec import Meta, Struct
from msgspec.structs import replace

from broker.event.files import DealRecord, OwnRules, Registry, read_file, write_deals, write_registry
from broker.event.movement import check_movement, check_teams
from broker.files import write_private
from broker.i18n import N_
from broker.output import EVENT
from broker.protocol import (
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
from broker.rules import RuleError
from broker.rules.riichi import RiichiProfile

P = TypeVar("P")

MakePlay = Callable[[int, int, int, dict[Seat, PlayerId]], P]
"""Makes a play of its round, table, deal and players."""

PLAYS: Final = "plays"

# No number and no player matches here that `Booking` would refuse.
PLAY: Final = re.compile(
    r"\[\[plays\]\]\nround = ([1-9][0-9]{0,2})\ntable = ([1-9][0-9]{0,3})\ndeal = ([1-9][0-9]{0,3})\n\n"
    r"\[plays\.players\]\n" + "".join(rf'{seat} = "([A-Za-z0-9_-]{{1,32}})"\n' for seat in SEATS) + r"(?:\n|\Z)"
)

FIRST_PLAY: Final = re.compile(r"^\[\[plays\]\]$", re.MULTILINE)

TABLE_HEADER: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*\[")
"""The first line that says something, after blank lines and comments, begins a table."""


def decode_plays(content: bytes, make: MakePlay[P]) -> tuple[dict[str, Any], list[P]]:
    """Read a plan: all that it says but for its first plays, and these. Raises msgspec.DecodeError, UnicodeDecodeError.

    Where none could be read quickly the list is empty, and everything is in the first part.
    """
    text = content.decode()
    begin = FIRST_PLAY.search(text)
    if begin is not None:
        plays, end = _read_run(text, begin.start(), make)
        if plays and (rest := _without(text[: begin.start()], text[end:])) is not None:
            return rest, plays
    try:
        return tomllib.loads(text), []
    except tomllib.TOMLDecodeError as error:
        raise msgspec.DecodeError(str(error)) from None


def _read_run(text: str, begin: int, make: MakePlay[P]) -> tuple[list[P], int]:
    """Read plays, one right after the other; give them, and where the first stands that is written otherwise."""
    plays, end = list[P](), begin
    names: dict[str, str] = {}
    fours: dict[tuple[str, ...], dict[Seat, PlayerId]] = {}
    while found := PLAY.match(text, end):
        end = found.end()
        round_, table, deal, *players = found.groups()
        four = fours.get(key := tuple(players))
        if four is None:
            # Each name is in memory once, and so are the four who play several deals together.
            four = fours[key] = {seat: names.setdefault(one, one) for seat, one in zip(SEATS, players, strict=True)}
        plays.append(make(int(round_), int(table), int(deal), four))
    return plays, end


def _without(head: str, tail: str) -> dict[str, Any] | None:
    """Read what stands before and after a run of plays; None where the two cannot be read apart from it.

    They can where each is TOML by itself, the second begins with a table's header, and no table is in both.
    """
    if tail and not TABLE_HEADER.match(tail):
        return None
    try:
        before, after = tomllib.loads(head), tomllib.loads(tail)
    except tomllib.TOMLDecodeError:
        return None
    if PLAYS in before or before.keys() & after.keys() or not isinstance(after.get(PLAYS, []), list):
        return None
    return before | after


LARGEST_TEAM: Final = 99

T = TypeVar("T")


class BookedPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """One play of the movement."""

    round: RoundNo
    table: TableNo
    deal: DealNo
    players: dict[Seat, PlayerId]


Keying = Annotated[Literal["single", "double"], Meta(description="how many people key each paper sheet")]


class RiichiBooking(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One session: a table that deals hand after hand in this round, by a profile that ships or its own."""

    round: RoundNo
    table: TableNo
    profile: ProfileId
    players: dict[Seat, PlayerId]
    set: SetNo = 1
    """The tiles with which it is played, so that a hand can be counted from their backs."""


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """`event.toml`."""

    name: EventName
    title: Name
    profile: ProfileId
    players: tuple[Player, ...]
    plays: tuple[BookedPlay, ...] = ()
    teams: dict[Name, Annotated[tuple[PlayerId, ...], Meta(min_length=4, max_length=LARGEST_TEAM)]] = {}
    """In a team event: whose players are whose."""
    sessions: tuple[Session, ...] = ()
    riichi: tuple[RiichiBooking, ...] = ()
    keying: Keying = "single"
    public_address: PublicAddress = ""
    uncompared: Annotated[bool, Meta(description="it is meant that every deal is played at one table only")] = False


def plan_problems(plan: Plan, deals: Mapping[int, DealRecord], rules: OwnRules) -> Iterable[RuleError]:
    """Name everything that is wrong with a movement."""
    known = {player.id for player in plan.players}
    if len(known) != len(plan.players):
        yield RuleError("player_listed_twice", N_("a player is listed twice"))
    if not plan.plays and not plan.riichi:
        yield RuleError("no_plays", N_("no play is planned"))
    yield from riichi_problems(plan.riichi, known, (play.table for play in plan.plays), rules.of_session)
    yield from (RuleError(fault.code, fault.text) for fault in check_movement(plan.plays))
    for play in plan.plays:
        if play.deal in deals and known.issuperset(play.players.values()):
            continue
        where = f"round {play.round} table {play.table}"
        for player in set(play.players.values()) - known:
            yield RuleError(
                "player_not_listed", N_("{where}: player {who} is not in the list", where=where, who=player)
            )
        if play.deal not in deals:
            yield RuleError("deal_unknown", N_("{where}: there is no deal {deal}", where=where, deal=play.deal))
    yield from _team_problems(plan)
    yield from session_problems(plan)
    for table, round_ in duplicates((play.table, play.round) for play in plan.plays):
        yield RuleError(
            "two_plays_at_once", N_("table {table} has two plays in round {round}", table=table, round=round_)
        )


def _team_problems(plan: Plan) -> Iterable[RuleError]:
    """Name what keeps a team event from being scored: one member of each team at each wind of each deal (MIL)."""
    if not plan.teams:
        return
    known, members = {player.id for player in plan.players}, [one for team in plan.teams.values() for one in team]
    for one in sorted(set(members) - known):
        yield RuleError("player_not_listed", N_("player {who} of a team is not in the list", who=one))
    for one in duplicates(members):
        yield RuleError("player_in_two_teams", N_("player {who} is in two teams, or twice in one", who=one))
    if loose := sorted(known - set(members)):
        yield RuleError(
            "teams_do_not_fit",
            N_("{count} players are in no team: {names}", count=len(loose), names=", ".join(loose[:5])),
        )
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


def duplicates(named: Iterable[T]) -> Iterable[T]:
    """Return everything that is named more than once."""
    return (one for one, count in Counter(named).items() if count > 1)


def save_event(folder: Path, plan: Plan, deals: Iterable[DealRecord], registry: Registry) -> None:
    """Write an event's folder; what is secret is readable by its owner alone."""
    folder.mkdir(parents=True, exist_ok=True)
    write_private(folder / EVENT, tomli_w.dumps(msgspec.to_builtins(plan)).encode())
    write_deals(folder, deals)
    write_registry(folder, registry)


def read_plan(folder: Path) -> Plan:
    """Read `event.toml`, as it is written: whether it can be played is not asked. Raises BadEvent."""
    return read_file(folder / EVENT, decode_plan, Plan)


def decode_plan(content: bytes, type: type[Plan] = Plan) -> Plan:  # noqa: A002 - as msgspec's decoders have it
    """Return the plan in an `event.toml`. Raises msgspec.DecodeError, UnicodeDecodeError."""
    rest, plays = decode_plays(content, BookedPlay)
    try:
        plan = msgspec.convert(rest, type, str_keys=True)
    except msgspec.ValidationError:
        return msgspec.toml.decode(content, type=type)  # says which play is wrong, counted from the first of the file
    return replace(plan, plays=(*plays, *plan.plays))


SessionKey = tuple[int, int]
"""Table and round."""


def riichi_problems(
    booked: Iterable[RiichiBooking],
    known: Iterable[PlayerId],
    tables_with_plays: Iterable[int],
    rules_of: Callable[[str], RiichiProfile],
) -> Iterable[RuleError]:
    """Name everything that is wrong with the sessions of a plan. `rules_of` gives a profile by its id."""
    players, taken, with_plays = set(known), set[SessionKey](), set(tables_with_plays)
    for one in booked:
        where = f"riichi in round {one.round} at table {one.table}"
        if one.table in with_plays:
            yield RuleError(
                "riichi_misplanned", N_("{where}: the table has plays with carriers in this event", where=where)
            )
        if (one.table, one.round) in taken:
            yield RuleError("riichi_misplanned", N_("{where}: it is listed twice", where=where))
        taken.add((one.table, one.round))
        if set(one.players) != set(SEATS) or len(set(one.players.values())) < len(SEATS):
            yield RuleError("riichi_misplanned", N_("{where}: it needs four players, one a seat", where=where))
        for player in set(one.players.values()) - players:
            yield RuleError(
                "player_not_listed", N_("{where}: player {who} is not in the list", where=where, who=player)
            )
        try:
            rules_of(one.profile)
        except RuleError as error:
            yield RuleError(error.code, N_("{where}: {problem}", where=where, problem=error.text))


MINUTE_MS: Final = 60_000
ASSUMED_MS: Final = 25 * MINUTE_MS
"""Where nothing was measured and the plan says nothing."""
