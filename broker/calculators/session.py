"""Files that `homologue score` takes beside the plays: the teams, and the session before."""

import codecs
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from broker.calculators.plays import Entrant
from broker.contract.wire import Refused, refuse_doubled_names
from broker.rules.errors import RuleError
from broker.rules.profile import Comparison
from broker.scoring.carry import carried, places
from broker.scoring.lineups import Teams
from broker.scoring.plays import Adjustment
from broker.scoring.ranking import Ranked
from broker.scoring.ties import Places

T = TypeVar("T")

WHO: Final = {"individual": "a player", "team": "a team"}

LARGEST: Final = 50_000_000
"""Bytes of a file."""


Event = Literal["individual", "team"]

Carried = (
    Annotated[int, Meta(ge=-1_000_000, le=1_000_000)]
    | Annotated[str, Meta(pattern=r"^-?[0-9]{1,9}/[1-9][0-9]{0,8}$(?!\n)", description="an exact fraction")]
)


class Line(Struct):
    """One line of earlier standings; what else it has is not looked at."""

    place: Annotated[int, Meta(ge=1, le=100_000)]
    imp: Carried
    player: Entrant | None = None
    team: Entrant | None = None

    def ranked(self, event: Event) -> Ranked:
        """Give the line. Raises ValueError where it is not of such an event."""
        name, other = (self.player, self.team) if event == "individual" else (self.team, self.player)
        if name is None or other is not None:
            raise ValueError(f"place {self.place}: a line of {WHO[event]} is needed")
        return Ranked(self.place, name, Fraction(self.imp), 0, 0)


class Before(Struct):
    """What `homologue score` answered for the session before."""

    standings: tuple[Line, ...]

    def ranked(self, event: Event) -> list[Ranked]:
        """Give the standings. Raises ValueError where they are not of such an event, or name somebody twice."""
        found = [line.ranked(event) for line in self.standings]
        twice = [name for name, count in Counter(one.name for one in found).items() if count > 1]
        if twice:
            raise ValueError(f"{twice[0]} is listed twice")
        return found


class Previous(Struct, frozen=True):
    """What the session before leaves: IMPs that count here, and places that may part ties."""

    adjustments: tuple[Adjustment, ...] = ()
    places: Places = {}


def read_previous(path: Path | None, profile: Comparison, event: Event) -> Previous:
    """Read what the session before leaves. Raises RuleError `bad_previous`."""
    if path is None:
        return Previous()
    try:
        ranked = _decoded(path, Before).ranked(event)
    except ValueError as error:
        raise RuleError("bad_previous", f"{path.name}: {error}") from None
    return Previous(carried(ranked, profile), places(ranked))


def read_teams(path: Path | None) -> Teams:
    """Read the teams. Raises RuleError `teams_missing`, `bad_teams`."""
    if path is None:
        raise RuleError("teams_missing", "a team event needs --teams FILE")
    try:
        return _decoded(path, dict[Entrant, tuple[Entrant, ...]])
    except ValueError as error:
        raise RuleError("bad_teams", f"{path.name}: {error}") from None


def _decoded(path: Path, kind: type[T]) -> T:
    """Read a JSON file. Raises ValueError."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1).removeprefix(codecs.BOM_UTF8)
        if len(content) > LARGEST:
            raise ValueError(f"more than {LARGEST} bytes")
        found = msgspec.json.decode(content, type=kind)
        refuse_doubled_names(content)
    except OSError as error:
        raise ValueError(error.strerror) from None
    except (Refused, RecursionError) as error:
        raise ValueError(str(error)) from None
    return found
