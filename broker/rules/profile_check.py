"""The mistakes in a rule profile, each with its place, its line and what is allowed there."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Any, Final, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct, inspect
from msgspec.structs import fields

from broker.errors import reason
from broker.protocol import LONGEST_PROFILE
from broker.rules.profile import Profile, Setting

KEYS: Final = frozenset(field.encode_name for field in fields(Setting))
"""The keys of a setting's table."""

P = TypeVar("P", bound=Struct)


@dataclass(frozen=True, slots=True)
class ProfileMistake:
    """One mistake: the setting (`imp.scale`; empty for the whole file), its line, and what is wrong.

    Where a single setting is wrong, also the values that are allowed. The text always has the order `line 12:
    imp.gap.value: found "middle"; allowed: "midpoint" or "floor"`.
    """

    where: str
    line: int | None
    what: str
    allowed: str = ""

    def __str__(self) -> str:
        line, where = f"line {self.line}: " if self.line else "", f"{self.where}: " if self.where else ""
        return f"{line}{where}{self.what}{f'; allowed: {self.allowed}' if self.allowed else ''}"


def examine_profile(text: str) -> tuple[Profile | None, tuple[ProfileMistake, ...]]:
    """Return the MCR profile, or None and all its mistakes."""
    profile, problems = read_profile(Profile, text)
    if profile is not None and (contradictions := tuple(_contradictions(profile, text))):
        return None, contradictions
    return profile, problems


def read_profile(kind: type[P], text: str) -> tuple[P | None, tuple[ProfileMistake, ...]]:
    """Read a profile of the given kind. Returns None and every faulty setting if it has mistakes."""
    if len(text) > LONGEST_PROFILE:
        return None, (ProfileMistake("", None, f"found {len(text)} characters", f"at most {LONGEST_PROFILE}"),)
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError is also raised for a number of thousands of digits
        return None, (ProfileMistake("", None, f"not TOML: {reason(error)}"),)
    problems = tuple(_mistakes(kind, tree, "", text))
    return (None, problems) if problems else (msgspec.convert(tree, kind), ())


def _mistakes(kind: type[Struct], tree: Mapping[str, Any], path: str, text: str) -> Iterator[ProfileMistake]:
    known = {
        field.encode_name: get_args(field.type)[0] if isinstance(field.type, UnionType) else field.type
        for field in fields(kind)
    }
    optional = {field.encode_name for field in fields(kind) if not field.required}
    for name in tree:
        if name not in known:
            line = setting_line(text, path + name)
            yield ProfileMistake(path + name, line, _unknown(name, list(known)), ", ".join(sorted(known)))
    for name, wanted in known.items():
        where = path + name
        if name not in tree:
            if name not in optional:
                yield ProfileMistake(where, None, "is missing", _wanted(wanted))
        elif isinstance(wanted, type) and issubclass(wanted, Struct):
            yield from _mistakes_of_part(wanted, tree[name], where, text)
        else:
            yield from _mistakes_of_setting(wanted, tree[name], where, text)


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"is no setting{f'; {near[0]!r} is meant?' if near else ''}"


def _mistakes_of_part(wanted: type[Struct], found: object, where: str, text: str) -> Iterator[ProfileMistake]:
    if isinstance(found, dict):
        yield from _mistakes(wanted, found, f"{where}.", text)
    else:
        yield ProfileMistake(where, setting_line(text, where), f"found {value_found(found)}", _wanted(wanted))


def _mistakes_of_setting(wanted: Any, found: object, where: str, text: str) -> Iterator[ProfileMistake]:  # noqa: ANN401 - a type of any kind
    if get_origin(wanted) is Setting and not isinstance(found, dict):
        yield ProfileMistake(where, setting_line(text, where), f"found {value_found(found)}", _wanted(wanted))
        return
    if get_origin(wanted) is Setting and isinstance(found, dict) and found.keys() != KEYS:
        yield from _wrong_keys(wanted, found, where, text)
        return
    try:
        msgspec.convert(found, wanted)
    except msgspec.ValidationError as error:
        place = str(error).partition(" - at `$")[2].rstrip("`")
        deeper, value = where + place, value_found(found, place)
        yield ProfileMistake(deeper, setting_line(text, deeper), f"found {value}", allowed_values(wanted, place))


def _wrong_keys(wanted: Any, found: Mapping[str, Any], where: str, text: str) -> Iterator[ProfileMistake]:  # noqa: ANN401 - any type
    """Yield the keys that a setting has besides its value and source, and those of the two that it lacks."""
    for name in sorted(found.keys() - KEYS):
        line = setting_line(text, f"{where}.{name}")
        yield ProfileMistake(f"{where}.{name}", line, _unknown(name, sorted(KEYS)), ", ".join(sorted(KEYS)))
    for name in sorted(KEYS - found.keys()):
        yield ProfileMistake(
            f"{where}.{name}", setting_line(text, where), "is missing", allowed_values(wanted, f".{name}")
        )


def _wanted(wanted: Any) -> str:  # noqa: ANN401 - a type of any kind
    """Return how a setting is written, and what its value may be."""
    if get_origin(wanted) is Setting:
        return f"a table with `value` ({allowed_values(wanted, '.value')}) and `source`"
    return allowed_values(wanted)


def _contradictions(profile: Profile, text: str) -> Iterator[ProfileMistake]:
    """Yield values that are valid by themselves but contradict other settings."""
    scale = profile.imp.scale.value
    if list(scale) != sorted(set(scale)):
        line = setting_line(text, "imp.scale.value")
        yield ProfileMistake("imp.scale", line, "each step must start above the one before")
    fines = profile.false_hu.fines.value
    if list(fines) != sorted(set(fines)):
        yield ProfileMistake(
            "false_hu.fines", setting_line(text, "false_hu.fines.value"), "each fine is named once, the lowest first"
        )
    if len(set(profile.ties.chain.value)) < len(profile.ties.chain.value):
        yield ProfileMistake("ties.chain", setting_line(text, "ties.chain.value"), "one tie-break is named twice")
    if profile.imp.method.value == "cross" and profile.datum.own_score.value == "included":
        line = setting_line(text, "datum.own_score.value")
        yield ProfileMistake(
            "datum.own_score", line, "with `imp.method` cross nobody is compared with their own score: excluded"
        )


def setting_line(text: str, path: str) -> int | None:
    """Return the line number of a setting, or else that of its table, or None."""
    table, _, key = path.partition("[")[0].rpartition(".")
    current, of_table = "", None
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w. ]+?)\s*\]", line):
            current = header[1]
            of_table = number if current == path else of_table or (number if current == table else None)
        elif current == table and re.match(rf"\s*{re.escape(key)}\s*=", line):
            return number
    return of_table


PATH_STEP: Final = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
"""One step of a path as msgspec writes it: `.value`, `[3]`, or `[...]` for any entry of a table."""

NO_NEWLINE: Final = r"$(?!\n)"
"""The end of the contract's patterns, which is left out of messages."""

LONGEST_VALUE: Final = 60
"""The most characters quoted of a faulty value."""


def allowed_values(wanted: Any, place: str = "") -> str:  # noqa: ANN401 - a type of any kind
    """Return what a type accepts, or what it accepts at a place inside, given by the path that msgspec writes."""
    return _described(_type_at(inspect.type_info(wanted), place))


def value_found(tree: object, place: str = "") -> str:
    """Return the value at a place as JSON, shortened if it is long."""
    value = tree
    for name, number in PATH_STEP.findall(place):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and number.isdigit() and int(number) < len(value):
            value = value[int(number)]
        else:
            break
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _type_at(kind: inspect.Type, place: str) -> inspect.Type:
    for name, number in PATH_STEP.findall(place):
        inner = next(_inside(kind, name, number), None)
        if inner is None:
            return kind
        kind = inner
    return kind


def _inside(kind: inspect.Type, name: str, number: str) -> Iterator[inspect.Type]:
    match kind:
        case inspect.Metadata():
            yield from _inside(kind.type, name, number)
        case inspect.StructType():
            yield from (field.type for field in kind.fields if field.encode_name == name)
        case inspect.VarTupleType() | inspect.ListType():
            yield kind.item_type
        case inspect.TupleType() if number.isdigit():
            yield from kind.item_types[int(number) : int(number) + 1]
        case inspect.DictType():
            yield kind.value_type


def _described(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata():
            return _described(kind.type)
        case inspect.UnionType():
            return _or(_described(one) for one in kind.types)
        case inspect.VarTupleType() | inspect.ListType():
            return f"a list{_length(kind.min_length, kind.max_length, 'entries')}, each {_described(kind.item_type)}"
        case inspect.DictType():
            return f"a table{_length(kind.min_length, kind.max_length, 'entries')}, each {_described(kind.value_type)}"
        case inspect.StructType():
            return f"a table with {', '.join(f'`{field.encode_name}`' for field in kind.fields if field.required)}"
        case _:
            return _described_leaf(kind)


def _described_leaf(kind: inspect.Type) -> str:
    match kind:
        case inspect.LiteralType():
            return _or(json.dumps(value) for value in kind.values)
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"a whole number{_bounds(kind.ge, kind.le)}"
        case inspect.StrType():
            return f"a text{_length(kind.min_length, kind.max_length, 'characters')}{_like(kind.pattern)}"
        case _:
            return type(kind).__name__.removesuffix("Type").lower()


def _or(words: Iterator[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _bounds(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f" of at least {least}"
    return "" if most is None else f" of at most {most}"


def _length(least: int | None, most: int | None, what: str) -> str:
    bounds = _bounds(least, most)
    return f"{bounds} {what}".replace(" from ", " of ") if bounds else ""


def _like(pattern: str | None) -> str:
    return f" like {pattern.removeprefix('^').removesuffix(NO_NEWLINE)}" if pattern else ""
