"""Set an event up step by step: each step takes what somebody sent, and changes its folder or refuses.

The steps are name and rules, players, movement, sessions with their clocks, deals and tile sets. Nobody is
shown a face.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from broker.errors import BadEvent, RuleError, raise_errors, reason
from broker.event.deals import COMMITMENT, Draw, draw, make, resolve_event_name, sealing, tile_sets
from broker.event.earlier import DETAILS, Earlier, EarlierLine, EarlierPlace, Kind, going_on, match, seeded_names
from broker.event.files import DEALS, PROFILE, SETS, read_own_rules, read_registry
from broker.event.halls import Hall, keep_halls, read_halls
from broker.event.movement import KeepSearching, MovementProblem, NamedPlay, check_movement, files, usual_copies
from broker.event.movement.summary import MovementForecast, minutes_a_play
from broker.event.plan import Plan, read_plan, write_plan
from broker.event.players import ListedPlayer, hall_of_each, players_csv, read_players, read_saved_players, teams_of
from broker.event.stages import parted_plays, read_part
from broker.event.structure import (
    HallOrder,
    Structure,
    for_seconds,
    forecast,
    hall_orders,
    plan_in_halls,
    seeded,
    structured_plan,
)
from broker.files import EVENT, MOVEMENT, PLAYERS, PRIVATE_FOLDER, make_folder, write_private
from broker.i18n import N_
from broker.protocol import SEATS, EventName, PublicAddress, Session
from broker.read_ahead import STORE, has_started
from broker.rules import DEFAULT_MCR, counts_red_fives, load_rules, parse_own_rules
from broker.spreadsheet import csv_text, sent_content

T = TypeVar("T")

SEARCH_S: Final = 8.0
"""How long a page waits for a movement; the command searches as long as it is told."""

MOST_ROUNDS: Final = 100
LONGEST_TITLE: Final = 100

EMPTY_PLAN: Final = Plan(name="new", title="?", profile="oedmc-2020", players=())


def plan_of(folder: Path) -> Plan | None:
    """Return the plan as far as it is made; None before the first step. Raises BadEvent."""
    return read_plan(folder) if (folder / EVENT).exists() else None


def may_change(folder: Path) -> Plan | None:
    """Return the plan that may be changed. Raises RuleError `event_started`, BadEvent."""
    if has_started(folder):
        raise RuleError(
            "event_started",
            f"a scorer has been started here ({STORE}): what it stores belongs to the plan that is there",
        )
    return plan_of(folder)


class EventDetails(NamedTuple):
    """What an organiser types before anything else."""

    name: str = ""
    title: str = ""
    profile: str = DEFAULT_MCR
    keying: str = "single"
    """Of paper sheets."""
    public_address: str = ""
    prizes: str = ""
    """A line each, from the first place on."""
    rules: str = ""
    """The text of a profile of the event's own."""
    keep_plays: str = ""
    """Whether tables offer to read rivers after a play: anything is yes."""


def head_of(plan: Plan) -> EventDetails:
    """Return what was typed, but for own rules."""
    head = EventDetails(plan.name, plan.title, plan.profile, plan.keying, plan.public_address, "\n".join(plan.prizes))
    return head._replace(keep_plays="yes" if plan.keep_plays else "")


def take_head(folder: Path, typed: EventDetails) -> None:
    """Settle name, title and rules.

    Raises RuleError `event_started`, `event_name_wrong`, `title_wrong`, `malformed`, `bad_profile`, `unknown_profile`,
    `public_address_wrong`, `other_event`; BadEvent.
    """
    before = may_change(folder)
    text = typed.rules.replace("\r\n", "\n").strip()
    head = {
        "name": _event_name(typed.name.strip()),
        "title": " ".join(typed.title.split()),
        "profile": parse_own_rules(text).id if text else load_rules(typed.profile.strip()).id,
        "keying": typed.keying,
    }
    if not (1 <= len(head["title"]) <= LONGEST_TITLE and head["title"].isprintable()):
        raise RuleError("title_wrong", N_("the title must have 1 to 100 printable characters"))
    head["public_address"] = read_public(typed.public_address)
    by_place = [" ".join(line.split()) for line in typed.prizes.splitlines() if line.strip()]
    plan = _converted(
        {**msgspec.to_builtins(before or EMPTY_PLAN), **head, "prizes": by_place, "keep_plays": bool(typed.keep_plays)},
        Plan,
    )
    if (folder / COMMITMENT).exists():
        resolve_event_name(folder, head["name"])
    make_folder(folder, PRIVATE_FOLDER)
    if text:
        write_private(folder / PROFILE, f"{text}\n".encode())
    else:
        (folder / PROFILE).unlink(missing_ok=True)
    write_plan(folder, plan)


def _event_name(typed: str) -> str:
    try:
        return msgspec.convert(typed, EventName)
    except msgspec.ValidationError:
        text = N_(
            "{name} is not a valid event name: use up to 32 lower-case letters, digits and hyphens, such as cup-2026",
            name=repr(typed[:40]),
        )
        raise RuleError("event_name_wrong", text) from None


def read_public(typed: str) -> str:
    """Read the address under which the desk is made known; empty: none. Raises RuleError `public_address_wrong`."""
    address = typed.strip().rstrip("/")
    try:
        return msgspec.convert(address, PublicAddress)
    except msgspec.ValidationError:
        text = f"{address[:80]!r} is no address such as https://results.example.org: http or https, a host, no query"
        raise RuleError("public_address_wrong", text) from None


def player_list_of(text: str) -> tuple[ListedPlayer, ...]:
    """Read a list of players. Raises as `read_players`, `not_text`."""
    return from_file(text, "players.csv", read_players)


def take_players(folder: Path, text: str, *, movement_anew: bool = False) -> int:
    """Put a list of players in place of what is there; return how many. Raises as `listed`; `head_missing`.

    Where somebody who has plays is in it no longer, `players_have_plays`; or `movement_anew`, and the movement goes.
    """
    plan = settled(folder)
    players = player_list_of(text)
    missing = {id_ for play in parted_plays(plan)[0] for id_ in play.players.values()} - {
        one.player.id for one in players
    }
    if missing and not movement_anew:
        names = ", ".join(sorted(missing)[:5]) + (" ..." if len(missing) > 5 else "")  # noqa: PLR2004 - to be read
        why = N_(
            "players who are already seated and not in this list, {count}: {names}", count=len(missing), names=names
        )
        raise RuleError("players_have_plays", why)
    write_private(folder / PLAYERS, players_csv(players).encode())
    if missing:
        plan = replace(plan, plays=(), uncompared=False)
        keep_halls(folder, ())
    write_plan(folder, replace(plan, players=tuple(one.player for one in players), teams=teams_of(players)))
    return len(players)


class EarlierDraft(NamedTuple):
    """Earlier standings, as this event would begin from them."""

    earlier: Earlier
    players: tuple[ListedPlayer, ...]
    """The list as it would be, the best first; nothing where it stays."""
    unknown: tuple[str, ...]
    """Who was ranked and does not play here."""


class EarlierWish(NamedTuple):
    """From which standings an event is to begin. `first`: so many go on, the others are off the list; 0: all.

    Without a title that of the file is taken.
    """

    lines: Sequence[EarlierLine]
    title: str
    part: str = ""
    first: int = 0


def draft_earlier(folder: Path, wish: EarlierWish) -> EarlierDraft:
    """Return how the event of a folder would begin from earlier standings. Raises as `settled`, `earlier_draft`."""
    plan = settled(folder)
    return earlier_draft(plan, tuple(read_saved_players(folder, plan)), wish)


def earlier_draft(plan: Plan, listed: Sequence[ListedPlayer], wish: EarlierWish) -> EarlierDraft:
    """Return how an event would begin from earlier standings; the list is made of them if there is none yet.

    Until there is a movement the list is put in the order of the places, by which sections and seats are filled.
    Raises RuleError `title_wrong`, `part_wrong`, `cut_tied`, `bad_previous`.
    """
    said = wish.title or next((line.event for line in wish.lines if line.event), "")
    title, part = " ".join(said.split()), wish.part.strip()
    if not (1 <= len(title) <= LONGEST_TITLE and title.isprintable()):
        raise RuleError("title_wrong", N_("the title must have 1 to 100 printable characters"))
    if part:
        read_part(part)
    all_of_them, chosen = tuple(wish.lines), going_on(wish.lines, wish.first)
    kind: Kind = "team" if any(line.team for line in chosen) else "individual"
    people = [(one.called, *one.details.values(), line.team or "") for line in chosen for one in line.people]
    if not listed and people:
        listed = player_list_of(csv_text(("name", *DETAILS, "team"), people))
        if kind == "individual":  # the list is in their order: namesakes are told apart by the ids that it gives
            chosen = tuple(replace(line, player=one.player.id) for line, one in zip(chosen, listed, strict=True))
        all_of_them = chosen
    teams = teams_of(listed)
    here = {team: team for team in teams} if kind == "team" else {one.player.id: one.player.name for one in listed}
    found = match(chosen, kind, here)
    if not found.places:
        raise RuleError("bad_previous", N_("nobody in these standings plays here: the names differ"))
    cut = {one.name for one in match(all_of_them, kind, here).places} - {one.name for one in found.places}
    order = seeded_names([name for name in here if name not in cut], found.places)
    if kind == "team":
        order = [player for team in order for player in teams[team]]
    of = {one.player.id: one for one in listed}
    players = () if plan.plays else tuple(of[id_] for id_ in order)
    none: tuple[EarlierPlace, ...] = ()
    of_players, of_teams = (none, found.places) if kind == "team" else (found.places, none)
    return EarlierDraft(Earlier(title, part, of_players, of_teams), players, found.unknown)


def take_earlier(folder: Path, draft: EarlierDraft | None) -> None:
    """Begin from earlier standings, or (None) from nothing. Raises as `settled`."""
    plan = settled(folder)
    if draft is None:
        write_plan(folder, replace(plan, earlier=UNSET))
        return
    if draft.players:
        write_private(folder / PLAYERS, players_csv(draft.players).encode())
        listed = tuple(one.player for one in draft.players)
        plan = replace(plan, players=listed, teams=teams_of(draft.players))
    write_plan(folder, replace(plan, earlier=draft.earlier))


@dataclass(frozen=True, slots=True)
class MovementDraft:
    """A movement that was made or sent, and what is wrong with it."""

    plays: tuple[NamedPlay, ...]
    problems: tuple[MovementProblem, ...] = ()


def movement_of(text: str) -> MovementDraft:
    """Read a movement (CSV) and check it. Raises RuleError `too_large`, `not_text`."""
    found = from_file(text, MOVEMENT, files.read_movement)
    faults = (
        MovementProblem(fault.code, fault.text, found.lines[fault.at[-1]])
        for fault in check_movement(found.plays, usual_copies(found.plays))
    )
    problems = sorted((*found.problems, *faults), key=lambda problem: problem.line)
    return MovementDraft(found.plays, tuple(problems))


class StagesDraft(NamedTuple):
    """A movement that was made, in stages or halls if that was wished, and the plan for which it was."""

    of: Plan
    plan: Plan
    halls: tuple[Hall, ...] = ()


def draft_stages(folder: Path, wish: Structure, tell: Callable[[float], object] = lambda _over: None) -> StagesDraft:
    """Make a movement for the players of the folder; nothing is kept. `tell`: is told which part of the time is over.

    Raises RuleError `head_missing`, `event_started`, and as `structured_plan`, `plan_in_halls`.
    """
    of = settled(folder)
    if wish.hall_of is None:
        return StagesDraft(of, structured_plan(of, wish, seeded(), _searches(SEARCH_S, 1 + bool(wish.final), tell)))
    halls = len({*wish.hall_of.values()})
    return StagesDraft(of, *plan_in_halls(of, wish, seeded(), _searches(SEARCH_S / halls, halls, tell)))


def _searches(seconds: float, times: int, tell: Callable[[float], object]) -> Callable[[], KeepSearching]:
    """Return what begins a search, so many times."""
    begun = count()

    def begin() -> KeepSearching:
        before, began, go_on = next(begun), thread_time(), for_seconds(seconds)

        def goes_on() -> bool:
            tell((before + min(1, (thread_time() - began) / seconds)) / times)
            return go_on()

        return goes_on

    return begin


def take_stages(folder: Path, draft: StagesDraft) -> int:
    """Keep a movement that was made, and which halls there are; return how many plays.

    Raises RuleError `setup_changed` where the plan has others to seat, or another movement, by now.
    """
    plan, made = settled(folder), draft.plan
    if any(getattr(plan, part) != getattr(draft.of, part) for part in ("players", "teams", "plays")):
        raise RuleError("setup_changed", N_("the players or the movement: this one was made before, and is not kept"))
    files.refuse_missing_deals(folder, {play.deal for play in made.plays})
    keep_halls(folder, draft.halls)
    write_plan(folder, replace(plan, plays=made.plays, stages=made.stages, copies=made.copies, uncompared=False))
    return len(made.plays)


def with_halls(folder: Path, wish: Structure, column: str) -> Structure:
    """Return a wish by which everybody plays in the hall of their `club` or `country`, as the list of players has it.

    Raises RuleError `head_missing`, `event_started`.
    """
    return wish._replace(hall_of=hall_of_each(read_saved_players(folder, settled(folder)), column))


def forecast_structure(folder: Path, wish: Structure) -> tuple[MovementForecast, list[HallOrder]]:
    """Return what would result, in each section or all halls, and the halls: nothing is kept. Raises as `forecast`."""
    plan = settled(folder)
    return forecast(plan, wish, minutes_a_play(plan)), hall_orders(plan, wish)


def take_uncompared(folder: Path) -> None:
    """Keep that it is meant that nobody is compared. Raises RuleError `event_started`, `head_missing`."""
    write_plan(folder, replace(settled(folder), uncompared=True))


def take_movement(folder: Path, movement: MovementDraft) -> int:
    """Put a movement into the plan; return how many plays. Raises RuleError of its first problem, `deal_unknown`.

    That nobody is compared, where it was said to be meant, was said of the movement before and holds no more.
    """
    settled(folder)
    for problem in movement.problems:
        raise RuleError(problem.code, N_("line {line}: {problem}", line=problem.line, problem=problem.text))
    return files.write_movement_to_event(folder, movement.plays, force=True)


def take_sessions(folder: Path, rows: Iterable[dict[str, str]]) -> int:
    """Put sessions and their clocks into the plan; empty rows are none. Raises RuleError `malformed`."""
    plan = settled(folder)
    sessions = read_sessions(rows)
    write_plan(folder, replace(plan, sessions=sessions))
    return len(sessions)


def settled(folder: Path) -> Plan:
    """Return the plan of an event that has a name and has not begun.

    Raises RuleError `head_missing`, `event_started`.
    """
    plan = may_change(folder)
    if plan is None:
        raise RuleError("head_missing", "the event has no name yet: begin with name, title and rules")
    return plan


def _converted(said: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(said, kind)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", reason(error)) from None


def from_file(text: str, name: str, reader: Callable[[Path], T]) -> T:
    """Read what was sent as the commands read a file, so that both refuse alike."""
    with TemporaryDirectory() as beside:
        path = Path(beside) / name
        path.write_bytes(sent_content(text))
        return reader(path)


HASH: Final = re.compile("[0-9a-f]{64}")

MOST_SESSIONS: Final = 8
SESSION_FIELDS: Final = ("name", "first_round", "last_round", "starts", "play_minutes")
MOST_DIGITS: Final = 3


def session_rows(sessions: Iterable[Session]) -> list[dict[str, str]]:
    """Return sessions as the fields of a form."""
    return [{field: str(getattr(session, field) or "") for field in SESSION_FIELDS} for session in sessions]


def typed_session_rows(form: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the rows of a form: fields are called `name-1`, `starts-2` and so on."""
    return [{field: form.get(f"{field}-{at}", "") for field in SESSION_FIELDS} for at in range(1, MOST_SESSIONS + 1)]


def read_sessions(rows: Iterable[Mapping[str, str]]) -> tuple[Session, ...]:
    """Read sessions; empty rows are none. Raises RuleError `malformed`."""
    return tuple(_session(row, at) for at, row in enumerate(rows, 1) if any(text.strip() for text in row.values()))


def _session(row: Mapping[str, str], at: int) -> Session:
    said: dict[str, object] = {"name": " ".join(row["name"].split())}
    if not said["name"]:
        raise RuleError(
            "malformed",
            N_("session {session} has no name: enter one, or empty its other fields to remove it", session=at),
        )
    for field in ("first_round", "last_round", "play_minutes"):
        text = row.get(field, "").strip()
        if text:
            said[field] = int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else text
    if starts := row.get("starts", "").strip():
        said["starts"] = starts
    try:
        made = msgspec.convert(said, Session)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", N_("session {session}: {problem}", session=at, problem=reason(error))) from None
    if made.last_round < made.first_round:
        raise RuleError(
            "malformed",
            N_("session {session} ends (round {last}) before it begins", session=at, last=made.last_round),
        )
    return made


def rows_to_fill(sessions: Iterable[Session], typed: Mapping[str, str] | None = None) -> list[dict[str, str]]:
    """Return the rows of a form: of these sessions, or as they were typed; two empty ones more where there is room."""
    rows = session_rows(sessions) if typed is None else typed_session_rows(typed)
    while rows and not any(rows[-1].values()):
        rows.pop()
    return [*rows, *(dict.fromkeys(SESSION_FIELDS, "") for _ in range(min(2, MOST_SESSIONS - len(rows))))]


TAKEN_OUT: Final = "taken-out"
"""Before the name of what was taken out: something may have been laid or printed by it."""


def _deals_to_make(folder: Path) -> tuple[Plan, int, bool]:
    """Return the plan, how many deals its movement needs, and whether its rules count red fives: deals have them then.

    Raises RuleError `no_plays`, `deals_exist`, `draw_open`, and as `settled`.
    """
    plan = settled(folder)
    if not plan.plays:
        raise RuleError("no_plays", N_("make the movement first: it determines the number of deals"))
    make.refuse_existing_deals(folder)
    red = counts_red_fives(read_own_rules(folder, ()).of_plays(plan.profile))
    return plan, max(play.deal for play in plan.plays), red


def announce_planned_draw(folder: Path, people: Iterable[tuple[str, str]], beacon: tuple[str, str] = ("", "")) -> Draw:
    """Announce the draw of the movement's deals; `people`: names and hashes, `beacon`: source and round, or nothing.

    Raises RuleError `malformed`, and as `make_deals` and `draw.announce_draw`.
    """
    plan, last, red = _deals_to_make(folder)
    listed = [{"name": name.strip(), "words": words.strip().lower()} for name, words in people]
    raise_errors(_of_contributor(one["name"]) for one in listed if not (one["name"] and HASH.fullmatch(one["words"])))
    value = {"source": beacon[0].strip(), "round": beacon[1].strip()} if any(beacon) else None
    if value and not all(value.values()):
        raise RuleError("malformed", N_("enter both where the public value will be read, and which one it is"))
    wished = {"event": plan.name, "deals": last, "people": listed, "beacon": value, "red_fives": red}
    return draw.announce_draw(
        folder, _converted({**wished, "prevalent_winds": make.DEFAULT_WINDS, "dealers": SEATS}, draw.DrawRequest)
    )


def _of_contributor(name: str) -> RuleError:
    """Return what is wrong with one who gives words."""
    if not name:
        return RuleError("malformed", N_("there is a hash without the name of who handed it in"))
    text = N_("{person}: the hash of the words must have 64 digits from 0 to 9 and a to f", person=name)
    return RuleError("malformed", text)


def seal_deals(folder: Path) -> int:
    """Seal the deals and sets of a folder; return how many. Raises RuleError `no_deals`, and as `settled`."""
    settled(folder)
    if not deals_made(folder):
        raise RuleError("no_deals", N_("there are no deals to seal"))
    return sealing.seal_folder(folder)


def make_deals(folder: Path) -> str:
    """Mix the deals of the movement, and the sets that they lack; return the root of the commitment.

    Raises RuleError `no_plays`, `deals_exist` and the like.
    """
    plan, last, red = _deals_to_make(folder)
    chance = secrets.SystemRandom()
    deals = make.salt_deals(
        make.mix_deals(last, make.DEFAULT_WINDS, SEATS, make.allot_sets(plan.plays), chance, red=red)
    )
    known = read_registry(folder) if (folder / SETS).exists() else {}
    tile_sets.add_sets(folder, tile_sets.mix_sets({deal.set for deal in deals} - set(known), chance, red=red))
    return make.save_deals(folder, plan.name, deals)


def take_deals(folder: Path, text: str) -> str:
    """Put deals of one's own in (CSV, as `homologue deal import` reads it); return the root of the commitment.

    Raises RuleError as `make_deals`, or an ExceptionGroup of them that name the lines.
    """
    plan = settled(folder)
    make.refuse_existing_deals(folder)
    return make.save_deals(folder, plan.name, make.salt_deals(from_file(text, "deals.csv", make.read_deal_list)))


def take_sets(folder: Path, text: str) -> int:
    """Put sets in whose tiles have numbers already (CSV: set, serial, face); return how many.

    Raises RuleError `event_started`, or an ExceptionGroup of `set_exists` and those that name the lines.
    """
    settled(folder)
    brought = from_file(text, "sets.csv", lambda path: tile_sets.read_sets(path, None))
    tile_sets.add_sets(folder, brought)
    return len(brought)


def take_out(folder: Path) -> None:
    """Take the deals and their commitment out, so that others can be made. The files stay, under other names.

    Where it is cut short, it is asked for again. Raises RuleError `event_started`, `no_deals`.
    """
    settled(folder)
    there = [folder / name for name in (DEALS, COMMITMENT, draw.WORDS) if (folder / name).exists()]
    if not there:
        raise RuleError("no_deals", "there are no deals to take out")
    number = 1 + len([*folder.glob(f"{TAKEN_OUT}-*")])
    for path in there:
        path.rename(path.with_name(f"{TAKEN_OUT}-{number}-{path.name}"))


def deals_made(folder: Path) -> bool:
    """Return whether there are deals."""
    return (folder / DEALS).exists()


def halls_kept(folder: Path) -> tuple[Hall, ...]:
    """Return the halls of the event; none where it is in one place, or what is kept of them cannot be read."""
    try:
        return read_halls(folder)
    except BadEvent:
        return ()


def sets_kept(folder: Path) -> int:
    """Return how many sets have been entered; none where what is kept of them cannot be read."""
    try:
        return len(read_registry(folder)) if (folder / SETS).exists() else 0
    except (BadEvent, OSError):
        return 0
