"""A table's own session with the broker: what it hears, and what is said of it where it falls silent."""

from collections.abc import Callable

from broker.contract import topics
from broker.contract.counting import CountRequest
from broker.contract.link import Incoming, Link, LinkChanged, Will
from broker.contract.messages import Message
from broker.contract.wire import Refused, decode_at, encode
from kiosk.config import Settings
from kiosk.journal import Journal
from kiosk.table.state import Table
from kiosk.told import told_of
from kiosk.uplink import Wire


def table_link(
    settings: Settings, journal: Journal, state: Table, tell: Callable[[Incoming | LinkChanged], None]
) -> Link:
    """Give the link of the table as it stands; it does not connect yet."""
    name, table = settings.config.event, settings.config.table
    will = Will(topics.STATE.at(name, table=table), encode(told_of(settings.config, journal, state, "lost", 0, {})))
    return Link(
        settings.address(),
        # Of each device its own: under one name two devices would cut each other off, again and again.
        client_id=f"homologue-{name}-table-{table}-{journal.device[:8]}",
        topics=[topic.at(name, table=table) for topic in topics.TOPICS if "table" in topic.readers],
        tell=tell,
        will=will,
    )


def ask(link: Wire, request: CountRequest) -> None:
    """Ask the scorer what a hand is worth."""
    topic = topics.COUNT.at(request.event, table=request.table)
    link.publish(topic, encode(request), retain=topics.COUNT.retain)


def read(incoming: Incoming) -> tuple[Message | None, str | None]:
    """Give a message; or the code of why it cannot be read."""
    try:
        return decode_at(incoming.topic, incoming.payload)[1], None
    except Refused as refused:
        return None, refused.code
