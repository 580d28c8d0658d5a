"""Files that `homologue score` takes beside the plays: the teams, and the session before."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta, Struct

from broker.contract.words import Imp, PlayerId
from broker.rules.errors import RuleError
from broker.rules.profile import Profile
from broker.scoring.carry import carried, places
from broker.scoring.lineups import Teams
from broker.scoring.plays import Adjustment
from broker.scoring.ranking import Ranked
from broker.scoring.ties import Places

T = TypeVar("T")

LARGEST: Final = 50_000_000
"""Bytes of a file."""


class Line(Struct):
    """One line of earlier standings; what else it has is not looked at."""

    place: Annotated[int, Meta(ge=1)]
    imp: Imp
    player: str | None = None
    team: str | None = None


class Before(Struct):
    """What `homologue score` answered for the session before."""

    standings: tuple[Line, ...] = ()

    def ranked(self) -> list[Ranked]:
        """Give the standings. Raises ValueError where a line has no name or an amount that is none."""
        return [Ranked(line.place, _name(line), Fraction(line.imp), 0, 0) for line in self.standings]


class Previous(Struct, frozen=True):
    """What the session before leaves: IMPs that count here, and places that may part ties."""

    adjustments: tuple[Adjustment, ...] = ()
    places: Places = {}


def read_previous(path: Path | None, profile: Profile) -> Previous:
    """Read what the session before leaves. Raises RuleError `bad_previous`."""
    if path is None:
        return Previous()
    try:
        ranked = _decoded(path, Before).ranked()
    except (ValueError, ZeroDivisionError) as error:
        raise RuleError("bad_previous", str(error)) from None
    return Previous(carried(ranked, profile), places(ranked))


def read_teams(path: Path | None) -> Teams:
    """Read the teams. Raises RuleError `teams_missing`, `bad_teams`."""
    if path is None:
        raise RuleError("teams_missing", "a team event needs --teams FILE")
    try:
        return _decoded(path, dict[str, tuple[PlayerId, ...]])
    except ValueError as error:
        raise RuleError("bad_teams", str(error)) from None


def _name(line: Line) -> str:
    name = line.player or line.team
    if not name:
        raise ValueError(f"place {line.place}: neither player nor team")
    return name


def _decoded(path: Path, kind: type[T]) -> T:
    """Read a JSON file. Raises ValueError with the file's name."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"{path.stat().st_size} bytes, at most {LARGEST}")
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError, RecursionError) as error:  # ValueError: also of msgspec
        raise ValueError(f"{path.name}: {error}") from None
