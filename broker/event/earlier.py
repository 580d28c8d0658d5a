"""The standings of an earlier event from which this one begins: the IMPs carried over, and the seeding of players.

The plan stores the earlier standings in full, under the ids of its own players and the names of its teams. The part
that counts is computed during scoring (`carry_over`), in whole IMPs unless the rules add fractions. The earlier places
break ties where the rules ask for the previous standing.
"""

import codecs
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct, UnsetType
from msgspec.structs import replace

from broker.errors import RuleError, reason
from broker.event.file_io import CsvRow, read_bytes, read_csv
from broker.event.stages import read_part
from broker.i18n import N_, search_key
from broker.protocol import Name, Refused, refuse_duplicate_names
from broker.rules import ComparisonRules
from broker.scoring import Adjustment, PreviousPlaces, Ranked, carry_over, standing_places
from broker.spreadsheet import without_apostrophes

Kind = Literal["individual", "team"]
WHO: Final = {"individual": "a player", "team": "a team"}

Entrant = Annotated[str, Meta(min_length=1, max_length=100, description="a player, by id or name")]
Place = Annotated[int, Meta(ge=1, le=100_000)]
Carried = (
    Annotated[int, Meta(ge=-1_000_000, le=1_000_000)]
    | Annotated[str, Meta(pattern=r"^-?[0-9]{1,9}/[1-9][0-9]{0,8}$(?!\n)", description="an exact fraction")]
)
NUMBER: Final = re.compile(r"-?[0-9]{1,7}(?:[.,][0-9]{1,6}|/[1-9][0-9]{0,6})?")
DETAILS: Final = ("country", "club", "national", "ema", "first_name", "last_name")
"""Columns of a list of players other than id, name and team."""

COLUMNS: Final = ("event", "player", "team", "name", "fines", "plays", *DETAILS, "stage", "section")
"""Optional columns of `standings.csv` and `next-event.csv`; place and IMP are required."""


class EarlierPlace(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the earlier standings in a plan: a player, by the id in this event, or a team."""

    name: Entrant
    place: Place
    imp: Carried

    def ranked(self) -> Ranked:
        """Return the line as an entry of the scorer's standings."""
        return Ranked(self.place, self.name, Fraction(self.imp), 0, 0)


class Earlier(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The event from whose standings this one begins."""

    title: Name
    carry_over: Annotated[str, Meta(max_length=12, description="the part that counts, such as 2/3 or 50%")] = ""
    """If empty, the rule profile's carry-over applies."""
    players: tuple[EarlierPlace, ...] = ()
    teams: tuple[EarlierPlace, ...] = ()


class Brought(NamedTuple):
    """What is carried over from earlier standings: IMPs that count here, and places that may break ties."""

    adjustments: tuple[Adjustment, ...] = ()
    places: PreviousPlaces = MappingProxyType({})


def brought(lines: Iterable[Ranked], profile: ComparisonRules, part: str = "") -> Brought:
    """Return what is carried over from standings.

    `part` is a fraction such as 2/3; if it is empty, the profile decides. Raises RuleError `part_wrong`.
    """
    listed = list(lines)
    return Brought(carry_over(listed, profile, read_part(part) if part else None), standing_places(listed))


class _Person(Struct, kw_only=True):
    """Name and details of a player or a team."""

    name: str = ""
    country: str = ""
    club: str = ""
    national: str = ""
    ema: str = ""
    first_name: str = ""
    last_name: str = ""

    @property
    def details(self) -> dict[str, str]:
        """The details other than the name, by column."""
        return {column: getattr(self, column) for column in DETAILS}


class EarlierLine(_Person):
    """One line of a standings file; other fields of the file are ignored."""

    place: Place
    imp: Carried
    player: Entrant | None = None
    team: Entrant | None = None
    event: str = ""
    """Title of the earlier event; empty if the file does not give it."""
    members: tuple["EarlierLine", ...] = ()
    """The team's players; empty if the file does not list them."""

    @property
    def people(self) -> "tuple[EarlierLine, ...]":
        """The players on this line: a team's members, or the one player."""
        return self.members if self.team else (self,)

    @property
    def called(self) -> str:
        """The name to display: the line's name, else its team or player id; empty if it has none of them."""
        return self.name or self.team or self.player or ""

    def ranked(self, kind: Kind) -> Ranked:
        """Return the line as an entry of the scorer's standings.

        Raises ValueError if it is a team's line in an individual event, or the reverse.
        """
        name, other = (self.player, self.team) if kind == "individual" else (self.team, self.player)
        if name is None or other is not None:
            raise ValueError(f"place {self.place}: a line of {WHO[kind]} is needed")
        return Ranked(self.place, name, Fraction(self.imp), 0, 0)


class _Player(_Person):
    """A player in an event's exported document."""

    id: Entrant

    def line(self, standing: EarlierLine) -> EarlierLine:
        """Return the player's own line, with place, IMP and event title of `standing` (the player's or the team's)."""
        line = EarlierLine(standing.place, standing.imp, self.id, name=self.name, event=standing.event)
        return replace(line, **self.details)


class _Plan(Struct, frozen=True):
    title: str = ""
    players: tuple[_Player, ...] = ()
    teams: dict[str, tuple[str, ...]] = {}


class _Answer(Struct):
    """Any JSON with standings: from `homologue score`, from an event's document, or from a desk (`rungs`)."""

    standings: tuple[EarlierLine, ...] | None = None
    rungs: tuple[EarlierLine, ...] | None = None
    team_standings: tuple[EarlierLine, ...] = ()
    """The team standings of a team event's document; `standings` then has the individual ones."""
    plan: _Plan = _Plan()
    people: tuple[_Player, ...] = ()

    def lines(self) -> tuple[EarlierLine, ...] | None:
        """Return the standings, None if there are none. Lines of a document get its players' names and details."""
        standings = self.team_standings or (self.rungs if self.standings is None else self.standings)
        if standings is None or not self.plan.title:
            return standings
        known_players = {player.id: player for player in (*self.plan.players, *self.people)}
        titled = (replace(line, event=self.plan.title) for line in standings)
        return tuple(
            replace(line, members=tuple(known_players[player].line(line) for player in self.plan.teams[line.team]))
            if line.team
            else known_players[line.player].line(line)
            if line.player
            else line
            for line in titled
        )


def read_standings(path: Path) -> tuple[EarlierLine, ...]:
    """Read standings from a file.

    The file is JSON from `homologue score` or a desk, the CSV list that a desk or `homologue export` writes, or an
    event's document (of a team event, its team standings are read). Raises RuleError `bad_previous`.
    """
    try:
        content = read_bytes(path).removeprefix(codecs.BOM_UTF8)
        is_json = content.lstrip().startswith((b"{", b"["))
        rows = [] if is_json else read_csv(path, ("place", "imp"), COLUMNS)[0]
    except RuleError as problem:  # its text names the file already
        raise RuleError("bad_previous", problem.text) from None
    except OSError as error:
        raise RuleError("bad_previous", N_("{where}: {problem}", where=path.name, problem=reason(error))) from None
    try:
        lines = _of_json(content) if is_json else _with_members(map(_of_row, rows))
        twice = [key for key, count in Counter((line.team, line.player) for line in lines).items() if count > 1]
        if twice:
            raise RuleError("bad_previous", N_("{name} is listed twice", name=twice[0][0] or twice[0][1]))
    except (Refused, RecursionError, ValueError, LookupError) as error:
        raise RuleError("bad_previous", N_("{where}: {problem}", where=path.name, problem=reason(error))) from None
    return lines


def _of_json(content: bytes) -> tuple[EarlierLine, ...]:
    found = msgspec.json.decode(content, type=_Answer)
    refuse_duplicate_names(content)
    lines = found.lines()
    if lines is None:
        raise ValueError("it contains no standings")
    return lines


def _of_row(row: CsvRow) -> EarlierLine:
    cells = {name: " ".join(without_apostrophes(text).split()) for name, text in row.cells.items()}
    imp = cells["imp"].removeprefix("'").replace("\N{MINUS SIGN}", "-").removeprefix("+")
    if not NUMBER.fullmatch(imp):
        problem = N_("{text} is not a number of IMPs", text=repr(imp[:20]))
        raise RuleError("bad_previous", N_("line {line}: {problem}", line=row.at("imp"), problem=problem))
    exact, name = Fraction(imp.replace(",", ".")), cells.get("name", "")
    team, who = cells.get("team"), cells.get("player") or name
    if not team and not who:
        problem = N_("the player is missing")
        raise RuleError("bad_previous", N_("line {line}: {problem}", line=row.line, problem=problem))
    line = EarlierLine(
        place=row.number("place", 100_000),
        imp=int(exact) if exact.denominator == 1 else str(exact),
        player=who or None,
        team=team or None,
        name=name,
        event=cells.get("event", ""),
    )
    return replace(line, **{column: cells.get(column, "") for column in DETAILS})


def _with_members(lines: Iterable[EarlierLine]) -> tuple[EarlierLine, ...]:
    """Merge the lines of each team's players into one line for the team. Raises RuleError `bad_previous`."""
    found: list[EarlierLine] = []
    at: dict[str, int] = {}
    for line in lines:
        if not line.team:
            found.append(line)
            continue
        members = (replace(line, team=None),) if line.player else ()
        whole = found[at[line.team]] if line.team in at else None
        if whole is None or not (members and whole.members):
            at[line.team] = len(found)
            found.append(EarlierLine(line.place, line.imp, team=line.team, event=line.event, members=members))
        elif (whole.place, whole.imp) != (line.place, line.imp):
            raise RuleError("bad_previous", N_("{name} has two places", name=line.team))
        else:
            found[at[line.team]] = replace(whole, members=(*whole.members, *members))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Matched:
    """Earlier standings under this event's player ids or team names."""

    places: tuple[EarlierPlace, ...]
    unknown: tuple[str, ...]
    """Names of players or teams that were ranked earlier and do not play in this event."""


def match(lines: Iterable[EarlierLine], kind: Kind, here: Mapping[str, str]) -> Matched:
    """Find the players, or teams, of earlier standings in this event.

    `here` maps player ids to names, or team names to themselves. Players are matched by name, because each event has
    its own ids; ids are used only where the standings have no names. Raises RuleError `bad_previous` if two entries of
    `here` share a ranked name, or one of them is ranked twice.
    """
    by_name: dict[str, list[str]] = {}
    for id_, name in here.items():
        by_name.setdefault(search_key(name), []).append(id_)
    places, unknown = dict[str, EarlierPlace](), list[str]()
    for line in lines:
        key = _id_of(line, kind, by_name, here)
        if key in places:
            raise RuleError("bad_previous", N_("{name} is listed twice", name=here[key]))
        if key is None:
            unknown.append(line.called)
        else:
            places[key] = EarlierPlace(key, line.place, line.imp)
    return Matched(tuple(places.values()), tuple(unknown))


def _id_of(line: EarlierLine, kind: Kind, by_name: Mapping[str, list[str]], here: Mapping[str, str]) -> str | None:
    try:
        id_ = line.ranked(kind).name
    except ValueError as error:
        raise RuleError("bad_previous", str(error)) from None
    found = by_name.get(search_key(line.called), [])
    if len(found) > 1 and id_ not in found:
        raise RuleError(
            "bad_previous", N_("two players here are called {name}: give them different names", name=line.called)
        )
    if found:
        return id_ if id_ in found else found[0]
    return id_ if id_ in here and not line.name else None


def seeded_names(order: Sequence[str], places: Iterable[EarlierPlace]) -> list[str]:
    """Return names in the order of earlier standings; unranked names come last, in the order given."""
    before = {place.name: at for at, place in enumerate(places)}
    return sorted(order, key=lambda name: before.get(name, len(before)))


def going_on(rows: Iterable[EarlierLine], first: int) -> tuple[EarlierLine, ...]:
    """Return the lines of those who qualify: the `first` lines, or all of them if it is 0.

    Raises RuleError `cut_tied`.
    """
    lines = tuple(rows)
    if not first or len(lines) <= first:
        return lines
    last, after = lines[first - 1], lines[first]
    if last.place == after.place:
        text = N_(
            "place {place} is shared at the cut by {names}: decide by your regulations who does not qualify",
            place=last.place,
            names=", ".join(line.called for line in lines if line.place == last.place),
        )
        raise RuleError("cut_tied", text)
    return lines[:first]


def among(earlier: Earlier | UnsetType, players: Container[str], teams: Container[str]) -> Earlier | UnsetType:
    """Return the earlier standings restricted to the given players and teams."""
    if not isinstance(earlier, Earlier):
        return earlier
    return replace(
        earlier,
        players=tuple(place for place in earlier.players if place.name in players),
        teams=tuple(place for place in earlier.teams if place.name in teams),
    )


def earlier_problems(earlier: Earlier | UnsetType, players: Iterable[str], teams: Iterable[str]) -> Iterable[RuleError]:
    """Yield every problem with the earlier standings of a plan."""
    if not isinstance(earlier, Earlier):
        return
    try:
        if earlier.carry_over:
            read_part(earlier.carry_over)
    except RuleError as problem:
        yield problem
    for listed, known in ((earlier.players, {*players}), (earlier.teams, {*teams})):
        named = Counter(place.name for place in listed)
        for name in sorted(named.keys() - known):
            yield RuleError("bad_previous", N_("{title}: {who} is not in this event", title=earlier.title, who=name))
        for name in (name for name, count in named.items() if count > 1):
            yield RuleError("bad_previous", N_("{name} is listed twice", name=name))
