"""From structs to bytes and back. Whatever comes from the wire passes through `decode` or is refused."""

import json
from functools import cache
from typing import Final, TypeVar

import msgspec

from broker.protocol.messages import Message
from broker.protocol.topics import ParsedTopic, parse_topic

M = TypeVar("M", bound=Message)


class Refused(Exception):
    """A message that is not taken. `code` is stable (docs/codes.md)."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decoder raises of bytes that are no message of its kind."""


def encode(message: Message) -> bytes:
    """Return the JSON of a message, in UTF-8."""
    return msgspec.json.encode(message)


def decode_on_topic(topic: str, payload: bytes) -> tuple[ParsedTopic, Message]:
    """Read one message that came on a topic.

    Raises Refused with one of the codes `unknown_topic`, `too_large`, `malformed`, `wrong_event`, `wrong_table`,
    `wrong_deal`.
    """
    place = parse_topic(topic)
    if place is None:
        raise Refused("unknown_topic", topic[:200])
    if len(payload) > place.topic.limit:
        raise Refused("too_large", f"{len(payload)} bytes, at most {place.topic.limit}")
    message = decode(place.topic.message, payload)
    if encode(message) != payload:  # what we write ourselves says every name once: as ours do, it needs no second look
        refuse_duplicate_names(payload)
    if message.event != place.event:
        raise Refused("wrong_event", f"says {message.event}, came on the topic of {place.event}")
    table = getattr(message, "table", None)
    if place.table is not None and table != place.table:
        raise Refused("wrong_table", f"says table {table}, came on the topic of table {place.table}")
    deal = getattr(message, "deal", None)
    if place.deal is not None and deal != place.deal:
        raise Refused("wrong_deal", f"says deal {deal}, came on the topic of deal {place.deal}")
    return place, message


def decode(kind: type[M], payload: bytes) -> M:
    """Read one message of a known kind. Raises Refused `malformed`."""
    try:
        return decoder(kind).decode(payload)  # type: ignore[no-any-return]  # the cache forgets the kind
    except UNREADABLE as error:
        raise Refused("malformed", str(error)[:300]) from None


@cache
def decoder(kind: type[M]) -> msgspec.json.Decoder[M]:
    """Return what reads messages of a kind, for who reads very many; it raises UNREADABLE."""
    return msgspec.json.Decoder(kind)


def refuse_duplicate_names(payload: bytes) -> None:
    """Refuse an object that says a name twice: msgspec keeps the last, other readers the first."""
    try:
        json.loads(payload, object_pairs_hook=_without_duplicates)
    except ValueError as error:
        raise Refused("malformed", str(error)[:300]) from None


def _without_duplicates(pairs: list[tuple[str, object]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("an object says a name twice")
