"""The table of topics (message, writer, readers, limits) and the codec of messages.

Broker permissions, the AsyncAPI document and the pages in docs/ are all generated from the table. Every incoming
message is either decoded here or refused.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal, TypeVar

import msgspec

from broker.protocol import counting, halls, messages
from broker.protocol.facts import FACT_KINDS
from broker.protocol.messages import LogMessage, Message, NewerLogMessage

Role = Literal["table", "scorer", "desk", "arbiter", "display", "hall"]
"""Holders of credentials: each table, the scorer, the desk, read-only arbiters, public displays and, at the centre of
an event in many places, each hall."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One kind of topic. `{event}`, `{table}`, `{deal}` and `{hall}` stand for one level each."""

    name: str
    pattern: str
    message: type[Message]
    writer: Role
    readers: tuple[Role, ...]
    retain: bool
    limit: int
    """Largest payload in bytes."""
    about: str
    qos: Literal[0, 1] = 1
    """0 for messages that are useless later: the broker does not queue them for an absent reader."""

    def at(self, event: str, *, table: int | None = None, deal: int | None = None, hall: str | None = None) -> str:
        """Return the topic for one event, table, deal or hall; a level left out becomes the wildcard `+`."""
        return self.pattern.format(
            event=event,
            table="+" if table is None else table,
            deal="+" if deal is None else deal,
            hall="+" if hall is None else hall,
        )


TOPICS: Final[tuple[Topic, ...]] = (
    Topic(
        "state",
        "hm/{event}/table/{table}/state",
        messages.TableState,
        "table",
        ("scorer", "arbiter"),
        retain=True,
        limit=65_536,
        about="lifecycle, state, deal, unsent count, health; its last will says `lost`",
    ),
    Topic(
        "log",
        "hm/{event}/table/{table}/log",
        messages.LogMessage,
        "table",
        ("scorer", "arbiter"),
        retain=False,
        limit=20_480,
        about="every accepted fact in seq order",
    ),
    Topic(
        "beat",
        "hm/{event}/table/{table}/beat",
        messages.Beat,
        "table",
        ("scorer", "arbiter"),
        retain=False,
        limit=1024,
        about="sign of life of the table, every ten seconds",
        qos=0,
    ),
    Topic(
        "scorer",
        "hm/{event}/scorer",
        messages.ScorerState,
        "scorer",
        ("table", "scorer", "desk", "arbiter"),
        retain=True,
        limit=1024,
        about="sign of life of the scorer, every ten seconds; its last will says `gone`",
        qos=0,
    ),
    Topic(
        "scorer_asked",
        "hm/{event}/scorer/asked",
        messages.ScorerAsked,
        "scorer",
        ("scorer", "arbiter"),
        retain=False,
        limit=1024,
        about="a scorer that starts asks whether another one is active",
        qos=0,
    ),
    Topic(
        "receipt",
        "hm/{event}/receipt/{table}",
        messages.Receipt,
        "scorer",
        ("table", "arbiter"),
        retain=True,
        limit=65_536,
        about="which of a table's facts are stored",
    ),
    Topic(
        "assignment",
        "hm/{event}/assignment/{table}",
        messages.Assignment,
        "scorer",
        ("table",),
        retain=True,
        limit=262_144,
        about="who sits where, which deal, serial order to restore",
    ),
    Topic(
        "served",
        "hm/{event}/served/{table}",
        messages.Served,
        "scorer",
        ("table", "arbiter"),
        retain=True,
        limit=4096,
        about="which device serves a table, and the progress of its call",
    ),
    Topic(
        "kept",
        "hm/{event}/kept/{table}",
        messages.Kept,
        "scorer",
        ("table",),
        retain=True,
        limit=262_144,
        about="sealed rulings and admissions that a table stores for the scorer",
    ),
    Topic(
        "kept_back",
        "hm/{event}/table/{table}/kept",
        messages.KeptBack,
        "table",
        ("scorer",),
        retain=False,
        limit=262_144,
        about="stored records that the scorer has not named, returned to a restored store",
    ),
    Topic(
        "order",
        "hm/{event}/order/{table}",
        messages.Order,
        "desk",
        ("table", "scorer", "arbiter"),
        retain=False,
        limit=4096,
        about="orders from the desk",
    ),
    Topic(
        "pin",
        "hm/{event}/pin/{table}",
        messages.ArbiterPin,
        "scorer",
        ("table",),
        retain=True,
        limit=2048,
        about="how a table has an arbiter's PIN checked, and the result for the last one; never the PIN itself",
    ),
    Topic(
        "pin_given",
        "hm/{event}/table/{table}/pin",
        messages.PinGiven,
        "table",
        ("scorer",),
        retain=False,
        limit=2048,
        about="a PIN that was typed at a table, sealed to the event's key",
    ),
    Topic(
        "count",
        "hm/{event}/table/{table}/count",
        counting.CountRequest,
        "table",
        ("scorer",),
        retain=False,
        limit=4096,
        about="a declared hand to be valued, as serials of its tiles",
    ),
    Topic(
        "counted",
        "hm/{event}/counted/{table}",
        counting.Counted,
        "scorer",
        ("table",),
        retain=False,
        limit=16_384,
        about="the value of a declared hand, or why it has none; never a face",
    ),
    Topic(
        "traveller",
        "hm/{event}/traveller/{deal}",
        messages.Traveller,
        "scorer",
        ("desk", "arbiter"),
        retain=True,
        limit=1_048_576,
        about="plays of a deal side by side, for arbiters; if over 1,638, only the first tables, once the deal is over",
    ),
    Topic(
        "standings",
        "hm/{event}/standings",
        messages.Standings,
        "scorer",
        ("desk", "arbiter"),
        retain=True,
        limit=1_048_576,
        about="standings, provisional or final; as many places as fit",
    ),
    Topic(
        "ruling",
        "hm/{event}/ruling",
        messages.Ruling,
        "scorer",
        ("desk", "arbiter"),
        retain=False,
        limit=262_144,
        about="rulings from the desk, as they are stored",
    ),
    Topic(
        "alert",
        "hm/{event}/alert",
        messages.Alert,
        "scorer",
        ("desk", "arbiter"),
        retain=False,
        limit=8192,
        about="conflicts, gaps, two devices on one table, refused messages, devices that fail or recover",
    ),
    Topic(
        "public_traveller",
        "hm/{event}/public/deal/{deal}",
        messages.PublicTraveller,
        "scorer",
        ("display", "arbiter"),
        retain=True,
        limit=1_048_576,
        about="the same for everybody, once all tables have played the deal",
    ),
    Topic(
        "public_standings",
        "hm/{event}/public/places",
        messages.PublicStandings,
        "scorer",
        ("display", "arbiter"),
        retain=True,
        limit=1_048_576,
        about="standings after the deals that all their tables have played; as many places as fit",
    ),
    Topic(
        "hall_row",
        "hm/{event}/hall/{hall}/row",
        halls.HallRow,
        "hall",
        ("scorer",),
        retain=False,
        limit=1_048_576,
        about="to the centre: the rows of a hall's journal, in order",
    ),
    Topic(
        "hall_state",
        "hm/{event}/hall/{hall}/state",
        halls.HallState,
        "hall",
        ("scorer",),
        retain=True,
        limit=65_536,
        about="to the centre: sign of life of the hall, every ten seconds; its last will says `gone`",
    ),
    Topic(
        "hall_receipt",
        "hm/{event}/centre/{hall}",
        halls.HallReceipt,
        "scorer",
        ("hall",),
        retain=True,
        limit=4096,
        about="from the centre: which of a hall's rows it has stored",
    ),
    Topic(
        "centre",
        "hm/{event}/centre",
        halls.CentreState,
        "scorer",
        ("hall",),
        retain=True,
        limit=65_536,
        about="from the centre: the deals that all tables of all halls have played",
    ),
)

(
    STATE,
    LOG,
    BEAT,
    SCORER,
    SCORER_ASKED,
    RECEIPT,
    ASSIGNMENT,
    SERVED,
    KEPT,
    KEPT_BACK,
    ORDER,
    PIN,
    PIN_GIVEN,
    COUNT,
    COUNTED,
    TRAVELLER,
    STANDINGS,
    RULING,
    ALERT,
    PUBLIC_TRAVELLER,
    PUBLIC_STANDINGS,
    HALL_ROW,
    HALL_STATE,
    HALL_RECEIPT,
    CENTRE,
) = TOPICS


@dataclass(frozen=True, slots=True)
class ParsedTopic:
    """A topic split into its levels."""

    topic: Topic
    event: str
    table: int | None = None
    deal: int | None = None
    hall: str | None = None


def _expression(topic: Topic) -> re.Pattern[str]:
    levels = {
        "event": r"(?P<event>[a-z0-9][a-z0-9-]{0,31})",
        "table": r"(?P<table>[1-9][0-9]{0,3})",
        "deal": r"(?P<deal>[1-9][0-9]{0,3})",
        "hall": r"(?P<hall>[a-z0-9][a-z0-9-]{0,23})",
    }
    return re.compile(topic.pattern.format(**levels))


_EXPRESSIONS: Final = tuple((topic, _expression(topic)) for topic in TOPICS)


@lru_cache(maxsize=4096)
def parse_topic(text: str) -> ParsedTopic | None:
    """Parse a topic; return None if it is not one of ours."""
    for topic, expression in _EXPRESSIONS:
        if match := expression.fullmatch(text):
            found = match.groupdict()
            table, deal = found.get("table"), found.get("deal")
            return ParsedTopic(
                topic,
                found["event"],
                int(table) if table else None,
                int(deal) if deal else None,
                found.get("hall"),
            )
    return None


MessageT = TypeVar("MessageT", bound=Message)


class Refused(Exception):
    """An incoming message that was refused. `code` is stable (docs/codes.md)."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Exceptions that a decoder raises for bytes that are not a message of its kind."""


encode: Final[Callable[[Message], bytes]] = msgspec.json.Encoder().encode
"""Return the JSON of a message, in UTF-8."""


def decode_on_topic(topic: str, payload: bytes) -> tuple[ParsedTopic, Message]:
    """Decode a message that arrived on a topic, even a fact of unknown kind if the rest of it is valid.

    Raises Refused with one of the codes `unknown_topic`, `too_large`, `malformed`, `wrong_event`, `wrong_table`,
    `wrong_deal`, `wrong_hall`.
    """
    place = parse_topic(topic)
    if place is None:
        raise Refused("unknown_topic", topic[:200])
    if len(payload) > place.topic.limit:
        raise Refused("too_large", f"{len(payload)} bytes, at most {place.topic.limit}")
    kind = place.topic.message
    message = decode_fact(payload) if kind is LogMessage else decode(kind, payload)
    if encode(message) != payload:  # our own encoding never repeats a name, so only others are checked
        refuse_duplicate_names(payload)
    if message.event != place.event:
        raise Refused("wrong_event", f"event {message.event} on the topic of {place.event}")
    table = getattr(message, "table", None)
    if place.table is not None and table != place.table:
        raise Refused("wrong_table", f"table {table} on the topic of table {place.table}")
    deal = getattr(message, "deal", None)
    if place.deal is not None and deal != place.deal:
        raise Refused("wrong_deal", f"deal {deal} on the topic of deal {place.deal}")
    if place.hall is not None and getattr(message, "hall", None) != place.hall:
        raise Refused("wrong_hall", f"another hall on the topic of hall {place.hall}")
    return place, message


def decode_fact(payload: bytes) -> LogMessage:
    """Decode a fact, even of an unknown kind (NewerFact) so that it can be forwarded. Raises Refused `malformed`."""
    try:
        return decode(LogMessage, payload)
    except Refused:
        with suppress(Refused):
            newer = decode(NewerLogMessage, payload)
            if newer.fact.type not in FACT_KINDS:
                return newer
        raise


def decode(kind: type[MessageT], payload: bytes) -> MessageT:
    """Decode a message of a known kind. Raises Refused `malformed`."""
    try:
        return decoder(kind).decode(payload)  # type: ignore[no-any-return]  # `cache` loses the type
    except UNREADABLE as error:
        raise Refused("malformed", str(error)[:300]) from None


@cache
def decoder(kind: type[MessageT]) -> msgspec.json.Decoder[MessageT]:
    """Return the decoder for a kind, for callers that decode many; it raises UNREADABLE.

    Two threads that build the decoder of a struct type at the same time crash msgspec 0.22. Decoders used by several
    threads are therefore made at import.
    """
    return msgspec.json.Decoder(kind)


for _topic in TOPICS:
    decoder(_topic.message)


def refuse_duplicate_names(payload: bytes) -> None:
    """Refuse JSON with a repeated name in an object: msgspec uses the last value, other readers the first.

    Invalid UTF-8, which msgspec skips over in places, is refused too: stored data must be forwardable unchanged.
    """
    try:
        json.loads(payload.decode(), object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise Refused("malformed", str(error)[:300]) from None


def _without_duplicates(pairs: list[tuple[str, object]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("an object has a duplicate name")
