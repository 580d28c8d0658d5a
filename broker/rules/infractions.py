"""What is done wrong at a table, by profile: each with its name, its source, and what it costs when it is repeated.

The catalogue that ships is `infractions.toml`; a profile of one's own adds to it, or says otherwise.
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
from broker.rules.profile import ComparisonRules, Stated, Step
from broker.rules.riichi import RiichiProfile

FALSE_HU: Final = "false_hu"
"""Its fines are a setting of every profile."""

Measure = Literal["warning", "dead_hand", "fine"]


class Penalty(NamedTuple):
    """What an infraction costs. A fine is one of `imps`, as the arbiter chooses, or so many `points`, converted."""

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
        """Return how it is called."""
        return self.names.get(language) or next(iter(self.names.values()), self.id)

    def source_in(self, language: str) -> str:
        """Return the source as it is read in a language; one of a profile of one's own as it is written there."""
        return typeset(language, _shipped().sources.get(self.source, {}).get(language, self.source))

    def penalty(self, earlier: int) -> Penalty:
        """Return what it costs whoever has done it so many times before."""
        return penalty_of(self.steps[min(earlier, len(self.steps) - 1)])

    @property
    def penalties(self) -> tuple[Penalty, ...]:
        """What it may cost."""
        return tuple(map(penalty_of, self.steps))


def penalty_of(step: Step) -> Penalty:
    """Read one step of a catalogue."""
    if step == "warning":
        return Penalty("warning")
    if step == "dead hand":
        return Penalty("dead_hand")
    *sums, unit = step.replace(" or ", " ").split()
    numbers = tuple(map(int, sums))
    return Penalty("fine", numbers) if unit == "IMP" else Penalty("fine", points=numbers[0])


class _Shipped(Struct, frozen=True):
    """What ships: the minutes for an appeal, names and sources by language, and a catalogue a profile."""

    appeals: Stated[int]
    names: dict[str, dict[str, str]]
    sources: dict[str, dict[str, str]]
    """Translations of the English texts."""
    catalogues: dict[str, dict[str, Stated[tuple[Step, ...]]]]


@cache
def _shipped() -> _Shipped:
    tree = tomllib.loads((files("broker.rules") / "infractions.toml").read_text(encoding="utf-8"))
    fixed = {part: tree.pop(part) for part in ("appeals", "names", "sources")}
    return msgspec.convert({**fixed, "catalogues": tree}, _Shipped)


def infractions_of(profile: ComparisonRules) -> dict[str, Infraction]:
    """Return the catalogue of a profile by id, false hu first. One that ships none of its own has that of its book."""
    shipped = _shipped()
    book = "riichi" if isinstance(profile, RiichiProfile) else "oedmc-2020"
    named = getattr(profile, "id", book)
    fines = profile.false_hu.fines
    found = {
        FALSE_HU: Infraction(
            FALSE_HU, shipped.names[FALSE_HU], (f"{' or '.join(map(str, fines.value))} IMP",), fines.source
        )
    }
    for id_, listed in shipped.catalogues.get(named, shipped.catalogues[book]).items():
        found[id_] = Infraction(id_, shipped.names[id_], listed.value, listed.source)
    for id_, own in profile.infractions.items():
        found[id_] = Infraction(id_, own.name or shipped.names.get(id_, {}), own.value, own.source)
    return found


def in_imp(profile: ComparisonRules, penalty: Penalty) -> Penalty:
    """Convert a penalty in points by the profile's own scale; a small one is 1 IMP."""
    if not penalty.points:
        return penalty
    points = Fraction(penalty.points, HUNDRED if isinstance(profile, RiichiProfile) else 1)
    return penalty._replace(imps=(max(1, to_imp(points, profile.imp)),))


def fines_of(profile: ComparisonRules, infraction: str | None) -> frozenset[int]:
    """Return the fines that a profile has for an infraction; for none that is named, all."""
    listed = infractions_of(profile)
    asked = [listed[infraction]] if infraction in listed else list(listed.values())
    return frozenset(imp for one in asked for penalty in one.penalties for imp in in_imp(profile, penalty).imps)


class Choice(NamedTuple):
    """One penalty that may be ruled: a fine of so many IMP, or a warning or a dead hand without one."""

    measure: Measure
    imp: int = 0


def choices_of(profile: ComparisonRules, infraction: str) -> tuple[Choice, ...]:
    """Return the penalties that a profile has for an infraction, the first time's first; none for one it has not."""
    found = infractions_of(profile).get(infraction)
    penalties = [in_imp(profile, one) for one in found.penalties] if found else []
    listed = (Choice(one.measure, imp) for one in penalties for imp in one.imps or (0,))
    return tuple(dict.fromkeys(listed))


def appeal_minutes(profile: ComparisonRules) -> Stated[int]:
    """Return for how many minutes after a ruling may be appealed against it."""
    return profile.appeals.minutes if profile.appeals else _shipped().appeals
