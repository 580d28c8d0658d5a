"""Strategies for any message, derived from its struct, so that new fields are tested without further work."""

import re
import sys
from functools import cache
from typing import Any, Final

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from broker.protocol import TOPICS, Message, Topic

TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def messages(topic: Topic) -> st.SearchStrategy[Message]:
    """Return any message of one topic."""
    return of_type(topic.message)


def any_message() -> st.SearchStrategy[tuple[Topic, Message]]:
    """Return any message of any topic."""
    return st.sampled_from(TOPICS).flatmap(lambda topic: st.tuples(st.just(topic), messages(topic)))


@cache
def of_type(kind: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - any type that msgspec knows
    """Return any value of a type."""
    return _of(inspect.type_info(kind))


def _of(kind: inspect.Type) -> st.SearchStrategy[Any]:
    if isinstance(kind, inspect.Metadata):  # a description; the type is inside
        return _of(kind.type)
    match kind:
        case inspect.StructType():
            return _of_struct(kind.cls)
        case inspect.UnionType():
            return st.one_of([_of(one) for one in kind.types])
        case inspect.DictType():
            return st.dictionaries(_of(kind.key_type), _of(kind.value_type), min_size=kind.min_length or 0, max_size=4)
        case inspect.TupleType() | inspect.VarTupleType():
            return _of_tuple(kind)
        case _:
            return _of_leaf(kind)


@cache
def _of_struct(kind: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Return any value of a struct. Cached, so that each struct is examined only once."""
    of = inspect.type_info(kind)
    assert isinstance(of, inspect.StructType)
    return st.builds(kind, **{field.name: _of(field.type) for field in of.fields})


def _of_tuple(kind: inspect.TupleType | inspect.VarTupleType) -> st.SearchStrategy[tuple[Any, ...]]:
    if isinstance(kind, inspect.TupleType):
        return st.tuples(*(_of(one) for one in kind.item_types))
    shortest = kind.min_length or 0
    longest = min(kind.max_length or 4, max(shortest, 4))
    return st.lists(_of(kind.item_type), min_size=shortest, max_size=longest).map(tuple)


def _of_leaf(kind: inspect.Type) -> st.SearchStrategy[Any]:
    match kind:
        case inspect.LiteralType():
            return st.sampled_from(kind.values)
        case inspect.IntType():
            return st.integers(kind.ge if kind.ge is not None else -(2**31), kind.le if kind.le is not None else 2**31)
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case inspect.StrType(pattern=str(pattern)):
            longest = kind.max_length or sys.maxsize
            return st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True).filter(
                lambda text: len(text) <= longest
            )
        case inspect.StrType():
            return TEXT.filter(lambda text: len(text) >= (kind.min_length or 0))
    raise TypeError(f"no example of {kind}")


def at(topic: Topic, message: Message) -> str:
    """Return the topic that a message belongs to."""
    said = msgspec.structs.asdict(message)
    return topic.at(message.event, table=said.get("table"), deal=said.get("deal"), hall=said.get("hall"))
