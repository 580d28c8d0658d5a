"""What is wrong with a profile that somebody has written: every mistake, with its place and its line."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, TypeVar, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from broker.contract.words import LONGEST_PROFILE
from broker.rules.allowed import allowed
from broker.rules.allowed import found as found_at
from broker.rules.profile import Profile, Stated

STATED: Final = frozenset(field.encode_name for field in fields(Stated))
"""What a setting is written with."""

P = TypeVar("P", bound=Struct)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake: the setting (`imp.scale`; empty for the whole), the line where it was found, what is wrong.

    Where a setting is wrong by itself, also what may stand there. As text always in this order:
    `line 12: imp.gap.value: found "middle"; allowed: "midpoint" or "floor"`.
    """

    where: str
    line: int | None
    what: str
    allowed: str = ""

    def __str__(self) -> str:
        line, where = f"line {self.line}: " if self.line else "", f"{self.where}: " if self.where else ""
        return f"{line}{where}{self.what}{f'; allowed: {self.allowed}' if self.allowed else ''}"


def examined(text: str) -> tuple[Profile | None, tuple[Mistake, ...]]:
    """Give the profile, or None and all that is wrong with it."""
    profile, problems = read_as(Profile, text)
    if profile is not None and (contradictions := tuple(_contradictions(profile, text))):
        return None, contradictions
    return profile, problems


def read_as(kind: type[P], text: str) -> tuple[P | None, tuple[Mistake, ...]]:
    """Read a profile of a rule book, or give None and every setting of it that cannot be."""
    if len(text) > LONGEST_PROFILE:
        return None, (Mistake("", None, f"found {len(text)} characters", f"at most {LONGEST_PROFILE}"),)
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
        return None, (Mistake("", None, f"not TOML: {error}"),)
    problems = tuple(_walk(kind, tree, "", text))
    return (None, problems) if problems else (msgspec.convert(tree, kind), ())


def _walk(kind: type[Struct], tree: Mapping[str, Any], way: str, text: str) -> Iterator[Mistake]:
    known = {field.encode_name: field.type for field in fields(kind)}
    for name in tree:
        if name not in known:
            line = line_of(text, way + name)
            yield Mistake(way + name, line, _unknown(name, list(known)), ", ".join(sorted(known)))
    for name, wanted in known.items():
        where = way + name
        if name not in tree:
            yield Mistake(where, None, "is missing", _wanted(wanted))
        elif _is_part(wanted):
            yield from _part(wanted, tree[name], where, text)
        else:
            yield from _leaf(wanted, tree[name], where, text)


def _is_part(wanted: object) -> bool:
    return isinstance(wanted, type) and issubclass(wanted, Struct)


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"is no setting{f'; {near[0]!r} is meant?' if near else ''}"


def _part(wanted: type[Struct], found: object, where: str, text: str) -> Iterator[Mistake]:
    if isinstance(found, dict):
        yield from _walk(wanted, found, f"{where}.", text)
    else:
        yield Mistake(where, line_of(text, where), f"found {found_at(found)}", _wanted(wanted))


def _leaf(wanted: Any, found: object, where: str, text: str) -> Iterator[Mistake]:  # noqa: ANN401 - a type of any kind
    if get_origin(wanted) is Stated and not isinstance(found, dict):
        yield Mistake(where, line_of(text, where), f"found {found_at(found)}", _wanted(wanted))
        return
    if get_origin(wanted) is Stated and isinstance(found, dict) and found.keys() != STATED:
        yield from _not_stated(wanted, found, where, text)
        return
    try:
        msgspec.convert(found, wanted)
    except msgspec.ValidationError as error:
        place = str(error).partition(" - at `$")[2].rstrip("`")
        deeper, there = where + place, found_at(found, place)
        yield Mistake(deeper, line_of(text, deeper), f"found {there}", allowed(wanted, place))


def _not_stated(wanted: Any, found: Mapping[str, Any], where: str, text: str) -> Iterator[Mistake]:  # noqa: ANN401 - as above
    """Name what a setting has beside its value and source, and which of the two it lacks."""
    for name in sorted(found.keys() - STATED):
        line = line_of(text, f"{where}.{name}")
        yield Mistake(f"{where}.{name}", line, _unknown(name, sorted(STATED)), ", ".join(sorted(STATED)))
    for name in sorted(STATED - found.keys()):
        yield Mistake(f"{where}.{name}", line_of(text, where), "is missing", allowed(wanted, f".{name}"))


def _wanted(wanted: Any) -> str:  # noqa: ANN401 - a type of any kind
    """Say what a setting is written as, and what its value may be."""
    if get_origin(wanted) is Stated:
        return f"a table with `value` ({allowed(wanted, '.value')}) and `source`"
    return allowed(wanted)


def _contradictions(profile: Profile, text: str) -> Iterator[Mistake]:
    """Find values that are right by themselves and make no sense beside the others."""
    scale = profile.imp.scale.value
    if list(scale) != sorted(set(scale)):
        line = line_of(text, "imp.scale.value")
        yield Mistake("imp.scale", line, "each step must start above the one before")
    fines = profile.false_hu.fines.value
    if list(fines) != sorted(set(fines)):
        yield Mistake(
            "false_hu.fines", line_of(text, "false_hu.fines.value"), "each fine is named once, the lowest first"
        )
    if len(set(profile.ties.chain.value)) < len(profile.ties.chain.value):
        yield Mistake("ties.chain", line_of(text, "ties.chain.value"), "one tie-break is named twice")
    if profile.imp.method.value == "cross" and profile.datum.own_score.value == "included":
        line = line_of(text, "datum.own_score.value")
        yield Mistake(
            "datum.own_score", line, "with `imp.method` cross nobody is compared with the own score: excluded"
        )


def line_of(text: str, way: str) -> int | None:
    """Give the line where a setting is written, or the one of its table, or None."""
    table, _, key = way.partition("[")[0].rpartition(".")
    current, of_table = "", None
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w. ]+?)\s*\]", line):
            current = header[1]
            of_table = number if current == way else of_table or (number if current == table else None)
        elif current == table and re.match(rf"\s*{re.escape(key)}\s*=", line):
            return number
    return of_table
