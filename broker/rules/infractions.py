"""A profile's catalogue of infractions: their names, their sources, and the penalty for each repetition.

The shipped catalogue is `infractions.toml`. An event's own profile can add to it or replace entries.
"""

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from broker.i18n import typeset
from broker.rules.points import HUNDRED, to_imp
from broker.rules.profile import ComparisonRules, Setting, Step
from broker.rules.riichi import RiichiProfile

FALSE_HU: Final = "false_hu"
"""The id of the one infraction whose fines are a setting of every profile."""

Measure = Literal["warning", "dead_hand", "fine"]


class Penalty(NamedTuple):
    """The penalty for an infraction. A fine is one of `imps`, at the arbiter's choice, or `points`, to be converted."""

    measure: Measure
    imps: tuple[int, ...] = ()
    points: int = 0


class Infraction(Struct, frozen=True):
    """One entry of the catalogue. `names`: by language."""

    id: str
    names: Mapping[str, str]
    steps: tuple[Step, ...]
    source: str

    def name(self, language: str) -> str:
        """Return the name in a language, falling back to another language or the id."""
        return self.names.get(language) or next(iter(self.names.values()), self.id)

    def source_in(self, language: str) -> str:
        """Return the source in a language. A source from an event's own profile is returned as it was written."""
        return typeset(language, _shipped().sources.get(self.source, {}).get(language, self.source))

    def penalty(self, earlier: int) -> Penalty:
        """Return the penalty for a player with this many earlier infractions of the kind."""
        return penalty_of(self.steps[min(earlier, len(self.steps) - 1)])

    @property
    def penalties(self) -> tuple[Penalty, ...]:
        """All penalties of the infraction, that for the first time first."""
        return tuple(map(penalty_of, self.steps))


def penalty_of(step: Step) -> Penalty:
    """Parse one step of a catalogue."""
    if step == "warning":
        return Penalty("warning")
    if step == "dead hand":
        return Penalty("dead_hand")
    *sums, unit = step.replace(" or ", " ").split()
    numbers = tuple(map(int, sums))
    return Penalty("fine", numbers) if unit == "IMP" else Penalty("fine", points=numbers[0])


class _Shipped(Struct, frozen=True):
    """The shipped data: the minutes for an appeal, names and sources by language, and one catalogue per profile."""

    appeals: Setting[int]
    names: dict[str, dict[str, str]]
    sources: dict[str, dict[str, str]]
    """Translations of the English sources."""
    catalogues: dict[str, dict[str, Setting[tuple[Step, ...]]]]


@cache
def _shipped() -> _Shipped:
    tree = tomllib.loads((files("broker.rules") / "infractions.toml").read_text(encoding="utf-8"))
    fixed = {part: tree.pop(part) for part in ("appeals", "names", "sources")}
    return msgspec.convert({**fixed, "catalogues": tree}, _Shipped)


def infractions_of(profile: ComparisonRules) -> dict[str, Infraction]:
    """Return a profile's infractions by id, false hu first. A profile without a catalogue uses its rule book's."""
    shipped = _shipped()
    book = "riichi" if isinstance(profile, RiichiProfile) else "oedmc-2020"
    profile_id = getattr(profile, "id", book)
    fines = profile.false_hu.fines
    found = {
        FALSE_HU: Infraction(
            FALSE_HU, shipped.names[FALSE_HU], (f"{' or '.join(map(str, fines.value))} IMP",), fines.source
        )
    }
    for id_, listed in shipped.catalogues.get(profile_id, shipped.catalogues[book]).items():
        found[id_] = Infraction(id_, shipped.names[id_], listed.value, listed.source)
    for id_, own in profile.infractions.items():
        found[id_] = Infraction(id_, own.name or shipped.names.get(id_, {}), own.value, own.source)
    return found


def in_imp(profile: ComparisonRules, penalty: Penalty) -> Penalty:
    """Convert a penalty in points to IMPs by the profile's own scale, at least 1 IMP."""
    if not penalty.points:
        return penalty
    points = Fraction(penalty.points, HUNDRED if isinstance(profile, RiichiProfile) else 1)
    return penalty._replace(imps=(max(1, to_imp(points, profile.imp)),))


def fines_of(profile: ComparisonRules, infraction: str | None) -> frozenset[int]:
    """Return all fines that a profile has for an infraction, or for all infractions if it does not have this one."""
    catalogue = infractions_of(profile)
    wanted = [catalogue[infraction]] if infraction in catalogue else list(catalogue.values())
    return frozenset(imp for one in wanted for penalty in one.penalties for imp in in_imp(profile, penalty).imps)


class Choice(NamedTuple):
    """One penalty that may be ruled: a fine in IMPs, or a warning or dead hand without a fine."""

    measure: Measure
    imp: int = 0


def choices_of(profile: ComparisonRules, infraction: str) -> tuple[Choice, ...]:
    """Return the penalties for an infraction, the first time's first; none if the profile does not have it."""
    entry = infractions_of(profile).get(infraction)
    penalties = [in_imp(profile, one) for one in entry.penalties] if entry else []
    listed = (Choice(one.measure, imp) for one in penalties for imp in one.imps or (0,))
    return tuple(dict.fromkeys(listed))


def appeal_minutes(profile: ComparisonRules) -> Setting[int]:
    """Return the number of minutes after a ruling in which it may be appealed."""
    return profile.appeals.minutes if profile.appeals else _shipped().appeals
