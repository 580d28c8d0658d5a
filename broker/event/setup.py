"""Set up an event step by step. Each step takes what the organiser sent, and changes the folder or raises an error.

The steps are name and rules, players, movement, sessions with their times, deals and tile sets. No step shows a face.
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
"""How long a page waits for a movement, in seconds. The command line sets its own limit."""

MOST_ROUNDS: Final = 100
LONGEST_TITLE: Final = 100

EMPTY_PLAN: Final = Plan(name="new", title="?", profile="oedmc-2020", players=())


def plan_of(folder: Path) -> Plan | None:
    """Return the plan so far; None before the first step. Raises BadEvent."""
    return read_plan(folder) if (folder / EVENT).exists() else None


def may_change(folder: Path) -> Plan | None:
    """Return the plan, as `plan_of`, if it may still be changed. Raises RuleError `event_started`, BadEvent."""
    if has_started(folder):
        raise RuleError(
            "event_started",
            f"a scorer has been started here ({STORE}): its results belong to the present plan",
        )
    return plan_of(folder)


class EventDetails(NamedTuple):
    """The first form of the set-up, as the organiser typed it."""

    name: str = ""
    title: str = ""
    profile: str = DEFAULT_MCR
    keying: str = "single"
    """How many people key each paper sheet: `single` or `double`."""
    public_address: str = ""
    prizes: str = ""
    """One prize per line, from first place on."""
    rules: str = ""
    """TOML text of the event's own rule profile; if empty, `profile` names a built-in one."""
    keep_plays: str = ""
    """Whether tables offer to read rivers after a play: any text means yes."""


def head_of(plan: Plan) -> EventDetails:
    """Return the form for an existing plan, without the text of own rules."""
    head = EventDetails(plan.name, plan.title, plan.profile, plan.keying, plan.public_address, "\n".join(plan.prizes))
    return head._replace(keep_plays="yes" if plan.keep_plays else "")


def take_head(folder: Path, typed: EventDetails) -> None:
    """Save name, title and rules.

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
    """Return the public address of the desk, or an empty text if none was typed.

    Raises RuleError `public_address_wrong`.
    """
    address = typed.strip().rstrip("/")
    try:
        return msgspec.convert(address, PublicAddress)
    except msgspec.ValidationError:
        text = f"{address[:80]!r} is not an address such as https://results.example.org (http or https, no query)"
        raise RuleError("public_address_wrong", text) from None


def player_list_of(text: str) -> tuple[ListedPlayer, ...]:
    """Read a list of players. Raises as `read_players`, `not_text`."""
    return from_file(text, "players.csv", read_players)


def take_players(folder: Path, text: str, *, movement_anew: bool = False) -> int:
    """Replace the list of players; return how many there are.

    If a seated player is missing from the new list, this raises RuleError `players_have_plays`; with `movement_anew` it
    removes the movement instead. Also raises as `player_list_of` and `settled`.
    """
    plan = settled(folder)
    players = player_list_of(text)
    missing = {id_ for play in parted_plays(plan)[0] for id_ in play.players.values()} - {
        entry.player.id for entry in players
    }
    if missing and not movement_anew:
        names = ", ".join(sorted(missing)[:5]) + (" ..." if len(missing) > 5 else "")  # noqa: PLR2004 - names shown
        why = N_(
            "players who are already seated and not in this list, {count}: {names}", count=len(missing), names=names
        )
        raise RuleError("players_have_plays", why)
    write_private(folder / PLAYERS, players_csv(players).encode())
    if missing:
        plan = replace(plan, plays=(), uncompared=False)
        keep_halls(folder, ())
    write_plan(folder, replace(plan, players=tuple(entry.player for entry in players), teams=teams_of(players)))
    return len(players)


class EarlierDraft(NamedTuple):
    """How this event would begin from earlier standings."""

    earlier: Earlier
    players: tuple[ListedPlayer, ...]
    """The new list of players, best first; empty if the list stays as it is."""
    unknown: tuple[str, ...]
    """Names of players or teams that were ranked earlier and do not play in this event."""


class EarlierWish(NamedTuple):
    """The earlier standings from which an event should begin.

    Only the `first` lines qualify, and the others are removed from the list of players; 0 means all. If `title` is
    empty, the title in the file is used.
    """

    lines: Sequence[EarlierLine]
    title: str
    part: str = ""
    first: int = 0


def draft_earlier(folder: Path, request: EarlierWish) -> EarlierDraft:
    """Return how the folder's event would begin from earlier standings. Raises as `settled`, `earlier_draft`."""
    plan = settled(folder)
    return earlier_draft(plan, tuple(read_saved_players(folder, plan)), request)


def earlier_draft(plan: Plan, listed: Sequence[ListedPlayer], request: EarlierWish) -> EarlierDraft:
    """Return how an event would begin from earlier standings.

    If there is no list of players yet, it is made from the standings. Until there is a movement, the list is sorted by
    earlier places, because sections and seats are filled in its order.
    Raises RuleError `title_wrong`, `part_wrong`, `cut_tied`, `bad_previous`.
    """
    typed = request.title or next((line.event for line in request.lines if line.event), "")
    title, part = " ".join(typed.split()), request.part.strip()
    if not (1 <= len(title) <= LONGEST_TITLE and title.isprintable()):
        raise RuleError("title_wrong", N_("the title must have 1 to 100 printable characters"))
    if part:
        read_part(part)
    all_of_them, chosen = tuple(request.lines), going_on(request.lines, request.first)
    kind: Kind = "team" if any(line.team for line in chosen) else "individual"
    people = [(who.called, *who.details.values(), line.team or "") for line in chosen for who in line.people]
    if not listed and people:
        listed = player_list_of(csv_text(("name", *DETAILS, "team"), people))
        if kind == "individual":  # same order: the generated ids distinguish players of one name
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
    by_id = {entry.player.id: entry for entry in listed}
    players = () if plan.plays else tuple(by_id[id_] for id_ in order)
    none: tuple[EarlierPlace, ...] = ()
    of_players, of_teams = (none, found.places) if kind == "team" else (found.places, none)
    return EarlierDraft(Earlier(title, part, of_players, of_teams), players, found.unknown)


def take_earlier(folder: Path, draft: EarlierDraft | None) -> None:
    """Save the earlier standings from which the event begins, or remove them (None). Raises as `settled`."""
    plan = settled(folder)
    if draft is None:
        write_plan(folder, replace(plan, earlier=UNSET))
        return
    if draft.players:
        write_private(folder / PLAYERS, players_csv(draft.players).encode())
        listed = tuple(entry.player for entry in draft.players)
        plan = replace(plan, players=listed, teams=teams_of(draft.players))
    write_plan(folder, replace(plan, earlier=draft.earlier))


@dataclass(frozen=True, slots=True)
class MovementDraft:
    """A movement that was generated or uploaded, and its problems."""

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
    """A generated movement, in stages or halls if requested.

    `of` is the plan for which it was generated, and `plan` the same plan with the movement.
    """

    of: Plan
    plan: Plan
    halls: tuple[Hall, ...] = ()


def draft_stages(
    folder: Path, request: Structure, on_progress: Callable[[float], object] = lambda _over: None
) -> StagesDraft:
    """Generate a movement for the folder's players without saving it.

    `on_progress` is called with the elapsed share of the search time (0 to 1).

    Raises RuleError `head_missing`, `event_started`, and as `structured_plan`, `plan_in_halls`.
    """
    base = settled(folder)
    if request.hall_of is None:
        begin = _searches(SEARCH_S, 1 + bool(request.final), on_progress)
        return StagesDraft(base, structured_plan(base, request, seeded(), begin))
    halls = len({*request.hall_of.values()})
    return StagesDraft(base, *plan_in_halls(base, request, seeded(), _searches(SEARCH_S / halls, halls, on_progress)))


def _searches(seconds: float, searches: int, on_progress: Callable[[float], object]) -> Callable[[], KeepSearching]:
    """Return a function that starts the next of several searches, each `seconds` long, and reports its progress."""
    begun = count()

    def begin() -> KeepSearching:
        before, began, go_on = next(begun), thread_time(), for_seconds(seconds)

        def keep_searching() -> bool:
            on_progress((before + min(1, (thread_time() - began) / seconds)) / searches)
            return go_on()

        return keep_searching

    return begin


def take_stages(folder: Path, draft: StagesDraft) -> int:
    """Save a generated movement and its halls; return the number of plays.

    Raises RuleError `setup_changed` if the plan's players, teams or plays have changed since it was generated.
    """
    plan, made = settled(folder), draft.plan
    if any(getattr(plan, part) != getattr(draft.of, part) for part in ("players", "teams", "plays")):
        raise RuleError("setup_changed", N_("the players or the movement have changed meanwhile: nothing was saved"))
    files.refuse_missing_deals(folder, {play.deal for play in made.plays})
    keep_halls(folder, draft.halls)
    write_plan(folder, replace(plan, plays=made.plays, stages=made.stages, copies=made.copies, uncompared=False))
    return len(made.plays)


def with_halls(folder: Path, request: Structure, column: str) -> Structure:
    """Return the structure with each player assigned to a hall by a column of the list: `club` or `country`.

    Raises RuleError `head_missing`, `event_started`.
    """
    return request._replace(hall_of=hall_of_each(read_saved_players(folder, settled(folder)), column))


def forecast_structure(folder: Path, request: Structure) -> tuple[MovementForecast, list[HallOrder]]:
    """Return the forecast for each section or for all halls together, and the halls. Raises as `forecast`."""
    plan = settled(folder)
    return forecast(plan, request, minutes_a_play(plan)), hall_orders(plan, request)


def take_uncompared(folder: Path) -> None:
    """Record that it is intended that nobody is compared. Raises RuleError `event_started`, `head_missing`."""
    write_plan(folder, replace(settled(folder), uncompared=True))


def take_movement(folder: Path, movement: MovementDraft) -> int:
    """Save a movement in the plan; return the number of plays. Raises RuleError of its first problem, `deal_unknown`.

    A confirmation that nobody is to be compared is reset, because it was given for the previous movement.
    """
    settled(folder)
    for problem in movement.problems:
        raise RuleError(problem.code, N_("line {line}: {problem}", line=problem.line, problem=problem.text))
    return files.write_movement_to_event(folder, movement.plays, force=True)


def take_sessions(folder: Path, rows: Iterable[dict[str, str]]) -> int:
    """Save sessions and their times in the plan, ignoring empty rows; return how many. Raises RuleError `malformed`."""
    plan = settled(folder)
    sessions = read_sessions(rows)
    write_plan(folder, replace(plan, sessions=sessions))
    return len(sessions)


def settled(folder: Path) -> Plan:
    """Return the plan of an event that has a name and has not started.

    Raises RuleError `head_missing`, `event_started`.
    """
    plan = may_change(folder)
    if plan is None:
        raise RuleError("head_missing", "the event has no name yet: begin with name, title and rules")
    return plan


def _converted(raw: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", reason(error)) from None


def from_file(text: str, name: str, reader: Callable[[Path], T]) -> T:
    """Read an uploaded text with the reader that the commands use for files, so that both raise the same errors."""
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
    """Return the rows of a submitted form, whose fields are called `name-1`, `starts-2` and so on."""
    return [{field: form.get(f"{field}-{at}", "") for field in SESSION_FIELDS} for at in range(1, MOST_SESSIONS + 1)]


def read_sessions(rows: Iterable[Mapping[str, str]]) -> tuple[Session, ...]:
    """Return the sessions of a form's rows, ignoring empty rows. Raises RuleError `malformed`."""
    return tuple(_session(row, at) for at, row in enumerate(rows, 1) if any(text.strip() for text in row.values()))


def _session(row: Mapping[str, str], at: int) -> Session:
    fields: dict[str, object] = {"name": " ".join(row["name"].split())}
    if not fields["name"]:
        raise RuleError(
            "malformed",
            N_("session {session} has no name: enter one, or empty its other fields to remove it", session=at),
        )
    for field in ("first_round", "last_round", "play_minutes"):
        text = row.get(field, "").strip()
        if text:
            fields[field] = int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else text
    if starts := row.get("starts", "").strip():
        fields["starts"] = starts
    try:
        made = msgspec.convert(fields, Session)
    except msgspec.ValidationError as error:
        raise RuleError("malformed", N_("session {session}: {problem}", session=at, problem=reason(error))) from None
    if made.last_round < made.first_round:
        raise RuleError(
            "malformed",
            N_("session {session} ends (round {last}) before it begins", session=at, last=made.last_round),
        )
    return made


def rows_to_fill(sessions: Iterable[Session], typed: Mapping[str, str] | None = None) -> list[dict[str, str]]:
    """Return the rows to show in a form: those typed, else the sessions, then up to two empty rows."""
    rows = session_rows(sessions) if typed is None else typed_session_rows(typed)
    while rows and not any(rows[-1].values()):
        rows.pop()
    return [*rows, *(dict.fromkeys(SESSION_FIELDS, "") for _ in range(min(2, MOST_SESSIONS - len(rows))))]


TAKEN_OUT: Final = "taken-out"
"""Prefix of removed files. They are not deleted, because tiles may have been laid or sheets printed from them."""


def _deals_to_make(folder: Path) -> tuple[Plan, int, bool]:
    """Return the plan, how many deals its movement needs, and whether they need red fives under its rules.

    Raises RuleError `no_plays`, `deals_exist`, `draw_open`, and as `settled`.
    """
    plan = settled(folder)
    if not plan.plays:
        raise RuleError("no_plays", N_("make the movement first: it determines the number of deals"))
    make.refuse_existing_deals(folder)
    red = counts_red_fives(read_own_rules(folder, ()).of_plays(plan.profile))
    return plan, max(play.deal for play in plan.plays), red


def announce_planned_draw(folder: Path, people: Iterable[tuple[str, str]], beacon: tuple[str, str] = ("", "")) -> Draw:
    """Announce the draw of the movement's deals.

    `people` are names and hashes of words; `beacon` is source and round of a public value, both empty for none.

    Raises RuleError `malformed`, and as `make_deals` and `draw.announce_draw`.
    """
    plan, last, red = _deals_to_make(folder)
    listed = [{"name": name.strip(), "words": words.strip().lower()} for name, words in people]
    wrong = (one["name"] for one in listed if not (one["name"] and HASH.fullmatch(one["words"])))
    raise_errors(map(_contributor_error, wrong))
    value = {"source": beacon[0].strip(), "round": beacon[1].strip()} if any(beacon) else None
    if value and not all(value.values()):
        raise RuleError("malformed", N_("enter both the source of the public value and its round"))
    request = {"event": plan.name, "deals": last, "people": listed, "beacon": value, "red_fives": red}
    return draw.announce_draw(
        folder, _converted({**request, "prevalent_winds": make.DEFAULT_WINDS, "dealers": SEATS}, draw.DrawRequest)
    )


def _contributor_error(name: str) -> RuleError:
    """Return the error for a contributor of words whose name is missing or whose hash is wrong."""
    if not name:
        return RuleError("malformed", N_("a hash has no name: enter who handed it in"))
    text = N_("{person}: the hash of the words must have 64 digits from 0 to 9 and a to f", person=name)
    return RuleError("malformed", text)


def seal_deals(folder: Path) -> int:
    """Seal the folder's deals and sets; return how many were sealed. Raises RuleError `no_deals`, and as `settled`."""
    settled(folder)
    if not deals_made(folder):
        raise RuleError("no_deals", N_("there are no deals to seal"))
    return sealing.seal_folder(folder)


def make_deals(folder: Path) -> str:
    """Shuffle the deals of the movement and the sets that are missing; return the root of the commitment.

    Raises RuleError `no_plays`, `deals_exist` and others.
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
    """Save the organiser's own deals (CSV as for `homologue deal import`); return the root of the commitment.

    Raises RuleError as `make_deals`, or an ExceptionGroup of them that name the lines.
    """
    plan = settled(folder)
    make.refuse_existing_deals(folder)
    return make.save_deals(folder, plan.name, make.salt_deals(from_file(text, "deals.csv", make.read_deal_list)))


def take_sets(folder: Path, text: str) -> int:
    """Save sets whose tiles are already numbered (CSV: set, serial, face); return how many.

    Raises RuleError `event_started`, or an ExceptionGroup of `set_exists` and those that name the lines.
    """
    settled(folder)
    sets = from_file(text, "sets.csv", lambda path: tile_sets.read_sets(path, None))
    tile_sets.add_sets(folder, sets)
    return len(sets)


def take_out(folder: Path) -> None:
    """Remove the deals and their commitment, so that others can be made. The files are renamed, not deleted.

    If it is interrupted, it can be called again. Raises RuleError `event_started`, `no_deals`.
    """
    settled(folder)
    existing = [folder / name for name in (DEALS, COMMITMENT, draw.WORDS) if (folder / name).exists()]
    if not existing:
        raise RuleError("no_deals", "there are no deals to remove")
    number = 1 + len([*folder.glob(f"{TAKEN_OUT}-*")])
    for path in existing:
        path.rename(path.with_name(f"{TAKEN_OUT}-{number}-{path.name}"))


def deals_made(folder: Path) -> bool:
    """Return whether the folder has deals."""
    return (folder / DEALS).exists()


def halls_kept(folder: Path) -> tuple[Hall, ...]:
    """Return the halls of the event; empty if it is played in one place, or `halls.toml` cannot be read."""
    try:
        return read_halls(folder)
    except BadEvent:
        return ()


def sets_kept(folder: Path) -> int:
    """Return how many sets are registered; 0 if `sets.json` is missing or cannot be read."""
    try:
        return len(read_registry(folder)) if (folder / SETS).exists() else 0
    except (BadEvent, OSError):
        return 0
