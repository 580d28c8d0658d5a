"""Players from a list: their teams, and country, club, national and EMA numbers, which are kept beside the plan.

A country may be written by any of its codes: ISO 3166 in two letters and three, or the IOC's.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from broker.errors import RuleError, collect_errors, raise_errors, reason
from broker.event.earlier import DETAILS
from broker.event.event import Event
from broker.event.file_io import CsvRow, read_csv
from broker.event.movement import SEATED
from broker.event.plan import LARGEST_TEAM, Plan
from broker.files import PLAYERS
from broker.i18n import N_
from broker.protocol import COUNTRY, LONGEST_LINE, Player, PlayerCorrected
from broker.spreadsheet import csv_text, without_apostrophes

PARTS: Final = DETAILS[-2:]
EXTRA_COLUMNS: Final = DETAILS[:-2]
NUMBERS: Final = ("id", "national", "ema")
"""Columns in which an apostrophe only keeps a spreadsheet from taking zeros away; a name may begin with one."""
TEAM: Final = "team"
WITHOUT_STANDING: Final = "without_standing"
COLUMNS: Final = ("id", "name", *DETAILS, TEAM, WITHOUT_STANDING)
YES: Final = frozenset({"yes", "y", "x", "1", "true", "oui", "o", "是"})
NO: Final = frozenset({"", "no", "n", "0", "false", "non", "否", "-", "–"})
MAX_PLAYERS: Final = 4000


@dataclass(frozen=True, slots=True)
class ListedPlayer:
    """One line of the list; None: not said."""

    player: Player
    further: tuple[str, ...]
    """In the order of EXTRA_COLUMNS."""
    team: str = ""
    first_name: str = ""
    """As federations list it; which part of a whole name is the family's is not guessed."""
    last_name: str = ""

    @property
    def details(self) -> dict[str, str]:
        """What is said beside id, name and team, by column."""
        return dict(zip(DETAILS, (*self.further, self.first_name, self.last_name), strict=True))

    @property
    def country(self) -> str:
        """The code of a country; empty: not said."""
        return self.details["country"]


def read_saved_players(folder: Path, plan: Plan | None) -> Sequence[ListedPlayer]:
    """Return the players with what is kept beside the plan; where that cannot be read, as the plan has them."""
    try:
        return read_players(folder / PLAYERS)
    except (RuleError, ExceptionGroup, OSError):
        return [ListedPlayer(player, ("",) * len(EXTRA_COLUMNS)) for player in plan.players] if plan else ()


def read_players(path: Path) -> tuple[ListedPlayer, ...]:
    """Read a list, or nothing but names, one per line; ids are made if it has none. All of it has to be right.

    Raises an ExceptionGroup of RuleErrors that name the line: `player_id_wrong`, `player_name_wrong`,
    `player_detail_wrong`, `country_wrong`, `player_listed_twice`, `line_incomplete`, `teams_do_not_fit`; RuleError as
    `read_table`, `no_players`, `too_large`; OSError.
    """
    rows, fields = read_csv(path, (), COLUMNS, alone="name")
    if rows and not {"name", *PARTS} & rows[0].cells.keys():
        raise RuleError("heading_wrong", N_("{file}, line 1: there is no column name", file=path.name))
    if not rows:
        raise RuleError("no_players", N_("{file} has a header line but no players", file=path.name))
    if len(rows) > MAX_PLAYERS:
        raise RuleError("too_large", N_("{file} has more than {most} players", file=path.name, most=MAX_PLAYERS))
    width = max(2, len(str(len(rows))))

    def take(numbered: tuple[int, CsvRow]) -> tuple[int | str, ListedPlayer]:
        number, row = numbered
        row.whole(fields)
        return row.line, _listed(row, f"p{number:0{width}}")

    found = collect_errors(take, enumerate(rows, 1))
    raise_errors((*_twice(found), *_in_no_team(found)))
    return tuple(one for _, one in found)


def _listed(row: CsvRow, made: str) -> ListedPlayer:
    # Of one list some lines may have been typed on a Mac, which keeps accents apart: a team would be two.
    of = {column: unicodedata.normalize("NFC", without_apostrophes(row.cells.get(column, ""))) for column in COLUMNS}
    of |= {column: of[column].removeprefix("'") for column in NUMBERS}
    parts = [" ".join(of[column].split()) for column in PARTS]
    name = " ".join(of["name"].split() or filter(None, parts))
    if not name:
        raise RuleError("name_missing", N_("line {line}: the name is missing", line=row.at("name")))
    try:
        said = {"id": of["id"] or made, "name": name, WITHOUT_STANDING: _is_yes(row, of[WITHOUT_STANDING])}
        player = msgspec.convert(said, Player)
    except msgspec.ValidationError as error:
        if "`$.id`" in str(error):
            raise RuleError(
                "player_id_wrong", N_("line {line}: {problem}", line=row.at("id"), problem=reason(error))
            ) from None
        raise RuleError(
            "player_name_wrong", N_("line {line}: {problem}", line=row.at("name"), problem=reason(error))
        ) from None
    if not player.name.isprintable():
        raise RuleError(
            "player_name_wrong",
            N_("line {line}: the name has characters that cannot be displayed", line=row.at("name")),
        )
    further, team = tuple(of[column] for column in EXTRA_COLUMNS), " ".join(of[TEAM].split())
    for column, text in zip((*EXTRA_COLUMNS, *PARTS, TEAM), (*further, *parts, team), strict=True):
        if len(text) > LONGEST_LINE or not text.isprintable():
            why = N_(
                "line {line}: {column} has at most {most} printable characters",
                line=row.at(column),
                column=column,
                most=LONGEST_LINE,
            )
            raise RuleError("player_detail_wrong", why)
    if further[0] and not re.fullmatch(COUNTRY, further[0]):
        why = N_(
            "line {line}: {text} is not a country code: use two or three capital letters",
            line=row.at("country"),
            text=repr(further[0]),
        )
        raise RuleError("country_wrong", why)
    return ListedPlayer(player, further, team, *parts)


def _is_yes(row: CsvRow, text: str) -> bool:
    if text.casefold() in YES | NO:
        return text.casefold() in YES
    why = N_(
        "line {line}: {column} is {text}: write yes, or nothing",
        line=row.at(WITHOUT_STANDING),
        column=WITHOUT_STANDING,
        text=repr(text[:20]),
    )
    raise RuleError("player_detail_wrong", why)


def as_corrections(
    listed: Iterable[ListedPlayer], corrections: Mapping[str, PlayerCorrected]
) -> tuple[ListedPlayer, ...]:
    """Return a list as corrections of the plan have it."""
    return tuple(_corrected(one, said) if (said := corrections.get(one.player.id)) else one for one in listed)


def current_players(event: Event, kept: Iterable[ListedPlayer]) -> tuple[ListedPlayer, ...]:
    """Return an event's players as they count now, with what the list that is kept beside the plan says of each.

    Names and teams are the plan's: the list may have been written otherwise since. Of who is not in it, country and
    club are what the event has of them.
    """
    of = {one.player.id: one for one in kept}
    team = {player: name for name, players in event.plan.teams.items() for player in players}
    listed = []
    for player in event.plan.players:
        one = of.get(player.id) or ListedPlayer(player, (*event.origin_of(player.id), "", ""))
        listed.append(replace(one, player=player, team=team.get(player.id, "")))
    return as_corrections(listed, event.corrections)


def _corrected(one: ListedPlayer, said: PlayerCorrected) -> ListedPlayer:
    further = tuple(getattr(said, column) for column in EXTRA_COLUMNS)
    unranked = one.player.without_standing if said.without_standing is None else said.without_standing
    player = Player(id=one.player.id, name=said.name, without_standing=unranked)
    return ListedPlayer(player, further, one.team, said.first_name, said.last_name)


def _twice(found: Iterable[tuple[int | str, ListedPlayer]]) -> Iterable[RuleError]:
    """Name ids, national and EMA numbers that two players have; two people may well share a name."""
    first: dict[tuple[str, str], int | str] = {}
    for line, one in found:
        of = one.details
        for what, text in (("id", one.player.id), ("national", of["national"]), ("ema", of["ema"])):
            if text and first.setdefault((what, text), line) != line:
                why = N_(
                    "line {line}: {what} {text} is already used in line {first}",
                    line=line,
                    what=what,
                    text=text,
                    first=first[what, text],
                )
                yield RuleError("player_listed_twice", why)


def _in_no_team(found: Iterable[tuple[int | str, ListedPlayer]]) -> Iterable[RuleError]:
    """Name the players without a team where others have one, and the teams that are too small or too large."""
    listed = list(found)
    sizes = Counter(one.team for _, one in listed)
    for line, one in listed if len(sizes) > 1 else ():
        if not one.team:
            yield RuleError(
                "teams_do_not_fit",
                N_("line {line}: {who} has no team, but other players do", line=line, who=one.player.name),
            )
    for team, size in sizes.items():
        if team and size < SEATED:
            yield RuleError(
                "teams_do_not_fit",
                N_("players in {team}: {count}; a team needs at least {least}", team=team, count=size, least=SEATED),
            )
        elif team and size > LARGEST_TEAM:
            text = N_(
                "players in {team}: {count}; a team can have at most {most}", team=team, count=size, most=LARGEST_TEAM
            )
            yield RuleError("teams_do_not_fit", text)


def teams_of(players: Iterable[ListedPlayer]) -> dict[str, tuple[str, ...]]:
    """Return the teams of a list with their players, in its order; none where it names none."""
    teams: dict[str, tuple[str, ...]] = {}
    for one in players:
        if one.team:
            teams[one.team] = (*teams.get(one.team, ()), one.player.id)
    return teams


HALLS_BY: Final = ("club", "country")
"""Columns that may say in which hall somebody plays."""


def hall_of_each(players: Iterable[ListedPlayer], column: str) -> dict[str, str]:
    """Return the hall of each player, by one of the columns in `HALLS_BY`; empty: not said.

    A country has one hall, named by the code that the list has first for it.
    """
    named: dict[str, str] = {}

    def hall(one: ListedPlayer) -> str:
        text = one.details[column]
        return named.setdefault(country_of(text), text) if column == "country" else text

    return {one.player.id: hall(one) for one in players}


def players_csv(players: Iterable[ListedPlayer]) -> str:
    """Write the list as it is kept in the event's folder; it reads as it was."""
    return csv_text(COLUMNS, map(_cells, players))


def _cells(one: ListedPlayer) -> tuple[str, ...]:
    unranked = "yes" if one.player.without_standing else ""
    return (one.player.id, one.player.name, *one.further, one.first_name, one.last_name, one.team, unranked)


REGIONS: Final = frozenset(["AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"])
"""What Unicode's data have among the countries and is none. XK stays: in general use for Kosovo."""

WITHDRAWN: Final = frozenset(["BUR", "DDR", "FXX", "TMP", "XKK", "YMD", "ZAR"])
"""Codes of three letters that Unicode's data still read."""

IOC: Final = (
    "ALG DZ ANG AO ANT AG ARU AW ASA AS BAH BS BAN BD BAR BB BER BM BHU BT BIZ BZ BOT BW BRU BN BUL BG BUR BF CAM KH "
    "CAY KY CGO CG CHA TD CHI CL CRC CR CRO HR DEN DK ESA SV FIJ FJ GAM GM GBS GW GEQ GQ GER DE GRE GR GRN GD GUA GT "
    "GUI GN HAI HT HON HN INA ID IRI IR ISV VI IVB VG KOS XK KSA SA KUW KW LAT LV LBA LY LES LS MAD MG MAS MY MAW MW "
    "MGL MN MON MC MRI MU MTN MR MYA MM NCA NI NED NL NEP NP NGR NG NIG NE OMA OM PAR PY PHI PH PLE PS POR PT PUR PR "
    "RSA ZA SAM WS SEY SC SKN KN SLO SI SOL SB SRI LK SUD SD SUI CH TAN TZ TGA TO TOG TG TPE TW UAE AE URU UY VAN VU "
    "VIE VN VIN VC ZAM ZM ZIM ZW"
)
"""Those of the IOC's that ISO does not have, each with the country's two letters. BRN is Brunei, as ISO has it."""


@cache
def countries() -> Mapping[str, str]:
    """Return the two letters of a country by each of its codes; Unicode's data have those of ISO."""
    from babel.core import Locale, get_global  # noqa: PLC0415 - scores are added up without Babel too

    two = {code for code in map(str, Locale("en").territories) if code.isalpha()} - REGIONS
    three = {
        code: of[0]
        for code, of in get_global("territory_aliases").items()
        if len(code) == len("FRA") and code.isalpha() and code not in WITHDRAWN and len(of) == 1 and of[0] in two
    }
    olympic = IOC.split()
    return {code: code for code in two} | three | dict(zip(olympic[::2], olympic[1::2], strict=True))


def country_of(code: str) -> str:
    """Return the two letters of a country, which are the same for each of its codes; an unknown code stays as it is."""
    return countries().get(code, code)
