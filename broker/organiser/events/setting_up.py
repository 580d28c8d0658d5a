"""Setting an event up step by step: each step takes what somebody sent, and changes its folder or refuses.

What has begun is not changed: what a scorer has stored belongs to the plan that was there. Every file is put in place
whole, so that a step which is cut short has done nothing.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

import msgspec
import tomli_w
from msgspec.structs import replace

from broker.contract.public_address import PublicAddress
from broker.contract.words import EventName
from broker.credentials import write_private
from broker.organiser.deals.committed import COMMITMENT, event_of
from broker.organiser.events.clocks import read_sessions
from broker.organiser.events.listed import Listed, players_csv, read_players, teams_of
from broker.organiser.movements import file as files
from broker.organiser.movements.coming import Coming, minutes_a_play, of_order
from broker.organiser.movements.command import usual_order
from broker.organiser.movements.players import fours, team_by_team
from broker.rules.errors import RuleError
from broker.rules.movement import NamedPlay, check, make, named
from broker.rules.rule_books import load, own
from broker.scorer.event import EVENT, Plan, read_plan
from broker.scorer.origins import PLAYERS
from broker.scorer.own_rules import PROFILE
from broker.store.address import STORE, started

T = TypeVar("T")

SEARCH_S: Final = 8.0
"""How long a page waits for a movement; the command searches as long as it is told."""

MOST_ROUNDS: Final = 100
NEAR: Final = 2
"""Rounds fewer and more, of which an organiser sees what comes beside what was asked for."""

LONGEST_TITLE: Final = 100

NOBODY: Final = Plan(name="new", title="?", profile="oedmc-2020", players=())


def plan_of(folder: Path) -> Plan | None:
    """Give the plan as far as it is made; None before the first step. Raises BadEvent."""
    return read_plan(folder) if (folder / EVENT).exists() else None


def may_change(folder: Path) -> Plan | None:
    """Give the plan that may be changed. Raises RuleError `event_started`, BadEvent."""
    if started(folder):
        raise RuleError(
            "event_started",
            f"a scorer has been started here ({STORE}): what it stores belongs to the plan that is there",
        )
    return plan_of(folder)


def take_head(
    folder: Path,
    name: str,
    title: str,
    profile: str,
    *,
    rules: str = "",
    keying: str = "single",
    public_address: str = "",
) -> None:
    """Settle name, title and rules; `rules`: the text of a profile of the event's own; `keying`: of paper sheets.

    Raises RuleError `event_started`, `event_name_wrong`, `title_wrong`, `malformed`, `bad_profile`, `unknown_profile`,
    `public_address_wrong`, `other_event`; BadEvent.
    """
    before = may_change(folder)
    text = rules.replace("\r\n", "\n").strip()
    profile = own(text).id if text else load(profile).id
    head = {"name": _event_name(name), "title": " ".join(title.split()), "profile": profile, "keying": keying}
    if not (1 <= len(head["title"]) <= LONGEST_TITLE and head["title"].isprintable()):
        raise RuleError("title_wrong", "a title has 1 to 100 printable characters")
    head["public_address"] = read_public(public_address)
    plan = _converted({**msgspec.to_builtins(before or NOBODY), **head}, Plan)
    if (folder / COMMITMENT).exists():
        event_of(folder, name)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if text:
        write_private(folder / PROFILE, f"{text}\n".encode())
    else:
        (folder / PROFILE).unlink(missing_ok=True)
    _write(folder, plan)


def _event_name(typed: str) -> str:
    try:
        return msgspec.convert(typed, EventName)
    except msgspec.ValidationError:
        text = f"{typed[:40]!r} is no name such as cup-2026: small letters, digits and hyphens, 32 at most"
        raise RuleError("event_name_wrong", text) from None


def read_public(typed: str) -> str:
    """Read the address under which the desk is made known; empty: none. Raises RuleError `public_address_wrong`."""
    address = typed.strip().rstrip("/")
    try:
        return msgspec.convert(address, PublicAddress)
    except msgspec.ValidationError:
        text = f"{address[:80]!r} is no address such as https://results.example.org: http or https, a host, no query"
        raise RuleError("public_address_wrong", text) from None


def listed(text: str) -> tuple[Listed, ...]:
    """Read a list of players (CSV). Raises as `read_players`, `not_utf8`."""
    return from_file(text, "players.csv", read_players)


def take_players(folder: Path, text: str, *, movement_anew: bool = False) -> int:
    """Put a list of players in the place of what is there; give how many. Raises as `listed`; `head_missing`.

    Where somebody who has plays is in it no longer, `players_have_plays`; or `movement_anew`, and the movement goes.
    """
    plan = settled(folder)
    players = listed(text)
    missing = {id_ for play in plan.plays for id_ in play.players.values()} - {one.player.id for one in players}
    if missing and not movement_anew:
        names = ", ".join(sorted(missing)[:5]) + (" ..." if len(missing) > 5 else "")  # noqa: PLR2004 - to be read
        raise RuleError("players_have_plays", f"{len(missing)} who have plays are not in this list: {names}")
    write_private(folder / PLAYERS, players_csv(players).encode())
    if missing:
        plan = replace(plan, plays=(), uncompared=False)
    _write(folder, replace(plan, players=tuple(one.player for one in players), teams=teams_of(players)))
    return len(players)


@dataclass(frozen=True, slots=True)
class Movement:
    """A movement that was made or sent, and what is wrong with it."""

    plays: tuple[NamedPlay, ...]
    problems: tuple[files.Problem, ...] = ()


def movement_of(text: str) -> Movement:
    """Read a movement (CSV) and check it. Raises RuleError `too_large`, `not_utf8`."""
    found = from_file(text, "movement.csv", files.read)
    faults = (files.Problem(fault.code, fault.text, found.lines[fault.at[-1]]) for fault in check(found.plays))
    problems = sorted((*found.problems, *faults), key=lambda problem: problem.line)
    return Movement(found.plays, tuple(problems))


def made_movement(folder: Path, rounds: int, seconds: float = SEARCH_S) -> Movement:
    """Make a movement for the players of the folder.

    Raises RuleError `head_missing`, `impossible_size`, `teams_do_not_fit`.
    """
    plan = settled(folder)
    teams, names = _who_plays(plan)
    order = usual_order(len(names), None, rounds, None, None)
    end = time.monotonic() + seconds
    plays = named(make(order, Random(0), lambda: time.monotonic() < end, in_teams=bool(teams)), names)  # noqa: S311 - no secret
    return Movement(plays)


def looked_ahead(folder: Path, rounds: int) -> dict[int, Coming]:
    """Give what would come of so many rounds, and of one and two fewer and more: nothing is made, nothing kept.

    Raises as `made_movement`.
    """
    plan = settled(folder)
    count, minutes = len(_who_plays(plan)[1]), minutes_a_play(plan)
    near = range(max(1, rounds - NEAR), min(MOST_ROUNDS, rounds + NEAR) + 1)
    return {one: of_order(usual_order(count, None, one, None, None), minutes) for one in near}


def _who_plays(plan: Plan) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Give the teams, and all players in the order in which a movement takes them."""
    teams = fours(plan.teams)
    return teams, team_by_team(teams) or [player.id for player in plan.players]


def take_uncompared(folder: Path) -> None:
    """Keep that it is meant that nobody is compared. Raises RuleError `event_started`, `head_missing`."""
    _write(folder, replace(settled(folder), uncompared=True))


def take_movement(folder: Path, movement: Movement) -> int:
    """Put a movement into the plan; give how many plays. Raises RuleError of its first problem, `deal_unknown`.

    That nobody is compared, where it was said to be meant, was said of the movement before and holds no more.
    """
    settled(folder)
    for problem in movement.problems:
        raise RuleError(problem.code, f"line {problem.line}: {problem.text}")
    return files.write_event(folder, movement.plays, force=True)


def take_sessions(folder: Path, rows: Iterable[dict[str, str]]) -> int:
    """Put sessions and their clocks into the plan; rows without a name are none. Raises RuleError `malformed`."""
    plan = settled(folder)
    sessions = read_sessions(rows)
    _write(folder, replace(plan, sessions=sessions))
    return len(sessions)


def settled(folder: Path) -> Plan:
    """Give the plan of an event that has a name and has not begun. Raises RuleError `head_missing`, `event_started`."""
    plan = may_change(folder)
    if plan is None:
        raise RuleError("head_missing", "the event has no name yet: begin with name, title and rules")
    return plan


def _converted(said: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(said, kind)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", str(error)) from None


def from_file(text: str, name: str, reader: Callable[[Path], T]) -> T:
    """Read what was sent as the commands read a file, so that both refuse alike."""
    if "\ufffd" in text:
        raise RuleError("not_utf8", f"{name} is not UTF-8: save it anew in that encoding")
    with TemporaryDirectory() as beside:
        path = Path(beside) / name
        path.write_text(text, encoding="utf-8", newline="")
        return reader(path)


def _write(folder: Path, plan: Plan) -> None:
    write_private(folder / EVENT, tomli_w.dumps(msgspec.to_builtins(plan)).encode())
