"""What may stand at a place of a rule profile, in words, and what stands there: for whoever has written another."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import inspect

STEP: Final = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
"""One step of a way as msgspec writes it: `.value`, `[3]`, or `[...]` for any entry of a table."""

NO_NEWLINE: Final = r"$(?!\n)"
"""How patterns of the contract end."""

LONGEST: Final = 60
"""Characters of what was found."""


def allowed(wanted: Any, place: str = "") -> str:  # noqa: ANN401 - a type of any kind
    """Say what a type takes, or what it takes at a place inside, as msgspec writes the way to it."""
    return _said(_at(inspect.type_info(wanted), place))


def found(tree: object, place: str = "") -> str:
    """Write what stands at a place, as JSON, not too long."""
    here = tree
    for name, number in STEP.findall(place):
        if isinstance(here, dict) and name in here:
            here = here[name]
        elif isinstance(here, list) and number.isdigit() and int(number) < len(here):
            here = here[int(number)]
        else:
            break
    text = json.dumps(here, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _at(kind: inspect.Type, place: str) -> inspect.Type:
    for name, number in STEP.findall(place):
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


def _said(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata():
            return _said(kind.type)
        case inspect.UnionType():
            return _or(_said(one) for one in kind.types)
        case inspect.VarTupleType() | inspect.ListType():
            return f"a list{_length(kind.min_length, kind.max_length, 'entries')}, each {_said(kind.item_type)}"
        case inspect.DictType():
            return f"a table{_length(kind.min_length, kind.max_length, 'entries')}, each {_said(kind.value_type)}"
        case inspect.StructType():
            return f"a table with {', '.join(f'`{field.encode_name}`' for field in kind.fields if field.required)}"
        case _:
            return _said_of_one(kind)


def _said_of_one(kind: inspect.Type) -> str:
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
