"""The list of players: names, teams, and the details in `players.csv` (country, club, national and EMA numbers).

A country may be given by any of its codes: ISO 3166 with two or three letters, or the IOC's.
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
"""Columns whose leading apostrophe only protects zeros in spreadsheets and is dropped. Names may begin with one."""
TEAM: Final = "team"
WITHOUT_STANDING: Final = "without_standing"
COLUMNS: Final = ("id", "name", *DETAILS, TEAM, WITHOUT_STANDING)
YES: Final = frozenset({"yes", "y", "x", "1", "true", "oui", "o", "是"})
NO: Final = frozenset({"", "no", "n", "0", "false", "non", "否", "-", "–"})
MAX_PLAYERS: Final = 4000


@dataclass(frozen=True, slots=True)
class ListedPlayer:
    """One line of the list of players; details that it does not give are empty."""

    player: Player
    further: tuple[str, ...]
    """The details of `EXTRA_COLUMNS`, in that order."""
    team: str = ""
    first_name: str = ""
    """First name as federations list it. It is never guessed from the whole name."""
    last_name: str = ""

    @property
    def details(self) -> dict[str, str]:
        """The details other than id, name and team, by column."""
        return dict(zip(DETAILS, (*self.further, self.first_name, self.last_name), strict=True))

    @property
    def country(self) -> str:
        """The country code; empty if unknown."""
        return self.details["country"]


def read_saved_players(folder: Path, plan: Plan | None) -> Sequence[ListedPlayer]:
    """Return the players from `players.csv`, or from the plan, without details, if that cannot be read."""
    try:
        return read_players(folder / PLAYERS)
    except (RuleError, ExceptionGroup, OSError):
        return [ListedPlayer(player, ("",) * len(EXTRA_COLUMNS)) for player in plan.players] if plan else ()


def read_players(path: Path) -> tuple[ListedPlayer, ...]:
    """Read a list of players, which may consist of names only, one per line. Missing ids are generated.

    The whole list has to be valid. Raises an ExceptionGroup of RuleErrors that name the line: `player_id_wrong`,
    `player_name_wrong`, `player_detail_wrong`, `country_wrong`, `player_listed_twice`, `line_incomplete`,
    `teams_do_not_fit`; RuleError `no_players`, `too_large` and as `read_csv`; OSError.
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
    raise_errors((*_shared_numbers(found), *_team_problems(found)))
    return tuple(entry for _, entry in found)


def _listed(row: CsvRow, default_id: str) -> ListedPlayer:
    # Lines typed on a Mac may have decomposed accents: without normalising, one team would become two.
    cells = {column: unicodedata.normalize("NFC", without_apostrophes(row.cells.get(column, ""))) for column in COLUMNS}
    cells |= {column: cells[column].removeprefix("'") for column in NUMBERS}
    parts = [" ".join(cells[column].split()) for column in PARTS]
    name = " ".join(cells["name"].split() or filter(None, parts))
    if not name:
        raise RuleError("name_missing", N_("line {line}: the name is missing", line=row.at("name")))
    try:
        raw = {"id": cells["id"] or default_id, "name": name, WITHOUT_STANDING: _is_yes(row, cells[WITHOUT_STANDING])}
        player = msgspec.convert(raw, Player)
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
    further, team = tuple(cells[column] for column in EXTRA_COLUMNS), " ".join(cells[TEAM].split())
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
    """Return a list of players with corrections applied."""
    return tuple(_corrected(entry, new) if (new := corrections.get(entry.player.id)) else entry for entry in listed)


def current_players(event: Event, saved: Iterable[ListedPlayer]) -> tuple[ListedPlayer, ...]:
    """Return an event's current players, with the details from `players.csv` and corrections applied.

    Names and teams come from the plan, because the file may have been changed since. Players who are not in the file
    have the country and club that the event knows.
    """
    by_id = {entry.player.id: entry for entry in saved}
    team = {player: name for name, players in event.plan.teams.items() for player in players}
    listed = []
    for player in event.plan.players:
        entry = by_id.get(player.id) or ListedPlayer(player, (*event.origin_of(player.id), "", ""))
        listed.append(replace(entry, player=player, team=team.get(player.id, "")))
    return as_corrections(listed, event.corrections)


def _corrected(entry: ListedPlayer, correction: PlayerCorrected) -> ListedPlayer:
    further = tuple(getattr(correction, column) for column in EXTRA_COLUMNS)
    unranked = entry.player.without_standing if correction.without_standing is None else correction.without_standing
    player = Player(id=entry.player.id, name=correction.name, without_standing=unranked)
    return ListedPlayer(player, further, entry.team, correction.first_name, correction.last_name)


def _shared_numbers(found: Iterable[tuple[int | str, ListedPlayer]]) -> Iterable[RuleError]:
    """Yield an error for each id, national or EMA number that two players share. Names may be shared."""
    first: dict[tuple[str, str], int | str] = {}
    for line, entry in found:
        details = entry.details
        for what, text in (("id", entry.player.id), ("national", details["national"]), ("ema", details["ema"])):
            if text and first.setdefault((what, text), line) != line:
                why = N_(
                    "line {line}: {what} {text} is already used in line {first}",
                    line=line,
                    what=what,
                    text=text,
                    first=first[what, text],
                )
                yield RuleError("player_listed_twice", why)


def _team_problems(found: Iterable[tuple[int | str, ListedPlayer]]) -> Iterable[RuleError]:
    """Yield an error for each player without a team, if others have one, and each team of an impossible size."""
    listed = list(found)
    sizes = Counter(entry.team for _, entry in listed)
    for line, entry in listed if len(sizes) > 1 else ():
        if not entry.team:
            yield RuleError(
                "teams_do_not_fit",
                N_("line {line}: {who} has no team, but other players do", line=line, who=entry.player.name),
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
    """Return the teams of a list with their players' ids, in its order; empty if it names no teams."""
    teams: dict[str, tuple[str, ...]] = {}
    for entry in players:
        if entry.team:
            teams[entry.team] = (*teams.get(entry.team, ()), entry.player.id)
    return teams


HALLS_BY: Final = ("club", "country")
"""Columns by which players may be assigned to halls."""


def hall_of_each(players: Iterable[ListedPlayer], column: str) -> dict[str, str]:
    """Return the hall of each player, by one of the columns in `HALLS_BY`; empty if the list does not give it.

    Players of one country share a hall, whichever of its codes they have; its name is the first of those codes listed.
    """
    named: dict[str, str] = {}

    def hall(entry: ListedPlayer) -> str:
        text = entry.details[column]
        return named.setdefault(country_of(text), text) if column == "country" else text

    return {entry.player.id: hall(entry) for entry in players}


def players_csv(players: Iterable[ListedPlayer]) -> str:
    """Return the CSV text of `players.csv`, from which `read_players` gets the same players."""
    return csv_text(COLUMNS, map(_cells, players))


def _cells(entry: ListedPlayer) -> tuple[str, ...]:
    unranked = "yes" if entry.player.without_standing else ""
    return (entry.player.id, entry.player.name, *entry.further, entry.first_name, entry.last_name, entry.team, unranked)


REGIONS: Final = frozenset(["AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"])
"""Codes that Unicode lists as territories but that are no countries. XK stays, as it is widely used for Kosovo."""

WITHDRAWN: Final = frozenset(["BUR", "DDR", "FXX", "TMP", "XKK", "YMD", "ZAR"])
"""Withdrawn three-letter codes that are still in Unicode's data."""

IOC: Final = (
    "ALG DZ ANG AO ANT AG ARU AW ASA AS BAH BS BAN BD BAR BB BER BM BHU BT BIZ BZ BOT BW BRU BN BUL BG BUR BF CAM KH "
    "CAY KY CGO CG CHA TD CHI CL CRC CR CRO HR DEN DK ESA SV FIJ FJ GAM GM GBS GW GEQ GQ GER DE GRE GR GRN GD GUA GT "
    "GUI GN HAI HT HON HN INA ID IRI IR ISV VI IVB VG KOS XK KSA SA KUW KW LAT LV LBA LY LES LS MAD MG MAS MY MAW MW "
    "MGL MN MON MC MRI MU MTN MR MYA MM NCA NI NED NL NEP NP NGR NG NIG NE OMA OM PAR PY PHI PH PLE PS POR PT PUR PR "
    "RSA ZA SAM WS SEY SC SKN KN SLO SI SOL SB SRI LK SUD SD SUI CH TAN TZ TGA TO TOG TG TPE TW UAE AE URU UY VAN VU "
    "VIE VN VIN VC ZAM ZM ZIM ZW"
)
"""IOC codes that ISO does not have, each followed by the country's two letters. BRN is Brunei, as in ISO."""


@cache
def countries() -> Mapping[str, str]:
    """Return a country's two-letter code by each of its codes. The ISO codes come from Unicode's data (Babel)."""
    from babel.core import Locale, get_global  # noqa: PLC0415 - scoring must work without Babel

    two = {code for code in map(str, Locale("en").territories) if code.isalpha()} - REGIONS
    three = {
        code: of[0]
        for code, of in get_global("territory_aliases").items()
        if len(code) == len("FRA") and code.isalpha() and code not in WITHDRAWN and len(of) == 1 and of[0] in two
    }
    olympic = IOC.split()
    return {code: code for code in two} | three | dict(zip(olympic[::2], olympic[1::2], strict=True))


def country_of(code: str) -> str:
    """Return the two-letter code of a country for any of its codes; an unknown code is returned unchanged."""
    return countries().get(code, code)
