"""The leaf types of a message's struct, with their paths."""

from collections.abc import Iterator
from typing import Any

from msgspec import inspect


def leaves(kind: Any) -> Iterator[tuple[str, inspect.Type]]:  # noqa: ANN401 - any type that msgspec knows
    """Yield each leaf of a type with its path, such as `plays[].players{}.name`; `{}?` are the keys of a mapping."""
    yield from _leaves("", inspect.type_info(kind))


def _leaves(way: str, kind: inspect.Type) -> Iterator[tuple[str, inspect.Type]]:
    inside = list(_inside(way, kind))
    if inside or isinstance(kind, inspect.StructType):
        for further, part in inside:
            yield from _leaves(further, part)
    else:
        yield way, kind


def _inside(way: str, kind: inspect.Type) -> Iterator[tuple[str, inspect.Type]]:
    match kind:
        case inspect.Metadata():
            yield way, kind.type
        case inspect.StructType():
            yield from ((f"{way}.{field.name}".lstrip("."), field.type) for field in kind.fields)
        case inspect.UnionType():
            yield from ((way, part) for part in kind.types)
        case inspect.TupleType():
            yield from ((f"{way}[{at}]", part) for at, part in enumerate(kind.item_types))
        case inspect.VarTupleType() | inspect.ListType():
            yield f"{way}[]", kind.item_type
        case inspect.DictType():
            yield f"{way}{{}}?", kind.key_type
            yield f"{way}{{}}", kind.value_type
