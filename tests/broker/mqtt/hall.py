"""A broker with connected clients by role, which are closed at the end of a test."""

import time
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from broker.mqtt.access import Credentials
from broker.mqtt.process import Broker
from broker.protocol import TOPICS, Role, Topic
from tests.broker.mqtt.client import Client
from tests.patience import PATIENCE_S

EVENT = "cup-2026"
TABLES = 5


@dataclass(frozen=True)
class Hall:
    """A broker and its users."""

    broker: Broker
    credentials: Credentials
    folder: Path
    leaving: ExitStack
    clients: list[Client] = field(default_factory=list)
    name: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    def client(
        self, user: str, *, session: str | None = None, will: str | None = None, acknowledges: bool = True
    ) -> Client:
        """Return a connected client. Session names are made unique to this hall."""
        password = self.credentials.password(user)
        own = session and f"{session}-{self.name}"
        made = Client(self.broker, user, password, session=own, will=will, acknowledges=acknowledges)
        self.leaving.enter_context(made)
        self.clients.append(made)
        assert made.connect()
        return made

    def clear(self) -> None:
        """Delete the messages that clients may have left retained."""
        retained = {topic for client in self.clients for topic in client.retained}
        for table in range(1, TABLES + 1):
            for topic in retained & {*places(table)}:
                writer = user_of(places(table)[topic].writer, table)
                self.client(writer).say(topic, b"", retain=True)
                self.await_retained(topic, table, None)
                retained.discard(topic)

    def await_retained(self, topic: str, table: int, payload: bytes | None) -> None:
        """Wait until a new subscriber gets this payload, or nothing if it is None. `table` is the topic's, or any.

        nats-server acknowledges a retained message once it is stored, before the thread that serves new subscribers
        has read it.
        """
        reader = self.client(user_of(places(table)[topic].readers[0], table))
        deadline, found = time.monotonic() + PATIENCE_S, {b"not asked"}
        assert reader.subscribe(topic) == [True]
        while found != ({payload} - {None}):
            assert time.monotonic() < deadline, f"{topic}: {found}, not {payload!r}"
            assert reader.subscribe(topic) == [True]  # once answered, all messages of the previous one have arrived
            found = {reader.hear().payload for _ in range(reader.heard.qsize())}

    def listener(self, user: str, *, table: int | None = None) -> Client:
        """Return a client subscribed to all topics that its role may read."""
        made = self.client(user)
        assert all(made.subscribe(*readable(role_of(user), table=table)))
        return made


def role_of(user: str) -> Role:
    """Return a user's role."""
    roles: dict[str, Role] = {"scorer": "scorer", "desk": "desk", "arbiter": "arbiter", "display": "display"}
    return roles.get(user, "table")


def readable(role: Role, *, table: int | None = None) -> list[str]:
    """Return the topic filters that a role may read."""
    return [topic.at(EVENT, table=table) for topic in TOPICS if role in topic.readers]


def user_of(role: Role, table: int) -> str:
    """Return the user name of a role, for the table role at this table."""
    return f"table-{table}" if role == "table" else role


def places(table: int, deal: int = 1) -> dict[str, Topic]:
    """Return one topic of each kind for a table, except those between halls and centre, which have another broker."""
    here = (topic for topic in TOPICS if "hall" not in (topic.writer, *topic.readers))
    return {topic.at(EVENT, table=table, deal=deal): topic for topic in here}
