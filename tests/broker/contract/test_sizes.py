"""A message that fits its struct fits its topic: no table can say something true that is refused for its length."""

import re
from typing import Any

import pytest
from msgspec import inspect

from broker.contract.topics import BY_NAME
from broker.contract.wire import encode

WORST = "\x01"
"""Takes six bytes in JSON, more than any other character."""


def longest(kind: inspect.Type) -> Any:  # noqa: ANN401 - a value of any type
    """Give a value of a type that takes the most bytes."""
    match kind:
        case inspect.Metadata():
            return longest(kind.type)
        case inspect.StructType():
            return kind.cls(**{field.name: longest(field.type) for field in kind.fields})
        case inspect.UnionType():
            return max((longest(one) for one in kind.types), key=lambda value: len(encode_any(value)))
        case inspect.VarTupleType():
            return (longest(kind.item_type),) * bound(kind.max_length)
        case inspect.DictType():
            return {key: longest(kind.value_type) for key in keys(kind)}
        case _:
            return longest_leaf(kind)


def longest_leaf(kind: inspect.Type) -> object:
    """Give the value of a leaf that takes the most bytes."""
    match kind:
        case inspect.IntType():
            return max(bound(kind.ge), bound(kind.le), key=lambda number: len(str(number)))
        case inspect.LiteralType():
            return max(kind.values, key=lambda word: len(str(word)))
        case inspect.StrType(pattern=str(pattern)):
            return "a" * (1 + max(map(int, re.findall(r"(\d+)}", pattern))))
        case inspect.StrType():
            return WORST * bound(kind.max_length)
        case inspect.BoolType():
            return False
        case _:
            return None


def keys(kind: inspect.DictType) -> list[Any]:
    """Give as many keys as a mapping may have: its words, or different texts of the greatest length."""
    if isinstance(kind.key_type, inspect.LiteralType):
        return list(kind.key_type.values)
    text = longest(kind.key_type)
    if isinstance(text, int):
        return [text - at for at in range(bound(kind.max_length))]
    return [text[:-1] + chr(at) for at in range(1, bound(kind.max_length) + 1)]


def bound(limit: int | None) -> int:
    """Give a bound, which every list, text and number here has to have."""
    assert limit is not None
    return limit


def encode_any(value: Any) -> bytes:  # noqa: ANN401 - a value of any type
    """Give the JSON of a value."""
    return encode(value)


@pytest.mark.parametrize("name", ["state", "log", "receipt", "order", "ruling", "alert", "count", "counted"])
def test_the_longest_message_fits_its_topic(name: str) -> None:
    topic = BY_NAME[name]
    assert len(encode(longest(inspect.type_info(topic.message)))) <= topic.limit
