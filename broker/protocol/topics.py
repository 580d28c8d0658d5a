"""One table of topics: what is said there, how, by whom, and who may read it.

Broker permissions, the AsyncAPI document and the pages in docs/ are all made from it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from broker.protocol import counting, messages

Role = Literal["table", "scorer", "desk", "arbiter", "display"]
"""Who holds credentials: each table its own, the scorer, the desk, read-only arbiters, displays of what is public."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One kind of topic. `{event}`, `{table}` and `{deal}` stand for one level each."""

    name: str
    pattern: str
    message: type[messages.Message]
    writer: Role
    readers: tuple[Role, ...]
    retain: bool
    limit: int
    """Largest payload in bytes."""
    about: str
    qos: Literal[1] = 1

    def at(self, event: str, *, table: int | None = None, deal: int | None = None) -> str:
        """Return the topic for one event, table or deal; a level left out becomes the wildcard `+`."""
        return self.pattern.format(
            event=event, table="+" if table is None else table, deal="+" if deal is None else deal
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
        about="lifecycle, state, deal, unsent count, health; the table's last will says lost",
    ),
    Topic(
        "log",
        "hm/{event}/table/{table}/log",
        messages.LogMessage,
        "table",
        ("scorer", "arbiter"),
        retain=False,
        limit=16_384,
        about="every accepted fact in seq order",
    ),
    Topic(
        "receipt",
        "hm/{event}/receipt/{table}",
        messages.Receipt,
        "scorer",
        ("table", "arbiter"),
        retain=True,
        limit=65_536,
        about="which of a table's facts are safe",
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
        "desk",
        ("table",),
        retain=True,
        limit=1024,
        about="the hash of the arbiters' PIN, for this table alone; retained for a table that is off",
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
        about="the value of a declared hand, or why it cannot be given; never a face",
    ),
    Topic(
        "traveller",
        "hm/{event}/traveller/{deal}",
        messages.Traveller,
        "scorer",
        ("desk", "arbiter"),
        retain=True,
        limit=1_048_576,
        about="all plays of a deal side by side, for arbiters",
    ),
    Topic(
        "standings",
        "hm/{event}/standings",
        messages.Standings,
        "scorer",
        ("desk", "arbiter"),
        retain=True,
        limit=1_048_576,
        about="places, provisional or final",
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
        about="all plays of a deal side by side, once all its tables have played it",
    ),
    Topic(
        "public_standings",
        "hm/{event}/public/places",
        messages.PublicStandings,
        "scorer",
        ("display", "arbiter"),
        retain=True,
        limit=1_048_576,
        about="places after the deals that all their tables have played",
    ),
)

TOPICS_BY_NAME: Final[dict[str, Topic]] = {topic.name: topic for topic in TOPICS}

(
    STATE,
    LOG,
    RECEIPT,
    ASSIGNMENT,
    SERVED,
    ORDER,
    PIN,
    COUNT,
    COUNTED,
    TRAVELLER,
    STANDINGS,
    RULING,
    ALERT,
    PUBLIC_TRAVELLER,
    PUBLIC_STANDINGS,
) = TOPICS


def event_topic(event: str) -> str:
    """Return the topic that everything of an event lies under."""
    return f"hm/{event}"


@dataclass(frozen=True, slots=True)
class ParsedTopic:
    """A topic read apart."""

    topic: Topic
    event: str
    table: int | None = None
    deal: int | None = None


def _expression(topic: Topic) -> re.Pattern[str]:
    levels = {
        "event": r"(?P<event>[a-z0-9][a-z0-9-]{0,31})",
        "table": r"(?P<table>[1-9][0-9]{0,3})",
        "deal": r"(?P<deal>[1-9][0-9]{0,3})",
    }
    return re.compile(topic.pattern.format(**levels))


_EXPRESSIONS: Final = tuple((topic, _expression(topic)) for topic in TOPICS)


@lru_cache(maxsize=4096)
def parse_topic(text: str) -> ParsedTopic | None:
    """Read a topic apart; None where it is none of ours."""
    for topic, expression in _EXPRESSIONS:
        if match := expression.fullmatch(text):
            found = match.groupdict()
            table, deal = found.get("table"), found.get("deal")
            return ParsedTopic(topic, found["event"], int(table) if table else None, int(deal) if deal else None)
    return None
